// Words that blocks of one grid share in global memory: integer atomics, loads
// and stores with an order, fences, and waiting for a word to change. No atomic
// on floats: their result would depend on who comes first.
// Order:  FU_RELAXED: only the word itself. FU_ACQUIRE: what follows sees what
//         the writer of the word had released. FU_RELEASE: what precedes is
//         seen by who acquires the word. FU_ACQ_REL: both. All at gpu scope.
// Needs:  sm_80; words aligned to their size; a wait needs a writer that runs
//         at the same time: a cooperative launch, or one that has drawn a
//         number from a counter before.
// Cost:   an atomic is a trip to L2, where those on one word queue; a release
//         waits for the thread's earlier writes, an acquire drops the L1 cache.
// Source: PTX ISA: memory consistency model, atom, ld.acquire, st.release, fence.
#pragma once
#include "types.cuh"
#include "ptx.cuh"

enum fu_order { FU_RELAXED, FU_ACQUIRE, FU_RELEASE, FU_ACQ_REL };

#ifndef FU_EMULATE

#define FU_ATOM(C, HOW, y, p, x) \
    asm volatile("atom." HOW " %0, [%1], %2;" : "=" C(y) : "l"(p), C(x) : "memory")

// Each gives the word as it was before.
template <fu_order O>
static __device__ __forceinline__ fu_u32 fu_atomic_add(fu_u32 *p, fu_u32 x)
{
    fu_u32 y;
    if (O == FU_RELAXED)
        FU_ATOM("r", "relaxed.gpu.global.add.u32", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("r", "acquire.gpu.global.add.u32", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("r", "release.gpu.global.add.u32", y, p, x);
    else
        FU_ATOM("r", "acq_rel.gpu.global.add.u32", y, p, x);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_u64 fu_atomic_add(fu_u64 *p, fu_u64 x)
{
    fu_u64 y;
    if (O == FU_RELAXED)
        FU_ATOM("l", "relaxed.gpu.global.add.u64", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("l", "acquire.gpu.global.add.u64", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("l", "release.gpu.global.add.u64", y, p, x);
    else
        FU_ATOM("l", "acq_rel.gpu.global.add.u64", y, p, x);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_u32 fu_atomic_max(fu_u32 *p, fu_u32 x)
{
    fu_u32 y;
    if (O == FU_RELAXED)
        FU_ATOM("r", "relaxed.gpu.global.max.u32", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("r", "acquire.gpu.global.max.u32", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("r", "release.gpu.global.max.u32", y, p, x);
    else
        FU_ATOM("r", "acq_rel.gpu.global.max.u32", y, p, x);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_i32 fu_atomic_max(fu_i32 *p, fu_i32 x)
{
    fu_i32 y;
    if (O == FU_RELAXED)
        FU_ATOM("r", "relaxed.gpu.global.max.s32", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("r", "acquire.gpu.global.max.s32", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("r", "release.gpu.global.max.s32", y, p, x);
    else
        FU_ATOM("r", "acq_rel.gpu.global.max.s32", y, p, x);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_u64 fu_atomic_max(fu_u64 *p, fu_u64 x)
{
    fu_u64 y;
    if (O == FU_RELAXED)
        FU_ATOM("l", "relaxed.gpu.global.max.u64", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("l", "acquire.gpu.global.max.u64", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("l", "release.gpu.global.max.u64", y, p, x);
    else
        FU_ATOM("l", "acq_rel.gpu.global.max.u64", y, p, x);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_i64 fu_atomic_max(fu_i64 *p, fu_i64 x)
{
    fu_i64 y;
    if (O == FU_RELAXED)
        FU_ATOM("l", "relaxed.gpu.global.max.s64", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("l", "acquire.gpu.global.max.s64", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("l", "release.gpu.global.max.s64", y, p, x);
    else
        FU_ATOM("l", "acq_rel.gpu.global.max.s64", y, p, x);
    return y;
}

// Adds 1; at x or more the word becomes 0.
template <fu_order O>
static __device__ __forceinline__ fu_u32 fu_atomic_inc(fu_u32 *p, fu_u32 x)
{
    fu_u32 y;
    if (O == FU_RELAXED)
        FU_ATOM("r", "relaxed.gpu.global.inc.u32", y, p, x);
    else if (O == FU_ACQUIRE)
        FU_ATOM("r", "acquire.gpu.global.inc.u32", y, p, x);
    else if (O == FU_RELEASE)
        FU_ATOM("r", "release.gpu.global.inc.u32", y, p, x);
    else
        FU_ATOM("r", "acq_rel.gpu.global.inc.u32", y, p, x);
    return y;
}

#define FU_CAS(C, HOW, y, p, a, b) \
    asm volatile("atom." HOW " %0, [%1], %2, %3;" \
                 : "=" C(y) : "l"(p), C(a), C(b) : "memory")

// Writes `to` where the word is `from`.
template <fu_order O>
static __device__ __forceinline__ fu_u32 fu_atomic_cas(fu_u32 *p, fu_u32 from, fu_u32 to)
{
    fu_u32 y;
    if (O == FU_RELAXED)
        FU_CAS("r", "relaxed.gpu.global.cas.b32", y, p, from, to);
    else if (O == FU_ACQUIRE)
        FU_CAS("r", "acquire.gpu.global.cas.b32", y, p, from, to);
    else if (O == FU_RELEASE)
        FU_CAS("r", "release.gpu.global.cas.b32", y, p, from, to);
    else
        FU_CAS("r", "acq_rel.gpu.global.cas.b32", y, p, from, to);
    return y;
}

template <fu_order O>
static __device__ __forceinline__ fu_u64 fu_atomic_cas(fu_u64 *p, fu_u64 from, fu_u64 to)
{
    fu_u64 y;
    if (O == FU_RELAXED)
        FU_CAS("l", "relaxed.gpu.global.cas.b64", y, p, from, to);
    else if (O == FU_ACQUIRE)
        FU_CAS("l", "acquire.gpu.global.cas.b64", y, p, from, to);
    else if (O == FU_RELEASE)
        FU_CAS("l", "release.gpu.global.cas.b64", y, p, from, to);
    else
        FU_CAS("l", "acq_rel.gpu.global.cas.b64", y, p, from, to);
    return y;
}

// A word with its order; plain loads and stores give none.
static __device__ __forceinline__ fu_u32 fu_load_relaxed(const fu_u32 *p)
{
    fu_u32 y;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(y) : "l"(p) : "memory");
    return y;
}

static __device__ __forceinline__ fu_u32 fu_load_acquire(const fu_u32 *p)
{
    fu_u32 y;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(y) : "l"(p) : "memory");
    return y;
}

static __device__ __forceinline__ void fu_store_relaxed(fu_u32 *p, fu_u32 x)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}

static __device__ __forceinline__ void fu_store_release(fu_u32 *p, fu_u32 x)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}

static __device__ __forceinline__ fu_u64 fu_load_relaxed(const fu_u64 *p)
{
    fu_u64 y;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(y) : "l"(p) : "memory");
    return y;
}

static __device__ __forceinline__ fu_u64 fu_load_acquire(const fu_u64 *p)
{
    fu_u64 y;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(y) : "l"(p) : "memory");
    return y;
}

static __device__ __forceinline__ void fu_store_relaxed(fu_u64 *p, fu_u64 x)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}

static __device__ __forceinline__ void fu_store_release(fu_u64 *p, fu_u64 x)
{
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}

// Waits while the bits of mask of the word equal value; acquires; gives the word.
static __device__ __forceinline__ fu_u32 fu_wait_while(const fu_u32 *p, fu_u32 mask,
                                                       fu_u32 value)
{
    fu_u32 x;
    do
        x = fu_load_acquire(p);
    while ((x & mask) == value);
    return x;
}

// Orders this thread's accesses before against those after, as its block or
// all blocks see them.
static __device__ __forceinline__ void fu_fence_block()
{
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

static __device__ __forceinline__ void fu_fence_gpu()
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

#endif
