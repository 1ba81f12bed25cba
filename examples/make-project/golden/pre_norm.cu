// Written by fusec 0.1.0; do not edit. The plan:
//
// plan 1 graph 14308f98613694e1
// fusion pre_norm {
//   variant 0 when "N <= 1024 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 128; threads_per_row 32; vector 8; vectors_per_thread 4; looped 0;
//       rows_per_step 1; prefetch 0; persistent 0; grid_rows 0; blocks_per_sm 5;
//       finish none; column_tiles 0; bound 1024; stages 0; cluster 1;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 1 when "N <= 8192 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 128; threads_per_row 128; vector 8; vectors_per_thread 8;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 3; finish none; column_tiles 0; bound 8192; stages 0;
//       cluster 1;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 2 when "N <= 32768 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 16;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 32768; stages 1;
//       cluster 1;
//       buffer x { store ring; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 3 when "N <= 65536 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 1; grid_rows 30;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 65536; stages 2;
//       cluster 8;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store register_f32; reuse rows; }
//     }
//   }
//   variant 4 when "N <= 131072 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 512; threads_per_row 512; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 1; grid_rows 15;
//       blocks_per_sm 1; finish none; column_tiles 0; bound 131072; stages 2;
//       cluster 8;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store register_f32; reuse rows; }
//     }
//   }
//   variant 5 when "N <= 262144 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 1024; threads_per_row 1024; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 1; grid_rows 15;
//       blocks_per_sm 1; finish none; column_tiles 0; bound 262144; stages 2;
//       cluster 8;
//       buffer x { store ring; reuse row; }
//       buffer weight { store shared; reuse rows; }
//     }
//   }
//   variant 6 when "N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 512; threads_per_row 512; vector 8; vectors_per_thread 4;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
//   variant 7 when "N <= 2048" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 1; vectors_per_thread 4;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 6; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
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
/* begin fu/convert.cuh */
// Casts between register values: fu_cast_<type>(x). To a storage type it
// rounds, once, whatever x is; float to integer truncates and saturates, NaN
// gives 0; between integers the low bits are kept; to bool: is not 0.
// Cost:   1 to 4 instructions; from double or i64 to a storage type about 10.

// The same value, kept apart: nothing is contracted across it.
static __device__ __forceinline__ float fu_cast_f32(float x)
{
    return __fadd_rn(x, -0.0f);
}

template <typename T>
static __device__ __forceinline__ float fu_cast_f32(T x)
{
    return (float)x;
}
/* end fu/convert.cuh */
/* begin fu/math.cuh */
// The mathematical functions, one name for float and double each. sqrt is
// correctly rounded, rounding is to even; the rest as accurate as CUDA's table
// says (src/ir/ops.def repeats it).
// Cost:   2 instructions (floor) to some 70 (lgamma); sin, cos and tan of large
//         arguments use a stack frame.
static __device__ __forceinline__ float fu_rsqrt(float x) { return rsqrtf(x); }
/* end fu/math.cuh */
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

// A place in shared memory of which the compiler may not hold anything from the
// time before. No instruction.
static __device__ __forceinline__ int fu_again_at(int byte_offset)
{
    fu_u32 at = (fu_u32)byte_offset;
    fu_again_word(at);
    return (int)at;
}

// The same as fu_vsload at such a place.
template <typename T, int V>
static __device__ __forceinline__ fu_vec<T, V> fu_vsload_again(int byte_offset)
{
    return fu_vsload<T, V>(fu_again_at(byte_offset));
}

template <typename T, int V>
static __device__ __forceinline__ void fu_vsstore(int byte_offset,
                                                  const fu_vec<T, V> &v)
{
    fu_line<fu_vec<T, V>::BYTES> x;
#pragma unroll
    for (int i = 0; i < fu_vec<T, V>::WORDS; ++i)
        x.w[i] = v.w[i];
    fu_sstore<fu_line<fu_vec<T, V>::BYTES> >(byte_offset, x);
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
extern "C" __global__ void __launch_bounds__(128, 5)
fu_pre_norm_v0_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int t = tid % 32;
    const int group = tid / 32;
    const fu_i64 row0 = (fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647) * 4;
    const fu_i64 want = row0 + group;
    const bool active = want < d_M;
    const fu_i64 row = fu_min_i64(want, d_M - 1);
    const fu_i64 o_x = row * d_N;
    const fu_i64 o_weight = 0;
    const fu_i64 o_y = row * d_N;
    fu_vec<fu_bf16, 8> b_x[4];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        b_x[v] = fu_vzero<fu_bf16, 8>();
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_N) {
            b_x[v] = fu_vload<8>(p_x, o_x + c);
        }
    }
    float r_3 = 0.0f;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_N) {
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_x = fu_get(b_x[v], e);
                const float v_2 = v_x * v_x;
                r_3 = r_3 + v_2;
            }
        }
    }
    // Combine over the threads of the row.
    r_3 = r_3 + fu_shfl_xor(r_3, 16);
    r_3 = r_3 + fu_shfl_xor(r_3, 8);
    r_3 = r_3 + fu_shfl_xor(r_3, 4);
    r_3 = r_3 + fu_shfl_xor(r_3, 2);
    r_3 = r_3 + fu_shfl_xor(r_3, 1);
    const float v_5 = fu_cast_f32(d_N);
    const float v_7 = r_3 / v_5;
    const float v_10 = v_7 + 1e-06f;
    const float v_11 = fu_rsqrt(v_10);
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_N) {
            const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
            fu_stay_packed(b_x[v]);
            fu_vec<fu_bf16, 8> s_y;
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_x = fu_get(b_x[v], e);
                const float v_13 = v_x * v_11;
                const float v_weight = fu_get(l_weight, e);
                const float v_y = v_13 * v_weight;
                fu_set(s_y, e, v_y);
            }
            fu_vstore<8>(p_y, o_y + c, s_y);
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(128, 3)
fu_pre_norm_v1_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < d_M) {
        const fu_i64 o_x = row0 * d_N;
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        fu_vec<fu_bf16, 8> b_x[8];
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            b_x[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_N) {
                b_x[v] = fu_vload<8>(p_x, o_x + c);
            }
        }
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_N) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
        }
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_3);
        }
        fu_barrier();
        r_3 = fu_sload<float>((lane & 3) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = (v * 128 + tid) * 8;
            if (c < d_N) {
                const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
                fu_stay_packed(b_x[v]);
                fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_13 = v_x * v_11;
                    const float v_weight = fu_get(l_weight, e);
                    const float v_y = v_13 * v_weight;
                    fu_set(s_y, e, v_y);
                }
                fu_vstore<8>(p_y, o_y + c, s_y);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 2)
fu_pre_norm_v2_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < d_M) {
        // The first rows are on their way.
        if (tid == 0) {
#pragma unroll
            for (int s = 0; s < 1; ++s) {
                fu_mbarrier_init(s * 8 + 65664, 1);
            }
            fu_mbarrier_fence();
#pragma unroll 1
            for (int s = 0; s < 1; ++s) {
                const fu_i64 fill = row0;
                if (fill < d_M) {
                    const int to = s * 65536 + 128;
                    const int full = s * 8 + 65664;
                    fu_mbarrier_expect(full, fu_i32(d_N * 2));
                    if (d_N > 0) {
                        fu_bulk_load(to, p_x + fill * d_N, fu_i32(d_N * 2), full);
                    }
                }
            }
        }
        fu_barrier();
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        // The row has arrived.
        const int ring = 128;
        fu_mbarrier_wait(65664, 0);
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 16; ++v) {
            const int c = (v * 256 + tid) * 8;
            if (c < d_N) {
                const fu_vec<fu_bf16, 8> l_x = fu_vsload<fu_bf16, 8>(ring + c * 2);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(l_x, e);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
        }
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_3);
        }
        fu_barrier();
        r_3 = fu_sload<float>((lane & 7) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 16; ++v) {
            const int c = (v * 256 + tid) * 8;
            if (c < d_N) {
                const fu_vec<fu_bf16, 8> l_x = fu_vsload<fu_bf16, 8>(ring + c * 2);
                const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
                fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(l_x, e);
                    const float v_13 = v_x * v_11;
                    const float v_weight = fu_get(l_weight, e);
                    const float v_y = v_13 * v_weight;
                    fu_set(s_y, e, v_y);
                }
                fu_vstore<8>(p_y, o_y + c, s_y);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 2)
fu_pre_norm_v3_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 m_2,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const int first = rank * m_2;
    const int end = fu_min_i64(first + m_2, d_N);
    // The blocks of the cluster share a row.
    if (tid == 0) {
        fu_mbarrier_init(1024, 1);
        fu_mbarrier_init(1032, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(1024, 256);
        fu_mbarrier_expect(1032, 256);
    }
    fu_cluster_arrive();
    int turn = 0;
    // The first rows are on their way.
    if (tid == 0) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            fu_mbarrier_init(s * 8 + 33920, 1);
        }
        fu_mbarrier_fence();
#pragma unroll 1
        for (int s = 0; s < 2; ++s) {
            const fu_i64 fill = fu_i64(fu_cluster_x()) + fu_i64(fu_grid_x()) / 8 * s;
            if (fill < d_M) {
                const int to = s * 16384 + 1152;
                const int full = s * 8 + 33920;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
    }
    fu_barrier();
    int slot = 0;
    int lap = 0;
    // Operands that are the same for every row.
    float f_weight[32];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = first + (v * 256 + tid) * 8;
        if (c < end) {
            const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, c);
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                f_weight[v * 8 + e] = fu_get(l_weight, e);
            }
        }
    }
    fu_cluster_wait();
#pragma unroll 1
    for (fu_i64 row0 = fu_i64(fu_cluster_x()); row0 < d_M; row0 += fu_i64(fu_grid_x()) / 8) {
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        // The row has arrived.
        const int ring = slot * 16384 + 1152;
        fu_mbarrier_wait(slot * 8 + 33920, lap);
        fu_vec<fu_bf16, 8> b_x[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            b_x[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                b_x[v] = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
            }
        }
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
        }
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane < 8) {
            float s0_0;
            s0_0 = r_3;
            fu_remote_send(fu_remote_at((turn & 1) * 512 + (rank * 8 + warp) * 8, lane), s0_0, fu_remote_at((turn & 1) * 8 + 1024, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 1024, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 1024, 256);
        }
        const float m0_0 = fu_sload<float>((turn & 1) * 512 + lane * 8);
        r_3 = m0_0;
#pragma unroll
        for (int q = 32; q < 64; q += 32) {
            const float q0_0 = fu_sload<float>((turn & 1) * 512 + (lane + q) * 8);
            r_3 = r_3 + q0_0;
        }
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        turn = turn + 1 & 3;
        // Its slot is free for the row 2 steps ahead.
        if (tid == 0) {
            const fu_i64 fill = row0 + fu_i64(fu_grid_x()) / 8 * 2;
            if (fill < d_M) {
                const int to = slot * 16384 + 1152;
                const int full = slot * 8 + 33920;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 256 + tid) * 8;
            if (c < end) {
                fu_stay_packed(b_x[v]);
                fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_13 = v_x * v_11;
                    const float v_weight = f_weight[v * 8 + e];
                    const float v_y = v_13 * v_weight;
                    fu_set(s_y, e, v_y);
                }
                fu_vstore<8>(p_y, o_y + c, s_y);
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
extern "C" __global__ void __launch_bounds__(512, 1)
fu_pre_norm_v4_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 m_2,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const int first = rank * m_2;
    const int end = fu_min_i64(first + m_2, d_N);
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
            fu_mbarrier_init(s * 8 + 67712, 1);
        }
        fu_mbarrier_fence();
#pragma unroll 1
        for (int s = 0; s < 2; ++s) {
            const fu_i64 fill = fu_i64(fu_cluster_x()) + fu_i64(fu_grid_x()) / 8 * s;
            if (fill < d_M) {
                const int to = s * 32768 + 2176;
                const int full = s * 8 + 67712;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
    }
    fu_barrier();
    int slot = 0;
    int lap = 0;
    // Operands that are the same for every row.
    float f_weight[32];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = first + (v * 512 + tid) * 8;
        if (c < end) {
            const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, c);
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                f_weight[v * 8 + e] = fu_get(l_weight, e);
            }
        }
    }
    fu_cluster_wait();
#pragma unroll 1
    for (fu_i64 row0 = fu_i64(fu_cluster_x()); row0 < d_M; row0 += fu_i64(fu_grid_x()) / 8) {
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        // The row has arrived.
        const int ring = slot * 32768 + 2176;
        fu_mbarrier_wait(slot * 8 + 67712, lap);
        fu_vec<fu_bf16, 8> b_x[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            b_x[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 512 + tid) * 8;
            if (c < end) {
                b_x[v] = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
            }
        }
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 512 + tid) * 8;
            if (c < end) {
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
        }
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane < 8) {
            float s0_0;
            s0_0 = r_3;
            fu_remote_send(fu_remote_at((turn & 1) * 1024 + (rank * 16 + warp) * 8, lane), s0_0, fu_remote_at((turn & 1) * 8 + 2048, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 2048, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 2048, 512);
        }
        const float m0_0 = fu_sload<float>((turn & 1) * 1024 + lane * 8);
        r_3 = m0_0;
#pragma unroll
        for (int q = 32; q < 128; q += 32) {
            const float q0_0 = fu_sload<float>((turn & 1) * 1024 + (lane + q) * 8);
            r_3 = r_3 + q0_0;
        }
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        turn = turn + 1 & 3;
        // Its slot is free for the row 2 steps ahead.
        if (tid == 0) {
            const fu_i64 fill = row0 + fu_i64(fu_grid_x()) / 8 * 2;
            if (fill < d_M) {
                const int to = slot * 32768 + 2176;
                const int full = slot * 8 + 67712;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 512 + tid) * 8;
            if (c < end) {
                fu_stay_packed(b_x[v]);
                fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(b_x[v], e);
                    const float v_13 = v_x * v_11;
                    const float v_weight = f_weight[v * 8 + e];
                    const float v_y = v_13 * v_weight;
                    fu_set(s_y, e, v_y);
                }
                fu_vstore<8>(p_y, o_y + c, s_y);
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
extern "C" __global__ void __launch_bounds__(1024, 1)
fu_pre_norm_v5_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 m_2,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int rank = fu_cluster_rank();
    const int first = rank * m_2;
    const int end = fu_min_i64(first + m_2, d_N);
    // The blocks of the cluster share a row.
    if (tid == 0) {
        fu_mbarrier_init(4096, 1);
        fu_mbarrier_init(4104, 1);
        fu_mbarrier_fence();
        fu_mbarrier_expect(4096, 1024);
        fu_mbarrier_expect(4104, 1024);
    }
    fu_cluster_arrive();
    int turn = 0;
    // The first rows are on their way.
    if (tid == 0) {
#pragma unroll
        for (int s = 0; s < 2; ++s) {
            fu_mbarrier_init(s * 8 + 135296, 1);
        }
        fu_mbarrier_fence();
#pragma unroll 1
        for (int s = 0; s < 2; ++s) {
            const fu_i64 fill = fu_i64(fu_cluster_x()) + fu_i64(fu_grid_x()) / 8 * s;
            if (fill < d_M) {
                const int to = s * 65536 + 4224;
                const int full = s * 8 + 135296;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
            }
        }
    }
    fu_barrier();
    int slot = 0;
    int lap = 0;
    // Operands that are the same for every row.
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const int c = first + (v * 1024 + tid) * 8;
        if (c < end) {
            const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, c);
            fu_vsstore((c - first) * 2 + 135312, l_weight);
        }
    }
    fu_barrier();
    fu_cluster_wait();
#pragma unroll 1
    for (fu_i64 row0 = fu_i64(fu_cluster_x()); row0 < d_M; row0 += fu_i64(fu_grid_x()) / 8) {
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        // The row has arrived.
        const int ring = slot * 65536 + 4224;
        fu_mbarrier_wait(slot * 8 + 135296, lap);
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 1024 + tid) * 8;
            if (c < end) {
                const fu_vec<fu_bf16, 8> l_x = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(l_x, e);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
        }
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane < 8) {
            float s0_0;
            s0_0 = r_3;
            fu_remote_send(fu_remote_at((turn & 1) * 2048 + (rank * 32 + warp) * 8, lane), s0_0, fu_remote_at((turn & 1) * 8 + 4096, lane));
        }
        fu_mbarrier_wait_cluster((turn & 1) * 8 + 4096, turn >> 1);
        if (tid == 0) {
            fu_mbarrier_expect((turn & 1) * 8 + 4096, 1024);
        }
        const float m0_0 = fu_sload<float>((turn & 1) * 2048 + lane * 8);
        r_3 = m0_0;
#pragma unroll
        for (int q = 32; q < 256; q += 32) {
            const float q0_0 = fu_sload<float>((turn & 1) * 2048 + (lane + q) * 8);
            r_3 = r_3 + q0_0;
        }
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        turn = turn + 1 & 3;
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = first + (v * 1024 + tid) * 8;
            if (c < end) {
                const fu_vec<fu_bf16, 8> l_x = fu_vsload<fu_bf16, 8>(ring + (c - first) * 2);
                const fu_vec<fu_bf16, 8> l_weight = fu_vsload_again<fu_bf16, 8>((c - first) * 2 + 135312);
                fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                for (int e = 0; e < 8; ++e) {
                    const float v_x = fu_get(l_x, e);
                    const float v_13 = v_x * v_11;
                    const float v_weight = fu_get(l_weight, e);
                    const float v_y = v_13 * v_weight;
                    fu_set(s_y, e, v_y);
                }
                fu_vstore<8>(p_y, o_y + c, s_y);
            }
        }
        fu_barrier();
        // Its slot is free for the row 2 steps ahead.
        if (tid == 0) {
            const fu_i64 fill = row0 + fu_i64(fu_grid_x()) / 8 * 2;
            if (fill < d_M) {
                const int to = slot * 65536 + 4224;
                const int full = slot * 8 + 135296;
                fu_mbarrier_expect(full, fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2));
                if (fu_max_i64(fu_i64(end - first), 0) > 0) {
                    fu_bulk_load(to, p_x + (fill * d_N + first), fu_i32(fu_max_i64(fu_i64(end - first), 0) * 2), full);
                }
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
extern "C" __global__ void __launch_bounds__(512, 2)
fu_pre_norm_v6_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < d_M) {
        const fu_i64 o_x = row0 * d_N;
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        float r_3 = 0.0f;
        fu_sum<float> sum_3 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 16384) {
            r_3 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid) * 8;
                if (c < d_N) {
                    const fu_vec<fu_bf16, 8> l_x = fu_vload<8>(p_x, o_x + c);
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_x = fu_get(l_x, e);
                        const float v_2 = v_x * v_x;
                        r_3 = r_3 + v_2;
                    }
                }
            }
            sum_3 = fu_sum_add(sum_3, r_3);
        }
        r_3 = fu_sum_value(sum_3);
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_3);
        }
        fu_barrier();
        r_3 = fu_sload<float>((lane & 15) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 16384) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid) * 8;
                if (c < d_N) {
                    const fu_vec<fu_bf16, 8> l_x = fu_vload<8>(p_x, o_x + c);
                    const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
                    fu_vec<fu_bf16, 8> s_y;
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        const float v_x = fu_get(l_x, e);
                        const float v_13 = v_x * v_11;
                        const float v_weight = fu_get(l_weight, e);
                        const float v_y = v_13 * v_weight;
                        fu_set(s_y, e, v_y);
                    }
                    fu_vstore<8>(p_y, o_y + c, s_y);
                }
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(256, 6)
fu_pre_norm_v7_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < d_M) {
        const fu_i64 o_x = row0 * d_N;
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        float r_3 = 0.0f;
        fu_sum<float> sum_3 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 1024) {
            r_3 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid);
                if (c < d_N) {
                    const float v_x = fu_load(p_x, o_x + c);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
            sum_3 = fu_sum_add(sum_3, r_3);
        }
        r_3 = fu_sum_value(sum_3);
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_3);
        }
        fu_barrier();
        r_3 = fu_sload<float>((lane & 7) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 1024) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid);
                if (c < d_N) {
                    const float v_x = fu_load(p_x, o_x + c);
                    const float v_13 = v_x * v_11;
                    const float v_weight = fu_load(p_weight, o_weight + c);
                    const float v_y = v_13 * v_weight;
                    fu_store(p_y, o_y + c, v_y);
                }
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(512, 2)
fu_pre_norm_v8_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_weight,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 d_M,
    const fu_i64 d_N)
{
    const int tid = fu_tid();
    const int lane = tid % 32;
    const int warp = tid / 32;
    const fu_i64 row0 = fu_i64(fu_bid_x()) + fu_i64(fu_bid_y()) * 2147483647;
    if (row0 < d_M) {
        const fu_i64 o_x = row0 * d_N;
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        float r_3 = 0.0f;
        fu_sum<float> sum_3 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 2048) {
            r_3 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid);
                if (c < d_N) {
                    const float v_x = fu_load(p_x, o_x + c);
                    const float v_2 = v_x * v_x;
                    r_3 = r_3 + v_2;
                }
            }
            sum_3 = fu_sum_add(sum_3, r_3);
        }
        r_3 = fu_sum_value(sum_3);
        // Combine over the threads of the row.
        r_3 = r_3 + fu_shfl_xor(r_3, 16);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        if (lane == 0) {
            fu_sstore<float>(warp * 8, r_3);
        }
        fu_barrier();
        r_3 = fu_sload<float>((lane & 15) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 2048) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 512 + tid);
                if (c < d_N) {
                    const float v_x = fu_load(p_x, o_x + c);
                    const float v_13 = v_x * v_11;
                    const float v_weight = fu_load(p_weight, o_weight + c);
                    const float v_y = v_13 * v_weight;
                    fu_store(p_y, o_y + c, v_y);
                }
            }
        }
    }
}

#ifdef FU_EMULATE
FU_KERNEL(fu_pre_norm_v0_k0)
FU_KERNEL(fu_pre_norm_v1_k0)
FU_KERNEL(fu_pre_norm_v2_k0)
FU_KERNEL(fu_pre_norm_v3_k0)
FU_KERNEL(fu_pre_norm_v4_k0)
FU_KERNEL(fu_pre_norm_v5_k0)
FU_KERNEL(fu_pre_norm_v6_k0)
FU_KERNEL(fu_pre_norm_v7_k0)
FU_KERNEL(fu_pre_norm_v8_k0)
#endif
