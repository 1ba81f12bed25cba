// Bulk copies: what they write, read, count and leave behind.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_90
#include "twins.cuh"

// An mbarrier at `bar` for copies of the elected thread.
static __device__ __forceinline__ void make(int bar)
{
    fu_mbarrier_init(bar, 1);
    fu_mbarrier_fence();
}

// TWINS early grid=1 block=32 smem=144 report=in-flight
// in x u32[32] = i
// out y u32[32] = 31 - i
BODY(early)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128);
    }
    fu_barrier();
    if (!BAD)
        fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>((31 - tid) * 4)); // BUG
    fu_mbarrier_wait(128, 0);
}
TWINS(early, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS more_expected grid=1 block=32 smem=144 report=deadlock
// in x u32[32] = i
// out y u32[32] = i
BODY(more_expected)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, BAD ? 224 : 128);
        fu_bulk_load(0, x, 128, 128);
    }
    fu_barrier();
    fu_mbarrier_wait(128, 0); // BUG
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(more_expected, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS less_expected grid=1 block=32 smem=144 report=sync-misuse
// in x u32[32] = i
// out y u32[32] = i
BODY(less_expected)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, BAD ? 112 : 128);
        fu_bulk_load(0, x, 128, 128);
    }
    fu_barrier();
    fu_mbarrier_wait(128, 0); // BUG
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(less_expected, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS odd_size grid=1 block=32 smem=144 report=misaligned
// in x u32[32] = i
// out y u32[32] = i if i < 28 else 0
BODY(odd_size)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid(), bytes = BAD ? 120 : 112;
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, bytes);
        fu_bulk_load(0, x, bytes, 128); // BUG
    }
    fu_barrier();
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, tid < 28 ? fu_sload<fu_u32>(tid * 4) : 0u);
}
TWINS(odd_size, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS odd_source grid=1 block=28 smem=144 report=misaligned
// in x u32[40] = i
// out y u32[28] = i + 4
BODY(odd_source)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, 112);
        fu_bulk_load(0, x + (BAD ? 2 : 4), 112, 128); // BUG
    }
    fu_barrier();
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(odd_source, (const fu_u32 *x, fu_u32 *y), (x, y))

// The copies must not begin before the mbarrier is theirs.
// TWINS unfenced grid=1 block=32 smem=144 report=sync-misuse
// in x u32[32] = i
// out y u32[32] = i
BODY(unfenced)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        fu_mbarrier_init(128, 1);
        if (!BAD)
            fu_mbarrier_fence();
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128); // BUG
    }
    fu_barrier();
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(unfenced, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS refill grid=1 block=64 smem=272 report=shared-race
// in x u32[128] = i
// out y u32[128] = i // 64 * 64 + 63 - i % 64
BODY(refill)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0)
        make(256);
    fu_barrier();
    for (int r = 0; r < 2; ++r) {
        if (tid == 0) {
            fu_mbarrier_expect(256, 256);
            fu_bulk_load(0, x + r * 64, 256, 256); // BUG
        }
        fu_mbarrier_wait(256, r);
        fu_store(y, r * 64 + tid, fu_sload<fu_u32>((63 - tid) * 4));
        if (!BAD)
            fu_barrier();
        if (BAD)
            fu_warp_barrier();
    }
}
TWINS(refill, (const fu_u32 *x, fu_u32 *y), (x, y))

// Two copies to one place at once.
// TWINS twice grid=1 block=32 smem=272 report=in-flight
// in x u32[64] = i
// out y u32[32] = i + 32
BODY(twice)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid(), second = BAD ? 0 : 128;
    if (tid == 0) {
        make(256);
        fu_mbarrier_expect(256, 256);
        fu_bulk_load(0, x, 128, 256);
        fu_bulk_load(second, x + 32, 128, 256); // BUG
    }
    fu_barrier();
    fu_mbarrier_wait(256, 0);
    fu_store(y, tid, fu_sload<fu_u32>(second + tid * 4));
}
TWINS(twice, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS source grid=1 block=32 smem=144 report=in-flight
// word x u32[32] -> 2
// out y u32[32] = 0
BODY(source)(fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128);
    }
    fu_barrier();
    if (!BAD)
        fu_mbarrier_wait(128, 0);
    fu_store(x, tid, 2u); // BUG
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(source, (fu_u32 *x, fu_u32 *y), (x, y))

// TWINS load_left grid=1 block=32 smem=144 report=block-left
// in x u32[32] = i
// out y u32[32] = 1
BODY(load_left)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        make(128);
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128); // BUG
    }
    fu_barrier();
    if (!BAD)
        fu_mbarrier_wait(128, 0);
    fu_store(y, tid, 1u);
}
TWINS(load_left, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS no_async_fence grid=1 block=32 smem=128 report=sync-misuse
// out y u32[32] = i
BODY(no_async_fence)(fu_u32 *y)
{
    const int tid = fu_tid();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)tid);
    if (!BAD)
        fu_fence_async();
    fu_barrier();
    if (tid == 0) {
        fu_bulk_store(y, 0, 128); // BUG
        fu_bulk_commit();
        fu_bulk_wait<0>();
    }
}
TWINS(no_async_fence, (fu_u32 *y), (y))

// The fence of the thread that issues serves too, behind the barrier.
// TWINS issuer_fence grid=1 block=32 smem=128 report=sync-misuse
// out y u32[32] = i
BODY(issuer_fence)(fu_u32 *y)
{
    const int tid = fu_tid();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)tid);
    if (BAD && tid == 0)
        fu_fence_async();
    fu_barrier();
    if (tid == 0) {
        if (!BAD)
            fu_fence_async();
        fu_bulk_store(y, 0, 128); // BUG
        fu_bulk_commit();
        fu_bulk_wait<0>();
    }
}
TWINS(issuer_fence, (fu_u32 *y), (y))

// TWINS rewritten grid=1 block=32 smem=128 report=in-flight
// out y u32[64] = i
BODY(rewritten)(fu_u32 *y)
{
    const int tid = fu_tid();
    for (int r = 0; r < 2; ++r) {
        if (tid == 0 && !BAD)
            fu_bulk_wait_read<0>();
        fu_barrier();
        fu_sstore<fu_u32>(tid * 4, (fu_u32)(r * 32 + tid)); // BUG
        fu_fence_async();
        fu_barrier();
        if (tid == 0) {
            fu_bulk_store(y + r * 32, 0, 128);
            fu_bulk_commit();
        }
    }
    if (tid == 0)
        fu_bulk_wait<0>();
}
TWINS(rewritten, (fu_u32 *y), (y))

// Read is not written: `_read` says that the slot is free, no more.
// TWINS read_back grid=1 block=32 smem=128 report=in-flight
// word y u32[32] -> i
// out z u32[32] = 31 - i
BODY(read_back)(fu_u32 *y, fu_u32 *z)
{
    const int tid = fu_tid();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)tid);
    fu_fence_async();
    fu_barrier();
    if (tid == 0) {
        fu_bulk_store(y, 0, 128);
        fu_bulk_commit();
        if (BAD)
            fu_bulk_wait_read<0>();
        else
            fu_bulk_wait<0>();
    }
    fu_barrier();
    fu_store(z, tid, fu_load(y, 31 - tid)); // BUG
}
TWINS(read_back, (fu_u32 *y, fu_u32 *z), (y, z))

// TWINS store_left grid=1 block=32 smem=128 report=block-left
// out y u32[32] = i
BODY(store_left)(fu_u32 *y)
{
    const int tid = fu_tid();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)tid);
    fu_fence_async();
    fu_barrier();
    if (tid == 0) {
        fu_bulk_store(y, 0, 128); // BUG
        fu_bulk_commit();
        if (!BAD)
            fu_bulk_wait_read<0>();
    }
}
TWINS(store_left, (fu_u32 *y), (y))

// What this launch stored and then loads in bulk needs the fence as well.
// TWINS global_fence grid=1 block=32 smem=144 report=sync-misuse
// word x u32[32] -> i
// out y u32[32] = 31 - i
BODY(global_fence)(fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_store(x, tid, (fu_u32)tid);
    if (!BAD)
        fu_fence_async();
    if (tid == 0)
        make(128);
    fu_barrier();
    if (tid == 0) {
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128); // BUG
    }
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>((31 - tid) * 4));
}
TWINS(global_fence, (fu_u32 *x, fu_u32 *y), (x, y))
