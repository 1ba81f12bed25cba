// A shuffle that not all lanes of the warp take part in.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug block=64
// out y f32[64]
// REPORT divergent
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    float v = (float)fu_tid();
    if (fu_tid() != 35)
        v = fu_shfl_xor(v, 1); // BUG
    fu_store(y, fu_tid(), v);
}

// CASE two_lines block=64
// out y f32[64]
// REPORT divergent
extern "C" __global__ void two_lines(float *FU_RESTRICT y)
{
    float v = (float)fu_tid();
    if (fu_tid() % 2)
        v = fu_shfl_xor(v, 1); // BUG
    else
        v = -fu_shfl_xor(v, 1); // OTHER
    fu_store(y, fu_tid(), v);
}

// CASE clean block=64
// out y f32[64]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    float v = (float)fu_tid();
    if (fu_tid() < 32)
        v = fu_shfl_xor(v, 1);
    fu_store(y, fu_tid(), v);
}

#ifdef FU_EMULATE
FU_KERNEL(bug)
FU_KERNEL(two_lines)
FU_KERNEL(clean)
#endif
