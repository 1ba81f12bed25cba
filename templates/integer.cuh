// Integers that wrap: arithmetic on the unsigned 64-bit type, of which the low
// bits are kept; quotients and remainders that are 0 for a zero divisor; shift
// counts modulo the width.
// Cost:   the instruction of the narrow type; a division some 20 to 80.
#pragma once
#include "types.cuh"

template <typename T>
static __device__ __forceinline__ T fu_iadd(T a, T b)
{
    return (T)((fu_u64)a + (fu_u64)b);
}

template <typename T>
static __device__ __forceinline__ T fu_isub(T a, T b)
{
    return (T)((fu_u64)a - (fu_u64)b);
}

template <typename T>
static __device__ __forceinline__ T fu_imul(T a, T b)
{
    return (T)((fu_u64)a * (fu_u64)b);
}

template <typename T>
static __device__ __forceinline__ T fu_ineg(T a)
{
    return (T)(0 - (fu_u64)a);
}

template <typename T>
static __device__ __forceinline__ T fu_iabs(T a)
{
    return (fu_i64)a < 0 ? fu_ineg(a) : a;
}

template <typename T>
static __device__ __forceinline__ T fu_isign(T a)
{
    return (T)((a > T(0)) - ((fu_i64)a < 0));
}

template <typename T>
static __device__ __forceinline__ T fu_ifrac(T)
{
    return T(0);
}

// The remainder with the dividend's sign.
template <typename T>
static __device__ __forceinline__ T fu_irem(T a, T b)
{
    return b == T(0) || (fu_i64)b == -1 ? T(0) : (T)(a % b);
}

// The remainder with the divisor's sign.
template <typename T>
static __device__ __forceinline__ T fu_imod(T a, T b)
{
    T r = fu_irem(a, b);
    return r != T(0) && ((fu_i64)r < 0) != ((fu_i64)b < 0) ? (T)(r + b) : r;
}

template <typename T>
static __device__ __forceinline__ T fu_ifloordiv(T a, T b)
{
    if (b == T(0))
        return T(0);
    if ((fu_i64)b == -1)
        return fu_ineg(a);
    return (T)(a / b - (a % b != 0 && ((fu_i64)a < 0) != ((fu_i64)b < 0)));
}

// a to the power n; for n < 0 only 1 and -1 have an inverse, the rest gives 0.
template <typename T>
static __device__ __forceinline__ T fu_ipow(T a, T n)
{
    fu_u64 base = (fu_u64)a, r = 1;
    if ((fu_i64)n < 0) {
        bool odd = n % 2 != 0;
        return a == T(1) ? T(1) : (fu_i64)a == -1 ? (odd ? a : T(1)) : T(0);
    }
    for (fu_u64 k = (fu_u64)n; k != 0; k >>= 1) {
        if (k & 1)
            r *= base;
        base *= base;
    }
    return (T)r;
}

template <typename T>
static __device__ __forceinline__ T fu_bitand(T a, T b)
{
    return (T)(a & b);
}

template <typename T>
static __device__ __forceinline__ T fu_bitor(T a, T b)
{
    return (T)(a | b);
}

template <typename T>
static __device__ __forceinline__ T fu_bitxor(T a, T b)
{
    return (T)(a ^ b);
}

template <typename T>
static __device__ __forceinline__ T fu_bitnot(T a)
{
    return (T)~a;
}

static __device__ __forceinline__ bool fu_bitnot(bool a)
{
    return !a;
}

template <typename T, typename N>
static __device__ __forceinline__ T fu_shl(T a, N n)
{
    return (T)((fu_u64)a << ((int)n & (int)(8 * sizeof(T) - 1)));
}

template <typename T, typename N>
static __device__ __forceinline__ T fu_shr(T a, N n)
{
    return (T)(a >> ((int)n & (int)(8 * sizeof(T) - 1)));
}
