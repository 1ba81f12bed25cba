/* SPDX-License-Identifier: Apache-2.0 */
/* harness: one input, one arena, one measured time. The text lies in a heap
 * block of its exact size, so that a sanitizer sees reads beyond it. Processor
 * time is what counts: the machine may be busy with other things. */
#include "support/base.h"

#include "harness.h"

#include "ir/graph.h"
#include "kernel/kernel.h"
#include "lower/lower.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdlib.h>
#include <time.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { HANG_S = 5 };
#else
enum { HANG_S = 1 };
#endif

static struct {
    double seconds;
    size_t len;
} slowest;

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void
fuzz_run(const char *text, size_t len)
{
    struct arena *a = arena_new();
    char *copy = malloc(len + 1);
    double start = now(), seconds;

    if (!copy)
        abort();
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    fuzz_one(a, copy, len);
    free(copy);
    arena_free(a);
    seconds = now() - start;
    if (seconds > slowest.seconds) {
        slowest.seconds = seconds;
        slowest.len = len;
    }
    if (seconds > HANG_S)
        BUG("%zu bytes took %.2f s", len, seconds);
}

double
fuzz_slowest(size_t *ret_len)
{
    *ret_len = slowest.len;
    return slowest.seconds;
}

void
fuzz_flush(struct diag *d)
{
    static const struct diag_style styles[] = {
        {.tool = "fuzz"},
        {.tool = "fuzz", .json = true},
        {.tool = "fuzz", .color = true},
    };
    static FILE *nowhere;

    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        abort();
    diag_flush(d, nowhere, &styles[diag_errors(d) % ARRAY_LEN(styles)]);
}

void
fuzz_check_kernels(struct arena *a, const struct lowered *l)
{
    struct buf why;

    buf_init(&why, a);
    for (uint32_t v = 0; v < l->variants.n; v++) {
        for (uint32_t k = 0; k < l->variants.v[v].launches.n; k++) {
            if (!kernel_verify(l->variants.v[v].launches.v[k].kernel, &why))
                BUG("kernel of '%s': %s", l->g->name, buf_str(&why));
        }
    }
}
