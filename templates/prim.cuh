// Loads, stores, vectors in registers and exchanges of values of any type.
// Written on top of ptx.cuh; the host compiles it unchanged.
// Values: an element of a storage type is a float in a register, a fu_bool is
//         a bool, any other is itself.
// Needs:  addresses aligned to the access; offsets in elements.
#pragma once
#include "types.cuh"
#include "ptx.cuh"
#include "storage.cuh"

template <typename TO, typename FROM>
static __device__ __forceinline__ TO fu_bits_as(const FROM &x)
{
    static_assert(sizeof(TO) == sizeof(FROM), "same number of bits");
    TO y;
    memcpy(&y, &x, sizeof(y));
    return y;
}

// The threads of one of GROUPS equal groups, each of which has a barrier of its
// own (1 .. GROUPS; 0 is the block's).
template <int GROUPS, int THREADS>
static __device__ __forceinline__ void fu_row_barrier(int group)
{
    if (GROUPS == 1 || group == GROUPS - 1)
        fu_barrier_of<GROUPS, THREADS>();
    else
        fu_row_barrier<(GROUPS > 1 ? GROUPS - 1 : 1), THREADS>(group);
}

static __device__ __forceinline__ float fu_inff()
{
    return fu_bits_as<float>(0x7f800000u);
}

static __device__ __forceinline__ float fu_nanf()
{
    return fu_bits_as<float>(0x7fc00000u);
}

static __device__ __forceinline__ double fu_inf()
{
    return fu_bits_as<double>(0x7ff0000000000000ull);
}

static __device__ __forceinline__ double fu_nan()
{
    return fu_bits_as<double>(0x7ff8000000000000ull);
}

// --- elements -----------------------------------------------------------------

// R = fu_value<T>::reg is what a register holds; unpack and pack go between the
// two, pack to the nearest even.
template <typename T> struct fu_value {
    typedef T reg;
    static __device__ __forceinline__ T unpack(T x) { return x; }
    static __device__ __forceinline__ T pack(T x) { return x; }
};

template <> struct fu_value<fu_bool> {
    typedef bool reg;
    static __device__ __forceinline__ bool unpack(fu_bool x) { return x.bits != 0; }
    static __device__ __forceinline__ fu_bool pack(bool x) { return x; }
};

template <> struct fu_value<fu_f16> {
    typedef float reg;
    static __device__ __forceinline__ float unpack(fu_f16 x) { return fu_unpack(x); }
    static __device__ __forceinline__ fu_f16 pack(float x) { return fu_pack_f16(x); }
};

template <> struct fu_value<fu_bf16> {
    typedef float reg;
    static __device__ __forceinline__ float unpack(fu_bf16 x) { return fu_unpack(x); }
    static __device__ __forceinline__ fu_bf16 pack(float x) { return fu_pack_bf16(x); }
};

template <> struct fu_value<fu_e4m3> {
    typedef float reg;
    static __device__ __forceinline__ float unpack(fu_e4m3 x) { return fu_unpack(x); }
    static __device__ __forceinline__ fu_e4m3 pack(float x) { return fu_pack_f8e4m3(x); }
};

template <> struct fu_value<fu_e5m2> {
    typedef float reg;
    static __device__ __forceinline__ float unpack(fu_e5m2 x) { return fu_unpack(x); }
    static __device__ __forceinline__ fu_e5m2 pack(float x) { return fu_pack_f8e5m2(x); }
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

// --- global memory ------------------------------------------------------------

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

// --- shared memory ------------------------------------------------------------

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

// --- exchanges ------------------------------------------------------------------

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

static __device__ __forceinline__ double fu_shfl_xor(double x, int mask)
{
    return fu_bits_as<double>(fu_shfl_xor(fu_bits_as<fu_u64>(x), mask));
}

// --- index arithmetic ---------------------------------------------------------

static __device__ __forceinline__ fu_i64 fu_min_i64(fu_i64 a, fu_i64 b)
{
    return b < a ? b : a;
}

static __device__ __forceinline__ fu_i64 fu_max_i64(fu_i64 a, fu_i64 b)
{
    return a < b ? b : a;
}

// Quotient and remainder of floor division, b > 0.
static __device__ __forceinline__ fu_i64 fu_div(fu_i64 a, fu_i64 b)
{
    fu_i64 q = a / b;
    return q * b > a ? q - 1 : q;
}

static __device__ __forceinline__ fu_i64 fu_mod(fu_i64 a, fu_i64 b)
{
    return a - fu_div(a, b) * b;
}
