// Kernels that do one thing right or wrong each, for emulator_test.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// y[i] = sum of x[0..threads): a barrier, shared memory, a shuffle.
extern "C" __global__ void total(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    float s = fu_load(x, tid);
    for (int m = 16; m >= 1; m /= 2)
        s += fu_shfl_xor(s, m);
    if (tid % 32 == 0)
        fu_sstore<float>(tid / 32 * 4, s);
    fu_barrier();
    float all = 0;
    for (int w = 0; w < 4; ++w)
        all += fu_sload<float>(w * 4);
    fu_store(y, tid, all);
}

// Two groups of 64 threads, each with a barrier of its own.
extern "C" __global__ void groups(float *FU_RESTRICT y)
{
    const int tid = fu_tid(), group = tid / 64;
    for (int k = 0; k < 3 + group; ++k) {
        fu_sstore<float>(tid * 4, (float)(tid + k));
        fu_group_barrier(group + 1, 64);
        const float other = fu_sload<float>((tid ^ 1) * 4);
        fu_group_barrier(group + 1, 64);
        fu_store(y, tid, other);
    }
}

extern "C" __global__ void divergent(float *FU_RESTRICT y)
{
    if (fu_tid() < 7)
        fu_barrier();
    fu_store(y, fu_tid(), 1.0f);
}

extern "C" __global__ void lonely_shuffle(float *FU_RESTRICT y)
{
    float v = 1.0f;
    if (fu_tid() != 3)
        v = fu_shfl_xor(v, 1);
    fu_store(y, fu_tid(), v);
}

extern "C" __global__ void outside(float *FU_RESTRICT y)
{
    fu_store(y, (fu_i64)fu_tid() + 1, 1.0f);
}

extern "C" __global__ void unaligned(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const fu_vec<float, 4> v = fu_vload<4>(x, 1);
    fu_vstore<4>(y, 0, v);
}

extern "C" __global__ void beyond_shared()
{
    fu_sstore<float>(fu_tid() * 4, 0.0f);
}

// No barrier between the store and the load of a neighbour.
extern "C" __global__ void racy(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() * 4, 0.0f);
    fu_barrier();
    fu_sstore<float>(fu_tid() * 4, (float)fu_tid());
    const float v = fu_sload<float>((fu_tid() ^ 1) * 4);
    fu_store(y, fu_tid(), v == v ? v : -1.0f);
}

extern "C" __global__ void where_am_i(fu_i32 *FU_RESTRICT y, const fu_i64 n, const bool on)
{
    const fu_i64 at = (fu_i64)fu_bid_y() * fu_grid_x() + fu_bid_x();
    if (fu_tid() == 0 && at < n && on)
        fu_store(y, at, fu_bid_x() + 100 * fu_bid_y());
}

#ifdef FU_EMULATE
// A condition that can't be answered, and one that never holds.
static int asked;

static bool reads_outside(void *p)
{
    if (asked++)
        fu_emu_read((const float *)p + 4096, 4);
    return false;
}

static bool never(void *)
{
    return false;
}

extern "C" __global__ void asks(float *FU_RESTRICT y)
{
    if (fu_tid() == 5)
        fu_emu_wait_until(reads_outside, y, "an answer");
    fu_store(y, fu_tid(), 1.0f);
}

extern "C" __global__ void waits(float *FU_RESTRICT y)
{
    if (fu_tid() == 5)
        fu_emu_wait_until(never, y, "an answer"); // here
    fu_store(y, fu_tid(), 1.0f);
}

FU_KERNEL(asks)
FU_KERNEL(waits)
FU_KERNEL(total)
FU_KERNEL(groups)
FU_KERNEL(divergent)
FU_KERNEL(lonely_shuffle)
FU_KERNEL(outside)
FU_KERNEL(unaligned)
FU_KERNEL(beyond_shared)
FU_KERNEL(racy)
FU_KERNEL(where_am_i)
#endif
