/* SPDX-License-Identifier: Apache-2.0 */
/* sums: the shared memory in which column sums wait over all rows of a block.
 *
 * A thread has the sums of its own columns there and nobody else looks at them
 * before the rows are done, so that it takes neither an atomic nor a barrier to
 * add to them. They stand in pieces of 16 bytes, or of a vector where that is
 * less: piece i of a thread is at (i * threads + thread) * bytes of a piece, so
 * that the pieces of a warp are contiguous. Row groups have sums of their own.
 * What the cost model counts and what lowering addresses is this one layout. */
#ifndef FUSEC_SCHED_SUMS_H
#define FUSEC_SCHED_SUMS_H

#include "analysis/facts.h"
#include "sched/plan.h"

/* The type in which reduction n adds. */
enum dtype sums_type(const struct graph *g, node_id n);
/* The plan has column sum n in shared memory. */
bool sums_are_shared(const struct facts *f, const struct kernel_plan *k,
                     node_id n);
/* Elements and bytes of a piece of column sum n. */
int sums_piece(const struct facts *f, const struct kernel_plan *k, node_id n);
int sums_piece_bytes(const struct facts *f, const struct kernel_plan *k,
                     node_id n);
/* Of a block: all of them; where those of n begin among them. */
int64_t sums_bytes(const struct facts *f, const struct kernel_plan *k);
int64_t sums_place(const struct facts *f, const struct kernel_plan *k,
                   node_id n);
/* Why column sum n can't wait in shared memory; NULL: it can. */
const char *sums_wrong(const struct facts *f, const struct kernel_plan *k,
                       node_id n);

#endif
