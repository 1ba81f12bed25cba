/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_index: x[...]: one bracket of items, from left to right.
 *
 * Each item maps one dimension of the operand: ':' keeps it, an index drops it,
 * a slice shortens it, None adds one and '...' stands for as many ':' as the
 * rank leaves. What can't be proved about a bound becomes a guard. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"
#include "support/buf.h"

/* What is known of x >= least. */
enum proof { PROVED, OPEN, REFUTED };

static enum proof
at_least(struct build *b, const struct sym *x, const struct sym *least)
{
    const struct sym *d = sym_sub(b->syms, x, least);
    int64_t k;

    if (!d)
        return OPEN;
    if (sym_lower_bound(b->syms, d, &k) && k >= 0)
        return PROVED;
    if (sym_upper_bound(b->syms, d, &k) && k < 0)
        return REFUTED;
    return OPEN;
}

/* A bound or index as written: only a literal may be negative, and then counts
 * from the end. */
static const struct sym *
from_end(struct build *b, const struct value *v, const struct sym *extent)
{
    int64_t k;

    if (!v->sized && sym_is_int(v->sym, &k) && k < 0)
        return sym_add(b->syms, extent, v->sym);
    return v->sym;
}

static bool
index_error(struct resolver *r, const struct value *v, const char *what,
            const char *help)
{
    if (!build_fresh(&r->b, DIAG_BAD_INDEX, v->span))
        return false;
    diag_report(r->diag, DIAG_BAD_INDEX, v->span, what);
    if (help)
        diag_help(r->diag, v->span, "%s", help);
    build_trace(&r->b);
    return false;
}

/* --- indexes ------------------------------------------------------------- */

static struct value
select_uniform(struct resolver *r, const struct value *x, int dim,
               const struct value *v, struct span where)
{
    struct build *b = &r->b;
    const struct sym *extent = build_shape(b, x).dims[dim];
    const struct sym *i = from_end(b, v, extent), *zero = sym_int(b->syms, 0);
    const struct sym *next = sym_add(b->syms, i, sym_int(b->syms, 1));
    enum proof low, high;

    if (!i || !next)
        return build_sym(b, NULL, false, v->span);
    low = at_least(b, i, zero);
    high = at_least(b, extent, next);
    if (low == REFUTED || high == REFUTED) {
        BUILD_ERROR(b, DIAG_INDEX_RANGE, v->span, build_sym_text(b, v->sym),
                    build_sym_text(b, extent));
        return build_poison(where);
    }
    if (low == OPEN)
        build_guard(b, zero, "<=", i);
    if (high == OPEN)
        build_guard(b, i, "<", extent);
    return build_select(b, x, dim, i, NULL, where);
}

/* x[i] with a scalar argument i of an integer type. */
static struct value
select_scalar(struct resolver *r, const struct value *x, int dim,
              const struct value *v, struct span where)
{
    struct build *b = &r->b;
    const struct sym *extent = build_shape(b, x).dims[dim];
    uint32_t param = graph_node(b->graph, v->node)->param;
    const char *name = b->graph->params[param].name;
    struct value i = build_as(b, v, DT_I64);
    struct buf text;

    if (i.kind == V_POISON)
        return i;
    buf_init(&text, r->arena);
    buf_printf(&text, "%s >= 0 && %s < ", name, name);
    sym_print(&text, extent);
    graph_add_derived_guard(b->graph, buf_str(&text));
    return build_select(b, x, dim, NULL, &i, where);
}

/* A scalar argument that -D binds, or a literal with a type, is known. */
static void
known_scalar(struct resolver *r, struct value *v)
{
    const struct node *n;

    if (v->kind != V_NODE)
        return;
    n = graph_node(r->b.graph, v->node);
    if (n->op == OP_CONST && dtype_is_integer(n->dtype)) {
        v->kind = V_INT;
        v->sym = sym_int(r->b.syms, n->value.i);
        v->sized = true;
    }
}

static struct value
select_item(struct resolver *r, const struct value *x, int dim,
            const struct ast_index *item, struct span where)
{
    struct value v = resolve_expr(r, item->expr);

    if (!build_is_operand(&r->b, &v))
        return build_poison(where);
    known_scalar(r, &v);
    if (v.kind == V_INT)
        return select_uniform(r, x, dim, &v, where);
    if (v.kind == V_NODE && !dtype_is_integer(build_type(&r->b, &v))) {
        index_error(r, &v, "an index is an integer", NULL);
    } else if (v.kind == V_NODE &&
               graph_node(r->b.graph, v.node)->op == OP_SCALAR) {
        return select_scalar(r, x, dim, &v, where);
    } else if (v.kind == V_NODE) {
        index_error(r, &v, "an index must be uniform or a scalar argument",
                    arena_printf(r->arena,
                                 "to index by a tensor write take(%s, %s, "
                                 "axis=%d)",
                                 x->name ? x->name : "x", v.name ? v.name : "i",
                                 dim));
    } else {
        index_error(r, &v, "an index is an integer", NULL);
    }
    return build_poison(where);
}

/* --- slices -------------------------------------------------------------- */

/* One bound; `otherwise` when it is absent. False after a report. */
static bool
slice_bound(struct resolver *r, const struct expr *e, const struct sym *extent,
            const struct sym *otherwise, const struct sym **ret)
{
    struct value v;

    *ret = otherwise;
    if (!e)
        return true;
    v = resolve_expr(r, e);
    if (!build_is_operand(&r->b, &v))
        return false;
    if (v.kind != V_INT)
        return index_error(
            r, &v, "a bound of a slice must be a uniform integer", NULL);
    *ret = from_end(&r->b, &v, extent);
    return build_sym(&r->b, *ret, false, v.span).kind != V_POISON;
}

/* 0 <= lo <= hi <= extent: guards for what is open, false when refuted. */
static bool
slice_in_range(struct build *b, const struct slice *s, const struct sym *extent)
{
    const struct sym *points[4] = {sym_int(b->syms, 0), s->lo, s->hi, extent};
    enum proof proof[3];

    for (int i = 0; i < 3; i++) {
        proof[i] = at_least(b, points[i + 1], points[i]);
        if (proof[i] == REFUTED)
            return false;
    }
    for (int i = 0; i < 3; i++) {
        if (proof[i] == OPEN)
            build_guard(b, points[i], "<=", points[i + 1]);
    }
    return true;
}

static struct value
slice_item(struct resolver *r, const struct value *x, int dim,
           const struct ast_index *item, struct span where)
{
    struct build *b = &r->b;
    const struct sym *extent = build_shape(b, x).dims[dim];
    struct slice s = {.dim = dim, .step = 1};

    if (!slice_bound(r, item->lo, extent, sym_int(b->syms, 0), &s.lo) ||
        !slice_bound(r, item->hi, extent, extent, &s.hi))
        return build_poison(where);
    if (item->step) {
        struct value v = resolve_expr(r, item->step);

        if (!uniform_int(&v, &s.step) || s.step < 1)
            return build_poison(where); /* the parser reported it */
    }
    if (!slice_in_range(b, &s, extent)) {
        if (build_fresh(b, DIAG_SLICE_RANGE, item->span)) {
            diag_report(b->diag, DIAG_SLICE_RANGE, item->span,
                        arena_printf(r->arena, "%s:%s", build_sym_text(b, s.lo),
                                     build_sym_text(b, s.hi)),
                        build_sym_text(b, extent));
            if (x->name && x->declared.src)
                diag_note(b->diag, x->declared, "'%s' declared here", x->name);
            build_trace(b);
        }
        return build_poison(where);
    }
    return build_slice(b, x, &s, where);
}

/* --- the bracket --------------------------------------------------------- */

/* Dimensions that the items other than '...' take; NO_DIM after a report. */
static int
check_items(struct resolver *r, const struct ast_subscript *s,
            const struct shape *shape)
{
    int taken = 0, ellipses = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        enum index_kind k = s->items[i].kind;

        taken += k == INDEX_ALL || k == INDEX_EXPR || k == INDEX_SLICE;
        ellipses += k == INDEX_ELLIPSIS;
        if (ellipses > 1 && k == INDEX_ELLIPSIS) {
            BUILD_ERROR(&r->b, DIAG_BAD_INDEX, s->items[i].span,
                        "'...' stands once in a bracket");
            return NO_DIM;
        }
    }
    if (taken > shape->rank) {
        BUILD_ERROR(
            &r->b, DIAG_BAD_INDEX, s->span,
            arena_printf(r->arena, "%d index items for shape '%s' of rank %d",
                         taken, build_shape_text(&r->b, shape), shape->rank));
        return NO_DIM;
    }
    return taken;
}

static struct value
apply_item(struct resolver *r, const struct value *x,
           const struct ast_index *item, int *dim, struct span where)
{
    struct value v;

    switch (item->kind) {
    case INDEX_ALL:
        ++*dim;
        return *x;
    case INDEX_EXPR:
        return select_item(r, x, *dim, item, where);
    case INDEX_SLICE:
        v = slice_item(r, x, *dim, item, where);
        ++*dim;
        return v;
    case INDEX_NEW:
    case INDEX_ELLIPSIS:
        break;
    }
    BUG("index item of kind %d", (int)item->kind);
}

/* None items that stand next to each other become one node. */
static struct value
apply_new(struct resolver *r, const struct value *x,
          const struct ast_subscript *s, uint32_t *i, int *dim)
{
    struct span where = span_join(x->span, s->span);
    struct axes axes = {0};

    for (; *i < s->n && s->items[*i].kind == INDEX_NEW; ++*i) {
        if (*dim >= MAX_RANK) {
            BUILD_ERROR(&r->b, DIAG_RANK_LIMIT, where, MAX_RANK + 1u, MAX_RANK);
            return build_poison(where);
        }
        axes.on[(*dim)++] = true;
        axes.n++;
    }
    return build_unsqueeze(&r->b, x, &axes, where);
}

struct value
resolve_subscript(struct resolver *r, struct value x,
                  const struct ast_subscript *s, struct span where)
{
    struct shape shape;
    int taken, dim = 0;

    if (!build_is_operand(&r->b, &x))
        return build_poison(where);
    if (x.kind != V_NODE)
        x = build_as(&r->b, &x, build_type(&r->b, &x));
    shape = build_shape(&r->b, &x);
    taken = check_items(r, s, &shape);
    if (taken == NO_DIM)
        return build_poison(where);
    for (uint32_t i = 0; i < s->n && x.kind != V_POISON;) {
        const struct ast_index *item = &s->items[i];

        if (item->kind == INDEX_NEW) {
            x = apply_new(r, &x, s, &i, &dim);
            continue;
        }
        if (item->kind == INDEX_ELLIPSIS)
            dim += shape.rank - taken;
        else
            x = apply_item(r, &x, item, &dim, where);
        i++;
    }
    return x;
}
