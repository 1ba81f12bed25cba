// Casts between register values: fu_cast_<type>(x). To a storage type it
// rounds, once, whatever x is; float to integer truncates and saturates, NaN
// gives 0; between integers the low bits are kept; to bool: is not 0.
// Cost:   1 to 4 instructions; from double or i64 to a storage type about 10.
#pragma once
#include "types.cuh"
#include "storage.cuh"

// --- to floats ---------------------------------------------------------------

// The same value, kept apart: nothing is contracted across it.
static __device__ __forceinline__ float fu_cast_f32(float x)
{
#ifdef FU_EMULATE
    return x;
#else
    return __fadd_rn(x, -0.0f);
#endif
}

static __device__ __forceinline__ double fu_cast_f64(double x)
{
#ifdef FU_EMULATE
    return x;
#else
    return __dadd_rn(x, -0.0);
#endif
}

template <typename T>
static __device__ __forceinline__ float fu_cast_f32(T x)
{
    return (float)x;
}

template <typename T>
static __device__ __forceinline__ double fu_cast_f64(T x)
{
    return (double)x;
}

// x as a float whose last bit is set when it isn't exact ("round to odd"):
// rounding that to a storage type is the same as rounding x.
static __device__ __forceinline__ float fu_odd(double x)
{
    float f = (float)x;
    fu_u32 w = fu_word(f);
    double up = (double)f < 0 ? -(double)f : (double)f;
    double is = x < 0 ? -x : x;
    if (x != x || up == is || (w & 1u) != 0)
        return f;
    return fu_float(up > is ? w - 1 : w + 1);
}

static __device__ __forceinline__ float fu_odd(float x)
{
    return x;
}

template <typename T>
static __device__ __forceinline__ float fu_odd(T x)
{
    fu_i64 v = (fu_i64)x;
    if (v > (1ll << 53) || v < -(1ll << 53))
        v = (v & ~1023ll) | ((v & 1023) != 0 ? 1024 : 0);
    return fu_odd((double)v);
}

template <typename T>
static __device__ __forceinline__ float fu_cast_f16(T x)
{
    return fu_unpack(fu_pack_f16(fu_odd(x)));
}

template <typename T>
static __device__ __forceinline__ float fu_cast_bf16(T x)
{
    return fu_unpack(fu_pack_bf16(fu_odd(x)));
}

template <typename T>
static __device__ __forceinline__ float fu_cast_f8e4m3(T x)
{
    return fu_round_small(fu_odd(x), 3, 0.001953125f, 448.0f);
}

template <typename T>
static __device__ __forceinline__ float fu_cast_f8e5m2(T x)
{
    return fu_round_small(fu_odd(x), 2, 0.0000152587890625f, 57344.0f);
}

// --- to integers and bool ----------------------------------------------------

// lo <= x < end as an integer, else the nearer limit.
template <typename T, typename F>
static __device__ __forceinline__ T fu_saturate(F x, F lo, F end, T least,
                                                T greatest)
{
    if (x != x)
        return T(0);
    if (x < lo)
        return least;
    return x >= end ? greatest : (T)x;
}

template <typename T>
static __device__ __forceinline__ fu_i8 fu_cast_i8(T x)
{
    return (fu_i8)x;
}

template <typename T>
static __device__ __forceinline__ fu_i16 fu_cast_i16(T x)
{
    return (fu_i16)x;
}

template <typename T>
static __device__ __forceinline__ fu_i32 fu_cast_i32(T x)
{
    return (fu_i32)x;
}

template <typename T>
static __device__ __forceinline__ fu_i64 fu_cast_i64(T x)
{
    return (fu_i64)x;
}

template <typename T>
static __device__ __forceinline__ fu_u8 fu_cast_u8(T x)
{
    return (fu_u8)x;
}

template <typename T>
static __device__ __forceinline__ bool fu_cast_bool(T x)
{
    return x != T(0);
}

static __device__ __forceinline__ fu_i8 fu_cast_i8(float x)
{
    return fu_saturate<fu_i8, float>(x, -128.0f, 128.0f, -128, 127);
}

static __device__ __forceinline__ fu_i8 fu_cast_i8(double x)
{
    return fu_saturate<fu_i8, double>(x, -128.0, 128.0, -128, 127);
}

static __device__ __forceinline__ fu_i16 fu_cast_i16(float x)
{
    return fu_saturate<fu_i16, float>(x, -32768.0f, 32768.0f, -32768, 32767);
}

static __device__ __forceinline__ fu_i16 fu_cast_i16(double x)
{
    return fu_saturate<fu_i16, double>(x, -32768.0, 32768.0, -32768, 32767);
}

static __device__ __forceinline__ fu_i32 fu_cast_i32(float x)
{
    return fu_saturate<fu_i32, float>(x, -2147483648.0f, 2147483648.0f,
                                      -2147483647 - 1, 2147483647);
}

static __device__ __forceinline__ fu_i32 fu_cast_i32(double x)
{
    return fu_saturate<fu_i32, double>(x, -2147483648.0, 2147483648.0,
                                       -2147483647 - 1, 2147483647);
}

static __device__ __forceinline__ fu_i64 fu_cast_i64(float x)
{
    return fu_saturate<fu_i64, float>(x, -9223372036854775808.0f,
                                      9223372036854775808.0f,
                                      -9223372036854775807ll - 1,
                                      9223372036854775807ll);
}

static __device__ __forceinline__ fu_i64 fu_cast_i64(double x)
{
    return fu_saturate<fu_i64, double>(x, -9223372036854775808.0,
                                       9223372036854775808.0,
                                       -9223372036854775807ll - 1,
                                       9223372036854775807ll);
}

static __device__ __forceinline__ fu_u8 fu_cast_u8(float x)
{
    return fu_saturate<fu_u8, float>(x, 0.0f, 256.0f, 0, 255);
}

static __device__ __forceinline__ fu_u8 fu_cast_u8(double x)
{
    return fu_saturate<fu_u8, double>(x, 0.0, 256.0, 0, 255);
}
