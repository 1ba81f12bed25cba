/* SPDX-License-Identifier: Apache-2.0 */
/* plan_guard: the guard of a variant as a text that was written by hand. */
#ifndef FUSEC_SCHED_PLAN_GUARD_H
#define FUSEC_SCHED_PLAN_GUARD_H

struct arena;
struct graph;

/* NULL when TEXT is an expression of the manifest over G, else why not; the
 * empty text is the guard that always holds. */
const char *plan_guard_wrong(const struct graph *g, const char *text);
/* A guard that holds where GUARD and all conditions of REQUIRED do. */
const char *plan_guard_join(struct arena *a, const char *guard,
                            const char *required);

#endif
