// An index outside a local array.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE reads block=32
// in x f32[32]
// out y f32[32]
// REPORT local-out-of-bounds
extern "C" __global__ void reads(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    float v[8];
    for (int k = 0; k < 8; ++k)
        v[k] = fu_load(x, (tid + k) % 32);
    fu_store(y, tid, v[tid % 9]); // BUG
}

// CASE writes block=32
// in x f32[32]
// out y f32[32]
// REPORT local-out-of-bounds
extern "C" __global__ void writes(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    v[tid / 7] = fu_load(x, tid); // BUG
    fu_store(y, tid, v[tid % 4]);
}

// CASE clean block=32
// in x f32[32]
// out y f32[32]
extern "C" __global__ void clean(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    float v[8];
    for (int k = 0; k < 8; ++k)
        v[k] = fu_load(x, (tid + k) % 32);
    fu_store(y, tid, v[tid % 8]);
}

#ifdef FU_EMULATE
FU_KERNEL(reads)
FU_KERNEL(writes)
FU_KERNEL(clean)
#endif
