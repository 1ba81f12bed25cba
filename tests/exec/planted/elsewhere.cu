// A store between the elements of a tensor, a counter left behind.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE gap grid=2 block=32
// out y f32[2,30] strides 40,1
// REPORT elsewhere
extern "C" __global__ void gap(float *FU_RESTRICT y)
{
    fu_store(y, fu_bid_x() * 40 + fu_tid(), 1.0f); // BUG
}

// CASE counter block=32
// word n u32[1]
// REPORT not-zero
extern "C" __global__ void counter(fu_u32 *FU_RESTRICT n)
{
    if (fu_tid() == 0)
        fu_store(n, 0, fu_load(n, 0) + 1u);
}

// CASE clean grid=2 block=32
// out y f32[2,30] strides 40,1
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    if (fu_tid() < 30)
        fu_store(y, fu_bid_x() * 40 + fu_tid(), 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(gap)
FU_KERNEL(counter)
FU_KERNEL(clean)
#endif
