// Written by fusec 0.1.0; do not edit. The plan:
//
// plan 1 graph daf44b1912a8ce25
// fusion attention_softmax {
//   variant 0 when "K <= 1024 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 128; threads_per_row 32; vector 8; vectors_per_thread 4; looped 0;
//       rows_per_step 1; prefetch 0; persistent 0; grid_rows 0; blocks_per_sm 7;
//       finish none; column_tiles 0; bound 1024; stages 0; cluster 1;
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store register_packed; reuse row; }
//     }
//   }
//   variant 1 when "K <= 8192 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 128; threads_per_row 128; vector 8; vectors_per_thread 8;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 4; finish none; column_tiles 0; bound 8192; stages 0;
//       cluster 1;
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store register_packed; reuse row; }
//     }
//   }
//   variant 2 when "K <= 32768 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 2;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
//   variant 3 when "K <= 65536 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 2;
//       looped 0; rows_per_step 1; prefetch 0; persistent 1; grid_rows 28;
//       blocks_per_sm 4; finish none; column_tiles 0; bound 65536; stages 2;
//       cluster 16;
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store register_packed; reuse row; }
//     }
//   }
//   variant 4 when "K <= 131072 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 1; grid_rows 14;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 131072; stages 2;
//       cluster 16;
//       buffer %3 { store register_f32; reuse row; }
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store ring; reuse row; }
//     }
//   }
//   variant 5 when "K <= 262144 && K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 8;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 262144; stages 0;
//       cluster 16;
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store register_packed; reuse row; }
//     }
//   }
//   variant 6 when "K % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 512; threads_per_row 512; vector 8; vectors_per_thread 4;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
//   variant 7 when "K <= 2048" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 1; vectors_per_thread 8;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 4; finish none; column_tiles 0; bound 2048; stages 0;
//       cluster 1;
//       buffer %7 { store register_f32; reuse row; }
//       buffer scores { store register_packed; reuse row; }
//     }
//   }
//   variant 8 {
//     kernel 0 inner_persistent {
//       threads 512; threads_per_row 512; vector 1; vectors_per_thread 4;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
// }

#ifndef FU_EMULATE
/* begin fu/types.cuh */
// The element types in memory, and the bits of floating-point numbers.
// Values: a storage type (fu_f16 fu_bf16 fu_e4m3 fu_e5m2) holds bits only; in
//         a register its values are floats.
// Needs:  nothing; compiles as CUDA and as C++17.
// Cost:   none.
typedef signed char fu_i8;
typedef short fu_i16;
typedef int fu_i32;
typedef long long fu_i64;
typedef unsigned char fu_u8;
typedef unsigned short fu_u16;
typedef unsigned int fu_u32;
typedef unsigned long long fu_u64;
struct fu_bf16 { fu_u16 bits; };

static __device__ __forceinline__ fu_u32 fu_word(float x)
{
    fu_u32 w;
    memcpy(&w, &x, sizeof(w));
    return w;
}

static __device__ __forceinline__ float fu_float(fu_u32 w)
{
    float x;
    memcpy(&x, &w, sizeof(x));
    return x;
}
/* end fu/types.cuh */
/* begin fu/ptx.cuh */
// The machine's own words: who am I, barriers, shuffles, shared memory, and
// accesses of 1 to 32 bytes to global memory. All inline assembly is here; the
// host has its own version of this file (host/fu_emulate.h).
// Needs:  sm_80 or later; launches in one dimension of threads, x only.
// Cost:   one instruction each; 32-byte accesses are two of 16 bytes.
#define FU_RESTRICT __restrict__
static __device__ __forceinline__ int fu_tid() { return (int)threadIdx.x; }
static __device__ __forceinline__ int fu_bid_x() { return (int)blockIdx.x; }
static __device__ __forceinline__ int fu_bid_y() { return (int)blockIdx.y; }
static __device__ __forceinline__ int fu_grid_x() { return (int)gridDim.x; }

// A word that is unpacked again where it is used: the compiler may not hold
// what it has unpacked before. No instruction.
static __device__ __forceinline__ void fu_again_word(fu_u32 &w)
{
    asm volatile("" : "+r"(w));
}

// All threads of the block.
static __device__ __forceinline__ void fu_barrier()
{
    asm volatile("bar.sync 0;" ::: "memory");
}

// The word of the lane whose number differs by xor; all lanes take part.
static __device__ __forceinline__ fu_u32 fu_shfl_xor_word(fu_u32 x, int mask)
{
    fu_u32 y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(y) : "r"(x), "r"(mask));
    return y;
}

static __device__ __forceinline__ fu_u16 fu_cvt_f32_to_bf16(float x)
{
    fu_u16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

static __device__ __forceinline__ float fu_max_nan(float a, float b)
{
    float x;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
    return x;
}
alignas(16) extern __shared__ unsigned char fu_smem[];

static __device__ __forceinline__ unsigned char *fu_shared(int byte_offset)
{
    return fu_smem + byte_offset;
}

// T is a register type; the offset is in bytes, a multiple of T's size.
template <typename T>
static __device__ __forceinline__ T fu_sload(int byte_offset)
{
    return *(const T *)fu_shared(byte_offset);
}

template <typename T>
static __device__ __forceinline__ void fu_sstore(int byte_offset, T x)
{
    *(T *)fu_shared(byte_offset) = x;
}

// Accesses of BYTES bytes, naturally aligned, as words; `once` is for memory
// that nobody writes during the kernel.
template <int BYTES> struct fu_access;

template <> struct fu_access<1> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        asm("ld.global.nc.u8 %0, [%1];" : "=r"(w[0]) : "l"(p));
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        asm volatile("ld.global.u8 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");
    }
};

template <> struct fu_access<2> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        asm("ld.global.nc.u16 %0, [%1];" : "=r"(w[0]) : "l"(p));
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        asm volatile("ld.global.u16 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");
    }
};

template <> struct fu_access<4> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        asm("ld.global.nc.b32 %0, [%1];" : "=r"(w[0]) : "l"(p));
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        asm volatile("ld.global.b32 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        asm volatile("st.global.b32 [%0], %1;" ::"l"(p), "r"(w[0]) : "memory");
    }
};

template <> struct fu_access<8> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        asm("ld.global.nc.v2.b32 {%0, %1}, [%2];"
            : "=r"(w[0]), "=r"(w[1]) : "l"(p));
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        asm volatile("ld.global.v2.b32 {%0, %1}, [%2];"
                     : "=r"(w[0]), "=r"(w[1]) : "l"(p) : "memory");
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                     ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory");
    }
};

template <> struct fu_access<16> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
            : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(p));
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "l"(p) : "memory");
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                     ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
    }
};

template <> struct fu_access<32> {
    static __device__ __forceinline__ void once(const void *p, fu_u32 *w)
    {
        fu_access<16>::once(p, w);
        fu_access<16>::once((const char *)p + 16, w + 4);
    }
    static __device__ __forceinline__ void load(const void *p, fu_u32 *w)
    {
        fu_access<16>::load(p, w);
        fu_access<16>::load((const char *)p + 16, w + 4);
    }
    static __device__ __forceinline__ void store(void *p, const fu_u32 *w)
    {
        fu_access<16>::store(p, w);
        fu_access<16>::store((char *)p + 16, w + 4);
    }
};
/* end fu/ptx.cuh */
/* begin fu/async.cuh */
// Copies that run while the thread goes on: single pieces (cp.async), whole
// rows (bulk copies), and the mbarrier that says when rows have arrived.
// Shared memory is named by its byte offset, as in prim.cuh.
// Needs:  fu_copy_async and fu_mbarrier_{init,inval,arrive*,try,wait}: sm_80;
//         the rest: sm_90 (an older target is refused by the assembler).
//         Pieces of 4, 8 or 16 bytes, both addresses aligned to that. Bulk:
//         addresses and size multiples of 16. An mbarrier: 8 bytes, aligned.
//         Bytes that ordinary stores wrote, or ordinary loads of another
//         thread read, and that a bulk copy then reads or writes: a barrier
//         between, and for what was written fu_fence_async before that barrier.
// Cost:   a piece is one instruction a thread and no register for the data; a
//         bulk copy is one instruction of one thread, whatever its size; a wait
//         on a phase that has completed is one look at shared memory.
// Source: PTX ISA: cp.async, mbarrier.*, cp.async.bulk, fence.proxy.async,
//         fence.mbarrier_init, createpolicy.

static __device__ __forceinline__ fu_u32 fu_shared_at(int byte_offset)
{
    return (fu_u32)__cvta_generic_to_shared(fu_smem + byte_offset);
}

// An mbarrier completes a phase when `arrivals` threads have arrived and all
// bytes expected have; then the next phase begins. Phases are waited for by
// parity: 0, 1, 0, ...
static __device__ __forceinline__ void fu_mbarrier_init(int bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 ::"r"(fu_shared_at(bar)), "r"(arrivals) : "memory");
}

// After the inits, before the barrier that lets others (and copies) use them.
static __device__ __forceinline__ void fu_mbarrier_fence()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Arrives, and makes the phase wait for so many bytes more.
static __device__ __forceinline__ void fu_mbarrier_expect(int bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(fu_shared_at(bar)), "r"(bytes) : "memory");
}

// True when the phase of that parity has completed; may sleep a little first.
static __device__ __forceinline__ bool fu_mbarrier_try(int bar, int parity)
{
    fu_u32 y;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(y) : "r"(fu_shared_at(bar)), "r"(parity) : "memory");
#else
    asm volatile("{ .reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(y) : "r"(fu_shared_at(bar)), "r"(parity) : "memory");
#endif
    return y != 0;
}

static __device__ __forceinline__ void fu_mbarrier_wait(int bar, int parity)
{
    while (!fu_mbarrier_try(bar, parity))
        ;
}

// One thread: `bytes` from global memory to this block's shared memory, and
// that many bytes to the phase of the mbarrier when they have arrived.
static __device__ __forceinline__ void fu_bulk_load(int to, const void *from,
                                                    int bytes, int bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 ::"r"(fu_shared_at(to)), "l"(from), "r"(bytes),
                   "r"(fu_shared_at(bar)) : "memory");
}
/* end fu/async.cuh */
/* begin fu/cluster.cuh */
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
struct fu_remote { fu_u32 at; };

// The block's number in its cluster, blocks in it; the cluster's number in the
// grid.
static __device__ __forceinline__ int fu_cluster_rank()
{
    int r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
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

// A message: x to place a, its size to the mbarrier bar; both in one block.
template <typename T>
static __device__ __forceinline__ void fu_remote_send(fu_remote a, T x, fu_remote bar)
{
    fu_u32 w[sizeof(T) / 4];
    memcpy(w, &x, sizeof(T));
    fu_remote_access<sizeof(T)>::send(a, w, bar);
}
/* end fu/cluster.cuh */
/* begin fu/storage.cuh */
// Elements of a storage type and floats: fu_unpack is exact; fu_pack_<type>
// rounds to the nearest, ties to even: f16 and bf16 overflow to infinity, the
// 8-bit types saturate, infinities included; NaN stays NaN.
// Cost:   1 or 2 instructions; the 8-bit types about 12.

static __device__ __forceinline__ float fu_unpack(fu_bf16 x)
{
    return fu_float((fu_u32)x.bits << 16);
}

static __device__ __forceinline__ fu_bf16 fu_pack_bf16(float x)
{
    fu_bf16 r;
    r.bits = fu_cvt_f32_to_bf16(x);
    return r;
}
/* end fu/storage.cuh */
/* begin fu/math.cuh */
// The mathematical functions, one name for float and double each. sqrt is
// correctly rounded, rounding is to even; the rest as accurate as CUDA's table
// says (src/ir/ops.def repeats it).
// Cost:   2 instructions (floor) to some 70 (lgamma); sin, cos and tan of large
//         arguments use a stack frame.
static __device__ __forceinline__ float fu_exp(float x) { return expf(x); }
static __device__ __forceinline__ float fu_abs(float x) { return fabsf(x); }

static __device__ __forceinline__ float fu_fma(float x, float y, float z)
{
    return fmaf(x, y, z);
}
/* end fu/math.cuh */
/* begin fu/special.cuh */
// Functions of the language that CUDA has no name for: floor quotient and
// remainder of floats, signs, fractions, sigmoid, silu, classification.
// Cost:   1 to 30 instructions.

static __device__ __forceinline__ bool fu_isfinite(float x)
{
    return (fu_word(x) & 0x7fffffffu) < 0x7f800000u;
}

template <typename T>
static __device__ __forceinline__ bool fu_isfinite(T) { return true; }
/* end fu/special.cuh */
/* begin fu/divide.cuh */
// Quotients by one divisor that many elements share, where each is rounded to
// 16 bits or fewer next: two multiplications and a product-sum instead of a
// division, which takes a dozen instructions and a branch.
// Values: 1 / b = (head + tail) * scale but for 2^-46 of it; head is not above
//         1 / b in magnitude and tail has its sign, so that neither zeros lose
//         their sign nor infinities meet. A quotient is within 0.5000001 ulp
//         (of float) of the exact one before it is rounded, within one ulp where
//         it is below 2^-120. Zero, infinite and NaN operands give what a
//         division gives.
// Cost:   the divisor some 30 instructions, a quotient 3.
// Source: the residual of a reciprocal by one product-sum, which is exact
//         (P. Markstein, IBM J. Res. Dev. 34, 1990).

struct fu_divisor {
    float head, tail, scale;
};

static __device__ __forceinline__ fu_divisor fu_divide_by(float b)
{
    fu_divisor d;
    float x = fu_abs(b);
    // Powers of two, exact: a divisor so far off that the tail would vanish.
    d.scale = x < 0x1p-100f ? 0x1p64f : x > 0x1p100f ? 0x1p-64f : 1.0f;
    b *= d.scale;
    d.head = 1.0f / b;
    if (x == 0 || !fu_isfinite(x)) {
        d.tail = d.head;
        return d;
    }
    if (fu_fma(-b, d.head, 1.0f) < 0)
        d.head = fu_float(fu_word(d.head) - 1);
    d.tail = fu_fma(-b, d.head, 1.0f) * d.head;
    if (d.tail == 0)
        d.tail = d.head * 0x1p-40f;
    return d;
}

static __device__ __forceinline__ float fu_quotient(float a, fu_divisor d)
{
    return fu_fma(a, d.head, a * d.tail) * d.scale;
}
/* end fu/divide.cuh */
/* begin fu/order.cuh */
// Order of floats: NaN above all else, +0 above -0; and what follows from it:
// maximum, minimum, relu, argmax, argmin. Integers and bools in plain order.
// Cost:   one instruction for float, a few compares for double.

static __device__ __forceinline__ float fu_maximum(float a, float b)
{
    return fu_max_nan(a, b);
}
/* end fu/order.cuh */
/* begin fu/prim.cuh */
// Loads, stores, vectors in registers and exchanges of values of any type.
// Written on top of ptx.cuh; the host compiles it unchanged.
// Values: an element of a storage type is a float in a register, a fu_bool is
//         a bool, any other is itself.
// Needs:  addresses aligned to the access; offsets in elements.

template <typename TO, typename FROM>
static __device__ __forceinline__ TO fu_bits_as(const FROM &x)
{
    static_assert(sizeof(TO) == sizeof(FROM), "same number of bits");
    TO y;
    memcpy(&y, &x, sizeof(y));
    return y;
}

static __device__ __forceinline__ float fu_inff()
{
    return fu_bits_as<float>(0x7f800000u);
}

// R = fu_value<T>::reg is what a register holds; unpack and pack go between the
// two, pack to the nearest even.
template <typename T> struct fu_value {
    typedef T reg;
    static __device__ __forceinline__ T unpack(T x) { return x; }
    static __device__ __forceinline__ T pack(T x) { return x; }
};

template <> struct fu_value<fu_bf16> {
    typedef float reg;
    static __device__ __forceinline__ float unpack(fu_bf16 x) { return fu_unpack(x); }
    static __device__ __forceinline__ fu_bf16 pack(float x) { return fu_pack_bf16(x); }
};

// Elements of one access: V of type T in 32-bit words.
template <typename T, int V> struct fu_vec {
    enum {
        BYTES = V * (int)sizeof(T),
        WORDS = (BYTES + 3) / 4,
        PER_WORD = sizeof(T) >= 4 ? 1 : 4 / (int)sizeof(T),
        PER_ELEM = sizeof(T) == 8 ? 2 : 1
    };
    fu_u32 w[WORDS];
};

template <typename T, int V>
static __device__ __forceinline__ fu_vec<T, V> fu_vzero()
{
    fu_vec<T, V> r;
#pragma unroll
    for (int i = 0; i < fu_vec<T, V>::WORDS; ++i)
        r.w[i] = 0;
    return r;
}

// Moving an element of 1, 2, 4 or 8 bytes out of and into words.
template <typename T, int BYTES> struct fu_lane;

template <typename T> struct fu_lane<T, 1> {
    static __device__ __forceinline__ T get(const fu_u32 *w, int e)
    {
        return fu_bits_as<T>((fu_u8)(w[e / 4] >> (e % 4 * 8)));
    }
    static __device__ __forceinline__ void set(fu_u32 *w, int e, T x)
    {
        fu_u32 b = (fu_u32)fu_bits_as<fu_u8>(x) << (e % 4 * 8);
        w[e / 4] = e % 4 == 0 ? b : w[e / 4] | b;
    }
};

template <typename T> struct fu_lane<T, 2> {
    static __device__ __forceinline__ T get(const fu_u32 *w, int e)
    {
        return fu_bits_as<T>((fu_u16)(w[e / 2] >> (e % 2 * 16)));
    }
    static __device__ __forceinline__ void set(fu_u32 *w, int e, T x)
    {
        fu_u32 b = (fu_u32)fu_bits_as<fu_u16>(x) << (e % 2 * 16);
        w[e / 2] = e % 2 == 0 ? b : w[e / 2] | b;
    }
};

template <typename T> struct fu_lane<T, 4> {
    static __device__ __forceinline__ T get(const fu_u32 *w, int e)
    {
        return fu_bits_as<T>(w[e]);
    }
    static __device__ __forceinline__ void set(fu_u32 *w, int e, T x)
    {
        w[e] = fu_bits_as<fu_u32>(x);
    }
};

template <typename T> struct fu_lane<T, 8> {
    static __device__ __forceinline__ T get(const fu_u32 *w, int e)
    {
        return fu_bits_as<T>((fu_u64)w[2 * e + 1] << 32 | w[2 * e]);
    }
    static __device__ __forceinline__ void set(fu_u32 *w, int e, T x)
    {
        fu_u64 b = fu_bits_as<fu_u64>(x);
        w[2 * e] = (fu_u32)b;
        w[2 * e + 1] = (fu_u32)(b >> 32);
    }
};

// Element e as a register value. e should be known after unrolling.
template <typename T, int V>
static __device__ __forceinline__ typename fu_value<T>::reg
fu_get(const fu_vec<T, V> &v, int e)
{
    return fu_value<T>::unpack(fu_lane<T, sizeof(T)>::get(v.w, e));
}

// Sets element e. The elements of a vector are set once each, in order: the
// first of a word clears the rest of it.
template <typename T, int V>
static __device__ __forceinline__ void
fu_set(fu_vec<T, V> &v, int e, typename fu_value<T>::reg x)
{
    fu_lane<T, sizeof(T)>::set(v.w, e, fu_value<T>::pack(x));
}

// What waits packed stays packed: each use unpacks it again.
template <typename T, int V>
static __device__ __forceinline__ void fu_stay_packed(fu_vec<T, V> &v)
{
#pragma unroll
    for (int i = 0; i < fu_vec<T, V>::WORDS; ++i)
        fu_again_word(v.w[i]);
}

// V elements at p[off..]; through the read-only path when p is const.
template <int V, typename T>
static __device__ __forceinline__ fu_vec<T, V> fu_vload(const T *p, fu_i64 off)
{
    fu_vec<T, V> r;
    fu_access<fu_vec<T, V>::BYTES>::once(p + off, r.w);
    return r;
}

template <int V, typename T>
static __device__ __forceinline__ fu_vec<T, V> fu_vload(T *p, fu_i64 off)
{
    fu_vec<T, V> r;
    fu_access<fu_vec<T, V>::BYTES>::load(p + off, r.w);
    return r;
}

template <int V, typename T>
static __device__ __forceinline__ void fu_vstore(T *p, fu_i64 off,
                                                 const fu_vec<T, V> &v)
{
    fu_access<fu_vec<T, V>::BYTES>::store(p + off, v.w);
}

template <typename T>
static __device__ __forceinline__ typename fu_value<T>::reg
fu_load(const T *p, fu_i64 off)
{
    return fu_get(fu_vload<1>(p, off), 0);
}

template <typename T>
static __device__ __forceinline__ typename fu_value<T>::reg
fu_load(T *p, fu_i64 off)
{
    return fu_get(fu_vload<1>(p, off), 0);
}

template <typename T>
static __device__ __forceinline__ void fu_store(T *p, fu_i64 off,
                                                typename fu_value<T>::reg x)
{
    fu_vec<T, 1> v;
    fu_set(v, 0, x);
    fu_vstore<1>(p, off, v);
}

// Words that are read at once.
template <int BYTES> struct alignas(BYTES < 16 ? BYTES : 16) fu_line {
    fu_u32 w[BYTES / 4];
};

// V elements at a byte offset, a multiple of their bytes or of 16.
template <typename T, int V>
static __device__ __forceinline__ fu_vec<T, V> fu_vsload(int byte_offset)
{
    const fu_line<fu_vec<T, V>::BYTES> x =
        fu_sload<fu_line<fu_vec<T, V>::BYTES> >(byte_offset);
    fu_vec<T, V> r;
#pragma unroll
    for (int i = 0; i < fu_vec<T, V>::WORDS; ++i)
        r.w[i] = x.w[i];
    return r;
}

// The value of the lane whose number differs by xor; all lanes take part.
static __device__ __forceinline__ fu_u32 fu_shfl_xor(fu_u32 x, int mask)
{
    return fu_shfl_xor_word(x, mask);
}

static __device__ __forceinline__ fu_i32 fu_shfl_xor(fu_i32 x, int mask)
{
    return (fu_i32)fu_shfl_xor_word((fu_u32)x, mask);
}

static __device__ __forceinline__ float fu_shfl_xor(float x, int mask)
{
    return fu_bits_as<float>(fu_shfl_xor_word(fu_bits_as<fu_u32>(x), mask));
}

static __device__ __forceinline__ bool fu_shfl_xor(bool x, int mask)
{
    return fu_shfl_xor_word(x ? 1u : 0u, mask) != 0;
}

static __device__ __forceinline__ fu_u8 fu_shfl_xor(fu_u8 x, int mask)
{
    return (fu_u8)fu_shfl_xor_word(x, mask);
}

static __device__ __forceinline__ fu_i8 fu_shfl_xor(fu_i8 x, int mask)
{
    return (fu_i8)fu_shfl_xor_word((fu_u32)x, mask);
}

static __device__ __forceinline__ fu_i16 fu_shfl_xor(fu_i16 x, int mask)
{
    return (fu_i16)fu_shfl_xor_word((fu_u32)x, mask);
}

static __device__ __forceinline__ fu_u64 fu_shfl_xor(fu_u64 x, int mask)
{
    fu_u32 lo = fu_shfl_xor_word((fu_u32)x, mask);
    fu_u32 hi = fu_shfl_xor_word((fu_u32)(x >> 32), mask);
    return (fu_u64)hi << 32 | lo;
}

static __device__ __forceinline__ fu_i64 fu_shfl_xor(fu_i64 x, int mask)
{
    return (fu_i64)fu_shfl_xor((fu_u64)x, mask);
}

static __device__ __forceinline__ fu_i64 fu_min_i64(fu_i64 a, fu_i64 b)
{
    return b < a ? b : a;
}

static __device__ __forceinline__ fu_i64 fu_max_i64(fu_i64 a, fu_i64 b)
{
    return a < b ? b : a;
}
/* end fu/prim.cuh */
/* begin fu/reduce.cuh */
// Sums of many terms: the running sum and what rounding has lost of it so far,
// so that the error doesn't grow with the number of terms.
// Order:  add in any order the plan fixes; merge as a tree; an infinite or NaN
//         sum keeps its class.
// Cost:   7 additions a term.

template <typename T> struct fu_sum {
    T sum, rest;
};

template <typename T>
static __device__ __forceinline__ fu_sum<T> fu_sum_none()
{
    fu_sum<T> r;
    r.sum = T(0);
    r.rest = T(0);
    return r;
}

template <typename T>
static __device__ __forceinline__ fu_sum<T> fu_sum_add(fu_sum<T> a, T x)
{
    fu_sum<T> r;
    r.sum = a.sum + x;
    T part = r.sum - a.sum;
    r.rest = a.rest + ((a.sum - (r.sum - part)) + (x - part));
    return r;
}

// The rest is NaN where the sum isn't finite; then it says nothing.
template <typename T>
static __device__ __forceinline__ T fu_sum_value(fu_sum<T> a)
{
    return a.rest - a.rest == T(0) ? a.sum + a.rest : a.sum;
}
/* end fu/reduce.cuh */
#else
#include "fu_emulate.h"
#endif

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(128, 7)
fu_attention_softmax_v0_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int t = tid % 32;
    const int group = tid / 32;
    const fu_i64 row0 = (fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647) * 4;
    const fu_i64 want = row0 + group;
    const bool active = want < m_0;
    const fu_i64 row = fu_min_i64(want, m_0 - 1);
    const fu_i64 o_scores = row * d_K;
    const fu_i64 o_p = row * d_K;
    fu_vec<fu_bf16, 8> b_scores[4];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        b_scores[v] = fu_vzero<fu_bf16, 8>();
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_K) {
            b_scores[v] = fu_vload<8>(p_scores, o_scores + c);
        }
    }
    float k_7[32];
    float r_4 = (-fu_inff());
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_K) {
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_scores = fu_get(b_scores[v], e);
                const float v_3 = v_scores * c_scale;
                r_4 = fu_maximum(r_4, v_3);
            }
        }
    }
    // Combine over the threads of the row.
    r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
    r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
    r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
    r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
    r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
    float r_8 = 0.0f;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_K) {
            fu_stay_packed(b_scores[v]);
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_scores = fu_get(b_scores[v], e);
                const float v_3 = v_scores * c_scale;
                const float v_6 = v_3 - r_4;
                const float v_7 = fu_exp(v_6);
                k_7[v * 8 + e] = v_7;
                r_8 = r_8 + v_7;
            }
        }
    }
    // Combine over the threads of the row.
    r_8 = r_8 + fu_shfl_xor(r_8, 16);
    r_8 = r_8 + fu_shfl_xor(r_8, 8);
    r_8 = r_8 + fu_shfl_xor(r_8, 4);
    r_8 = r_8 + fu_shfl_xor(r_8, 2);
    r_8 = r_8 + fu_shfl_xor(r_8, 1);
    const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_K) {
            fu_vec<fu_bf16, 8> s_p;
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_7 = k_7[v * 8 + e];
                const float v_p = fu_quotient(v_7, d_p);
                fu_set(s_p, e, v_p);
            }
            fu_vstore<8>(p_p, o_p + c, s_p);
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(128, 4)
fu_attention_softmax_v1_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        fu_vec<fu_bf16, 8> b_scores[8];
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            b_scores[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_K) {
                b_scores[v] = fu_vload<8>(p_scores, o_scores + c);
            }
        }
        float k_7[64];
        float r_4 = (-fu_inff());
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_K) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    r_4 = fu_maximum(r_4, v_3);
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_4);
        }
        fu_barrier();
        r_4 = fu_sload<float>((lane & 3) * 8);
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_K) {
                fu_stay_packed(b_scores[v]);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    k_7[v * 8 + e] = v_7;
                    r_8 = r_8 + v_7;
                }
            }
        }
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8 + 32, r_8);
        }
        fu_barrier();
        r_8 = fu_sload<float>((lane & 3) * 8 + 32);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_K) {
                fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_7 = k_7[v * 8 + e];
                    const float v_p = fu_quotient(v_7, d_p);
                    fu_set(s_p, e, v_p);
                }
                fu_vstore<8>(p_p, o_p + c, s_p);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 2)
fu_attention_softmax_v2_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        float r_4 = (-fu_inff());
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 4096) {
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        r_4 = fu_maximum(r_4, v_3);
                    }
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_4);
        }
        fu_barrier();
        r_4 = fu_sload<float>((lane & 7) * 8);
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
        fu_sum<float> sum_8 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 4096) {
            r_8 = 0.0f;
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        const float v_6 = v_3 - r_4;
                        const float v_7 = fu_exp(v_6);
                        r_8 = r_8 + v_7;
                    }
                }
            }
            sum_8 = fu_sum_add(sum_8, r_8);
        }
        r_8 = fu_sum_value(sum_8);
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8 + 64, r_8);
        }
        fu_barrier();
        r_8 = fu_sload<float>((lane & 7) * 8 + 64);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 4096) {
#pragma unroll
            for (int v = 0; v < 2; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
                    fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        const float v_6 = v_3 - r_4;
                        const float v_7 = fu_exp(v_6);
                        const float v_p = fu_quotient(v_7, d_p);
                        fu_set(s_p, e, v_p);
                    }
                    fu_vstore<8>(p_p, o_p + c, s_p);
                }
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 4)
fu_attention_softmax_v3_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_2,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const int first = rank * m_2;
    const int end = fu_min_i64(first + m_2, d_K);
    // The blocks of the cluster share a row.
    if (tid == 0) {
        fu_mbarrier_init(2048, 1);
        fu_mbarrier_init(2056, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(2048, 512);
        fu_mbarrier_expect(2056, 512);
    }
    fu_cluster_arrive();
    int turn = 0;
    // The first rows are on their way.
    if (tid == 0) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            fu_mbarrier_init(s * 8 + 18560, 1);
        }
        fu_mbarrier_fence();
#pragma unroll 1
        for (int s = 0; s < 2; ++s) {
            const fu_i64 fill = fu_i64(fu_cluster_x()) + fu_i64(fu_grid_x()) / 16 * s;
            if (fill < m_0) {
                const int to = s * 8192 + 2176;
                const int full = s * 8 + 18560;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_scores + (fill * d_K + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
    }
    fu_barrier();
    int slot = 0;
    int lap = 0;
    fu_cluster_wait();
#pragma unroll 1
    for (fu_i64 row0 = fu_i64(fu_cluster_x()); row0 < m_0; row0 += fu_i64(fu_grid_x()) / 16) {
        const fu_i64 o_p = row0 * d_K;
        // The row has arrived.
        const int ring = slot * 8192 + 2176;
        fu_mbarrier_wait(slot * 8 + 18560, lap);
        fu_vec<fu_bf16, 8> b_scores[2];
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            b_scores[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                b_scores[v] = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
            }
        }
        float k_7[16];
        float r_4 = (-fu_inff());
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    r_4 = fu_maximum(r_4, v_3);
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane < 16) {
            float s0_0;
            s0_0 = r_4;
            fu_remote_send(fu_remote_at((turn & 1) * 1024 + (rank * 8 + warp) * 8, lane), s0_0, fu_remote_at((turn & 1) * 8 + 2048, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 2048, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 2048, 512);
        }
        const float m0_0 = fu_sload<float>((turn & 1) * 1024 + lane * 8);
        r_4 = m0_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q0_0 = fu_sload<float>((turn & 1) * 1024 + (lane + q) * 8);
            r_4 = fu_maximum(r_4, q0_0);
        }
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        turn = turn + 1 & 3;
        // Its slot is free for the row 2 steps ahead.
        if (tid == 0) {
            const fu_i64 fill = row0 + fu_i64(fu_grid_x()) / 16 * 2;
            if (fill < m_0) {
                const int to = slot * 8192 + 2176;
                const int full = slot * 8 + 18560;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_scores + (fill * d_K + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
        float r_8 = 0.0f;
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                fu_stay_packed(b_scores[v]);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    k_7[v * 8 + e] = v_7;
                    r_8 = r_8 + v_7;
                }
            }
        }
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane < 16) {
            float s1_0;
            s1_0 = r_8;
            fu_remote_send(fu_remote_at((turn & 1) * 1024 + (rank * 8 + warp) * 8, lane), s1_0, fu_remote_at((turn & 1) * 8 + 2048, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 2048, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 2048, 512);
        }
        const float m1_0 = fu_sload<float>((turn & 1) * 1024 + lane * 8);
        r_8 = m1_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q1_0 = fu_sload<float>((turn & 1) * 1024 + (lane + q) * 8);
            r_8 = r_8 + q1_0;
        }
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        turn = turn + 1 & 3;
        const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
        for (int v = 0; v < 2; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_7 = k_7[v * 8 + e];
                    const float v_p = fu_quotient(v_7, d_p);
                    fu_set(s_p, e, v_p);
                }
                fu_vstore<8>(p_p, o_p + c, s_p);
            }
        }
        slot = slot + 1;
        if (slot == 2) {
            slot = 0;
            lap = 1 - lap;
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 2)
fu_attention_softmax_v4_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_2,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const int first = rank * m_2;
    const int end = fu_min_i64(first + m_2, d_K);
    // The blocks of the cluster share a row.
    if (tid == 0) {
        fu_mbarrier_init(2048, 1);
        fu_mbarrier_init(2056, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(2048, 512);
        fu_mbarrier_expect(2056, 512);
    }
    fu_cluster_arrive();
    int turn = 0;
    // The first rows are on their way.
    if (tid == 0) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            fu_mbarrier_init(s * 8 + 34944, 1);
        }
        fu_mbarrier_fence();
#pragma unroll 1
        for (int s = 0; s < 2; ++s) {
            const fu_i64 fill = fu_i64(fu_cluster_x()) + fu_i64(fu_grid_x()) / 16 * s;
            if (fill < m_0) {
                const int to = s * 16384 + 2176;
                const int full = s * 8 + 34944;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_scores + (fill * d_K + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
    }
    fu_barrier();
    int slot = 0;
    int lap = 0;
    fu_cluster_wait();
#pragma unroll 1
    for (fu_i64 row0 = fu_i64(fu_cluster_x()); row0 < m_0; row0 += fu_i64(fu_grid_x()) / 16) {
        const fu_i64 o_p = row0 * d_K;
        // The row has arrived.
        const int ring = slot * 16384 + 2176;
        fu_mbarrier_wait(slot * 8 + 34944, lap);
        float k_3[32];
        float k_7[32];
        float r_4 = (-fu_inff());
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                const fu_vec<fu_bf16, 8> l_scores = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(l_scores, e);
                    const float v_3 = v_scores * c_scale;
                    k_3[v * 8 + e] = v_3;
                    r_4 = fu_maximum(r_4, v_3);
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane < 16) {
            float s0_0;
            s0_0 = r_4;
            fu_remote_send(fu_remote_at((turn & 1) * 1024 + (rank * 8 + warp) * 8, lane), s0_0, fu_remote_at((turn & 1) * 8 + 2048, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 2048, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 2048, 512);
        }
        const float m0_0 = fu_sload<float>((turn & 1) * 1024 + lane * 8);
        r_4 = m0_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q0_0 = fu_sload<float>((turn & 1) * 1024 + (lane + q) * 8);
            r_4 = fu_maximum(r_4, q0_0);
        }
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        turn = turn + 1 & 3;
        // Its slot is free for the row 2 steps ahead.
        if (tid == 0) {
            const fu_i64 fill = row0 + fu_i64(fu_grid_x()) / 16 * 2;
            if (fill < m_0) {
                const int to = slot * 16384 + 2176;
                const int full = slot * 8 + 34944;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_scores + (fill * d_K + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
        float r_8 = 0.0f;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_3 = k_3[v * 8 + e];
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    k_7[v * 8 + e] = v_7;
                    r_8 = r_8 + v_7;
                }
            }
        }
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane < 16) {
            float s1_0;
            s1_0 = r_8;
            fu_remote_send(fu_remote_at((turn & 1) * 1024 + (rank * 8 + warp) * 8, lane), s1_0, fu_remote_at((turn & 1) * 8 + 2048, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 2048, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 2048, 512);
        }
        const float m1_0 = fu_sload<float>((turn & 1) * 1024 + lane * 8);
        r_8 = m1_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q1_0 = fu_sload<float>((turn & 1) * 1024 + (lane + q) * 8);
            r_8 = r_8 + q1_0;
        }
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        turn = turn + 1 & 3;
        const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_7 = k_7[v * 8 + e];
                    const float v_p = fu_quotient(v_7, d_p);
                    fu_set(s_p, e, v_p);
                }
                fu_vstore<8>(p_p, o_p + c, s_p);
            }
        }
        slot = slot + 1;
        if (slot == 2) {
            slot = 0;
            lap = 1 - lap;
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 2)
fu_attention_softmax_v5_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_2,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const fu_i64 first = fu_i64(rank) * m_2;
    const int mine = fu_i32(fu_min_i64(m_2, fu_max_i64(d_K - first, 0)));
    // The blocks of the cluster share a row.
    if (tid == 0) {
        fu_mbarrier_init(2048, 1);
        fu_mbarrier_init(2056, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(2048, 512);
        fu_mbarrier_expect(2056, 512);
    }
    fu_cluster_arrive();
    const fu_i64 row0 = fu_i64(fu_cluster_x()) + fu_i64(fu_bid_y()) * 134217727;
    fu_cluster_wait();
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        fu_vec<fu_bf16, 8> b_scores[8];
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            b_scores[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int own = (v * 256 + tid) * 8;
            const fu_i64 c = first + own;
            if (own < mine) {
                b_scores[v] = fu_vload<8>(p_scores, o_scores + c);
            }
        }
        float k_7[64];
        float r_4 = (-fu_inff());
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int own = (v * 256 + tid) * 8;
            const fu_i64 c = first + own;
            if (own < mine) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    r_4 = fu_maximum(r_4, v_3);
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane < 16) {
            float s0_0;
            s0_0 = r_4;
            fu_remote_send(fu_remote_at((rank * 8 + warp) * 8, lane), s0_0, fu_remote_at(2048, lane));
        }
        fu_mbarrier_wait_cluster(2048, 0);
        const float m0_0 = fu_sload<float>(lane * 8);
        r_4 = m0_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q0_0 = fu_sload<float>((lane + q) * 8);
            r_4 = fu_maximum(r_4, q0_0);
        }
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int own = (v * 256 + tid) * 8;
            const fu_i64 c = first + own;
            if (own < mine) {
                fu_stay_packed(b_scores[v]);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_scores = fu_get(b_scores[v], e);
                    const float v_3 = v_scores * c_scale;
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    k_7[v * 8 + e] = v_7;
                    r_8 = r_8 + v_7;
                }
            }
        }
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane < 16) {
            float s1_0;
            s1_0 = r_8;
            fu_remote_send(fu_remote_at(1024 + (rank * 8 + warp) * 8, lane), s1_0, fu_remote_at(2056, lane));
        }
        fu_mbarrier_wait_cluster(2056, 0);
        const float m1_0 = fu_sload<float>(1024 + lane * 8);
        r_8 = m1_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q1_0 = fu_sload<float>(1024 + (lane + q) * 8);
            r_8 = r_8 + q1_0;
        }
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int own = (v * 256 + tid) * 8;
            const fu_i64 c = first + own;
            if (own < mine) {
                fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_7 = k_7[v * 8 + e];
                    const float v_p = fu_quotient(v_7, d_p);
                    fu_set(s_p, e, v_p);
                }
                fu_vstore<8>(p_p, o_p + c, s_p);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(512, 2)
fu_attention_softmax_v6_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        float r_4 = (-fu_inff());
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 16384) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        r_4 = fu_maximum(r_4, v_3);
                    }
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_4);
        }
        fu_barrier();
        r_4 = fu_sload<float>((lane & 15) * 8);
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
        fu_sum<float> sum_8 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 16384) {
            r_8 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        const float v_6 = v_3 - r_4;
                        const float v_7 = fu_exp(v_6);
                        r_8 = r_8 + v_7;
                    }
                }
            }
            sum_8 = fu_sum_add(sum_8, r_8);
        }
        r_8 = fu_sum_value(sum_8);
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8 + 128, r_8);
        }
        fu_barrier();
        r_8 = fu_sload<float>((lane & 15) * 8 + 128);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 16384) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid) * 8;
                if (c < d_K) {
                    const fu_vec<fu_bf16, 8> l_scores = fu_vload<8>(p_scores, o_scores + c);
                    fu_vec<fu_bf16, 8> s_p;
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_scores = fu_get(l_scores, e);
                        const float v_3 = v_scores * c_scale;
                        const float v_6 = v_3 - r_4;
                        const float v_7 = fu_exp(v_6);
                        const float v_p = fu_quotient(v_7, d_p);
                        fu_set(s_p, e, v_p);
                    }
                    fu_vstore<8>(p_p, o_p + c, s_p);
                }
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 4)
fu_attention_softmax_v7_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        fu_vec<fu_bf16, 1> b_scores[8];
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            b_scores[v] = fu_vzero<fu_bf16, 1>();
        }
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_K) {
                b_scores[v] = fu_vload<1>(p_scores, o_scores + c);
            }
        }
        float k_7[8];
        float r_4 = (-fu_inff());
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_K) {
                const float v_scores = fu_get(b_scores[v], 0);
                const float v_3 = v_scores * c_scale;
                r_4 = fu_maximum(r_4, v_3);
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_4);
        }
        fu_barrier();
        r_4 = fu_sload<float>((lane & 7) * 8);
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_K) {
                fu_stay_packed(b_scores[v]);
                const float v_scores = fu_get(b_scores[v], 0);
                const float v_3 = v_scores * c_scale;
                const float v_6 = v_3 - r_4;
                const float v_7 = fu_exp(v_6);
                k_7[v] = v_7;
                r_8 = r_8 + v_7;
            }
        }
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8 + 64, r_8);
        }
        fu_barrier();
        r_8 = fu_sload<float>((lane & 7) * 8 + 64);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_K) {
                const float v_7 = k_7[v];
                const float v_p = fu_quotient(v_7, d_p);
                fu_store(p_p, o_p + c, v_p);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(512, 2)
fu_attention_softmax_v8_k0(
    const fu_bf16 *FU_RESTRICT p_scores,
    fu_bf16 *FU_RESTRICT p_p,
    const float c_scale,
    const fu_i64 m_0,
    const fu_i64 d_K)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < m_0) {
        const fu_i64 o_scores = row0 * d_K;
        const fu_i64 o_p = row0 * d_K;
        float r_4 = (-fu_inff());
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 2048) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid);
                if (c < d_K) {
                    const float v_scores = fu_load(p_scores, o_scores + c);
                    const float v_3 = v_scores * c_scale;
                    r_4 = fu_maximum(r_4, v_3);
                }
            }
        }
        // Combine over the threads of the row.
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 16));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_4);
        }
        fu_barrier();
        r_4 = fu_sload<float>((lane & 15) * 8);
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 8));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 4));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 2));
        r_4 = fu_maximum(r_4, fu_shfl_xor(r_4, 1));
        float r_8 = 0.0f;
        fu_sum<float> sum_8 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 2048) {
            r_8 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid);
                if (c < d_K) {
                    const float v_scores = fu_load(p_scores, o_scores + c);
                    const float v_3 = v_scores * c_scale;
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    r_8 = r_8 + v_7;
                }
            }
            sum_8 = fu_sum_add(sum_8, r_8);
        }
        r_8 = fu_sum_value(sum_8);
        // Combine over the threads of the row.
        r_8 = r_8 + fu_shfl_xor(r_8, 16);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8 + 128, r_8);
        }
        fu_barrier();
        r_8 = fu_sload<float>((lane & 15) * 8 + 128);
        r_8 = r_8 + fu_shfl_xor(r_8, 8);
        r_8 = r_8 + fu_shfl_xor(r_8, 4);
        r_8 = r_8 + fu_shfl_xor(r_8, 2);
        r_8 = r_8 + fu_shfl_xor(r_8, 1);
        const fu_divisor d_p = fu_divide_by(r_8);
        for (fu_i64 c0 = 0; c0 < d_K; c0 += 2048) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid);
                if (c < d_K) {
                    const float v_scores = fu_load(p_scores, o_scores + c);
                    const float v_3 = v_scores * c_scale;
                    const float v_6 = v_3 - r_4;
                    const float v_7 = fu_exp(v_6);
                    const float v_p = fu_quotient(v_7, d_p);
                    fu_store(p_p, o_p + c, v_p);
                }
            }
        }
    }
}

#ifdef FU_EMULATE
FU_KERNEL(fu_attention_softmax_v0_k0)
FU_KERNEL(fu_attention_softmax_v1_k0)
FU_KERNEL(fu_attention_softmax_v2_k0)
FU_KERNEL(fu_attention_softmax_v3_k0)
FU_KERNEL(fu_attention_softmax_v4_k0)
FU_KERNEL(fu_attention_softmax_v5_k0)
FU_KERNEL(fu_attention_softmax_v6_k0)
FU_KERNEL(fu_attention_softmax_v7_k0)
FU_KERNEL(fu_attention_softmax_v8_k0)
#endif
