// A dependent launch that doesn't wait for the one before.
#ifndef FU_EMULATE
#include "prim.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE produce grid=2 block=32
// THEN reads grid=2 block=32 pdl
// out y f32[64]
// work w f32[64]
// REPORT pdl-order
extern "C" __global__ void reads(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    const float v = fu_load(w, at); // BUG
    fu_pdl_wait();
    fu_store(y, at, v);
}

// Writes what the launch before reads.
// CASE produce grid=2 block=32
// THEN consume grid=2 block=32
// THEN writes grid=2 block=32 pdl
// out y f32[64]
// work w f32[64]
// REPORT pdl-order
extern "C" __global__ void writes(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_store(w, at, 0.0f); // BUG
}

// CASE produce grid=2 block=32
// THEN clean grid=2 block=32 pdl
// out y f32[64]
// work w f32[64]
extern "C" __global__ void clean(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_pdl_wait();
    fu_store(y, at, fu_load(w, (at + 32) % 64));
}

extern "C" __global__ void produce(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_pdl_launch();
    fu_store(w, at, 1.0f);
}

extern "C" __global__ void consume(float *FU_RESTRICT y, float *FU_RESTRICT w)
{
    const int at = fu_bid_x() * 32 + fu_tid();
    fu_store(y, at, fu_load(w, at));
}

#ifdef FU_EMULATE
FU_KERNEL(reads)
FU_KERNEL(writes)
FU_KERNEL(clean)
FU_KERNEL(produce)
FU_KERNEL(consume)
#endif
