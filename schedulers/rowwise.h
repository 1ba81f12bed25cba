/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise: what the strategies that handle rows by groups of threads share:
 * which values each phase needs, what is kept, and what that costs.
 *
 * A row passes through phases 0 .. levels; the inner reductions of phase p are
 * combined over the row's threads at its end. What a phase needs and no earlier
 * phase kept is computed again, or read again when it is a leaf. */
#ifndef FUSEC_SCHEDULERS_ROWWISE_H
#define FUSEC_SCHEDULERS_ROWWISE_H

#include "sched/scheduler.h"

/* What the phases of a plan need. */
struct row_use {
    const struct problem *p;
    const struct kernel_plan *k; /* NULL: nothing is kept */
    int phases;
    /* By node; small, as each candidate has one. */
    uint32_t *needed;      /* phases, bit by bit; values along columns */
    int16_t *first, *last; /* phase; -1: none */
    uint8_t *store;        /* enum store of the plan's buffer */
    bool *over_rows;       /* it waits over all rows */
};

struct row_use row_use(const struct problem *p, const struct kernel_plan *k);
static inline bool
row_needs(const struct row_use *u, int phase, node_id n)
{
    return u->needed[n] >> phase & 1;
}
/* First and last phase that needs the node; false when none does. */
static inline bool
row_span(const struct row_use *u, node_id n, int *ret_first, int *ret_last)
{
    if (u->first[n] < 0)
        return false;
    *ret_first = u->first[n];
    *ret_last = u->last[n];
    return true;
}
/* An input along the columns that differs from row to row. */
static inline bool
row_is_input(const struct facts *f, node_id n)
{
    return f->node[n].live && f->node[n].is_leaf && node_has_column(f, n) &&
           node_has_rows(f, n);
}
/* Phase of a reduction: the level of its operand. */
static inline int
row_reduction_phase(const struct facts *f, node_id n)
{
    return f->node[facts_value(f, graph_node(f->g, n)->args[0])].level;
}
int row_outer_count(const struct facts *f);

/* The cost of a plan of this family, or the limit it breaks. */
const char *rowwise_cost(const struct problem *p, const struct kernel_plan *k,
                         int64_t n, struct plan_cost *ret);
/* Reasons for which no strategy of this family takes a fusion. */
const char *rowwise_refuse(const struct problem *p);

/* --- rowwise_waits.c --- */
/* How long and how large the buffers of a plan wait, for --explain=json. */
void rowwise_waits(struct arena *a, const struct facts *f,
                   const struct kernel_plan *k, int64_t n,
                   struct buffer_wait *ret);

/* The limit that one of the plan's buffers breaks, or NULL. */
const char *row_bad_buffers(const struct problem *p,
                            const struct kernel_plan *k);

/* --- rowwise_sums.c --- */
/* Column sums that can wait in shared memory; the buffers of all, so many there
 * and the others in registers; "; sums in shared memory: dweight", or nothing.
 */
int row_sums_most(const struct problem *p);
void row_keep_sums(const struct problem *p, struct candidate *c, int shared);
const char *row_sums_summary(const struct problem *p,
                             const struct kernel_plan *k);

/* --- rowwise_finish.c --- */
/* The terms of folding the partial rows; nothing where there are none. */
void row_finish_cost(const struct problem *p, const struct kernel_plan *k,
                     int64_t n, struct plan_cost *c);
/* The limit that the plan's finish breaks, or NULL. */
const char *row_finish_refuse(const struct problem *p,
                              const struct kernel_plan *k, int blocks_per_sm);
/* Blocks of the row kernel fold, behind their rows. */
bool row_folds_inside(const struct kernel_plan *k);
/* Behind the last candidate, the same with each way of folding that the model
 * takes for faster. */
void row_offer_finishes(const struct problem *p, candidate_vec *out, int64_t n);

/* --- rowwise_cluster.c --- */
/* Blocks that share a row; the limit that such a plan breaks. */
int row_cluster(const struct kernel_plan *k);
const char *row_bad_cluster(const struct problem *p,
                            const struct kernel_plan *k);
/* Multiprocessors on which its clusters find a place. */
int row_usable_sms(const struct problem *p, const struct kernel_plan *k);
/* What an exchange takes longer than in one block; shared memory of it. */
double row_cluster_ns(const struct kernel_plan *k);
/* By how much a cluster of that size is slower throughout. */
double row_cluster_loss(const struct kernel_plan *k, int resident);
int64_t row_cluster_smem(const struct problem *p, const struct kernel_plan *k);

/* --- rowwise_split.c --- */
/* Blocks share a row; what such a plan breaks, or NULL; candidates. */
bool row_is_split(const struct kernel_plan *k);
const char *row_bad_split(const struct problem *p, const struct kernel_plan *k);
void row_propose_split(const struct problem *p, const struct slot_shape *s,
                       candidate_vec *out);

/* How a candidate treats what crosses phases. */
enum row_keep {
    KEEP_LEAVES,   /* projection: the inputs, packed; the rest is recomputed */
    KEEP_COMPUTED, /* the computed values that cross, in compute type */
    KEEP_RELOAD,   /* inputs of the row kept, invariants read again */
    KEEP_NOTHING,  /* inputs read again in each phase */
    KEEP_NARROW,   /* casts to storage types, packed; the rest is recomputed */
    KEEP_CUT,      /* what a cheapest cut says (rowwise_cut.c) */
    KEEP_COUNT
};
/* Where operands without a row axis wait. */
enum row_invariants {
    INVARIANTS_READ,   /* nowhere: read from L2 where they are used */
    INVARIANTS_PACKED, /* in registers over all rows, in their storage type */
    INVARIANTS_F32,    /* the same, in compute type */
    INVARIANTS_SHARED, /* in shared memory over all rows */
};

/* The buffers that an answer comes out as, whatever the geometry, and what is
 * said of them. */
struct row_held {
    const struct buffer_plan *buffers;
    uint32_t n_buffers;
    const char *summary; /* "projection: keeps x, dy, weight" */
    const char *keep;    /* row_kind's word */
    bool repeated;       /* an answer before comes out as the same */
    /* The same with its rows through a ring, by whether they stay in their
       slots; NULL: there is none. */
    const struct row_held *ring[2];
};
/* What waits between the phases and over the rows. */
struct row_answer {
    enum row_keep how;
    enum row_invariants invariants;
    int shared_sums; /* so many column sums in shared memory */
    const bool *cut; /* KEEP_CUT: the values kept, by node */
    /* By prefetch; NULL: not possible, or the same as that of one before. */
    const struct row_held *held[2];
};
typedef VEC(struct row_answer) row_answer_vec;
/* All that there are, in their order. */
row_answer_vec row_answers(const struct problem *p, bool persistent,
                           int shared_sums);
/* This one alone, with its usual invariants and nothing in flight. */
struct row_answer row_answer(const struct problem *p, enum row_keep how,
                             bool persistent);
/* A candidate that holds this; its geometry is to be set. */
struct candidate *row_candidate(const struct problem *p, candidate_vec *out,
                                enum scheduler_id id,
                                const struct row_held *held);

/* Adds the buffers to a kernel whose geometry is set; false when there are no
 * values of that kind. */
bool row_keep_answer(const struct problem *p, struct candidate *c,
                     const struct row_answer *r);
/* The same for an answer without a cut and its usual invariants. */
bool row_keep(const struct problem *p, struct candidate *c, enum row_keep how,
              bool persistent);
/* "projection", "no_projection", "mixed" or "nothing": what waits between the
 * phases, invariants aside, by the name that --set keep=NAME asks for. */
const char *row_kind(const struct row_use *u);
/* "projection: keeps x, dy, weight"; kind is row_kind's. */
const char *row_summary(const struct row_use *u, const char *kind);
/* Read along the columns as vectors. */
bool row_is_packable(const struct facts *f, node_id n);

/* No phase after the first needs the columns. */
bool row_reads_once(const struct problem *p);
/* Candidates without column sums, of reduction or inner_persistent. */
void row_propose_inner(const struct problem *p, const struct slot_shape *s,
                       candidate_vec *out);

/* --- rowwise_ring.c --- */
/* These buffers with the rows through a ring, in whose slots they stay or out
 * of which they are taken; NULL where nothing would be taken out. */
struct row_held *row_hold_ring(const struct problem *p,
                               const struct row_held *held, bool persistent,
                               bool stays);
/* Beside candidate `which`, which holds this, the same with its rows through a
 * ring; with each row of a block that makes one step in shared memory. */
void row_propose_rings(const struct problem *p, const struct slot_shape *s,
                       const struct row_held *held, uint32_t which,
                       candidate_vec *out);
bool row_propose_slot(const struct problem *p, const struct slot_shape *s,
                      const struct row_held *held, uint32_t which,
                      candidate_vec *out);

/* Rows that wait in registers, in their storage type. */
bool row_has_packed(const struct problem *p, const struct kernel_plan *k);

struct row_geometry {
    int threads, threads_per_row, vector, vectors;
    int blocks_per_sm, grid_rows, steps, cluster;
    bool persistent, looped, prefetch, tiles;
};
/* The threads for a row of VECTORS vectors and the smallest cluster in which
 * each block has no more than MOST; false when no cluster is large enough.
 * Short rows are for one block. */
bool row_fit_cluster(const struct problem *p, int64_t vectors, int most,
                     struct row_geometry *g);
/* Blocks, or clusters of blocks, that the device holds at once. */
int row_resident_units(const struct problem *p, const struct row_geometry *g);
/* "; cluster of 4", or nothing. */
const char *row_cluster_summary(const struct problem *p,
                                const struct row_geometry *g);
void row_set(struct kernel_plan *k, const struct row_geometry *g,
             int64_t bound);
/* Threads for a row of `vectors` vectors, each thread holding `each`: a power
 * of two up to a warp, then whole warps. */
int row_threads(int64_t vectors, int64_t each);

#endif
