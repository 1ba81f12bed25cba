/* SPDX-License-Identifier: Apache-2.0 */
/* Included by eval_op.c once for double and once for long double: one pointwise
 * operation on REAL values with the bound of its result. */

/* |a - b|, 0 for equal infinities and for two NaN, infinity when only one of
 * them is infinite or NaN. */
static double
NAME(distance)(REAL a, REAL b)
{
    double d = (double)(a - b);

    if (d - d == 0) /* finite */
        return d < 0 ? -d : d;
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    return (double)INFINITY;
}

static inline double
NAME(larger)(double a, double b)
{
    return a > b ? a : b;
}

/* The distance of f at (a, b, c) from what it is at x. */
static double
NAME(corner)(const struct rule *r, REAL a, REAL b, REAL c, REAL f)
{
    REAL y[3] = {a, b, c};

    return NAME(distance)(r->NAME(fn)(y), f);
}

/* The same over both ends of the second argument. */
static double
NAME(edge)(const struct rule *r, const REAL *x, const double *e, REAL a, REAL f)
{
    double up = NAME(corner)(r, a, x[1] + e[1], x[2], f);

    if (e[1] == 0)
        return up;
    return NAME(larger)(up, NAME(corner)(r, a, x[1] - e[1], x[2], f));
}

/* The largest change of f over the corners of the box x +- e. */
static double
NAME(spread)(const struct rule *r, const REAL *x, const double *e, REAL f)
{
    double most = NAME(edge)(r, x, e, x[0] + e[0], f);

    if (e[0] != 0)
        most = NAME(larger)(most, NAME(edge)(r, x, e, x[0] - e[0], f));
    if (e[2] != 0) { /* fma: the third argument's ends with both others' */
        REAL up[3] = {x[0], x[1], x[2] + e[2]};
        REAL down[3] = {x[0], x[1], x[2] - e[2]};
        double none[3] = {e[0], e[1], 0};
        most = NAME(larger)(most, NAME(spread)(r, up, none, f));
        most = NAME(larger)(most, NAME(spread)(r, down, none, f));
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

/* All operands exact: no bound to carry, only the rounding to judge. */
static struct tile *
NAME(pointwise_exact)(struct worker *w, const struct rule *r,
                      const struct tile *const *args, int n, int step)
{
    struct tile *t = worker_tile(w, REP, step, !r->exact);
    int m = step ? n : 1;

    for (int k = 0; k < m; k++) {
        REAL x[3] = {0};
        double bound;
        for (int a = 0; a < r->count; a++)
            x[a] = args[a]->MEMBER[k * args[a]->step];
        t->MEMBER[k] = r->NAME(fn)(x);
        bound = NAME(rounding)(r, t->MEMBER[k], true);
        NAME(finish)(&t->MEMBER[k], &bound);
        if (t->err)
            t->err[k] = bound;
    }
    return t;
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
    if (!err && !r->truth && !r->floor_of_quotient)
        return NAME(pointwise_exact)(w, r, args, n, step);
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
