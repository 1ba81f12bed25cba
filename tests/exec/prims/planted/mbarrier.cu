// Mbarriers counted or used wrongly.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_90
#include "twins.cuh"

// TWINS uninitialised grid=1 block=32 smem=16 report=sync-misuse
// out y u32[32] = 1
BODY(uninitialised)(fu_u32 *y)
{
    if (fu_tid() == 0 && !BAD)
        fu_mbarrier_init(8, 32);
    fu_barrier();
    fu_mbarrier_arrive(8); // BUG
    fu_mbarrier_wait(8, 0);
    fu_store(y, fu_tid(), 1u);
}
TWINS(uninitialised, (fu_u32 *y), (y))

// TWINS unseen grid=1 block=32 smem=16 report=sync-misuse
// out y u32[32] = 1
BODY(unseen)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(8, 32);
    if (!BAD)
        fu_barrier();
    fu_mbarrier_arrive(8); // BUG
    fu_mbarrier_wait(8, 0);
    fu_store(y, fu_tid(), 1u);
}
TWINS(unseen, (fu_u32 *y), (y))

// TWINS one_short grid=1 block=32 smem=16 report=deadlock
// out y u32[32] = 1
BODY(one_short)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(8, BAD ? 33 : 32);
    fu_barrier();
    fu_mbarrier_arrive(8);
    fu_mbarrier_wait(8, 0); // BUG
    fu_store(y, fu_tid(), 1u);
}
TWINS(one_short, (fu_u32 *y), (y))

// TWINS tried_for_ever grid=1 block=32 smem=16 report=deadlock
// out y u32[32] = 1
BODY(tried_for_ever)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(8, BAD ? 33 : 32);
    fu_barrier();
    fu_mbarrier_arrive(8);
    if (fu_tid() == 9)
        while (!fu_mbarrier_try(8, 0)) // BUG
            ;
    fu_store(y, fu_tid(), 1u);
}
TWINS(tried_for_ever, (fu_u32 *y), (y))

// A second arrival while the phase waits for bytes.
// TWINS one_more grid=1 block=32 smem=272 report=sync-misuse
// in x u32[64] = i
// out y u32[32] = i
BODY(one_more)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        fu_mbarrier_init(256, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(256, 256);
        if (BAD)
            fu_mbarrier_arrive(256); // BUG
        fu_bulk_load(0, x, 256, 256);
    }
    fu_barrier();
    fu_mbarrier_wait(256, 0);
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(one_more, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS again grid=1 block=32 smem=16 report=sync-misuse
// out y u32[32] = 1
BODY(again)(fu_u32 *y)
{
    for (int k = 0; k < 2; ++k) {
        if (fu_tid() == 0 && (BAD || k == 0))
            fu_mbarrier_init(8, 32); // BUG
        fu_barrier();
        fu_mbarrier_arrive(8);
        fu_mbarrier_wait(8, k);
        fu_barrier();
    }
    fu_store(y, fu_tid(), 1u);
}
TWINS(again, (fu_u32 *y), (y))

// TWINS overwritten grid=1 block=32 smem=144 report=sync-misuse
// out y u32[32] = i
BODY(overwritten)(fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0)
        fu_mbarrier_init(128, 32);
    fu_barrier();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)tid);
    if (BAD && tid == 0)
        fu_sstore<fu_u32>(128, 0u); // BUG
    fu_barrier();
    fu_mbarrier_arrive(128);
    fu_mbarrier_wait(128, 0);
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(overwritten, (fu_u32 *y), (y))

// Others may still look at it.
// TWINS gone grid=1 block=64 smem=16 report=shared-race|sync-misuse
// out y u32[64] = 1
BODY(gone)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(8, 64);
    fu_barrier();
    fu_mbarrier_arrive(8);
    fu_mbarrier_wait(8, 0); // BUG
    if (!BAD)
        fu_barrier();
    if (fu_tid() == 0)
        fu_mbarrier_inval(8); // BUG
    fu_store(y, fu_tid(), 1u);
}
TWINS(gone, (fu_u32 *y), (y))

// TWINS not_invalidated grid=1 block=32 smem=128 report=sync-misuse
// out y u32[32] = i
BODY(not_invalidated)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(8, 32);
    fu_barrier();
    fu_mbarrier_arrive(8);
    fu_mbarrier_wait(8, 0);
    fu_barrier();
    if (fu_tid() == 0 && !BAD)
        fu_mbarrier_inval(8);
    fu_barrier();
    fu_sstore<fu_u32>(fu_tid() * 4, (fu_u32)fu_tid()); // BUG
    fu_store(y, fu_tid(), fu_sload<fu_u32>(fu_tid() * 4));
}
TWINS(not_invalidated, (fu_u32 *y), (y))

// TWINS crooked grid=1 block=32 smem=32 report=misaligned
// out y u32[32] = 1
BODY(crooked)(fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(BAD ? 12 : 16, 32); // BUG
    fu_barrier();
    fu_mbarrier_arrive(BAD ? 12 : 16);
    fu_mbarrier_wait(BAD ? 12 : 16, 0);
    fu_store(y, fu_tid(), 1u);
}
TWINS(crooked, (fu_u32 *y), (y))

// The other parity is that of the phase before: no wait at all.
// TWINS parity grid=1 block=32 smem=144 report=in-flight
// in x u32[32] = i
// out y u32[32] = 31 - i
BODY(parity)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    if (tid == 0) {
        fu_mbarrier_init(128, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(128, 128);
        fu_bulk_load(0, x, 128, 128);
    }
    fu_barrier();
    fu_mbarrier_wait(128, BAD ? 1 : 0);
    fu_store(y, tid, fu_sload<fu_u32>((31 - tid) * 4)); // BUG
    fu_mbarrier_wait(128, 0);
}
TWINS(parity, (const fu_u32 *x, fu_u32 *y), (x, y))
