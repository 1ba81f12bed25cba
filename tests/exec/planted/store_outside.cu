// Stores outside the tensors, and to an input.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE behind grid=2 block=32
// out y f32[63]
// REPORT out-of-bounds
extern "C" __global__ void behind(float *FU_RESTRICT y)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_store(y, at, 1.0f); // BUG
}

// CASE to_input block=32
// in x f32[32]
// REPORT input-written
extern "C" __global__ void to_input(float *FU_RESTRICT x)
{
    const float v = fu_load(x, fu_tid());
    fu_store(x, fu_tid(), v + 1.0f); // BUG
}

// CASE clean grid=2 block=32
// in-place y f32[63]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    if (at < 63)
        fu_store(y, at, fu_load(y, at) + 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(behind)
FU_KERNEL(to_input)
FU_KERNEL(clean)
#endif
