/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_layout: where symbols are read from, strides, alignment and in-place
 * permission. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"
#include "support/buf.h"

/* --- sources of symbols -------------------------------------------------- */

/* True for S, k * S and S * k with an integer literal or const k >= 1. */
static bool
symbol_multiple(struct resolver *r, const struct expr *e, const char **ret_name,
                int64_t *ret_k)
{
    const struct expr *sides[2];
    struct entity *s;
    struct value k;

    *ret_k = 1;
    if (e->kind == EXPR_NAME) {
        s = scope_find(r->scope, e->u.name);
        *ret_name = e->u.name;
        return s && s->kind == E_DIM;
    }
    if (e->kind != EXPR_CHAIN || e->u.chain.n != 1 ||
        e->u.chain.links[0].op != AST_MUL)
        return false;
    sides[0] = e->u.chain.first;
    sides[1] = e->u.chain.links[0].rhs;
    for (int i = 0; i < 2; i++) {
        if (sides[i]->kind != EXPR_NAME || sides[1 - i]->kind == EXPR_CHAIN)
            continue;
        s = scope_find(r->scope, sides[i]->u.name);
        if (!s || s->kind != E_DIM)
            continue;
        k = resolve_expr(r, sides[1 - i]);
        *ret_name = s->name;
        return !k.sized && uniform_int(&k, ret_k) && *ret_k >= 1;
    }
    return false;
}

static struct dim_symbol *
find_dim(struct resolver *r, const char *name)
{
    const struct entity *e = scope_find(r->scope, name);

    assert(e && e->kind == E_DIM && e->dim < r->b.graph->n_dims);
    return &r->b.graph->dims[e->dim];
}

/* Takes a place when it is better than what is known: an extent before a
 * stride, a symbol alone before a multiple. */
static void
offer_source(struct resolver *r, const char *name, struct dim_symbol place)
{
    struct dim_symbol *d = find_dim(r, name);

    if (d->is_arg)
        return;
    if (d->param >= 0 &&
        (d->divisor == 1 || place.divisor != 1 || place.from_stride) &&
        !(d->from_stride && !place.from_stride && place.divisor == 1))
        return;
    d->param = place.param;
    d->dim = place.dim;
    d->divisor = place.divisor;
    d->from_stride = place.from_stride;
}

static void
offer_extents(struct resolver *r, const struct ast_param *p, int index)
{
    const char *name;
    int64_t k;

    for (uint32_t d = 0; d < p->n_dims && d < MAX_RANK; d++) {
        struct dim_symbol at = {.param = index, .dim = (int)d};

        if (symbol_multiple(r, p->dims[d], &name, &k)) {
            at.divisor = k;
            offer_source(r, name, at);
        }
    }
    for (uint32_t i = 0; i < p->n_layouts; i++) {
        const struct ast_layout *l = &p->layouts[i];

        for (uint32_t d = 0;
             d < l->n && d < p->n_dims && strcmp(l->name.text, "strides") == 0;
             d++) {
            struct dim_symbol at = {.param = index,
                                    .dim = (int)d,
                                    .from_stride = true,
                                    .divisor = 1};

            if (symbol_multiple(r, l->dims[d], &name, &k) && k == 1)
                offer_source(r, name, at);
        }
    }
}

static void
list_symbols(struct resolver *r)
{
    struct graph *g = r->b.graph;

    g->dims = NEW_ARRAY(r->arena, struct dim_symbol, r->scope->entities.n);
    for (uint32_t i = 0; i < r->scope->entities.n; i++) {
        struct entity *e = r->scope->entities.v[i];
        struct dim_symbol *d = &g->dims[g->n_dims];

        if (e->kind != E_DIM)
            continue;
        e->dim = g->n_dims;
        *d = (struct dim_symbol){.name = e->name, .param = -1, .divisor = 1};
        if (e->index != UINT32_MAX) {
            d->is_arg = true;
            d->param = (int)e->index;
        }
        if (e->value.kind == V_INT && resolve_binding(r, e->name))
            d->bound = e->value.sym;
        g->n_dims++;
    }
}

static void
uninferred(struct resolver *r, const struct entity *e)
{
    if (!build_fresh(&r->b, DIAG_UNINFERRED_DIMENSION, e->span))
        return;
    diag_report(r->diag, DIAG_UNINFERRED_DIMENSION, e->span, e->name);
    diag_help(r->diag, e->span,
              "let it stand alone as some extent or stride of an input, make "
              "it an argument ('%s: dim'), or bind it with -D %s=...",
              e->name, e->name);
}

/* The extent is an expression: what was passed is compared with it. */
static void
guard_extent(struct resolver *r, const struct ast_param *p, uint32_t d,
             const struct param *param)
{
    const char *name;
    struct dim_symbol *s;
    struct buf text;
    int64_t k;
    bool multiple = symbol_multiple(r, p->dims[d], &name, &k);

    if (!param->dims[d] || sym_is_int(param->dims[d], &(int64_t){0}) ||
        (multiple && k == 1))
        return;
    buf_init(&text, r->arena);
    s = multiple ? find_dim(r, name) : NULL;
    if (s && s->divisor == k && s->dim == (int)d && !s->is_arg &&
        s->param >= 0 && &r->b.graph->params[s->param] == param) {
        buf_printf(&text, "%s.shape[%u] %% %" PRId64 " == 0", param->name, d,
                   k);
    } else {
        buf_printf(&text, "%s.shape[%u] == ", param->name, d);
        sym_print(&text, param->dims[d]);
    }
    graph_add_guard(r->b.graph, buf_str(&text));
}

void
resolve_symbols(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;
    struct graph *g = r->b.graph;
    uint32_t d = 0;

    list_symbols(r);
    for (uint32_t i = 0; i < f->n_params; i++) {
        if (f->params[i].is_tensor)
            offer_extents(r, &f->params[i], (int)i);
    }
    for (uint32_t i = 0; i < r->scope->entities.n; i++) {
        const struct entity *e = r->scope->entities.v[i];

        if (e->kind != E_DIM)
            continue;
        assert(d < g->n_dims);
        if (g->dims[d].param < 0 && !g->dims[d].bound &&
            e->value.kind != V_POISON)
            uninferred(r, e);
        d++;
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        for (uint32_t k = 0;
             f->params[i].is_tensor && (int)k < g->params[i].rank; k++)
            guard_extent(r, &f->params[i], k, &g->params[i]);
    }
}

/* --- strides and alignment ----------------------------------------------- */

/* What both inputs and results have. */
struct layout {
    const char *name;
    enum dtype dtype;
    int rank;
    const struct sym *const *dims;
    bool has_strides, has_align;
    const struct sym *strides[MAX_RANK];
    int64_t align;
    struct span strides_span;
};

static void
layout_error(struct resolver *r, struct span where, const char *what)
{
    BUILD_ERROR(&r->b, DIAG_BAD_LAYOUT, where, what);
}

/* False when the extents and constant strides provably span more than 2^63
 * bytes. */
static bool
span_fits(struct build *b, const struct layout *l)
{
    int64_t last = 0, extent, stride, step;

    for (int d = 0; d < l->rank; d++) {
        if (!sym_is_int(l->strides[d], &stride))
            continue;
        extent = build_least_extent(b, l->dims[d]);
        if (__builtin_mul_overflow(extent - 1, stride, &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    }
    return last < INT64_MAX / dtype_info[l->dtype].bytes;
}

static void
read_strides(struct resolver *r, const struct ast_layout *l, struct layout *ret)
{
    if (l->n != (uint32_t)ret->rank) {
        layout_error(r, l->span,
                     arena_printf(r->arena, "%u strides for '%s' of rank %d",
                                  l->n, ret->name, ret->rank));
        return;
    }
    for (uint32_t d = 0; d < l->n; d++) {
        struct value v = resolve_expr(r, l->dims[d]);

        if (!resolve_extent(r, &v, &ret->strides[d], NULL))
            return;
    }
    ret->has_strides = true;
    ret->strides_span = l->span;
    if (!span_fits(&r->b, ret))
        BUILD_ERROR(&r->b, DIAG_SIZE_OVERFLOW, l->span,
                    arena_printf(r->arena, "%s with its strides", ret->name));
}

static void
read_align(struct resolver *r, const struct ast_layout *l, struct layout *ret)
{
    struct value v = {.kind = V_POISON};
    int64_t k;

    if (l->n == 1)
        v = resolve_expr(r, l->dims[0]);
    if (l->n == 1 && v.kind == V_POISON)
        return;
    if (l->n != 1 || !uniform_int(&v, &k) || k < 1 || k > 4096 ||
        (k & (k - 1)) != 0) {
        layout_error(r, l->span,
                     "align takes one power of two, at most 4096, in bytes");
        return;
    }
    ret->has_align = true;
    ret->align = k;
}

static void
read_layouts(struct resolver *r, const struct ast_layout *ls, uint32_t n,
             struct layout *ret)
{
    ret->align = 16;
    for (uint32_t i = 0; i < n; i++) {
        const struct ast_layout *l = &ls[i];
        bool strides = strcmp(l->name.text, "strides") == 0,
             align = strcmp(l->name.text, "align") == 0;

        if (!strides && !align) {
            struct nearest near;

            diag_report(r->diag, DIAG_UNKNOWN_LAYOUT, l->name.span,
                        l->name.text);
            nearest_init(&near, l->name.text);
            nearest_offer(&near, "strides");
            nearest_offer(&near, "align");
            if (near.best)
                diag_help(r->diag, l->name.span, "did you mean '%s'?",
                          near.best);
        } else if ((strides && ret->has_strides) || (align && ret->has_align)) {
            layout_error(r, l->span,
                         arena_printf(r->arena, "'%s' is given twice for '%s'",
                                      l->name.text, ret->name));
        } else if (strides) {
            read_strides(r, l, ret);
        } else {
            read_align(r, l, ret);
        }
    }
    if (!ret->has_strides && ret->rank > 0)
        graph_row_major(r->b.syms, ret->rank, ret->dims, ret->strides);
}

void
resolve_param_layout(struct resolver *r, const struct ast_param *p,
                     struct param *ret)
{
    struct layout l = {
        .name = p->name.text,
        .dtype = ret->dtype,
        .rank = ret->rank,
        .dims = ret->dims,
    };

    read_layouts(r, p->layouts, p->n_layouts, &l);
    ret->has_strides = l.has_strides;
    memcpy(ret->strides, l.strides, sizeof(ret->strides));
    ret->align = l.align;
}

/* --- outputs without overlap --------------------------------------------- */

static double
large(void *data, const char *name)
{
    (void)data;
    (void)name;
    return 1024;
}

/* True when dimension a is outside dimension b: by constant strides, by what
 * can be proved of the difference, by their size when all symbols are large, or
 * else by their order in the file. */
static bool
is_outer(struct resolver *r, const struct layout *l, int a, int b)
{
    const struct sym *d = sym_sub(r->b.syms, l->strides[a], l->strides[b]);
    int64_t k, ka, kb;
    double sa, sb;
    bool ca = sym_is_int(l->strides[a], &ka),
         cb = sym_is_int(l->strides[b], &kb);

    if (ca && cb && ka != kb)
        return ka > kb;
    if (ca != cb)
        return cb;
    if (d && sym_lower_bound(r->b.syms, d, &k) && k > 0)
        return true;
    if (d && sym_upper_bound(r->b.syms, d, &k) && k < 0)
        return false;
    sa = sym_estimate(l->strides[a], large, NULL);
    sb = sym_estimate(l->strides[b], large, NULL);
    return sa != sb ? sa > sb : a < b;
}

/* Dimensions from the innermost out. */
static void
order_dims(struct resolver *r, const struct layout *l, int *ret)
{
    for (int d = 0; d < l->rank; d++) {
        int at = d;

        while (at > 0 && is_outer(r, l, ret[at - 1], d)) {
            ret[at] = ret[at - 1];
            at--;
        }
        ret[at] = d;
    }
}

/* The stride must exceed the reach of all dimensions inside, unless the extent
 * is 1; guards for what is open. */
static bool
check_stride(struct resolver *r, const struct layout *l, int d,
             const struct sym *reach)
{
    struct sym_ctx *c = r->b.syms;
    const struct sym *room = sym_sub(c, l->strides[d], reach);
    struct buf text;
    int64_t k;
    bool small;

    if (!room)
        return true; /* an overflow, reported as such */
    small = sym_upper_bound(c, l->dims[d], &k) && k <= 1;
    if (small || (sym_lower_bound(c, room, &k) && k > 0))
        return true;
    if (sym_upper_bound(c, room, &k) && k <= 0 &&
        sym_lower_bound(c, l->dims[d], &k) && k > 1)
        return false;
    buf_init(&text, r->arena);
    sym_print(&text, l->dims[d]);
    buf_puts(&text, " <= 1 || ");
    sym_print(&text, l->strides[d]);
    buf_puts(&text, " > ");
    sym_print(&text, reach);
    graph_add_guard(r->b.graph, buf_str(&text));
    return true;
}

static void
check_injective(struct resolver *r, const struct layout *l)
{
    struct sym_ctx *c = r->b.syms;
    const struct sym *reach = sym_int(c, 0);
    int order[MAX_RANK];

    order_dims(r, l, order);
    for (int i = 0; i < l->rank; i++) {
        int d = order[i];
        const struct sym *last = sym_sub(c, l->dims[d], sym_int(c, 1));

        if (!check_stride(r, l, d, reach)) {
            layout_error(r, l->strides_span,
                         arena_printf(r->arena,
                                      "elements of output '%s' overlap: "
                                      "stride %s of axis %d is too small",
                                      l->name,
                                      build_sym_text(&r->b, l->strides[d]), d));
            return;
        }
        /* An extent of 0 reaches nothing; -1 here only asks for more. */
        reach = sym_add(c, reach, sym_mul(c, last, l->strides[d]));
        if (!reach)
            return;
    }
}

void
resolve_result_layout(struct resolver *r, const struct ast_result *p,
                      struct result *ret)
{
    struct layout l = {
        .name = p->name.text,
        .dtype = ret->dtype,
        .rank = ret->rank,
        .dims = ret->dims,
    };

    read_layouts(r, p->layouts, p->n_layouts, &l);
    ret->has_strides = l.has_strides;
    memcpy(ret->strides, l.strides, sizeof(ret->strides));
    ret->align = l.align;
    if (l.has_strides)
        check_injective(r, &l);
}

/* --- in place ------------------------------------------------------------ */

static const char *
inplace_fault(const struct result *y, const struct param *x)
{
    if (x->kind != PARAM_TENSOR)
        return "it is no tensor";
    if (x->dtype != y->dtype)
        return "the types differ";
    if (x->rank != y->rank)
        return "the shapes differ";
    for (int d = 0; d < x->rank; d++) {
        if (!sym_equal(x->dims[d], y->dims[d]))
            return "the shapes differ";
    }
    for (int d = 0; d < x->rank; d++) {
        if (!sym_equal(x->strides[d], y->strides[d]))
            return "the strides differ";
    }
    return NULL;
}

void
resolve_inplace(struct resolver *r, const struct ast_result *p,
                struct result *ret)
{
    struct graph *g = r->b.graph;
    struct entity *e = scope_find(r->scope, p->inplace_arg.text);
    const char *fault = "it is no input";

    if (strcmp(p->inplace.text, "inplace") != 0) {
        diag_report(r->diag, DIAG_UNKNOWN_LAYOUT, p->inplace.span,
                    p->inplace.text);
        diag_help(r->diag, p->inplace.span, "write '= inplace(%s)'",
                  p->inplace_arg.text);
        return;
    }
    if (e && e->kind == E_TENSOR && e->value.kind == V_POISON)
        return; /* reported */
    if (e && (e->kind == E_TENSOR || e->kind == E_SCALAR)) {
        fault = inplace_fault(ret, &g->params[e->index]);
        for (uint32_t i = 0; !fault && &g->results[i] != ret; i++) {
            if (g->results[i].inplace == (int)e->index)
                fault = arena_printf(r->arena, "output '%s' has it",
                                     g->results[i].name);
        }
    }
    if (fault) {
        BUILD_ERROR(&r->b, DIAG_BAD_INPLACE, p->inplace_arg.span, ret->name,
                    p->inplace_arg.text, fault);
        return;
    }
    ret->inplace = (int)e->index;
}
