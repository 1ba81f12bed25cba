/* SPDX-License-Identifier: Apache-2.0 */
/* build: statements, appended to a block. */
#include "support/base.h"

#include "kernel/kernel.h"

#include "support/arena.h"

#include <stdarg.h>

static struct kstmt *
append(struct kbuild *k, enum kstmt_kind kind)
{
    struct kstmt *s = NEW(k->arena, struct kstmt);

    assert(k->to);
    s->kind = kind;
    VEC_PUSH(k->arena, &k->to->stmts, s);
    return s;
}

void
kb_comment(struct kbuild *k, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    append(k, KS_COMMENT)->text = arena_vprintf(k->arena, fmt, ap);
    va_end(ap);
}

void
kb_blank(struct kbuild *k)
{
    append(k, KS_BLANK);
}

static const struct kexpr *
declare(struct kbuild *k, const char *ctype, const char *name,
        const struct kexpr *init)
{
    struct kstmt *s = append(k, KS_DECL);

    assert(ctype && name);
    s->ctype = ctype;
    s->name = name;
    s->a = init;
    return ke_var(k->arena, name);
}

const struct kexpr *
kb_let(struct kbuild *k, const char *ctype, const char *name,
       const struct kexpr *init)
{
    const struct kexpr *v = declare(k, ctype, name, init);

    assert(init);
    k->to->stmts.v[k->to->stmts.n - 1]->is_const = true;
    return v;
}

const struct kexpr *
kb_var(struct kbuild *k, const char *ctype, const char *name,
       const struct kexpr *init)
{
    return declare(k, ctype, name, init);
}

const struct kexpr *
kb_array(struct kbuild *k, const char *ctype, const char *name, int64_t count,
         const struct kexpr *init)
{
    struct kstmt *s = append(k, KS_ARRAY);

    assert(ctype && name && count > 0);
    s->ctype = ctype;
    s->name = name;
    s->count = count;
    s->a = init;
    return ke_var(k->arena, name);
}

void
kb_assign(struct kbuild *k, const struct kexpr *lhs, const struct kexpr *rhs)
{
    struct kstmt *s = append(k, KS_ASSIGN);

    assert(lhs && rhs);
    s->a = lhs;
    s->b = rhs;
}

void
kb_eval(struct kbuild *k, const struct kexpr *e)
{
    assert(e);
    append(k, KS_EVAL)->a = e;
}

struct kbuild
kb_for(struct kbuild *k, const char *ctype, const char *var,
       const struct kexpr *from, const struct kexpr *to,
       const struct kexpr *step)
{
    struct kstmt *s = append(k, KS_FOR);

    assert(ctype && var && from && to && step);
    s->ctype = ctype;
    s->name = var;
    s->a = from;
    s->b = to;
    s->c = step;
    return (struct kbuild){k->arena, &s->body};
}

struct kbuild
kb_unroll(struct kbuild *k, const char *var, const struct kexpr *from,
          const struct kexpr *to, const struct kexpr *step)
{
    struct kbuild body = kb_for(k, "int", var, from, to, step);

    k->to->stmts.v[k->to->stmts.n - 1]->unroll = KUNROLL_FULL;
    return body;
}

struct kbuild
kb_roll(struct kbuild *k, const char *ctype, const char *var,
        const struct kexpr *from, const struct kexpr *to,
        const struct kexpr *step)
{
    struct kbuild body = kb_for(k, ctype, var, from, to, step);

    k->to->stmts.v[k->to->stmts.n - 1]->unroll = KUNROLL_NONE;
    return body;
}

struct kbuild
kb_if(struct kbuild *k, const struct kexpr *cond)
{
    struct kstmt *s = append(k, KS_IF);

    assert(cond);
    s->a = cond;
    return (struct kbuild){k->arena, &s->body};
}

struct kbuild
kb_else(struct kbuild *k)
{
    uint32_t n = k->to->stmts.n;

    assert(n > 0 && k->to->stmts.v[n - 1]->kind == KS_IF);
    return (struct kbuild){k->arena, &k->to->stmts.v[n - 1]->other};
}

void
kb_return(struct kbuild *k)
{
    append(k, KS_RETURN);
}
