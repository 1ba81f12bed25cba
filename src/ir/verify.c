/* SPDX-License-Identifier: Apache-2.0 */
/* verify: the invariants of a graph. All failures are collected, one line each;
 * a node that refers to what isn't there is not looked at any further.
 *
 * Operands of a storage type stand for their values as f32, so types are
 * compared after dtype_compute wherever an operation computes. */
#include "support/base.h"

#include "ir/graph.h"

#include "support/buf.h"

#include <stdarg.h>

struct verify {
    const struct graph *g;
    struct buf *why;
    node_id id;
    bool good;
};

static void fail(struct verify *v, const char *fmt, ...) ATTR_PRINTF(2, 3);

static void
fail(struct verify *v, const char *fmt, ...)
{
    va_list ap;

    v->good = false;
    if (v->id != UINT32_MAX)
        buf_printf(v->why, "node %" PRIu32 " (%s): ", v->id,
                   op_info[v->g->nodes[v->id].op].name);
    va_start(ap, fmt);
    buf_vprintf(v->why, fmt, ap);
    va_end(ap);
    buf_putc(v->why, '\n');
}

static const struct node *
arg_of(const struct verify *v, const struct node *n, uint32_t i)
{
    assert(i < n->n_args);
    return graph_node(v->g, n->args[i]);
}

static bool
same_dims(int rank, const struct sym *const *a, const struct sym *const *b)
{
    for (int d = 0; d < rank; d++) {
        if (!sym_equal(a[d], b[d]))
            return false;
    }
    return true;
}

static bool
is_extent(const struct sym *s, int64_t k)
{
    int64_t v;

    return sym_is_int(s, &v) && v == k;
}

static void
check_same_shape(struct verify *v, const struct node *n, uint32_t i)
{
    const struct node *a = arg_of(v, n, i);

    if (a->rank != n->rank || !same_dims(n->rank, a->dims, n->dims))
        fail(v, "operand %" PRIu32 " has another shape", i);
}

static void
check_type(struct verify *v, enum dtype is, enum dtype wants)
{
    if (is != wants)
        fail(v, "type %s, not %s", dtype_info[is].name, dtype_info[wants].name);
}

/* --- pointwise ------------------------------------------------------------ */

/* Operands from `first` on compute in the type t. */
static void
check_compute(struct verify *v, const struct node *n, uint32_t first,
              enum dtype t)
{
    for (uint32_t i = first; i < n->n_args; i++)
        check_type(v, dtype_compute(arg_of(v, n, i)->dtype), dtype_compute(t));
}

static void
check_pointwise_type(struct verify *v, const struct node *n)
{
    enum dtype first = arg_of(v, n, 0)->dtype;

    switch (op_info[n->op].type) {
    case OT_ARITH:
    case OT_ROUND:
    case OT_FLOAT:
        if (dtype_is_storage(n->dtype))
            fail(v, "computes in the storage type %s",
                 dtype_info[n->dtype].name);
        if (op_info[n->op].type == OT_FLOAT && !dtype_is_float(n->dtype))
            fail(v, "gives %s", dtype_info[n->dtype].name);
        check_compute(v, n, 0, n->dtype);
        return;
    case OT_BOOL:
        check_type(v, n->dtype, DT_BOOL);
        check_compute(v, n, 0, first);
        return;
    case OT_LOGIC:
        check_type(v, n->dtype, DT_BOOL);
        check_compute(v, n, 0, DT_BOOL);
        return;
    case OT_BITS:
    case OT_SHIFT:
        if (dtype_is_float(n->dtype))
            fail(v, "gives %s", dtype_info[n->dtype].name);
        check_compute(v, n, 0, n->dtype);
        return;
    case OT_SELECT:
        check_type(v, first, DT_BOOL);
        check_compute(v, n, 1, n->dtype);
        return;
    case OT_NONE:
    case OT_KEEP:
    case OT_SUM:
    case OT_EXTREME:
    case OT_INDEX:
        break;
    }
    BUG("pointwise '%s' has no type rule", op_info[n->op].name);
}

static void
check_pointwise(struct verify *v, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++)
        check_same_shape(v, n, i);
    check_pointwise_type(v, n);
}

static void
check_cast(struct verify *v, const struct node *n)
{
    check_same_shape(v, n, 0);
}

/* --- views ---------------------------------------------------------------- */

/* Result dimensions with a source name different ones, all in range; with
 * `ordered` in order. Where a source is named the extents are equal. */
static bool
check_map(struct verify *v, const struct node *n, bool ordered)
{
    const struct node *a = arg_of(v, n, 0);
    unsigned seen = 0;

    for (int d = 0; d < n->rank; d++) {
        int from = n->map[d];

        if (from == NO_DIM)
            continue;
        if (from < 0 || from >= a->rank || (seen >> from & 1) ||
            (ordered && seen >> from != 0)) {
            fail(v, "dimension %d comes from %d", d, from);
            return false;
        }
        seen |= 1u << from;
        if (!sym_equal(a->dims[from], n->dims[d]))
            fail(v, "dimension %d changes its extent", d);
    }
    for (int d = 0; d < a->rank; d++) {
        if (!(seen >> d & 1) && !is_extent(a->dims[d], 1))
            fail(v, "dimension %d of the operand is lost", d);
    }
    return true;
}

static void
check_mapped(struct verify *v, const struct node *n)
{
    bool grows = n->op == OP_BROADCAST || n->op == OP_UNSQUEEZE;

    if (!check_map(v, n, n->op != OP_PERMUTE))
        return;
    for (int d = 0; d < n->rank; d++) {
        if (n->map[d] == NO_DIM && !grows)
            fail(v, "dimension %d comes from nowhere", d);
        if (n->map[d] == NO_DIM && n->op == OP_UNSQUEEZE &&
            !is_extent(n->dims[d], 1))
            fail(v, "new dimension %d isn't of extent 1", d);
    }
}

static void
check_slice(struct verify *v, const struct node *n)
{
    if (n->rank != arg_of(v, n, 0)->rank)
        fail(v, "changes the rank");
    for (int d = 0; d < n->rank; d++) {
        if (n->start[d] == NULL || n->step[d] < 1)
            fail(v, "has no start or step in dimension %d", d);
    }
}

static void
check_select(struct verify *v, const struct node *n)
{
    const struct node *a = arg_of(v, n, 0);

    if (n->rank != a->rank - 1 || n->dim < 0 || n->dim >= a->rank) {
        fail(v, "drops dimension %d of %d", n->dim, a->rank);
        return;
    }
    for (int d = 0; d < n->rank; d++) {
        if (!sym_equal(n->dims[d], a->dims[d + (d >= n->dim)]))
            fail(v, "dimension %d changes its extent", d);
    }
    if (n->n_args == 1 && n->start[0] == NULL)
        fail(v, "has no index");
    if (n->n_args == 2 &&
        (arg_of(v, n, 1)->rank != 0 || arg_of(v, n, 1)->dtype != DT_I64))
        fail(v, "index isn't an i64 scalar");
}

static const struct sym *
elements(const struct verify *v, const struct node *n)
{
    const struct sym *e = sym_int(v->g->syms, 1);

    for (int d = 0; d < n->rank; d++)
        e = sym_mul(v->g->syms, e, n->dims[d]);
    return e;
}

static void
check_reshape(struct verify *v, const struct node *n)
{
    if (!sym_equal(elements(v, n), elements(v, arg_of(v, n, 0))))
        fail(v, "changes the number of elements");
}

static void
check_flip(struct verify *v, const struct node *n)
{
    check_same_shape(v, n, 0);
}

static void
check_pad(struct verify *v, const struct node *n)
{
    if (n->rank != arg_of(v, n, 0)->rank || arg_of(v, n, 1)->rank != 0)
        fail(v, "has operands of the wrong rank");
    for (int d = 0; d < n->rank; d++) {
        if (n->start[d] == NULL)
            fail(v, "has no width in dimension %d", d);
    }
    check_type(v, arg_of(v, n, 1)->dtype, n->dtype);
}

static void
check_cat(struct verify *v, const struct node *n)
{
    const struct sym *sum = sym_int(v->g->syms, 0);

    if (n->dim < 0 || n->dim >= n->rank) {
        fail(v, "joins along dimension %d of %d", n->dim, n->rank);
        return;
    }
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct node *a = arg_of(v, n, i);

        check_type(v, a->dtype, n->dtype);
        if (a->rank != n->rank) {
            fail(v, "operand %" PRIu32 " has another rank", i);
            return;
        }
        for (int d = 0; d < n->rank; d++) {
            if (d != n->dim && !sym_equal(a->dims[d], n->dims[d]))
                fail(v, "operand %" PRIu32 " has another shape", i);
        }
        sum = sym_add(v->g->syms, sum, a->dims[n->dim]);
    }
    if (!sym_equal(sum, n->dims[n->dim]))
        fail(v, "extents don't add up");
}

/* --- reductions and scans --------------------------------------------------
 */

static void
check_fold_type(struct verify *v, const struct node *n)
{
    enum dtype t = arg_of(v, n, 0)->dtype;

    switch (op_info[n->op].type) {
    case OT_SUM:
        check_type(v, n->dtype, dtype_accumulator(t));
        return;
    case OT_EXTREME:
        check_type(v, n->dtype, dtype_compute(t));
        return;
    case OT_LOGIC:
        check_type(v, n->dtype, DT_BOOL);
        check_type(v, t, DT_BOOL);
        return;
    case OT_INDEX:
        check_type(v, n->dtype, DT_I64);
        return;
    case OT_NONE:
    case OT_ARITH:
    case OT_FLOAT:
    case OT_ROUND:
    case OT_BOOL:
    case OT_BITS:
    case OT_SHIFT:
    case OT_SELECT:
    case OT_KEEP:
        break;
    }
    BUG("reduction '%s' has no type rule", op_info[n->op].name);
}

static void
check_reduce(struct verify *v, const struct node *n)
{
    const struct node *a = arg_of(v, n, 0);
    int r = 0;

    for (int d = 0; d < a->rank; d++) {
        if (n->flag[d] && !n->keepdim)
            continue;
        if (r >= n->rank || !(n->flag[d] ? is_extent(n->dims[r], 1)
                                         : sym_equal(n->dims[r], a->dims[d])))
            fail(v, "dimension %d isn't what is left", r);
        r++;
    }
    if (r != n->rank)
        fail(v, "rank %d, not %d", n->rank, r);
    check_fold_type(v, n);
}

static void
check_scan(struct verify *v, const struct node *n)
{
    check_same_shape(v, n, 0);
    if (n->dim < 0 || n->dim >= n->rank)
        fail(v, "runs along dimension %d of %d", n->dim, n->rank);
    check_fold_type(v, n);
}

/* --- leaves ----------------------------------------------------------------
 */

static void
check_input(struct verify *v, const struct node *n)
{
    const struct param *p;

    if (n->param >= v->g->n_params) {
        fail(v, "no parameter %" PRIu32, n->param);
        return;
    }
    p = &v->g->params[n->param];
    if (p->kind != (n->op == OP_INPUT ? PARAM_TENSOR : PARAM_SCALAR) ||
        p->dtype != n->dtype || p->rank != n->rank ||
        !same_dims(n->rank, p->dims, n->dims))
        fail(v, "differs from parameter '%s'", p->name);
}

static void
check_dim(struct verify *v, const struct node *n)
{
    if (n->extent == NULL || n->rank != 0 || n->dtype != DT_I64)
        fail(v, "isn't an i64 extent");
}

static void
check_const(struct verify *v, const struct node *n)
{
    if (n->rank != 0 || dtype_is_storage(n->dtype))
        fail(v, "isn't a scalar in a type that computes");
}

/* --- all of it -------------------------------------------------------------
 */

typedef void check_fn(struct verify *v, const struct node *n);

static check_fn *const by_op[OP_COUNT] = {
    [OP_INPUT] = check_input,      [OP_SCALAR] = check_input,
    [OP_DIM] = check_dim,          [OP_CONST] = check_const,
    [OP_BROADCAST] = check_mapped, [OP_PERMUTE] = check_mapped,
    [OP_SQUEEZE] = check_mapped,   [OP_UNSQUEEZE] = check_mapped,
    [OP_SLICE] = check_slice,      [OP_SELECT_INDEX] = check_select,
    [OP_RESHAPE] = check_reshape,  [OP_FLIP] = check_flip,
    [OP_PAD] = check_pad,          [OP_CAT] = check_cat,
};

static check_fn *const by_class[OC_RANDOM + 1] = {
    [OC_POINTWISE] = check_pointwise,
    [OC_CAST] = check_cast,
    [OC_REDUCE] = check_reduce,
    [OC_SCAN] = check_scan,
};

/* Operands that exist and precede the node, in the right number. */
static bool
check_operands(struct verify *v, const struct node *n)
{
    int arity = op_info[n->op].arity;

    if (arity >= 0 ? n->n_args != (uint32_t)arity : n->n_args < 1) {
        fail(v, "%" PRIu32 " operands", n->n_args);
        return false;
    }
    for (uint32_t i = 0; i < n->n_args; i++) {
        if (n->args[i] >= v->id) {
            fail(v, "operand %" PRIu32 " doesn't precede it", i);
            return false;
        }
    }
    for (int d = 0; d < n->rank; d++) {
        if (n->dims[d] == NULL) {
            fail(v, "dimension %d has no extent", d);
            return false;
        }
    }
    return true;
}

static void
check_node(struct verify *v, const struct node *n)
{
    enum op_class class = op_info[n->op].class;

    if (!check_operands(v, n))
        return;
    if (class == OC_VIEW || class == OC_JOIN)
        check_type(v, n->dtype, arg_of(v, n, 0)->dtype);
    if (by_op[n->op] != NULL)
        by_op[n->op](v, n);
    else if (by_class[class] != NULL)
        by_class[class](v, n);
}

static void
check_result(struct verify *v, const struct result *r)
{
    const struct node *n;

    if (r->node >= v->g->n_nodes) {
        fail(v, "result '%s' has no value", r->name);
        return;
    }
    n = graph_node(v->g, r->node);
    if (n->rank != r->rank || !same_dims(r->rank, n->dims, r->dims))
        fail(v, "result '%s' has another shape than its value", r->name);
    if (r->inplace >= (int)v->g->n_params)
        fail(v, "result '%s' replaces no parameter", r->name);
}

bool
graph_verify(const struct graph *g, struct buf *why)
{
    struct verify v = {.g = g, .why = why, .good = true};

    for (v.id = 0; v.id < g->n_nodes; v.id++)
        check_node(&v, &g->nodes[v.id]);
    v.id = UINT32_MAX;
    for (uint32_t i = 0; i < g->n_results; i++)
        check_result(&v, &g->results[i]);
    return v.good;
}
