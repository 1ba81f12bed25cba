/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations are, said once more, in MPFR. */
#include "accuracy.h"

#include "ir/op_ref.h"

#include <math.h>

typedef int unary_fn(mpfr_ptr r, mpfr_srcptr a, mpfr_rnd_t rnd);
typedef int binary_fn(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t rnd);
typedef void other_fn(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c);

/* --- functions of one value ----------------------------------------------- */

static void
exact_sign(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    if (mpfr_nan_p(a) || mpfr_zero_p(a))
        mpfr_set(r, a, MPFR_RNDN);
    else
        mpfr_set_si(r, mpfr_sgn(a), MPFR_RNDN);
}

static void
exact_rsqrt(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    mpfr_sqrt(r, a, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

static void
exact_reciprocal(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    mpfr_ui_div(r, 1, a, MPFR_RNDN);
}

static void
exact_lgamma(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    int sign;

    (void)b, (void)c;
    mpfr_lgamma(r, &sign, a, MPFR_RNDN);
}

static void
exact_trunc(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    mpfr_rint_trunc(r, a, MPFR_RNDN);
}

/* x - trunc(x): +0 for integers, NaN for infinities. */
static void
exact_frac(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    exact_trunc(r, a, b, c);
    mpfr_sub(r, a, r, MPFR_RNDN);
}

static void
exact_sigmoid(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    mpfr_neg(r, a, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_add_ui(r, r, 1, MPFR_RNDN);
    mpfr_ui_div(r, 1, r, MPFR_RNDN);
}

static void
exact_silu(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    exact_sigmoid(r, a, b, c);
    mpfr_mul(r, r, a, MPFR_RNDN);
}

static void
exact_relu(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)b, (void)c;
    if (mpfr_nan_p(a) || mpfr_sgn(a) > 0)
        mpfr_set(r, a, MPFR_RNDN);
    else
        mpfr_set_zero(r, 1);
}

/* y - (erf(y) - a) / erf'(y), of erfc where that would cancel. Doubles the
 * digits of y. */
static void
newton_step(mpfr_ptr y, mpfr_srcptr a)
{
    mpfr_t f, slope;

    mpfr_inits2(ACC_PRECISION + 32, f, slope, (mpfr_ptr)NULL);
    if (mpfr_cmp_d(a, 0.5) < 0) {
        mpfr_erf(f, y, MPFR_RNDN);
        mpfr_sub(f, f, a, MPFR_RNDN);
    } else {
        mpfr_ui_sub(slope, 1, a, MPFR_RNDN);
        mpfr_erfc(f, y, MPFR_RNDN);
        mpfr_sub(f, slope, f, MPFR_RNDN);
    }
    mpfr_sqr(slope, y, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul(f, f, slope, MPFR_RNDN);
    mpfr_const_pi(slope, MPFR_RNDN);
    mpfr_sqrt(slope, slope, MPFR_RNDN);
    mpfr_mul(f, f, slope, MPFR_RNDN);
    mpfr_div_2ui(f, f, 1, MPFR_RNDN);
    mpfr_sub(y, y, f, MPFR_RNDN);
    mpfr_clears(f, slope, (mpfr_ptr)NULL);
}

/* Newton from the interpreter's double, which only has to be near. */
static void
exact_erfinv(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    double x = mpfr_get_d(a, MPFR_RNDN), start;
    double size = fabs(x);
    mpfr_t y, to;

    (void)b, (void)c;
    if (!(size < 1) || x == 0) {
        mpfr_set_d(r,
                   size == 1 ? x * (double)INFINITY
                   : x == 0  ? x
                             : NAN,
                   MPFR_RNDN);
        return;
    }
    start = op_ref_double[OP_ERFINV](&size);
    mpfr_inits2(ACC_PRECISION + 32, y, to, (mpfr_ptr)NULL);
    mpfr_abs(to, a, MPFR_RNDN);
    mpfr_set_d(y, start, MPFR_RNDN);
    for (int i = 0; i < 4; i++)
        newton_step(y, to);
    mpfr_setsign(r, y, x < 0, MPFR_RNDN);
    mpfr_clears(y, to, (mpfr_ptr)NULL);
}

/* --- functions of more ---------------------------------------------------- */

/* The quotient rounded down is never above an integer that the exact one is
 * below. */
static void
exact_floordiv(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)c;
    mpfr_div(r, a, b, MPFR_RNDD);
    mpfr_rint_floor(r, r, MPFR_RNDN);
}

static void
exact_mod(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)c;
    mpfr_fmod(r, a, b, MPFR_RNDN);
    if (mpfr_number_p(r) && !mpfr_zero_p(r) &&
        mpfr_signbit(r) != mpfr_signbit(b))
        mpfr_add(r, r, b, MPFR_RNDN);
}

/* NaN wins, +0 above -0. */
static void
exact_extreme(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, int sign)
{
    int order;

    if (mpfr_nan_p(a) || mpfr_nan_p(b)) {
        mpfr_set_nan(r);
        return;
    }
    order = mpfr_cmp(a, b);
    if (order == 0)
        order = !!mpfr_signbit(b) - !!mpfr_signbit(a);
    mpfr_set(r, order * sign >= 0 ? a : b, MPFR_RNDN);
}

static void
exact_maximum(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)c;
    exact_extreme(r, a, b, 1);
}

static void
exact_minimum(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    (void)c;
    exact_extreme(r, a, b, -1);
}

static void
exact_fma(mpfr_ptr r, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    mpfr_fma(r, a, b, c, MPFR_RNDN);
}

/* MPFR's NaN has no sign. */
static bool
by_definition(enum op op, enum dtype t, mpfr_ptr r, const double *x)
{
    if (op == OP_COPYSIGN)
        mpfr_set_d(r, copysign(x[0], x[1]), MPFR_RNDN);
    else if (op == OP_NEXTAFTER && t == DT_F32)
        mpfr_set_d(r, nextafterf((float)x[0], (float)x[1]), MPFR_RNDN);
    else if (op == OP_NEXTAFTER)
        mpfr_set_d(r, nextafter(x[0], x[1]), MPFR_RNDN);
    else
        return false;
    return true;
}

static unary_fn *const unary[OP_COUNT] = {
    [OP_NEG] = mpfr_neg,          [OP_ABS] = mpfr_abs,
    [OP_EXP] = mpfr_exp,          [OP_EXP2] = mpfr_exp2,
    [OP_EXPM1] = mpfr_expm1,      [OP_LOG] = mpfr_log,
    [OP_LOG2] = mpfr_log2,        [OP_LOG10] = mpfr_log10,
    [OP_LOG1P] = mpfr_log1p,      [OP_SQRT] = mpfr_sqrt,
    [OP_CBRT] = mpfr_cbrt,        [OP_SIN] = mpfr_sin,
    [OP_COS] = mpfr_cos,          [OP_TAN] = mpfr_tan,
    [OP_ASIN] = mpfr_asin,        [OP_ACOS] = mpfr_acos,
    [OP_ATAN] = mpfr_atan,        [OP_SINH] = mpfr_sinh,
    [OP_COSH] = mpfr_cosh,        [OP_TANH] = mpfr_tanh,
    [OP_ASINH] = mpfr_asinh,      [OP_ACOSH] = mpfr_acosh,
    [OP_ATANH] = mpfr_atanh,      [OP_ERF] = mpfr_erf,
    [OP_ERFC] = mpfr_erfc,        [OP_CEIL] = mpfr_rint_ceil,
    [OP_FLOOR] = mpfr_rint_floor, [OP_ROUND] = mpfr_rint_roundeven,
    [OP_TRUNC] = mpfr_rint_trunc,
};

static binary_fn *const binary[OP_COUNT] = {
    [OP_ADD] = mpfr_add,   [OP_SUB] = mpfr_sub,     [OP_MUL] = mpfr_mul,
    [OP_DIV] = mpfr_div,   [OP_POW] = mpfr_pow,     [OP_ATAN2] = mpfr_atan2,
    [OP_FMOD] = mpfr_fmod, [OP_HYPOT] = mpfr_hypot,
};

static other_fn *const other[OP_COUNT] = {
    [OP_SIGN] = exact_sign,       [OP_RSQRT] = exact_rsqrt,
    [OP_LGAMMA] = exact_lgamma,   [OP_RECIPROCAL] = exact_reciprocal,
    [OP_FRAC] = exact_frac,       [OP_SIGMOID] = exact_sigmoid,
    [OP_SILU] = exact_silu,       [OP_RELU] = exact_relu,
    [OP_ERFINV] = exact_erfinv,   [OP_FLOORDIV] = exact_floordiv,
    [OP_MOD] = exact_mod,         [OP_REMAINDER] = exact_mod,
    [OP_MAXIMUM] = exact_maximum, [OP_MINIMUM] = exact_minimum,
    [OP_FMA] = exact_fma,
};

/* Steps in f32 and f64; a half type has no step of its own. */
bool
exact_known(enum op op, enum dtype t)
{
    if (op == OP_NEXTAFTER)
        return t == DT_F32 || t == DT_F64;
    return op == OP_COPYSIGN || unary[op] || binary[op] || other[op];
}

void
exact_value(enum op op, enum dtype t, mpfr_ptr r, const double *x)
{
    mpfr_t a[3];

    if (by_definition(op, t, r, x))
        return;
    for (int i = 0; i < 3; i++) {
        mpfr_init2(a[i], 64);
        mpfr_set_d(a[i], x[i], MPFR_RNDN);
    }
    if (unary[op])
        unary[op](r, a[0], MPFR_RNDN);
    else if (binary[op])
        binary[op](r, a[0], a[1], MPFR_RNDN);
    else
        other[op](r, a[0], a[1], a[2]);
    for (int i = 0; i < 3; i++)
        mpfr_clear(a[i]);
}
