/* SPDX-License-Identifier: Apache-2.0 */
/* op_fold: arithmetic on constants. Only what IEEE 754 fixes to the last bit is
 * done here, so that a folded program and one that computes at run time agree,
 * whatever machine compiles it. An f32 operation is done in double and rounded:
 * for + - * / and sqrt that gives the correctly rounded f32 (double has more
 * than twice the digits, and two). A power of +-1/2 counts as a square root. */
#include "support/base.h"

#include "ir/simplify_impl.h"

#include "ir/op_ref.h"

#include <math.h>

/* 1 / sqrt(x) with one rounding but for rare cases: a step of Newton's method
 * in exact products. */
static double
inverse_root(double x)
{
    double y = 1 / sqrt(x), square = y * y;
    double rest = fma(-x, square, 1) - x * fma(y, y, -square);

    return fma(0.5 * y, rest, y);
}

/* 128 ** -0.5 is written for a constant, and shall not become a call of pow in
 * every thread. */
static bool
fold_root(double x, double exponent, double *ret)
{
    if (!(x > 0x1p-500 && x < 0x1p500) || fabs(exponent) != 0.5)
        return false;
    *ret = exponent > 0 ? sqrt(x) : inverse_root(x);
    return true;
}

static bool
fold_float(enum op op, const struct constant *x, double *ret)
{
    switch (op) {
    case OP_ADD:
        *ret = x[0].f + x[1].f;
        return true;
    case OP_SUB:
        *ret = x[0].f - x[1].f;
        return true;
    case OP_MUL:
        *ret = x[0].f * x[1].f;
        return true;
    case OP_DIV:
        *ret = x[0].f / x[1].f;
        return true;
    case OP_NEG:
        *ret = -x[0].f;
        return true;
    case OP_SQRT:
        *ret = sqrt(x[0].f);
        return true;
    case OP_POW:
        return fold_root(x[0].f, x[1].f, ret);
    default:
        return false;
    }
}

static bool
fold_integer(enum op op, enum dtype t, const struct constant *x, int64_t *ret)
{
    uint64_t a = (uint64_t)x[0].i, b = (uint64_t)x[1].i;

    switch (op) {
    case OP_ADD:
        *ret = op_wrap((int64_t)(a + b), t);
        return true;
    case OP_SUB:
        *ret = op_wrap((int64_t)(a - b), t);
        return true;
    case OP_MUL:
        *ret = op_wrap((int64_t)(a * b), t);
        return true;
    case OP_NEG:
        *ret = op_wrap((int64_t)(0 - a), t);
        return true;
    default:
        return false;
    }
}

static bool
fold_cast(enum dtype to, const struct constant *x, struct constant *ret)
{
    bool from_float = dtype_is_float(x->dtype);

    if (dtype_is_storage(to) || (from_float && !dtype_is_float(to)))
        return false;
    if (!dtype_is_float(to))
        ret->i = op_wrap(x->i, to);
    else if (to == DT_F32)
        ret->f = from_float ? (double)(float)x->f : (double)(float)x->i;
    else
        ret->f = from_float ? x->f : (double)x->i;
    return true;
}

bool
op_fold(enum op op, enum dtype result, const struct constant *x,
        struct constant *ret)
{
    *ret = (struct constant){.dtype = result};
    if (op == OP_CAST)
        return fold_cast(result, x, ret);
    if (op_info[op].class != OC_POINTWISE || result == DT_BOOL)
        return false;
    for (int i = 0; i < op_info[op].arity; i++) {
        if (x[i].dtype != result)
            return false;
    }
    if (!dtype_is_float(result))
        return fold_integer(op, result, x, &ret->i);
    if (!fold_float(op, x, &ret->f))
        return false;
    if (result == DT_F32)
        ret->f = (double)(float)ret->f;
    return true;
}

/* A floating format: digits of the significand, exponents of the largest
 * number and of the least one above 0. */
struct format {
    int digits, high, low;
};

static struct format
format_of(enum dtype t)
{
    static const struct format formats[DT_COUNT] = {
        [DT_F16] = {11, 15, -24},   [DT_BF16] = {8, 127, -133},
        [DT_F8E4M3] = {4, 8, -9},   [DT_F8E5M2] = {3, 15, -16},
        [DT_F32] = {24, 127, -149}, [DT_F64] = {53, 1023, -1074},
    };

    return formats[t];
}

/* Bits of the magnitude of an integer or bool. */
static int
magnitude_bits(enum dtype t)
{
    if (t == DT_BOOL)
        return 1;
    return 8 * (int)dtype_info[t].bytes - (dtype_info[t].class == DC_SIGNED);
}

bool
dtype_holds(enum dtype b, enum dtype a)
{
    struct format to = format_of(b), from = format_of(a);

    if (a == b)
        return true;
    if (dtype_is_float(a))
        return dtype_is_float(b) && to.digits >= from.digits &&
               to.high >= from.high && to.low <= from.low &&
               /* e4m3 has no infinity to hold. */
               b != DT_F8E4M3;
    if (dtype_is_float(b))
        return magnitude_bits(a) <= to.digits && magnitude_bits(a) <= to.high;
    if (b == DT_BOOL || (dtype_info[b].class == DC_UNSIGNED &&
                         dtype_info[a].class == DC_SIGNED))
        return false;
    return magnitude_bits(a) <= magnitude_bits(b);
}
