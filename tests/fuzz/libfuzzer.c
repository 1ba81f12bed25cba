/* SPDX-License-Identifier: Apache-2.0 */
/* libfuzzer: the entry points of a libFuzzer program. One mutation in three is
 * libFuzzer's own, of bytes; the others work on tokens (mutate.c). */
#include "support/base.h"

#include "harness.h"
#include "mutate.h"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Inputs that were run, for pieces of one to go into another. */
enum { RECENT = 61 };
static struct {
    char *p;
    size_t n;
} recent[RECENT];
static unsigned long n_runs;

static void
report(void)
{
    size_t len;
    double seconds = fuzz_slowest(&len);

    fprintf(stderr, "slowest: %.3f s, %zu bytes\n", seconds, len);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    atexit(report);
    return 0;
}

static void
remember(const uint8_t *data, size_t size)
{
    char *copy = size ? malloc(size) : NULL;

    if (!copy)
        return;
    memcpy(copy, data, size);
    free(recent[n_runs % RECENT].p);
    recent[n_runs % RECENT].p = copy;
    recent[n_runs % RECENT].n = size;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (n_runs++ % 7 == 0)
        remember(data, size);
    fuzz_run((const char *)data, size);
    return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    unsigned other = seed / 8 % RECENT;

    if (seed % 3 == 0)
        return LLVMFuzzerMutate(data, size, max);
    if (seed % 8 == 1 && recent[other].p)
        return mutate_cross(
            (char *)data, size, max,
            (struct mutate_text){recent[other].p, recent[other].n}, seed);
    return mutate_text((char *)data, size, max, seed);
}
