// Two blocks touch one element with nothing that orders them.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE two_writes grid=2 block=32
// out y f32[32]
// REPORT global-race
extern "C" __global__ void two_writes(float *FU_RESTRICT y)
{
    fu_store(y, fu_tid(), (float)fu_bid_x()); // BUG // OTHER
}

// CASE read_write grid=2 block=32
// in-place y f32[64]
// REPORT global-race
extern "C" __global__ void read_write(float *FU_RESTRICT y)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    const float v = fu_load(y, (at + 32) % 64); // BUG
    fu_store(y, at, v); // OTHER
}

// CASE in_block block=64
// in-place y f32[64]
// REPORT global-race
extern "C" __global__ void in_block(float *FU_RESTRICT y)
{
    const float v = fu_load(y, fu_tid() ^ 32); // BUG
    fu_store(y, fu_tid(), v); // OTHER
}

// CASE clean_first grid=2 block=64
// THEN clean_second grid=2 block=64
// out y f32[128]
// work w f32[128]
extern "C" __global__ void clean_first(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 64 + fu_tid();
    fu_store(w, at, 1.0f);
    fu_barrier();
    const float v = fu_load(w, at ^ 32);
    fu_barrier();
    fu_store(w, at, v + 1.0f);
}

extern "C" __global__ void clean_second(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 64 + fu_tid();
    fu_store(y, at, fu_load(w, (at + 64) % 128));
}

#ifdef FU_EMULATE
FU_KERNEL(two_writes)
FU_KERNEL(read_write)
FU_KERNEL(in_block)
FU_KERNEL(clean_first)
FU_KERNEL(clean_second)
#endif
