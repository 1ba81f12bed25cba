/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that bring out errors: every exponent, the ranges that programs
 * use, the neighbourhoods of zeros, poles, multiples of pi, halves, ends of
 * range. A sample is a function of its number. */
#include "accuracy.h"

#include <math.h>

/* A 64-bit mixer. */
static uint64_t
hash(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct draw {
    uint64_t state;
    enum dtype t;
};

static uint64_t
word(struct draw *d)
{
    return hash(d->state++);
}

static double
uniform(struct draw *d, double lo, double hi)
{
    return lo + (hi - lo) * (double)(word(d) >> 11) * 0x1p-53;
}

static double
either_sign(struct draw *d, double x)
{
    return word(d) & 1 ? -x : x;
}

static double
log_uniform(struct draw *d, double lo, double hi)
{
    return either_sign(d, exp2(uniform(d, lo, hi)));
}

static bool
is_wide(enum dtype t)
{
    return t == DT_F64;
}

/* A value of the type by its bits. */
static double
from_bits(enum dtype t, uint64_t bits)
{
    return num_load(t, &bits, 0);
}

static double
any_bits(struct draw *d)
{
    return from_bits(d->t, word(d) >> (64 - num_bits(d->t)));
}

/* k steps of the type from x. */
static double
steps(enum dtype t, double x, int64_t k)
{
    uint64_t bits = 0;
    double r;

    num_store(t, &bits, 0, x);
    r = from_bits(t, bits + (uint64_t)k);
    return isnan(r) ? x : r;
}

/* --- functions of one value ----------------------------------------------- */

static const double points[] = {
    0,
    1,
    0.5,
    2,
    -0.34375,
    1.4616321449683622,
    88.72,
    -87.34,
    -103.97,
    709.78,
    -708.4,
    -745.13,
    128,
    -126,
    -149,
    1024,
    -1022,
    -1074,
    89.416,
    710.475,
    9.194,
    10.055,
    26.543,
    27.226,
    3.832,
    5.864,
    35.04,
    171.62,
    0.9999,
    1e-4,
    0.70710678118654752,
    1.41421356237309505,
    0.54,
    2.7,
    -88.376,
    -709.1,
    17.3,
    -17.3,
    1e-38,
    1e-308,
    4.0e36,
    2.55e305,
    8388608,
    4503599627370496,
    0.25,
    0.35,
    0.84375,
    1.25,
};

/* Zeros of lgamma left of -2: two beside each negative integer, at about 1/n!
 * from it, and the first ones as they are. */
static double
lgamma_zero(struct draw *d)
{
    static const double first[] = {
        -2.4570247382208006, -2.7476826467274127, -3.143580888349980,
        -3.9552942848585979, -4.0392398468327,    -4.991544640560048,
        -5.0082181680819,    -5.9986074808104,    -6.0013852948454,
        -6.9998007334104,    -7.0001983334154,    -7.9999751095,
    };
    uint64_t w = word(d);

    if (w % 4 != 0)
        return first[w / 4 % ARRAY_LEN(first)];
    return -(double)(w / 4 % 40) + uniform(d, -1, 1) * exp2(-uniform(d, 1, 30));
}

static double
center(struct draw *d)
{
    uint64_t w = word(d);

    switch (w % 4) {
    case 0:
        return (double)((int64_t)(w / 4 % 16384) - 8192) *
               (w >> 40 & 1 ? 1 : 64) * 1.5707963267948966;
    case 1:
        return (double)((int64_t)(w / 4 % 1024) - 512) / 2;
    case 2:
        return lgamma_zero(d);
    default:
        return either_sign(d, points[w / 4 % ARRAY_LEN(points)]);
    }
}

static double
near_center(struct draw *d)
{
    double x = center(d);
    uint64_t reach = (uint64_t)1 << word(d) % 14;

    return steps(d->t, x, (int64_t)(word(d) % (2 * reach)) - (int64_t)reach);
}

static double
one_value(struct draw *d, int64_t i, int64_t n)
{
    double end = is_wide(d->t) ? 750 : 110;
    int bits = num_bits(d->t);
    uint64_t stride =
        (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1) / (uint64_t)n + 1;

    switch (i % 8) {
    case 0:
    case 1: /* every exponent alike */
        return from_bits(d->t, (uint64_t)i * stride + word(d) % stride);
    case 2:
        return any_bits(d);
    case 3:
        return uniform(d, -1, 1);
    case 4:
        return uniform(d, -10, 10);
    case 5:
        return uniform(d, -end, end);
    case 6:
        return log_uniform(d, -12, 12);
    default:
        return near_center(d);
    }
}

/* --- functions of two and three ------------------------------------------- */

static double
special(struct draw *d)
{
    static const double list[] = {0, 1, INFINITY, NAN, 2, 0.5, 3, 1e-40, 1e38};
    uint64_t w = word(d);

    if (w % 16 == 15)
        return either_sign(d, num_max(d->t));
    return either_sign(d, list[w / 16 % ARRAY_LEN(list)]);
}

/* x to the y near the ends of the range; x near 1 with large powers. */
static void
powers(struct draw *d, double *x)
{
    double end = is_wide(d->t) ? 1100 : 155;

    if (word(d) & 1) {
        x[0] = fabs(log_uniform(d, -20, 20));
        x[1] = end * uniform(d, -1, 1) / log2(x[0]);
    } else {
        x[1] = log_uniform(d, 0, is_wide(d->t) ? 50 : 24);
        x[0] = exp2(end * uniform(d, -1, 1) / x[1]);
    }
    if (word(d) % 4 == 0) {
        x[0] = -x[0];
        x[1] = rint(x[1]);
    }
}

/* Dividends at and beside multiples of the divisor. */
static void
multiples(struct draw *d, double *x)
{
    x[1] = log_uniform(d, -10, 10);
    x[1] = steps(d->t, x[1], 0);
    x[0] = x[1] * rint(log_uniform(d, 0, 12));
    x[0] = steps(d->t, x[0], (int64_t)(word(d) % 5) - 2);
}

static void
two_values(struct draw *d, int64_t i, double *x)
{
    x[0] = any_bits(d);
    x[1] = any_bits(d);
    if (num_bits(d->t) == 16) /* every first argument */
        x[0] = from_bits(d->t, (uint64_t)i & 0xffff);
    switch (hash((uint64_t)i) % 8) {
    case 2:
    case 3:
        x[0] = log_uniform(d, -12, 12);
        x[1] = log_uniform(d, -12, 12);
        return;
    case 4:
        multiples(d, x);
        return;
    case 5:
        powers(d, x);
        return;
    case 6:
        x[0] = uniform(d, -50, 50);
        x[1] = rint(uniform(d, -16, 16)) / 2;
        return;
    case 7:
        x[0] = special(d);
        if (word(d) & 1)
            x[1] = special(d);
        return;
    default:
        return;
    }
}

static void
three_values(struct draw *d, int64_t i, double *x)
{
    for (int k = 0; k < 3; k++)
        x[k] = i % 4 == 0 ? any_bits(d) : log_uniform(d, -12, 12);
    if (i % 4 == 1)
        x[2] = steps(d->t, -x[0] * x[1], (int64_t)(word(d) % 5) - 2);
    if (i % 16 == 2)
        x[word(d) % 3] = special(d);
}

int64_t
sample_count(enum dtype t, int arity)
{
    if (t == DT_F64)
        return (int64_t)1 << 20;
    if (t == DT_F32)
        return (int64_t)1 << 24;
    return (int64_t)1 << (arity == 1 ? 16 : 22);
}

void
sample_at(enum dtype t, int arity, int64_t i, double *ret)
{
    struct draw d = {hash((uint64_t)i) ^ (uint64_t)arity << 60, t};

    ret[0] = ret[1] = ret[2] = 0;
    if (arity == 1 && num_bits(t) == 16)
        ret[0] = from_bits(t, (uint64_t)i);
    else if (arity == 1)
        ret[0] = one_value(&d, i, sample_count(t, 1));
    else if (arity == 2)
        two_values(&d, i, ret);
    else
        three_values(&d, i, ret);
    for (int a = 0; a < arity; a++)
        if (isnan(ret[a])) /* quiet, without a sign */
            ret[a] = NAN;
}
