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
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size,
                                 const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_run((const char *)data, size);
    return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    if (seed % 3 == 0)
        return LLVMFuzzerMutate(data, size, max);
    return mutate_text((char *)data, size, max, seed);
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b,
                          size_t b_size, uint8_t *out, size_t max,
                          unsigned seed)
{
    struct mutate_text x = {(const char *)a, a_size};
    struct mutate_text y = {(const char *)b, b_size};

    return mutate_cross(x, y, (char *)out, max, seed);
}
