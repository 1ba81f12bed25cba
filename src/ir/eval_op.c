/* SPDX-License-Identifier: Apache-2.0 */
/* Pointwise operations and conversions, with bounds.
 *
 * An operation f of accuracy k ulp on arguments known to within e adds
 *     max |f(x +- e) - f(x)|  +  k ulp of f
 * to the bound; nothing for the rounding where k <= 1/2, the arguments are
 * exact and f is a number of the type. An exact operation (k = 0) that moves
 * more than its arguments do has jumped: its result is undecided. */
#include "support/base.h"

#include "ir/eval_impl.h"

#include "ir/op_ref.h"

struct rule {
    int count;
    double ulp, u, tiny;
    double least; /* the bound is never below that of this result */
    bool exact, truth, floor_of_quotient;
    bool remainder; /* between 0 and the second operand */
    op_double_fn *fn_double;
    op_long_fn *fn_long;
    op_int_fn *fn_int;
    enum dtype type; /* of the operands, after promotion */
};

double
unit_roundoff(enum dtype t)
{
    return t == DT_F64 ? 0x1p-53 : 0x1p-24;
}

static void
finish_at(double a, double limit, bool *ret_infinite, double *err)
{
    if (isnan(*err))
        *err = (double)INFINITY;
    *ret_infinite = false;
    if (!isfinite(a)) {
        *err = *err < (double)INFINITY ? 0 : *err;
    } else if (a + *err >= limit) {
        *ret_infinite = a - *err >= limit;
        *err = *ret_infinite ? 0 : (double)INFINITY;
    }
}

static void
finish_double(double *x, double *err)
{
    bool infinite;

    if (fabs(*x) + *err < 0x1.ffffffp127)
        return;
    finish_at(fabs(*x), 0x1.ffffffp127, &infinite, err);
    if (infinite)
        *x = copysign((double)INFINITY, *x);
}

static void
finish_long(long double *x, double *err)
{
    /* Halving keeps the limit of f64 within double. */
    double half = (double)(fabsl(*x) / 2), half_err = *err / 2;
    bool infinite;

    if (isinf(half) && !isinf(*x))
        half = 0x1.fffffffffffffp1023;
    finish_at(half, 0x1p1023, &infinite, &half_err);
    *err = half_err * 2;
    if (infinite)
        *x = copysignl((long double)INFINITY, *x);
}

static bool
representable_double(double f)
{
    return (double)(float)f == f;
}

static bool
representable_long(long double f)
{
    return (long double)(double)f == f;
}

#define REAL double
#define REP REP_F
#define MEMBER f
#define NAME(x) x##_double
#include "ir/eval_op_real.def"
#undef REAL
#undef REP
#undef MEMBER
#undef NAME

#define REAL long double
#define REP REP_L
#define MEMBER l
#define NAME(x) x##_long
#include "ir/eval_op_real.def"

void
bound_finish(enum dtype t, double *x, double *err)
{
    assert(t != DT_F64);
    finish_double(x, err);
}

void
bound_finish_long(long double *x, double *err)
{
    finish_long(x, err);
}

/* --- Conversions ---------------------------------------------------------- */

/* A float that may lie anywhere in x +- e, rounded to t: what the ends round
 * to bounds it. */
static void
round_bounded(enum dtype t, long double v, double e, double *ret, double *err)
{
    double r = num_round(t, (double)v), up, down;

    *ret = r;
    *err = e;
    if (e == 0 || !(e < (double)INFINITY))
        return;
    up = num_round(t, (double)(v + e));
    down = num_round(t, (double)(v - e));
    *err = fmax(distance_double(up, r), distance_double(down, r));
}

static void
to_int_bounded(enum dtype t, long double v, double e, int64_t *ret, double *err)
{
    *ret = num_to_int(t, v);
    *err = 0;
    if (e == 0)
        return;
    if (!(e < (double)INFINITY) || num_to_int(t, v + e) != *ret ||
        num_to_int(t, v - e) != *ret || (t == DT_BOOL && fabsl(v) <= e))
        *err = (double)INFINITY;
}

static long double
tile_long(const struct tile *t, int k)
{
    int at = k * t->step;

    if (t->rep == REP_F)
        return t->f[at];
    return t->rep == REP_L ? t->l[at] : (long double)t->i[at];
}

static double
tile_err(const struct tile *t, int k)
{
    return t->err ? t->err[k * t->step] : 0;
}

static struct tile *
convert_to_int(struct worker *w, const struct tile *t, enum dtype to, int n)
{
    struct tile *r = worker_tile(w, REP_I, t->step, t->err != NULL);
    int m = t->step ? n : 1;
    double err;

    for (int k = 0; k < m; k++) {
        if (t->rep == REP_I) {
            r->i[k] = num_wrap(to, t->i[k]);
            err = tile_err(t, k);
        } else {
            to_int_bounded(to, tile_long(t, k), tile_err(t, k), &r->i[k], &err);
        }
        if (r->err)
            r->err[k] = err;
    }
    return r;
}

static struct tile *
convert_to_f64(struct worker *w, const struct tile *t, int n)
{
    struct tile *r = worker_tile(w, REP_L, t->step, t->err != NULL);
    int m = t->step ? n : 1;

    for (int k = 0; k < m; k++) {
        double v, err;
        round_bounded(DT_F64, tile_long(t, k), tile_err(t, k), &v, &err);
        r->l[k] = v;
        if (r->err)
            r->err[k] = err;
    }
    return r;
}

static struct tile *
convert_to_float(struct worker *w, const struct tile *t, enum dtype to, int n)
{
    struct tile *r = worker_tile(w, REP_F, t->step, t->err != NULL);
    int m = t->step ? n : 1;

    for (int k = 0; k < m; k++) {
        double err;
        round_bounded(to, tile_long(t, k), tile_err(t, k), &r->f[k], &err);
        if (r->err)
            r->err[k] = err;
    }
    return r;
}

struct tile *
tile_convert(struct worker *w, const struct tile *t, enum dtype from,
             enum dtype to, int n)
{
    assert(num_rep(from) == t->rep);
    if (!dtype_is_float(to))
        return convert_to_int(w, t, to, n);
    if (to == DT_F64)
        return convert_to_f64(w, t, n);
    return convert_to_float(w, t, to, n);
}

/* --- Pointwise operations ------------------------------------------------- */

static struct tile *
pointwise_int(struct worker *w, const struct rule *r,
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
    t = worker_tile(w, REP_I, step, err);
    for (int k = 0; k < m; k++) {
        int64_t x[3] = {0};
        double e = 0;
        for (int a = 0; a < r->count; a++) {
            x[a] = args[a]->i[k * args[a]->step];
            e = fmax(e, tile_err(args[a], k));
        }
        t->i[k] = r->fn_int(x, r->type);
        if (err)
            t->err[k] = e;
    }
    return t;
}

static void
select_element(struct tile *r, const struct tile *from, int k, bool decided)
{
    int at = k * from->step;

    if (r->rep == REP_F)
        r->f[k] = from->f[at];
    else if (r->rep == REP_L)
        r->l[k] = from->l[at];
    else
        r->i[k] = from->i[at];
    if (r->err)
        r->err[k] = decided ? tile_err(from, k) : (double)INFINITY;
}

static struct tile *
pointwise_select(struct worker *w, const struct tile *const *args, int n)
{
    assert(args[0] && args[1] && args[2]);
    int step = args[0]->step | args[1]->step | args[2]->step;
    bool err = args[0]->err || args[1]->err || args[2]->err;
    struct tile *r = worker_tile(w, args[1]->rep, step, err);
    int m = step ? n : 1;

    for (int k = 0; k < m; k++)
        select_element(r, args[0]->i[k * args[0]->step] ? args[1] : args[2], k,
                       tile_err(args[0], k) == 0);
    return r;
}

/* The type in which the operands meet. */
static enum dtype
operand_type(const struct graph *g, const struct node *n)
{
    enum dtype t = graph_node(g, n->args[0])->dtype;

    if (op_info[n->op].type == OT_SHIFT)
        return t;
    if (op_info[n->op].type != OT_BOOL)
        return n->dtype;
    for (uint32_t a = 1; a < n->n_args; a++) {
        enum dtype u = graph_node(g, n->args[a])->dtype;
        if (u != t)
            t = dtype_promote(t, u);
    }
    return dtype_compute(t);
}

static const struct tile *
operand(struct worker *w, const struct node *n, uint32_t a,
        const struct tile *t, enum dtype type, int count)
{
    enum dtype from = graph_node(w->e->g, n->args[a])->dtype;

    if (num_rep(from) == num_rep(type))
        return t;
    return tile_convert(w, t, from, type, count);
}

static struct rule
rule_of(const struct node *n, enum dtype type)
{
    const struct op_info *o = &op_info[n->op];

    return (struct rule){
        .count = (int)n->n_args,
        .ulp = o->ulp,
        .u = unit_roundoff(type),
        .tiny = type == DT_F64 ? 0x1p-1074 : 0x1p-149,
        .least = o->flags & OPF_ABSOLUTE && type == DT_F64 ? 16 : 0,
        .exact = o->ulp == 0,
        .truth = o->type == OT_BOOL,
        .floor_of_quotient = n->op == OP_FLOORDIV,
        .remainder = n->op == OP_MOD || n->op == OP_REMAINDER,
        .fn_double = op_ref_double[n->op],
        .fn_long = op_ref_long[n->op],
        .fn_int = op_ref_int[n->op],
        .type = type,
    };
}

struct tile *
tile_pointwise(struct worker *w, const struct node *n,
               const struct tile *const *args, int count)
{
    enum dtype type = operand_type(w->e->g, n);
    bool selects = op_info[n->op].type == OT_SELECT;
    struct rule r = rule_of(n, type);
    const struct tile *x[3] = {0};

    for (uint32_t a = 0; a < n->n_args; a++)
        x[a] = operand(w, n, a, args[a], selects && a == 0 ? DT_BOOL : type,
                       count);
    if (selects)
        return pointwise_select(w, x, count);
    if (num_rep(type) == REP_F)
        return pointwise_double(w, &r, x, count);
    if (num_rep(type) == REP_L)
        return pointwise_long(w, &r, x, count);
    if (!r.fn_int)
        BUG("'%s' has no meaning on integers", op_info[n->op].name);
    return pointwise_int(w, &r, x, count);
}
