// Loads behind and before a tensor.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE behind block=32
// in x f32[32]
// out y f32[32]
// REPORT out-of-bounds
extern "C" __global__ void behind(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    float v = fu_load(x, (fu_i64)fu_tid() + 1); // BUG
    fu_store(y, fu_tid(), v);
}

// CASE before block=32
// in x f32[32]
// out y f32[32]
// REPORT out-of-bounds
extern "C" __global__ void before(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const fu_vec<float, 4> v = fu_vload<4>(x, (fu_i64)fu_tid() * 4 - 4); // BUG
    fu_store(y, fu_tid(), fu_get(v, 0));
}

// CASE clean block=32
// in x f32[32]
// out y f32[32]
extern "C" __global__ void clean(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    float v = fu_load(x, fu_tid());
    fu_store(y, fu_tid(), v);
}

#ifdef FU_EMULATE
FU_KERNEL(behind)
FU_KERNEL(before)
FU_KERNEL(clean)
#endif
