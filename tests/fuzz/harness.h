/* SPDX-License-Identifier: Apache-2.0 */
/* harness: the main function of a fuzz target.
 *
 *     TARGET FILE...     runs each file once
 *     TARGET --frames    runs inputs from standard input: a length of four
 *                        bytes, least significant first, then the text; writes
 *                        one byte to standard output after each
 *
 * A target never returns an error: it returns, or it dies by a signal or a
 * sanitizer. tests/fuzz/mutate.py makes the frames and reports who died. */
#ifndef FUSEC_FUZZ_HARNESS_H
#define FUSEC_FUZZ_HARNESS_H

#include <stddef.h>

struct arena;

/* What a target does with one input; the arena is freed behind it. */
void fuzz_one(struct arena *a, const char *text, size_t len);

#endif
