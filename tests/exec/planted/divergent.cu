// Barriers that only some threads reach, or at two lines.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE left block=64
// out y f32[64]
// REPORT divergent
extern "C" __global__ void left(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
    if (fu_tid() < 40)
        fu_barrier(); // BUG
}

// CASE two_places block=128
// out y f32[128]
// REPORT divergent
extern "C" __global__ void two_places(float *FU_RESTRICT y)
{
    if (fu_tid() < 64)
        fu_group_barrier(1, 128); // BUG
    else
        fu_group_barrier(2, 128);
    fu_store(y, fu_tid(), 1.0f);
}

// CASE two_lines block=64
// out y f32[64]
// REPORT divergent
extern "C" __global__ void two_lines(float *FU_RESTRICT y)
{
    if (fu_tid() % 2)
        fu_barrier(); // BUG
    else
        fu_barrier();
    fu_store(y, fu_tid(), 1.0f);
}

// CASE clean block=128
// out y f32[128]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    if (fu_tid() < 64)
        fu_group_barrier(1, 64);
    else
        fu_group_barrier(2, 64);
    fu_barrier();
    fu_store(y, fu_tid(), 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(left)
FU_KERNEL(two_places)
FU_KERNEL(two_lines)
FU_KERNEL(clean)
#endif
