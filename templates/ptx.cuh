// The machine's own words: who am I, barriers, shuffles, shared memory, and
// accesses of 1 to 32 bytes to global memory. All inline assembly is here; the
// host has its own version of this file (host/fu_emulate.h).
// Needs:  sm_80 or later; launches in one dimension of threads, x only.
// Cost:   one instruction each; 32-byte accesses are two of 16 bytes.
#pragma once
#include "types.cuh"
#ifndef FU_EMULATE

#define FU_RESTRICT __restrict__

static __device__ __forceinline__ int fu_tid() { return (int)threadIdx.x; }
static __device__ __forceinline__ int fu_bid_x() { return (int)blockIdx.x; }
static __device__ __forceinline__ int fu_bid_y() { return (int)blockIdx.y; }
static __device__ __forceinline__ int fu_grid_x() { return (int)gridDim.x; }
static __device__ __forceinline__ int fu_grid_y() { return (int)gridDim.y; }

// The offset of something to be read again, which the compiler may neither
// keep from the time before nor move out of a loop. No instruction.
static __device__ __forceinline__ fu_i64 fu_again(fu_i64 offset)
{
    asm volatile("" : "+l"(offset));
    return offset;
}

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

// The `threads` threads that name this id (1..15); a multiple of 32.
static __device__ __forceinline__ void fu_group_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// The same where both are known: the block then has as many of the
// multiprocessor's barriers as it uses, not all 16 that a block can have; of
// those four blocks have taken all.
template <int ID, int THREADS>
static __device__ __forceinline__ void fu_barrier_of()
{
    asm volatile("bar.sync %0, %1;" ::"n"(ID), "n"(THREADS) : "memory");
}

static __device__ __forceinline__ void fu_warp_barrier()
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// The word of the lane whose number differs by xor; all lanes take part.
static __device__ __forceinline__ fu_u32 fu_shfl_xor_word(fu_u32 x, int mask)
{
    fu_u32 y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(y) : "r"(x), "r"(mask));
    return y;
}

// Dependent launches: wait until the kernel before has finished and its
// writes are seen; let the kernel after start.
static __device__ __forceinline__ void fu_pdl_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void fu_pdl_launch()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Conversions round to nearest even; max and min give NaN when either is, and
// put +0 above -0.
static __device__ __forceinline__ float fu_cvt_f16_to_f32(fu_u16 h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

static __device__ __forceinline__ fu_u16 fu_cvt_f32_to_f16(float x)
{
    fu_u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
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

static __device__ __forceinline__ float fu_min_nan(float a, float b)
{
    float x;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
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

#endif
