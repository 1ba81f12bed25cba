// Loads of what nobody stored: an output, a workspace.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE output block=32
// out y f32[32]
// REPORT uninitialised
extern "C" __global__ void output(float *FU_RESTRICT y)
{
    const float v = fu_load(y, fu_tid()); // BUG
    fu_store(y, fu_tid(), v + 1.0f);
}

// CASE clean_first grid=2 block=32
// THEN workspace grid=2 block=32
// out y f32[64]
// work w f32[64]
// REPORT uninitialised
extern "C" __global__ void workspace(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_store(y, at, fu_load(w, at ^ 1)); // BUG
}

// CASE clean_first grid=2 block=32
// THEN clean_second grid=2 block=32
// out y f32[64]
// work w f32[64]
extern "C" __global__ void clean_first(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    if (at % 2 == 0)
        fu_store(w, at, 1.0f);
}

extern "C" __global__ void clean_second(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_store(y, at, fu_load(w, at & ~1));
}

#ifdef FU_EMULATE
FU_KERNEL(output)
FU_KERNEL(workspace)
FU_KERNEL(clean_first)
FU_KERNEL(clean_second)
#endif
