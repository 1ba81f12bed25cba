/* SPDX-License-Identifier: Apache-2.0 */
/* Few long rows, or one: a full reduction. Enough blocks to fill the device
 * share each row, and the last of them puts their results together. A row that
 * is used after its reduction would have to wait for that block; such rows are
 * left to others. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "support/arena.h"

enum {
    MAX_ROWS = 65535, /* of a grid's second extent */
    MIN_THREADS = 256,
    MAX_THREADS = 512,
};

bool
row_is_split(const struct kernel_plan *k)
{
    return k->key[PK_LOOPED] && k->key[PK_COLUMN_TILES];
}

const char *
row_bad_split(const struct problem *p, const struct kernel_plan *k)
{
    if (!row_is_split(k))
        return NULL;
    if (p->f->levels != 1 || row_outer_count(p->f) > 0 || !row_reads_once(p))
        return "blocks share a row only when it is read once, for reductions "
               "within it";
    if (!p->m_static || p->m > MAX_ROWS)
        return "blocks share at most 65535 rows, and their number is known";
    if (k->key[PK_THREADS] != k->key[PK_THREADS_PER_ROW] ||
        k->key[PK_ROWS_PER_STEP] != 1 || k->key[PK_PERSISTENT])
        return "a block that shares a row has all its threads in one step of "
               "it";
    if (k->key[PK_FINISH] != FINISH_LAST_BLOCK || k->key[PK_GRID_ROWS] < 1)
        return "blocks that share a row need finish last_block, and grid_rows "
               "of them";
    return NULL;
}

static void
add(const struct problem *p, const struct row_geometry *g, candidate_vec *out)
{
    struct candidate *c = candidate_add(p, out, SCHED_REDUCTION, "");

    row_set(c->plan.kernels, g, ANY_EXTENT);
    c->plan.kernels->key[PK_FINISH] = FINISH_LAST_BLOCK;
    c->summary = "blocks share a row; the last puts it together";
}

void
row_propose_split(const struct problem *p, const struct slot_shape *s,
                  candidate_vec *out)
{
    struct row_geometry g = {
        .vector = s->vector, .looped = true, .tiles = true};
    int64_t rows = MAX(p->m, 1), sms = p->dev->sms, span;

    if (!p->m_static || rows >= sms || p->f->levels != 1)
        return;
    for (g.threads = MIN_THREADS; g.threads <= MAX_THREADS; g.threads *= 2)
        for (g.vectors = 1; g.vectors <= 4; g.vectors *= 2)
            for (g.blocks_per_sm = 1; g.blocks_per_sm <= 4;
                 g.blocks_per_sm *= 2) {
                g.threads_per_row = g.threads;
                span = (int64_t)g.threads * g.vector * g.vectors;
                g.grid_rows = (int)((sms * g.blocks_per_sm + rows - 1) / rows);
                if (p->n_static)
                    g.grid_rows =
                        (int)MIN(g.grid_rows, MAX((p->n + span - 1) / span, 1));
                add(p, &g, out);
            }
}
