/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of n terms known to within e_i is known to within
 *     sum e_i + (8 + sqrt(n)/8) u sum |term|
 * whatever the order of its additions; exactly, when all terms are exact
 * integers and sum |term| is a number below which all integers are. Where a
 * partial sum may overflow in one order and not in another, the sum is
 * undecided; likewise a product, of which the factors above 1 and those below
 * are followed apart: every partial product lies between the two. An extreme
 * lies between the extremes of the lower and of the upper ends. */
#include "support/base.h"

#include "ir/eval_fold.h"

#include "ir/op_ref.h"

#include <float.h>

static struct array *
array_new(struct arena *a, enum dtype t, int64_t n)
{
    struct array *r = NEW(a, struct array);

    r->rep = num_rep(t);
    if (r->rep == REP_F)
        r->f = NEW_ARRAY(a, double, n);
    else if (r->rep == REP_L)
        r->l = NEW_ARRAY(a, long double, n);
    else
        r->i = NEW_ARRAY(a, int64_t, n);
    r->err = NEW_ARRAY(a, double, n);
    return r;
}

struct fold
fold_open(struct eval *e, node_id id, int64_t results)
{
    const struct node *n = graph_node(e->g, id);
    const struct op_info *o = &op_info[n->op];
    enum dtype from = graph_node(e->g, n->args[0])->dtype;
    struct fold j = {.n = n};

    j.is_arg = (o->flags & OPF_ARG_INDEX) != 0;
    j.is_logic = o->type == OT_LOGIC;
    j.is_sum = o->type == OT_SUM && op_identity(n->op) == 0;
    j.is_product = o->type == OT_SUM && !j.is_sum;
    /* Indices of integers compare exactly in long double. */
    j.type = j.is_arg            ? DT_F64
             : o->type == OT_SUM ? dtype_accumulator(from)
                                 : dtype_compute(from);
    j.to = array_new(e->arena, n->dtype, results);
    return j;
}

struct acc
fold_start(const struct fold *j)
{
    struct acc a = {0};

    a.f = op_identity(j->n->op);
    a.l = (long double)a.f;
    if (num_rep(j->type) == REP_I && !j->is_arg)
        a.i = a.lo_i = a.hi_i = op_identity_int(j->n->op, j->type);
    a.hi = a.lo = j->is_arg ? -(double)INFINITY : a.f;
    return a;
}

/* rint is a call on the plainest machines; this is two instructions. */
static bool
is_whole(double x)
{
    return fabs(x) < 0x1p62 && x == (double)(int64_t)x;
}

/* --- Sums and products ---------------------------------------------------- */

/* Infinities and NaN decide a sum by their class alone. */
static double
finite_size(double x)
{
    return fabs(x) <= DBL_MAX ? fabs(x) : 0;
}

static void
sum_absorb(struct acc *a, double x, double e)
{
    a->f += x;
    a->size += finite_size(x);
    a->err += e;
    a->inexact = a->inexact || e != 0 || !is_whole(x);
    a->n++;
}

static void
sum_absorb_long(struct acc *a, long double x, double e)
{
    a->l += x;
    a->size += finite_size((double)x);
    a->err += e;
    a->inexact |= e != 0 || x != rintl(x);
    a->n++;
}

/* Times x +- e. An infinite product is sure when no sign and no zero is in
 * doubt. */
static void
product_times(const struct fold *j, struct acc *a, long double x, double e)
{
    long double p = a->l * x;
    double u = unit_roundoff(j->type), size = (double)fabsl(x);
    double before = (double)fabsl(a->l);
    bool doubt = (e > 0 && e >= size) || (a->err > 0 && a->err >= before);

    a->inexact |= e != 0 || x != rintl(x);
    a->inexact |= fabsl(p) > 1 / (long double)u;
    if (!isfinite(p))
        a->err = doubt ? (double)INFINITY : 0;
    else
        a->err = a->err * size + e * before + a->err * e +
                 (a->inexact ? 2 * u * (double)fabsl(p) : 0);
    a->l = p;
    a->f = (double)p;
}

static void
product_absorb(const struct fold *j, struct acc *a, long double x, double e)
{
    double size = (double)fabsl(x);

    product_times(j, a, x, e);
    if (size > 1 && size <= DBL_MAX)
        a->hi *= size;
    else if (size > 0 && size < 1)
        a->lo *= size;
    a->n++;
}

/* --- Extremes, any and all ------------------------------------------------ */

static void
extreme_absorb(const struct fold *j, struct acc *a, double x, double e)
{
    op_double_fn *fn = op_ref_double[j->n->op];
    bool inexact = a->inexact || e != 0;

    if (inexact) { /* until the first inexact term, hi and lo are f */
        double hi[2] = {a->inexact ? a->hi : a->f, x + e};
        double lo[2] = {a->inexact ? a->lo : a->f, x - e};
        a->hi = fn(hi);
        a->lo = fn(lo);
        a->inexact = true;
    }
    a->f = fn((double[]){a->f, x});
}

static void
extreme_absorb_long(const struct fold *j, struct acc *a, long double x,
                    double e)
{
    a->l = op_ref_long[j->n->op]((long double[]){a->l, x});
    extreme_absorb(j, a, (double)x, e);
}

static void
int_absorb(const struct fold *j, struct acc *a, int64_t x, double e)
{
    op_int_fn *fn = op_ref_int[j->n->op];
    bool either = e != 0 && j->is_logic;

    a->i = fn((int64_t[]){a->i, x}, j->type);
    a->lo_i = fn((int64_t[]){a->lo_i, either ? 0 : x}, j->type);
    a->hi_i = fn((int64_t[]){a->hi_i, either ? 1 : x}, j->type);
    a->undecided |= e != 0 && !j->is_logic;
    a->n++;
}

/* --- Index of an extreme -------------------------------------------------- */

static bool
arg_better(const struct fold *j, long double best, long double x)
{
    long double r;

    if (isnan(best) || isnan(x))
        return !isnan(best);
    r = op_ref_long[j->n->op]((long double[]){best, x});
    return r != best || signbit(r) != signbit(best);
}

/* The sign that turns the better of two into the greater. */
static double
arg_sign(const struct fold *j)
{
    return op_identity(j->n->op) < 0 ? 1 : -1;
}

static void
arg_loser(const struct fold *j, struct acc *a, long double x, double e)
{
    double reach = (double)x * arg_sign(j) + e;

    a->hi = fmax(a->hi, reach);
    if (e != 0)
        a->lo = fmax(a->lo, reach);
}

static void
arg_absorb(const struct fold *j, struct acc *a, long double x, double e,
           int64_t index)
{
    if (a->n == 0 || arg_better(j, a->l, x)) {
        if (a->n > 0)
            arg_loser(j, a, a->l, a->err);
        a->l = x;
        a->err = e;
        a->i = index;
    } else {
        arg_loser(j, a, x, e);
    }
    a->undecided |= !(e < (double)INFINITY);
    a->n++;
}

static bool
arg_undecided(const struct fold *j, const struct acc *a)
{
    double least = (double)a->l * arg_sign(j) - a->err;

    if (a->undecided || isnan(a->l))
        return a->undecided;
    return (a->err > 0 && a->hi >= least) || a->lo >= least;
}

/* --- Absorbing tiles, merging, finishing ---------------------------------- */

/* The commonest case, kept in registers. */
static void
sum_run(struct acc *acc, const struct tile *t, int n)
{
    struct acc a = *acc;

    if (t->err)
        for (int k = 0; k < n; k++)
            sum_absorb(&a, t->f[k * t->step], t->err[k * t->step]);
    else
        for (int k = 0; k < n; k++)
            sum_absorb(&a, t->f[k * t->step], 0);
    *acc = a;
}

static void
absorb_float(const struct fold *j, struct acc *a, double x, double e)
{
    if (j->is_sum)
        sum_absorb(a, x, e);
    else if (j->is_product)
        product_absorb(j, a, x, e);
    else
        extreme_absorb(j, a, x, e);
}

static void
absorb_long(const struct fold *j, struct acc *a, long double x, double e)
{
    if (j->is_sum)
        sum_absorb_long(a, x, e);
    else if (j->is_product)
        product_absorb(j, a, x, e);
    else
        extreme_absorb_long(j, a, x, e);
}

void
fold_absorb(const struct fold *j, struct acc *acc, int acc_step,
            const struct tile *t, int n, int64_t first)
{
    if (j->is_sum && t->rep == REP_F && acc_step == 0) {
        sum_run(acc, t, n);
        return;
    }
    for (int k = 0; k < n; k++) {
        struct acc *a = acc + k * acc_step;
        int at = k * t->step;
        double e = t->err ? t->err[at] : 0;
        if (j->is_arg)
            arg_absorb(j, a, t->l[at], e, acc_step ? first : first + k);
        else if (t->rep == REP_I)
            int_absorb(j, a, t->i[at], e);
        else if (t->rep == REP_F)
            absorb_float(j, a, t->f[at], e);
        else
            absorb_long(j, a, t->l[at], e);
    }
}

static void
merge_sum(struct acc *a, const struct acc *b)
{
    a->f += b->f;
    a->l += b->l;
    a->size += b->size;
    a->err += b->err;
    a->inexact |= b->inexact;
    a->n += b->n;
}

static void
merge_arg(const struct fold *j, struct acc *a, const struct acc *b)
{
    double hi = fmax(a->hi, b->hi), lo = fmax(a->lo, b->lo);
    bool undecided = a->undecided || b->undecided;

    if (b->n == 0)
        return;
    arg_absorb(j, a, b->l, b->err, b->i);
    a->hi = fmax(a->hi, hi);
    a->lo = fmax(a->lo, lo);
    a->undecided |= undecided;
}

static void
merge_extreme(const struct fold *j, struct acc *a, const struct acc *b)
{
    op_double_fn *fn = op_ref_double[j->n->op];

    if (a->inexact || b->inexact) {
        a->hi = fn(
            (double[]){a->inexact ? a->hi : a->f, b->inexact ? b->hi : b->f});
        a->lo = fn(
            (double[]){a->inexact ? a->lo : a->f, b->inexact ? b->lo : b->f});
        a->inexact = true;
    }
    a->f = fn((double[]){a->f, b->f});
    a->l = op_ref_long[j->n->op]((long double[]){a->l, b->l});
}

void
fold_merge(const struct fold *j, struct acc *a, const struct acc *b)
{
    op_int_fn *fn = op_ref_int[j->n->op];

    if (j->is_arg) {
        merge_arg(j, a, b);
    } else if (num_rep(j->type) == REP_I) {
        a->i = fn((int64_t[]){a->i, b->i}, j->type);
        a->lo_i = fn((int64_t[]){a->lo_i, b->lo_i}, j->type);
        a->hi_i = fn((int64_t[]){a->hi_i, b->hi_i}, j->type);
        a->undecided |= b->undecided;
    } else if (j->is_sum) {
        merge_sum(a, b);
    } else if (j->is_product) {
        bool inexact = a->inexact || b->inexact;
        product_times(j, a, b->l, b->err);
        a->inexact |= inexact;
        a->hi *= b->hi;
        a->lo *= b->lo;
        a->n += b->n;
    } else {
        merge_extreme(j, a, b);
    }
}

/* The greatest finite number, the least normal and the least positive one. */
static double
greatest(const struct fold *j)
{
    return j->type == DT_F64 ? DBL_MAX : (double)FLT_MAX;
}

static double
least_normal(const struct fold *j)
{
    return j->type == DT_F64 ? DBL_MIN : (double)FLT_MIN;
}

static double
least(const struct fold *j)
{
    return least_normal(j) * 2 * unit_roundoff(j->type);
}

/* Some orders overflow, some give 0 times infinity, some lose digits of small
 * partial products that large factors bring back. */
static double
product_bound(const struct fold *j, const struct acc *a)
{
    bool over = a->hi > greatest(j), under = a->lo < least_normal(j);
    bool infinite = fabsl(a->l) > (long double)greatest(j);

    if ((over && (under || !infinite)) || (under && infinite))
        return (double)INFINITY;
    if (under && isfinite(a->l))
        return a->err + (double)a->n * least(j) * a->hi;
    return a->err;
}

static double
sum_bound(const struct fold *j, const struct acc *a)
{
    double u = unit_roundoff(j->type);
    double f = j->type == DT_F64 ? (double)fabsl(a->l) : fabs(a->f);

    if (a->n <= 1 || (!a->inexact && a->size <= 1 / u))
        return a->err;
    /* All of one sign overflow in every order. */
    if (a->size > greatest(j) && !isnan(f) && f < a->size * (1 - 1e-9))
        return (double)INFINITY;
    if (isinf(f) && a->size > greatest(j))
        return (double)INFINITY;
    return a->err + (8 + sqrt((double)a->n) / 8) * u * a->size;
}

static double
extreme_bound(const struct acc *a)
{
    double up = fabs(a->hi - a->f), down = fabs(a->lo - a->f);

    if (!a->inexact || (isnan(a->f) && isnan(a->hi) && isnan(a->lo)))
        return 0;
    return isnan(up) || isnan(down) ? (double)INFINITY : fmax(up, down);
}

static double
float_bound(const struct fold *j, const struct acc *a)
{
    if (j->is_product)
        return product_bound(j, a);
    return j->is_sum ? sum_bound(j, a) : extreme_bound(a);
}

void
fold_finish(const struct fold *j, int64_t result, const struct acc *acc)
{
    struct acc a = *acc;
    double err = 0;

    if (j->is_arg) {
        j->to->i[result] = a.n == 0 ? -1 : a.i;
        err = a.n > 0 && arg_undecided(j, &a) ? (double)INFINITY : 0;
    } else if (j->to->rep == REP_I) {
        j->to->i[result] = num_wrap(j->n->dtype, a.i);
        err = a.undecided || (j->is_logic && a.lo_i != a.hi_i)
                  ? (double)INFINITY
                  : 0;
    } else if (j->to->rep == REP_F) {
        err = float_bound(j, &a);
        bound_finish(j->n->dtype, &a.f, &err);
        j->to->f[result] = a.f;
    } else {
        err = float_bound(j, &a);
        bound_finish_long(&a.l, &err);
        j->to->l[result] = a.l;
    }
    j->to->err[result] = err;
}
