/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in units in the last place of the exact result's type.
 *
 * Of f64 every sample meets MPFR. Of the narrower types every sample meets the
 * interpreter's double, which stands a few 1e-9 ulp of theirs from the exact
 * value (`accuracy reference` measures that); the worst ones and one in 64 meet
 * MPFR, and only these give the greatest error. Overflow counts as the power of
 * two that comes after the greatest number. */
#include "accuracy.h"

#include "ir/op_ref.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

enum { MAX_THREADS = 64, MAX_RESULTS = 4, KEPT = 64, EVERY = 64 };

struct candidates {
    int64_t i[KEPT];
    double error[KEPT];
    int n, least;
};

struct judge {
    const struct judged *j;
    int64_t from, to;
    pthread_t thread;
    struct verdict v[MAX_RESULTS];
    struct candidates worst[MAX_RESULTS];
    mpfr_t exact, diff;
};

static double
beyond(enum dtype t)
{
    return t == DT_F64 ? (double)INFINITY : num_max(t) + num_ulp(t, num_max(t));
}

static double
within(enum dtype t, double x)
{
    return fabs(x) > beyond(t) ? copysign(beyond(t), x) : x;
}

/* One ulp of a result: the unit of its error. */
static double
unit(const struct judged *j, double x)
{
    double size = fmin(fabs(x), num_max(j->t));

    if (j->t == DT_F64 && j->results[0] &&
        (op_info[j->op].flags & OPF_ABSOLUTE))
        size = fmax(size, 16);
    return num_ulp(j->t, size);
}

enum class { NUMBER, WRONG_CLASS, ZERO_SIGN, BOTH_NAN };

static enum class classify(double got, bool nan, bool infinite, int zero_sign) {
    if (isnan(got) || nan) return isnan(got) && nan ? BOTH_NAN : WRONG_CLASS;
    if (infinite && !isinf(got)) return WRONG_CLASS;
    if (zero_sign && got == 0 &&
        !!signbit(got) != (zero_sign < 0)) return ZERO_SIGN;
    return NUMBER;
}

static void
load(const struct judged *j, int64_t i, double *x)
{
    x[0] = x[1] = x[2] = 0;
    for (int a = 0; a < j->arity; a++)
        x[a] = num_load(j->t, j->x[a], i);
}

static double
result_at(const struct judged *j, int r, int64_t i, const double *x)
{
    if (j->results[r])
        return num_load(j->t, j->results[r], i);
    return op_ref_double[j->op](x);
}

/* --- by the interpreter's double ------------------------------------------ */

static void
keep(struct candidates *c, int64_t i, double error)
{
    int at = c->n;

    if (c->n == KEPT) {
        if (error <= c->error[c->least])
            return;
        at = c->least;
    } else {
        c->n++;
    }
    c->i[at] = i;
    c->error[at] = error;
    c->least = 0;
    for (int k = 1; k < c->n; k++)
        if (c->error[k] < c->error[c->least])
            c->least = k;
}

static void
screen(struct judge *w, int64_t i)
{
    const struct judged *j = w->j;
    double x[3], want, error;

    load(j, i, x);
    want = op_ref_double[j->op](x);
    for (int r = 0; r < j->n_results; r++) {
        double got = result_at(j, r, i, x);
        enum class class = classify(got, isnan(want), isinf(want),
                                    want != 0       ? 0
                                    : signbit(want) ? -1
                                                    : 1);

        if (class == BOTH_NAN)
            continue;
        if (class == NUMBER)
            error =
                fabs(within(j->t, got) - within(j->t, want)) / unit(j, want);
        else
            error = class == WRONG_CLASS ? (double)INFINITY : 1e300;
        if (class == NUMBER)
            w->v[r].sum += error;
        w->v[r].n++;
        keep(&w->worst[r], i, error);
    }
}

/* --- by MPFR -------------------------------------------------------------- */

static double
error_of(struct judge *w, double got)
{
    enum dtype t = w->j->t;
    double near = mpfr_get_d(w->exact, MPFR_RNDZ);
    int exponent = t == DT_F64 ? 1024 : ilogb(beyond(t));

    if (fabs(got) >= beyond(t))
        mpfr_set_si_2exp(w->diff, got < 0 ? -1 : 1, exponent, MPFR_RNDN);
    else
        mpfr_set_d(w->diff, got, MPFR_RNDN);
    if (mpfr_number_p(w->exact) && !mpfr_zero_p(w->exact) &&
        mpfr_get_exp(w->exact) > exponent)
        mpfr_set_si_2exp(w->exact, mpfr_sgn(w->exact), exponent, MPFR_RNDN);
    if (mpfr_inf_p(w->exact))
        return 0; /* and so is got */
    mpfr_sub(w->diff, w->diff, w->exact, MPFR_RNDN);
    mpfr_mul_2si(w->diff, w->diff, -ilogb(unit(w->j, near)), MPFR_RNDN);
    return fabs(mpfr_get_d(w->diff, MPFR_RNDN));
}

static void
note_class(struct verdict *v, enum class class, const double *x, double got,
           double want)
{
    v->wrong_class += class == WRONG_CLASS;
    v->zero_sign += class == ZERO_SIGN;
    if (v->wrong_class + v->zero_sign != 1 &&
        !(class == WRONG_CLASS && v->wrong_class == 1))
        return;
    memcpy(v->class_at, x, sizeof(v->class_at));
    v->class_got = got;
    v->class_want = want;
}

/* Result r of sample i at x, w->exact being the exact one. */
static void
measure(struct judge *w, int r, int64_t i, const double *x, bool counts)
{
    struct verdict *v = &w->v[r];
    double got = result_at(w->j, r, i, x), error;
    double want = mpfr_get_d(w->exact, MPFR_RNDN);
    int zero = !mpfr_zero_p(w->exact) ? 0 : mpfr_signbit(w->exact) ? -1 : 1;
    enum class class =
        classify(got, mpfr_nan_p(w->exact), mpfr_inf_p(w->exact), zero);

    if (class == BOTH_NAN)
        return;
    v->n += counts;
    if (class != NUMBER) {
        note_class(v, class, x, got, want);
        return;
    }
    error = error_of(w, got);
    v->sum += counts ? error : 0;
    if (error <= v->worst && v->worst > 0)
        return;
    v->worst = error;
    memcpy(v->at, x, sizeof(v->at));
    v->got = got;
    v->want = want;
}

/* The interpreter's long double, which no array holds. */
static void
measure_long(struct judge *w, int r, int64_t i, const double *x)
{
    long double wide[3] = {x[0], x[1], x[2]}, got = op_ref_long[w->j->op](wide);
    double want = mpfr_get_d(w->exact, MPFR_RNDN), error;

    if (isnan(got) || isinf((double)got) || !isfinite(want)) {
        measure(w, r, i, x, true);
        return;
    }
    mpfr_set_ld(w->diff, got, MPFR_RNDN);
    mpfr_sub(w->diff, w->diff, w->exact, MPFR_RNDN);
    mpfr_mul_2si(w->diff, w->diff, -ilogb(num_ulp(DT_F64, want)), MPFR_RNDN);
    error = fabs(mpfr_get_d(w->diff, MPFR_RNDN));
    w->v[r].n++;
    w->v[r].sum += error;
    if (error <= w->v[r].worst)
        return;
    w->v[r].worst = error;
    memcpy(w->v[r].at, x, sizeof(w->v[r].at));
    w->v[r].got = (double)got;
    w->v[r].want = want;
}

/* --- threads -------------------------------------------------------------- */

/* The exact value of sample i, against all results or the one named. */
static void
meet(struct judge *w, int64_t i, int only)
{
    const struct judged *j = w->j;
    double x[3];

    load(j, i, x);
    exact_value(j->op, j->t, w->exact, x);
    for (int r = 0; r < j->n_results; r++)
        if (j->t == DT_F64 && !j->results[r])
            measure_long(w, r, i, x);
        else if (only < 0 || r == only)
            measure(w, r, i, x, j->t == DT_F64);
}

static void *
work(void *data)
{
    struct judge *w = data;
    const struct judged *j = w->j;

    mpfr_inits2(ACC_PRECISION, w->exact, w->diff, (mpfr_ptr)NULL);
    for (int64_t i = w->from; i < w->to; i++) {
        if (j->t != DT_F64)
            screen(w, i);
        if (j->t == DT_F64 || !j->results[0] || i % EVERY == 0)
            meet(w, i, -1);
    }
    for (int r = 0; r < j->n_results; r++)
        for (int k = 0; k < w->worst[r].n; k++)
            if (w->worst[r].i[k] % EVERY != 0)
                meet(w, w->worst[r].i[k], r);
    mpfr_clears(w->exact, w->diff, (mpfr_ptr)NULL);
    mpfr_free_cache();
    return NULL;
}

static void
add(struct verdict *to, const struct verdict *v)
{
    int64_t n = to->n, wrong = to->wrong_class, zero = to->zero_sign;
    double sum = to->sum;

    if ((v->wrong_class && !wrong) || (v->zero_sign && !zero && !wrong)) {
        memcpy(to->class_at, v->class_at, sizeof(v->class_at));
        to->class_got = v->class_got;
        to->class_want = v->class_want;
    }
    if (v->worst > to->worst || n == 0) {
        memcpy(to->at, v->at, sizeof(v->at));
        to->worst = v->worst;
        to->got = v->got;
        to->want = v->want;
    }
    to->n = n + v->n;
    to->sum = sum + v->sum;
    to->wrong_class = wrong + v->wrong_class;
    to->zero_sign = zero + v->zero_sign;
}

static struct judge workers[MAX_THREADS];

void
judge_all(const struct judged *j, struct verdict *ret)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = (int)MIN(MAX(cores, 1), (long)MAX_THREADS);

    memset(workers, 0, sizeof(workers));
    memset(ret, 0, sizeof(*ret) * (size_t)j->n_results);
    for (int k = 0; k < threads; k++) {
        struct judge *w = &workers[k];

        w->j = j;
        w->from = j->n / threads * k;
        w->to = k + 1 == threads ? j->n : j->n / threads * (k + 1);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            BUG("no thread");
    }
    for (int k = 0; k < threads; k++) {
        pthread_join(workers[k].thread, NULL);
        for (int r = 0; r < j->n_results; r++)
            add(&ret[r], &workers[k].v[r]);
    }
}
