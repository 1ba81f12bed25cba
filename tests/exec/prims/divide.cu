// Quotients by a shared divisor against divisions: every pair of special values,
// and numbers of all magnitudes. README.md here has the form of the lines below.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "divide.cuh"
#else
#include "fu_emulate.h"
#endif

static __device__ __forceinline__ int apart(float a, float b)
{
    const fu_u32 x = fu_word(a), y = fu_word(b);
    if (fu_isnan(a) || fu_isnan(b))
        return fu_isnan(a) && fu_isnan(b) ? 0 : 1000;
    if (x >> 31 != y >> 31 || fu_isinf(a) != fu_isinf(b))
        return 1000;
    return (int)(x > y ? x - y : y - x);
}

// NaN, infinity and the sign are the division's; else at most one ulp lies between
// (here 0 in place of it: then none does), and none where the quotient is of a
// middling size and no midpoint of two floats is near.
// CASE special grid=1 block=576
// let words = [0, 1, 0x7fffff, 0x800000, 0xd7fffff, 0xd800001, 0x3f800000, 0x40400000, 0x71800001, 0x7f7fffff, 0x7f800000, 0x7fc00000]
// let all = words + [w | 1 << 31 for w in words]
// in x u32[24] = all[i]
// out far u32[576] = 0
extern "C" __global__ void special(const fu_u32 *FU_RESTRICT x, fu_u32 *FU_RESTRICT far)
{
    const int tid = fu_tid();
    const float a = fu_float(fu_load(x, tid / 24)), b = fu_float(fu_load(x, tid % 24));
    fu_store(far, tid, (fu_u32)(apart(fu_quotient(a, fu_divide_by(b)), a / b) > 1));
}

// CASE middling grid=1 block=256
// let unit = lambda k: 1 + k % (1 << 23) / (1 << 23)
// in a f32[4096] = unit(i * 2654435761) * 2.0 ** (i % 41 - 40)
// in b f32[4096] = unit(i * 2246822519) * 2.0 ** (i * 7 % 61 - 20) * (-1) ** i
// out far u32[4096] = 0
extern "C" __global__ void middling(const float *FU_RESTRICT a, const float *FU_RESTRICT b,
                                    fu_u32 *FU_RESTRICT far)
{
    for (int i = fu_tid(); i < 4096; i += 256) {
        const float x = fu_load(a, i), y = fu_load(b, i);
        fu_store(far, i, (fu_u32)apart(fu_quotient(x, fu_divide_by(y)), x / y));
    }
}

#ifdef FU_EMULATE
FU_KERNEL(special)
FU_KERNEL(middling)
#endif
