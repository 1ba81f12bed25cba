// Pieces (cp.async) used too early, too late or wrongly.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_80
#include "twins.cuh"

// TWINS early grid=1 block=32 smem=128 report=in-flight
// in x u32[32] = i + 7
// out y u32[32] = i + 7
BODY(early)(const fu_u32 *x, fu_u32 *y)
{
    fu_copy_async<4>(fu_tid() * 4, x + fu_tid());
    fu_copy_async_commit();
    if (!BAD)
        fu_copy_async_wait<0>();
    fu_store(y, fu_tid(), fu_sload<fu_u32>(fu_tid() * 4)); // BUG
    fu_copy_async_wait<0>();
}
TWINS(early, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS uncommitted grid=1 block=32 smem=128 report=in-flight
// in x u32[32] = i + 7
// out y u32[32] = i + 7
BODY(uncommitted)(const fu_u32 *x, fu_u32 *y)
{
    fu_copy_async<4>(fu_tid() * 4, x + fu_tid());
    if (!BAD)
        fu_copy_async_commit();
    fu_copy_async_wait<0>();
    fu_store(y, fu_tid(), fu_sload<fu_u32>(fu_tid() * 4)); // BUG
}
TWINS(uncommitted, (const fu_u32 *x, fu_u32 *y), (x, y))

// The wait is each thread's own: others' pieces need the barrier behind it.
// TWINS others grid=1 block=32 smem=128 report=in-flight
// in x u32[32] = i + 7
// out y u32[32] = (i ^ 1) + 7
BODY(others)(const fu_u32 *x, fu_u32 *y)
{
    fu_copy_async<4>(fu_tid() * 4, x + fu_tid());
    fu_copy_async_commit();
    if (BAD)
        fu_barrier();
    fu_copy_async_wait<0>();
    if (!BAD)
        fu_barrier();
    fu_store(y, fu_tid(), fu_sload<fu_u32>((fu_tid() ^ 1) * 4)); // BUG
}
TWINS(others, (const fu_u32 *x, fu_u32 *y), (x, y))

// An arrival by the thread itself is no arrival of its pieces.
// TWINS uncounted grid=1 block=32 smem=144 report=in-flight
// in x u32[32] = i + 7
// out y u32[32] = i + 7
BODY(uncounted)(const fu_u32 *x, fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_mbarrier_init(128, 32);
    fu_barrier();
    fu_copy_async<4>(fu_tid() * 4, x + fu_tid());
    if (BAD)
        fu_mbarrier_arrive(128);
    else
        fu_mbarrier_arrive_copies(128);
    fu_mbarrier_wait(128, 0);
    fu_store(y, fu_tid(), fu_sload<fu_u32>(fu_tid() * 4)); // BUG
}
TWINS(uncounted, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS one_group_too_few grid=1 block=32 smem=256 report=in-flight
// in x u32[128] = i
// out y u32[128] = i
BODY(one_group_too_few)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_copy_async<4>(tid * 4, x + tid);
    fu_copy_async_commit();
    for (int r = 0; r < 4; ++r) {
        if (r + 1 < 4)
            fu_copy_async<4>((r + 1) % 2 * 128 + tid * 4, x + (r + 1) * 32 + tid);
        fu_copy_async_commit();
        fu_copy_async_wait<BAD ? 2 : 1>();
        fu_barrier();
        fu_store(y, r * 32 + tid, fu_sload<fu_u32>(r % 2 * 128 + tid * 4)); // BUG
        fu_barrier();
    }
}
TWINS(one_group_too_few, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS refill grid=1 block=64 smem=256 report=shared-race
// in x u32[128] = i
// out y u32[128] = i // 64 * 64 + (i + 1) % 64
BODY(refill)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    for (int r = 0; r < 2; ++r) {
        fu_copy_async<4>(tid * 4, x + r * 64 + tid); // BUG
        fu_copy_async_commit();
        fu_copy_async_wait<0>();
        fu_barrier();
        fu_store(y, r * 64 + tid, fu_sload<fu_u32>((tid + 1) % 64 * 4)); // BUG
        if (!BAD)
            fu_barrier();
    }
}
TWINS(refill, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS twice grid=1 block=32 smem=256 report=in-flight
// in x u32[64] = i
// out y u32[32] = i + 32
BODY(twice)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_copy_async<4>(tid * 4, x + tid);
    fu_copy_async_commit();
    fu_copy_async<4>((BAD ? 0 : 128) + tid * 4, x + 32 + tid); // BUG
    fu_copy_async_commit();
    fu_copy_async_wait<0>();
    fu_store(y, tid, fu_sload<fu_u32>((BAD ? 0 : 128) + tid * 4));
}
TWINS(twice, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS over_it grid=1 block=32 smem=128 report=in-flight
// in x u32[32] = i
// out y u32[32] = i + i
BODY(over_it)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_copy_async<4>(tid * 4, x + tid);
    fu_copy_async_commit();
    if (!BAD)
        fu_copy_async_wait<0>();
    const fu_u32 v = BAD ? fu_load(x, tid) : fu_sload<fu_u32>(tid * 4);
    fu_sstore<fu_u32>(tid * 4, v + v); // BUG
    fu_copy_async_wait<0>();
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(over_it, (const fu_u32 *x, fu_u32 *y), (x, y))

// The piece may be read late: its source must stay.
// TWINS source grid=1 block=32 smem=128 report=in-flight
// word x u32[32] -> 2
// out y u32[32] = 0
BODY(source)(fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_copy_async<4>(tid * 4, x + tid);
    fu_copy_async_commit();
    if (!BAD)
        fu_copy_async_wait<0>();
    fu_store(x, tid, 2u); // BUG
    fu_copy_async_wait<0>();
    fu_store(y, tid, fu_sload<fu_u32>(tid * 4));
}
TWINS(source, (fu_u32 *x, fu_u32 *y), (x, y))

// TWINS crooked grid=1 block=8 smem=256 report=misaligned
// in x u32[36] = i
// out y u32[8] = 4 * i
BODY(crooked)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid();
    fu_copy_async<16>(tid * 16, x + tid * 4 + (BAD ? 1 : 0)); // BUG
    fu_copy_async_commit();
    fu_copy_async_wait<0>();
    fu_store(y, tid, fu_sload<fu_u32>(tid * 16));
}
TWINS(crooked, (const fu_u32 *x, fu_u32 *y), (x, y))

// TWINS tail grid=1 block=8 smem=256 report=out-of-bounds
// in x u32[30] = i
// out y u32[32] = i if i < 30 else 0
BODY(tail)(const fu_u32 *x, fu_u32 *y)
{
    const int tid = fu_tid(), bytes = (30 - 4 * tid) * 4;
    if (BAD)
        fu_copy_async<16>(tid * 16, x + tid * 4); // BUG
    else
        fu_copy_async_fill<16>(tid * 16, x + tid * 4, bytes < 16 ? bytes : 16);
    fu_copy_async_commit();
    fu_copy_async_wait<0>();
    for (int k = 0; k < 4; ++k)
        fu_store(y, tid * 4 + k, fu_sload<fu_u32>(tid * 16 + k * 4));
}
TWINS(tail, (const fu_u32 *x, fu_u32 *y), (x, y))
