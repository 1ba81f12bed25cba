/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_shape: the arguments of shape operations. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

/* An integer argument as a symbolic expression; false after a report. */
static bool
call_sym(struct call *c, const struct value *v, const char *what,
         const struct sym **ret)
{
    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_INT) {
        BUILD_ERROR(c->b, DIAG_NOT_CONSTANT, v->span, what, c->sig->name,
                    "a uniform integer");
        return false;
    }
    *ret = v->sym;
    return true;
}

void
op_permute(struct call *c)
{
    struct shape s;
    struct axes axes;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (!call_axes(c, 1, &s, s.rank, &axes))
        return;
    if (axes.n != s.rank) {
        BUILD_ERROR(c->b, DIAG_NOT_CONSTANT, c->a.v[1].span, "'axes'",
                    "permute",
                    arena_printf(c->b->arena, "a list of all %d axes", s.rank));
        return;
    }
    c->ret->v[0] = build_permute(c->b, &c->a.v[0], axes.at, c->span);
}

void
op_transpose(struct call *c)
{
    struct shape s;
    int map[MAX_RANK], a, b;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (!call_axis(c, 1, &s, s.rank, &a) || !call_axis(c, 2, &s, s.rank, &b))
        return;
    for (int d = 0; d < MAX_RANK; d++)
        map[d] = d == a ? b : d == b ? a : d;
    c->ret->v[0] = build_permute(c->b, &c->a.v[0], map, c->span);
}

void
op_reshape(struct call *c)
{
    struct shape s;

    if (call_tensor(c, 0) && resolve_shape(c->r, &c->a.v[1], "reshape", &s))
        c->ret->v[0] = build_reshape(c->b, &c->a.v[0], &s, c->span);
}

void
op_broadcast_to(struct call *c)
{
    struct shape s;

    if (call_tensor(c, 0) &&
        resolve_shape(c->r, &c->a.v[1], "broadcast_to", &s))
        c->ret->v[0] = build_broadcast_to(c->b, &c->a.v[0], &s, c->span);
}

void
op_squeeze(struct call *c)
{
    const struct value *v = &c->a.v[1];
    struct axes axes;
    struct shape s;
    int added = v->kind == V_LIST ? (int)MIN(v->n_items, 2 * MAX_RANK) : 1;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (c->sig->op == OP_SQUEEZE) {
        if (call_axes(c, 1, &s, s.rank, &axes))
            c->ret->v[0] = build_squeeze(c->b, &c->a.v[0], &axes, c->span);
        return;
    }
    if (s.rank + added > MAX_RANK) {
        BUILD_ERROR(c->b, DIAG_RANK_LIMIT, c->span, (unsigned)(s.rank + added),
                    MAX_RANK);
        return;
    }
    if (call_axes(c, 1, &s, s.rank + added, &axes))
        c->ret->v[0] = build_unsqueeze(c->b, &c->a.v[0], &axes, c->span);
}

/* One of the two widths before and after a dimension: 0 at least. */
static bool
pad_width(struct call *c, const struct value *v, const struct sym **ret)
{
    if (!call_sym(c, v, "a width", ret))
        return false;
    return resolve_extent(c->r, v, ret, NULL);
}

static bool
pad_widths(struct call *c, int rank, const struct sym **before,
           const struct sym **after)
{
    const struct value *v = &c->a.v[1];

    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_LIST || v->n_items != (uint32_t)rank)
        goto bad;
    for (int d = 0; d < rank; d++) {
        const struct value *pair = &v->items[d];

        if (pair->kind != V_LIST || pair->n_items != 2)
            goto bad;
        if (!pad_width(c, &pair->items[0], &before[d]) ||
            !pad_width(c, &pair->items[1], &after[d]))
            return false;
    }
    return true;
bad:
    BUILD_ERROR(c->b, DIAG_NOT_CONSTANT, v->span, "'widths'", "pad",
                arena_printf(c->b->arena,
                             "a list of %d pairs, as in [[1, 1], [0, 0]]",
                             rank));
    return false;
}

void
op_pad(struct call *c)
{
    const struct sym *before[MAX_RANK], *after[MAX_RANK];
    struct shape s, fs;
    struct value fill;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (!pad_widths(c, s.rank, before, after))
        return;
    fill = c->a.v[2];
    if (c->a.given[2] && !build_is_operand(c->b, &fill))
        return;
    if (!c->a.given[2]) { /* a zero of the operand's own type */
        enum dtype t = build_type(c->b, &c->a.v[0]);

        fill = build_const(c->b, dtype_compute(t), 0, 0, c->span);
        fill = build_cast(c->b, &fill, t, c->span);
    }
    fs = build_shape(c->b, &fill);
    if (fs.rank != 0) {
        BUILD_ERROR(c->b, DIAG_OPERAND_SHAPE, fill.span, "pad",
                    "a scalar as value=", build_shape_text(c->b, &fs));
        return;
    }
    c->ret->v[0] = build_pad(c->b, &c->a.v[0], before, after, &fill, c->span);
}

/* The tensors of a list as nodes; NULL after a report. */
static struct value *
list_of_tensors(struct call *c, uint32_t *ret_n)
{
    struct value *list = &c->a.v[0], *xs;

    if (list->kind == V_POISON)
        return NULL;
    if (list->kind != V_LIST || list->n_items == 0) {
        BUILD_ERROR(c->b, DIAG_NOT_CONSTANT, list->span, "the first argument",
                    c->sig->name, "a list of tensors, as in [x, y]");
        return NULL;
    }
    *ret_n = list->n_items;
    xs = NEW_ARRAY(c->b->arena, struct value, list->n_items);
    for (uint32_t i = 0; i < list->n_items; i++) {
        xs[i] = list->items[i];
        if (!build_is_operand(c->b, &xs[i]))
            return NULL;
    }
    return xs;
}

/* stack: each operand gets the new axis, then they are joined along it. */
static bool
unsqueeze_all(struct call *c, struct value *xs, uint32_t n, int axis)
{
    struct axes axes = {.n = 1};

    axes.on[axis] = true;
    for (uint32_t i = 0; i < n; i++) {
        struct span where = xs[i].span;

        if (xs[i].kind != V_NODE)
            xs[i] = build_as(c->b, &xs[i], build_type(c->b, &xs[i]));
        if (xs[i].kind == V_POISON)
            return false;
        xs[i] = build_unsqueeze(c->b, &xs[i], &axes, where);
        if (xs[i].kind == V_POISON)
            return false;
    }
    return true;
}

/* What is stacked has one shape; its axes would be counted with the new one in
 * a report of build_cat. */
static bool
check_stacked(struct call *c, const struct value *xs, uint32_t n)
{
    struct build *b = c->b;
    struct shape first = build_shape(b, &xs[0]);

    for (uint32_t i = 1; i < n; i++) {
        struct shape s = build_shape(b, &xs[i]);

        if (build_same_but(&first, &s, -1))
            continue;
        if (build_fresh(b, DIAG_OPERAND_SHAPE, xs[i].span)) {
            diag_report(b->diag, DIAG_OPERAND_SHAPE, xs[i].span, "stack",
                        arena_printf(b->arena, "shape '%s'",
                                     build_shape_text(b, &first)),
                        build_shape_text(b, &s));
            diag_secondary(b->diag, xs[0].span);
            build_trace(b);
        }
        return false;
    }
    return true;
}

void
op_cat(struct call *c)
{
    uint32_t n;
    struct value *xs = list_of_tensors(c, &n);
    bool stack = c->sig->op == OP_UNSQUEEZE;
    struct shape s;
    int axis;

    if (!xs)
        return;
    s = build_shape(c->b, &xs[0]);
    if (stack && s.rank == MAX_RANK) {
        BUILD_ERROR(c->b, DIAG_RANK_LIMIT, c->span, MAX_RANK + 1u, MAX_RANK);
        return;
    }
    if (!call_axis(c, 1, &s, s.rank + stack, &axis))
        return;
    if (stack && (!check_stacked(c, xs, n) || !unsqueeze_all(c, xs, n, axis)))
        return;
    c->ret->v[0] = build_cat(c->b, xs, n, axis, c->span);
}

void
op_flip(struct call *c)
{
    struct shape s;
    struct axes axes;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (call_axes(c, 1, &s, s.rank, &axes))
        c->ret->v[0] = build_flip(c->b, &c->a.v[0], &axes, c->span);
}

void
op_roll(struct call *c)
{
    const struct sym *shift;
    struct shape s;
    int axis;

    if (!call_tensor(c, 0) || !call_sym(c, &c->a.v[1], "the shift", &shift))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (call_axis(c, 2, &s, s.rank, &axis))
        c->ret->v[0] = build_roll(c->b, &c->a.v[0], shift, axis, c->span);
}

void
op_size(struct call *c)
{
    struct shape s;
    int axis;

    if (!build_is_operand(c->b, &c->a.v[0]))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (call_axis(c, 1, &s, s.rank, &axis))
        c->ret->v[0] = build_sym(c->b, s.dims[axis], true, c->span);
}

void
op_iota(struct call *c)
{
    const struct sym *n;
    bool literal;

    if (resolve_extent(c->r, &c->a.v[0], &n, &literal))
        c->ret->v[0] = build_iota(c->b, n, literal, c->span);
}
