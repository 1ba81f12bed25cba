// Written by fusec 0.1.0; do not edit. The plan:
//
// plan 1 graph 731a1ce77cd3ea97
// fusion mlp_act {
//   variant 0 when "N % 8 == 0" {
//     kernel 0 pointwise {
//       threads 256; threads_per_row 256; vector 8; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 1; finish none; column_tiles 0; bound 0; stages 0;
//       cluster 1;
//     }
//   }
//   variant 1 {
//     kernel 0 pointwise {
//       threads 256; threads_per_row 256; vector 1; vectors_per_thread 4;
//       looped 0; rows_per_step 1; prefetch 0; persistent 0; grid_rows 0;
//       blocks_per_sm 1; finish none; column_tiles 0; bound 0; stages 0;
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

static __device__ __forceinline__ fu_u16 fu_cvt_f32_to_bf16(float x)
{
    fu_u16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
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
/* begin fu/math.cuh */
// The mathematical functions, one name for float and double each. sqrt is
// correctly rounded, rounding is to even; the rest as accurate as CUDA's table
// says (src/ir/ops.def repeats it).
// Cost:   2 instructions (floor) to some 70 (lgamma); sin, cos and tan of large
//         arguments use a stack frame.
static __device__ __forceinline__ float fu_exp(float x) { return expf(x); }
static __device__ __forceinline__ float fu_abs(float x) { return fabsf(x); }
/* end fu/math.cuh */
/* begin fu/special.cuh */
// Functions of the language that CUDA has no name for: floor quotient and
// remainder of floats, signs, fractions, sigmoid, silu, classification.
// Cost:   1 to 30 instructions.

// Never of a large argument: neither side overflows.
static __device__ __forceinline__ float fu_sigmoid(float x)
{
    float e = fu_exp(-fu_abs(x));
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}
/* end fu/special.cuh */
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
/* end fu/prim.cuh */
#else
#include "fu_emulate.h"
#endif

// Elements, in vectors along the columns.
extern "C" __global__ void __launch_bounds__(256, 1)
fu_mlp_act_v0_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_bias,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 m_0,
    const fu_i64 d_N,
    const fu_i64 m_1)
{
    const fu_i64 first = fu_i64(fu_bid_x()) * 1024 + fu_tid();
    fu_i64 i0[4];
    fu_i64 i1[4];
    fu_vec<fu_bf16, 8> b_x[4];
    fu_vec<fu_bf16, 8> b_2[4];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const fu_i64 q = first + v * 256;
        if (q < m_0) {
            const fu_i64 row = q / m_1;
            i1[v] = (q - row * m_1) * 8;
            i0[v] = row;
            b_x[v] = fu_vload<8>(p_x, i0[v] * d_N + i1[v]);
            b_2[v] = fu_vload<8>(p_bias, i1[v]);
        }
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const fu_i64 q = first + v * 256;
        if (q < m_0) {
            fu_vec<fu_bf16, 8> s_y;
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const float v_x = fu_get(b_x[v], e);
                const float v_2 = fu_get(b_2[v], e);
                const float v_3 = v_x + v_2;
                const float v_6 = 1.702f * v_3;
                const float v_7 = fu_sigmoid(v_6);
                const float v_y = v_3 * v_7;
                fu_set(s_y, e, v_y);
            }
            fu_vstore<8>(p_y, i0[v] * d_N + i1[v], s_y);
        }
    }
}

// Elements, in vectors along the columns.
extern "C" __global__ void __launch_bounds__(256, 1)
fu_mlp_act_v1_k0(
    const fu_bf16 *FU_RESTRICT p_x,
    const fu_bf16 *FU_RESTRICT p_bias,
    fu_bf16 *FU_RESTRICT p_y,
    const fu_i64 m_0,
    const fu_i64 d_N)
{
    const fu_i64 first = fu_i64(fu_bid_x()) * 1024 + fu_tid();
    fu_i64 i0[4];
    fu_i64 i1[4];
    fu_vec<fu_bf16, 1> b_x[4];
    fu_vec<fu_bf16, 1> b_2[4];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const fu_i64 q = first + v * 256;
        if (q < m_0) {
            const fu_i64 row = q / d_N;
            i1[v] = q - row * d_N;
            i0[v] = row;
            b_x[v] = fu_vload<1>(p_x, i0[v] * d_N + i1[v]);
            b_2[v] = fu_vload<1>(p_bias, i1[v]);
        }
    }
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const fu_i64 q = first + v * 256;
        if (q < m_0) {
            fu_vec<fu_bf16, 1> s_y;
            const float v_x = fu_get(b_x[v], 0);
            const float v_2 = fu_get(b_2[v], 0);
            const float v_3 = v_x + v_2;
            const float v_6 = 1.702f * v_3;
            const float v_7 = fu_sigmoid(v_6);
            const float v_y = v_3 * v_7;
            fu_set(s_y, 0, v_y);
            fu_vstore<1>(p_y, i0[v] * d_N + i1[v], s_y);
        }
    }
}

#ifdef FU_EMULATE
FU_KERNEL(fu_mlp_act_v0_k0)
FU_KERNEL(fu_mlp_act_v1_k0)
#endif
