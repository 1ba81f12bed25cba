/* SPDX-License-Identifier: Apache-2.0 */
/* lower: a plan applied to a graph: kernels in loop-level IR and the launches
 * that run them. */
#ifndef FUSEC_LOWER_LOWER_H
#define FUSEC_LOWER_LOWER_H

#include "analysis/facts.h"
#include "kernel/kernel.h"
#include "sched/plan.h"

enum launch_arg_kind {
    ARG_TENSOR,    /* pointer to an input's or output's first element */
    ARG_WORKSPACE, /* pointer to a workspace buffer */
    ARG_DIM,       /* i64: a manifest expression over dims */
    ARG_SCALAR,    /* a scalar parameter, in its own dtype (bool as 1 byte) */
};
struct launch_arg {
    enum launch_arg_kind kind;
    const char *name; /* tensor, workspace, scalar; or the expression */
};

struct launch {
    const struct kernel *kernel;
    enum scheduler_id scheduler;
    const char *grid[3]; /* manifest expressions */
    int block;           /* threads, x only */
    int cluster;
    const char *smem; /* dynamic shared memory bytes: expression */
    bool pdl;         /* programmatic dependent launch attribute */
    bool cooperative;
    VEC(struct launch_arg) args; /* same order as kernel->params */
};

struct lowered_variant {
    const char *guard;
    VEC(struct launch) launches;
};

struct workspace {
    const char *name;  /* "v0_dweight_partials" */
    const char *bytes; /* manifest expression */
    bool zero;         /* must be zero before the first launch */
};

struct lowered {
    const struct graph *g;
    const struct fusion_plan *plan;
    VEC(struct lowered_variant) variants;
    VEC(struct workspace) workspace;
};

struct lowered *lower_fusion(struct arena *a, const struct facts *f,
                             const struct fusion_plan *plan);

#endif
