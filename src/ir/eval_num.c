/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding works on the value, not on the bits: a format is its number of
 * mantissa bits, its smallest exponent and its largest value. Dividing by the
 * quantum at x, rounding to an integer and multiplying again is exact in
 * double for every format of at most 24 bits. */
#include "support/base.h"

#include "ir/eval_num.h"

#include <math.h>

struct format {
    int mantissa; /* stored bits */
    int emin;     /* exponent of the smallest normal number */
    double max;
    bool saturates;
};

static struct format
format_of(enum dtype t)
{
    switch ((int)t) {
    case DT_F16:
        return (struct format){10, -14, 65504.0, false};
    case DT_BF16:
        return (struct format){7, -126, 0x1.fep127, false};
    case DT_F8E4M3:
        return (struct format){3, -6, 448.0, true};
    case DT_F8E5M2:
        return (struct format){2, -14, 57344.0, true};
    case DT_F32:
        return (struct format){23, -126, 0x1.fffffep127, false};
    case DT_F64:
        return (struct format){52, -1022, 0x1.fffffffffffffp1023, false};
    default:
        BUG("no floating-point format for type %d", (int)t);
    }
}

enum rep
num_rep(enum dtype t)
{
    if (!dtype_is_float(t))
        return REP_I;
    return t == DT_F64 ? REP_L : REP_F;
}

static uint64_t
bits_of(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof(u));
    return u;
}

static double
power_of_two(int e)
{
    uint64_t u;
    double x;

    if (e < -1022)
        return ldexp(1.0, e);
    assert(e <= 1023);
    u = (uint64_t)(e + 1023) << 52;
    memcpy(&x, &u, sizeof(x));
    return x;
}

/* The exponent e with 2^e <= |x| < 2^(e+1), not below emin. */
static int
exponent_of(double x, int emin)
{
    int e = (int)(bits_of(x) >> 52 & 0x7ff) - 1023;

    return e < emin ? emin : e;
}

double
num_round(enum dtype t, double x)
{
    const double magic = 0x1.8p52; /* x + magic - magic rounds to an integer */
    struct format f;
    double q, r;

    if (t == DT_F64)
        return x;
    if (t == DT_F32)
        return (double)(float)x;
    f = format_of(t);
    if (isnan(x))
        return x;
    if (fabs(x) >= 2 * f.max || isinf(x))
        return copysign(f.saturates ? f.max : (double)INFINITY, x);
    q = power_of_two(exponent_of(x, f.emin) - f.mantissa);
    r = copysign((fabs(x) / q + magic - magic) * q, x);
    if (fabs(r) > f.max)
        r = copysign(f.saturates ? f.max : (double)INFINITY, x);
    return r;
}

double
num_ulp(enum dtype t, double x)
{
    struct format f = format_of(t);

    if (!isfinite(x))
        return 0;
    return power_of_two(exponent_of(x, f.emin) - f.mantissa);
}

double
num_max(enum dtype t)
{
    return format_of(t).max;
}

int
num_bits(enum dtype t)
{
    return (int)dtype_info[t].bytes * 8;
}

int64_t
num_wrap(enum dtype t, int64_t v)
{
    switch ((int)t) {
    case DT_BOOL:
        return v != 0;
    case DT_I8:
        return (int8_t)v;
    case DT_I16:
        return (int16_t)v;
    case DT_I32:
        return (int32_t)v;
    case DT_I64:
        return v;
    case DT_U8:
        return (uint8_t)v;
    default:
        BUG("not an integer type: %d", (int)t);
    }
}

int64_t
num_int_max(enum dtype t)
{
    if (t == DT_BOOL)
        return 1;
    if (dtype_info[t].class == DC_UNSIGNED)
        return (int64_t)(UINT64_MAX >> (64 - num_bits(t)));
    return INT64_MAX >> (64 - num_bits(t));
}

int64_t
num_int_min(enum dtype t)
{
    return dtype_info[t].class == DC_SIGNED ? -num_int_max(t) - 1 : 0;
}

int64_t
num_to_int(enum dtype t, long double x)
{
    if (t == DT_BOOL)
        return x != 0;
    if (isnan(x))
        return 0;
    x = truncl(x);
    if (x >= (long double)num_int_max(t))
        return num_int_max(t);
    if (x <= (long double)num_int_min(t))
        return num_int_min(t);
    return (int64_t)x;
}

/* A value already rounded to t, as the bits of t. */
static uint32_t
encode(enum dtype t, double x)
{
    struct format f = format_of(t);
    int width = num_bits(t);
    int ebits = width - 1 - f.mantissa;
    int bias = 1 - f.emin;
    uint32_t sign = (uint32_t)(bits_of(x) >> 63) << (width - 1);
    uint32_t all = ((uint32_t)1 << ebits) - 1;
    double m = fabs(x);
    int e;

    if (isnan(x))
        return t == DT_F8E4M3
                   ? sign | 0x7f
                   : sign | all << f.mantissa | (uint32_t)1 << (f.mantissa - 1);
    if (isinf(x))
        return sign | all << f.mantissa;
    e = exponent_of(m, f.emin);
    m /= power_of_two(e - f.mantissa); /* an integer below 2^(mantissa+1) */
    if (m < power_of_two(f.mantissa))
        return sign | (uint32_t)m; /* subnormal or zero */
    m -= power_of_two(f.mantissa);
    return sign | (uint32_t)(e + bias) << f.mantissa | (uint32_t)m;
}

static double
decode(enum dtype t, uint32_t u)
{
    struct format f = format_of(t);
    int width = num_bits(t);
    uint32_t all = ((uint32_t)1 << (width - 1 - f.mantissa)) - 1;
    uint32_t e = u >> f.mantissa & all;
    uint32_t m = u & (((uint32_t)1 << f.mantissa) - 1);
    double sign = u >> (width - 1) ? -1.0 : 1.0;

    if (t == DT_F8E4M3 ? (u & 0x7f) == 0x7f : e == all && m != 0)
        return copysign((double)NAN, sign);
    if (e == all && t != DT_F8E4M3)
        return sign * (double)INFINITY;
    if (e == 0)
        return sign * (m * power_of_two(f.emin - f.mantissa));
    return sign * ((m + power_of_two(f.mantissa)) *
                   power_of_two((int)e - 1 + f.emin - f.mantissa));
}

static double
decode_f16(uint16_t h)
{
    uint32_t u = (uint32_t)(h & 0x7fff) << 13;
    float f;

    if ((h & 0x7c00) == 0x7c00)
        return decode(DT_F16, h);
    memcpy(&f, &u, sizeof(f));
    f *= 0x1p112f;
    return h >> 15 ? -(double)f : (double)f;
}

static double
decode_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

uint64_t
num_bits_at(enum dtype t, const void *p, int64_t i)
{
    uint64_t u = 0;
    size_t n = dtype_info[t].bytes;

    memcpy(&u, (const char *)p + (size_t)i * n, n); /* little-endian hosts */
    return u;
}

static void
put_bits(enum dtype t, void *p, int64_t i, uint64_t u)
{
    size_t n = dtype_info[t].bytes;

    memcpy((char *)p + (size_t)i * n, &u, n);
}

double
num_load(enum dtype t, const void *p, int64_t i)
{
    uint64_t u = num_bits_at(t, p, i);
    float f;
    double d;

    switch ((int)t) {
    case DT_F32:
        memcpy(&f, &u, sizeof(f));
        return f;
    case DT_F64:
        memcpy(&d, &u, sizeof(d));
        return d;
    case DT_BF16:
        return decode_bf16((uint16_t)u);
    case DT_F16:
        return decode_f16((uint16_t)u);
    case DT_F8E4M3:
    case DT_F8E5M2:
        return decode(t, (uint32_t)u);
    default:
        return (double)num_load_int(t, p, i);
    }
}

void
num_store(enum dtype t, void *p, int64_t i, double x)
{
    float f = (float)x;

    if (t == DT_F32)
        memcpy((char *)p + i * 4, &f, sizeof(f));
    else if (t == DT_F64)
        memcpy((char *)p + i * 8, &x, sizeof(x));
    else if (dtype_is_float(t))
        put_bits(t, p, i, encode(t, num_round(t, x)));
    else
        num_store_int(t, p, i, num_to_int(t, x));
}

long double
num_load_long(enum dtype t, const void *p, int64_t i)
{
    if (dtype_is_float(t))
        return num_load(t, p, i);
    return (long double)num_load_int(t, p, i);
}

void
num_store_long(enum dtype t, void *p, int64_t i, long double x)
{
    if (dtype_is_float(t))
        num_store(t, p, i, (double)x);
    else
        num_store_int(t, p, i, num_to_int(t, x));
}

int64_t
num_load_int(enum dtype t, const void *p, int64_t i)
{
    if (dtype_is_float(t))
        return num_to_int(DT_I64, num_load(t, p, i));
    return num_wrap(t, (int64_t)num_bits_at(t, p, i));
}

void
num_store_int(enum dtype t, void *p, int64_t i, int64_t x)
{
    if (dtype_is_float(t))
        num_store(t, p, i, (double)x);
    else
        put_bits(t, p, i, (uint64_t)num_wrap(t, x));
}

void
num_gather(enum dtype t, const void *p, int64_t step, int n, double *ret)
{
    const float *f = p;
    const uint16_t *h = p;

    if (t == DT_F32)
        for (int k = 0; k < n; k++)
            ret[k] = f[k * step];
    else if (t == DT_BF16)
        for (int k = 0; k < n; k++)
            ret[k] = decode_bf16(h[k * step]);
    else if (t == DT_F16)
        for (int k = 0; k < n; k++)
            ret[k] = decode_f16(h[k * step]);
    else
        for (int k = 0; k < n; k++)
            ret[k] = num_load(t, p, k * step);
}

void
num_gather_int(enum dtype t, const void *p, int64_t step, int n, int64_t *ret)
{
    for (int k = 0; k < n; k++)
        ret[k] = num_load_int(t, p, k * step);
}

int64_t
tensor_offset(const struct tensor *t, int64_t i)
{
    int64_t off = 0;

    for (int d = t->rank - 1; d >= 0; d--) {
        off += i % t->shape[d] * t->strides[d];
        i /= t->shape[d];
    }
    return off;
}

int64_t
tensor_count(const struct tensor *t)
{
    int64_t n = 1;

    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] == 0)
            return 0;
    for (int d = 0; d < t->rank; d++)
        n *= t->shape[d];
    return n;
}

bool
tensor_extent(const struct tensor *t, int64_t *ret)
{
    int64_t last = 0, count = 1, step;
    bool empty = false;

    for (int d = 0; d < t->rank; d++) {
        if (t->shape[d] < 0 || t->strides[d] < 0)
            return false;
        if (t->shape[d] == 0) {
            empty = true;
            continue;
        }
        if (__builtin_mul_overflow(t->shape[d] - 1, t->strides[d], &step) ||
            __builtin_add_overflow(last, step, &last) ||
            __builtin_mul_overflow(count, t->shape[d], &count))
            return false;
    }
    /* Room for the count and for bytes of the widest type. */
    if (last > INT64_MAX / 16 || count > INT64_MAX / 16)
        return false;
    *ret = empty ? 0 : last + 1;
    return true;
}

void
tensor_row_major(struct tensor *t)
{
    int64_t s = 1;

    for (int d = t->rank - 1; d >= 0; d--) {
        t->strides[d] = s;
        if (__builtin_mul_overflow(s, MAX(t->shape[d], 1), &s))
            s = INT64_MAX;
    }
}
