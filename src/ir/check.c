/* SPDX-License-Identifier: Apache-2.0 */
#include "support/base.h"

#include "ir/check.h"

#include <math.h>
#include <stdlib.h>

#include "support/arena.h"

struct judge {
    struct check_report *r;
    bool exact;
    double worst_units, diff2, ref2;
};

static bool
same_class(long double got, long double want)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got))
        return got == want;
    return true;
}

static void
wrong(struct judge *j, int64_t index, long double got, long double want,
      double bound, double units)
{
    j->r->wrong++;
    if (j->r->worst >= 0 && !(units > j->worst_units))
        return;
    j->worst_units = units;
    j->r->worst = index;
    j->r->got = (double)got;
    j->r->want = (double)want;
    j->r->bound = bound;
}

static void
judge_element(struct judge *j, int64_t index, long double got, long double want,
              double err, double ulp)
{
    double diff, allowed = err + (j->exact && err == 0 ? 0 : ulp);

    j->r->count++;
    if (!(err < (double)INFINITY)) {
        j->r->undecided++;
        return;
    }
    j->r->exact += err == 0;
    if (!same_class(got, want)) {
        wrong(j, index, got, want, allowed, (double)INFINITY);
        return;
    }
    if (!isfinite(want) || (j->exact && err > 0))
        return;
    diff = (double)fabsl(got - want);
    j->diff2 += diff * diff;
    j->ref2 += (double)(want * want);
    j->r->max_error = fmax(j->r->max_error, diff);
    if (diff > 0 && allowed > 0)
        j->r->max_units = fmax(j->r->max_units, diff / allowed);
    if (diff > allowed)
        wrong(j, index, got, want, allowed, diff / allowed);
}

static void
judge_one(struct judge *j, const struct eval_values *ref,
          const struct tensor *out, int64_t at, int64_t index)
{
    int64_t off = tensor_offset(out, index);
    enum rep rep = num_rep(ref->dtype);
    long double want, got = num_load_long(out->dtype, out->data, off);
    double ulp;

    want = rep == REP_F ? ref->f[at] : rep == REP_L ? ref->l[at] : ref->i[at];
    ulp = rep == REP_I ? 0 : num_ulp(ref->dtype, (double)want);
    judge_element(j, index, got, want, ref->err[at], ulp);
}

struct check_report
check_output(const struct eval_values *ref, const struct tensor *out,
             bool exact)
{
    struct check_report r = {.worst = -1};
    struct judge j = {.r = &r, .exact = exact};

    assert(ref->dtype == out->dtype);
    for (int64_t i = 0; i < ref->n_rows; i++) {
        int64_t row = ref->rows ? ref->rows[i] : i;
        for (int64_t k = 0; k < ref->row_len; k++)
            judge_one(&j, ref, out, i * ref->row_len + k,
                      row * ref->row_len + k);
    }
    r.rel_l2 = j.diff2 == 0 ? 0 : sqrt(j.diff2) / (sqrt(j.ref2) + 1e-30);
    return r;
}

bool
check_passed(const struct check_report *r)
{
    return r->wrong == 0 && (double)r->undecided <= 0.01 * (double)r->count;
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

const int64_t *
check_rows(struct arena *a, int rank, const int64_t *shape, uint64_t seed,
           int64_t *ret_n)
{
    enum { RANDOM_ROWS = 256 };
    int64_t count = 1, rows, n = 0, kept = 0, *r;

    for (int d = 0; d < rank; d++)
        count *= shape[d];
    if (count <= (int64_t)1 << 24 || rank < 2)
        return NULL;
    rows = count / shape[rank - 1];
    if (rows <= RANDOM_ROWS + 2)
        return NULL;
    r = NEW_ARRAY(a, int64_t, RANDOM_ROWS + 2);
    r[n++] = 0;
    r[n++] = rows - 1;
    while (n < RANDOM_ROWS + 2) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        r[n++] = (int64_t)((seed >> 16) % (uint64_t)rows);
    }
    qsort(r, (size_t)n, sizeof(*r), by_value);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || r[i] != r[i - 1])
            r[kept++] = r[i];
    *ret_n = kept;
    return r;
}
