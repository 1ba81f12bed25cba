// The mathematical functions, one name for float and double each. sqrt is
// correctly rounded, rounding is to even; the rest as accurate as CUDA's table
// says (src/ir/ops.def repeats it).
// Cost:   2 instructions (floor) to some 70 (lgamma); sin, cos and tan of large
//         arguments use a stack frame.
#pragma once
#include "types.cuh"

static __device__ __forceinline__ float fu_exp(float x) { return expf(x); }
static __device__ __forceinline__ double fu_exp(double x) { return exp(x); }
static __device__ __forceinline__ float fu_exp2(float x) { return exp2f(x); }
static __device__ __forceinline__ double fu_exp2(double x) { return exp2(x); }
static __device__ __forceinline__ float fu_expm1(float x) { return expm1f(x); }
static __device__ __forceinline__ double fu_expm1(double x) { return expm1(x); }
static __device__ __forceinline__ float fu_log(float x) { return logf(x); }
static __device__ __forceinline__ double fu_log(double x) { return log(x); }
static __device__ __forceinline__ float fu_log2(float x) { return log2f(x); }
static __device__ __forceinline__ double fu_log2(double x) { return log2(x); }
static __device__ __forceinline__ float fu_log10(float x) { return log10f(x); }
static __device__ __forceinline__ double fu_log10(double x) { return log10(x); }
static __device__ __forceinline__ float fu_log1p(float x) { return log1pf(x); }
static __device__ __forceinline__ double fu_log1p(double x) { return log1p(x); }
static __device__ __forceinline__ float fu_sqrt(float x) { return sqrtf(x); }
static __device__ __forceinline__ double fu_sqrt(double x) { return sqrt(x); }
static __device__ __forceinline__ float fu_cbrt(float x) { return cbrtf(x); }
static __device__ __forceinline__ float fu_sin(float x) { return sinf(x); }
static __device__ __forceinline__ double fu_sin(double x) { return sin(x); }
static __device__ __forceinline__ float fu_cos(float x) { return cosf(x); }
static __device__ __forceinline__ double fu_cos(double x) { return cos(x); }
static __device__ __forceinline__ float fu_tan(float x) { return tanf(x); }
static __device__ __forceinline__ double fu_tan(double x) { return tan(x); }
static __device__ __forceinline__ float fu_asin(float x) { return asinf(x); }
static __device__ __forceinline__ double fu_asin(double x) { return asin(x); }
static __device__ __forceinline__ float fu_acos(float x) { return acosf(x); }
static __device__ __forceinline__ double fu_acos(double x) { return acos(x); }
static __device__ __forceinline__ float fu_atan(float x) { return atanf(x); }
static __device__ __forceinline__ double fu_atan(double x) { return atan(x); }
static __device__ __forceinline__ float fu_sinh(float x) { return sinhf(x); }
static __device__ __forceinline__ double fu_sinh(double x) { return sinh(x); }
static __device__ __forceinline__ float fu_cosh(float x) { return coshf(x); }
static __device__ __forceinline__ double fu_cosh(double x) { return cosh(x); }
static __device__ __forceinline__ float fu_tanh(float x) { return tanhf(x); }
static __device__ __forceinline__ double fu_tanh(double x) { return tanh(x); }
static __device__ __forceinline__ float fu_asinh(float x) { return asinhf(x); }
static __device__ __forceinline__ double fu_asinh(double x) { return asinh(x); }
static __device__ __forceinline__ float fu_acosh(float x) { return acoshf(x); }
static __device__ __forceinline__ double fu_acosh(double x) { return acosh(x); }
static __device__ __forceinline__ float fu_atanh(float x) { return atanhf(x); }
static __device__ __forceinline__ double fu_atanh(double x) { return atanh(x); }
static __device__ __forceinline__ float fu_erf(float x) { return erff(x); }
static __device__ __forceinline__ double fu_erf(double x) { return erf(x); }
static __device__ __forceinline__ float fu_erfc(float x) { return erfcf(x); }
static __device__ __forceinline__ double fu_erfc(double x) { return erfc(x); }
// lgammaf loses its digits near the zeros left of -2.
static __device__ __forceinline__ float fu_lgamma(float x)
{
    return x < -2.0f ? (float)lgamma((double)x) : lgammaf(x);
}
static __device__ __forceinline__ double fu_lgamma(double x)
{
    return lgamma(x);
}
static __device__ __forceinline__ float fu_ceil(float x) { return ceilf(x); }
static __device__ __forceinline__ double fu_ceil(double x) { return ceil(x); }
static __device__ __forceinline__ float fu_floor(float x) { return floorf(x); }
static __device__ __forceinline__ double fu_floor(double x) { return floor(x); }
static __device__ __forceinline__ float fu_round(float x) { return rintf(x); }
static __device__ __forceinline__ double fu_round(double x) { return rint(x); }
static __device__ __forceinline__ float fu_trunc(float x) { return truncf(x); }
static __device__ __forceinline__ double fu_trunc(double x) { return trunc(x); }
static __device__ __forceinline__ float fu_abs(float x) { return fabsf(x); }
static __device__ __forceinline__ double fu_abs(double x) { return fabs(x); }

static __device__ __forceinline__ float fu_pow(float x, float y)
{
    return powf(x, y);
}
static __device__ __forceinline__ double fu_pow(double x, double y)
{
    return pow(x, y);
}
static __device__ __forceinline__ float fu_atan2(float x, float y)
{
    return atan2f(x, y);
}
static __device__ __forceinline__ double fu_atan2(double x, double y)
{
    return atan2(x, y);
}
static __device__ __forceinline__ float fu_hypot(float x, float y)
{
    return hypotf(x, y);
}
static __device__ __forceinline__ double fu_hypot(double x, double y)
{
    return hypot(x, y);
}
static __device__ __forceinline__ float fu_fmod(float x, float y)
{
    return fmodf(x, y);
}
static __device__ __forceinline__ double fu_fmod(double x, double y)
{
    return fmod(x, y);
}
static __device__ __forceinline__ float fu_copysign(float x, float y)
{
    return copysignf(x, y);
}
static __device__ __forceinline__ double fu_copysign(double x, double y)
{
    return copysign(x, y);
}
static __device__ __forceinline__ float fu_nextafter(float x, float y)
{
    return nextafterf(x, y);
}
static __device__ __forceinline__ double fu_nextafter(double x, double y)
{
    return nextafter(x, y);
}

static __device__ __forceinline__ float fu_fma(float x, float y, float z)
{
    return fmaf(x, y, z);
}
static __device__ __forceinline__ double fu_fma(double x, double y, double z)
{
    return fma(x, y, z);
}

#ifdef FU_EMULATE

// libm's own is less accurate than CUDA's.
static __device__ __forceinline__ double fu_cbrt(double x)
{
    return (double)cbrtl(x);
}

static __device__ __forceinline__ float fu_rsqrt(float x)
{
    return (float)(1.0 / sqrt((double)x));
}
static __device__ __forceinline__ double fu_rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

// Newton's iteration on the logarithm of erfc, on erf near 0.
static __device__ __forceinline__ double fu_erfinv(double x)
{
    const long double half_root_pi = 0.886226925452758013649083741670572591L;
    long double a = fabsl(x);
    if (!(a < 1))
        return a == 1 ? x * HUGE_VAL : nan("");
    long double y = a < 0.5L ? a * half_root_pi
                             : sqrtl(-logl((1 - a) * (1 + a)) / 2);
    for (int i = 0; i < 60; ++i) {
        long double slope = expl(-y * y) / half_root_pi, c = erfcl(y);
        long double step = a < 0.5L ? (erfl(y) - a) / slope
                                    : -logl(c / (1 - a)) * c / slope;
        y -= step;
        if (fabsl(step) <= y * 1e-18L)
            break;
    }
    return copysign((double)y, x);
}

static __device__ __forceinline__ float fu_erfinv(float x)
{
    return (float)fu_erfinv((double)x);
}

#else

static __device__ __forceinline__ double fu_cbrt(double x) { return cbrt(x); }
static __device__ __forceinline__ float fu_rsqrt(float x) { return rsqrtf(x); }
static __device__ __forceinline__ double fu_rsqrt(double x) { return rsqrt(x); }
static __device__ __forceinline__ float fu_erfinv(float x)
{
    return erfinvf(x);
}
static __device__ __forceinline__ double fu_erfinv(double x)
{
    return erfinv(x);
}

#endif
