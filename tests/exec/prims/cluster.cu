// Clusters: who is where, remote loads and stores, messages.
// The lines CASE, in, out, word and int say how tests/gpu/run_prims.py launches a
// kernel and what it must give; README.md here has their form.
// NEEDS sm_90
#ifndef FU_EMULATE
#include "prim.cuh"
#include "vote.cuh"
#include "async.cuh"
#include "cluster.cuh"
#else
#include "fu_emulate.h"
#endif

// CASE who grid=8 block=32 cluster=4
// out y u32[256] = i // 32 % 4 + 10 * 4 + 100 * (i // 128)
extern "C" __global__ void who(fu_u32 *FU_RESTRICT y)
{
    const int v = fu_cluster_rank() + 10 * fu_cluster_size() + 100 * fu_cluster_x();
    fu_store(y, (fu_i64)fu_bid_x() * 32 + fu_tid(), (fu_u32)v);
}

// Each block reads its right neighbour's row.
// CASE loads grid=4 block=64 smem=1792 cluster=2
// out y u32[256] = 7 * ((i // 64 ^ 1) * 64 + i % 64)
// out z f64[256] = 0.5 * ((i // 64 ^ 1) * 64 + i % 64)
// out v u32[1024] = 9 * ((i // 256 ^ 1) * 256 + i % 256)
extern "C" __global__ void loads(fu_u32 *FU_RESTRICT y, double *FU_RESTRICT z,
                                 fu_u32 *FU_RESTRICT v)
{
    const int tid = fu_tid(), other = fu_cluster_rank() ^ 1;
    const fu_i64 at = (fu_i64)fu_bid_x() * 64 + tid;
    fu_sstore<fu_u32>(tid * 4, (fu_u32)(7 * at));
    fu_sstore<double>(256 + tid * 8, 0.5 * (double)at);
    for (int k = 0; k < 4; ++k)
        fu_sstore<fu_u32>(768 + tid * 16 + k * 4, (fu_u32)(9 * (4 * at + k)));
    fu_cluster_barrier();
    fu_store(y, at, fu_remote_load<fu_u32>(fu_remote_at(tid * 4, other)));
    fu_store(z, at, fu_remote_load<double>(fu_remote_at(256 + tid * 8, other)));
    fu_vstore(v, 4 * at, fu_remote_load<fu_vec<fu_u32, 4> >(fu_remote_at(768 + tid * 16, other)));
    fu_cluster_arrive_relaxed();
    fu_cluster_wait();
}

// Each block writes into every block, and into itself.
// CASE stores grid=4 block=32 smem=3584 cluster=4
// out y u32[512] = (i // 32 % 4) * 100 + i % 32
// out z f64[512] = i // 32 % 4 + 0.25
// out v u32[2048] = i // 128 % 4 * 10 + i % 4
extern "C" __global__ void stores(fu_u32 *FU_RESTRICT y, double *FU_RESTRICT z,
                                  fu_u32 *FU_RESTRICT v)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    fu_vec<fu_u32, 4> q;
    for (int k = 0; k < 4; ++k)
        q.w[k] = (fu_u32)(me * 10 + k);
    fu_cluster_barrier();
    for (int to = 0; to < 4; ++to) {
        fu_remote_store(fu_remote_at((me * 32 + tid) * 4, to), (fu_u32)(me * 100 + tid));
        fu_remote_store(fu_remote_at(512 + (me * 32 + tid) * 8, to), me + 0.25);
        fu_remote_store(fu_remote_at(1536 + (me * 32 + tid) * 16, to), q);
    }
    fu_cluster_barrier();
    for (int k = tid; k < 128; k += 32) {
        const fu_i64 at = (fu_i64)me * 128 + k;
        fu_store(y, at, fu_sload<fu_u32>(k * 4));
        fu_store(z, at, fu_sload<double>(512 + k * 8));
        for (int e = 0; e < 4; ++e)
            fu_store(v, at * 4 + e, fu_sload<fu_u32>(1536 + k * 16 + e * 4));
    }
}

// The barrier's halves apart: own work between, the neighbour's value after.
// CASE halves grid=2 block=64 smem=512 cluster=2
// out y u32[640] = (1 - i // 64 % 2) * 1000 + i // 128 + i % 64
extern "C" __global__ void halves(fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    for (int k = 0; k < 5; ++k) {
        fu_sstore<fu_u32>(k % 2 * 256 + tid * 4, (fu_u32)(me * 1000 + k + tid));
        fu_cluster_arrive();
        fu_barrier();
        fu_cluster_wait();
        const fu_remote from = fu_remote_at(k % 2 * 256 + tid * 4, me ^ 1);
        fu_store(y, k * 128 + me * 64 + tid, fu_remote_load<fu_u32>(from));
    }
    fu_cluster_barrier();
}

// The one-hop exchange: each warp sends its pair to every block of the cluster;
// two slots serve by turns. A block's mbarrier counts the bytes it must get.
// CASE exchange grid=8 block=64 smem=144 cluster=4
// out y f32[5120] = sum((i // 512 + 1) * (b * 64 + t) for b in range(i // 256 % 2 * 4, i // 256 % 2 * 4 + 4) for t in range(64))
extern "C" __global__ void exchange(float *FU_RESTRICT y)
{
    const int tid = fu_tid(), bid = fu_bid_x(), me = fu_cluster_rank();
    const int lane = fu_lane_id(), warp = tid / 32;
    if (tid == 0) {
        fu_mbarrier_init(128, 1);
        fu_mbarrier_init(136, 1);
        fu_mbarrier_fence();
    }
    fu_cluster_barrier();
    for (int it = 0; it < 10; ++it) {
        const int slot = it % 2 * 64, bar = 128 + it % 2 * 8;
        float s = (float)((it + 1) * (bid * 64 + tid)), t = s;
        for (int m = 16; m >= 1; m /= 2)
            s += fu_shfl_xor(s, m);
        fu_vec<float, 2> pair;
        fu_set(pair, 0, s);
        fu_set(pair, 1, t);
        if (tid == 0)
            fu_mbarrier_expect(bar, 64);
        if (lane < 4)
            fu_remote_send(fu_remote_at(slot + (me * 2 + warp) * 8, lane), pair,
                           fu_remote_at(bar, lane));
        fu_mbarrier_wait_cluster(bar, it / 2 % 2);
        float all = 0;
        for (int k = 0; k < 8; ++k)
            all += fu_sload<float>(slot + k * 8);
        fu_warp_barrier();
        fu_store(y, (fu_i64)it * 512 + bid * 64 + tid, all);
    }
    fu_cluster_barrier();
}

// Messages of 4 and 16 bytes; a word back that says "slot free".
// CASE answers grid=2 block=32 smem=64 cluster=2
// out y u32[32] = sum(10 * k + i % 4 + 1000 * k for k in range(6))
extern "C" __global__ void answers(fu_u32 *FU_RESTRICT y)
{
    const int tid = fu_tid(), me = fu_cluster_rank(), full = 48, empty = 56;
    if (tid == 0) {
        fu_mbarrier_init(full, 1);
        fu_mbarrier_init(empty, 1);
        fu_mbarrier_fence();
    }
    fu_cluster_barrier();
    fu_u32 sum = 0;
    for (int k = 0; k < 6; ++k) {
        if (me == 0 && tid == 0) {
            fu_vec<fu_u32, 4> q;
            for (int e = 0; e < 4; ++e)
                q.w[e] = (fu_u32)(10 * k + e);
            if (k > 0)
                fu_mbarrier_wait_cluster(empty, (k - 1) % 2);
            fu_remote_send(fu_remote_at(0, 1), q, fu_remote_at(full, 1));
            fu_remote_send(fu_remote_at(16, 1), (fu_u32)(1000 * k), fu_remote_at(full, 1));
        }
        if (me == 1) {
            if (tid == 0)
                fu_mbarrier_expect(full, 20);
            fu_mbarrier_wait_cluster(full, k % 2);
            sum += fu_sload<fu_u32>(tid % 4 * 4) + fu_sload<fu_u32>(16);
            fu_warp_barrier();
            if (tid == 0)
                fu_remote_arrive(fu_remote_at(empty, 0));
        }
    }
    if (me == 1)
        fu_store(y, tid, sum);
    fu_cluster_barrier();
}

#ifdef FU_EMULATE
FU_KERNEL(who)
FU_KERNEL(loads)
FU_KERNEL(stores)
FU_KERNEL(halves)
FU_KERNEL(exchange)
FU_KERNEL(answers)
#endif
