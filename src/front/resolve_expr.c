/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_expr: the value of an expression in the scope at hand.
 *
 * Recursion follows the nesting of the text, which the parser bounds, and the
 * expansion of defs, which r->depth bounds; chains of operators are loops. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

#include <math.h>

/* The graph's operation for each operator of the text. */
static const enum op op_of[AST_OP_COUNT] = {
    [AST_NEG] = OP_NEG,
    [AST_NOT] = OP_LNOT,
    [AST_INV] = OP_BITNOT,
    [AST_OR] = OP_LOR,
    [AST_AND] = OP_LAND,
    [AST_EQ] = OP_EQ,
    [AST_NE] = OP_NE,
    [AST_LT] = OP_LT,
    [AST_LE] = OP_LE,
    [AST_GT] = OP_GT,
    [AST_GE] = OP_GE,
    [AST_BITOR] = OP_BITOR,
    [AST_BITXOR] = OP_BITXOR,
    [AST_BITAND] = OP_BITAND,
    [AST_SHL] = OP_SHL,
    [AST_SHR] = OP_SHR,
    [AST_ADD] = OP_ADD,
    [AST_SUB] = OP_SUB,
    [AST_MUL] = OP_MUL,
    [AST_DIV] = OP_DIV,
    [AST_FLOORDIV] = OP_FLOORDIV,
    [AST_MOD] = OP_MOD,
    [AST_POW] = OP_POW,
};

static struct value
eval_int(struct resolver *r, const struct expr *e, bool negated,
         struct span where)
{
    uint64_t limit = (uint64_t)INT64_MAX + negated;

    if (e->u.i.value > limit) {
        BUILD_ERROR(&r->b, DIAG_LITERAL_RANGE, where, e->u.i.text, "i64");
        return build_poison(where);
    }
    return build_int(
        &r->b, negated ? (int64_t)(0 - e->u.i.value) : (int64_t)e->u.i.value,
        where);
}

static struct value
eval_unary(struct resolver *r, const struct expr *e)
{
    const struct expr *arg = e->u.unary.arg;
    struct value v;

    /* The sign belongs to the literal: -2^63 is an i64. */
    if (e->u.unary.op == AST_NEG && arg->kind == EXPR_INT && !arg->parens)
        return eval_int(r, arg, true, e->span);
    v = resolve_expr(r, arg);
    return build_unary(&r->b, op_of[e->u.unary.op], &v, e->span);
}

/* `x > 0 & y > 0` compares 0 & y: the operand that binds more tightly than its
 * writer thought, or NULL. */
static const struct ast_link *
tight_operand(const struct expr *e)
{
    const struct expr *sides[2] = {e->u.chain.first, e->u.chain.links[0].rhs};

    if (!ast_op_is_comparison(e->u.chain.links[0].op))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct ast_link *l;

        if (sides[i]->kind != EXPR_CHAIN || sides[i]->parens)
            continue;
        l = &sides[i]->u.chain.links[0];
        if (l->op == AST_BITAND || l->op == AST_BITOR)
            return l;
    }
    return NULL;
}

static struct value
eval_links(struct resolver *r, const struct expr *e)
{
    struct value v = resolve_expr(r, e->u.chain.first);

    for (uint32_t i = 0; i < e->u.chain.n; i++) {
        const struct ast_link *l = &e->u.chain.links[i];
        struct value rhs = resolve_expr(r, l->rhs);
        struct span where = e->span;

        if (i + 1 < e->u.chain.n)
            where.end = l->rhs->span.end;
        v = build_binary(&r->b, op_of[l->op], &v, &rhs, where);
    }
    return v;
}

static struct value
eval_chain(struct resolver *r, const struct expr *e)
{
    unsigned before = diag_errors(r->diag);
    struct value v = eval_links(r, e);
    const struct ast_link *l = tight_operand(e);

    if (l && diag_errors(r->diag) > before)
        diag_help(r->diag, l->op_span,
                  "'%s' binds more tightly than a comparison; between "
                  "conditions write '%s'",
                  ast_op_text(l->op), l->op == AST_BITAND ? "&&" : "||");
    return v;
}

static struct value
eval_select(struct resolver *r, const struct expr *e)
{
    struct value v[3] = {resolve_expr(r, e->u.select.cond),
                         resolve_expr(r, e->u.select.a),
                         resolve_expr(r, e->u.select.b)};

    return build_pointwise(&r->b, OP_WHERE, v, 3, e->span);
}

static struct value
eval_power(struct resolver *r, const struct expr *e)
{
    struct value x = resolve_expr(r, e->u.pow.base),
                 y = resolve_expr(r, e->u.pow.exponent);

    return build_power(&r->b, &x, &y, e->span);
}

static struct value
eval_index(struct resolver *r, const struct expr *e)
{
    struct value v = resolve_expr(r, e->u.index.base);
    struct span where = e->span;

    for (uint32_t i = 0; i < e->u.index.n; i++) {
        where.end = e->u.index.subs[i].span.end;
        v = resolve_subscript(r, v, &e->u.index.subs[i], where);
        v.span = where;
        v.name = NULL;
    }
    return v;
}

static struct value
eval_call(struct resolver *r, const struct expr *e)
{
    struct results res = {0};
    const char *name = e->u.call.callee.text;

    resolve_call(r, e, &res);
    assert(res.n >= 1);
    if (res.n == 1)
        return res.v[0];
    if (build_fresh(&r->b, DIAG_RESULT_COUNT, e->span)) {
        diag_report(
            r->diag, DIAG_RESULT_COUNT, e->span,
            arena_printf(r->arena, "'%s' gives %u results", name, res.n),
            "one value is needed here");
        diag_help(r->diag, e->span,
                  "write it as a statement of its own, as in: a, b = %s(...);",
                  name);
        build_trace(&r->b);
    }
    return build_poison(e->span);
}

static struct value
eval_list(struct resolver *r, const struct expr *e)
{
    struct value v = {.kind = V_LIST, .span = e->span};

    v.items = NEW_ARRAY(r->arena, struct value, e->u.list.n);
    v.n_items = e->u.list.n;
    for (uint32_t i = 0; i < e->u.list.n; i++) {
        v.items[i] = resolve_argument(r, e->u.list.items[i]);
        if (v.items[i].kind == V_POISON)
            v.kind = V_POISON;
    }
    return v;
}

static struct value
eval(struct resolver *r, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_ERROR:
        return build_poison(e->span);
    case EXPR_INT:
        return eval_int(r, e, false, e->span);
    case EXPR_FLOAT:
        return build_float(e->u.f.value, e->span);
    case EXPR_BOOL:
        return build_bool(e->u.b, e->span);
    case EXPR_INF:
        return build_float(HUGE_VAL, e->span);
    case EXPR_NAN:
        return build_float((double)NAN, e->span);
    case EXPR_PI:
        return build_float(0x1.921fb54442d18p+1, e->span);
    case EXPR_NAME:
        return resolve_name(r, e->u.name, e->span);
    case EXPR_UNARY:
        return eval_unary(r, e);
    case EXPR_CHAIN:
        return eval_chain(r, e);
    case EXPR_POW:
        return eval_power(r, e);
    case EXPR_SELECT:
        return eval_select(r, e);
    case EXPR_CALL:
        return eval_call(r, e);
    case EXPR_INDEX:
        return eval_index(r, e);
    case EXPR_LIST:
        return eval_list(r, e);
    case EXPR_KIND_COUNT:
        break;
    }
    BUG("expression of kind %d", (int)e->kind);
}

/* The way in: bounds the depth of expansion. */
struct value
resolve_argument(struct resolver *r, const struct expr *e)
{
    struct value v;

    if (r->limit)
        return build_poison(e->span);
    if (r->depth >= MAX_EXPANSION) {
        r->limit = true;
        diag_report(r->diag, DIAG_CALL_DEPTH, e->span,
                    r->b.calls ? r->b.calls->name : "this expression");
        build_trace(&r->b);
        return build_poison(e->span);
    }
    r->depth++;
    v = eval(r, e);
    r->depth--;
    v.span = e->span;
    return v;
}

struct value
resolve_expr(struct resolver *r, const struct expr *e)
{
    return resolve_argument(r, e);
}

void
resolve_results(struct resolver *r, const struct expr *e, struct results *ret)
{
    if (e->kind == EXPR_CALL && !r->limit && r->depth < MAX_EXPANSION) {
        r->depth++;
        resolve_call(r, e, ret);
        r->depth--;
        return;
    }
    ret->n = 1;
    ret->v = NEW(r->arena, struct value);
    ret->v[0] = resolve_expr(r, e);
}

/* --- extents ------------------------------------------------------------- */

bool
resolve_extent(struct resolver *r, const struct value *v,
               const struct sym **ret, bool *ret_literal)
{
    int64_t k;

    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_INT) {
        if (!build_fresh(&r->b, DIAG_NOT_AN_EXTENT, v->span))
            return false;
        diag_report(r->diag, DIAG_NOT_AN_EXTENT, v->span,
                    build_subject(&r->b, v));
        if (v->kind == V_NODE && v->name &&
            graph_node(r->b.graph, v->node)->op == OP_SCALAR)
            diag_help(r->diag, v->declared.src ? v->declared : v->span,
                      "declare it as a dimension: %s: dim", v->name);
        else if (v->kind == V_FLOAT || (v->kind == V_NODE && v->uniform))
            diag_help(r->diag, v->span,
                      "extents are integers: divide with '//'");
        build_trace(&r->b);
        return false;
    }
    if ((sym_is_int(v->sym, &k) && k < 0) ||
        (sym_upper_bound(r->b.syms, v->sym, &k) && k < 0)) {
        BUILD_ERROR(&r->b, DIAG_NEGATIVE_EXTENT, v->span,
                    build_sym_text(&r->b, v->sym));
        return false;
    }
    if (!(sym_lower_bound(r->b.syms, v->sym, &k) && k >= 0))
        build_guard(&r->b, sym_int(r->b.syms, 0), "<=", v->sym);
    *ret = v->sym;
    if (ret_literal)
        *ret_literal = !v->sized;
    return true;
}

/* One extent of a shape, stretching when it is a literal 1. */
static bool
add_extent(struct resolver *r, const struct value *v, struct shape *ret)
{
    bool literal;
    int64_t k;

    if (!resolve_extent(r, v, &ret->dims[ret->rank], &literal))
        return false;
    if (literal && sym_is_int(ret->dims[ret->rank], &k) && k == 1)
        ret->stretch |= (uint8_t)(1 << ret->rank);
    ret->rank++;
    return true;
}

bool
resolve_shape(struct resolver *r, const struct value *v, const char *of,
              struct shape *ret)
{
    bool good = true;

    *ret = (struct shape){0};
    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_LIST) {
        BUILD_ERROR(&r->b, DIAG_NOT_CONSTANT, v->span, "the shape", of,
                    "a list, as in [M, 8]");
        return false;
    }
    if (v->n_items > MAX_RANK) {
        BUILD_ERROR(&r->b, DIAG_RANK_LIMIT, v->span, v->n_items, MAX_RANK);
        return false;
    }
    for (uint32_t i = 0; i < v->n_items; i++)
        good = add_extent(r, &v->items[i], ret) && good;
    return good;
}

bool
resolve_dims(struct resolver *r, struct expr *const *dims, uint32_t n,
             struct span where, struct shape *ret)
{
    bool good = true;

    *ret = (struct shape){0};
    if (n > MAX_RANK) {
        BUILD_ERROR(&r->b, DIAG_RANK_LIMIT, where, n, MAX_RANK);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct value v = resolve_expr(r, dims[i]);

        good = add_extent(r, &v, ret) && good;
    }
    return good;
}

/* --- statements ---------------------------------------------------------- */

bool
resolve_count(struct resolver *r, struct span where)
{
    if (r->limit)
        return false;
    if (++r->n_statements <= MAX_STATEMENTS)
        return true;
    r->limit = true;
    diag_report(r->diag, DIAG_STATEMENT_LIMIT, where, r->b.graph->name,
                (unsigned)MAX_STATEMENTS);
    build_trace(&r->b);
    return false;
}

static void
define(struct resolver *r, const struct ast_name *name, const struct value *v)
{
    struct entity *e;

    if (strcmp(name->text, "_") == 0)
        return;
    e = scope_find(r->scope, name->text);
    /* A clash was reported where names were declared. */
    if (!e || e->defined || e->value.span.begin != name->span.begin ||
        e->value.span.src != name->span.src)
        return;
    e->value = *v;
    e->defined = true;
    if (v->kind == V_NODE && !r->scope->def) {
        struct node *n = &r->b.graph->nodes[v->node];

        if (!n->name && n->op != OP_INPUT && n->op != OP_SCALAR)
            n->name = e->name;
    }
}

static void
count_mismatch(struct resolver *r, const struct ast_stmt *s, uint32_t n)
{
    struct span where = s->names[0].span;

    if (!build_fresh(&r->b, DIAG_RESULT_COUNT, where))
        return;
    diag_report(r->diag, DIAG_RESULT_COUNT,
                span_join(where, s->names[s->n_names - 1].span),
                arena_printf(r->arena, "the right side gives %u value%s", n,
                             n == 1 ? "" : "s"),
                arena_printf(r->arena, "%u name%s here", s->n_names,
                             s->n_names == 1 ? " stands" : "s stand"));
    diag_secondary(r->diag, s->value->span);
    if (s->n_names < n)
        diag_help(r->diag, where, "'_' takes a result nobody wants");
    build_trace(&r->b);
}

void
resolve_statement(struct resolver *r, const struct ast_stmt *s)
{
    struct results res = {0};
    bool good = true;

    if (!resolve_count(r, s->span))
        return;
    resolve_results(r, s->value, &res);
    if (res.n != s->n_names) {
        if (!(res.n == 1 && res.v[0].kind == V_POISON))
            count_mismatch(r, s, res.n);
        good = false;
    }
    for (uint32_t i = 0; i < s->n_names; i++) {
        struct value v = good ? res.v[i] : build_poison(s->span);

        if (v.kind != V_POISON && !build_is_operand(&r->b, &v))
            v = build_poison(v.span);
        define(r, &s->names[i], &v);
    }
}
