/* SPDX-License-Identifier: Apache-2.0 */
/* op_int: what the operations mean on integers and bools. Arithmetic is done
 * on uint64_t, where it wraps, and the low bits are kept. */
#include "support/base.h"

#include "ir/op_ref.h"

#include <math.h>

int64_t
op_wrap(int64_t v, enum dtype t)
{
    switch (dtype_info[t].class) {
    case DC_BOOL:
        return v != 0;
    case DC_UNSIGNED:
        return (int64_t)((uint64_t)v & 0xff);
    case DC_SIGNED: {
        uint64_t sign = UINT64_C(1) << (8 * dtype_info[t].bytes - 1);
        uint64_t low = (uint64_t)v & (sign | (sign - 1));

        return (int64_t)((low ^ sign) - sign);
    }
    case DC_STORAGE:
    case DC_FLOAT:
        break;
    }
    BUG("%s isn't an integer type", dtype_info[t].name);
}

int64_t
op_int_min(enum dtype t)
{
    if (dtype_info[t].class != DC_SIGNED)
        return 0;
    return op_wrap((int64_t)(UINT64_C(1) << (8 * dtype_info[t].bytes - 1)), t);
}

int64_t
op_int_max(enum dtype t)
{
    return t == DT_BOOL ? 1 : op_wrap(~op_int_min(t), t);
}

double
op_identity(enum op op)
{
    const char *s = op_info[op].ident;

    assert(s != NULL);
    if (strcmp(s, "-inf") == 0)
        return -(double)INFINITY;
    if (strcmp(s, "inf") == 0)
        return (double)INFINITY;
    return s[0] - '0';
}

int64_t
op_identity_int(enum op op, enum dtype t)
{
    double v = op_identity(op);

    if (isinf(v))
        return v < 0 ? op_int_min(t) : op_int_max(t);
    return (int64_t)v;
}

static int64_t
wrap(uint64_t v, enum dtype t)
{
    return op_wrap((int64_t)v, t);
}

static int64_t
int_add(const int64_t *x, enum dtype t)
{
    return wrap((uint64_t)x[0] + (uint64_t)x[1], t);
}

static int64_t
int_sub(const int64_t *x, enum dtype t)
{
    return wrap((uint64_t)x[0] - (uint64_t)x[1], t);
}

static int64_t
int_mul(const int64_t *x, enum dtype t)
{
    return wrap((uint64_t)x[0] * (uint64_t)x[1], t);
}

static int64_t
int_neg(const int64_t *x, enum dtype t)
{
    return wrap(-(uint64_t)x[0], t);
}

/* C's remainder, 0 for a zero divisor. */
static int64_t
int_rem(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[1] == 0 || x[1] == -1 ? 0 : x[0] % x[1];
}

static int64_t
int_floordiv(const int64_t *x, enum dtype t)
{
    if (x[1] == 0)
        return 0;
    if (x[1] == -1)
        return int_neg(x, t);
    return x[0] / x[1] - (x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0));
}

static int64_t
int_mod(const int64_t *x, enum dtype t)
{
    int64_t r = int_rem(x, t);

    return r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

/* Square and multiply; 1 and -1 alone have inverses, 0 for the rest. */
static int64_t
int_pow(const int64_t *x, enum dtype t)
{
    uint64_t base = (uint64_t)x[0], ret = 1;

    if (x[1] < 0) {
        if (x[0] == 1 || x[0] == -1)
            return x[0] == 1 || x[1] % 2 == 0 ? 1 : -1;
        return 0;
    }
    for (int64_t n = x[1]; n > 0; n /= 2) {
        if (n % 2 == 1)
            ret *= base;
        base *= base;
    }
    return wrap(ret, t);
}

static int64_t
int_eq(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] == x[1];
}

static int64_t
int_ne(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] != x[1];
}

static int64_t
int_lt(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] < x[1];
}

static int64_t
int_le(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] <= x[1];
}

static int64_t
int_gt(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] > x[1];
}

static int64_t
int_ge(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] >= x[1];
}

static int64_t
int_and(const int64_t *x, enum dtype t)
{
    return op_wrap(x[0] & x[1], t);
}

static int64_t
int_or(const int64_t *x, enum dtype t)
{
    return op_wrap(x[0] | x[1], t);
}

static int64_t
int_xor(const int64_t *x, enum dtype t)
{
    return op_wrap(x[0] ^ x[1], t);
}

static int64_t
int_not(const int64_t *x, enum dtype t)
{
    return t == DT_BOOL ? !x[0] : op_wrap(~x[0], t);
}

static int64_t
int_lnot(const int64_t *x, enum dtype t)
{
    (void)t;
    return !x[0];
}

/* Shift counts are taken modulo the width of the left operand. */
static unsigned
shift_count(int64_t count, enum dtype t)
{
    return (unsigned)((uint64_t)count & (8 * dtype_info[t].bytes - 1));
}

static int64_t
int_shl(const int64_t *x, enum dtype t)
{
    return wrap((uint64_t)x[0] << shift_count(x[1], t), t);
}

static int64_t
int_shr(const int64_t *x, enum dtype t)
{
    unsigned n = shift_count(x[1], t);
    uint64_t flip = x[0] < 0 ? UINT64_MAX : 0; /* copies the sign bit */

    return (int64_t)((((uint64_t)x[0] ^ flip) >> n) ^ flip);
}

static int64_t
int_abs(const int64_t *x, enum dtype t)
{
    return x[0] < 0 ? int_neg(x, t) : x[0];
}

static int64_t
int_sign(const int64_t *x, enum dtype t)
{
    (void)t;
    return (x[0] > 0) - (x[0] < 0);
}

static int64_t
int_same(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0];
}

static int64_t
int_zero(const int64_t *x, enum dtype t)
{
    (void)x;
    (void)t;
    return 0;
}

static int64_t
int_one(const int64_t *x, enum dtype t)
{
    (void)x;
    (void)t;
    return 1;
}

static int64_t
int_relu(const int64_t *x, enum dtype t)
{
    (void)t;
    return MAX(x[0], 0);
}

static int64_t
int_signbit(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] < 0;
}

static int64_t
int_minimum(const int64_t *x, enum dtype t)
{
    (void)t;
    return MIN(x[0], x[1]);
}

static int64_t
int_maximum(const int64_t *x, enum dtype t)
{
    (void)t;
    return MAX(x[0], x[1]);
}

static int64_t
int_where(const int64_t *x, enum dtype t)
{
    (void)t;
    return x[0] ? x[1] : x[2];
}

/* Bools are 0 and 1, so that && and || are the bitwise operations. */
op_int_fn *const op_ref_int[OP_COUNT] = {
    [OP_ADD] = int_add,         [OP_SUB] = int_sub,
    [OP_MUL] = int_mul,         [OP_FLOORDIV] = int_floordiv,
    [OP_MOD] = int_mod,         [OP_NEG] = int_neg,
    [OP_EQ] = int_eq,           [OP_NE] = int_ne,
    [OP_LT] = int_lt,           [OP_LE] = int_le,
    [OP_GT] = int_gt,           [OP_GE] = int_ge,
    [OP_BITAND] = int_and,      [OP_BITOR] = int_or,
    [OP_BITXOR] = int_xor,      [OP_BITNOT] = int_not,
    [OP_LAND] = int_and,        [OP_LOR] = int_or,
    [OP_LNOT] = int_lnot,       [OP_SHL] = int_shl,
    [OP_SHR] = int_shr,         [OP_ABS] = int_abs,
    [OP_SIGN] = int_sign,       [OP_CEIL] = int_same,
    [OP_FLOOR] = int_same,      [OP_ROUND] = int_same,
    [OP_TRUNC] = int_same,      [OP_FRAC] = int_zero,
    [OP_RELU] = int_relu,       [OP_ISNAN] = int_zero,
    [OP_ISINF] = int_zero,      [OP_ISFINITE] = int_one,
    [OP_SIGNBIT] = int_signbit, [OP_POW] = int_pow,
    [OP_FMOD] = int_rem,        [OP_REMAINDER] = int_mod,
    [OP_MINIMUM] = int_minimum, [OP_MAXIMUM] = int_maximum,
    [OP_WHERE] = int_where,     [OP_SUM] = int_add,
    [OP_PROD] = int_mul,        [OP_MAX] = int_maximum,
    [OP_MIN] = int_minimum,     [OP_ANY] = int_or,
    [OP_ALL] = int_and,         [OP_ARGMAX] = int_maximum,
    [OP_ARGMIN] = int_minimum,  [OP_CUMSUM] = int_add,
    [OP_CUMPROD] = int_mul,     [OP_CUMMAX] = int_maximum,
    [OP_CUMMIN] = int_minimum,
};
