// The element types in memory, and the bits of floating-point numbers.
// Values: a storage type (fu_f16 fu_bf16 fu_e4m3 fu_e5m2) holds bits only; in
//         a register its values are floats.
// Needs:  nothing; compiles as CUDA and as C++17.
// Cost:   none.
#pragma once

typedef signed char fu_i8;
typedef short fu_i16;
typedef int fu_i32;
typedef long long fu_i64;
typedef unsigned char fu_u8;
typedef unsigned short fu_u16;
typedef unsigned int fu_u32;
typedef unsigned long long fu_u64;

// A byte that is true when it isn't 0; distinct from fu_u8 for overloads.
struct fu_bool {
    fu_u8 bits;
    fu_bool() = default;
    __device__ __forceinline__ fu_bool(bool b) : bits(b) {}
    __device__ __forceinline__ operator int() const { return bits; }
};

struct fu_f16 { fu_u16 bits; };
struct fu_bf16 { fu_u16 bits; };
struct fu_e4m3 { fu_u8 bits; };
struct fu_e5m2 { fu_u8 bits; };

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

static __device__ __forceinline__ fu_u64 fu_word(double x)
{
    fu_u64 w;
    memcpy(&w, &x, sizeof(w));
    return w;
}

static __device__ __forceinline__ double fu_double(fu_u64 w)
{
    double x;
    memcpy(&x, &w, sizeof(x));
    return x;
}

static __device__ __forceinline__ bool fu_is_negative(float x)
{
    return fu_word(x) >> 31 != 0;
}

static __device__ __forceinline__ bool fu_is_negative(double x)
{
    return fu_word(x) >> 63 != 0;
}
