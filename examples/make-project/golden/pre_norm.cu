// Written by fusec 0.1.0; do not edit. The plan:
//
// plan 1 graph 14308f98613694e1
// fusion pre_norm {
//   variant 0 when "N <= 1024 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 128; threads_per_row 32; vector 8; vectors_per_thread 5; looped 0;
//       rows_per_step 1; prefetch 0; persistent 0; grid_rows 0; blocks_per_sm 5;
//       finish none; column_tiles 0; bound 1024; stages 0; cluster 1;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 1 when "N <= 8192 && N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 3; finish none; column_tiles 0; bound 8192; stages 0;
//       cluster 1;
//       buffer x { store register_packed; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 2 when "N % 8 == 0" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 4;
//       looped 1; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 2; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
//   variant 3 when "N <= 2048" {
//     kernel 0 inner_persistent {
//       threads 256; threads_per_row 256; vector 1; vectors_per_thread 8;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 5; finish none; column_tiles 0; bound 2048; stages 0;
//       cluster 1;
//       buffer x { store reload; reuse row; }
//       buffer weight { store reload; reuse row; }
//     }
//   }
//   variant 4 {
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

// The offset of something to be read again, which the compiler may neither
// keep from the time before nor move out of a loop. No instruction.
static __device__ __forceinline__ fu_i64 fu_again(fu_i64 offset)
{
    asm volatile("" : "+l"(offset));
    return offset;
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
    fu_vec<fu_bf16, 8> b_x[5];
#pragma unroll
    for (int v = 0; v < 5; ++v) {
        b_x[v] = fu_vzero<fu_bf16, 8>();
    }
#pragma unroll
    for (int v = 0; v < 5; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_N) {
            b_x[v] = fu_vload<8>(p_x, o_x + c);
        }
    }
    float r_3 = 0.0f;
#pragma unroll
    for (int v = 0; v < 5; ++v) {
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
    for (int v = 0; v < 5; ++v) {
        const int c = (v * 32 + t) * 8;
        if (active && c < d_N) {
            const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
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
extern "C" __global__ void __launch_bounds__(256, 3)
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
        fu_vec<fu_bf16, 8> b_x[4];
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            b_x[v] = fu_vzero<fu_bf16, 8>();
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = (v * 256 + tid) * 8;
            if (c < d_N) {
                b_x[v] = fu_vload<8>(p_x, o_x + c);
            }
        }
        float r_3 = 0.0f;
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = (v * 256 + tid) * 8;
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
        r_3 = fu_sload<float>((lane & 7) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int c = (v * 256 + tid) * 8;
            if (c < d_N) {
                const fu_vec<fu_bf16, 8> l_weight = fu_vload<8>(p_weight, o_weight + c);
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
        const fu_i64 o_x = row0 * d_N;
        const fu_i64 o_weight = 0;
        const fu_i64 o_y = row0 * d_N;
        float r_3 = 0.0f;
        fu_sum<float> sum_3 = fu_sum_none<float>();
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 8192) {
            r_3 = 0.0f;
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid) * 8;
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
        r_3 = fu_sload<float>((lane & 7) * 8);
        r_3 = r_3 + fu_shfl_xor(r_3, 4);
        r_3 = r_3 + fu_shfl_xor(r_3, 2);
        r_3 = r_3 + fu_shfl_xor(r_3, 1);
        const float v_5 = fu_cast_f32(d_N);
        const float v_7 = r_3 / v_5;
        const float v_10 = v_7 + 1e-06f;
        const float v_11 = fu_rsqrt(v_10);
        for (fu_i64 c0 = 0; c0 < d_N; c0 += 8192) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const fu_i64 c = c0 + (v * 256 + tid) * 8;
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
extern "C" __global__ void __launch_bounds__(256, 5)
fu_pre_norm_v3_k0(
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
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_N) {
                const float v_x = fu_load(p_x, o_x + c);
                const float v_2 = v_x * v_x;
                r_3 = r_3 + v_2;
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
        for (int v = 0; v < 8; ++v) {
            const int c = v * 256 + tid;
            if (c < d_N) {
                const float v_x = fu_load(p_x, fu_again(o_x + c));
                const float v_13 = v_x * v_11;
                const float v_weight = fu_load(p_weight, o_weight + c);
                const float v_y = v_13 * v_weight;
                fu_store(p_y, o_y + c, v_y);
            }
        }
    }
}

// Rows: one group of threads a row.
extern "C" __global__ void __launch_bounds__(512, 2)
fu_pre_norm_v4_k0(
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
#endif
