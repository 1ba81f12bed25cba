// Launches that no device takes.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE kernel block=1056
// out y f32[1056]
// REPORT bad-launch

// CASE kernel grid=6 block=32 cluster=4
// out y f32[192]
// REPORT bad-launch

// CASE kernel block=32 smem=262144
// out y f32[32]
// REPORT bad-launch

// CASE colonel block=32
// out y f32[32]
// REPORT unknown-kernel

// CASE kernel grid=8 block=1024 cluster=4 smem=232448
// out y f32[8192]
extern "C" __global__ void kernel(float *FU_RESTRICT y)
{
    fu_store(y, fu_bid_x() * 1024 + fu_tid(), 1.0f);
}

#ifdef FU_EMULATE
FU_KERNEL(kernel)
#endif
