// An output that isn't fully written; its gaps needn't be.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug grid=2 block=32
// out y f32[64]
// REPORT not-written
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    if (at != 40)
        fu_store(y, at, 1.0f);
}

// CASE half block=32
// in-place y f32[2,32]
// REPORT not-written
extern "C" __global__ void half(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
}

// CASE clean grid=2 block=32
// out y f32[2,32] strides 40,1
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    fu_store(y, fu_bid_x() * 40 + fu_tid(), 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(bug)
FU_KERNEL(half)
FU_KERNEL(clean)
#endif
