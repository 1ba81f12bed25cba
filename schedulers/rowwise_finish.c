/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_finish: which way the partial rows of column sums are folded.
 *
 *     finish = wait + fold
 *
 * wait is until the last partial row is seen by who folds: the start of a
 * second kernel, the barrier of the grid with one arrival of each block after
 * the other on its word, or the arrivals alone. fold is the writing of the
 * partial rows by all, and their reading by as many multiprocessors as take
 * part. A second kernel has a price that hardly depends on the problem; inside
 * the row kernel the arrivals and the reading grow with the blocks. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "schedulers/cost.h"
#include "support/arena.h"

enum {
    KERNEL_START_NS = 500, /* more than with an early start */
    ARRIVAL_NS = 4,        /* of one block, where those on one word queue */
    PART_BYTES = 8,        /* of a row that blocks share */
    /* A second kernel with an early start was never more than 0.3 us behind on
     * an H200, and with many rows up to 2 us ahead: blocks fold inside only
     * where rows are few, for the sake of one launch. */
    FEW_ROWS = 1024,
};

/* One block that folds alone: layer norm backward took 14.5 us more for 1.1 MB
 * of partial rows, 58 us more for 4.3 MB, 74 bytes a nanosecond. */
static const double FOLD_REACH = 1.5; /* times its share of L2's rate */

static double
tiles_of(const struct kernel_plan *k, int64_t n)
{
    int64_t span = k->key[PK_THREADS_PER_ROW] * k->key[PK_VECTOR] *
                   k->key[PK_VECTORS_PER_THREAD];
    int64_t tiles = (n - 1) / span + 1;

    return k->key[PK_COLUMN_TILES] ? (double)tiles : 1;
}

/* Outer accumulator bytes of one column. */
static double
column_bytes(const struct facts *f)
{
    double bytes = 0;

    for (uint32_t i = 0; i < f->n_reductions; i++) {
        enum dtype t = graph_node(f->g, f->reductions[i])->dtype;

        if (facts_is_outer(f, f->reductions[i]))
            bytes += dtype_info[dtype_accumulator(t)].bytes;
    }
    return bytes;
}

/* Time to read bytes that so many blocks share out. */
static double
reading(const struct device *dev, double bytes, double blocks)
{
    double share = MIN(blocks * FOLD_REACH / dev->sms, 1.0);

    return bytes / (dev->l2_bytes_per_ns * share);
}

void
row_finish_cost(const struct problem *p, const struct kernel_plan *k, int64_t n,
                struct plan_cost *c)
{
    double rows = (double)k->key[PK_GRID_ROWS], tiles = tiles_of(k, n);
    double blocks = rows * tiles * row_cluster(k);
    double bytes = column_bytes(p->f) * rows * (double)n, writing;

    if (row_is_split(k)) {
        tiles = (double)MAX(p->m, 1);
        bytes = PART_BYTES * rows * tiles;
    }
    writing = bytes / p->dev->l2_bytes_per_ns;

    switch ((enum finish)k->key[PK_FINISH]) {
    case FINISH_NONE:
        break;
    case FINISH_KERNEL:
        c->finish_wait_ns = p->dev->finish_ns + KERNEL_START_NS;
        c->finish_fold_ns = 2 * writing;
        break;
    case FINISH_PDL_KERNEL:
        c->finish_wait_ns = p->dev->finish_ns;
        c->finish_fold_ns = 2 * writing;
        break;
    case FINISH_GRID:
        c->finish_wait_ns = p->dev->barrier_ns + ARRIVAL_NS * blocks;
        c->finish_fold_ns =
            writing + L2_LATENCY_NS + reading(p->dev, bytes, blocks);
        break;
    case FINISH_LAST_BLOCK:
        c->finish_wait_ns =
            2 * L2_LATENCY_NS + ARRIVAL_NS * rows * row_cluster(k);
        c->finish_fold_ns =
            writing + L2_LATENCY_NS + reading(p->dev, bytes, tiles);
        break;
    }
    c->finish_ns = c->finish_wait_ns + c->finish_fold_ns;
}

bool
row_folds_inside(const struct kernel_plan *k)
{
    return k->key[PK_FINISH] == FINISH_GRID ||
           k->key[PK_FINISH] == FINISH_LAST_BLOCK;
}

const char *
row_finish_refuse(const struct problem *p, const struct kernel_plan *k,
                  int blocks_per_sm)
{
    int64_t finish = k->key[PK_FINISH], n = p->n_static ? p->n : p->n_max;
    bool outer = row_outer_count(p->f) > 0;
    double blocks, room = (double)row_usable_sms(p, k) * blocks_per_sm;

    if (outer && finish == FINISH_NONE &&
        (k->key[PK_GRID_ROWS] != 1 ||
         k->key[PK_THREADS] != k->key[PK_THREADS_PER_ROW]))
        return "finish none needs grid_rows 1 and one row group";
    if (!outer && finish != FINISH_NONE && !row_is_split(k))
        return "there are no column sums to finish";
    if (finish == FINISH_PDL_KERNEL && !p->dev->has_pdl)
        return "the device has no programmatic dependent launch";
    blocks =
        (double)k->key[PK_GRID_ROWS] * tiles_of(k, MAX(n, 1)) * row_cluster(k);
    if (finish == FINISH_GRID && blocks > room)
        return arena_printf(p->arena,
                            "finish grid needs all %.0f blocks at once, %.0f "
                            "fit the device",
                            blocks, room);
    return NULL;
}

void
row_offer_finishes(const struct problem *p, candidate_vec *out, int64_t n)
{
    static const struct {
        enum finish finish;
        const char *what;
    } inside[] = {{FINISH_GRID, "; all blocks fold"},
                  {FINISH_LAST_BLOCK, "; the last block folds"}};
    const struct candidate *from = out->v[out->n - 1];
    struct plan_cost usual = {0};

    if (p->m > FEW_ROWS)
        return;
    row_finish_cost(p, from->plan.kernels, MAX(n, 1), &usual);
    for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
        struct kernel_plan k = *from->plan.kernels;
        struct plan_cost cost = {0};
        struct candidate *c;

        k.key[PK_FINISH] = inside[i].finish;
        row_finish_cost(p, &k, MAX(n, 1), &cost);
        if (cost.finish_ns >= usual.finish_ns)
            continue;
        c = candidate_add(p, out, k.scheduler,
                          arena_join(p->arena, from->summary, inside[i].what));
        *c->plan.kernels = k;
        c->keep = from->keep;
    }
}
