// Loads of shared memory that this block never wrote.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug grid=2 block=32 smem=256
// out y f32[64]
// REPORT shared-uninitialised
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    // Block 0 writes all; block 1 finds what block 0 left there.
    if (fu_bid_x() == 0 || fu_tid() < 31)
        fu_sstore<float>(fu_tid() * 4, 1.0f);
    fu_barrier();
    const float v = fu_sload<float>((fu_tid() ^ 1) * 4); // BUG
    fu_store(y, fu_bid_x() * 32 + fu_tid(), v);
}

// CASE clean grid=2 block=32 smem=256
// out y f32[64]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() * 4, 1.0f);
    fu_barrier();
    const float v = fu_sload<float>((fu_tid() ^ 1) * 4);
    fu_store(y, fu_bid_x() * 32 + fu_tid(), v);
}

#ifdef FU_EMULATE
FU_KERNEL(bug)
FU_KERNEL(clean)
#endif
