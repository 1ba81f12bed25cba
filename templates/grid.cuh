// All blocks of a grid: a barrier, and finding out who is last. Each uses one
// 32-bit word of workspace that is 0 before the first launch and that no one
// else writes; it is ready for the next use, and the next launch, by itself.
// Nothing but the order of arrival depends on chance: who sums up partial
// results in the order of the blocks gets the same bits every time.
// Needs:  the barrier: all blocks run at once (a cooperative launch), fewer
//         than 2^31 of them, and all come. fu_last_block: nothing, blocks don't
//         wait for each other. Both: all threads of the block, converged.
// Cost:   the barrier two barriers of the block, an atomic a block on one word,
//         and a look at it until it turns; the last block one atomic a block and
//         no waiting.
// Source: PTX ISA: memory consistency model; the barrier's word counts the
//         blocks in its low bits and turns its high bit when all have come.
#pragma once
#include "types.cuh"
#include "ptx.cuh"
#include "atomic.cuh"
#include "vote.cuh"

// "This block has come"; thread 0 keeps the result for the wait. What lies
// between the halves overlaps with the other blocks' coming.
static __device__ __forceinline__ fu_u32 fu_grid_arrive(fu_u32 *word)
{
    fu_u32 n = (fu_u32)fu_grid_x() * (fu_u32)fu_grid_y(), was = 0;
    bool first = fu_bid_x() == 0 && fu_bid_y() == 0;
    fu_barrier();
    if (fu_tid() == 0)
        was = fu_atomic_add<FU_ACQ_REL>(word, first ? 0x80000000u - (n - 1u) : 1u);
    return was & 0x80000000u;
}

// All blocks have come, and what they wrote before is seen.
static __device__ __forceinline__ void fu_grid_wait(fu_u32 *word, fu_u32 arrived)
{
    if (fu_tid() == 0)
        fu_wait_while(word, 0x80000000u, arrived);
    fu_barrier();
}

static __device__ __forceinline__ void fu_grid_barrier(fu_u32 *word)
{
    fu_grid_wait(word, fu_grid_arrive(word));
}

// After the wait for the launch's only barrier: leaves the word at 0. Blocks that
// still look at it see its high bit until the last of them has left.
static __device__ __forceinline__ void fu_grid_leave(fu_u32 *word)
{
    fu_u32 n = (fu_u32)fu_grid_x() * (fu_u32)fu_grid_y();
    bool first = fu_bid_x() == 0 && fu_bid_y() == 0;
    if (fu_tid() == 0)
        fu_atomic_add<FU_RELAXED>(word, first ? 0x80000000u - (n - 1u) : 1u);
}

// True in all threads of the block that comes last of n; it sees what the
// others wrote before they came.
static __device__ __forceinline__ bool fu_last_block(fu_u32 *word, int n)
{
    fu_u32 before = 0;
    fu_barrier();
    if (fu_tid() == 0)
        before = fu_atomic_inc<FU_ACQ_REL>(word, (fu_u32)n - 1u);
    return fu_block_any(fu_tid() == 0 && before == (fu_u32)n - 1u);
}
