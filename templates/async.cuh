// Copies that run while the thread goes on: single pieces (cp.async), whole
// rows (bulk copies), and the mbarrier that says when rows have arrived.
// Shared memory is named by its byte offset, as in prim.cuh.
// Needs:  fu_copy_async and fu_mbarrier_{init,inval,arrive*,try,wait}: sm_80;
//         the rest: sm_90 (an older target is refused by the assembler).
//         Pieces of 4, 8 or 16 bytes, both addresses aligned to that. Bulk:
//         addresses and size multiples of 16. An mbarrier: 8 bytes, aligned.
//         Bytes that ordinary stores wrote, or ordinary loads of another
//         thread read, and that a bulk copy then reads or writes: a barrier
//         between, and for what was written fu_fence_async before that barrier.
// Cost:   a piece is one instruction a thread and no register for the data; a
//         bulk copy is one instruction of one thread, whatever its size; a wait
//         on a phase that has completed is one look at shared memory.
// Source: PTX ISA: cp.async, mbarrier.*, cp.async.bulk, fence.proxy.async,
//         fence.mbarrier_init, createpolicy.
#pragma once
#include "types.cuh"
#include "ptx.cuh"
#ifndef FU_EMULATE

static __device__ __forceinline__ fu_u32 fu_shared_at(int byte_offset)
{
    return (fu_u32)__cvta_generic_to_shared(fu_smem + byte_offset);
}

// --- pieces -------------------------------------------------------------------

// BYTES (4, 8, 16) from global to shared memory. The bytes are there for this
// thread after fu_copy_async_wait, for others after a barrier that follows it.
template <int BYTES>
static __device__ __forceinline__ void fu_copy_async(int to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     ::"r"(fu_shared_at(to)), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     ::"r"(fu_shared_at(to)), "l"(from), "n"(BYTES) : "memory");
}

// The same, of which only the first `bytes` are read; zeros in the rest.
template <int BYTES>
static __device__ __forceinline__ void fu_copy_async_fill(int to, const void *from,
                                                          int bytes)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     ::"r"(fu_shared_at(to)), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     ::"r"(fu_shared_at(to)), "l"(from), "n"(BYTES), "r"(bytes)
                     : "memory");
}

// What this thread has begun since the last commit becomes a group.
static __device__ __forceinline__ void fu_copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until all of this thread's groups but the last N have arrived.
template <int N>
static __device__ __forceinline__ void fu_copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// --- mbarriers ----------------------------------------------------------------

// An mbarrier completes a phase when `arrivals` threads have arrived and all
// bytes expected have; then the next phase begins. Phases are waited for by
// parity: 0, 1, 0, ...
static __device__ __forceinline__ void fu_mbarrier_init(int bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 ::"r"(fu_shared_at(bar)), "r"(arrivals) : "memory");
}

// After the inits, before the barrier that lets others (and copies) use them.
static __device__ __forceinline__ void fu_mbarrier_fence()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// The word is ordinary memory again.
static __device__ __forceinline__ void fu_mbarrier_inval(int bar)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];"
                 ::"r"(fu_shared_at(bar)) : "memory");
}

static __device__ __forceinline__ void fu_mbarrier_arrive(int bar)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }"
                 ::"r"(fu_shared_at(bar)) : "memory");
}

// Arrives when all pieces have that this thread has begun and not waited for.
static __device__ __forceinline__ void fu_mbarrier_arrive_copies(int bar)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"
                 ::"r"(fu_shared_at(bar)) : "memory");
}

// Arrives, and makes the phase wait for so many bytes more.
static __device__ __forceinline__ void fu_mbarrier_expect(int bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(fu_shared_at(bar)), "r"(bytes) : "memory");
}

// True when the phase of that parity has completed; may sleep a little first.
static __device__ __forceinline__ bool fu_mbarrier_try(int bar, int parity)
{
    fu_u32 y;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(y) : "r"(fu_shared_at(bar)), "r"(parity) : "memory");
#else
    asm volatile("{ .reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(y) : "r"(fu_shared_at(bar)), "r"(parity) : "memory");
#endif
    return y != 0;
}

static __device__ __forceinline__ void fu_mbarrier_wait(int bar, int parity)
{
    while (!fu_mbarrier_try(bar, parity))
        ;
}

// --- bulk copies --------------------------------------------------------------

// Between ordinary accesses to shared or global memory and those of bulk
// copies: after the stores, before the barrier before the copy.
static __device__ __forceinline__ void fu_fence_async()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

// One thread: `bytes` from global memory to this block's shared memory, and
// that many bytes to the phase of the mbarrier when they have arrived.
static __device__ __forceinline__ void fu_bulk_load(int to, const void *from,
                                                    int bytes, int bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 ::"r"(fu_shared_at(to)), "l"(from), "r"(bytes),
                   "r"(fu_shared_at(bar)) : "memory");
}

// How long L2 keeps a line: it goes first, or last.
static __device__ __forceinline__ fu_u64 fu_evict_first()
{
    fu_u64 y;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(y));
    return y;
}

static __device__ __forceinline__ fu_u64 fu_evict_last()
{
    fu_u64 y;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(y));
    return y;
}

static __device__ __forceinline__ void fu_bulk_load_hint(int to, const void *from,
                                                         int bytes, int bar,
                                                         fu_u64 policy)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;"
                 ::"r"(fu_shared_at(to)), "l"(from), "r"(bytes),
                   "r"(fu_shared_at(bar)), "l"(policy) : "memory");
}

// One thread: `bytes` of shared memory to global memory. The same thread
// commits its copies as a group and waits for its groups.
static __device__ __forceinline__ void fu_bulk_store(void *to, int from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(fu_shared_at(from)), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void fu_bulk_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until all groups but the last N are written; until they have been read, so
// that their shared memory may be overwritten.
template <int N>
static __device__ __forceinline__ void fu_bulk_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

template <int N>
static __device__ __forceinline__ void fu_bulk_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

#endif
