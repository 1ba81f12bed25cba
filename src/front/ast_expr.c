/* SPDX-License-Identifier: Apache-2.0 */
/* ast_expr: building expressions.
 *
 * A node knows how deep it nests, so that the limit is enforced while the tree
 * grows and no later stage can run out of stack. Chains grow in place: `a + b`
 * is a chain, and the `+ c` behind it becomes its second link. */
#include "support/base.h"

#include "front/ast_build.h"

#include "front/ast_list.h"
#include "front/parse.h"
#include "support/arena.h"
#include "support/diag.h"

#include <math.h>
#include <stdlib.h>

static struct expr *
new_expr(struct parser *p, enum expr_kind kind, struct span where)
{
    struct expr *e = NEW(p->arena, struct expr);

    e->kind = kind;
    e->span = where;
    return e;
}

/* E with its depth, or a poison when that is too much. */
static struct expr *
nested(struct parser *p, struct expr *e, unsigned depth)
{
    if (depth > AST_MAX_DEPTH) {
        parse_too_deep(p, e->span);
        return ast_poison(p, e->span);
    }
    e->depth = (uint16_t)depth;
    return e;
}

static unsigned
deeper(unsigned depth, const struct expr *e)
{
    return e ? MAX(depth, e->depth) : depth;
}

struct expr *
ast_poison(struct parser *p, struct span where)
{
    return new_expr(p, EXPR_ERROR, where);
}

struct expr *
ast_leaf(struct parser *p, enum expr_kind kind, struct span where)
{
    assert(kind == EXPR_INF || kind == EXPR_NAN || kind == EXPR_PI);
    return new_expr(p, kind, where);
}

/* Decimal or 0x digits; false above 2^63. */
static bool
read_integer(const char *text, uint64_t *ret)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const uint64_t limit = UINT64_C(1) << 63;
    uint64_t value = 0, base = hex ? 16 : 10;

    for (const char *s = hex ? text + 2 : text; *s; s++) {
        uint64_t digit =
            (uint64_t)(*s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10);

        assert(digit < base);
        if (value > (limit - digit) / base)
            return false;
        value = value * base + digit;
    }
    *ret = value;
    return true;
}

struct expr *
ast_int(struct parser *p, const char *text, struct span where)
{
    struct expr *e = new_expr(p, EXPR_INT, where);

    e->u.i.text = text;
    if (read_integer(text, &e->u.i.value))
        return e;
    diag_report(p->diag, DIAG_LITERAL_TOO_LARGE, where, text);
    return ast_poison(p, where);
}

struct expr *
ast_float(struct parser *p, const char *text, struct span where)
{
    struct expr *e = new_expr(p, EXPR_FLOAT, where);

    e->u.f.text = text;
    e->u.f.value = strtod(text, NULL);
    if (isfinite(e->u.f.value))
        return e;
    diag_report(p->diag, DIAG_LITERAL_TOO_LARGE, where, text);
    diag_help(p->diag, where, "infinity is written 'inf'");
    return ast_poison(p, where);
}

struct expr *
ast_bool(struct parser *p, bool value, struct span where)
{
    struct expr *e = new_expr(p, EXPR_BOOL, where);

    e->u.b = value;
    return e;
}

struct expr *
ast_name_expr(struct parser *p, struct ast_name name)
{
    struct expr *e = new_expr(p, EXPR_NAME, name.span);

    e->u.name = name.text;
    return e;
}

struct expr *
ast_parens(struct parser *p, struct expr *e, struct span where)
{
    e->parens = true;
    e->span = where;
    return nested(p, e, e->depth + 1u);
}

struct expr *
ast_unary(struct parser *p, enum ast_op op, struct span op_span,
          struct expr *arg)
{
    struct expr *e = new_expr(p, EXPR_UNARY, span_join(op_span, arg->span));

    e->u.unary.op = op;
    e->u.unary.op_span = op_span;
    e->u.unary.arg = arg;
    return nested(p, e, arg->depth + 1u);
}

static bool
continues_chain(const struct expr *e, enum ast_op op)
{
    return e->kind == EXPR_CHAIN && !e->parens &&
           ast_op_level(e->u.chain.links[0].op) == ast_op_level(op);
}

struct expr *
ast_binary(struct parser *p, enum ast_op op, struct span op_span,
           struct expr *a, struct expr *b)
{
    struct ast_link link = {op, op_span, b};
    struct expr *e = a;

    if (!continues_chain(a, op)) {
        e = new_expr(p, EXPR_CHAIN, a->span);
        e->u.chain.first = a;
        e->depth = a->depth;
    }
    e->span = span_join(a->span, b->span);
    if (e->u.chain.n == e->u.chain.cap) {
        uint32_t cap = e->u.chain.cap ? 2 * e->u.chain.cap : 1;

        e->u.chain.links = arena_grow(p->arena, e->u.chain.links, e->u.chain.n,
                                      cap, sizeof(link));
        e->u.chain.cap = cap;
    }
    e->u.chain.links[e->u.chain.n++] = link;
    return nested(p, e, deeper(e->depth, b));
}

/* `x > 0 & y > 0`: the middle of it, when that is what was written. */
static const struct ast_link *
bit_operator(const struct expr *middle)
{
    int level;

    if (middle->kind != EXPR_CHAIN || middle->parens)
        return NULL;
    level = ast_op_level(middle->u.chain.links[0].op);
    if (level < ast_op_level(AST_BITOR) || level > ast_op_level(AST_BITAND))
        return NULL;
    return &middle->u.chain.links[0];
}

struct expr *
ast_compare(struct parser *p, enum ast_op op, struct span op_span,
            struct expr *a, struct expr *b)
{
    const struct ast_link *first, *bits;
    const char *one, *two;

    if (a->kind == EXPR_ERROR)
        return a;
    if (!continues_chain(a, op))
        return ast_binary(p, op, op_span, a, b);
    first = &a->u.chain.links[0];
    one = ast_op_text(first->op);
    two = ast_op_text(op);
    diag_report(p->diag, DIAG_CHAINED_COMPARISON, op_span);
    diag_secondary(p->diag, first->op_span);
    bits = bit_operator(first->rhs);
    if (bits)
        diag_help(p->diag, bits->op_span,
                  "'%s' binds more tightly than '%s'; write '%s', or put each "
                  "comparison in parentheses",
                  ast_op_text(bits->op), one,
                  bits->op == AST_BITOR ? "||" : "&&");
    else
        diag_help(p->diag, op_span, "write 'a %s b && b %s c'", one, two);
    return ast_poison(p, span_join(a->span, b->span));
}

struct expr *
ast_pow(struct parser *p, struct span op_span, struct expr *base,
        struct expr *exponent)
{
    struct span where = span_join(base->span, exponent->span);
    struct expr *e = new_expr(p, EXPR_POW, where);

    e->u.pow.base = base;
    e->u.pow.exponent = exponent;
    e->u.pow.op_span = op_span;
    return nested(p, e, deeper(base->depth, exponent) + 1u);
}

struct expr *
ast_select(struct parser *p, struct expr *cond, struct expr *a, struct expr *b)
{
    struct expr *e = new_expr(p, EXPR_SELECT, span_join(cond->span, b->span));

    e->u.select.cond = cond;
    e->u.select.a = a;
    e->u.select.b = b;
    return nested(p, e, deeper(deeper(cond->depth, a), b) + 1u);
}

struct ast_arg *
ast_arg(struct parser *p, struct ast_name keyword, struct expr *value,
        struct span where)
{
    struct ast_arg *arg = NEW(p->arena, struct ast_arg);

    arg->keyword = keyword;
    arg->value = value;
    arg->span = where;
    return arg;
}

struct expr *
ast_call(struct parser *p, struct ast_name callee, struct ast_list *args,
         struct span where)
{
    struct expr *e = new_expr(p, EXPR_CALL, where);
    unsigned depth = 0;

    e->u.call.callee = callee;
    e->u.call.args = FLATTEN(p, args, struct ast_arg);
    e->u.call.n = args->n;
    for (uint32_t i = 0; i < args->n; i++)
        depth = deeper(depth, e->u.call.args[i].value);
    return nested(p, e, depth + 1);
}

struct expr *
ast_list_expr(struct parser *p, struct ast_list *items, struct span where)
{
    struct expr *e = new_expr(p, EXPR_LIST, where);
    unsigned depth = 0;

    e->u.list.items = (struct expr **)items->v;
    e->u.list.n = items->n;
    for (uint32_t i = 0; i < items->n; i++)
        depth = deeper(depth, e->u.list.items[i]);
    return nested(p, e, depth + 1);
}

static unsigned
subscript_depth(const struct ast_subscript *sub)
{
    unsigned depth = 0;

    for (uint32_t i = 0; i < sub->n; i++) {
        const struct ast_index *x = &sub->items[i];

        depth = deeper(deeper(deeper(depth, x->expr), x->lo), x->hi);
    }
    return depth + 1;
}

struct expr *
ast_subscript(struct parser *p, struct expr *base, struct ast_list *items,
              struct span brackets)
{
    struct ast_subscript sub = {
        .items = FLATTEN(p, items, struct ast_index),
        .n = items->n,
        .span = brackets,
    };
    struct expr *e = base;

    if (base->kind != EXPR_INDEX || base->parens) {
        e = new_expr(p, EXPR_INDEX, base->span);
        e->u.index.base = base;
        e->depth = base->depth;
    }
    e->span = span_join(base->span, brackets);
    if (e->u.index.n == e->u.index.cap) {
        uint32_t cap = e->u.index.cap ? 2 * e->u.index.cap : 1;

        e->u.index.subs = arena_grow(p->arena, e->u.index.subs, e->u.index.n,
                                     cap, sizeof(sub));
        e->u.index.cap = cap;
    }
    e->u.index.subs[e->u.index.n++] = sub;
    return nested(p, e, MAX(e->depth, subscript_depth(&sub)));
}

struct ast_index *
ast_index(struct parser *p, enum index_kind kind, struct expr *e,
          struct span where)
{
    struct ast_index *x = NEW(p->arena, struct ast_index);

    assert((kind == INDEX_EXPR) == (e != NULL));
    x->kind = kind;
    x->expr = e;
    x->span = where;
    return x;
}

struct ast_index *
ast_slice(struct parser *p, struct ast_bounds b, struct span where)
{
    struct ast_index *x = ast_index(p, INDEX_SLICE, NULL, where);

    x->lo = b.lo;
    x->hi = b.hi;
    x->step = b.step;
    return x;
}

struct expr *
ast_step(struct parser *p, struct expr *e, struct span where)
{
    if (e && e->kind == EXPR_ERROR)
        return e;
    if (e && e->u.i.value >= 1)
        return e;
    diag_report(p->diag, DIAG_BAD_STEP, where);
    if (!e)
        diag_help(p->diag, where, "flip(x, axis=...) turns an axis round");
    return ast_poison(p, where);
}
