// What the threads of a warp or a block tell each other besides the exchange
// by xor: votes, shuffles by lane, one elected lane, votes of a whole block.
// Needs:  sm_80; all lanes of the warp (for fu_block_*: all threads of the
//         block) take part, in converged code.
// Cost:   one instruction for a vote or a word of a shuffle; a block's vote is
//         one barrier and takes no shared memory.
// Source: PTX ISA: vote.sync, shfl.sync, elect.sync, barrier.red.
#pragma once
#include "types.cuh"
#include "ptx.cuh"
#ifndef FU_EMULATE

static __device__ __forceinline__ int fu_lane_id() { return (int)(threadIdx.x & 31u); }

// True where x is true in any lane; in all lanes.
static __device__ __forceinline__ bool fu_any(bool x)
{
    fu_u32 y;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "vote.sync.any.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y != 0;
}

static __device__ __forceinline__ bool fu_all(bool x)
{
    fu_u32 y;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "vote.sync.all.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y != 0;
}

// Bit i is lane i's x.
static __device__ __forceinline__ fu_u32 fu_ballot(bool x)
{
    fu_u32 y;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0;\n\t"
                 "vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y;
}

// The word of lane `from` (its low five bits); of the lane `by` further up or
// down, its own where there is none.
static __device__ __forceinline__ fu_u32 fu_shfl_idx_word(fu_u32 x, int from)
{
    fu_u32 y;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(y) : "r"(x), "r"(from) : "memory");
    return y;
}

static __device__ __forceinline__ fu_u32 fu_shfl_down_word(fu_u32 x, int by)
{
    fu_u32 y;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(y) : "r"(x), "r"(by) : "memory");
    return y;
}

static __device__ __forceinline__ fu_u32 fu_shfl_up_word(fu_u32 x, int by)
{
    fu_u32 y;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                 : "=r"(y) : "r"(x), "r"(by) : "memory");
    return y;
}

// True in one lane of the warp, always the same one. The compiler knows then
// that the code under it runs once, which a test of the lane doesn't tell it.
static __device__ __forceinline__ bool fu_elect()
{
#if __CUDA_ARCH__ >= 900
    fu_u32 y;
    asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff;\n\t"
                 "selp.u32 %0, 1, 0, p; }" : "=r"(y) :: "memory");
    return y != 0;
#else
    return fu_lane_id() == 0;
#endif
}

// Of all threads of the block: does any say yes, do all, how many. A barrier.
static __device__ __forceinline__ bool fu_block_any(bool x)
{
    fu_u32 y;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "bar.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y != 0;
}

static __device__ __forceinline__ bool fu_block_all(bool x)
{
    fu_u32 y;
    asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0;\n\t"
                 "bar.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y != 0;
}

static __device__ __forceinline__ int fu_block_count(bool x)
{
    int y;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0;\n\t"
                 "bar.red.popc.u32 %0, 0, p; }"
                 : "=r"(y) : "r"((fu_u32)x) : "memory");
    return y;
}

#endif

// Shuffles of any type of up to 16 bytes.
template <typename T>
static __device__ __forceinline__ T fu_shfl_idx(T x, int from)
{
    fu_u32 w[(sizeof(T) + 3) / 4] = {0};
    memcpy(w, &x, sizeof(T));
#pragma unroll
    for (int i = 0; i < (int)(sizeof(w) / 4); ++i)
        w[i] = fu_shfl_idx_word(w[i], from);
    memcpy(&x, w, sizeof(T));
    return x;
}

template <typename T>
static __device__ __forceinline__ T fu_shfl_down(T x, int by)
{
    fu_u32 w[(sizeof(T) + 3) / 4] = {0};
    memcpy(w, &x, sizeof(T));
#pragma unroll
    for (int i = 0; i < (int)(sizeof(w) / 4); ++i)
        w[i] = fu_shfl_down_word(w[i], by);
    memcpy(&x, w, sizeof(T));
    return x;
}

template <typename T>
static __device__ __forceinline__ T fu_shfl_up(T x, int by)
{
    fu_u32 w[(sizeof(T) + 3) / 4] = {0};
    memcpy(w, &x, sizeof(T));
#pragma unroll
    for (int i = 0; i < (int)(sizeof(w) / 4); ++i)
        w[i] = fu_shfl_up_word(w[i], by);
    memcpy(&x, w, sizeof(T));
    return x;
}
