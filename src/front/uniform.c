/* SPDX-License-Identifier: Apache-2.0 */
/* uniform: arithmetic on what is known without any input: literals, consts and
 * dimension symbols.
 *
 * Integers are symbolic i64 expressions, floats doubles. Only operations whose
 * result doesn't depend on a library are evaluated here, so that every build of
 * the compiler gives the same bytes; the rest become nodes. A quotient of
 * symbols whose divisor is zero at launch is an error of the launch. */
#include "support/base.h"

#include "front/build.h"

#include <math.h>

bool
uniform_int(const struct value *v, int64_t *ret)
{
    return v->kind == V_INT && sym_is_int(v->sym, ret);
}

bool
uniform_number(const struct value *v, double *ret)
{
    int64_t k;

    if (v->kind == V_FLOAT) {
        *ret = v->f;
        return true;
    }
    if (!uniform_int(v, &k))
        return false;
    *ret = (double)k;
    return true;
}

/* --- integers ------------------------------------------------------------ */

typedef const struct sym *sym_fn(struct sym_ctx *, const struct sym *,
                                 const struct sym *);

static const struct sym *
sym_negate(struct sym_ctx *c, const struct sym *a, const struct sym *unused)
{
    (void)unused;
    return sym_sub(c, sym_int(c, 0), a);
}

static const struct sym *
sym_identity(struct sym_ctx *c, const struct sym *a, const struct sym *unused)
{
    (void)c;
    (void)unused;
    return a;
}

/* Symbolic rules; `divides` where the second operand must not be 0. */
static const struct int_rule {
    enum op op;
    sym_fn *fn;
    bool divides;
} int_rules[] = {
    {OP_NEG, sym_negate, false},     {OP_ADD, sym_add, false},
    {OP_SUB, sym_sub, false},        {OP_MUL, sym_mul, false},
    {OP_FLOORDIV, sym_div, true},    {OP_MOD, sym_mod, true},
    {OP_MINIMUM, sym_min, false},    {OP_MAXIMUM, sym_max, false},
    {OP_FLOOR, sym_identity, false}, {OP_CEIL, sym_identity, false},
    {OP_ROUND, sym_identity, false}, {OP_TRUNC, sym_identity, false},
};

static int64_t
int_bitand(int64_t a, int64_t b)
{
    return a & b;
}

static int64_t
int_bitor(int64_t a, int64_t b)
{
    return a | b;
}

static int64_t
int_bitxor(int64_t a, int64_t b)
{
    return a ^ b;
}

static int64_t
int_bitnot(int64_t a, int64_t unused)
{
    (void)unused;
    return ~a;
}

static int64_t
int_shl(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a << (b & 63));
}

static int64_t
int_shr(int64_t a, int64_t b)
{
    uint64_t sign = a < 0 ? UINT64_MAX : 0;
    unsigned n = (unsigned)(b & 63);

    return n == 0 ? a : (int64_t)((uint64_t)a >> n | sign << (64 - n));
}

/* Rules for two constants. */
static const struct bit_rule {
    enum op op;
    int64_t (*fn)(int64_t, int64_t);
} bit_rules[] = {
    {OP_BITAND, int_bitand}, {OP_BITOR, int_bitor}, {OP_BITXOR, int_bitxor},
    {OP_BITNOT, int_bitnot}, {OP_SHL, int_shl},     {OP_SHR, int_shr},
};

static bool
fold_int_power(struct build *b, const struct value *args, struct span where,
               struct value *ret)
{
    const struct sym *r = sym_int(b->syms, 1);
    bool sized = args[0].sized || args[1].sized;
    int64_t n, base;
    double f;

    if (!uniform_int(&args[1], &n))
        return false;
    if (n > 64) { /* fits only for 0, 1 and -1 */
        if (!uniform_int(&args[0], &base))
            return false;
        r = base > 1 || base < -1 ? NULL : sym_int(b->syms, base);
        if (base == -1 && n % 2 == 0)
            r = sym_int(b->syms, 1);
        *ret = build_sym(b, r, sized, where);
        return true;
    }
    if (n < 0) {
        if (!uniform_number(&args[0], &f) || n < -64)
            return false;
        *ret = build_float(1, where);
        for (; n < 0; n++)
            ret->f *= f;
        ret->f = 1 / ret->f;
        return true;
    }
    for (; n > 0; n--)
        r = sym_mul(b->syms, r, args[0].sym);
    *ret = build_sym(b, r, sized, where);
    return true;
}

static bool
fold_symbolic(struct build *b, const struct int_rule *rule,
              const struct value *args, uint32_t n, struct value *ret)
{
    const struct sym *y = n > 1 ? args[1].sym : NULL;
    struct span where = ret->span;
    int64_t k;

    if (rule->divides && sym_is_int(y, &k) && k == 0) {
        *ret = build_int(b, 0, where);
        return true;
    }
    *ret = build_sym(b, rule->fn(b->syms, args[0].sym, y),
                     args[0].sized || (n > 1 && args[1].sized), where);
    return true;
}

static bool
fold_ints(struct build *b, enum op op, const struct value *args, uint32_t n,
          struct value *ret)
{
    int64_t x, y = 0;

    for (size_t i = 0; i < ARRAY_LEN(int_rules); i++) {
        if (int_rules[i].op == op)
            return fold_symbolic(b, &int_rules[i], args, n, ret);
    }
    if (op == OP_POW)
        return fold_int_power(b, args, ret->span, ret);
    if (!uniform_int(&args[0], &x) || (n > 1 && !uniform_int(&args[1], &y)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(bit_rules); i++) {
        if (bit_rules[i].op != op)
            continue;
        *ret = build_sym(b, sym_int(b->syms, bit_rules[i].fn(x, y)),
                         args[0].sized || (n > 1 && args[1].sized), ret->span);
        return true;
    }
    return false;
}

/* --- comparisons --------------------------------------------------------- */

/* The truth of an operation by the order of its operands: bits for <, ==, >,
 * and for operands without an order (NaN). */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct order_rule {
    enum op op;
    int true_for;
} order_rules[] = {
    {OP_EQ, EQUAL},   {OP_NE, LESS | GREATER | UNORDERED},
    {OP_LT, LESS},    {OP_LE, LESS | EQUAL},
    {OP_GT, GREATER}, {OP_GE, GREATER | EQUAL},
};

static int
order_of(const struct value *x, const struct value *y)
{
    int64_t i, j;
    double f, g;

    if (x->kind == V_BOOL && y->kind == V_BOOL)
        return x->b == y->b ? EQUAL : x->b ? GREATER : LESS;
    if (uniform_int(x, &i) && uniform_int(y, &j))
        return i == j ? EQUAL : i < j ? LESS : GREATER;
    if (!uniform_number(x, &f) || !uniform_number(y, &g))
        return 0;
    return f == g ? EQUAL : f < g ? LESS : f > g ? GREATER : UNORDERED;
}

static bool
fold_comparison(enum op op, const struct value *args, struct value *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(order_rules); i++) {
        int order;

        if (order_rules[i].op != op)
            continue;
        order = order_of(&args[0], &args[1]);
        if (order == 0)
            return false;
        *ret = build_bool(order_rules[i].true_for & order, ret->span);
        return true;
    }
    return false;
}

/* --- floats -------------------------------------------------------------- */

static double
real_add(double x, double y)
{
    return x + y;
}

static double
real_sub(double x, double y)
{
    return x - y;
}

static double
real_mul(double x, double y)
{
    return x * y;
}

static double
real_div(double x, double y)
{
    return x / y;
}

static double
real_neg(double x, double unused)
{
    (void)unused;
    return -x;
}

static double
real_abs(double x, double unused)
{
    (void)unused;
    return fabs(x);
}

static double
real_sqrt(double x, double unused)
{
    (void)unused;
    return sqrt(x);
}

static double
real_floor(double x, double unused)
{
    (void)unused;
    return floor(x);
}

static double
real_ceil(double x, double unused)
{
    (void)unused;
    return ceil(x);
}

static double
real_trunc(double x, double unused)
{
    (void)unused;
    return trunc(x);
}

static double
real_reciprocal(double x, double unused)
{
    (void)unused;
    return 1 / x;
}

/* Correctly rounded or exact, hence the same everywhere. */
static const struct real_rule {
    enum op op;
    double (*fn)(double, double);
} real_rules[] = {
    {OP_ADD, real_add},
    {OP_SUB, real_sub},
    {OP_MUL, real_mul},
    {OP_DIV, real_div},
    {OP_NEG, real_neg},
    {OP_ABS, real_abs},
    {OP_SQRT, real_sqrt},
    {OP_FLOOR, real_floor},
    {OP_CEIL, real_ceil},
    {OP_TRUNC, real_trunc},
    {OP_RECIPROCAL, real_reciprocal},
};

/* x ** n with a small constant integer n, as build_power would multiply. */
static bool
fold_real_power(const struct value *args, struct value *ret)
{
    double x, p = 1;
    int64_t n;

    if (!uniform_number(&args[0], &x) || !uniform_int(&args[1], &n) ||
        args[1].sized || n < -4 || n > 4)
        return false;
    switch (n < 0 ? -n : n) {
    case 4:
        p = (x * x) * (x * x);
        break;
    case 3:
        p = (x * x) * x;
        break;
    case 2:
        p = x * x;
        break;
    case 1:
        p = x;
        break;
    default:
        break;
    }
    *ret = build_float(n < 0 ? 1 / p : p, ret->span);
    return true;
}

static bool
fold_reals(enum op op, const struct value *args, uint32_t n, struct value *ret)
{
    double x, y = 0;

    if (op == OP_POW)
        return fold_real_power(args, ret);
    if (!uniform_number(&args[0], &x) ||
        (n > 1 && !uniform_number(&args[1], &y)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(real_rules); i++) {
        if (real_rules[i].op == op) {
            *ret = build_float(real_rules[i].fn(x, y), ret->span);
            return true;
        }
    }
    return false;
}

/* --- bools --------------------------------------------------------------- */

static bool
fold_bools(enum op op, const struct value *args, uint32_t n, struct value *ret)
{
    bool x = args[0].b, y = n > 1 && args[1].b;

    /* Truth for (x, y) = 00 01 10 11, one bit each. */
    static const struct bool_rule {
        enum op op;
        unsigned table;
    } rules[] = {
        {OP_LAND, 0x8},   {OP_LOR, 0xe},     {OP_LNOT, 0x1},
        {OP_BITAND, 0x8}, {OP_BITOR, 0xe},   {OP_BITXOR, 0x6},
        {OP_BITNOT, 0x1}, {OP_MINIMUM, 0x8}, {OP_MAXIMUM, 0xe},
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].op == op) {
            *ret = build_bool(rules[i].table >> (2 * x + y) & 1, ret->span);
            return true;
        }
    }
    return false;
}

/* cond ? a : b with a known condition, in the type of both. */
static bool
fold_select(const struct value *args, struct value *ret)
{
    const struct value *pick = args[0].b ? &args[1] : &args[2];
    const struct value *other = args[0].b ? &args[2] : &args[1];
    struct span where = ret->span;
    double f;

    if (args[0].kind != V_BOOL)
        return false;
    if (pick->kind == other->kind && pick->kind != V_NODE) {
        *ret = *pick;
        ret->sized = pick->sized || other->sized;
        ret->name = NULL;
        ret->span = where;
        return true;
    }
    if (uniform_number(pick, &f) && uniform_number(other, &(double){0})) {
        *ret = build_float(f, where);
        return true;
    }
    return false;
}

bool
uniform_fold(struct build *b, enum op op, const struct value *args, uint32_t n,
             struct span where, struct value *ret)
{
    uint32_t ints = 0, bools = 0, floats = 0;

    *ret = build_poison(where);
    if (op == OP_WHERE)
        return fold_select(args, ret);
    for (uint32_t i = 0; i < n; i++) {
        ints += args[i].kind == V_INT;
        bools += args[i].kind == V_BOOL;
        floats += args[i].kind == V_FLOAT;
    }
    if (op_info[op].type == OT_BOOL && n == 2)
        return fold_comparison(op, args, ret);
    if (ints == n && fold_ints(b, op, args, n, ret))
        return true;
    if (bools == n)
        return fold_bools(op, args, n, ret);
    if (ints == n && op_info[op].type != OT_FLOAT)
        return false;
    return ints + floats == n && fold_reals(op, args, n, ret);
}
