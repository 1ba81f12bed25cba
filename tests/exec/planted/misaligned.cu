// Accesses at addresses that their size doesn't divide.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE global block=32
// in x f32[160]
// out y f32[32]
// REPORT misaligned
extern "C" __global__ void global(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const fu_vec<float, 4> v = fu_vload<4>(x, (fu_i64)fu_tid() * 4 + 2); // BUG
    fu_store(y, fu_tid(), fu_get(v, 3));
}

// CASE shared block=32 smem=512
// out y f32[32]
// REPORT misaligned
extern "C" __global__ void shared(float *FU_RESTRICT y)
{
    fu_sstore<double>(fu_tid() * 8 + 4, 1.0); // BUG
    fu_barrier();
    fu_store(y, fu_tid(), 0.0f);
}

// CASE clean block=32 smem=512
// in x f32[160]
// out y f32[32]
extern "C" __global__ void clean(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const fu_vec<float, 2> v = fu_vload<2>(x, (fu_i64)fu_tid() * 4 + 2);
    fu_sstore<double>(fu_tid() * 8, fu_get(v, 1));
    fu_barrier();
    fu_store(y, fu_tid(), (float)fu_sload<double>(fu_tid() * 8));
}

#ifdef FU_EMULATE
FU_KERNEL(global)
FU_KERNEL(shared)
FU_KERNEL(clean)
#endif
