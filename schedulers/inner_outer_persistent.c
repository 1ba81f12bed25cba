/* SPDX-License-Identifier: Apache-2.0 */
/* inner_outer_persistent: rows are normalised and columns summed in one pass.
 *
 * Layer-norm backward and its kin. A persistent grid walks over the rows,
 * blocks interleaved. A thread owns the same columns of every row: the sums
 * over rows are f32 registers, operands that don't depend on the row (the
 * weight) are loaded once and stay. Between the reductions of a row and their
 * uses wait either the inputs, packed, or the values computed from them; the
 * next row's loads may be in flight meanwhile. About 512 threads of 16 elements
 * make a multiprocessor's share, 8192 columns; shorter rows put several row
 * groups into a block, longer ones are shared by the blocks of a cluster. Each
 * block writes one partial row, and a second kernel folds them in fixed order.
 */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "schedulers/rowwise_cut.h"
#include "schedulers/strategies.h"
#include "support/arena.h"

enum {
    SM_THREADS = 512,
    MAX_ELEMENTS = 32, /* a thread */
    WARP = 32,
    MAX_GROUPS = 15, /* of several warps: named barriers */
};

static const char *
refuse(const struct problem *p)
{
    const char *why = rowwise_refuse(p);

    if (why)
        return why;
    if (p->f->kind != GK_INNER_OUTER)
        return p->f->kind == GK_INNER ? "nothing is reduced over the rows"
                                      : "nothing is reduced within a row";
    return NULL;
}

static int
partials(const struct problem *p, const struct row_geometry *g)
{
    int64_t groups = g->threads / g->threads_per_row;
    int64_t rows = row_resident_units(p, g);

    if (p->m_static)
        rows = MIN(rows, (p->m + groups - 1) / groups);
    return (int)MAX(rows, 1);
}

static void
add(const struct problem *p, const struct slot_shape *s,
    const struct row_geometry *g, const struct row_answer *r,
    candidate_vec *out)
{
    struct candidate *c =
        candidate_add(p, out, SCHED_INNER_OUTER_PERSISTENT, "");
    struct kernel_plan *k = c->plan.kernels;
    uint32_t which = out->n - 1;

    row_set(k, g, s->bound);
    k->key[PK_FINISH] = p->dev->has_pdl ? FINISH_PDL_KERNEL : FINISH_KERNEL;
    if (r->skip[g->prefetch] || !row_keep_answer(p, c, r)) {
        out->n--;
        return;
    }
    c->summary = arena_printf(p->arena, "%s%s%s", row_summary(p, c),
                              g->prefetch ? "; next row in flight" : "",
                              row_cluster_summary(p, g));
    row_offer_finishes(p, out, p->n_static ? p->n : s->n);
    if (!g->prefetch)
        row_propose_rings(p, s, which, out);
}

static void
add_geometry(const struct problem *p, const struct slot_shape *s,
             const row_answer_vec *answers, const int size[3],
             candidate_vec *out)
{
    int vector = size[0], vectors = size[1], blocks = size[2];
    int64_t nv = (s->bound + vector - 1) / vector;
    struct row_geometry g = {.vector = vector,
                             .vectors = vectors,
                             .blocks_per_sm = blocks,
                             .persistent = true};
    int groups;

    if (!row_fit_cluster(p, nv, SM_THREADS / blocks, &g))
        return;
    groups = SM_THREADS / blocks / g.threads_per_row;
    if (g.threads_per_row > WARP)
        groups = MIN(groups, g.cluster > 1 ? 1 : MAX_GROUPS);
    g.threads = g.threads_per_row * groups;
    g.grid_rows = partials(p, &g);
    for (uint32_t i = 0; i < answers->n; i++) {
        g.prefetch = false;
        add(p, s, &g, &answers->v[i], out);
        g.prefetch = true;
        if (answers->v[i].how != KEEP_NOTHING)
            add(p, s, &g, &answers->v[i], out);
    }
}

/* Rows longer than all threads hold: one candidate, whose cost says so. */
static void
add_too_long(const struct problem *p, const struct slot_shape *s,
             candidate_vec *out)
{
    struct row_geometry g = {.threads = SM_THREADS,
                             .threads_per_row = SM_THREADS,
                             .vector = s->vector,
                             .vectors = MAX(MAX_ELEMENTS / s->vector, 1),
                             .blocks_per_sm = 1,
                             .persistent = true};

    g.grid_rows = partials(p, &g);
    add(p, s, &g, &(struct row_answer){.invariants = INVARIANTS_PACKED}, out);
}

static void
propose(const struct problem *p, const struct slot_shape *s, candidate_vec *out)
{
    struct slot_shape shape = *s;
    const uint32_t before = out->n;
    int half = s->vector / 2;
    row_answer_vec answers = {0};
    bool any;

    if (p->n_static)
        shape.bound = MAX(p->n, 1);
    any = shape.bound == ANY_EXTENT;
    if (!any)
        answers = row_answers(p, true);
    for (int v = 1; !any && v * shape.vector <= MAX_ELEMENTS; v++)
        for (int blocks = 1; blocks <= 2; blocks++)
            add_geometry(p, &shape, &answers, (int[]){s->vector, v, blocks},
                         out);
    /* Half vectors where they give a number of elements between. */
    for (int v = 3; !any && half >= 4 && v * half <= MAX_ELEMENTS; v += 2)
        add_geometry(p, &shape, &answers, (int[]){half, v, 1}, out);
    if (out->n == before)
        add_too_long(p, &shape, out);
}

const struct scheduler sched_inner_outer_persistent = {
    .id = SCHED_INNER_OUTER_PERSISTENT,
    .refuse = refuse,
    .note = row_cuts_refuse,
    .propose = propose,
    .cost = rowwise_cost,
    .waits = rowwise_waits,
};
