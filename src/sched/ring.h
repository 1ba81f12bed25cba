/* SPDX-License-Identifier: Apache-2.0 */
/* ring: the shared memory through which a plan's rows arrive.
 *
 * A row group has `stages` slots; a slot holds one row: of each leaf that
 * arrives this way its columns, then the values of the row (those without the
 * column axis). Bulk copies fill it, which one thread starts and an mbarrier
 * counts, or pieces of 16 bytes, which each thread copies for itself. What the
 * cost model counts and what lowering addresses is this one layout.
 *
 * Slots and the rows in them begin at lines of 128 bytes: a bulk copy to a
 * place between two lines is slower. Layer norm backward in bf16 at N = 16384,
 * a ring of 2 over clusters of 2, took 226 us in place of 203 on an H200 while
 * slots were multiples of 16 bytes. */
#ifndef FUSEC_SCHED_RING_H
#define FUSEC_SCHED_RING_H

#include "analysis/facts.h"
#include "sched/plan.h"

enum {
    RING_LINE = 128,    /* of a slot and of the rows in it */
    RING_ALIGN = 16,    /* of a value of the row in a slot */
    RING_PIECE = 16,    /* bytes that one copy moves at least */
    RING_SCALAR = 4,    /* the same for a value of the row */
    MBARRIER_BYTES = 8, /* of shared memory */
};

struct ring {
    int stages, groups; /* 0 stages: no ring */
    bool pieces;        /* filled by the threads, not in bulk */
    bool has_scalars;
    int copies;         /* of each thread a row, by pieces */
    int64_t columns;    /* a slot has room for */
    int64_t slot_bytes; /* of one row */
    int64_t bytes;      /* of all slots of a block */
    int64_t barrier_bytes;
};

void ring_of(const struct facts *f, const struct kernel_plan *k,
             struct ring *ret);
/* The leaf arrives through the ring. */
bool ring_carries(const struct facts *f, const struct kernel_plan *k,
                  node_id n);
/* Where in a slot the leaf stands. */
int64_t ring_place(const struct facts *f, const struct kernel_plan *k,
                   node_id n);
/* Elements of which a row, its alignment and its strides must be multiples. */
int ring_vector(const struct facts *f, const struct kernel_plan *k);
/* A limit that the plan's ring breaks, whatever the device; NULL: none. */
const char *ring_wrong(struct arena *a, const struct facts *f,
                       const struct kernel_plan *k);

#endif
