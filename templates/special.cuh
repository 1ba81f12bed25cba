// Functions of the language that CUDA has no name for: floor quotient and
// remainder of floats, signs, fractions, sigmoid, silu, classification.
// Cost:   1 to 30 instructions.
#pragma once
#include "types.cuh"
#include "math.cuh"

static __device__ __forceinline__ float fu_reciprocal(float x)
{
    return 1.0f / x;
}

// The floor of the exact quotient: where rounding has lifted it to an integer
// the remainder says so. Infinite and zero divisors follow the division.
static __device__ __forceinline__ float fu_floordiv(float a, float b)
{
    float q = fu_floor(a / b), r = fu_fma(-q, b, a);
    return (r < 0 && b > 0) || (r > 0 && b < 0) ? q - 1 : q;
}

// The remainder with the divisor's sign.
static __device__ __forceinline__ float fu_floormod(float a, float b)
{
    float r = fu_fmod(a, b);
    return r != 0 && fu_is_negative(r) != fu_is_negative(b) ? r + b : r;
}

// Zeros and NaN are their own sign.
static __device__ __forceinline__ float fu_sign(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}

static __device__ __forceinline__ float fu_frac(float x)
{
    return x - fu_trunc(x);
}

// Never of a large argument: neither side overflows.
static __device__ __forceinline__ float fu_sigmoid(float x)
{
    float e = fu_exp(-fu_abs(x));
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}

// The root of e^x is multiplied twice, so that it isn't subnormal where the
// result isn't 0.
static __device__ __forceinline__ float fu_silu(float x)
{
    float h = fu_exp(-0.5f * fu_abs(x));
    float n = x < 0 ? x * h * h : x;
    return n / (1.0f + h * h);
}

static __device__ __forceinline__ bool fu_isnan(float x) { return x != x; }

static __device__ __forceinline__ bool fu_isinf(float x)
{
    return (fu_word(x) & 0x7fffffffu) == 0x7f800000u;
}

static __device__ __forceinline__ bool fu_isfinite(float x)
{
    return (fu_word(x) & 0x7fffffffu) < 0x7f800000u;
}

static __device__ __forceinline__ bool fu_signbit(float x)
{
    return fu_is_negative(x);
}

static __device__ __forceinline__ double fu_reciprocal(double x)
{
    return 1.0 / x;
}

static __device__ __forceinline__ double fu_floordiv(double a, double b)
{
    double q = fu_floor(a / b), r = fu_fma(-q, b, a);
    return (r < 0 && b > 0) || (r > 0 && b < 0) ? q - 1 : q;
}

// The remainder with the divisor's sign.
static __device__ __forceinline__ double fu_floormod(double a, double b)
{
    double r = fu_fmod(a, b);
    return r != 0 && fu_is_negative(r) != fu_is_negative(b) ? r + b : r;
}

// Zeros and NaN are their own sign.
static __device__ __forceinline__ double fu_sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}

static __device__ __forceinline__ double fu_frac(double x)
{
    return x - fu_trunc(x);
}

// Never of a large argument: neither side overflows.
static __device__ __forceinline__ double fu_sigmoid(double x)
{
    double e = fu_exp(-fu_abs(x));
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

// The root of e^x is multiplied twice, so that it isn't subnormal where the
// result isn't 0.
static __device__ __forceinline__ double fu_silu(double x)
{
    double h = fu_exp(-0.5 * fu_abs(x));
    double n = x < 0 ? x * h * h : x;
    return n / (1.0 + h * h);
}

static __device__ __forceinline__ bool fu_isnan(double x) { return x != x; }

static __device__ __forceinline__ bool fu_isinf(double x)
{
    return (fu_word(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}

static __device__ __forceinline__ bool fu_isfinite(double x)
{
    return (fu_word(x) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull;
}

static __device__ __forceinline__ bool fu_signbit(double x)
{
    return fu_is_negative(x);
}

// Integers and bools.
template <typename T>
static __device__ __forceinline__ bool fu_isnan(T) { return false; }

template <typename T>
static __device__ __forceinline__ bool fu_isinf(T) { return false; }

template <typename T>
static __device__ __forceinline__ bool fu_isfinite(T) { return true; }

template <typename T>
static __device__ __forceinline__ bool fu_signbit(T x)
{
    return (fu_i64)x < 0;
}
