/* SPDX-License-Identifier: Apache-2.0 */
/* simplify_rules: the rewrites that look at one node and its operands. */
#include "support/base.h"

#include "ir/simplify_impl.h"

#include "support/arena.h"

#include <math.h>

static const struct node *
node_of(const struct simplify *s, node_id id)
{
    return graph_node(s->to, id);
}

static const struct node *
arg_of(const struct simplify *s, const struct node *n, uint32_t i)
{
    assert(i < n->n_args);
    return graph_node(s->to, n->args[i]);
}

/* --- operands ---------------------------------------------------------------
 */

/* A cast of a storage type to f32 changes no value, only what it is called. */
static bool
is_widening(const struct simplify *s, const struct node *n)
{
    return n->op == OP_CAST && n->dtype == DT_F32 &&
           dtype_is_storage(arg_of(s, n, 0)->dtype);
}

/* Operations that compute read values of a storage type as f32 anyway. */
bool
simplify_operands(struct simplify *s, struct node *n, node_id *ret)
{
    enum op_class class = op_info[n->op].class;
    node_id *args;

    (void)ret;
    if (class != OC_POINTWISE && class != OC_REDUCE && class != OC_SCAN)
        return false;
    args = NEW_ARRAY(s->to->arena, node_id, n->n_args);
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct node *a = arg_of(s, n, i);

        args[i] = is_widening(s, a) ? a->args[0] : n->args[i];
    }
    n->args = args;
    return false;
}

/* --- views ------------------------------------------------------------------
 */

static bool
is_mapped(enum op op)
{
    return op == OP_BROADCAST || op == OP_PERMUTE || op == OP_SQUEEZE ||
           op == OP_UNSQUEEZE;
}

static bool
is_whole(const struct simplify *s, const struct node *n)
{
    const struct node *a = arg_of(s, n, 0);

    if ((!is_mapped(n->op) && n->op != OP_RESHAPE) || a->rank != n->rank)
        return false;
    for (int d = 0; d < n->rank; d++) {
        if (is_mapped(n->op) && n->map[d] != d)
            return false;
        if (!sym_equal(n->dims[d], a->dims[d]))
            return false;
    }
    return true;
}

/* The kind of a map that keeps the order of dimensions: SQUEEZE when it only
 * drops some, UNSQUEEZE when it only adds some, OP_COUNT when it does both. */
static enum op
kind_of_map(const int *map, int rank, int from_rank)
{
    int kept = 0;

    for (int d = 0; d < rank; d++)
        kept += map[d] != NO_DIM;
    if (kept == rank)
        return OP_SQUEEZE;
    return kept == from_rank ? OP_UNSQUEEZE : OP_COUNT;
}

/* What the outer view becomes on the operand of the inner one; OP_COUNT where
 * the two can't be one. */
static enum op
composed_op(const struct simplify *s, const struct node *n,
            const struct node *inner, const int *map)
{
    bool outer_keeps = n->op == OP_SQUEEZE || n->op == OP_UNSQUEEZE;
    bool inner_keeps = inner->op == OP_SQUEEZE || inner->op == OP_UNSQUEEZE;

    if (n->op == inner->op)
        return n->op;
    if (n->op == OP_BROADCAST && inner->op != OP_PERMUTE)
        return OP_BROADCAST;
    if (outer_keeps && inner_keeps)
        return kind_of_map(map, n->rank, arg_of(s, inner, 0)->rank);
    return OP_COUNT;
}

/* The inner view's map behind the outer's. */
static void
compose(struct simplify *s, struct node *n)
{
    const struct node *a = arg_of(s, n, 0);
    int map[MAX_RANK] = {0};
    enum op op;

    if (n->op == OP_RESHAPE && a->op == OP_RESHAPE)
        n->args = a->args;
    if (!is_mapped(n->op) || !is_mapped(a->op))
        return;
    for (int d = 0; d < n->rank; d++)
        map[d] = n->map[d] == NO_DIM ? NO_DIM : a->map[n->map[d]];
    op = composed_op(s, n, a, map);
    if (op == OP_COUNT)
        return;
    n->op = op;
    n->args = a->args;
    memcpy(n->map, map, sizeof(n->map));
}

/* x[.., 0, ..] of a dimension of extent 1 only drops it. */
static void
index_of_one(struct simplify *s, struct node *n)
{
    int64_t extent;

    if (n->op != OP_SELECT_INDEX || n->n_args != 1 ||
        !sym_is_int(arg_of(s, n, 0)->dims[n->dim], &extent) || extent != 1)
        return;
    n->op = OP_SQUEEZE;
    for (int d = 0; d < n->rank; d++)
        n->map[d] = d + (d >= n->dim);
    n->start[0] = NULL;
    n->dim = 0;
}

/* view(f32(x)) is f32(view(x)): there the cast meets what reads it. */
static bool
sink_widening(struct simplify *s, const struct node *n, node_id *ret)
{
    const struct node *cast = arg_of(s, n, 0);
    struct node view = *n, out = {.op = OP_CAST, .dtype = DT_F32, .n_args = 1};
    node_id id;

    if (!is_widening(s, cast) || n->n_args != 1)
        return false;
    view.args = cast->args;
    view.dtype = arg_of(s, cast, 0)->dtype;
    view.name = NULL;
    id = simplify_emit(s, &view);
    out.args = &id;
    out.rank = n->rank;
    memcpy(out.dims, n->dims, sizeof(out.dims));
    out.name = n->name;
    out.span = n->span;
    *ret = simplify_emit(s, &out);
    return true;
}

bool
simplify_view(struct simplify *s, struct node *n, node_id *ret)
{
    if (op_info[n->op].class != OC_VIEW)
        return false;
    index_of_one(s, n);
    if (sink_widening(s, n, ret))
        return true;
    compose(s, n);
    if (!is_whole(s, n))
        return false;
    *ret = n->args[0];
    return true;
}

/* --- casts ------------------------------------------------------------------
 */

/* A value that no multiplication or addition of this program makes can't be
 * contracted with what follows. */
static bool
is_leaf(const struct node *n)
{
    return op_info[n->op].class == OC_LEAF;
}

/* f32(e) of an f32 forbids contraction, so it stays on computed values. */
static bool
is_idle(const struct simplify *s, const struct node *n)
{
    const struct node *a = arg_of(s, n, 0);

    return a->dtype == n->dtype &&
           (is_leaf(a) || (n->dtype != DT_F32 && n->dtype != DT_F64));
}

/* b(a) then c is c(a) when b holds all of a; but integers wrap where floats
 * saturate. */
static bool
is_lossless_pair(enum dtype a, enum dtype b, enum dtype c)
{
    bool to_integer = dtype_is_integer(c);

    return dtype_holds(b, a) &&
           (!to_integer || dtype_is_float(a) == dtype_is_float(b));
}

bool
simplify_cast(struct simplify *s, struct node *n, node_id *ret)
{
    const struct node *a;

    if (n->op != OP_CAST)
        return false;
    for (a = arg_of(s, n, 0); a->op == OP_CAST; a = arg_of(s, n, 0)) {
        if (!is_lossless_pair(arg_of(s, a, 0)->dtype, a->dtype, n->dtype))
            break;
        n->args = a->args;
    }
    if (!is_idle(s, n))
        return false;
    *ret = n->args[0];
    return true;
}

/* --- constants ---------------------------------------------------------------
 */

/* A constant, maybe stretched; NULL for anything else. */
static const struct node *
constant_of(const struct simplify *s, node_id id)
{
    const struct node *n = node_of(s, id);

    if (n->op == OP_BROADCAST)
        n = arg_of(s, n, 0);
    return n->op == OP_CONST ? n : NULL;
}

/* The node for a constant in the shape of n. */
static node_id
emit_constant(struct simplify *s, const struct constant *c,
              const struct node *n)
{
    struct node k = {.op = OP_CONST, .dtype = c->dtype, .span = n->span};
    struct node wide = {.op = OP_BROADCAST, .dtype = c->dtype, .n_args = 1};
    node_id id;

    if (dtype_is_float(c->dtype))
        k.value.f = c->f;
    else
        k.value.i = c->i;
    id = simplify_emit(s, &k);
    if (n->rank == 0)
        return id;
    wide.args = &id;
    wide.rank = n->rank;
    wide.span = n->span;
    memcpy(wide.dims, n->dims, sizeof(wide.dims));
    for (int d = 0; d < n->rank; d++)
        wide.map[d] = NO_DIM;
    return simplify_emit(s, &wide);
}

bool
simplify_fold(struct simplify *s, struct node *n, node_id *ret)
{
    enum op_class class = op_info[n->op].class;
    struct constant x[3] = {{0}}, r;

    if (class != OC_POINTWISE && class != OC_CAST)
        return false;
    assert(n->n_args <= ARRAY_LEN(x));
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct node *k = constant_of(s, n->args[i]);

        if (k == NULL)
            return false;
        x[i].dtype = k->dtype;
        if (dtype_is_float(k->dtype))
            x[i].f = k->value.f;
        else
            x[i].i = k->value.i;
    }
    if (!op_fold(n->op, n->dtype, x, &r))
        return false;
    *ret = emit_constant(s, &r, n);
    return true;
}

/* --- identities
 * --------------------------------------------------------------- */

static bool
is_number(const struct simplify *s, node_id id, double v)
{
    const struct node *k = constant_of(s, id);

    if (k == NULL)
        return false;
    if (!dtype_is_float(k->dtype))
        return (double)k->value.i == v && k->value.i == (int64_t)v;
    return k->value.f == v && signbit(k->value.f) == signbit(v);
}

/* The operand that a binary operation returns: x * 1, x / 1, x - 0, and x + 0
 * where it is -0.0 or an integer; -0.0 + 0.0 is 0.0. */
static int
neutral_operand(const struct simplify *s, const struct node *n)
{
    double one = 1, zero = 0, none = dtype_is_float(n->dtype) ? -0.0 : 0.0;

    for (int i = 0; i < 2; i++) {
        node_id other = n->args[1 - i];

        if (n->op == OP_MUL && is_number(s, other, one))
            return i;
        if (n->op == OP_ADD && is_number(s, other, none))
            return i;
    }
    if ((n->op == OP_DIV && is_number(s, n->args[1], one)) ||
        (n->op == OP_SUB && is_number(s, n->args[1], zero)))
        return 0;
    if (n->args[0] == n->args[1] && (op_info[n->op].flags & OPF_IDEMPOTENT))
        return 0;
    return -1;
}

/* The operand's operand for two of an involution, the operand for two of an
 * idempotent function; UINT32_MAX where there is no such. */
static node_id
undone(const struct simplify *s, const struct node *n)
{
    const struct node *a = arg_of(s, n, 0);

    if (a->op != n->op || a->dtype != n->dtype)
        return UINT32_MAX;
    if (n->op == OP_NEG || n->op == OP_LNOT || n->op == OP_BITNOT)
        return a->args[0];
    return op_info[n->op].flags & OPF_IDEMPOTENT ? n->args[0] : UINT32_MAX;
}

/* The value x with the type of n. */
static node_id
retype(struct simplify *s, const struct node *n, node_id x)
{
    struct node cast = {.op = OP_CAST, .dtype = n->dtype, .n_args = 1};

    if (node_of(s, x)->dtype == n->dtype)
        return x;
    cast.args = &x;
    cast.rank = n->rank;
    cast.span = n->span;
    memcpy(cast.dims, n->dims, sizeof(cast.dims));
    return simplify_emit(s, &cast);
}

bool
simplify_identity(struct simplify *s, struct node *n, node_id *ret)
{
    node_id x = UINT32_MAX;
    int which;

    if (op_info[n->op].class != OC_POINTWISE)
        return false;
    if (n->op == OP_WHERE && n->args[1] == n->args[2]) {
        x = n->args[1];
    } else if (n->n_args == 1) {
        x = undone(s, n);
    } else if (n->n_args == 2) {
        which = neutral_operand(s, n);
        x = which < 0 ? UINT32_MAX : n->args[which];
    }
    if (x == UINT32_MAX)
        return false;
    *ret = retype(s, n, x);
    return true;
}
