/* SPDX-License-Identifier: Apache-2.0 */
/* cut: which values of a graph are carried over a line, at least cost.
 *
 * Behind the line some values are wanted. Each is carried over it, which costs
 * what holding it costs, or had again: computed from its arguments, which are
 * then wanted too, or, without arguments, read again. Which are best depends on
 * what an operation costs in bytes held: each price gives a cut, and the front
 * is the cuts that some price makes the cheapest. */
#ifndef FUSEC_SCHEDULERS_CUT_H
#define FUSEC_SCHEDULERS_CUT_H

#include "support/base.h"

struct arena;

static const int64_t CUT_NEVER = INT64_MAX / 4;

struct cut_value {
    int64_t hold, again;  /* costs; CUT_NEVER: not possible */
    const uint32_t *args; /* values before this one */
    uint32_t n_args;
    bool wanted; /* behind the line, by something that isn't a value here */
};

struct cut {
    bool *held;          /* by value: carried over the line */
    int64_t hold, again; /* sums of both costs */
};

/* The cut that makes hold * HOLD_PRICE + again * AGAIN_PRICE least; of several
 * the one nearest to the arguments. False when there is none. Products of the
 * prices with the sums of costs must stay below CUT_NEVER. */
bool cut_cheapest(struct arena *a, const struct cut_value *v, uint32_t n,
                  int64_t hold_price, int64_t again_price, struct cut *ret);
/* At most MOST different cuts of the front, those with least held first; none
 * when no cut is possible. Returns their number. */
uint32_t cut_front(struct arena *a, const struct cut_value *v, uint32_t n,
                   struct cut *ret, uint32_t most);

#endif
