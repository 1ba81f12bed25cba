/* SPDX-License-Identifier: Apache-2.0 */
/* A normal number is the inverse distribution function at a uniform one. The C
 * library's log differs between machines in its last bit, so the tails use a
 * logarithm of our own, made of + - * / only. */
#include "support/base.h"

#include "ir/inputs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* A 64-bit mixer: each input bit flips each output bit half of the time. */
static uint64_t
mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

static uint64_t
random_word(uint64_t key, int64_t i)
{
    return mix(mix((uint64_t)i + 0x9e3779b97f4a7c15u) ^ key);
}

/* In (0, 1), never an end. */
static double
unit(uint64_t w)
{
    return ((double)(w >> 12) + 0.5) * 0x1p-52;
}

static double
natural_log(double x)
{
    int e;
    double m = frexp(x, &e), s, s2, sum = 0;

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        e--;
    }
    s = (m - 1) / (m + 1);
    s2 = s * s;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + e * 0x1.62e42fefa39efp-1;
}

static double
polynomial(const double *c, int n, double x)
{
    double y = c[0];

    for (int i = 1; i < n; i++)
        y = y * x + c[i];
    return y;
}

/* The lower half of the inverse normal distribution, within 5e-4: a rational
 * function of t = sqrt(-2 ln p) (Abramowitz and Stegun 26.2.23). */
static double
normal_tail(double p)
{
    static const double num[] = {0.010328, 0.802853, 2.515517};
    static const double den[] = {0.001308, 0.189269, 1.432788, 1.0};
    double t = sqrt(-2 * natural_log(p));

    return polynomial(num, 3, t) / polynomial(den, 4, t) - t;
}

static double
normal(double u)
{
    return u < 0.5 ? normal_tail(u) : -normal_tail(1 - u);
}

static double
sample(const struct input_spec *s, uint64_t w)
{
    double span;

    switch (s->kind) {
    case INPUT_NORMAL:
        return s->a + s->b * normal(unit(w));
    case INPUT_UNIFORM:
        return s->a + (s->b - s->a) * unit(w);
    case INPUT_INTS:
        span = s->b - s->a + 1;
        return s->a + floor(unit(w) * span);
    default:
        BUG("input kind %d", (int)s->kind);
    }
}

bool
input_spec_parse(const char *text, struct input_spec *ret)
{
    static const char *const names[] = {"normal(", "uniform(", "ints("};
    struct input_spec s;
    char *end;

    for (unsigned k = 0; k < ARRAY_LEN(names); k++) {
        size_t n = strlen(names[k]);
        if (strncmp(text, names[k], n) != 0)
            continue;
        s.kind = (enum input_kind)k;
        s.a = strtod(text + n, &end);
        if (end == text + n || *end != ',')
            return false;
        text = end + 1;
        s.b = strtod(text, &end);
        if (end == text || strcmp(end, ")") != 0)
            return false;
        if (!isfinite(s.a) || !isfinite(s.b))
            return false;
        if (s.kind == INPUT_INTS &&
            (s.a != floor(s.a) || s.b != floor(s.b) || s.a > s.b))
            return false;
        *ret = s;
        return true;
    }
    return false;
}

struct input_spec
input_spec_default(enum dtype t)
{
    if (dtype_is_float(t))
        return (struct input_spec){INPUT_NORMAL, 0, 1};
    if (t == DT_BOOL || dtype_info[t].class == DC_UNSIGNED)
        return (struct input_spec){INPUT_INTS, 0, t == DT_BOOL ? 1 : 100};
    return (struct input_spec){INPUT_INTS, -100, 100};
}

uint64_t
input_stream(const char *param)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *param; param++)
        h = (h ^ (unsigned char)*param) * 0x100000001b3u;
    return h;
}

struct part {
    const struct input_spec *spec;
    const struct tensor *dst;
    uint64_t key;
    int64_t begin, end;
    pthread_t thread;
};

static void *
fill_part(void *data)
{
    const struct part *p = data;

    for (int64_t i = p->begin; i < p->end; i++) {
        double x = sample(p->spec, random_word(p->key, i));
        num_store(p->dst->dtype, p->dst->data, tensor_offset(p->dst, i), x);
    }
    return NULL;
}

void
input_fill(const struct input_spec *spec, const struct tensor *dst,
           uint64_t seed, uint64_t stream, unsigned threads)
{
    struct part parts[64];
    int64_t count = tensor_count(dst);
    unsigned n = MIN(MAX(threads, 1), (unsigned)ARRAY_LEN(parts)), k;

    if (count < 65536)
        n = 1;
    for (k = 0; k < n; k++)
        parts[k] = (struct part){
            .spec = spec,
            .dst = dst,
            .key = mix(seed + 0x632be59bd9b4e019u) ^ mix(stream),
            .begin = count / n * k,
            .end = k + 1 == n ? count : count / n * (k + 1),
        };
    for (k = 1; k < n; k++)
        if (pthread_create(&parts[k].thread, NULL, fill_part, &parts[k]) != 0)
            break;
    n = k; /* what could not be started runs here */
    parts[0].end = n > 1 ? parts[1].begin : count;
    fill_part(&parts[0]);
    if (n > 1 && parts[n - 1].end != count) {
        parts[0].begin = parts[n - 1].end;
        parts[0].end = count;
        fill_part(&parts[0]);
    }
    for (k = 1; k < n; k++)
        pthread_join(parts[k].thread, NULL);
}
