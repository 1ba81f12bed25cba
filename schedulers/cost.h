/* SPDX-License-Identifier: Apache-2.0 */
/* cost: the part of the cost model that knows no strategy. */
#ifndef FUSEC_SCHEDULERS_COST_H
#define FUSEC_SCHEDULERS_COST_H

#include "sched/scheduler.h"

/* What a strategy says of its kernel; the rest follows. */
struct work {
    double rounds;   /* steps that one block makes one after the other */
    double stall_ns; /* of one step: latency its own block cannot hide */
    double blocks;   /* in the grid */
    double warps;    /* of a block */
    bool chained;    /* loads, exchanges, arithmetic follow each other */
    double loss;     /* of clusters, a factor of the rounds; 0: none */
    double again;    /* the same of what rows read again */
    double reach;    /* share of the copy rate that its loads attain; 0: all */
    double slots;    /* of a ring; 0: none */
    double
        cycle_ns; /* until a slot is full again, and what share of a step's */
    double cycle_issue; /* own issue it waits for besides */
};

enum {
    DRAM_LATENCY_NS = 800,
    L2_LATENCY_NS = 350,
    RAMP_NS = 1000, /* first bytes in, last bytes out */
    /* A block that leaves and the next that starts in its place: measured on an
     * H200 as what a row of layer norm takes beyond its loads, exchanges and
     * arithmetic (docs/performance/). */
    TURNOVER_NS = 1300,
};

static const double SM_REACH = 2.0; /* times its share one SM can draw */

/* Share of the copy rate reached with so many bytes in flight per
 * multiprocessor. */
double cost_efficiency(const struct device *dev, double inflight);
/* Fills the times from bytes, issue slots, blocks_per_sm, inflight_bytes and
 * finish_ns. */
void cost_finish(const struct problem *p, const struct work *w,
                 struct plan_cost *c);

#endif
