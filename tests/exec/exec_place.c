/* SPDX-License-Identifier: Apache-2.0 */
/* exec_place: chosen elements of an input. `x@5=nan` puts a NaN into element 5
 * (in row-major order, -1 stands for the last), `x@0..31=-inf` fills a range
 * with both ends, `x@*=1e-40` the whole. */
#include "support/base.h"

#include "exec.h"

#include <stdio.h>
#include <stdlib.h>

struct range {
    int64_t first, last;
};

ATTR_NORETURN static void
refuse(const struct setting *s)
{
    fprintf(stderr, "'%s=%s' is no element of the input\n", s->name, s->value);
    exit(EXIT_USAGE);
}

static int64_t
read_index(const struct setting *s, const char *at, char **end, int64_t count)
{
    int64_t i = strtoll(at, end, 10);

    if (*end == at)
        refuse(s);
    return i < 0 ? count + i : i;
}

static struct range
read_range(const struct setting *s, const char *at, int64_t count)
{
    struct range r = {0, count - 1};
    char *end;

    if (strcmp(at, "*") == 0)
        return r;
    r.first = r.last = read_index(s, at, &end, count);
    if (strncmp(end, "..", 2) == 0)
        r.last = read_index(s, end + 2, &end, count);
    if (*end || r.first < 0 || r.last >= count)
        refuse(s);
    return r;
}

/* Where the i-th element in row-major order lies. */
static int64_t
place_of(const struct tensor *t, int64_t i)
{
    int64_t at = 0;

    for (int d = t->rank - 1; d >= 0; d--) {
        at += i % t->shape[d] * t->strides[d];
        i /= t->shape[d];
    }
    return at;
}

static void
store(const struct tensor *t, int64_t i, const char *text)
{
    int64_t at = place_of(t, i);

    if (dtype_is_float(t->dtype))
        num_store_long(t->dtype, t->data, at, strtold(text, NULL));
    else
        num_store_int(t->dtype, t->data, at, strtoll(text, NULL, 0));
}

void
exec_place(const struct run *r, const char *param, const struct tensor *t)
{
    size_t n = strlen(param);
    int64_t count = 1;

    for (int d = 0; d < t->rank; d++)
        count *= t->shape[d];
    for (uint32_t i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        struct range at;

        if (strncmp(s->name, param, n) != 0 || s->name[n] != '@')
            continue;
        at = read_range(s, s->name + n + 1, count);
        for (int64_t e = at.first; e <= at.last; e++)
            store(t, e, s->value);
    }
}
