/* SPDX-License-Identifier: Apache-2.0 */
/* select_parts: fusions that no single kernel takes, cut where a reduction's
 * result is used again; each part is scheduled like a fusion of its own. */
#ifndef FUSEC_SCHEDULERS_SELECT_PARTS_H
#define FUSEC_SCHEDULERS_SELECT_PARTS_H

#include "sched/scheduler.h"

/* --- select.c --- */
/* Every strategy's candidates for a slot, ranked. */
candidate_vec select_propose(const struct problem *p,
                             const struct slot_shape *s, const char *guard);
void select_rank(struct arena *a, const struct graph *g, candidate_vec *v);
/* The widest vector that divides a static column extent. */
int select_vector(const struct problem *p);

/* --- select_parts.c --- */
/* A way to cut a fusion; no parts: it can't be cut. */
struct parts {
    struct variant_plan cut;  /* kernels with nothing but what they write */
    struct problem *problems; /* by kernel */
    bool known;               /* looked for */
};
struct parts select_parts(const struct problem *p);
/* Some part has vector accesses. */
bool select_have_vectors(const struct parts *parts);
/* Ranked plans of the parts, of scalar accesses or of vectors, where the whole
 * has n columns, and what must hold at launch for these; none where every part
 * would be fallback's. */
candidate_vec select_part_plans(const struct problem *p,
                                const struct parts *parts, bool vectors,
                                int64_t n, const char **ret_guard);
/* The time of a copy of the bytes that the parts must move: none is faster. */
double select_parts_floor(const struct problem *p, const struct parts *parts,
                          int64_t n);
/* Fills in the cost of a plan whose rows have n columns where one kernel is the
 * whole; the limit that it breaks, or NULL. */
const char *select_cost(const struct problem *p, int64_t n,
                        struct variant_plan *v);
/* What must hold at launch for all kernels. */
const char *select_guard(const struct problem *p, const struct variant_plan *v);
/* Registers that the cap leaves free in the tightest kernel, by the estimate.
 */
int select_room(const struct candidate *c, const struct device *dev);

#endif
