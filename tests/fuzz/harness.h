/* SPDX-License-Identifier: Apache-2.0 */
/* harness: what every fuzz target gives and may use.
 *
 * A target never returns an error: it returns, or it dies by a signal or a
 * sanitizer. The same target is built as a libFuzzer program (libfuzzer.c) and
 * as one that replays files and seeded mutations of them (replay.c). */
#ifndef FUSEC_FUZZ_HARNESS_H
#define FUSEC_FUZZ_HARNESS_H

#include "support/base.h"

#include <stdio.h>

struct arena;
struct diag;
struct lowered;

/* What a target does with one input, which a NUL byte follows; the arena is
 * freed behind it. */
void fuzz_one(struct arena *a, const char *text, size_t len);

/* harness.c: fuzz_one on a copy that ends where its memory ends; then the time
 * it took is noted. A second is a crash, under sanitizers, which make the same
 * work five times as long, five seconds. */
void fuzz_run(const char *text, size_t len);
double fuzz_slowest(size_t *ret_len); /* seconds of processor time */
/* Prints all messages to where nobody reads them, and forgets them. */
void fuzz_flush(struct diag *d);
/* Dies when a kernel does not verify. */
void fuzz_check_kernels(struct arena *a, const struct lowered *l);

/* The dictionary of the target: words.c, made by make_words.py. */
extern const char *const fuzz_words[];
extern const unsigned fuzz_n_words;

#endif
