/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, materialised whole; those over the same dimensions of the same
 * shape that do not wait for each other share one pass over their operands.
 *
 * The work is cut into units that do not depend on the number of threads: a run
 * of results with all their terms, or, where there are few results, one result
 * (or one tile of neighbouring results) with a part of its terms; the parts are
 * merged in order. */
#include "support/base.h"

#include "ir/eval_fold.h"

struct group {
    struct eval *e;
    struct fold folds[EVAL_GROUP];
    struct acc *accs[EVAL_GROUP]; /* when parts > 1: by part, then by result */
    uint32_t n;
    const int64_t *shape; /* of the operands */
    int rank;
    bool over[MAX_RANK], keep[MAX_RANK];
    int64_t n_over, n_keep; /* terms of a result, results */
    bool rows; /* one unit holds a tile of results along the last dim */
    int64_t parts, part; /* of the terms */
    int64_t tiles;       /* rows: of the last dimension */
    int64_t batch;       /* otherwise: results of a unit */
};

static const struct tile *
terms(const struct fold *f, struct worker *w, const struct coords *c)
{
    enum dtype from = graph_node(w->e->g, f->n->args[0])->dtype;
    const struct tile *t = tile_eval(w, f->n->args[0], coords_intern(w, c));

    if (num_rep(from) != num_rep(f->type))
        t = tile_convert(w, t, from, f->type, c->n);
    return t;
}

/* --- Units ---------------------------------------------------------------- */

static void
store_part(const struct group *g, uint32_t fold, int64_t part, int64_t result,
           const struct acc *a)
{
    if (g->parts == 1)
        fold_finish(&g->folds[fold], result, a);
    else
        g->accs[fold][part * g->n_keep + result] = *a;
}

/* One result from the terms [from, to). */
static void
one_result(const struct group *g, struct worker *w, int64_t result,
           int64_t from, int64_t to, struct acc *accs)
{
    for (int64_t q = from; q < to;) {
        struct coords c = {.rank = g->rank};
        int n = coords_chunk(g->shape, g->rank, g->over, q, to);
        worker_reset(w);
        coords_range(w, &c, g->shape, g->keep, result, 1);
        coords_range(w, &c, g->shape, g->over, q, n);
        for (uint32_t i = 0; i < g->n; i++)
            fold_absorb(&g->folds[i], &accs[i], 0, terms(&g->folds[i], w, &c),
                        n, q);
        q += n;
    }
}

static void
unit_results(const struct group *g, struct worker *w, int64_t unit)
{
    int64_t part = unit % g->parts, from = part * g->part;
    int64_t to = MIN(from + g->part, g->n_over);
    int64_t first = unit / g->parts * g->batch;
    struct acc accs[EVAL_GROUP];

    for (int64_t r = first; r < MIN(first + g->batch, g->n_keep); r++) {
        for (uint32_t i = 0; i < g->n; i++)
            accs[i] = fold_start(&g->folds[i]);
        one_result(g, w, r, from, to, accs);
        for (uint32_t i = 0; i < g->n; i++)
            store_part(g, i, part, r, &accs[i]);
    }
}

/* A tile of results along the last dimension, terms [from, to). */
static void
unit_rows(const struct group *g, struct worker *w, int64_t unit)
{
    int64_t part = unit % g->parts, from = part * g->part;
    int64_t to = MIN(from + g->part, g->n_over);
    int64_t last = g->shape[g->rank - 1];
    int64_t tile = unit / g->parts % g->tiles * TILE;
    int64_t first = unit / g->parts / g->tiles * last + tile;
    int n = (int)MIN(TILE, last - tile);
    struct acc accs[EVAL_GROUP][TILE];

    for (uint32_t i = 0; i < g->n; i++)
        for (int k = 0; k < n; k++)
            accs[i][k] = fold_start(&g->folds[i]);
    for (int64_t q = from; q < to; q++) {
        struct coords c = {.rank = g->rank};
        worker_reset(w);
        coords_range(w, &c, g->shape, g->over, q, 1);
        coords_range(w, &c, g->shape, g->keep, first, n);
        for (uint32_t i = 0; i < g->n; i++)
            fold_absorb(&g->folds[i], accs[i], 1, terms(&g->folds[i], w, &c), n,
                        q);
    }
    for (uint32_t i = 0; i < g->n; i++)
        for (int k = 0; k < n; k++)
            store_part(g, i, part, first + k, &accs[i][k]);
}

static void
unit_run(struct worker *w, void *data, int64_t unit)
{
    const struct group *g = data;

    if (g->rows)
        unit_rows(g, w, unit);
    else
        unit_results(g, w, unit);
}

/* At least 64 units where there is work for them, of at least 16 Ki terms. */
static int64_t
plan_units(struct group *g)
{
    int64_t outer, work;

    g->rows =
        g->rank > 0 && g->keep[g->rank - 1] && g->shape[g->rank - 1] >= 16;
    g->tiles = g->rows ? (g->shape[g->rank - 1] + TILE - 1) / TILE : 1;
    g->batch = g->rows ? 1 : MAX(1, 16384 / MAX(g->n_over, 1));
    outer = g->rows ? g->n_keep / g->shape[g->rank - 1] * g->tiles
                    : (g->n_keep + g->batch - 1) / g->batch;
    work = g->rows ? MAX(1, 16384 / MIN(TILE, g->shape[g->rank - 1])) : 16384;
    g->parts = MIN(64 / MAX(outer, 1) + 1, g->n_over / work);
    g->parts = outer >= 64 ? 1 : MAX(1, g->parts);
    g->part = (g->n_over + g->parts - 1) / g->parts;
    return outer * g->parts;
}

static void
merge_parts(const struct group *g, uint32_t fold)
{
    const struct acc *accs = g->accs[fold];

    for (int64_t r = 0; r < g->n_keep; r++) {
        struct acc a = accs[r];
        for (int64_t p = 1; p < g->parts; p++)
            fold_merge(&g->folds[fold], &a, &accs[p * g->n_keep + r]);
        fold_finish(&g->folds[fold], r, &a);
    }
}

static void
split_dims(struct group *g, const struct node *n)
{
    g->n_over = g->n_keep = 1;
    for (int d = 0; d < g->rank; d++) {
        g->over[d] = n->flag[d];
        g->keep[d] = !g->over[d];
        *(g->over[d] ? &g->n_over : &g->n_keep) *= g->shape[d];
    }
}

bool
eval_reduce_together(const struct eval *e, node_id a, node_id b)
{
    const struct node *x = graph_node(e->g, a), *y = graph_node(e->g, b);
    int rank = graph_node(e->g, x->args[0])->rank;

    if (rank != graph_node(e->g, y->args[0])->rank)
        return false;
    for (int d = 0; d < rank; d++)
        if (x->flag[d] != y->flag[d] ||
            e->shape[x->args[0]][d] != e->shape[y->args[0]][d])
            return false;
    return true;
}

void
eval_reduce(struct eval *e, const node_id *ids, uint32_t n)
{
    const struct node *first = graph_node(e->g, ids[0]);
    struct group g = {.e = e, .n = n};
    int64_t units;

    assert(n >= 1 && n <= EVAL_GROUP);
    assert(op_info[first->op].class == OC_REDUCE);
    g.shape = e->shape[first->args[0]];
    g.rank = graph_node(e->g, first->args[0])->rank;
    split_dims(&g, first);
    units = plan_units(&g);
    for (uint32_t i = 0; i < n; i++) {
        g.folds[i] = fold_open(e, ids[i], g.n_keep);
        if (g.parts > 1)
            g.accs[i] = NEW_ARRAY(e->arena, struct acc, g.parts * g.n_keep);
    }
    if (g.n_keep > 0)
        eval_parallel(e, units, unit_run, &g);
    for (uint32_t i = 0; i < n; i++) {
        if (g.parts > 1)
            merge_parts(&g, i);
        e->arrays[ids[i]] = g.folds[i].to;
    }
}
