/* SPDX-License-Identifier: Apache-2.0 */
/* names: a hash table from names to whatever a scope keeps for them, and the
 * search for the name that the user probably meant. Iteration order is never
 * used: what is printed follows the order of the text. */
#ifndef FUSEC_FRONT_NAMES_H
#define FUSEC_FRONT_NAMES_H

#include "support/base.h"

struct arena;

struct names_slot {
    const char *key; /* NULL: free */
    void *value;
};

struct names {
    struct arena *arena;
    struct names_slot *slots;
    uint32_t n, cap; /* cap is zero or a power of two */
};

void names_init(struct names *t, struct arena *a);
/* NULL when absent. */
void *names_get(const struct names *t, const char *key);
/* Enters or replaces; value is not NULL. The key must outlive the table. */
void names_put(struct names *t, const char *key, void *value);

/* The best of the candidates offered so far for a misspelt word. */
struct nearest {
    const char *word;
    const char *best; /* NULL when none is close enough */
    uint32_t distance;
};

void nearest_init(struct nearest *n, const char *word);
void nearest_offer(struct nearest *n, const char *candidate);

#endif
