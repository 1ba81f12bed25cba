// A barrier that two groups use with different counts.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug block=128
// out y f32[128]
// REPORT barrier-mismatch
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
    if (fu_tid() < 64)
        fu_group_barrier(1, 128); // OTHER
    else
        fu_group_barrier(1, 64); // BUG
}

// CASE odd block=128
// out y f32[128]
// REPORT barrier-mismatch
extern "C" __global__ void odd(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
    if (fu_tid() < 40)
        fu_group_barrier(1, 40); // BUG
}

// CASE clean block=128
// out y f32[128]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
    if (fu_tid() < 64)
        fu_group_barrier(1, 64);
    fu_group_barrier(2, 128);
}

#ifdef FU_EMULATE
FU_KERNEL(bug)
FU_KERNEL(odd)
FU_KERNEL(clean)
#endif
