/* SPDX-License-Identifier: Apache-2.0 */
/* kernel: constructors of expressions.
 *
 * Expressions are immutable trees. Those of index arithmetic are folded as they
 * are made, so that a plan with one row group or a vector of one element leaves
 * no `* 1 + 0` in the text; values are never touched here, the graph was
 * simplified before. */
#include "support/base.h"

#include "kernel/kernel.h"

#include "support/arena.h"

#include <stdarg.h>

static struct kexpr *
expr_new(struct arena *a, enum kexpr_kind kind)
{
    struct kexpr *e = NEW(a, struct kexpr);

    e->kind = kind;
    return e;
}

static void
set_args(struct arena *a, struct kexpr *e, uint32_t n,
         const struct kexpr *const *args)
{
    const struct kexpr **copy = NEW_ARRAY(a, const struct kexpr *, n);

    for (uint32_t i = 0; i < n; i++) {
        assert(args[i]);
        copy[i] = args[i];
    }
    e->args = copy;
    e->n_args = n;
}

const struct kexpr *
ke_int(struct arena *a, int64_t v)
{
    struct kexpr *e = expr_new(a, KE_INT);

    e->value.i = v;
    return e;
}

const struct kexpr *
ke_const_int(struct arena *a, enum dtype t, int64_t v)
{
    struct kexpr *e = expr_new(a, KE_CONST);

    assert(!dtype_is_float(t));
    e->dtype = t;
    e->value.i = v;
    return e;
}

const struct kexpr *
ke_const_float(struct arena *a, enum dtype t, double v)
{
    struct kexpr *e = expr_new(a, KE_CONST);

    assert(dtype_is_float(t));
    e->dtype = t;
    e->value.f = v;
    return e;
}

const struct kexpr *
ke_var(struct arena *a, const char *name)
{
    struct kexpr *e = expr_new(a, KE_VAR);

    e->name = name;
    return e;
}

const struct kexpr *
ke_elem(struct arena *a, const struct kexpr *array, const struct kexpr *index)
{
    struct kexpr *e = expr_new(a, KE_ELEM);
    const struct kexpr *const args[2] = {array, index};

    set_args(a, e, 2, args);
    return e;
}

const char *
kernel_symbol_variable(const char *symbol)
{
    return symbol[0] == '$' ? symbol + 1 : symbol;
}

const struct kexpr *
ke_sym(struct arena *a, const struct sym *s)
{
    struct kexpr *e;
    int64_t v;
    const char *name;

    assert(s);
    if (sym_is_int(s, &v))
        return ke_int(a, v);
    if (sym_is_name(s, &name))
        return ke_var(a, kernel_symbol_variable(name));
    e = expr_new(a, KE_SYM);
    e->sym = s;
    return e;
}

const struct kexpr *
ke_op(struct arena *a, enum op op, enum dtype compute, uint32_t n,
      const struct kexpr *const *args)
{
    struct kexpr *e = expr_new(a, KE_OP);

    assert(op < OP_COUNT);
    e->op = op;
    e->dtype = compute;
    set_args(a, e, n, args);
    return e;
}

const struct kexpr *
ke_cast(struct arena *a, enum dtype from, enum dtype to, const struct kexpr *x)
{
    struct kexpr *e = expr_new(a, KE_CAST);

    e->from = from;
    e->dtype = to;
    set_args(a, e, 1, &x);
    return e;
}

const struct kexpr *
ke_call(struct arena *a, const char *name, const char *targs, uint32_t n, ...)
{
    const struct kexpr *args[8];
    struct kexpr *e = expr_new(a, KE_CALL);
    va_list ap;

    assert(n <= ARRAY_LEN(args));
    va_start(ap, n);
    for (uint32_t i = 0; i < n; i++)
        args[i] = va_arg(ap, const struct kexpr *);
    va_end(ap);
    e->name = name;
    e->targs = targs;
    set_args(a, e, n, args);
    return e;
}

/* --- index arithmetic ----------------------------------------------------- */

int
kernel_precedence(const char *c_operator)
{
    static const struct {
        const char *text;
        int precedence;
    } table[] = {
        {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
        {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
        {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].text, c_operator) == 0)
            return table[i].precedence;
    return 0;
}

static bool
is_int(const struct kexpr *e, int64_t *ret)
{
    if (e->kind != KE_INT)
        return false;
    *ret = e->value.i;
    return true;
}

/* The value of x OP y where both are known and small enough not to overflow. */
static bool
fold(const char *op, int64_t x, int64_t y, int64_t *ret)
{
    const int64_t small = INT32_MAX;

    if (x < -small || x > small || y < -small || y > small || op[1] != '\0')
        return false;
    if (op[0] == '+')
        *ret = x + y;
    else if (op[0] == '-')
        *ret = x - y;
    else if (op[0] == '*')
        *ret = x * y;
    else if (op[0] == '/' && y > 0)
        *ret = x / y;
    else if (op[0] == '%' && y > 0)
        *ret = x % y;
    else
        return false;
    return true;
}

/* x OP y where it is one of the two or 0, else NULL. */
static const struct kexpr *
identity(struct arena *a, const char *op, const struct kexpr *x,
         const struct kexpr *y)
{
    int64_t v;

    if (op[1] != '\0')
        return NULL;
    if (is_int(y, &v)) {
        if (v == 0 && (op[0] == '+' || op[0] == '-'))
            return x;
        if (v == 1 && (op[0] == '*' || op[0] == '/'))
            return x;
        if ((v == 0 && op[0] == '*') || (v == 1 && op[0] == '%'))
            return ke_int(a, 0);
    }
    if (is_int(x, &v)) {
        if ((v == 0 && op[0] == '+') || (v == 1 && op[0] == '*'))
            return y;
        if (v == 0 && op[0] == '*')
            return x;
    }
    return NULL;
}

const struct kexpr *
ke_bin(struct arena *a, const char *c_operator, const struct kexpr *x,
       const struct kexpr *y)
{
    const struct kexpr *const args[2] = {x, y};
    const struct kexpr *same;
    struct kexpr *e;
    int64_t vx, vy, v;

    assert(kernel_precedence(c_operator) > 0);
    if (is_int(x, &vx) && is_int(y, &vy) && fold(c_operator, vx, vy, &v))
        return ke_int(a, v);
    same = identity(a, c_operator, x, y);
    if (same)
        return same;
    e = expr_new(a, KE_BIN);
    e->name = c_operator;
    set_args(a, e, 2, args);
    return e;
}
