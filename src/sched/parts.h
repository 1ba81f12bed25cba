/* SPDX-License-Identifier: Apache-2.0 */
/* parts: a fusion that several kernels compute one after the other.
 *
 * What a kernel of a variant writes to workspace is an input of those behind
 * it, unless none needs it and it is only a result. Results are the last one's,
 * but for those that follow from what earlier ones write and have its extents.
 * To the strategies and to lowering a part is a graph like any other: the same
 * nodes under the same numbers, but what earlier kernels wrote is read, and
 * what this one writes is a result. */
#ifndef FUSEC_SCHED_PARTS_H
#define FUSEC_SCHED_PARTS_H

#include "analysis/facts.h"
#include "sched/plan.h"

/* Values that wait in workspace have their compute type and no gaps. */
enum { WORKSPACE_ALIGN = 16, MAX_KERNELS = 16 };

/* The graph of kernel k, G itself when the variant has but one kernel. */
const struct graph *part_graph(struct arena *a, const struct graph *g,
                               const struct variant_plan *v, uint32_t k);
/* The same with its facts; WHOLE are those of the fusion. */
const struct facts *part_facts(struct arena *a, const struct facts *whole,
                               const struct variant_plan *v, uint32_t k);
/* What is wrong with the values that kernel k of the variant writes; or NULL.
 */
const char *part_refuse(struct arena *a, const struct facts *whole,
                        const struct variant_plan *v, uint32_t k);
/* True when all kernels are fallback's. */
bool variant_is_fallback(const struct variant_plan *v);

#endif
