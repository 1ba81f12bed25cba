/* SPDX-License-Identifier: Apache-2.0 */
/* print: kernels as indented text, one statement a line, for --emit=kernel and
 * tests. Operations keep their names and types here; how they are spelled in
 * CUDA is codegen's business. */
#include "support/base.h"

#include "kernel/kernel.h"

#include "support/arena.h"
#include "support/buf.h"

static void print_expr(struct buf *b, const struct kexpr *e, int outer);

static void
print_list(struct buf *b, const struct kexpr *e)
{
    buf_putc(b, '(');
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (i)
            buf_puts(b, ", ");
        print_expr(b, e->args[i], 0);
    }
    buf_putc(b, ')');
}

static void
print_const(struct buf *b, const struct kexpr *e)
{
    if (dtype_is_float(e->dtype))
        buf_double(b, e->value.f);
    else
        buf_printf(b, "%" PRId64, e->value.i);
    buf_printf(b, ":%s", dtype_info[e->dtype].name);
}

static void
print_bin(struct buf *b, const struct kexpr *e, int outer)
{
    int p = kernel_precedence(e->name);

    if (p < outer)
        buf_putc(b, '(');
    print_expr(b, e->args[0], p);
    buf_printf(b, " %s ", e->name);
    print_expr(b, e->args[1], p + 1);
    if (p < outer)
        buf_putc(b, ')');
}

static const char *
variable(void *data, const char *symbol)
{
    (void)data;
    return kernel_symbol_variable(symbol);
}

static void
print_expr(struct buf *b, const struct kexpr *e, int outer)
{
    switch (e->kind) {
    case KE_INT:
        buf_printf(b, "%" PRId64, e->value.i);
        break;
    case KE_CONST:
        print_const(b, e);
        break;
    case KE_VAR:
        buf_puts(b, e->name);
        break;
    case KE_ELEM:
        print_expr(b, e->args[0], 99);
        buf_putc(b, '[');
        print_expr(b, e->args[1], 0);
        buf_putc(b, ']');
        break;
    case KE_SYM:
        buf_putc(b, '(');
        sym_print_c(b, e->sym, variable, NULL);
        buf_putc(b, ')');
        break;
    case KE_OP:
        buf_printf(b, "%s.%s", op_info[e->op].name, dtype_info[e->dtype].name);
        print_list(b, e);
        break;
    case KE_CAST:
        buf_printf(b, "cast.%s.%s", dtype_info[e->from].name,
                   dtype_info[e->dtype].name);
        print_list(b, e);
        break;
    case KE_CALL:
        buf_puts(b, e->name);
        if (e->targs)
            buf_printf(b, "<%s>", e->targs);
        print_list(b, e);
        break;
    case KE_BIN:
        print_bin(b, e, outer);
        break;
    }
}

static void print_block(struct buf *b, const struct kblock *k, int depth);

static void
indent(struct buf *b, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_puts(b, "  ");
}

static void
print_decl(struct buf *b, const struct kstmt *s)
{
    buf_printf(b, "%s %s %s", s->is_const ? "let" : "var", s->ctype, s->name);
    if (s->kind == KS_ARRAY)
        buf_printf(b, "[%" PRId64 "]", s->count);
    if (s->a) {
        buf_puts(b, " = ");
        print_expr(b, s->a, 0);
    }
}

static void
print_for(struct buf *b, const struct kstmt *s, int depth)
{
    buf_printf(b, "for %s %s = ", s->ctype, s->name);
    print_expr(b, s->a, 0);
    buf_puts(b, " to ");
    print_expr(b, s->b, 0);
    buf_puts(b, " step ");
    print_expr(b, s->c, 0);
    buf_puts(b, s->unroll == KUNROLL_FULL   ? " unroll\n"
                : s->unroll == KUNROLL_NONE ? " roll\n"
                                            : "\n");
    print_block(b, &s->body, depth + 1);
}

static void
print_if(struct buf *b, const struct kstmt *s, int depth)
{
    buf_puts(b, "if ");
    print_expr(b, s->a, 0);
    buf_putc(b, '\n');
    print_block(b, &s->body, depth + 1);
    if (s->other.stmts.n) {
        indent(b, depth);
        buf_puts(b, "else\n");
        print_block(b, &s->other, depth + 1);
    }
}

static void
print_stmt(struct buf *b, const struct kstmt *s, int depth)
{
    if (s->kind != KS_BLANK)
        indent(b, depth);
    switch (s->kind) {
    case KS_COMMENT:
        buf_printf(b, "# %s", s->text);
        break;
    case KS_BLANK:
        break;
    case KS_DECL:
    case KS_ARRAY:
        print_decl(b, s);
        break;
    case KS_ASSIGN:
        print_expr(b, s->a, 0);
        buf_puts(b, " = ");
        print_expr(b, s->b, 0);
        break;
    case KS_EVAL:
        print_expr(b, s->a, 0);
        break;
    case KS_FOR:
        print_for(b, s, depth);
        return;
    case KS_IF:
        print_if(b, s, depth);
        return;
    case KS_RETURN:
        buf_puts(b, "return");
        break;
    }
    buf_putc(b, '\n');
}

static void
print_block(struct buf *b, const struct kblock *k, int depth)
{
    for (uint32_t i = 0; i < k->stmts.n; i++)
        print_stmt(b, k->stmts.v[i], depth);
}

void
kernel_print(struct buf *b, const struct kernel *k)
{
    buf_printf(b, "kernel %s threads %d blocks_per_sm %d", k->symbol,
               k->threads, k->min_blocks);
    if (k->cluster > 1)
        buf_printf(b, " cluster %d", k->cluster);
    if (k->uses_smem)
        buf_puts(b, " smem");
    buf_putc(b, '\n');
    if (k->comment)
        buf_printf(b, "  # %s\n", k->comment);
    for (uint32_t i = 0; i < k->params.n; i++)
        buf_printf(b, "  param %s %s\n", k->params.v[i].ctype,
                   k->params.v[i].name);
    print_block(b, &k->body, 1);
}
