/* SPDX-License-Identifier: Apache-2.0 */
/* build_view: shape operations. Each is one node that says where an element
 * comes from; lowering turns it into index arithmetic, whether the operand is
 * an input or computed. */
#include "support/base.h"

#include "front/build.h"

#include "support/arena.h"

/* A node over x with x's type and, until changed, x's shape. */
static struct node
view_of(struct build *b, enum op op, const struct value *x)
{
    const struct node *from = graph_node(b->graph, x->node);
    struct node n = {.op = op, .dtype = from->dtype, .rank = from->rank};

    assert(x->kind == V_NODE);
    memcpy(n.dims, from->dims, sizeof(n.dims));
    n.n_args = 1;
    n.args = &x->node;
    return n;
}

struct value
build_permute(struct build *b, const struct value *x, const int *map,
              struct span where)
{
    struct shape s = build_shape(b, x);
    struct node n = view_of(b, OP_PERMUTE, x);
    uint8_t stretch = 0;
    bool identity = true;

    for (int d = 0; d < s.rank; d++) {
        n.map[d] = map[d];
        n.dims[d] = s.dims[map[d]];
        stretch |= (uint8_t)((s.stretch >> map[d] & 1) << d);
        identity = identity && map[d] == d;
    }
    return identity ? *x : build_emit(b, &n, stretch, where);
}

static const struct sym *
elements(struct build *b, const struct shape *s)
{
    const struct sym *n = sym_int(b->syms, 1);

    for (int d = 0; d < s->rank; d++)
        n = sym_mul(b->syms, n, s->dims[d]);
    return n;
}

struct value
build_reshape(struct build *b, const struct value *x, const struct shape *s,
              struct span where)
{
    struct shape from = build_shape(b, x);
    struct node n = view_of(b, OP_RESHAPE, x);
    const struct sym *have = elements(b, &from), *want = elements(b, s);

    if (!have || !want) {
        BUILD_ERROR(b, DIAG_SIZE_OVERFLOW, where,
                    build_shape_text(b, have ? s : &from));
        return build_poison(where);
    }
    if (!sym_equal(have, want)) {
        if (build_fresh(b, DIAG_RESHAPE_SIZE, where)) {
            diag_report(b->diag, DIAG_RESHAPE_SIZE, where,
                        build_shape_text(b, &from), build_shape_text(b, s),
                        build_sym_text(b, have), build_sym_text(b, want));
            diag_help(b->diag, where,
                      "a floor quotient multiplies back only where requires "
                      "says so, as in: requires N %% 32 == 0");
            build_trace(b);
        }
        return build_poison(where);
    }
    n.rank = s->rank;
    memcpy(n.dims, s->dims, sizeof(n.dims));
    return build_emit(b, &n, s->stretch, where);
}

struct value
build_broadcast_to(struct build *b, const struct value *x,
                   const struct shape *s, struct span where)
{
    struct shape from = build_shape(b, x);
    int skip = s->rank - from.rank;
    bool good = skip >= 0;
    struct value r;

    for (int d = 0; good && d < from.rank; d++)
        good = (from.stretch >> d & 1) ||
               sym_equal(from.dims[d], s->dims[d + skip]);
    if (good) {
        r = build_expand(b, x, s);
        r.span = where;
        return r;
    }
    if (build_fresh(b, DIAG_SHAPE_MISMATCH, x->span)) {
        diag_report(b->diag, DIAG_SHAPE_MISMATCH, x->span,
                    build_shape_text(b, &from), build_shape_text(b, s),
                    "only new dimensions and those written 1 stretch");
        if (x->name && x->declared.src)
            diag_note(b->diag, x->declared, "'%s' declared here", x->name);
        build_trace(b);
    }
    return build_poison(where);
}

struct value
build_squeeze(struct build *b, const struct value *x, const struct axes *axes,
              struct span where)
{
    struct shape s = build_shape(b, x);
    struct node n = view_of(b, OP_SQUEEZE, x);
    uint8_t stretch = 0;
    int64_t k;
    int r = 0;

    for (int d = 0; d < s.rank; d++) {
        if (!axes->on[d]) {
            n.map[r] = d;
            n.dims[r] = s.dims[d];
            stretch |= (uint8_t)((s.stretch >> d & 1) << r);
            r++;
        } else if (!sym_is_int(s.dims[d], &k) || k != 1) {
            BUILD_ERROR(b, DIAG_OPERAND_SHAPE, x->span, "squeeze",
                        arena_printf(b->arena, "extent 1 on axis %d", d),
                        build_shape_text(b, &s));
            return build_poison(where);
        }
    }
    n.rank = r;
    for (int d = r; d < MAX_RANK; d++)
        n.dims[d] = NULL;
    return r == s.rank ? *x : build_emit(b, &n, stretch, where);
}

struct value
build_unsqueeze(struct build *b, const struct value *x, const struct axes *axes,
                struct span where)
{
    struct shape s = build_shape(b, x);
    struct node n = view_of(b, OP_UNSQUEEZE, x);
    uint8_t stretch = 0;
    int from = 0;

    if (s.rank + axes->n > MAX_RANK) {
        BUILD_ERROR(b, DIAG_RANK_LIMIT, where, (unsigned)(s.rank + axes->n),
                    MAX_RANK);
        return build_poison(where);
    }
    n.rank = s.rank + axes->n;
    for (int d = 0; d < n.rank; d++) {
        bool is_new = axes->on[d];

        n.map[d] = is_new ? NO_DIM : from;
        n.dims[d] = is_new ? sym_int(b->syms, 1) : s.dims[from];
        if (is_new || (s.stretch >> from & 1))
            stretch |= (uint8_t)(1 << d);
        from += !is_new;
    }
    assert(from == s.rank);
    return axes->n == 0 ? *x : build_emit(b, &n, stretch, where);
}

struct value
build_flip(struct build *b, const struct value *x, const struct axes *axes,
           struct span where)
{
    struct node n = view_of(b, OP_FLIP, x);

    memcpy(n.flag, axes->on, sizeof(n.flag));
    return axes->n == 0 ? *x : build_emit(b, &n, b->stretch[x->node], where);
}

/* The literal extent 1 of a slice with known bounds stretches, as one written
 * in the file does. */
static uint8_t
slice_stretch(struct build *b, const struct value *x, int dim,
              const struct sym *extent, bool known)
{
    uint8_t bit = (uint8_t)(1 << dim);
    uint8_t stretch = (uint8_t)(b->stretch[x->node] & ~bit);
    int64_t k;

    return known && sym_is_int(extent, &k) && k == 1 ? stretch | bit : stretch;
}

struct value
build_slice(struct build *b, const struct value *x, const struct slice *sl,
            struct span where)
{
    struct node n = view_of(b, OP_SLICE, x);
    struct sym_ctx *c = b->syms;
    const struct sym *extent = sym_sub(c, sl->hi, sl->lo);
    int64_t k;
    bool known = sym_is_int(sl->lo, &k) && sym_is_int(sl->hi, &k);

    assert(sl->dim >= 0 && sl->dim < n.rank && sl->step >= 1);
    if (sl->step == 1 && sym_equal(sl->lo, sym_int(c, 0)) &&
        sym_equal(sl->hi, n.dims[sl->dim]))
        return *x;
    if (sl->step > 1)
        extent = sym_ceil_div(c, extent, sym_int(c, sl->step));
    for (int d = 0; d < n.rank; d++) {
        n.start[d] = sym_int(c, 0);
        n.step[d] = 1;
    }
    n.start[sl->dim] = sl->lo;
    n.step[sl->dim] = sl->step;
    n.dims[sl->dim] = extent;
    return build_emit(b, &n, slice_stretch(b, x, sl->dim, extent, known),
                      where);
}

struct value
build_select(struct build *b, const struct value *x, int dim,
             const struct sym *i, const struct value *node, struct span where)
{
    struct shape s = build_shape(b, x);
    struct node n = view_of(b, OP_SELECT_INDEX, x);
    node_id args[2] = {x->node, node ? node->node : 0};
    uint8_t stretch = 0;

    assert(dim >= 0 && dim < s.rank);
    n.rank = 0;
    for (int d = 0; d < s.rank; d++) {
        if (d == dim)
            continue;
        stretch |= (uint8_t)((s.stretch >> d & 1) << n.rank);
        n.dims[n.rank++] = s.dims[d];
    }
    n.dims[n.rank] = NULL;
    n.dim = dim;
    n.start[0] = i;
    n.args = args;
    n.n_args = i ? 1 : 2;
    return build_emit(b, &n, stretch, where);
}

/* --- joins --------------------------------------------------------------- */

/* The operands of cat in one type; false after a report. */
static bool
join_operands(struct build *b, const struct value *xs, uint32_t n, node_id *ret)
{
    enum dtype t = build_join_type(b, xs, n);

    for (uint32_t i = 0; i < n; i++) {
        struct value v = build_materialize(b, &xs[i]);

        v.span = xs[i].span;
        v = build_cast(b, &v, t, v.span);
        if (v.kind == V_POISON)
            return false;
        ret[i] = v.node;
    }
    return true;
}

bool
build_same_but(const struct shape *x, const struct shape *y, int axis)
{
    if (x->rank != y->rank)
        return false;
    for (int d = 0; d < x->rank; d++) {
        if (d != axis && !sym_equal(x->dims[d], y->dims[d]))
            return false;
    }
    return true;
}

struct value
build_cat(struct build *b, const struct value *xs, uint32_t n, int axis,
          struct span where)
{
    struct shape first = build_shape(b, &xs[0]);
    const struct sym *extent = first.dims[axis];
    node_id *args = NEW_ARRAY(b->arena, node_id, n);
    struct node out;
    uint8_t bit = (uint8_t)(1 << axis), stretch = first.stretch;

    assert(n >= 1 && axis >= 0 && axis < first.rank);
    for (uint32_t i = 1; i < n; i++) {
        struct shape s = build_shape(b, &xs[i]);

        if (!build_same_but(&first, &s, axis)) {
            if (build_fresh(b, DIAG_OPERAND_SHAPE, xs[i].span)) {
                diag_report(b->diag, DIAG_OPERAND_SHAPE, xs[i].span, "cat",
                            arena_printf(b->arena, "shape '%s' but for axis %d",
                                         build_shape_text(b, &first), axis),
                            build_shape_text(b, &s));
                diag_secondary(b->diag, xs[0].span);
                build_trace(b);
            }
            return build_poison(where);
        }
        stretch &= s.stretch;
        extent = sym_add(b->syms, extent, s.dims[axis]);
    }
    if (n == 1)
        return xs[0];
    if (!join_operands(b, xs, n, args))
        return build_poison(where);
    out = view_of(b, OP_CAT, &(struct value){.kind = V_NODE, .node = args[0]});
    out.dims[axis] = extent;
    out.dim = axis;
    out.args = args;
    out.n_args = n;
    return build_emit(b, &out, (uint8_t)(stretch & ~bit), where);
}

struct value
build_pad(struct build *b, const struct value *x,
          const struct sym *const *before, const struct sym *const *after,
          const struct value *fill, struct span where)
{
    struct value both[2] = {*x, *fill};
    struct node n;
    node_id args[2];
    uint8_t stretch = b->stretch[x->node];
    int64_t k;
    enum dtype t = build_join_type(b, both, 2);

    both[0] = build_cast(b, x, t, x->span);
    if (dtype_is_storage(t) && fill->kind == V_NODE)
        both[1] = build_materialize(b, fill);
    else
        both[1] = build_as(b, fill, t);
    if (both[0].kind == V_POISON || both[1].kind == V_POISON)
        return build_poison(where);
    n = view_of(b, OP_PAD, &both[0]);
    for (int d = 0; d < n.rank; d++) {
        const struct sym *more = sym_add(b->syms, before[d], after[d]);

        n.start[d] = before[d];
        n.dims[d] = sym_add(b->syms, n.dims[d], more);
        if (!sym_is_int(more, &k) || k != 0)
            stretch &= (uint8_t) ~(1 << d);
    }
    args[0] = both[0].node;
    args[1] = both[1].node;
    n.args = args;
    n.n_args = 2;
    return build_emit(b, &n, stretch, where);
}

struct value
build_roll(struct build *b, const struct value *x, const struct sym *shift,
           int axis, struct span where)
{
    struct shape s = build_shape(b, x);
    struct sym_ctx *c = b->syms;
    const struct sym *n = s.dims[axis], *zero = sym_int(c, 0);
    const struct sym *k = sym_mod(c, shift, sym_max(c, n, sym_int(c, 1)));
    const struct sym *cut = sym_sub(c, n, k);
    struct value part[2];
    int64_t none;

    if (sym_is_int(k, &none) && none == 0)
        return *x;
    part[0] = build_slice(b, x, &(struct slice){axis, cut, n, 1}, where);
    part[1] = build_slice(b, x, &(struct slice){axis, zero, cut, 1}, where);
    if (part[0].kind == V_POISON || part[1].kind == V_POISON)
        return build_poison(where);
    part[0] = build_cat(b, part, 2, axis, where);
    if (part[0].kind == V_NODE) /* the extent is what it was */
        b->stretch[part[0].node] = s.stretch;
    return part[0];
}
