// A pointer that no primitive ever sees.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug block=32
// out y f32[32]
// REPORT crash
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    volatile float *p = fu_tid() == 5 ? (volatile float *)64 : y;
    *p = 1.0f; // BUG
    fu_store(y, fu_tid(), 1.0f);
}

// CASE clean block=32
// out y f32[32]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(bug)
FU_KERNEL(clean)
#endif
