// A cooperative grid that the device can't hold.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE bug grid=9 block=32 cooperative sms=4 per_sm=2
// out y f32[288]
// REPORT too-many-blocks
extern "C" __global__ void bug(float *FU_RESTRICT y)
{
    fu_store(y, fu_bid_x() * 32 + fu_tid(), 1.0f);
}

// CASE bug grid=8 block=32 cooperative sms=4 per_sm=2
// out y f32[256]

#ifdef FU_EMULATE
FU_KERNEL(bug)
#endif
