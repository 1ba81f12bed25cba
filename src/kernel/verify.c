/* SPDX-License-Identifier: Apache-2.0 */
/* verify: what must hold of a kernel before it is spelled.
 *
 * Every name is an identifier, declared once in its scope and the scopes around
 * it, and before its use; operations have their number of operands; calls go to
 * the primitives (fu_ names); loops and launches have sane bounds. */
#include "support/base.h"

#include "kernel/kernel.h"

#include "front/names.h"
#include "support/arena.h"
#include "support/buf.h"

/* A name that is or was in sight. */
struct sight {
    bool now;
};

struct check {
    struct buf *why;
    bool failed;
    struct names seen;         /* to struct sight */
    VEC(struct sight *) scope; /* names in sight, innermost last */
    struct arena *arena;
};

static void
fail(struct check *c, const char *what, const char *name)
{
    if (!c->failed)
        buf_printf(c->why, "%s '%s'", what, name ? name : "");
    c->failed = true;
}

static bool
is_identifier(const char *s)
{
    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
              (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

static bool
in_sight(const struct check *c, const char *name)
{
    const struct sight *s = names_get(&c->seen, name);

    return s && s->now;
}

static void
enter(struct check *c, const char *name)
{
    struct sight *s = names_get(&c->seen, name);

    if (!s) {
        s = NEW(c->arena, struct sight);
        names_put(&c->seen, name, s);
    }
    s->now = true;
    VEC_PUSH(c->arena, &c->scope, s);
}

/* Forgets what was declared since the scope had MARK names. */
static void
leave(struct check *c, uint32_t mark)
{
    while (c->scope.n > mark)
        c->scope.v[--c->scope.n]->now = false;
}

static void
declare(struct check *c, const char *name)
{
    if (!is_identifier(name))
        fail(c, "not an identifier:", name);
    else if (in_sight(c, name))
        fail(c, "declared twice:", name);
    else
        enter(c, name);
}

static void
check_symbol(void *data, const char *name)
{
    struct check *c = data;

    name = kernel_symbol_variable(name);
    if (!in_sight(c, name))
        fail(c, "used but not declared:", name);
}

static void
check_expr(struct check *c, const struct kexpr *e)
{
    int arity;

    if (c->failed)
        return;
    if (e->kind == KE_VAR)
        check_symbol(c, e->name);
    else if (e->kind == KE_SYM)
        sym_symbols(e->sym, check_symbol, c);
    else if (e->kind == KE_CALL && strncmp(e->name, "fu_", 3) != 0)
        fail(c, "call of something that is no primitive:", e->name);
    if (e->kind == KE_OP) {
        arity = op_info[e->op].class == OC_REDUCE ? 2 : op_info[e->op].arity;
        if (arity >= 0 && e->n_args != (uint32_t)arity)
            fail(c, "wrong number of operands:", op_info[e->op].name);
        if (!op_info[e->op].spell_float && !op_info[e->op].spell_int)
            fail(c, "operation without a spelling:", op_info[e->op].name);
    }
    for (uint32_t i = 0; i < e->n_args; i++)
        check_expr(c, e->args[i]);
}

static void check_block(struct check *c, const struct kblock *k);

static void
check_loop(struct check *c, const struct kstmt *s)
{
    uint32_t mark = c->scope.n;

    check_expr(c, s->b);
    check_expr(c, s->c);
    if (s->c->kind == KE_INT && s->c->value.i <= 0)
        fail(c, "step of a loop isn't positive:", s->name);
    declare(c, s->name);
    check_block(c, &s->body);
    leave(c, mark);
}

static void
check_stmt(struct check *c, const struct kstmt *s)
{
    if (s->a)
        check_expr(c, s->a);
    switch (s->kind) {
    case KS_ARRAY:
        if (s->count < 1)
            fail(c, "array without elements:", s->name);
        declare(c, s->name);
        break;
    case KS_DECL:
        declare(c, s->name);
        break;
    case KS_ASSIGN:
        assert(s->a);
        if (s->a->kind != KE_VAR && s->a->kind != KE_ELEM)
            fail(c, "assignment to a value", NULL);
        check_expr(c, s->b);
        break;
    case KS_FOR:
        check_loop(c, s);
        break;
    case KS_IF:
        check_block(c, &s->body);
        check_block(c, &s->other);
        break;
    case KS_COMMENT:
        if (strchr(s->text, '\n'))
            fail(c, "line end in a comment:", s->text);
        break;
    case KS_BLANK:
    case KS_EVAL:
    case KS_RETURN:
        break;
    }
}

static void
check_block(struct check *c, const struct kblock *k)
{
    uint32_t mark = c->scope.n;

    for (uint32_t i = 0; i < k->stmts.n && !c->failed; i++)
        check_stmt(c, k->stmts.v[i]);
    leave(c, mark);
}

bool
kernel_verify(const struct kernel *k, struct buf *why)
{
    struct check c = {.why = why, .arena = why->arena};

    names_init(&c.seen, why->arena);
    if (!is_identifier(k->symbol))
        fail(&c, "not an identifier:", k->symbol);
    if (k->threads < 1 || k->threads > 1024 || k->min_blocks < 1)
        fail(&c, "launch bounds out of range:", k->symbol);
    for (uint32_t i = 0; i < k->params.n; i++)
        declare(&c, k->params.v[i].name);
    check_block(&c, &k->body);
    return !c.failed;
}
