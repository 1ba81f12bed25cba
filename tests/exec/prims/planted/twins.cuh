// Two kernels from one body, NAME_body<false> and NAME_body<true>: NAME is right,
// NAME_bad has the bug. All templates, on both sides.
#pragma once
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#include "atomic.cuh"
#include "async.cuh"
#include "cluster.cuh"
#include "grid.cuh"
#define FU_KERNEL(name)
#else
#include "fu_emulate.h"
#endif

#define BODY(name) template <bool BAD> static __device__ __forceinline__ void name##_body
#define TWINS(name, PARAMS, ARGS) \
    extern "C" __global__ void name PARAMS { name##_body<false> ARGS; } \
    extern "C" __global__ void name##_bad PARAMS { name##_body<true> ARGS; } \
    FU_KERNEL(name) FU_KERNEL(name##_bad)
