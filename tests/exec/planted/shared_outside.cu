// Shared memory out of range, by the last bytes of an access.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE last block=32 smem=126
// out y f32[32]
// REPORT shared-out-of-bounds
extern "C" __global__ void last(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() * 4, 1.0f); // BUG
    fu_barrier();
    fu_store(y, fu_tid(), fu_sload<float>(fu_tid() * 4));
}

// CASE far block=32 smem=128
// out y f32[32]
// REPORT shared-out-of-bounds
extern "C" __global__ void far(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() * 4, 1.0f);
    fu_barrier();
    fu_store(y, fu_tid(), fu_sload<float>(fu_tid() * 4 - 64)); // BUG
}

// CASE clean block=32 smem=128
// out y f32[32]
extern "C" __global__ void clean(float *FU_RESTRICT y)
{
    fu_sstore<float>(fu_tid() * 4, 1.0f);
    fu_barrier();
    fu_store(y, fu_tid(), fu_sload<float>((fu_tid() * 4 + 64) % 128));
}

#ifdef FU_EMULATE
FU_KERNEL(last)
FU_KERNEL(far)
FU_KERNEL(clean)
#endif
