// All together, as a strategy would use them: rows arrive in a ring by bulk copies
// and are split over a cluster, a row's sum goes round in one hop, columns are
// summed in registers and finished by the last block, or behind the grid's barrier.
// The lines CASE, in, out and word say how it is launched and what it must give;
// README.md here has their form.
// NEEDS sm_90
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#include "async.cuh"
#include "cluster.cuh"
#include "grid.cuh"
#else
#include "fu_emulate.h"
#endif

// Rows of 256 columns over clusters of 2 blocks, 64 threads with 2 columns each; a
// ring of 3 slots of two half rows; behind it two slots of partial sums, mbarriers.
enum { ROWS = 22, SLOT = 1024, SUMS = 3 * SLOT, BARS = SUMS + 64, HOPS = BARS + 24 };

static __device__ __forceinline__ void load_row(int slot, const float *a, const float *b, int row)
{
    const fu_i64 at = (fu_i64)row * 256 + fu_cluster_rank() * 128;
    fu_mbarrier_expect(BARS + 8 * slot, 1024);
    fu_bulk_load(slot * SLOT, a + at, 512, BARS + 8 * slot);
    fu_bulk_load(slot * SLOT + 512, b + at, 512, BARS + 8 * slot);
}

static __device__ __forceinline__ void begin(const float *a, const float *b, int step)
{
    if (fu_tid() == 0) {
        for (int k = 0; k < 5; ++k)
            fu_mbarrier_init(BARS + 8 * k, 1);
        fu_mbarrier_fence();
        for (int s = 0; s < 3; ++s)
            if (fu_cluster_x() + s * step < ROWS)
                load_row(s, a, b, fu_cluster_x() + s * step);
    }
    fu_cluster_barrier();
}

// The sum of s over the row: each warp of the cluster to both blocks.
static __device__ __forceinline__ float row_sum(float s, int round)
{
    const int slot = SUMS + round % 2 * 16, bar = HOPS + round % 2 * 8;
    for (int m = 16; m >= 1; m /= 2)
        s += fu_shfl_xor(s, m);
    if (fu_tid() == 0)
        fu_mbarrier_expect(bar, 16);
    if (fu_lane_id() < 2)
        fu_remote_send(fu_remote_at(slot + (fu_cluster_rank() * 2 + fu_tid() / 32) * 4,
                                    fu_lane_id()), s, fu_remote_at(bar, fu_lane_id()));
    fu_mbarrier_wait_cluster(bar, round / 2 % 2);
    float all = 0;
    for (int k = 0; k < 4; ++k)
        all += fu_sload<float>(slot + k * 4);
    return all;
}

// y = a * sum(a * b) + b; gives the sums of y over this cluster's rows.
static __device__ __forceinline__ fu_vec<float, 2> rows(const float *a, const float *b, float *y)
{
    const int tid = fu_tid(), step = fu_grid_x() / 2;
    int slot = 0, parity = 0, round = 0;
    float total[2] = {0, 0};
    begin(a, b, step);
    for (int r = fu_cluster_x(); r < ROWS; r += step, ++round) {
        fu_vec<float, 2> va, vb, vy, sums;
        fu_mbarrier_wait(BARS + 8 * slot, parity);
        va = fu_sload<fu_vec<float, 2> >(slot * SLOT + tid * 8);
        vb = fu_sload<fu_vec<float, 2> >(slot * SLOT + 512 + tid * 8);
        const float s = row_sum(fu_get(va, 0) * fu_get(vb, 0) + fu_get(va, 1) * fu_get(vb, 1),
                                round);
        fu_barrier();
        if (tid == 0 && r + 3 * step < ROWS)
            load_row(slot, a, b, r + 3 * step);
        for (int e = 0; e < 2; ++e) {
            const float v = fu_get(va, e) * s + fu_get(vb, e);
            fu_set(vy, e, v);
            total[e] += v;
        }
        fu_vstore(y, (fu_i64)r * 256 + fu_cluster_rank() * 128 + tid * 2, vy);
        if (++slot == 3) {
            slot = 0;
            parity ^= 1;
        }
    }
    fu_cluster_barrier();
    fu_vec<float, 2> v;
    fu_set(v, 0, total[0]);
    fu_set(v, 1, total[1]);
    return v;
}

static __device__ __forceinline__ float finish(const float *part, int column)
{
    float s = 0;
    for (int c = 0; c < fu_grid_x() / 2; ++c)
        s += fu_load((float *)part, (fu_i64)c * 256 + column);
    return s;
}

// let A = lambda k: k % 5
// let B = lambda k: k % 3
// let S = [sum(A(r * 256 + k) * B(r * 256 + k) for k in range(256)) for r in range(22)]
// let Y = lambda r, c: A(r * 256 + c) * S[r] + B(r * 256 + c)
// CASE last_finishes grid=8 block=64 smem=3176 cluster=2 launches=2
// in a f32[5632] = A(i)
// in b f32[5632] = B(i)
// out y f32[5632] = Y(i // 256, i % 256)
// word part f32[1024] -> sum(Y(r, i % 256) for r in range(i // 256, 22, 4))
// word ticket u32[1] -> 0
// out z f32[256] = sum(Y(r, i) for r in range(22))
extern "C" __global__ void last_finishes(const float *FU_RESTRICT a, const float *FU_RESTRICT b,
                                         float *FU_RESTRICT y, float *part, fu_u32 *ticket,
                                         float *FU_RESTRICT z)
{
    const fu_vec<float, 2> v = rows(a, b, y);
    const int column = fu_cluster_rank() * 128 + fu_tid() * 2;
    fu_vstore(part, (fu_i64)fu_cluster_x() * 256 + column, v);
    if (fu_last_block(ticket, fu_grid_x()))
        for (int c = fu_tid(); c < 256; c += 64)
            fu_store(z, c, finish(part, c));
}

// CASE all_finish grid=8 block=64 smem=3176 cluster=2 cooperative launches=2
// in a f32[5632] = A(i)
// in b f32[5632] = B(i)
// out y f32[5632] = Y(i // 256, i % 256)
// word part f32[1024] -> sum(Y(r, i % 256) for r in range(i // 256, 22, 4))
// word bar u32[1] -> 0
// out z f32[256] = sum(Y(r, i) for r in range(22))
extern "C" __global__ void all_finish(const float *FU_RESTRICT a, const float *FU_RESTRICT b,
                                      float *FU_RESTRICT y, float *part, fu_u32 *bar,
                                      float *FU_RESTRICT z)
{
    const fu_vec<float, 2> v = rows(a, b, y);
    const int column = fu_cluster_rank() * 128 + fu_tid() * 2;
    fu_vstore(part, (fu_i64)fu_cluster_x() * 256 + column, v);
    fu_grid_barrier(bar);
    if (fu_tid() < 32)
        fu_store(z, fu_bid_x() * 32 + fu_tid(), finish(part, fu_bid_x() * 32 + fu_tid()));
}

#ifdef FU_EMULATE
FU_KERNEL(last_finishes)
FU_KERNEL(all_finish)
#endif
