// Bulk copies both ways, and the mbarriers that count their bytes.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_90
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#include "async.cuh"
#else
#include "fu_emulate.h"
#endif

// One row: 1 KB by one thread, read by all.
// CASE row grid=2 block=64 smem=1040
// in x u32[512] = i * 3
// out y u32[512] = (i // 256 * 256 + 255 - i % 256) * 3
extern "C" __global__ void row(const fu_u32 *FU_RESTRICT x, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), bar = 1024;
    const fu_i64 from = (fu_i64)fu_bid_x() * 256;
    if (tid == 0) {
        fu_mbarrier_init(bar, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(bar, 1024);
        fu_bulk_load(0, x + from, 1024, bar);
    }
    fu_barrier();
    fu_mbarrier_wait(bar, 0);
    for (int k = tid; k < 256; k += 64)
        fu_store(y, from + k, fu_sload<fu_u32>((255 - k) * 4));
}

// A ring of three slots of two rows; the elected thread refills a slot when all
// have moved it to registers.
// CASE ring grid=3 block=128 smem=3120
// in a f32[5376] = i % 97
// in b f32[5376] = i % 89 * 2
// out y f32[5376] = i % 97 + i % 89 * 2
extern "C" __global__ void ring(const float *FU_RESTRICT a, const float *FU_RESTRICT b,
                                float *FU_RESTRICT y)
{
    const int tid = fu_tid(), bars = 3072, rows = 42;
    const int first = fu_bid_x(), step = fu_grid_x();
    const fu_u64 once = fu_evict_first(), keep = fu_evict_last();
    if (tid < 32 && fu_elect()) {
        for (int s = 0; s < 3; ++s)
            fu_mbarrier_init(bars + 8 * s, 1);
        fu_mbarrier_fence();
        for (int s = 0; s < 3; ++s) {
            const fu_i64 at = (fu_i64)(first + s * step) * 128;
            fu_mbarrier_expect(bars + 8 * s, 1024);
            fu_bulk_load_hint(s * 1024, a + at, 512, bars + 8 * s, once);
            fu_bulk_load_hint(s * 1024 + 512, b + at, 512, bars + 8 * s, keep);
        }
    }
    fu_barrier();
    int slot = 0, parity = 0;
    for (int r = first; r < rows; r += step) {
        fu_mbarrier_wait(bars + 8 * slot, parity);
        const float va = fu_sload<float>(slot * 1024 + tid * 4);
        const float vb = fu_sload<float>(slot * 1024 + 512 + tid * 4);
        fu_barrier();
        if (tid < 32 && fu_elect() && r + 3 * step < rows) {
            const fu_i64 at = (fu_i64)(r + 3 * step) * 128;
            fu_mbarrier_expect(bars + 8 * slot, 1024);
            fu_bulk_load(slot * 1024, a + at, 512, bars + 8 * slot);
            fu_bulk_load(slot * 1024 + 512, b + at, 512, bars + 8 * slot);
        }
        fu_store(y, (fu_i64)r * 128 + tid, va + vb);
        if (++slot == 3) {
            slot = 0;
            parity ^= 1;
        }
    }
}

// Rows out of shared memory: two slots, each written again when it has been
// read; all written at the end.
// CASE stores grid=2 block=64 smem=512
// out y u32[1024] = i * 5 + 1
extern "C" __global__ void stores(fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid();
    const fu_i64 from = (fu_i64)fu_bid_x() * 512;
    for (int k = 0; k < 8; ++k) {
        const int slot = k % 2 * 256;
        if (tid == 0)
            fu_bulk_wait_read<1>();
        fu_barrier();
        fu_sstore<fu_u32>(slot + tid * 4, (fu_u32)((from + k * 64 + tid) * 5 + 1));
        fu_fence_async();
        fu_barrier();
        if (tid == 0) {
            fu_bulk_store(y + from + k * 64, slot, 256);
            fu_bulk_commit();
        }
    }
    if (tid == 0)
        fu_bulk_wait<0>();
}

// In, changed in place, and out again.
// CASE in_place grid=1 block=64 smem=272
// in x u32[64] = i + 10
// out y u32[64] = 2 * (i + 10)
// out seen u32[64] = 2 * ((i ^ 1) + 10)
extern "C" __global__ void in_place(const fu_u32 *FU_RESTRICT x, fu_u32 *y,
                                    fu_u32 *FU_RESTRICT seen)
{
    const int tid = fu_tid(), bar = 256;
    if (tid == 0) {
        fu_mbarrier_init(bar, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(bar, 256);
        fu_bulk_load(0, x, 256, bar);
    }
    fu_barrier();
    while (!fu_mbarrier_try(bar, 0))
        ;
    fu_sstore<fu_u32>(tid * 4, 2u * fu_sload<fu_u32>(tid * 4));
    fu_fence_async();
    fu_barrier();
    if (tid == 0) {
        fu_bulk_store(y, 0, 256);
        fu_bulk_commit();
        fu_bulk_wait<0>();
    }
    fu_barrier();
    fu_store(seen, tid, fu_load(y, tid ^ 1));
}

#ifdef FU_EMULATE
FU_KERNEL(row)
FU_KERNEL(ring)
FU_KERNEL(stores)
FU_KERNEL(in_place)
#endif
