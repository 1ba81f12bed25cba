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
#pragma once
#include "types.cuh"
#include "math.cuh"
#include "special.cuh"

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
