/* SPDX-License-Identifier: Apache-2.0 */
/* reduction: rows or columns are summed, and what was summed is not used again.
 *
 * Row reductions read each row once, whole when it fits a group of threads,
 * else in chunks, and few long rows are shared by blocks. Column sums cut the
 * columns into tiles and the rows into blocks: a thread keeps the sums of its
 * columns in registers, its block folds the row groups, and a second kernel
 * folds the blocks' partial rows in fixed order. Several rows a step keep
 * enough loads in flight. Where there are few rows a thread takes all of them,
 * and there is nothing to fold. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "schedulers/strategies.h"
#include "support/arena.h"

enum {
    THREADS = 256,
    WARP = 32,
    MIN_PARTIALS = 16,
    MAX_PARTIALS = 4096,
    FEW_ROWS = 64
};

static const char *
refuse(const struct problem *p)
{
    const char *why = rowwise_refuse(p);

    if (why)
        return why;
    if (p->f->kind == GK_INNER_OUTER)
        return "rows and columns are reduced in one pass";
    if (p->f->kind == GK_INNER && !row_reads_once(p))
        return "a row is used after its reduction";
    return NULL;
}

/* Enough blocks along the rows to fill the device, beside the tiles. */
static int
grid_rows(const struct problem *p, const struct row_geometry *g, int64_t n)
{
    int64_t span = (int64_t)g->threads_per_row * g->vector * g->vectors;
    int64_t tiles = MAX((n + span - 1) / span, 1);
    int64_t per_block = (int64_t)(g->threads / g->threads_per_row) * g->steps;
    int64_t slots = (int64_t)p->dev->sms * g->blocks_per_sm;
    int64_t rows = (slots + tiles - 1) / tiles;

    /* Fewer columns than were counted with mean fewer tiles. */
    rows = MIN(MAX(rows, p->n_static ? 1 : MIN_PARTIALS), MAX_PARTIALS);
    if (p->m_static)
        rows = MIN(rows, (p->m + per_block - 1) / per_block);
    return (int)MAX(rows, 1);
}

static void
add_columns(const struct problem *p, const struct slot_shape *s, int steps,
            int blocks, candidate_vec *out)
{
    int64_t n = p->n_static ? p->n : s->n;
    struct row_geometry g = {.threads = THREADS,
                             .vector = s->vector,
                             .vectors = 1,
                             .steps = steps,
                             .blocks_per_sm = blocks,
                             .persistent = true,
                             .tiles = true};
    struct candidate *c;

    g.threads_per_row =
        MIN(row_threads((n + s->vector - 1) / s->vector, 1), WARP);
    g.grid_rows = grid_rows(p, &g, n);
    c = candidate_add(p, out, SCHED_REDUCTION, "");
    row_set(c->plan.kernels, &g, ANY_EXTENT);
    c->plan.kernels->key[PK_FINISH] =
        p->dev->has_pdl ? FINISH_PDL_KERNEL : FINISH_KERNEL;
    row_keep(p, c, KEEP_LEAVES, true);
    c->summary = arena_printf(p->arena, "column tiles, %d row%s a step", steps,
                              steps > 1 ? "s" : "");
    row_offer_finishes(p, out, n);
}

/* A thread's loop over all rows, a tile of columns a block. */
static void
add_short_columns(const struct problem *p, const struct slot_shape *s,
                  int threads, int steps, candidate_vec *out)
{
    struct row_geometry g = {.threads = threads,
                             .threads_per_row = threads,
                             .vector = s->vector,
                             .vectors = 1,
                             .steps = steps,
                             .blocks_per_sm = 2,
                             .grid_rows = 1,
                             .persistent = true,
                             .tiles = true};
    struct candidate *c = candidate_add(p, out, SCHED_REDUCTION, "");

    row_set(c->plan.kernels, &g, ANY_EXTENT);
    row_keep(p, c, KEEP_LEAVES, true);
    c->summary = arena_printf(p->arena, "all rows a thread, %d a step", steps);
}

static void
propose(const struct problem *p, const struct slot_shape *s, candidate_vec *out)
{
    if (p->f->kind == GK_INNER) {
        row_propose_inner(p, s, out);
        row_propose_split(p, s, out);
        return;
    }
    if (p->m_static && p->m <= FEW_ROWS) {
        for (int steps = 1; steps <= 8; steps *= 2)
            for (int threads = WARP; threads <= THREADS; threads *= 2)
                add_short_columns(p, s, threads, steps, out);
        return;
    }
    for (int steps = 1; steps <= 8; steps *= 2)
        for (int blocks = 2; blocks <= 8; blocks *= 2)
            add_columns(p, s, steps, blocks, out);
}

const struct scheduler sched_reduction = {.id = SCHED_REDUCTION,
                                          .refuse = refuse,
                                          .propose = propose,
                                          .cost = rowwise_cost,
                                          .waits = rowwise_waits};
