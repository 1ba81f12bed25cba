/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_head: what stands before the body of a fusion.
 *
 * The order matters: names of parameters first, because every other name in an
 * input's shape is a dimension symbol; then -D and requires, whose facts take
 * part in every extent; only then are extents evaluated. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"
#include "support/buf.h"

#include <math.h>

/* --- names --------------------------------------------------------------- */

static void
declare_params(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ast_param *p = &f->params[i];
        bool is_dim = !p->is_tensor && strcmp(p->type.text, "dim") == 0;
        struct entity *e = scope_declare(r,
                                         p->is_tensor ? E_TENSOR
                                         : is_dim     ? E_DIM
                                                      : E_SCALAR,
                                         &p->name);

        if (!e)
            continue;
        e->index = i;
        e->defined = true;
    }
}

static void
declare_results(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_results; i++) {
        struct entity *e = scope_declare(r, E_VALUE, &f->results[i].name);

        if (!e)
            continue;
        e->is_result = true;
        e->index = i;
    }
}

static void
declare_symbol(void *data, const struct expr *e)
{
    struct resolver *r = data;
    struct ast_name name = {e->u.name, e->span};
    struct entity *s = scope_find(r->scope, name.text);

    if (s && s->kind == E_TENSOR)
        BUILD_ERROR(&r->b, DIAG_NOT_AN_EXTENT, name.span,
                    arena_printf(r->arena, "input '%s'", name.text));
    if (s || names_get(&r->consts, name.text))
        return;
    s = scope_declare(r, E_DIM, &name);
    assert(s);
    s->defined = true;
    s->index = UINT32_MAX;
    s->value = build_sym(&r->b, sym_name(r->b.syms, s->name), true, s->span);
}

static void
walk_dims(struct resolver *r, struct expr *const *dims, uint32_t n,
          void (*fn)(void *, const struct expr *))
{
    for (uint32_t i = 0; i < n; i++)
        check_walk_names(dims[i], fn, r);
}

static void
declare_symbols(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ast_param *p = &f->params[i];

        walk_dims(r, p->dims, p->n_dims, declare_symbol);
        for (uint32_t k = 0; k < p->n_layouts; k++)
            walk_dims(r, p->layouts[k].dims, p->layouts[k].n, declare_symbol);
    }
}

/* Results introduce no symbols: one that is met only here must be bound. */
static void
check_result_symbol(void *data, const struct expr *e)
{
    struct resolver *r = data;
    struct ast_name name = {e->u.name, e->span};
    struct nearest n;
    struct entity *s;

    if (scope_find(r->scope, name.text) || names_get(&r->consts, name.text) ||
        resolve_bound_dim(r, name.text, e->span))
        return;
    diag_report(r->diag, DIAG_UNINFERRED_DIMENSION, e->span, name.text);
    nearest_init(&n, name.text);
    for (uint32_t i = 0; i < r->scope->entities.n; i++) {
        if (r->scope->entities.v[i]->kind == E_DIM)
            nearest_offer(&n, r->scope->entities.v[i]->name);
    }
    if (n.best)
        diag_help(r->diag, e->span, "did you mean '%s'?", n.best);
    else
        diag_help(r->diag, e->span,
                  "results introduce no dimensions: it must stand in an "
                  "input's shape or be bound with -D %s=...",
                  name.text);
    s = scope_declare(r, E_DIM, &name);
    assert(s);
    s->defined = s->poisoned = true;
    s->index = UINT32_MAX;
}

static void
check_result_symbols(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_results; i++) {
        const struct ast_result *p = &f->results[i];

        walk_dims(r, p->dims, p->n_dims, check_result_symbol);
        for (uint32_t k = 0; k < p->n_layouts; k++)
            walk_dims(r, p->layouts[k].dims, p->layouts[k].n,
                      check_result_symbol);
    }
}

/* --- constants for scalars ----------------------------------------------- */

static bool
is_integer_constant(const struct value *v, int64_t lo, int64_t hi, int64_t *ret)
{
    return uniform_int(v, ret) && *ret >= lo && *ret <= hi;
}

/* Stores v as a value of type t; what is wrong with it, or NULL. */
static const char *
scalar_constant(const struct value *v, enum dtype t, struct param *ret)
{
    int64_t lo = t == DT_I32 ? INT32_MIN : INT64_MIN,
            hi = t == DT_I32 ? INT32_MAX : INT64_MAX;
    double f;

    if (t == DT_BOOL) {
        ret->value.i = v->b;
        return v->kind == V_BOOL ? NULL : "is not true or false";
    }
    if (dtype_is_integer(t)) {
        if (v->kind != V_INT)
            return "is not an integer";
        return is_integer_constant(v, lo, hi, &ret->value.i)
                   ? NULL
                   : "does not fit its type";
    }
    if (!uniform_number(v, &f))
        return "is not a number";
    ret->value.f = t == DT_F32 ? (double)(float)f : f;
    return isinf(ret->value.f) && !isinf(f) ? "does not fit its type" : NULL;
}

struct naming {
    struct resolver *r;
    bool found;
};

static void
find_entity(void *data, const struct expr *e)
{
    struct naming *n = data;

    n->found = n->found || scope_find(n->r->scope, e->u.name);
}

static void
scalar_default(struct resolver *r, const struct ast_param *p, struct param *ret)
{
    struct naming n = {r, false};
    struct value v;
    const char *wrong;

    check_walk_names(p->default_value, find_entity, &n);
    if (n.found) {
        BUILD_ERROR(&r->b, DIAG_BAD_DEFAULT, p->default_value->span,
                    p->name.text, "is not a constant");
        return;
    }
    v = resolve_expr(r, p->default_value);
    if (v.kind == V_POISON)
        return;
    wrong = v.kind == V_INT || v.kind == V_FLOAT || v.kind == V_BOOL
                ? scalar_constant(&v, ret->dtype, ret)
                : "is not a constant";
    if (!wrong && ret->kind == PARAM_DIM && ret->value.i < 0)
        wrong = "is negative";
    if (wrong)
        BUILD_ERROR(&r->b, DIAG_BAD_DEFAULT, v.span, p->name.text, wrong);
    ret->has_default = !wrong;
}

/* True when -D binds the scalar, whose value ret holds then. */
static bool
scalar_binding(struct resolver *r, const struct ast_param *p, struct param *ret)
{
    const struct binding *bind = resolve_binding(r, p->name.text);
    struct span nowhere = {0};
    struct value v;
    const char *wrong;

    if (!bind)
        return false;
    v = resolve_binding_value(r, bind);
    if (v.kind == V_POISON)
        return false;
    wrong = scalar_constant(&v, ret->dtype, ret);
    if (wrong)
        diag_report(r->diag, DIAG_BAD_BINDING, nowhere, bind->name, bind->value,
                    arena_printf(r->arena, "the value %s", wrong));
    return !wrong;
}

/* --- parameters ---------------------------------------------------------- */

static void
bind_entity(struct resolver *r, const struct ast_name *name, struct value v)
{
    struct entity *e = scope_find(r->scope, name->text);

    /* Another one of this name was reported. */
    if (!e || e->span.begin != name->span.begin ||
        e->span.src != name->span.src)
        return;
    v.span = name->span;
    e->value = v;
}

static bool
scalar_type(struct resolver *r, const struct ast_param *p, enum dtype *ret)
{
    if (!resolve_type(r, &p->type, ret))
        return false;
    if (*ret == DT_F32 || *ret == DT_F64 || *ret == DT_I32 || *ret == DT_I64 ||
        *ret == DT_BOOL)
        return true;
    diag_report(r->diag, DIAG_SCALAR_TYPE, p->type.span, p->name.text,
                dtype_info[*ret].name);
    if (dtype_is_storage(*ret))
        diag_help(r->diag, p->type.span,
                  "pass it as f32, or as a tensor of one element: %s[]",
                  dtype_info[*ret].name);
    else
        diag_help(r->diag, p->type.span, "pass it as i32");
    return false;
}

static void
scalar_param(struct resolver *r, const struct ast_param *p, uint32_t index,
             struct param *ret)
{
    struct node n = {.op = OP_SCALAR, .param = index};
    struct value v;

    ret->kind = PARAM_SCALAR;
    if (!scalar_type(r, p, &ret->dtype)) {
        ret->dtype = DT_F32;
        return;
    }
    if (p->default_value)
        scalar_default(r, p, ret);
    ret->bound = scalar_binding(r, p, ret);
    n.dtype = ret->dtype;
    n.name = p->name.text;
    v = ret->bound ? build_const(&r->b, ret->dtype, ret->value.f, ret->value.i,
                                 p->name.span)
                   : build_emit(&r->b, &n, 0, p->name.span);
    bind_entity(r, &p->name, v);
}

static void
dim_param(struct resolver *r, const struct ast_param *p, struct param *ret)
{
    ret->kind = PARAM_DIM;
    ret->dtype = DT_I64;
    if (p->default_value)
        scalar_default(r, p, ret);
}

static void
tensor_param(struct resolver *r, const struct ast_param *p, uint32_t index,
             struct param *ret)
{
    struct node n = {.op = OP_INPUT, .param = index};
    struct shape s;
    bool good = resolve_type(r, &p->type, &ret->dtype);

    ret->kind = PARAM_TENSOR;
    ret->align = 16;
    if (!resolve_dims(r, p->dims, p->n_dims, p->dims_span, &s))
        return;
    ret->rank = s.rank;
    memcpy(ret->dims, s.dims, sizeof(ret->dims));
    resolve_param_layout(r, p, ret);
    if (!good)
        return;
    n.dtype = ret->dtype;
    n.name = p->name.text;
    n.rank = s.rank;
    memcpy(n.dims, s.dims, sizeof(n.dims));
    bind_entity(r, &p->name, build_emit(&r->b, &n, s.stretch, p->name.span));
}

/* Scalars first: a shape that names one is told what it is. */
static void
make_params(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;
    struct param *params = r->b.graph->params;

    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ast_param *p = &f->params[i];

        params[i].name = p->name.text;
        params[i].span = p->name.span;
        if (!p->is_tensor && strcmp(p->type.text, "dim") == 0)
            dim_param(r, p, &params[i]);
        else if (!p->is_tensor)
            scalar_param(r, p, i, &params[i]);
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        if (f->params[i].is_tensor)
            tensor_param(r, &f->params[i], i, &params[i]);
    }
}

/* --- dimensions ---------------------------------------------------------- */

/* -D of a symbol of this fusion: a fact, and a guard that it is so. */
static void
bind_symbol(struct resolver *r, struct entity *e)
{
    const struct binding *bind = resolve_binding(r, e->name);
    struct buf text;
    struct value v;
    int64_t k;

    if (!bind)
        return;
    v = resolve_binding_value(r, bind);
    if (v.kind == V_POISON)
        return;
    if (!uniform_int(&v, &k) || k < 0) {
        struct span nowhere = {0};

        diag_report(r->diag, DIAG_BAD_BINDING, nowhere, bind->name, bind->value,
                    "a dimension is an integer of at least 0");
        return;
    }
    sym_assume_equal(r->b.syms, e->name, sym_int(r->b.syms, k));
    buf_init(&text, r->arena);
    buf_printf(&text, "%s == %" PRId64, e->name, k);
    graph_add_guard(r->b.graph, buf_str(&text));
}

static void
for_each_symbol(struct resolver *r,
                void (*fn)(struct resolver *, struct entity *))
{
    for (uint32_t i = 0; i < r->scope->entities.n; i++) {
        if (r->scope->entities.v[i]->kind == E_DIM)
            fn(r, r->scope->entities.v[i]);
    }
}

/* The value of a symbol under all facts known by now. */
static void
refresh_symbol(struct resolver *r, struct entity *e)
{
    const struct sym *s = sym_name(r->b.syms, e->name);

    e->value = s && !e->poisoned ? build_sym(&r->b, s, true, e->span)
                                 : build_poison(e->span);
}

/* --- results ------------------------------------------------------------- */

static void
make_results(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_results; i++) {
        const struct ast_result *p = &f->results[i];
        struct result *ret = &r->b.graph->results[i];
        struct shape s;

        ret->name = p->name.text;
        ret->span = p->name.span;
        ret->align = 16;
        ret->inplace = -1;
        ret->node = UINT32_MAX;
        if (!resolve_type(r, &p->type, &ret->dtype) ||
            !resolve_dims(r, p->dims, p->n_dims, p->dims_span, &s)) {
            ret->rank = -1; /* nothing is checked against it */
            continue;
        }
        ret->rank = s.rank;
        memcpy(ret->dims, s.dims, sizeof(ret->dims));
        resolve_result_layout(r, p, ret);
        if (p->inplace.text)
            resolve_inplace(r, p, ret);
    }
}

void
resolve_head(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;
    struct graph *g = r->b.graph;

    declare_params(r);
    declare_symbols(r);
    declare_results(r);
    for_each_symbol(r, bind_symbol);
    for_each_symbol(r, refresh_symbol);
    check_result_symbols(r);
    resolve_requires(r);
    for_each_symbol(r, refresh_symbol);
    g->n_params = f->n_params;
    g->params = NEW_ARRAY(r->arena, struct param, f->n_params);
    g->n_results = f->n_results;
    g->results = NEW_ARRAY(r->arena, struct result, f->n_results);
    make_params(r);
    resolve_symbols(r);
    make_results(r);
}
