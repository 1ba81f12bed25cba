// Integer atomics, loads and stores with an order, fences, waiting for a word.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "atomic.cuh"
#else
#include "fu_emulate.h"
#endif

// Every number of a queue is drawn once, whatever the order.
// CASE adds grid=3 block=64
// word n u32[1] -> 192
// word wide u64[1] -> 192 * (2**33 + 1)
// out drawn u32[192] = i + 1
extern "C" __global__ void adds(fu_u32 *n, fu_u64 *wide, fu_u32 *FU_RESTRICT drawn)
{
    const fu_u32 k = fu_atomic_add<FU_RELAXED>(n, 1u);
    const fu_u64 w = fu_atomic_add<FU_RELAXED>(wide, (1ull << 33) + 1ull);
    fu_store(drawn, (fu_i64)k, (fu_u32)(k + 1u));
    if (w % ((1ull << 33) + 1ull) != 0)
        fu_store(drawn, (fu_i64)k, 0u);
}

// CASE orders grid=3 block=64
// word a u32[4] -> 192
// word b u64[4] -> 192
extern "C" __global__ void orders(fu_u32 *a, fu_u64 *b)
{
    fu_atomic_add<FU_RELAXED>(a, 1u);
    fu_atomic_add<FU_ACQUIRE>(a + 1, 1u);
    fu_atomic_add<FU_RELEASE>(a + 2, 1u);
    fu_atomic_add<FU_ACQ_REL>(a + 3, 1u);
    fu_atomic_add<FU_RELAXED>(b, 1ull);
    fu_atomic_add<FU_ACQUIRE>(b + 1, 1ull);
    fu_atomic_add<FU_RELEASE>(b + 2, 1ull);
    fu_atomic_add<FU_ACQ_REL>(b + 3, 1ull);
}

// CASE maxima grid=2 block=64
// word a u32[1] -> 4294967295
// word b i32[1] -> 127
// word c u64[1] -> 2**40 + 127
// word d i64[1] -> 2**40 + 127
extern "C" __global__ void maxima(fu_u32 *a, fu_i32 *b, fu_u64 *c, fu_i64 *d)
{
    const int k = fu_bid_x() * 64 + fu_tid();
    fu_atomic_max<FU_RELAXED>(a, (fu_u32)(k - 64));
    fu_atomic_max<FU_ACQUIRE>(b, k % 2 ? k : -k);
    fu_atomic_max<FU_RELEASE>(c, (1ull << 40) + (fu_u64)k);
    fu_atomic_max<FU_ACQ_REL>(d, (fu_i64)(1ll << 40) * (k % 2 ? 1 : -1) + k);
}

// Of the four threads that want a slot one gets it.
// CASE swaps grid=2 block=64
// word slot u32[32] -> 7
// word wide u64[32] -> 2**36
// out won i32[1] = 64
// word n u32[1] -> 64
extern "C" __global__ void swaps(fu_u32 *slot, fu_u64 *wide, fu_i32 *FU_RESTRICT won, fu_u32 *n)
{
    const int k = (fu_bid_x() * 64 + fu_tid()) % 32;
    fu_u32 wins = 0;
    if (fu_atomic_cas<FU_RELAXED>(slot + k, 0u, 7u) == 0u)
        ++wins;
    if (fu_atomic_cas<FU_ACQ_REL>(wide + k, 0ull, 1ull << 36) == 0ull)
        ++wins;
    if (fu_atomic_add<FU_ACQ_REL>(n, wins) + wins == 64u && wins != 0u)
        fu_store(won, 0, 64);
}

// CASE wraps grid=1 block=64
// word n u32[1] -> 64 % 10
// word seen u32[10] -> 6 + (i < 4)
extern "C" __global__ void wraps(fu_u32 *n, fu_u32 *seen)
{
    const fu_u32 k = fu_atomic_inc<FU_ACQ_REL>(n, 9u);
    fu_atomic_add<FU_RELAXED>(seen + k, 1u);
}

// Block 0 writes a row and raises a flag; block 1 waits for it and reads.
// CASE passes grid=2 block=64 cooperative
// word flag u32[1] -> 5
// word row u32[64] -> 3 * i
// out y u32[64] = 3 * (63 - i)
extern "C" __global__ void passes(fu_u32 *flag, fu_u32 *row, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid();
    if (fu_bid_x() == 0) {
        fu_store(row, tid, (fu_u32)(3 * tid));
        fu_barrier();
        if (tid == 0)
            fu_store_release(flag, 5u);
    } else {
        if (tid == 0)
            fu_wait_while(flag, ~0u, 0u);
        fu_barrier();
        fu_store(y, tid, fu_load(row, 63 - tid));
    }
}

// The same with fences, each thread for itself, and a loop of its own.
// CASE fences grid=2 block=64 cooperative
// word flag u64[64] -> 2**35
// word row u32[64] -> 3 * i
// out y u32[64] = 3 * i
extern "C" __global__ void fences(fu_u64 *flag, fu_u32 *row, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid();
    if (fu_bid_x() == 0) {
        fu_store(row, tid, (fu_u32)(3 * tid));
        fu_fence_gpu();
        fu_store_relaxed(flag + tid, 1ull << 35);
    } else {
        while (fu_load_relaxed(flag + tid) == 0ull)
            ;
        fu_fence_gpu();
        fu_store(y, tid, fu_load(row, tid));
    }
}

// Within a block a fence and a barrier's worth of words in between.
// CASE chain grid=1 block=64
// word turn u32[1] -> 64
// word total u32[1] -> 64 * 63 // 2
extern "C" __global__ void chain(fu_u32 *turn, fu_u32 *total)
{
    const fu_u32 me = (fu_u32)fu_tid();
    for (bool done = false; !done;) {
        if (fu_load_acquire(turn) == me) {
            fu_store(total, 0, fu_load(total, 0) + me);
            fu_fence_block();
            fu_store_release(turn, me + 1u);
            done = true;
        }
    }
}

#ifdef FU_EMULATE
FU_KERNEL(adds)
FU_KERNEL(orders)
FU_KERNEL(maxima)
FU_KERNEL(swaps)
FU_KERNEL(wraps)
FU_KERNEL(passes)
FU_KERNEL(fences)
FU_KERNEL(chain)
#endif
