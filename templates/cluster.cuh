// Clusters: blocks that run at the same time and see each other's shared
// memory. A place in another block is a fu_remote, made from the byte offset it
// has there. Loads and stores are ordered by the cluster's barrier; a message
// (fu_remote_send) brings its bytes and says so to an mbarrier beside them, one
// trip where store and barrier are three.
// Needs:  sm_90, a launch with the cluster attribute. Before the first remote
//         access a cluster barrier: the other block may not have begun. After
//         the last one another: it may end, and its memory with it. Values of
//         4, 8 or 16 bytes, aligned.
// Cost:   a remote load is a trip to another SM and back, a message one way; a
//         cluster barrier is a trip of its own. One message a row in place of
//         stores and a barrier made layer norm backward of wide rows 30 to 40 %
//         faster on an H200.
// Source: PTX ISA: barrier.cluster, mapa, ld/st.shared::cluster, st.async,
//         mbarrier.arrive, mbarrier.try_wait.
#pragma once
#include "types.cuh"
#include "ptx.cuh"
#include "async.cuh"
#ifndef FU_EMULATE

struct fu_remote { fu_u32 at; };

// The block's number in its cluster, blocks in it; the cluster's number in the
// grid.
static __device__ __forceinline__ int fu_cluster_rank()
{
    int r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

static __device__ __forceinline__ int fu_cluster_size()
{
    int r;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
    return r;
}

static __device__ __forceinline__ int fu_cluster_x()
{
    int r;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(r));
    return r;
}

// The barrier of all threads of the cluster, in two halves: what a thread wrote
// before it arrived is seen after the wait. Each thread arrives and waits by
// turns.
static __device__ __forceinline__ void fu_cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// Orders nothing: "I have come so far" is all it says.
static __device__ __forceinline__ void fu_cluster_arrive_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

static __device__ __forceinline__ void fu_cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The place at that offset in the shared memory of block `rank`.
static __device__ __forceinline__ fu_remote fu_remote_at(int byte_offset, int rank)
{
    fu_remote r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(r.at) : "r"(fu_shared_at(byte_offset)), "r"(rank));
    return r;
}

// Arrives at another block's mbarrier; what this thread did before is seen by
// who waits there with fu_mbarrier_wait_cluster.
static __device__ __forceinline__ void fu_remote_arrive(fu_remote bar)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 ::"r"(bar.at) : "memory");
}

// Waits for what other blocks of the cluster have sent or done.
static __device__ __forceinline__ void fu_mbarrier_wait_cluster(int bar, int parity)
{
    fu_u32 y;
    do
        asm volatile("{ .reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
                     " p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(y) : "r"(fu_shared_at(bar)), "r"(parity) : "memory");
    while (y == 0);
}

// Words to and from another block.
template <int BYTES> struct fu_remote_access;

template <> struct fu_remote_access<4> {
    static __device__ __forceinline__ void load(fu_remote a, fu_u32 *w)
    {
        asm volatile("ld.shared::cluster.b32 %0, [%1];"
                     : "=r"(w[0]) : "r"(a.at) : "memory");
    }
    static __device__ __forceinline__ void store(fu_remote a, const fu_u32 *w)
    {
        asm volatile("st.shared::cluster.b32 [%0], %1;"
                     ::"r"(a.at), "r"(w[0]) : "memory");
    }
    static __device__ __forceinline__ void send(fu_remote a, const fu_u32 *w,
                                                fu_remote bar)
    {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32"
                     " [%0], %1, [%2];"
                     ::"r"(a.at), "r"(w[0]), "r"(bar.at) : "memory");
    }
};

template <> struct fu_remote_access<8> {
    static __device__ __forceinline__ void load(fu_remote a, fu_u32 *w)
    {
        asm volatile("ld.shared::cluster.v2.b32 {%0, %1}, [%2];"
                     : "=r"(w[0]), "=r"(w[1]) : "r"(a.at) : "memory");
    }
    static __device__ __forceinline__ void store(fu_remote a, const fu_u32 *w)
    {
        asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};"
                     ::"r"(a.at), "r"(w[0]), "r"(w[1]) : "memory");
    }
    static __device__ __forceinline__ void send(fu_remote a, const fu_u32 *w,
                                                fu_remote bar)
    {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32"
                     " [%0], {%1, %2}, [%3];"
                     ::"r"(a.at), "r"(w[0]), "r"(w[1]), "r"(bar.at) : "memory");
    }
};

template <> struct fu_remote_access<16> {
    static __device__ __forceinline__ void load(fu_remote a, fu_u32 *w)
    {
        asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "r"(a.at) : "memory");
    }
    static __device__ __forceinline__ void store(fu_remote a, const fu_u32 *w)
    {
        asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"r"(a.at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
    }
    static __device__ __forceinline__ void send(fu_remote a, const fu_u32 *w,
                                                fu_remote bar)
    {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
                     " [%0], {%1, %2, %3, %4}, [%5];"
                     ::"r"(a.at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]),
                       "r"(bar.at) : "memory");
    }
};

#endif

static __device__ __forceinline__ void fu_cluster_barrier()
{
    fu_cluster_arrive();
    fu_cluster_wait();
}

// Values of 4, 8 or 16 bytes.
template <typename T>
static __device__ __forceinline__ T fu_remote_load(fu_remote a)
{
    fu_u32 w[sizeof(T) / 4];
    T x;
    fu_remote_access<sizeof(T)>::load(a, w);
    memcpy(&x, w, sizeof(T));
    return x;
}

template <typename T>
static __device__ __forceinline__ void fu_remote_store(fu_remote a, T x)
{
    fu_u32 w[sizeof(T) / 4];
    memcpy(w, &x, sizeof(T));
    fu_remote_access<sizeof(T)>::store(a, w);
}

// A message: x to place a, its size to the mbarrier bar; both in one block.
template <typename T>
static __device__ __forceinline__ void fu_remote_send(fu_remote a, T x, fu_remote bar)
{
    fu_u32 w[sizeof(T) / 4];
    memcpy(w, &x, sizeof(T));
    fu_remote_access<sizeof(T)>::send(a, w, bar);
}
