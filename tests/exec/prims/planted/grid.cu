// Barriers of a grid that not all blocks come to; the last block.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_80
#include "twins.cuh"

// 16 blocks are all that this device has room for.
// CASE crowd grid=17 block=32 cooperative report=too-many-blocks
// word bar u32[1] -> 0
// TWINS ordinary grid=4 block=32 cooperative=right report=deadlock
// word bar u32[1] -> 2**31
// out y u32[128] = 1
BODY(ordinary)(fu_u32 *bar, fu_u32 *y)
{
    fu_store(y, fu_bid_x() * 32 + fu_tid(), 1u);
    fu_grid_barrier(bar); // BUG
}
TWINS(ordinary, (fu_u32 *bar, fu_u32 *y), (bar, y))

extern "C" __global__ void crowd(fu_u32 *bar)
{
    fu_grid_barrier(bar);
}
FU_KERNEL(crowd)

// TWINS returns grid=4 block=32 cooperative report=deadlock
// word bar u32[1] -> 2**31
// out y u32[128] = 1
BODY(returns)(fu_u32 *bar, fu_u32 *y)
{
    fu_store(y, fu_bid_x() * 32 + fu_tid(), 1u);
    if (BAD && fu_bid_x() == 2)
        return;
    fu_grid_barrier(bar); // BUG
}
TWINS(returns, (fu_u32 *bar, fu_u32 *y), (bar, y))

// TWINS half grid=4 block=32 cooperative report=global-race|uninitialised
// word bar u32[1] -> 2**31
// word x u32[4] -> i + 5
// out y u32[4] = 26
BODY(half)(fu_u32 *bar, fu_u32 *x, fu_u32 *y)
{
    if (fu_tid() == 0)
        fu_store(x, fu_bid_x(), (fu_u32)(fu_bid_x() + 5)); // BUG
    const fu_u32 came = fu_grid_arrive(bar);
    if (!BAD)
        fu_grid_wait(bar, came);
    fu_u32 s = 0;
    for (int b = 0; b < 4; ++b)
        s += fu_load(x, b); // BUG
    if (fu_tid() == 0)
        fu_store(y, fu_bid_x(), s);
    if (BAD)
        fu_grid_wait(bar, came);
}
TWINS(half, (fu_u32 *bar, fu_u32 *x, fu_u32 *y), (bar, x, y))

// A ticket drawn with no order says who is last, not that the others' sums are
// there.
// TWINS ticket grid=4 block=32 report=global-race
// word n u32[1] -> 0
// word x u32[4] -> i + 5
// out y u32[1] = 26
BODY(ticket)(fu_u32 *n, fu_u32 *x, fu_u32 *y)
{
    bool last;
    if (fu_tid() == 0)
        fu_store(x, fu_bid_x(), (fu_u32)(fu_bid_x() + 5));
    if (BAD) {
        fu_barrier();
        last = fu_block_any(fu_tid() == 0 && fu_atomic_inc<FU_RELAXED>(n, 3u) == 3u);
    } else {
        last = fu_last_block(n, 4);
    }
    if (last && fu_tid() == 0) {
        fu_u32 s = 0;
        for (int b = 0; b < 4; ++b)
            s += fu_load(x, b); // BUG
        fu_store(y, 0, s);
    }
}
TWINS(ticket, (fu_u32 *n, fu_u32 *x, fu_u32 *y), (n, x, y))
