// Clusters: blocks that come late or leave early, messages, barriers.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_90
#include "twins.cuh"

// TWINS too_soon grid=2 block=32 smem=128 cluster=2 report=sync-misuse|shared-uninitialised
// out y u32[64] = i ^ 32
BODY(too_soon)(fu_u32 *y)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)(me * 32 + tid));
    if (!BAD)
        fu_cluster_barrier();
    fu_store(y, me * 32 + tid, fu_remote_load<fu_u32>(fu_remote_at(tid * 4, me ^ 1))); // BUG
    fu_cluster_barrier();
}
TWINS(too_soon, (fu_u32 *y), (y))

// TWINS leaves grid=2 block=32 smem=128 cluster=2 report=block-left
// out y u32[64] = i ^ 32
BODY(leaves)(fu_u32 *y)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    fu_sstore<fu_u32>(tid * 4, (fu_u32)(me * 32 + tid));
    fu_cluster_barrier();
    fu_store(y, me * 32 + tid, fu_remote_load<fu_u32>(fu_remote_at(tid * 4, me ^ 1))); // BUG
    if (!BAD)
        fu_cluster_barrier();
}
TWINS(leaves, (fu_u32 *y), (y))

// TWINS not_all grid=2 block=64 cluster=2 report=deadlock
// out y u32[128] = 1
BODY(not_all)(fu_u32 *y)
{
    const int tid = fu_tid();
    fu_store(y, fu_bid_x() * 64 + tid, 1u);
    if (BAD && fu_cluster_rank() == 1 && tid >= 32)
        return;
    fu_cluster_arrive();
    fu_cluster_wait(); // BUG
}
TWINS(not_all, (fu_u32 *y), (y))

// Only what precedes an arrival that releases is seen behind the wait.
// TWINS relaxed grid=2 block=32 smem=128 cluster=2 report=shared-race
// out y u32[64] = i ^ 32
BODY(relaxed)(fu_u32 *y)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    fu_cluster_barrier();
    fu_remote_store(fu_remote_at(tid * 4, me ^ 1), (fu_u32)(me * 32 + tid));
    if (BAD)
        fu_cluster_arrive_relaxed();
    else
        fu_cluster_arrive();
    fu_cluster_wait();
    fu_store(y, me * 32 + tid, fu_sload<fu_u32>(tid * 4)); // BUG
}
TWINS(relaxed, (fu_u32 *y), (y))

// Between the halves of the barrier nothing has been seen yet.
// TWINS between grid=2 block=32 smem=128 cluster=2 report=shared-race|shared-uninitialised
// out y u32[64] = i ^ 32
BODY(between)(fu_u32 *y)
{
    const int tid = fu_tid(), me = fu_cluster_rank();
    fu_cluster_barrier();
    fu_remote_store(fu_remote_at(tid * 4, me ^ 1), (fu_u32)(me * 32 + tid));
    fu_cluster_arrive();
    if (!BAD)
        fu_cluster_wait();
    fu_store(y, me * 32 + tid, fu_sload<fu_u32>(tid * 4)); // BUG
    if (BAD)
        fu_cluster_wait();
}
TWINS(between, (fu_u32 *y), (y))

// TWINS no_arrival grid=2 block=32 cluster=2 report=sync-misuse
// out y u32[64] = 1
BODY(no_arrival)(fu_u32 *y)
{
    if (!BAD)
        fu_cluster_arrive();
    fu_cluster_wait(); // BUG
    fu_store(y, fu_bid_x() * 32 + fu_tid(), 1u);
}
TWINS(no_arrival, (fu_u32 *y), (y))

// TWINS two_arrivals grid=2 block=32 cluster=2 report=sync-misuse
// out y u32[64] = 1
BODY(two_arrivals)(fu_u32 *y)
{
    fu_cluster_arrive();
    if (!BAD)
        fu_cluster_wait();
    fu_cluster_arrive(); // BUG
    fu_cluster_wait();
    fu_store(y, fu_bid_x() * 32 + fu_tid(), 1u);
}
TWINS(two_arrivals, (fu_u32 *y), (y))

// TWINS rank grid=4 block=32 smem=128 cluster=2 report=sync-misuse
// out y u32[128] = i ^ 32
BODY(rank)(fu_u32 *y)
{
    const int tid = fu_tid(), at = fu_bid_x() * 32 + tid;
    const int other = BAD ? fu_cluster_rank() + 1 : fu_cluster_rank() ^ 1;
    fu_sstore<fu_u32>(tid * 4, (fu_u32)at);
    fu_cluster_barrier();
    fu_store(y, at, fu_remote_load<fu_u32>(fu_remote_at(tid * 4, other))); // BUG
    fu_cluster_barrier();
}
TWINS(rank, (fu_u32 *y), (y))

// A message of each block to every block: its number, 4 bytes a block.
static __device__ __forceinline__ void send()
{
    const int me = fu_cluster_rank();
    if (fu_tid() < fu_cluster_size())
        fu_remote_send(fu_remote_at(me * 4, fu_tid()), (fu_u32)me,
                       fu_remote_at(64, fu_tid()));
}

// Mbarriers at 64 and 72.
static __device__ __forceinline__ void make()
{
    if (fu_tid() == 0) {
        fu_mbarrier_init(64, 1);
        fu_mbarrier_init(72, 1);
        fu_mbarrier_fence();
    }
    fu_cluster_barrier();
}

// TWINS not_awaited grid=4 block=32 smem=80 cluster=4 report=in-flight|shared-uninitialised
// out y u32[4] = 6
BODY(not_awaited)(fu_u32 *y)
{
    make();
    if (fu_tid() == 0)
        fu_mbarrier_expect(64, 16);
    send();
    if (!BAD)
        fu_mbarrier_wait_cluster(64, 0);
    fu_u32 s = 0;
    for (int k = 0; k < 4; ++k)
        s += fu_sload<fu_u32>(k * 4); // BUG
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), s);
    fu_mbarrier_wait_cluster(64, 0);
}
TWINS(not_awaited, (fu_u32 *y), (y))

// TWINS bytes grid=4 block=32 smem=80 cluster=4 report=deadlock
// out y u32[4] = 6
BODY(bytes)(fu_u32 *y)
{
    make();
    if (fu_tid() == 0)
        fu_mbarrier_expect(64, BAD ? 20 : 16);
    send();
    fu_mbarrier_wait_cluster(64, 0); // BUG
    fu_u32 s = 0;
    for (int k = 0; k < 4; ++k)
        s += fu_sload<fu_u32>(k * 4);
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), s);
}
TWINS(bytes, (fu_u32 *y), (y))

// TWINS scope grid=4 block=32 smem=80 cluster=4 report=sync-misuse
// out y u32[4] = 6
BODY(scope)(fu_u32 *y)
{
    make();
    if (fu_tid() == 0)
        fu_mbarrier_expect(64, 16);
    send();
    if (BAD)
        fu_mbarrier_wait(64, 0); // BUG
    else
        fu_mbarrier_wait_cluster(64, 0);
    fu_u32 s = 0;
    for (int k = 0; k < 4; ++k)
        s += fu_sload<fu_u32>(k * 4);
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), s);
}
TWINS(scope, (fu_u32 *y), (y))

// TWINS message_left grid=2 block=32 smem=80 cluster=2 report=block-left
// out y u32[2] = 1
BODY(message_left)(fu_u32 *y)
{
    make();
    if (fu_tid() == 0)
        fu_mbarrier_expect(64, 4);
    if (fu_tid() == 0)
        fu_remote_send(fu_remote_at(0, fu_cluster_rank() ^ 1), 1u, // BUG
                       fu_remote_at(64, fu_cluster_rank() ^ 1));
    if (!BAD)
        fu_mbarrier_wait_cluster(64, 0);
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), 1u);
}
TWINS(message_left, (fu_u32 *y), (y))

// Bytes to one block, their number to another.
// TWINS astray grid=2 block=32 smem=80 cluster=2 report=sync-misuse
// out y u32[2] = 1
BODY(astray)(fu_u32 *y)
{
    const int other = fu_cluster_rank() ^ 1;
    make();
    if (fu_tid() == 0) {
        fu_mbarrier_expect(64, 4);
        fu_remote_send(fu_remote_at(0, other), 1u, // BUG
                       fu_remote_at(64, BAD ? fu_cluster_rank() : other));
    }
    fu_mbarrier_wait_cluster(64, 0);
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), fu_sload<fu_u32>(0));
}
TWINS(astray, (fu_u32 *y), (y))

// An arrival at the mbarrier of a block that may have ended.
// TWINS arrives_late grid=2 block=32 smem=80 cluster=2 report=block-left
// out y u32[2] = 1
BODY(arrives_late)(fu_u32 *y)
{
    make();
    if (fu_tid() == 0)
        fu_remote_arrive(fu_remote_at(64, fu_cluster_rank() ^ 1)); // BUG
    if (!BAD)
        fu_mbarrier_wait_cluster(64, 0);
    if (fu_tid() == 0)
        fu_store(y, fu_cluster_rank(), 1u);
}
TWINS(arrives_late, (fu_u32 *y), (y))

// Two rounds need two slots: who is a round ahead writes what others still read.
// TWINS one_slot grid=2 block=32 smem=80 cluster=2 report=shared-race|in-flight
// out y u32[4] = i // 2 * 20 + 1
BODY(one_slot)(fu_u32 *y)
{
    const int me = fu_cluster_rank(), lane = fu_tid();
    make();
    for (int r = 0; r < 2; ++r) {
        const int slot = BAD ? 0 : r * 16;
        if (lane == 0)
            fu_mbarrier_expect(64 + r * 8, 8);
        if (lane < 2)
            fu_remote_send(fu_remote_at(slot + me * 4, lane), (fu_u32)(10 * r + me), // BUG
                           fu_remote_at(64 + r * 8, lane));
        fu_mbarrier_wait_cluster(64 + r * 8, 0);
        const fu_u32 s = fu_sload<fu_u32>(slot) + fu_sload<fu_u32>(slot + 4); // BUG
        if (lane == 0)
            fu_store(y, r * 2 + me, s);
    }
}
TWINS(one_slot, (fu_u32 *y), (y))
