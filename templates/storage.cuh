// Elements of a storage type and floats: fu_unpack is exact; fu_pack_<type>
// rounds to the nearest, ties to even: f16 and bf16 overflow to infinity, the
// 8-bit types saturate, infinities included; NaN stays NaN.
// Cost:   1 or 2 instructions; the 8-bit types about 12.
#pragma once
#include "types.cuh"
#include "ptx.cuh"

static __device__ __forceinline__ float fu_unpack(fu_f16 x)
{
    return fu_cvt_f16_to_f32(x.bits);
}

static __device__ __forceinline__ float fu_unpack(fu_bf16 x)
{
    return fu_float((fu_u32)x.bits << 16);
}

static __device__ __forceinline__ fu_f16 fu_pack_f16(float x)
{
    fu_f16 r;
    r.bits = fu_cvt_f32_to_f16(x);
    return r;
}

static __device__ __forceinline__ fu_bf16 fu_pack_bf16(float x)
{
    fu_bf16 r;
    r.bits = fu_cvt_f32_to_bf16(x);
    return r;
}

// x rounded to `mant` bits after the point and to multiples of `quantum`, the
// distance of the subnormals; beyond `max` it saturates.
static __device__ __forceinline__ float fu_round_small(float x, int mant,
                                                       float quantum, float max)
{
    fu_u32 w = fu_word(x) & 0x7fffffffu, sign = fu_word(x) & 0x80000000u;
    int drop = 23 - mant;
    if (w > 0x7f800000u)
        return x;
    float magic = quantum * 12582912.0f; /* 1.5 * 2^23 */
    float low = (fu_float(w) + magic) - magic;
    fu_u32 up = w + ((w >> drop) & 1u) + (1u << (drop - 1)) - 1u;
    float high = fu_float(up & ~((1u << drop) - 1u));
    float least = quantum * (float)(1 << mant); /* least normal number */
    float r = fu_float(w) < least ? low : high;
    return fu_float(fu_word(r < max ? r : max) | sign);
}

// The bits of a value that fu_round_small gave: sign, exponent, `mant` bits.
static __device__ __forceinline__ fu_u8 fu_encode_small(float x, int mant,
                                                        float quantum, int bias)
{
    fu_u32 w = fu_word(x) & 0x7fffffffu, sign = fu_word(x) >> 24 & 0x80u;
    if (w > 0x7f800000u)
        return (fu_u8)(sign | 0x7fu);
    float least = quantum * (float)(1 << mant);
    fu_u32 normal = (w >> (23 - mant)) - ((fu_u32)(127 - bias) << mant);
    fu_u32 subnormal = (fu_u32)(fu_float(w) / quantum);
    return (fu_u8)(sign | (fu_float(w) < least ? subnormal : normal));
}

// 2^-9 and 2^-16 are the least values above 0.
static __device__ __forceinline__ fu_e4m3 fu_pack_f8e4m3(float x)
{
    fu_e4m3 r;
    r.bits = fu_encode_small(fu_round_small(x, 3, 0.001953125f, 448.0f), 3,
                             0.001953125f, 7);
    return r;
}

static __device__ __forceinline__ fu_e5m2 fu_pack_f8e5m2(float x)
{
    fu_e5m2 r;
    r.bits = fu_encode_small(fu_round_small(x, 2, 0.0000152587890625f,
                                            57344.0f),
                             2, 0.0000152587890625f, 15);
    return r;
}

static __device__ __forceinline__ float fu_unpack(fu_e4m3 x)
{
    fu_u32 m = x.bits & 0x7fu, sign = (fu_u32)(x.bits & 0x80u) << 24;
    fu_u32 normal = (m << 20) + (120u << 23);
    float r = m < 8 ? (float)m * 0.001953125f : fu_float(normal);
    return fu_float((m == 0x7f ? 0x7fc00000u : fu_word(r)) | sign);
}

static __device__ __forceinline__ float fu_unpack(fu_e5m2 x)
{
    fu_u32 m = x.bits & 0x7fu, sign = (fu_u32)(x.bits & 0x80u) << 24;
    fu_u32 normal = (m << 21) + (m >= 0x7cu ? 224u << 23 : 112u << 23);
    float r = m < 4 ? (float)m * 0.0000152587890625f : fu_float(normal);
    return fu_float((m > 0x7c ? 0x7fc00000u : fu_word(r)) | sign);
}
