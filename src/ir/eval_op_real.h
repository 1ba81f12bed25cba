/* SPDX-License-Identifier: Apache-2.0 */
/* Included by eval_op.c once for double and once for long double: one pointwise
 * operation on REAL values with the bound of its result. */

/* |a - b|, 0 for equal infinities and for two NaN, infinity when only one of
 * them is infinite or NaN. */
static double
NAME(distance)(REAL a, REAL b)
{
    double d;

    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    d = (double)(a > b ? a - b : b - a);
    return isnan(d) ? (double)INFINITY : d;
}

/* The largest change of f over the corners of the box x +- e. */
static double
NAME(spread)(const struct rule *r, const REAL *x, const double *e, REAL f)
{
    double most = 0;

    for (unsigned m = 0; m < 1u << r->count; m++) {
        REAL y[3] = {0};
        bool skip = false;
        for (int a = 0; a < r->count; a++) {
            skip |= (m >> a & 1) && e[a] == 0;
            y[a] = m >> a & 1 ? x[a] + e[a] : x[a] - e[a];
        }
        if (!skip)
            most = fmax(most, NAME(distance)(r->NAME(fn)(y), f));
    }
    return most;
}

/* Two intervals that meet may hold equal values. */
static double
NAME(meeting)(const struct rule *r, const REAL *x, const double *e, REAL f)
{
    REAL y[3] = {x[0], x[0], 0};

    if (r->count != 2 || NAME(distance)(x[0], x[1]) > e[0] + e[1])
        return 0;
    return NAME(distance)(r->NAME(fn)(y), f);
}

static double
NAME(moved)(const struct rule *r, const REAL *x, const double *e, REAL f)
{
    double sum = e[0] + e[1] + e[2], d;

    if (sum == 0)
        return 0;
    if (!(sum < (double)INFINITY))
        return (double)INFINITY;
    d = NAME(spread)(r, x, e, f);
    if (r->truth)
        d += NAME(meeting)(r, x, e, f);
    if (r->exact && d > sum * (1 + 1e-6))
        return (double)INFINITY; /* a jump: nothing continuous moves more */
    return d;
}

static double
NAME(rounding)(const struct rule *r, REAL f, bool exact_args)
{
    if (r->exact || !isfinite(f))
        return 0;
    if (r->ulp <= 0.5 && exact_args && NAME(representable)(f))
        return 0;
    return r->ulp * (2 * r->u * (double)(f < 0 ? -f : f) + r->tiny);
}

static void
NAME(apply)(const struct rule *r, REAL *x, double *e, REAL *ret, double *err)
{
    bool exact_args;
    REAL f;

    /* The quotient is rounded before its floor is taken. */
    if (r->floor_of_quotient && !NAME(representable)(x[0] / x[1]))
        e[0] += 2 * r->u * (double)(x[0] < 0 ? -x[0] : x[0]);
    exact_args = e[0] + e[1] + e[2] == 0;
    f = r->NAME(fn)(x);
    *err = NAME(moved)(r, x, e, f);
    if (r->floor_of_quotient && *err > 0)
        *err = (double)INFINITY;
    *err += NAME(rounding)(r, f, exact_args);
    *ret = f;
}

static struct tile *
NAME(pointwise)(struct worker *w, const struct rule *r,
                const struct tile *const *args, int n)
{
    bool err = false;
    int step = 0, m;
    struct tile *t;

    for (int a = 0; a < r->count; a++) {
        err |= args[a]->err != NULL;
        step |= args[a]->step;
    }
    m = step ? n : 1;
    err |= !r->exact;
    t = worker_tile(w, r->truth ? REP_I : REP, step, err);
    for (int k = 0; k < m; k++) {
        REAL x[3] = {0}, f;
        double e[3] = {0}, bound;
        for (int a = 0; a < r->count; a++) {
            x[a] = args[a]->MEMBER[k * args[a]->step];
            if (args[a]->err)
                e[a] = args[a]->err[k * args[a]->step];
        }
        NAME(apply)(r, x, e, &f, &bound);
        if (r->truth)
            t->i[k] = f != 0, bound = bound > 0 ? (double)INFINITY : 0;
        else
            NAME(finish)(&f, &bound), t->MEMBER[k] = f;
        if (err)
            t->err[k] = bound;
    }
    return t;
}
