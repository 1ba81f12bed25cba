// The barrier of a grid, and the last block.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#include "atomic.cuh"
#include "grid.cuh"
#else
#include "fu_emulate.h"
#endif

// Rounds: every block writes its number and reads the others' of this round.
// CASE rounds grid=7 block=64 cooperative launches=2
// word bar u32[1] -> 0
// word slot u32[14] -> 400 + i % 7 if i >= 7 else 300 + i
// out y u32[2240] = sum((i // 448) * 100 + b for b in range(7))
extern "C" __global__ void rounds(fu_u32 *bar, fu_u32 *slot, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), bid = fu_bid_x();
    for (int k = 0; k < 5; ++k) {
        if (tid == 3)
            fu_store(slot, (k + 1) % 2 * 7 + bid, (fu_u32)(k * 100 + bid));
        fu_grid_barrier(bar);
        fu_u32 s = 0;
        for (int b = 0; b < 7; ++b)
            s += fu_load(slot, (k + 1) % 2 * 7 + b);
        fu_store(y, (k * 7 + bid) * 64 + tid, s);
    }
}

// The barrier's halves apart, over a grid in two dimensions.
// CASE halves grid=3x2 block=32 cooperative launches=3
// word bar u32[1] -> 2**31
// word slot u32[6] -> 60 + i
// out y u32[192] = 1 + sum(60 + b for b in range(6))
extern "C" __global__ void halves(fu_u32 *bar, fu_u32 *slot, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), bid = fu_bid_y() * 3 + fu_bid_x();
    if (tid == 0)
        fu_store(slot, bid, (fu_u32)(60 + bid));
    const fu_u32 came = fu_grid_arrive(bar);
    fu_store(y, bid * 32 + tid, 1u);
    fu_grid_wait(bar, came);
    fu_u32 s = fu_load(y, bid * 32 + tid);
    for (int b = 0; b < 6; ++b)
        s += fu_load(slot, b);
    fu_store(y, bid * 32 + tid, s);
}

// One barrier a launch, and the word at 0 behind it.
// CASE leaves grid=3x2 block=32 cooperative launches=3
// word bar u32[1] -> 0
// word slot u32[6] -> 60 + i
// out y u32[192] = sum(60 + b for b in range(6))
extern "C" __global__ void leaves(fu_u32 *bar, fu_u32 *slot, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), bid = fu_bid_y() * 3 + fu_bid_x();
    if (tid == 0)
        fu_store(slot, bid, (fu_u32)(60 + bid));
    fu_grid_barrier(bar);
    fu_grid_leave(bar);
    fu_u32 s = 0;
    for (int b = 0; b < 6; ++b)
        s += fu_load(slot, b);
    fu_store(y, bid * 32 + tid, s);
}

// Partial sums; the last block of each column adds them in order.
// CASE last grid=5x3 block=64 launches=3
// word ticket u32[3] -> 0
// word part u32[960] -> i
// out y u32[192] = sum(i + 192 * b for b in range(5))
extern "C" __global__ void last(fu_u32 *ticket, fu_u32 *part, fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), col = fu_bid_y();
    const fu_i64 at = (fu_i64)col * 64 + tid;
    fu_store(part, fu_bid_x() * 192 + at, (fu_u32)(fu_bid_x() * 192 + at));
    if (fu_last_block(ticket + col, fu_grid_x())) {
        fu_u32 s = 0;
        for (int b = 0; b < 5; ++b)
            s += fu_load(part, b * 192 + at);
        fu_store(y, at, s);
    }
}

#ifdef FU_EMULATE
FU_KERNEL(rounds)
FU_KERNEL(halves)
FU_KERNEL(leaves)
FU_KERNEL(last)
#endif
