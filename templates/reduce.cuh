// Sums of many terms: the running sum and what rounding has lost of it so far,
// so that the error doesn't grow with the number of terms.
// Order:  add in any order the plan fixes; merge as a tree; an infinite or NaN
//         sum keeps its class.
// Cost:   7 additions a term.
#pragma once
#include "types.cuh"

template <typename T> struct fu_sum {
    T sum, rest;
};

template <typename T>
static __device__ __forceinline__ fu_sum<T> fu_sum_none()
{
    fu_sum<T> r;
    r.sum = T(0);
    r.rest = T(0);
    return r;
}

template <typename T>
static __device__ __forceinline__ fu_sum<T> fu_sum_add(fu_sum<T> a, T x)
{
    fu_sum<T> r;
    r.sum = a.sum + x;
    T part = r.sum - a.sum;
    r.rest = a.rest + ((a.sum - (r.sum - part)) + (x - part));
    return r;
}

template <typename T>
static __device__ __forceinline__ fu_sum<T> fu_sum_merge(fu_sum<T> a,
                                                         fu_sum<T> b)
{
    fu_sum<T> r = fu_sum_add(a, b.sum);
    r.rest = r.rest + b.rest;
    return r;
}

// The rest is NaN where the sum isn't finite; then it says nothing.
template <typename T>
static __device__ __forceinline__ T fu_sum_value(fu_sum<T> a)
{
    return a.rest - a.rest == T(0) ? a.sum + a.rest : a.sum;
}

// Where the value of an argmax or argmin stands.
template <typename A>
static __device__ __forceinline__ fu_i64 fu_arg_index(const A &a)
{
    return a.index;
}
