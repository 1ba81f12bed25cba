/* SPDX-License-Identifier: Apache-2.0 */
/* plan: every decision about a fusion's kernels, as data. Printable
 * (--emit=plan), parseable (--plan FILE), stored in the manifest. Schedulers
 * write plans, lowering applies them. */
#ifndef FUSEC_SCHED_PLAN_H
#define FUSEC_SCHED_PLAN_H

#include "ir/graph.h"
#include "support/base.h"

struct diag;
struct source;

/* Column sums of chunks of rows wait in shared memory (rowwise_long.c) where a
 * thread's own take no more than this. */
enum { LONG_SUM_BYTES = 64 };

/* One strategy per row of schedulers.def. */
enum scheduler_id {
#define SCHEDULER(id, name, summary) SCHED_##id,
#include "schedulers/schedulers.def"
#undef SCHEDULER
    SCHED_COUNT
};
extern const char *const scheduler_name[SCHED_COUNT];
extern const char *const scheduler_summary[SCHED_COUNT];

/* Integer keys of a kernel and of a buffer; names, ranges, words of enumerated
 * values and documentation in plan_keys.def. */
enum plan_key {
#define KEY(id, name, lo, hi, words, doc) PK_##id,
#include "sched/plan_keys.def"
#undef KEY
    PK_COUNT
};
enum buffer_key {
#define BUFFER_KEY(id, name, lo, hi, words, doc) BK_##id,
#include "sched/plan_keys.def"
#undef BUFFER_KEY
    BK_COUNT
};

enum store {             /* where a kept value waits: the words of BK_STORE */
             STORE_NONE, /* recomputed from what is kept */
             STORE_REGISTER_PACKED, /* in its storage type, vectors of 16 bytes
                                     */
             STORE_REGISTER_F32,    /* one compute-type register per element */
             STORE_RELOAD,    /* leaf read again from global memory / L2 */
             STORE_SHARED,    /* shared memory */
             STORE_RING,      /* shared-memory ring filled by bulk copies */
             STORE_CLUSTER,   /* shared memory of a cluster */
             STORE_WORKSPACE, /* written for the kernels behind (parts.h) */
             STORE_COUNT
};
enum reuse { /* the words of BK_REUSE */
             REUSE_NONE,
             REUSE_ROW,
             REUSE_ROWS,
             REUSE_KERNELS,
};
enum finish { /* the words of PK_FINISH: how partial sums are folded */
              FINISH_NONE,
              FINISH_KERNEL,     /* a second kernel */
              FINISH_PDL_KERNEL, /* with programmatic dependent launch */
              FINISH_GRID,       /* grid barrier */
              FINISH_LAST_BLOCK,
};

struct buffer_plan {
    node_id node; /* of the simplified graph */
    int64_t key[BK_COUNT];
    const char *reason; /* why this store, for --explain and the manifest */
};

struct kernel_plan {
    enum scheduler_id scheduler;
    int64_t key[PK_COUNT];
    const struct buffer_plan *buffers; /* plans may share them */
    uint32_t n_buffers;
    /* What waits in workspace for the kernels behind it (parts.h); in a plan's
     * text buffers like the others. */
    const node_id *writes;
    uint32_t n_writes;
};

enum cost_term { /* cost_terms.def */
#define TERM(id, key, words) CT_##id,
#include "sched/cost_terms.def"
                 CT_COUNT
};

struct plan_cost { /* of one kernel_plan; printed by --explain */
    double dram_bytes, l2_bytes, smem_bytes, issue_slots;
    double bytes_held;     /* per row: kept buffers */
    double bytes_per_step; /* moved per row step, weight included */
    double inflight_bytes; /* per SM */
    int regs;              /* estimate per thread */
    int smem;              /* bytes per block */
    int blocks_per_sm;
    double waves, quantisation;
    double memory_ns, issue_ns, latency_ns, finish_ns, launch_ns, total_ns;
    double finish_wait_ns, finish_fold_ns; /* parts of finish_ns */
    double term[CT_COUNT];                 /* add up to total_ns */
};

struct variant_plan {
    const char *guard; /* manifest expression, "" = always */
    struct kernel_plan *kernels;
    uint32_t n_kernels;
    struct plan_cost cost;        /* of all kernels */
    struct plan_cost *part_costs; /* by kernel; NULL where there is but one */
};

struct fusion_plan {
    const struct graph *g;         /* the simplified graph it speaks of */
    struct variant_plan *variants; /* first whose guard holds is launched */
    uint32_t n_variants;
};

void plan_print(struct buf *b, const struct fusion_plan *const *plans,
                uint32_t n);
/* Errors (unknown key, other graph hash, range) through diag with
 * file:line:col. graphs: the simplified graphs of the file, by fusion name. */
bool plan_parse(struct arena *a, struct diag *d, const struct source *src,
                const struct graph *const *graphs, uint32_t n,
                struct fusion_plan ***ret_plans);
void plan_list_keys(struct buf *b); /* --list-plan-keys */
/* What a kernel writes to workspace, as a buffer of its plan. */
struct buffer_plan plan_write(node_id n);
/* The name a plan uses for a node: the statement's name, else "%n". */
const char *plan_node_name(struct arena *a, const struct graph *g, node_id n);

#endif
