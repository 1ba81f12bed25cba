/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rowwise: rows handled by groups of threads. One lowering serves row
 * reductions, column sums, persistent norms and their backward passes; the plan
 * says which of its mechanisms are used.
 *
 *     for each row of the group            (persistent grid, or one step)
 *         load what the row keeps          (packed vectors; prefetched or not;
 *                                           or out of a ring's slot)
 *         for phase 0 .. levels
 *             values of the row            (scalars: mean, rstd ...)
 *             for each vector, element     (recomputed from what is kept)
 *                 add to inner reductions, to column sums; store results
 *             combine inner reductions over the group
 *     fold the column sums of the groups, write one partial row a block
 *     (few long rows: several blocks share one, the last adds their parts)
 *     (second kernel, all blocks behind a barrier, or the last block) fold the
 *     partial rows, compute what follows, store */
#ifndef FUSEC_LOWER_LOWER_ROWWISE_H
#define FUSEC_LOWER_LOWER_ROWWISE_H

#include "lower/lower_common.h"
#include "sched/plan.h"
#include "sched/ring.h"
#include "sched/sums.h"

enum { MAX_STEPS = 16 };

/* What lowering knows of one node; the expressions are those of the scope that
 * is being written. */
struct rw_node {
    enum store store;
    bool over_rows;             /* reuse rows: loaded once a block */
    bool need;                  /* by the phase being written */
    const struct kexpr *row;    /* value of a node without the column axis */
    const struct kexpr *elem;   /* value at the current element */
    const struct kexpr *array;  /* kept vectors or elements */
    const struct kexpr *next;   /* the same, one row ahead */
    const struct kexpr *vector; /* a re-read leaf's current vector */
    const struct kexpr *offset; /* element offset of the row (leaves) */
    const struct kexpr *acc;    /* reductions: accumulator variable or array */
    const struct kexpr *total;  /* long sums: of the chunks, in the same form */
    const struct kexpr *pieces; /* sums in shared memory: this thread's first */
    int kept_from;              /* phase that computes a kept value, or -1 */
    const struct kexpr *divisor; /* quotients: by this, in this phase */
    bool in_ring;                /* the leaf arrives through the ring */
    int64_t ring_at;             /* where in a slot */
    int64_t shared_at;           /* where it waits over all rows */
};

/* A store to a result, in the same spirit. */
struct rw_result {
    bool in_row_kernel;
    int phase;
    const struct kexpr *offset, *vector;
};

struct rw {
    struct lower *ctx;
    struct arena *a;
    const struct facts *f;
    const struct graph *g;
    const struct kernel_plan *kp;
    struct lowered_kernel lk;
    int threads, tpr, groups, vec, vpt, steps, cluster;
    bool looped, persistent, prefetch, tiles, exact, wide_columns;
    bool split;                 /* blocks share a looped row */
    bool split_met;             /* and their parts of it are together here */
    bool joined;                /* the cluster's other blocks have begun */
    const struct sym *n, *m;    /* columns, rows */
    const struct sym *partials; /* blocks along the rows of a persistent grid */
    int step;                   /* of rows_per_step, being written */
    int phase;                  /* whose columns are being written */
    int exchanges;              /* written so far in this row */
    int exchanges_total;
    struct rw_node *node; /* by node_id */
    struct rw_result *result;
    const struct kexpr *nv, *mv; /* N, M in the kernel */
    const struct kexpr *first;   /* the block's first column; NULL: 0 */
    const struct kexpr *end;     /* its columns end here, or the row does */
    const struct kexpr *mine;    /* columns of the block's share, or NULL */
    const struct kexpr *tid, *t, *group; /* thread, its place in the group */
    const struct kexpr *active;         /* this group has a row; NULL: always */
    const struct kexpr *row;            /* row index */
    const struct kexpr *axis[MAX_AXES]; /* row axis indices */
    const struct kexpr *col;            /* first column of the vector */
    const struct kexpr *own;            /* and in the block's share */
    const struct kexpr *v, *e;          /* loop variables */
    const struct kexpr *parity;
    const struct kexpr *span, *more; /* rows of a chunk; there are more */
    struct ring ring;
    int64_t ring_base; /* byte of shared memory at which its slots begin */
    int ring_last;     /* phase after which a row's slot is free; -1: at once */
    const struct kexpr *row0;       /* of the step */
    const struct kexpr *slot, *lap; /* the row's, and its mbarrier's parity */
    const struct kexpr *row_slot;   /* address of the row's slot */
};

/* Rows between one step of a block and its next. */
const struct kexpr *rw_row_stride(const struct rw *w);
/* The indices along the row axes of w->row; names end in the suffix. */
void rw_split_row(struct rw *w, struct kbuild *b, const char *suffix);

void lower_rowwise(struct lower *ctx, const struct kernel_plan *kp,
                   struct lowered_variant *out);

/* --- rowwise_emit.c --- */
bool rw_has_column(const struct rw *w, node_id n);
/* The node's part of a local's name, and the whole name. */
const char *rw_label(const struct rw *w, node_id n);
const char *rw_name(const struct rw *w, const char *prefix, node_id n);
const struct kexpr *rw_value(const struct rw *w, node_id n);
/* The block's place along the rows of the grid. */
const struct kexpr *rw_block_row(const struct rw *w);
/* Marks the nodes that the phase needs. */
void rw_mark_phase(struct rw *w, int phase);
/* Its value lacks the column axis. */
bool rw_is_row_result(const struct rw *w, uint32_t i);
/* Marks what the phase needs and writes its values without the column axis. */
void rw_phase_rows(struct rw *w, struct kbuild *b, int phase);
/* Writes the loop over the columns of one phase, if it has anything to do. */
void rw_phase_columns(struct rw *w, struct kbuild *b, int phase);
const struct kexpr *rw_and(const struct rw *w, const struct kexpr *x,
                           const struct kexpr *y); /* NULL = true */
/* Values of nodes already marked, in order, into b: those without the column
 * axis when !elements, else those with it. */
void rw_emit_marked(struct rw *w, struct kbuild *b, bool elements, int phase);
void rw_mark_args(struct rw *w, int phase);
const struct kexpr *rw_offset(struct rw *w, struct kbuild *b,
                              const struct access *acc, const char *name);

/* --- rowwise_cluster.c --- */
/* Columns are counted from the block's first. */
bool rw_counts_own(const struct rw *w);
/* The columns of a row that are this block's own: w->first, and w->mine where
 * they are counted so, else w->end. */
void rw_declare_columns(struct rw *w, struct kbuild *b);
/* Makes where they end a number that the CUDA compiler can't know. */
void rw_hide_columns(struct rw *w, struct kbuild *b);
/* The column that is `own` columns after the block's first; the reverse, of the
 * column w->col. */
const struct kexpr *rw_column(const struct rw *w, const struct kexpr *own);
const struct kexpr *rw_own_column(const struct rw *w,
                                  const struct kexpr *column);
/* The block has the row's first columns; NULL: each block has. */
const struct kexpr *rw_is_first_block(const struct rw *w);

/* In order: before the rows, before the first exchange, each exchange, and
 * where the block goes on using shared memory. */
void rw_cluster_open(struct rw *w, struct kbuild *b);
void rw_cluster_join(struct rw *w, struct kbuild *b);
void rw_cluster_exchange(struct rw *w, struct kbuild *b, int phase);
void rw_cluster_close(struct rw *w, struct kbuild *b);
int64_t rw_cluster_bytes(const struct rw *w); /* of shared memory, a block */

/* --- rowwise_loads.c --- */
/* Bytes of shared memory that operands take over all rows, behind the rest. */
int64_t rw_shared_bytes(const struct rw *w);
int64_t rw_shared_base(const struct rw *w);
bool rw_is_shared(const struct rw *w, node_id n);
/* The vector at the current column, out of shared memory. */
const struct kexpr *rw_shared_vector(const struct rw *w, node_id n);
void rw_load_invariants(struct rw *w, struct kbuild *b);
void rw_row_offsets(struct rw *w, struct kbuild *b);
void rw_load_row(struct rw *w, struct kbuild *b, bool ahead);
void rw_declare_prefetch(struct rw *w, struct kbuild *b);
void rw_take_prefetched(struct rw *w, struct kbuild *b);
/* The vectors of a leaf that waits in registers, zeros where none is loaded. */
void rw_declare_vectors(struct rw *w, struct kbuild *b, node_id n);
/* `for v` with the column index and its guard; returns the innermost body. */
struct kbuild rw_vector_loop(struct rw *w, struct kbuild *b,
                             const struct kexpr *chunk, bool guard_row);

/* --- rowwise_divide.c --- */
/* Before the columns of a phase: the divisors that its quotients share. */
void rw_divisors(struct rw *w, struct kbuild *b);
void rw_forget_divisors(struct rw *w);

/* --- rowwise_reduce.c --- */
bool rw_is_inner(const struct rw *w, node_id n);
bool rw_is_outer(const struct rw *w, node_id n);
enum dtype rw_acc_dtype(const struct rw *w, node_id n);
const struct kexpr *rw_identity(const struct rw *w, node_id n);
const struct kexpr *rw_combine(const struct rw *w, node_id n,
                               const struct kexpr *x, const struct kexpr *y);
/* The element as the accumulator takes it. */
const struct kexpr *rw_contribution(const struct rw *w, node_id n);
int rw_phase_of(const struct rw *w, node_id reduction);
void rw_inner_declare(struct rw *w, struct kbuild *b, int phase);
/* x = x op (the same of the lane whose number differs in one bit) ... */
void rw_butterfly(struct rw *w, struct kbuild *b, node_id n, int lanes);
void rw_exchange(struct rw *w, struct kbuild *b, int phase);
void rw_group_barrier(struct rw *w, struct kbuild *b);
int64_t rw_smem_bytes(const struct rw *w);
/* Of these, what lives beside the rows, and what takes its place after them. */
int64_t rw_loop_bytes(const struct rw *w);
int64_t rw_after_bytes(const struct rw *w);
bool rw_has_exchange(const struct rw *w, int phase);
void rw_group_barrier(struct rw *w, struct kbuild *b);

/* --- rowwise_sums.c --- */
uint32_t rw_outer_count(const struct rw *w);
/* The sum waits in shared memory; bytes of such sums, behind all else. */
bool rw_is_shared_sum(const struct rw *w, node_id n);
int64_t rw_sums_base(const struct rw *w);
int64_t rw_sums_bytes(const struct rw *w);
/* Before the rows. */
void rw_outer_declare(struct rw *w, struct kbuild *b);
/* Sums of the phase in shared memory: before the elements of a vector, one
 * element, behind them. */
void rw_sums_load(struct rw *w, struct kbuild *b, int phase);
void rw_sums_add(struct rw *w, struct kbuild *b, node_id n);
void rw_sums_store(struct rw *w, struct kbuild *b, int phase);
/* Of the current element, out of shared memory. */
const struct kexpr *rw_sums_element(struct rw *w, struct kbuild *b, node_id n);
/* The partial rows of reduction n, [blocks along the rows, N], in the type of
 * its accumulator. */
const struct kexpr *rw_partials(struct rw *w, node_id n, bool writes);
void rw_outer_flush(struct rw *w, struct kbuild *b);

/* --- rowwise_ring.c --- */
/* After the buffers and results are known. */
void rw_ring_plan(struct rw *w);
int64_t rw_ring_end(const struct rw *w); /* byte of shared memory */
bool rw_in_ring(const struct rw *w, node_id n);
/* The vector at the current column, out of the row's slot. */
const struct kexpr *rw_ring_vector(const struct rw *w, node_id n);
/* Before the rows, the first of which are first, first + stride, ... */
void rw_ring_start(struct rw *w, struct kbuild *b, const struct kexpr *first,
                   const struct kexpr *stride);
/* At a row's start, after each of its phases (-1: before them), at its end. */
void rw_ring_take(struct rw *w, struct kbuild *b);
void rw_ring_refill(struct rw *w, struct kbuild *b, int phase);
void rw_ring_advance(struct rw *w, struct kbuild *b);

/* --- rowwise_long.c --- */
bool rw_is_float_sum(const struct rw *w, node_id n);
/* A sum that loses nothing to rounding: a variable, a term, its value. */
const struct kexpr *rw_sum_open(struct rw *w, struct kbuild *b, node_id n,
                                int count); /* > 1: an array of them */
void rw_sum_clear(struct rw *w, struct kbuild *b, node_id n,
                  const struct kexpr *sum);
void rw_sum_add(struct rw *w, struct kbuild *b, const struct kexpr *sum,
                const struct kexpr *x);
const struct kexpr *rw_sum_value(const struct rw *w, const struct kexpr *sum);
/* Around the loop over the chunks of a row, and at the ends of its body. */
void rw_chunks_open(struct rw *w, struct kbuild *b, int phase);
void rw_chunk_begin(struct rw *w, struct kbuild *b, int phase);
void rw_chunk_end(struct rw *w, struct kbuild *b, int phase);
void rw_chunks_close(struct rw *w, struct kbuild *b, int phase);
/* The same for column sums over chunks of rows; the loop and its inner one. */
bool rw_columns_are_long(const struct rw *w);
int64_t rw_columns_bytes(const struct rw *w); /* of shared memory, a block */
void rw_columns_open(struct rw *w, struct kbuild *b, const struct kexpr *first,
                     const struct kexpr *stride);
struct kbuild rw_columns_chunk(struct rw *w, struct kbuild *b,
                               const struct kexpr *first,
                               const struct kexpr *stride,
                               struct kbuild *ret_rows);
void rw_columns_carry(struct rw *w, struct kbuild *b);
void rw_columns_close(struct rw *w, struct kbuild *b);

/* --- rowwise_split.c --- */
/* The loop over the chunks of a row that this block reads. */
struct kbuild rw_chunk_loop(struct rw *w, struct kbuild *b);
/* The parts of the row that the blocks have reduced become one, in the block
 * that comes last: returns where that block goes on. */
struct kbuild rw_split_meet(struct rw *w, struct kbuild *b);

/* --- rowwise_finish.c --- */
/* In the row kernel itself. */
void rw_finish_here(struct rw *w, struct kbuild *b);
void rw_finish_kernel(struct rw *w, struct lowered_variant *out);
/* At the end of the row kernel, by its own blocks: does the plan say so, the
 * code, and bytes of shared memory. */
bool rw_finishes_inside(const struct rw *w);
void rw_finish_inside(struct rw *w, struct kbuild *b);
int64_t rw_fold_bytes(const struct rw *w);

#endif
