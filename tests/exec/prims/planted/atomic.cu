// Words shared by blocks, with too little order.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_80
#include "twins.cuh"

// TWINS unreleased grid=2 block=32 cooperative report=global-race
// word flag u32[1] -> 1
// word row u32[32] -> 5
// out y u32[32] = 5
BODY(unreleased)(fu_u32 *flag, fu_u32 *row, fu_u32 *y)
{
    if (fu_bid_x() == 0) {
        fu_store(row, fu_tid(), 5u);
        fu_barrier();
        if (fu_tid() == 0 && BAD)
            fu_store_relaxed(flag, 1u);
        else if (fu_tid() == 0)
            fu_store_release(flag, 1u);
    } else {
        fu_wait_while(flag, ~0u, 0u);
        fu_store(y, fu_tid(), fu_load(row, fu_tid())); // BUG
    }
}
TWINS(unreleased, (fu_u32 *flag, fu_u32 *row, fu_u32 *y), (flag, row, y))

// TWINS unacquired grid=2 block=32 cooperative report=global-race
// word flag u32[1] -> 1
// word row u32[32] -> 5
// out y u32[32] = 5
BODY(unacquired)(fu_u32 *flag, fu_u32 *row, fu_u32 *y)
{
    if (fu_bid_x() == 0) {
        fu_store(row, fu_tid(), 5u);
        fu_fence_gpu();
        fu_barrier();
        if (fu_tid() == 0)
            fu_store_release(flag, 1u);
    } else {
        while (fu_load_relaxed(flag) == 0u)
            ;
        if (!BAD)
            fu_fence_gpu();
        fu_store(y, fu_tid(), fu_load(row, fu_tid())); // BUG
    }
}
TWINS(unacquired, (fu_u32 *flag, fu_u32 *row, fu_u32 *y), (flag, row, y))

// A fence that stands behind what it should order.
// TWINS late_fence grid=2 block=32 cooperative report=global-race
// word flag u32[32] -> 1
// word row u32[32] -> 5
// out y u32[32] = 5
BODY(late_fence)(fu_u32 *flag, fu_u32 *row, fu_u32 *y)
{
    if (fu_bid_x() == 0) {
        if (BAD)
            fu_fence_gpu();
        fu_store(row, fu_tid(), 5u);
        if (!BAD)
            fu_fence_gpu();
        fu_store_relaxed(flag + fu_tid(), 1u);
    } else {
        fu_wait_while(flag + fu_tid(), ~0u, 0u);
        fu_store(y, fu_tid(), fu_load(row, fu_tid())); // BUG
    }
}
TWINS(late_fence, (fu_u32 *flag, fu_u32 *row, fu_u32 *y), (flag, row, y))

// TWINS count grid=2 block=32 report=global-race
// word n u32[1] -> 64
BODY(count)(fu_u32 *n)
{
    if (BAD)
        fu_store(n, 0, fu_load(n, 0) + 1u); // BUG
    else
        fu_atomic_add<FU_RELAXED>(n, 1u);
}
TWINS(count, (fu_u32 *n), (n))

// TWINS never grid=1 block=32 report=deadlock
// word flag u32[1] -> 3
// out y u32[1] = 3
BODY(never)(fu_u32 *flag, fu_u32 *y)
{
    if (fu_tid() == 0 && !BAD)
        fu_store_release(flag, 3u);
    if (fu_tid() == 31)
        fu_store(y, 0, fu_wait_while(flag, 3u, 0u)); // BUG
}
TWINS(never, (fu_u32 *flag, fu_u32 *y), (flag, y))

// A loop over loads that never ends.
// TWINS spins grid=1 block=32 report=deadlock
// word flag u32[1] -> 3
// out y u32[1] = 3
BODY(spins)(fu_u32 *flag, fu_u32 *y)
{
    if (fu_tid() == 0 && !BAD)
        fu_store_release(flag, 3u);
    if (fu_tid() == 31) {
        while (fu_load_acquire(flag) == 0u) // BUG
            ;
        fu_store(y, 0, 3u);
    }
}
TWINS(spins, (fu_u32 *flag, fu_u32 *y), (flag, y))

// A counter set to 0 by a block while others count.
// TWINS cleared grid=2 block=32 cooperative report=global-race
// word n u32[2] -> 64 if i == 0 else 2**31
BODY(cleared)(fu_u32 *n)
{
    if (fu_bid_x() == 0 && fu_tid() == 0)
        fu_store(n, 0, 0u); // BUG
    if (!BAD)
        fu_grid_barrier(n + 1);
    fu_atomic_add<FU_RELAXED>(n, 1u); // BUG
}
TWINS(cleared, (fu_u32 *n), (n))

// TWINS peeked grid=2 block=32 report=global-race
// word n u32[1] -> 64
// word y u32[1] -> 0
BODY(peeked)(fu_u32 *n, fu_u32 *y)
{
    fu_atomic_add<FU_RELAXED>(n, 1u); // BUG
    const fu_u32 v = BAD ? fu_load(n, 0) : fu_load_relaxed(n); // BUG
    if (fu_bid_x() == 0 && fu_tid() == 0)
        fu_store(y, 0, (fu_u32)(v == 0));
}
TWINS(peeked, (fu_u32 *n, fu_u32 *y), (n, y))
