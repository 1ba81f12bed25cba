// Pieces copied by cp.async, and mbarriers as sm_80 has them.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "async.cuh"
#else
#include "fu_emulate.h"
#endif

// Each size of piece; every thread reads what its neighbour has copied.
// CASE pieces grid=1 block=64 smem=1792
// in x u32[448] = i * i
// out y u32[448] = (i ^ 1 if i < 64 else i ^ 2 if i < 192 else i ^ 4) ** 2
extern "C" __global__ void pieces(const fu_u32 *FU_RESTRICT x, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid();
    fu_copy_async<4>(tid * 4, x + tid);
    fu_copy_async<8>(256 + tid * 8, x + 64 + tid * 2);
    fu_copy_async<16>(768 + tid * 16, x + 192 + tid * 4);
    fu_copy_async_commit();
    fu_copy_async_wait<0>();
    fu_barrier();
    const int other = tid ^ 1;
    fu_store(y, tid, fu_sload<fu_u32>(other * 4));
    for (int k = 0; k < 2; ++k)
        fu_store(y, 64 + tid * 2 + k, fu_sload<fu_u32>(256 + other * 8 + k * 4));
    for (int k = 0; k < 4; ++k)
        fu_store(y, 192 + tid * 4 + k, fu_sload<fu_u32>(768 + other * 16 + k * 4));
}

// The first `bytes` of a piece, then zeros; what lies behind them isn't read: x
// ends there.
// CASE filled grid=1 block=17 smem=480
// in x u8[241] = 1 + i % 200
// out y u8[272] = 1 + i % 200 if i % 16 < 16 - i // 16 else 0
// out z u32[51] = (0x04030201, 0, 9)[i % 3]
extern "C" __global__ void filled(const fu_u8 *FU_RESTRICT x, fu_u8 *FU_RESTRICT y,
                                  fu_u32 *FU_RESTRICT z)
{
    const int tid = fu_tid();
    fu_copy_async_fill<16>(tid * 16, x + tid * 16, 16 - tid);
    fu_copy_async_fill<8>(272 + tid * 8, x, 4);
    fu_copy_async_fill<4>(408 + tid * 4, x + 8, 1);
    fu_copy_async_commit();
    fu_copy_async_wait<0>();
    for (int k = 0; k < 16; ++k)
        fu_store(y, tid * 16 + k, fu_sload<fu_u8>(tid * 16 + k));
    for (int k = 0; k < 2; ++k)
        fu_store(z, tid * 3 + k, fu_sload<fu_u32>(272 + tid * 8 + k * 4));
    fu_store(z, tid * 3 + 2, fu_sload<fu_u32>(408 + tid * 4));
}

// A ring of three rows; two are under way while one is used.
// CASE ring grid=2 block=32 smem=384
// in x f32[640] = i * 0.25
// out y f32[640] = (i ^ 31) * 0.25 + 1
extern "C" __global__ void ring(const float *FU_RESTRICT x, float *FU_RESTRICT y)
{
    const int tid = fu_tid();
    const fu_i64 from = (fu_i64)fu_bid_x() * 320;
    for (int s = 0; s < 2; ++s) {
        fu_copy_async<4>(s * 128 + tid * 4, x + from + s * 32 + tid);
        fu_copy_async_commit();
    }
    for (int row = 0; row < 10; ++row) {
        const int slot = row % 3;
        fu_copy_async_wait<1>();
        fu_barrier();
        if (row + 2 < 10)
            fu_copy_async<4>((row + 2) % 3 * 128 + tid * 4,
                             x + from + (row + 2) * 32 + tid);
        fu_copy_async_commit();
        const float v = fu_sload<float>(slot * 128 + (31 - tid) * 4);
        fu_store(y, from + row * 32 + tid, v + 1.0f);
    }
}

// Pieces of one thread that an mbarrier counts: all others read them behind their
// wait, as vectors.
// CASE counted grid=2 block=64 smem=1040
// in x u32[512] = i * 7
// out y u32[512] = (i // 128 * 128 + 127 - i % 128) * 7
extern "C" __global__ void counted(const fu_u32 *FU_RESTRICT x, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), bars = 1024;
    const fu_i64 from = (fu_i64)fu_bid_x() * 256;
    if (tid == 0) {
        for (int s = 0; s < 2; ++s)
            fu_mbarrier_init(bars + 8 * s, 2);
        fu_mbarrier_fence();
        for (int s = 0; s < 2; ++s) {
            for (int k = 0; k < 128; k += 4)
                fu_copy_async<16>(s * 512 + k * 4, x + from + s * 128 + k);
            fu_mbarrier_arrive_copies(bars + 8 * s);
            fu_mbarrier_arrive(bars + 8 * s);
        }
    }
    fu_barrier();
    for (int s = 0; s < 2; ++s) {
        fu_mbarrier_wait(bars + 8 * s, 0);
        const fu_vec<fu_u32, 2> v = fu_vsload<fu_u32, 2>(s * 512 + (63 - tid) * 8);
        for (int e = 0; e < 2; ++e)
            fu_store(y, from + s * 128 + tid * 2 + e, fu_get(v, 1 - e));
    }
}

// An mbarrier of all threads orders as the block's barrier does; invalidated,
// its word is memory like any other.
// CASE phases grid=1 block=96 smem=512
// out y u32[480] = i // 96 * 1000 + (i % 96 + 1 + i // 96) % 96
// out z u32[96] = 9
extern "C" __global__ void phases(fu_u32 *FU_RESTRICT y, fu_u32 *FU_RESTRICT z)
{
    const int tid = fu_tid(), bar = 384;
    if (tid == 0)
        fu_mbarrier_init(bar, 96);
    fu_mbarrier_fence();
    fu_barrier();
    int parity = 0;
    for (int k = 0; k < 5; ++k) {
        fu_sstore<fu_u32>(tid * 4, (fu_u32)(k * 1000 + tid));
        fu_mbarrier_arrive(bar);
        fu_mbarrier_wait(bar, parity);
        parity ^= 1;
        fu_store(y, k * 96 + tid, fu_sload<fu_u32>((tid + 1 + k) % 96 * 4));
        fu_mbarrier_arrive(bar);
        while (!fu_mbarrier_try(bar, parity))
            ;
        parity ^= 1;
    }
    fu_barrier();
    if (tid == 0) {
        fu_mbarrier_inval(bar);
        fu_sstore<fu_u32>(bar, 9u);
    }
    fu_barrier();
    fu_store(z, tid, fu_sload<fu_u32>(bar));
}

#ifdef FU_EMULATE
FU_KERNEL(pieces)
FU_KERNEL(filled)
FU_KERNEL(counted)
FU_KERNEL(ring)
FU_KERNEL(phases)
#endif
