// Two threads, one writes, no barrier between; and what orders them.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE two_writes block=64 smem=128
// out y f32[64]
// REPORT shared-race
extern "C" __global__ void two_writes(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() % 32 * 4, 1.0f); // BUG // OTHER
    fu_barrier();
    fu_store(y, fu_tid(), fu_sload<float>(fu_tid() % 32 * 4));
}

// CASE read_after_write block=64 smem=256
// out y f32[64]
// REPORT shared-race
extern "C" __global__ void read_after_write(float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    fu_sstore<float>(tid * 4, 0.0f);
    fu_barrier();
    if (tid < 32)
        fu_sstore<float>(tid * 4, 1.0f); // OTHER
    fu_warp_barrier();
    if (tid >= 32)
        fu_store(y, tid, fu_sload<float>((tid - 32) * 4)); // BUG
    else
        fu_store(y, tid, 0.0f);
}

// The readers of the round before may not have read yet.
// CASE write_after_read block=64 smem=256
// out y f32[64]
// REPORT shared-race
extern "C" __global__ void write_after_read(float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    float sum = 0.0f;
    for (int round = 0; round < 3; ++round) {
        fu_sstore<float>(tid * 4, (float)round); // OTHER
        fu_barrier();
        sum += fu_sload<float>(tid / 32 * 4); // BUG
        sum += fu_sload<float>((tid ^ 32) * 4);
    }
    fu_store(y, tid, sum);
}

// The barrier of the other group orders nothing here.
// CASE groups block=128 smem=512
// out y f32[128]
// REPORT shared-race
extern "C" __global__ void groups(float *FU_RESTRICT y)
{
    const int tid = fu_tid(), group = tid / 64;
    fu_sstore<float>(tid * 4, 1.0f);
    fu_barrier();
    fu_sstore<float>(tid * 4, 2.0f); // OTHER
    fu_group_barrier(1 + group, 64);
    const float own = fu_sload<float>((tid ^ 1) * 4);
    float other = 0.0f;
    if (group)
        other = fu_sload<float>((tid ^ 64) * 4); // BUG
    fu_store(y, tid, own + other);
}

// CASE clean block=128 smem=512
// out y f32[128]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    const int tid = fu_tid(), group = tid / 64;
    float sum = 0.0f;
    for (int round = 0; round < 3; ++round) {
        fu_sstore<float>(tid * 4, (float)round);
        fu_warp_barrier();
        sum += fu_sload<float>((tid ^ 1) * 4);
        fu_group_barrier(1 + group, 64);
        sum += fu_sload<float>((tid ^ 32) * 4);
        fu_barrier();
        sum += fu_sload<float>((tid ^ 64) * 4);
        fu_barrier();
    }
    fu_store(y, tid, sum);
}

#ifdef FU_EMULATE
FU_KERNEL(two_writes)
FU_KERNEL(read_after_write)
FU_KERNEL(write_after_read)
FU_KERNEL(groups)
FU_KERNEL(clean)
#endif
