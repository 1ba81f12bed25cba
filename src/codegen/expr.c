/* SPDX-License-Identifier: Apache-2.0 */
/* expr: expressions as C++. */
#include "support/base.h"

#include "codegen/codegen_impl.h"

#include "support/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRIMARY = 99 };

static void
int_literal(struct buf *b, int64_t v, bool wide)
{
    if (v == INT64_MIN)
        buf_puts(b, "(-9223372036854775807ll - 1)");
    else if (v == INT32_MIN && !wide)
        buf_puts(b, "(-2147483647 - 1)");
    else
        buf_printf(b, v < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", v,
                   wide ? "ll" : "");
}

/* The shortest decimal that reads back as the same float. */
static void
float_digits(char *text, size_t size, double v)
{
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, size, "%.*g", digits, v);
        if (strtof(text, NULL) == (float)v)
            return;
    }
}

static void
float_literal(struct buf *b, enum dtype t, double v)
{
    const char *suffix = dtype_compute(t) == DT_F64 ? "" : "f";
    char text[64];
    bool negative = signbit(v);

    if (isnan(v)) {
        buf_printf(b, "fu_nan%s()", suffix);
        return;
    }
    if (negative)
        buf_puts(b, "(-");
    if (isinf(v)) {
        buf_printf(b, "fu_inf%s()", suffix);
    } else if (*suffix) {
        float_digits(text, sizeof(text), fabs(v));
        buf_printf(b, "%s%sf", text, strpbrk(text, ".e") ? "" : ".0");
    } else {
        buf_double(b, fabs(v));
    }
    if (negative)
        buf_putc(b, ')');
}

static void
constant(struct buf *b, const struct kexpr *e)
{
    if (dtype_is_float(e->dtype))
        float_literal(b, e->dtype, e->value.f);
    else if (e->dtype == DT_BOOL)
        buf_puts(b, e->value.i ? "true" : "false");
    else if (e->dtype == DT_I64)
        int_literal(b, e->value.i, true);
    else if (e->dtype == DT_I32)
        int_literal(b, e->value.i, false);
    else
        buf_printf(b, "%s(%" PRId64 ")", dtype_info[e->dtype].reg, e->value.i);
}

static void
args(struct buf *b, const struct kexpr *e)
{
    buf_putc(b, '(');
    for (uint32_t i = 0; i < e->n_args; i++) {
        if (i)
            buf_puts(b, ", ");
        cuda_expr(b, e->args[i], 0);
    }
    buf_putc(b, ')');
}

static void
call(struct buf *b, const struct kexpr *e)
{
    buf_puts(b, e->name);
    if (e->targs)
        buf_printf(b, "<%s>", e->targs);
    args(b, e);
}

/* "(...)" whose first parenthesis closes at the end. */
static bool
is_wrapped(const char *s, size_t n)
{
    int depth = 0;

    for (size_t i = 0; i < n; i++) {
        depth += (s[i] == '(') - (s[i] == ')');
        if (depth == 0 && i + 1 < n)
            return false;
    }
    return n > 2 && s[0] == '(';
}

/* The spelling of the operation's row with its operands put in; a pair of
 * parentheses round it all goes where nothing stands beside it. */
static void
operation(struct buf *b, const struct kexpr *e, int outer)
{
    const struct op_info *info = &op_info[e->op];
    const char *s = info->spell_float;
    size_t n;

    if (!s || (!dtype_is_float(e->dtype) && info->spell_int))
        s = info->spell_int;
    assert(s);
    n = strlen(s);
    if (outer == 0 && is_wrapped(s, n)) {
        s++;
        n -= 2;
    }
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '%') {
            buf_putc(b, s[i]);
            continue;
        }
        i++;
        assert(s[i] >= '0' && (uint32_t)(s[i] - '0') < e->n_args);
        cuda_expr(b, e->args[s[i] - '0'], PRIMARY);
    }
}

static void
binary(struct buf *b, const struct kexpr *e, int outer)
{
    int p = kernel_precedence(e->name);
    bool wrap = p < outer;

    if (wrap)
        buf_putc(b, '(');
    cuda_expr(b, e->args[0], p);
    buf_printf(b, " %s ", e->name);
    cuda_expr(b, e->args[1], p + 1);
    if (wrap)
        buf_putc(b, ')');
}

static const char *
variable(void *data, const char *symbol)
{
    (void)data;
    return kernel_symbol_variable(symbol);
}

void
cuda_expr(struct buf *b, const struct kexpr *e, int outer)
{
    switch (e->kind) {
    case KE_INT:
        int_literal(b, e->value.i,
                    e->value.i > INT32_MAX || e->value.i < INT32_MIN);
        break;
    case KE_CONST:
        constant(b, e);
        break;
    case KE_VAR:
        buf_puts(b, e->name);
        break;
    case KE_ELEM:
        cuda_expr(b, e->args[0], PRIMARY);
        buf_putc(b, '[');
        cuda_expr(b, e->args[1], 0);
        buf_putc(b, ']');
        break;
    case KE_SYM:
        buf_puts(b, outer ? "(" : "");
        sym_print_c(b, e->sym, variable, NULL);
        buf_puts(b, outer ? ")" : "");
        break;
    case KE_OP:
        operation(b, e, outer);
        break;
    case KE_CAST:
        buf_printf(b, "fu_cast_%s", dtype_info[e->dtype].name);
        args(b, e);
        break;
    case KE_CALL:
        call(b, e);
        break;
    case KE_BIN:
        binary(b, e, outer);
        break;
    }
}
