// Votes, shuffles by lane, the elected lane, votes of a block.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE votes grid=2 block=96
// in x u32[96] = i * 7 % 5
// out any u32[96] = int(i // 32 == 1)
// out all u32[96] = int(i // 32 != 1)
// out ballot u32[96] = sum(1 << k for k in range(32) if (i // 32 * 32 + k) * 7 % 5 == 2)
extern "C" __global__ void votes(const fu_u32 *FU_RESTRICT x, fu_u32 *FU_RESTRICT any,
                                 fu_u32 *FU_RESTRICT all, fu_u32 *FU_RESTRICT ballot)
{
    const int tid = fu_tid();
    const fu_u32 v = fu_load(x, tid);
    if (fu_bid_x() != 1) {
        fu_store(any, tid, (fu_u32)fu_any(tid == 40));
        fu_store(all, tid, (fu_u32)fu_all(tid / 32 != 1 || fu_lane_id() != 5));
        fu_store(ballot, tid, fu_ballot(v == 2));
    }
}

// CASE shuffles grid=1 block=64
// out word u32[64] = 100 * (i // 32 * 32 + (i % 32 * 5 + 3) % 32)
// out wide f64[64] = 0.5 * (i if i % 32 + 3 > 31 else i + 3)
// out byte u8[64] = i if i % 32 == 0 else i - 1
// out vec u32[256] = (i // 4 ^ 1) * 4 + i % 4
extern "C" __global__ void shuffles(fu_u32 *FU_RESTRICT word, double *FU_RESTRICT wide,
                                    fu_u8 *FU_RESTRICT byte, fu_u32 *FU_RESTRICT vec)
{
    const int tid = fu_tid();
    fu_store(word, tid, fu_shfl_idx((fu_u32)(100 * tid), tid * 5 + 3));
    fu_store(wide, tid, fu_shfl_down(0.5 * tid, 3));
    fu_store(byte, tid, fu_shfl_up((fu_u8)tid, 1));
    fu_vec<fu_u32, 4> v;
    for (int k = 0; k < 4; ++k)
        v.w[k] = (fu_u32)(4 * tid + k);
    fu_vstore(vec, 4 * (fu_i64)tid, fu_shfl_idx(v, fu_lane_id() ^ 1));
}

// CASE elected grid=1 block=128
// out count i32[128] = 1
extern "C" __global__ void elected(fu_i32 *FU_RESTRICT count)
{
    const bool mine = fu_elect();
    const fu_u32 who = fu_ballot(mine), again = fu_ballot(fu_elect());
    int n = 0;
    for (int k = 0; k < 32; ++k)
        n += (int)(who >> k & 1u);
    fu_store(count, fu_tid(), who == again ? n : -n);
}

// CASE block_votes grid=2 block=160
// out any u32[320] = int(i >= 160)
// out all u32[320] = int(i < 160)
// out count i32[320] = 80 + i // 160 * 7
extern "C" __global__ void block_votes(fu_u32 *FU_RESTRICT any, fu_u32 *FU_RESTRICT all,
                                       fu_i32 *FU_RESTRICT count)
{
    const int tid = fu_tid(), bid = fu_bid_x();
    const fu_i64 at = (fu_i64)bid * 160 + tid;
    fu_store(any, at, (fu_u32)fu_block_any(bid == 1 && tid == 77));
    fu_store(all, at, (fu_u32)fu_block_all(bid == 0 || tid != 131));
    fu_store(count, at, fu_block_count(tid % 2 == 1 || (bid == 1 && tid < 14)));
}

#ifdef FU_EMULATE
FU_KERNEL(votes)
FU_KERNEL(shuffles)
FU_KERNEL(elected)
FU_KERNEL(block_votes)
#endif
