/* SPDX-License-Identifier: Apache-2.0 */
/* mutate: seeded changes of texts made of names, numbers, strings and signs:
 * programs, plans and JSON. The same seed makes the same change. */
#ifndef FUSEC_FUZZ_MUTATE_H
#define FUSEC_FUZZ_MUTATE_H

#include "support/base.h"

struct mutate_text {
    const char *p;
    size_t n;
};

/* Changes DATA in place; the new length, at most MAX. */
size_t mutate_text(char *data, size_t size, size_t max, uint64_t seed);
/* The same with a piece of Y put into it. */
size_t mutate_cross(char *data, size_t size, size_t max, struct mutate_text y,
                    uint64_t seed);

#endif
