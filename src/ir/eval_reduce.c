/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, materialised whole.
 *
 * The work is cut into units that do not depend on the number of threads: a run
 * of results with all their terms, or, where there are few results, one result
 * (or one tile of neighbouring results) with a part of its terms; the parts are
 * merged in order.
 *
 * A sum of n terms known to within e_i is known to within
 *     sum e_i + (8 + sqrt(n)/8) u sum |term|
 * whatever the order of its additions; exactly, when all terms are exact
 * integers and sum |term| is a number below which all integers are. */
#include "support/base.h"

#include "ir/eval_impl.h"

#include "ir/op_ref.h"

struct acc {
    double f;
    long double l;
    int64_t i;
    double size; /* sums: sum of |term| */
    double err;
    double hi, lo; /* extremes: the greatest and least that the result may be;
                      arg: the best of the others, all and inexact */
    int64_t lo_i, hi_i, n;
    bool inexact; /* some term is no integer or not exact */
    bool undecided;
};

struct job_reduce {
    struct eval *e;
    node_id id;
    const struct node *n;
    const int64_t *shape; /* of the operand */
    int rank;
    bool over[MAX_RANK], keep[MAX_RANK];
    int64_t n_over, n_keep; /* terms of a result, results */
    bool rows; /* one unit holds a tile of results along the last dim */
    int64_t parts, part; /* of the terms */
    int64_t tiles;       /* rows: of the last dimension */
    int64_t batch;       /* otherwise: results of a unit */
    enum dtype type;     /* of the accumulator */
    bool is_sum, is_arg, is_logic;
    struct acc *accs; /* when parts > 1: by part, then by result */
    struct array *to;
};

static struct acc
acc_start(const struct job_reduce *j)
{
    struct acc a = {0};

    a.f = op_identity(j->n->op);
    a.l = (long double)a.f;
    if (num_rep(j->type) == REP_I && !j->is_arg)
        a.i = a.lo_i = a.hi_i = op_identity_int(j->n->op, j->type);
    a.hi = a.lo = j->is_arg ? -(double)INFINITY : a.f;
    return a;
}

/* --- Sums and products ---------------------------------------------------- */

static void
sum_absorb(struct acc *a, double x, double e)
{
    a->f += x;
    a->size += fabs(x);
    a->err += e;
    a->inexact |= e != 0 || x != rint(x);
    a->n++;
}

static void
sum_absorb_long(struct acc *a, long double x, double e)
{
    a->l += x;
    a->size += (double)fabsl(x);
    a->err += e;
    a->inexact |= e != 0 || x != rintl(x);
    a->n++;
}

static void
product_absorb(const struct job_reduce *j, struct acc *a, long double x,
               double e)
{
    long double p = a->l * x;
    double u = unit_roundoff(j->type);

    a->inexact |= e != 0 || x != rintl(x);
    a->err = a->err * (double)fabsl(x) + e * (double)fabsl(a->l) + a->err * e;
    a->inexact |= fabsl(p) > 1 / (long double)u;
    if (a->inexact)
        a->err += 2 * u * (double)fabsl(p);
    a->l = p;
    a->f = (double)p;
    a->n++;
}

/* --- Extremes, any and all ------------------------------------------------ */

static void
extreme_absorb(const struct job_reduce *j, struct acc *a, double x, double e)
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
extreme_absorb_long(const struct job_reduce *j, struct acc *a, long double x,
                    double e)
{
    a->l = op_ref_long[j->n->op]((long double[]){a->l, x});
    extreme_absorb(j, a, (double)x, e);
}

static void
int_absorb(const struct job_reduce *j, struct acc *a, int64_t x, double e)
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
arg_better(const struct job_reduce *j, long double best, long double x)
{
    long double r;

    if (isnan(best) || isnan(x))
        return !isnan(best);
    r = op_ref_long[j->n->op]((long double[]){best, x});
    return r != best || signbit(r) != signbit(best);
}

/* The sign that turns the better of two into the greater. */
static double
arg_sign(const struct job_reduce *j)
{
    return op_identity(j->n->op) < 0 ? 1 : -1;
}

static void
arg_loser(const struct job_reduce *j, struct acc *a, long double x, double e)
{
    double reach = (double)x * arg_sign(j) + e;

    a->hi = fmax(a->hi, reach);
    if (e != 0)
        a->lo = fmax(a->lo, reach);
}

static void
arg_absorb(const struct job_reduce *j, struct acc *a, long double x, double e,
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
arg_undecided(const struct job_reduce *j, const struct acc *a)
{
    double least = (double)a->l * arg_sign(j) - a->err;

    if (a->undecided || isnan(a->l))
        return a->undecided;
    return (a->err > 0 && a->hi >= least) || a->lo >= least;
}

/* --- Absorbing tiles, merging, finishing ---------------------------------- */

/* Terms first, first + 1, ... of one accumulator, or one term of each of n. */
static void
absorb(const struct job_reduce *j, struct acc *acc, int acc_step,
       const struct tile *t, int n, int64_t first)
{
    for (int k = 0; k < n; k++) {
        struct acc *a = acc + k * acc_step;
        int at = k * t->step;
        double e = t->err ? t->err[at] : 0;
        if (j->is_arg)
            arg_absorb(j, a, t->l[at], e, acc_step ? first : first + k);
        else if (t->rep == REP_I)
            int_absorb(j, a, t->i[at], e);
        else if (!j->is_sum && op_identity(j->n->op) == 1)
            product_absorb(j, a, t->rep == REP_F ? t->f[at] : t->l[at], e);
        else if (t->rep == REP_F && j->is_sum)
            sum_absorb(a, t->f[at], e);
        else if (t->rep == REP_F)
            extreme_absorb(j, a, t->f[at], e);
        else if (j->is_sum)
            sum_absorb_long(a, t->l[at], e);
        else
            extreme_absorb_long(j, a, t->l[at], e);
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
merge_arg(const struct job_reduce *j, struct acc *a, const struct acc *b)
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
merge_extreme(const struct job_reduce *j, struct acc *a, const struct acc *b)
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

static void
merge(const struct job_reduce *j, struct acc *a, const struct acc *b)
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
    } else if (op_identity(j->n->op) == 1) {
        bool inexact = a->inexact || b->inexact;
        product_absorb(j, a, b->l, b->err);
        a->inexact |= inexact;
    } else {
        merge_extreme(j, a, b);
    }
}

static double
float_bound(const struct job_reduce *j, const struct acc *a)
{
    double u = unit_roundoff(j->type);

    if (!j->is_sum && op_identity(j->n->op) == 1)
        return a->err;
    if (!j->is_sum && !a->inexact)
        return 0;
    if (!j->is_sum) {
        double up = fabs(a->hi - a->f), down = fabs(a->lo - a->f);
        if (isnan(a->f) && isnan(a->hi) && isnan(a->lo))
            return 0;
        return isnan(up) || isnan(down) ? (double)INFINITY : fmax(up, down);
    }
    if (a->n <= 1 || (!a->inexact && a->size <= 1 / u))
        return a->err;
    return a->err + (8 + sqrt((double)a->n) / 8) * u * a->size;
}

static void
finish(const struct job_reduce *j, int64_t result, const struct acc *acc)
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

static const struct tile *
terms(const struct job_reduce *j, struct worker *w, const struct coords *c)
{
    enum dtype from = graph_node(j->e->g, j->n->args[0])->dtype;
    const struct tile *t = tile_eval(w, j->n->args[0], coords_intern(w, c));

    if (num_rep(from) != num_rep(j->type))
        t = tile_convert(w, t, from, j->type, c->n);
    return t;
}

/* --- Units ---------------------------------------------------------------- */

static void
store_part(const struct job_reduce *j, int64_t part, int64_t result,
           const struct acc *a)
{
    if (j->parts == 1)
        finish(j, result, a);
    else
        j->accs[part * j->n_keep + result] = *a;
}

/* Results [first, end) of the row-major order, terms [from, to). */
static void
unit_results(struct job_reduce *j, struct worker *w, int64_t unit)
{
    int64_t part = unit % j->parts, from = part * j->part;
    int64_t to = MIN(from + j->part, j->n_over);
    int64_t first = unit / j->parts * j->batch;

    for (int64_t r = first; r < MIN(first + j->batch, j->n_keep); r++) {
        struct acc a = acc_start(j);
        for (int64_t q = from; q < to;) {
            struct coords c = {.rank = j->rank};
            int n = coords_chunk(j->shape, j->rank, j->over, q, to);
            worker_reset(w);
            coords_range(w, &c, j->shape, j->keep, r, 1);
            coords_range(w, &c, j->shape, j->over, q, n);
            absorb(j, &a, 0, terms(j, w, &c), n, q);
            q += n;
        }
        store_part(j, part, r, &a);
    }
}

/* A tile of results along the last dimension, terms [from, to). */
static void
unit_rows(struct job_reduce *j, struct worker *w, int64_t unit)
{
    int64_t part = unit % j->parts, from = part * j->part;
    int64_t to = MIN(from + j->part, j->n_over);
    int64_t last = j->shape[j->rank - 1];
    int64_t tile = unit / j->parts % j->tiles * TILE;
    int64_t first = unit / j->parts / j->tiles * last + tile;
    int n = (int)MIN(TILE, last - tile);
    struct acc accs[TILE];

    for (int k = 0; k < n; k++)
        accs[k] = acc_start(j);
    for (int64_t q = from; q < to; q++) {
        struct coords c = {.rank = j->rank};
        worker_reset(w);
        coords_range(w, &c, j->shape, j->over, q, 1);
        coords_range(w, &c, j->shape, j->keep, first, n);
        absorb(j, accs, 1, terms(j, w, &c), n, q);
    }
    for (int k = 0; k < n; k++)
        store_part(j, part, first + k, &accs[k]);
}

static void
unit_run(struct worker *w, void *data, int64_t unit)
{
    struct job_reduce *j = data;

    if (j->rows)
        unit_rows(j, w, unit);
    else
        unit_results(j, w, unit);
}

/* At least 64 units where there is work for them, of at least 16 Ki terms. */
static int64_t
plan_units(struct job_reduce *j)
{
    int64_t outer, work;

    j->rows =
        j->rank > 0 && j->keep[j->rank - 1] && j->shape[j->rank - 1] >= 16;
    j->tiles = j->rows ? (j->shape[j->rank - 1] + TILE - 1) / TILE : 1;
    j->batch = j->rows ? 1 : MAX(1, 16384 / MAX(j->n_over, 1));
    outer = j->rows ? j->n_keep / j->shape[j->rank - 1] * j->tiles
                    : (j->n_keep + j->batch - 1) / j->batch;
    work = j->rows ? MAX(1, 16384 / MIN(TILE, j->shape[j->rank - 1])) : 16384;
    j->parts = MIN(64 / MAX(outer, 1) + 1, j->n_over / work);
    j->parts = outer >= 64 ? 1 : MAX(1, j->parts);
    j->part = (j->n_over + j->parts - 1) / j->parts;
    return outer * j->parts;
}

static void
merge_parts(struct job_reduce *j)
{
    if (j->parts == 1)
        return;
    for (int64_t r = 0; r < j->n_keep; r++) {
        struct acc a = j->accs[r];
        for (int64_t p = 1; p < j->parts; p++)
            merge(j, &a, &j->accs[p * j->n_keep + r]);
        finish(j, r, &a);
    }
}

static void
split_dims(struct job_reduce *j)
{
    j->n_over = j->n_keep = 1;
    for (int d = 0; d < j->rank; d++) {
        j->over[d] = j->n->flag[d];
        j->keep[d] = !j->over[d];
        *(j->over[d] ? &j->n_over : &j->n_keep) *= j->shape[d];
    }
}

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

void
eval_reduce(struct eval *e, node_id id)
{
    const struct node *n = graph_node(e->g, id), *x;
    struct job_reduce j = {.e = e, .id = id, .n = n};
    int64_t units;

    assert(op_info[n->op].class == OC_REDUCE);
    x = graph_node(e->g, n->args[0]);
    j.shape = e->shape[n->args[0]];
    j.rank = x->rank;
    j.is_arg = (op_info[n->op].flags & OPF_ARG_INDEX) != 0;
    j.is_logic = op_info[n->op].type == OT_LOGIC;
    j.is_sum = op_info[n->op].type == OT_SUM && op_identity(n->op) == 0;
    /* Indices of integers compare exactly in long double. */
    j.type = j.is_arg                        ? DT_F64
             : op_info[n->op].type == OT_SUM ? dtype_accumulator(x->dtype)
                                             : dtype_compute(x->dtype);
    split_dims(&j);
    j.to = array_new(e->arena, n->dtype, j.n_keep);
    units = plan_units(&j);
    if (j.parts > 1)
        j.accs = NEW_ARRAY(e->arena, struct acc, j.parts * j.n_keep);
    if (j.n_keep > 0)
        eval_parallel(e, units, unit_run, &j);
    merge_parts(&j);
    e->arrays[id] = j.to;
}
