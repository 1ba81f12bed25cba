// Order of floats: NaN above all else, +0 above -0; and what follows from it:
// maximum, minimum, relu, argmax, argmin. Integers and bools in plain order.
// Cost:   one instruction for float, a few compares for double.
#pragma once
#include "types.cuh"
#include "ptx.cuh"

static __device__ __forceinline__ float fu_maximum(float a, float b)
{
    return fu_max_nan(a, b);
}

static __device__ __forceinline__ float fu_minimum(float a, float b)
{
    return fu_min_nan(a, b);
}

static __device__ __forceinline__ double fu_maximum(double a, double b)
{
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return fu_is_negative(a) ? b : a;
    return a > b ? a : b;
}

static __device__ __forceinline__ double fu_minimum(double a, double b)
{
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return fu_is_negative(a) ? a : b;
    return a < b ? a : b;
}

template <typename T>
static __device__ __forceinline__ T fu_imaximum(T a, T b)
{
    return a < b ? b : a;
}

template <typename T>
static __device__ __forceinline__ T fu_iminimum(T a, T b)
{
    return b < a ? b : a;
}

static __device__ __forceinline__ float fu_relu(float x)
{
    return fu_maximum(x, 0.0f);
}

static __device__ __forceinline__ double fu_relu(double x)
{
    return fu_maximum(x, 0.0);
}

template <typename T>
static __device__ __forceinline__ T fu_irelu(T x)
{
    return (fu_i64)x < 0 ? T(0) : x;
}

// True when a stands above b.
static __device__ __forceinline__ bool fu_above(float a, float b)
{
    if (a != a || b != b)
        return b == b;
    return a == b ? !fu_is_negative(a) && fu_is_negative(b) : a > b;
}

static __device__ __forceinline__ bool fu_above(double a, double b)
{
    if (a != a || b != b)
        return b == b;
    return a == b ? !fu_is_negative(a) && fu_is_negative(b) : a > b;
}

template <typename T>
static __device__ __forceinline__ bool fu_above(T a, T b)
{
    return a > b;
}

// True when a stands below b, NaN below all else here.
static __device__ __forceinline__ bool fu_below(float a, float b)
{
    return a != a || b != b ? b == b : fu_above(b, a);
}

static __device__ __forceinline__ bool fu_below(double a, double b)
{
    return a != a || b != b ? b == b : fu_above(b, a);
}

template <typename T>
static __device__ __forceinline__ bool fu_below(T a, T b)
{
    return a < b;
}

// A value and where it stands; index -1: none yet, which anything replaces.
template <typename T> struct fu_arg {
    T value;
    fu_i64 index;
};

template <typename T>
static __device__ __forceinline__ fu_arg<T> fu_arg_none()
{
    fu_arg<T> r;
    r.value = T(0);
    r.index = -1;
    return r;
}

template <typename T>
static __device__ __forceinline__ fu_arg<T> fu_arg_of(T value, fu_i64 index)
{
    fu_arg<T> r;
    r.value = value;
    r.index = index;
    return r;
}

// The larger of two, of equal ones the first: in any order of combination.
template <typename T>
static __device__ __forceinline__ fu_arg<T> fu_argmax(fu_arg<T> a, fu_arg<T> b)
{
    if (a.index < 0 || b.index < 0)
        return a.index < 0 ? b : a;
    if (fu_above(a.value, b.value))
        return a;
    return fu_above(b.value, a.value) || b.index < a.index ? b : a;
}

template <typename T>
static __device__ __forceinline__ fu_arg<T> fu_argmin(fu_arg<T> a, fu_arg<T> b)
{
    if (a.index < 0 || b.index < 0)
        return a.index < 0 ? b : a;
    if (fu_below(a.value, b.value))
        return a;
    return fu_below(b.value, a.value) || b.index < a.index ? b : a;
}
