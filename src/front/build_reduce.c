/* SPDX-License-Identifier: Apache-2.0 */
/* build_reduce: reductions, and those made of others: mean, variance,
 * logsumexp, norm.
 *
 * The composites are spelled out here once, so that schedulers meet only the
 * plain reductions and pointwise operations. A reduced value that is used
 * beside its operand again is stretched back by one BROADCAST. */
#include "support/base.h"

#include "front/build.h"

#include "support/arena.h"

#include <math.h>

/* The operand of a reduction in the type it is accumulated from; false after a
 * report. `op` may change: the largest of bools is "any". */
static bool
reduce_operand(struct build *b, enum op *op, struct value *x, enum dtype *ret)
{
    enum dtype t = build_type(b, x);

    switch (op_info[*op].type) {
    case OT_SUM:
        *ret = dtype_accumulator(t);
        *x = build_as(b, x, *ret);
        return x->kind != V_POISON;
    case OT_EXTREME:
        *ret = dtype_compute(t);
        *x = build_as(b, x, *ret);
        if (t == DT_BOOL)
            *op = *op == OP_MAX ? OP_ANY : OP_ALL;
        return x->kind != V_POISON;
    case OT_INDEX:
        *ret = DT_I64;
        *x = build_as(b, x, t == DT_BOOL ? DT_I32 : dtype_compute(t));
        return x->kind != V_POISON;
    case OT_LOGIC:
        *ret = DT_BOOL;
        if (t == DT_BOOL) {
            *x = build_as(b, x, t);
            return x->kind != V_POISON;
        }
        if (build_fresh(b, DIAG_TYPE_MISMATCH, x->span)) {
            diag_report(b->diag, DIAG_TYPE_MISMATCH, x->span,
                        arena_printf(b->arena, "'%s'", op_info[*op].name),
                        "bools", dtype_info[t].name);
            diag_help(b->diag, x->span, "write a comparison, such as %s != 0",
                      x->name ? x->name : "(e)");
            build_trace(b);
        }
        return false;
    default:
        BUG("'%s' is no reduction", op_info[*op].name);
    }
}

struct value
build_reduce(struct build *b, enum op op, const struct value *x,
             const struct reduce_args *ra, struct span where)
{
    struct value v = *x;
    struct node n = {.n_args = 1, .keepdim = ra->keepdim};
    struct shape s;
    uint8_t stretch = 0;

    if (!build_is_operand(b, x) || !reduce_operand(b, &op, &v, &n.dtype))
        return build_poison(where);
    if (ra->axes.n == 0 && op_info[op].type != OT_INDEX) {
        v.span = where;
        return v;
    }
    if (ra->axes.n == 0)
        return build_sym(b, sym_int(b->syms, 0), true, where);
    s = build_shape(b, &v);
    n.op = op;
    n.args = &v.node;
    for (int d = 0; d < s.rank; d++) {
        bool reduced = ra->axes.on[d];

        n.flag[d] = reduced;
        if (reduced && !ra->keepdim)
            continue;
        if (reduced || (s.stretch >> d & 1))
            stretch |= (uint8_t)(1 << n.rank);
        n.dims[n.rank++] = reduced ? sym_int(b->syms, 1) : s.dims[d];
    }
    return build_emit(b, &n, stretch, where);
}

/* A reduced value in the shape of x again. */
static struct value
stretch_back(struct build *b, const struct value *v, const struct value *x,
             const struct reduce_args *ra)
{
    struct shape s = build_shape(b, x);
    struct node n = {.op = OP_UNSQUEEZE, .rank = s.rank, .n_args = 1};
    int from = 0;
    int64_t extent;

    if (v->kind == V_POISON || ra->axes.n == 0)
        return *v;
    for (int d = 0; d < s.rank; d++) {
        n.dims[d] = s.dims[d];
        n.map[d] = ra->axes.on[d] ? NO_DIM : from;
        from += !ra->axes.on[d] || ra->keepdim;
        /* Over axes of extent 1 nothing stretches. */
        if (ra->axes.on[d] && !(sym_is_int(s.dims[d], &extent) && extent == 1))
            n.op = OP_BROADCAST;
    }
    if (n.op == OP_UNSQUEEZE && ra->keepdim)
        return *v;
    n.dtype = graph_node(b->graph, v->node)->dtype;
    n.args = &v->node;
    return build_emit(b, &n, s.stretch, v->span);
}

/* How many elements of x go into one of the result. */
static const struct sym *
count(struct build *b, const struct value *x, const struct reduce_args *ra)
{
    struct shape s = build_shape(b, x);
    const struct sym *n = sym_int(b->syms, 1);

    for (int d = 0; d < s.rank; d++) {
        if (ra->axes.on[d])
            n = sym_mul(b->syms, n, s.dims[d]);
    }
    return n;
}

/* n - less, at least 0, as a number of type t. */
static struct value
divisor(struct build *b, const struct sym *n, double less, enum dtype t,
        struct span where)
{
    struct value v[2] = {build_sym(b, n, true, where),
                         build_float(less, where)};

    if (v[0].kind == V_POISON)
        return v[0];
    if (less == floor(less) && fabs(less) < 1e15)
        v[1] = build_int(b, (int64_t)less, where);
    if (less != 0) {
        v[0] = build_binary(b, OP_SUB, &v[0], &v[1], where);
        v[1] =
            v[0].kind == V_INT ? build_int(b, 0, where) : build_float(0, where);
        /* 0 for 1 - 1 and for fewer. */
        v[0] = build_binary(b, OP_MAXIMUM, &v[0], &v[1], where);
    }
    if (v[0].kind == V_POISON)
        return v[0];
    return build_as(b, &v[0], t);
}

/* Integers and bools count as f32 for everything but a sum. */
static struct value
as_float(struct build *b, const struct value *x)
{
    enum dtype t = build_type(b, x);

    return build_as(b, x, t == DT_F64 ? DT_F64 : DT_F32);
}

struct value
build_mean(struct build *b, const struct value *x, const struct reduce_args *ra,
           struct span where)
{
    struct value sum = build_reduce(b, OP_SUM, x, ra, where), n;

    if (sum.kind == V_POISON)
        return sum;
    sum = as_float(b, &sum);
    n = divisor(b, count(b, x, ra), 0, graph_node(b->graph, sum.node)->dtype,
                where);
    return build_binary(b, OP_DIV, &sum, &n, where);
}

void
build_var_mean(struct build *b, const struct value *x,
               const struct reduce_args *ra, struct value *ret_var,
               struct value *ret_mean, struct span where)
{
    struct value mean = build_mean(b, x, ra, where), v, n;

    if (ret_mean)
        *ret_mean = mean;
    if (!ret_var)
        return;
    *ret_var = build_poison(where);
    if (mean.kind == V_POISON)
        return;
    v = as_float(b, x);
    n = stretch_back(b, &mean, &v, ra);
    v = build_binary(b, OP_SUB, &v, &n, where);
    v = build_binary(b, OP_MUL, &v, &v, where);
    v = build_reduce(b, OP_SUM, &v, ra, where);
    n = divisor(b, count(b, x, ra), ra->correction,
                graph_node(b->graph, mean.node)->dtype, where);
    *ret_var = build_binary(b, OP_DIV, &v, &n, where);
}

/* max + log(sum(exp(x - max))), with 0 for a maximum that isn't finite: then
 * exp gives 0, inf or NaN, and so does the sum what it should. */
struct value
build_logsumexp(struct build *b, const struct value *x,
                const struct reduce_args *ra, struct span where)
{
    struct value v, top, finite, zero = build_int(b, 0, where), wide;

    if (!build_is_operand(b, x))
        return build_poison(where);
    v = as_float(b, x);
    top = build_reduce(b, OP_MAX, &v, ra, where);
    if (top.kind == V_POISON)
        return top;
    finite = build_unary(b, OP_ISFINITE, &top, where);
    top = build_pointwise(b, OP_WHERE, (struct value[]){finite, top, zero}, 3,
                          where);
    wide = stretch_back(b, &top, &v, ra);
    v = build_binary(b, OP_SUB, &v, &wide, where);
    v = build_unary(b, OP_EXP, &v, where);
    v = build_reduce(b, OP_SUM, &v, ra, where);
    v = build_unary(b, OP_LOG, &v, where);
    return build_binary(b, OP_ADD, &v, &top, where);
}

/* The general norm: (sum |x| ** p) ** (1 / p). */
static struct value
norm_power(struct build *b, const struct value *x, const struct reduce_args *ra,
           struct span where)
{
    struct value p = build_float(ra->p, where),
                 inverse = build_float(1 / ra->p, where);
    struct value v = build_unary(b, OP_ABS, x, where);

    v = build_binary(b, OP_POW, &v, &p, where);
    v = build_reduce(b, OP_SUM, &v, ra, where);
    return build_binary(b, OP_POW, &v, &inverse, where);
}

struct value
build_norm(struct build *b, const struct value *x, const struct reduce_args *ra,
           struct span where)
{
    struct value v, zero = build_int(b, 0, where);

    if (!build_is_operand(b, x))
        return build_poison(where);
    assert(ra->p > 0);
    v = as_float(b, x);
    if (ra->p == 2) {
        v = build_binary(b, OP_MUL, &v, &v, where);
        v = build_reduce(b, OP_SUM, &v, ra, where);
        return build_unary(b, OP_SQRT, &v, where);
    }
    if (isinf(ra->p)) { /* of nothing: 0 */
        v = build_unary(b, OP_ABS, &v, where);
        v = build_reduce(b, OP_MAX, &v, ra, where);
        return build_binary(b, OP_MAXIMUM, &v, &zero, where);
    }
    if (ra->p == 1) {
        v = build_unary(b, OP_ABS, &v, where);
        return build_reduce(b, OP_SUM, &v, ra, where);
    }
    return norm_power(b, &v, ra, where);
}
