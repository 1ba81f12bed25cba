/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_shape: what the parts of the row kernels' cost model tell each
 * other. */
#ifndef FUSEC_SCHEDULERS_ROWWISE_SHAPE_H
#define FUSEC_SCHEDULERS_ROWWISE_SHAPE_H

#include "sched/ring.h"
#include "schedulers/rowwise.h"

struct row_shape { /* of a kernel, out of its keys */
    int threads, tpr, groups, vec, vpt, steps, ept, cluster;
    int sharing; /* blocks that read chunks of one row */
    bool looped, persistent, prefetch, tiles;
    int64_t span;  /* columns one pass of a group covers */
    int64_t reach; /* and of all blocks that share the row */
    struct ring ring;
};

struct row_traffic {
    double dram, l2, l1; /* bytes of one row */
    double loads;        /* bytes of one row in flight at once */
    double unbuffered;   /* of them, of inputs that are used as they are read */
    double stores, issue, held;
    int reload_phases; /* in which something is read again */
};

/* --- rowwise_sums.c --- */
/* Column sums in shared memory: whether node n is one, registers of the vector
 * in work, the traffic of sum n for a row, and what a step waits for. */
bool row_shares_sum(const struct row_use *u, node_id n);
int row_sums_registers(const struct row_use *u);
void row_count_sum(const struct problem *p, const struct kernel_plan *k,
                   node_id n, int64_t columns, struct row_traffic *t);
double row_sums_ns(const struct row_use *u, const struct row_shape *s);

/* --- rowwise_traffic.c --- */
/* Of one row of so many columns. */
struct row_traffic row_traffic(const struct row_use *u,
                               const struct row_shape *s, int64_t columns);

/* --- rowwise_least.c --- */
/* With fewer registers a thread the kernel has local memory. */
int row_least_registers(const struct row_use *u, const struct row_shape *s);

/* --- rowwise_cost.c, rowwise_stall.c --- */
/* Registers of an element in compute type. */
int row_compute_words(enum dtype t);
/* Of one thread, for one kept row of a value of the type. */
int row_packed_registers(const struct row_shape *s, enum dtype t);
/* One reduction's combination over the threads of a block that share a row. */
double row_exchange_ns(const struct row_shape *s);
/* What a step waits for and no other block's work hides; `spare` registers are
 * left. */
double row_stall_ns(const struct row_use *u, const struct row_shape *s,
                    const struct row_traffic *t, const struct plan_cost *c,
                    int spare);

#endif
