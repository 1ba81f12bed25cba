/* SPDX-License-Identifier: Apache-2.0 */
/* stmt: statements and kernels as CUDA, laid out to be read. */
#include "support/base.h"

#include "codegen/codegen_impl.h"

#include "support/arena.h"

static void block(struct buf *b, const struct kblock *k, int depth);

static void
indent(struct buf *b, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_puts(b, "    ");
}

/* Only printable ASCII, and nothing that ends a comment or joins lines. */
void
cuda_comment_text(struct buf *b, const char *s)
{
    for (; *s; s++) {
        bool trigraph = s[0] == '?' && s[1] == '?';
        bool plain = *s >= ' ' && *s <= '~' && *s != '\\' && !trigraph;

        if (s[0] == '*' && s[1] == '/')
            buf_puts(b, "* ");
        else
            buf_putc(b, plain ? *s : '.');
    }
}

/* "float x", "float *x": a pointer's star stands with the name. */
static void
declarator(struct buf *b, const char *ctype, const char *name)
{
    size_t n = strlen(ctype);

    buf_puts(b, ctype);
    if (n && ctype[n - 1] != '*')
        buf_putc(b, ' ');
    buf_puts(b, name);
}

static void
declaration(struct buf *b, const struct kstmt *s)
{
    if (s->is_const && strncmp(s->ctype, "const ", 6) != 0)
        buf_puts(b, "const ");
    declarator(b, s->ctype, s->name);
    if (s->a) {
        buf_puts(b, " = ");
        cuda_expr(b, s->a, 0);
    }
    buf_puts(b, ";\n");
}

static void
array(struct buf *b, const struct kstmt *s, int depth)
{
    declarator(b, s->ctype, s->name);
    buf_printf(b, "[%" PRId64 "];\n", s->count);
    if (!s->a)
        return;
    buf_puts(b, "#pragma unroll\n");
    indent(b, depth);
    buf_printf(b, "for (int i = 0; i < %" PRId64 "; ++i)\n", s->count);
    indent(b, depth + 1);
    buf_printf(b, "%s[i] = ", s->name);
    cuda_expr(b, s->a, 0);
    buf_puts(b, ";\n");
}

static void
loop(struct buf *b, const struct kstmt *s, int depth)
{
    bool by_one = s->c->kind == KE_INT && s->c->value.i == 1;

    buf_puts(b, "for (");
    declarator(b, s->ctype, s->name);
    buf_puts(b, " = ");
    cuda_expr(b, s->a, 0);
    buf_printf(b, "; %s < ", s->name);
    cuda_expr(b, s->b, kernel_precedence("<") + 1);
    buf_puts(b, by_one ? "; ++" : "; ");
    buf_puts(b, s->name);
    if (!by_one) {
        buf_puts(b, " += ");
        cuda_expr(b, s->c, 0);
    }
    buf_puts(b, ") {\n");
    block(b, &s->body, depth + 1);
    indent(b, depth);
    buf_puts(b, "}\n");
}

static void
branch(struct buf *b, const struct kstmt *s, int depth)
{
    buf_puts(b, "if (");
    cuda_expr(b, s->a, 0);
    buf_puts(b, ") {\n");
    block(b, &s->body, depth + 1);
    indent(b, depth);
    if (s->other.stmts.n) {
        buf_puts(b, "} else {\n");
        block(b, &s->other, depth + 1);
        indent(b, depth);
    }
    buf_puts(b, "}\n");
}

static void
simple(struct buf *b, const struct kstmt *s)
{
    if (s->kind == KS_RETURN) {
        buf_puts(b, "return;\n");
        return;
    }
    cuda_expr(b, s->a, 0);
    if (s->kind == KS_ASSIGN) {
        buf_puts(b, " = ");
        cuda_expr(b, s->b, 0);
    }
    buf_puts(b, ";\n");
}

static void
statement(struct buf *b, const struct kstmt *s, int depth)
{
    if (s->kind == KS_FOR && s->unroll)
        buf_puts(b, s->unroll == KUNROLL_FULL ? "#pragma unroll\n"
                                              : "#pragma unroll 1\n");
    if (s->kind != KS_BLANK)
        indent(b, depth);
    switch (s->kind) {
    case KS_COMMENT:
        buf_puts(b, "// ");
        cuda_comment_text(b, s->text);
        buf_putc(b, '\n');
        break;
    case KS_BLANK:
        buf_putc(b, '\n');
        break;
    case KS_DECL:
        declaration(b, s);
        break;
    case KS_ARRAY:
        array(b, s, depth);
        break;
    case KS_FOR:
        loop(b, s, depth);
        break;
    case KS_IF:
        branch(b, s, depth);
        break;
    case KS_ASSIGN:
    case KS_EVAL:
    case KS_RETURN:
        simple(b, s);
        break;
    }
}

static void
block(struct buf *b, const struct kblock *k, int depth)
{
    for (uint32_t i = 0; i < k->stmts.n; i++)
        statement(b, k->stmts.v[i], depth);
}

void
cuda_kernel(struct buf *b, const struct kernel *k)
{
    buf_putc(b, '\n');
    if (k->comment) {
        buf_puts(b, "// ");
        cuda_comment_text(b, k->comment);
        buf_putc(b, '\n');
    }
    buf_printf(b, "extern \"C\" __global__ void __launch_bounds__(%d, %d)\n",
               k->threads, k->min_blocks);
    buf_printf(b, "%s(", k->symbol);
    for (uint32_t i = 0; i < k->params.n; i++) {
        buf_puts(b, i ? ",\n    " : "\n    ");
        declarator(b, k->params.v[i].ctype, k->params.v[i].name);
    }
    buf_puts(b, ")\n{\n");
    block(b, &k->body, 1);
    buf_puts(b, "}\n");
}
