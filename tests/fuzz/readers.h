/* SPDX-License-Identifier: Apache-2.0 */
/* readers: manifests are read by fusec and by the launch library, each with a
 * struct manifest of its own; a target that includes one asks the other here.
 */
#ifndef FUSEC_FUZZ_READERS_H
#define FUSEC_FUZZ_READERS_H

#include "support/base.h"

struct arena;

/* launch_reader.c: false with a message in WHY. */
bool fuzz_launch_reads(const char *text, char *why, size_t size);
/* own_reader.c: what fusec reads, whatever it finds. */
void fuzz_read_own(struct arena *a, const char *text, size_t len);

#endif
