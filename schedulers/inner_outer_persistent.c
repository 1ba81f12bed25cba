/* SPDX-License-Identifier: Apache-2.0 */
/* inner_outer_persistent: rows are normalised and columns summed in one pass.
 *
 * Layer-norm backward and its kin. A persistent grid walks over the rows,
 * blocks interleaved. A thread owns the same columns of every row: the sums
 * over rows are f32 registers, or wait in shared memory where registers don't
 * suffice; operands that don't depend on the row (the weight) are loaded once
 * and stay. Between the reductions of a row and their
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
    FEW_ELEMENTS = 16, /* whose sums find registers */
    MOST_ELEMENTS = 128,
    MOST_VECTORS = 32, /* of each of which the code has a copy */
    SHORT_ROW = 8192,  /* columns that registers hold */
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
    const struct row_geometry *g, const struct row_held *held,
    candidate_vec *out)
{
    struct candidate *c;
    uint32_t which = out->n;

    if (!held)
        return;
    c = row_candidate(p, out, SCHED_INNER_OUTER_PERSISTENT, held);
    row_set(c->plan.kernels, g, s->bound);
    c->plan.kernels->key[PK_FINISH] =
        p->dev->has_pdl ? FINISH_PDL_KERNEL : FINISH_KERNEL;
    c->summary = arena_join(p->arena, c->summary, row_cluster_summary(p, g));
    row_offer_finishes(p, out, p->n_static ? p->n : s->n);
    if (!g->prefetch)
        row_propose_rings(p, s, held, which, out);
}

/* What threads hold: `vectors` vectors of each row, `blocks` blocks on a
 * multiprocessor. */
struct share {
    int vector, vectors, blocks;
};

static void
add_geometry(const struct problem *p, const struct slot_shape *s,
             const row_answer_vec *answers, const struct share *h,
             candidate_vec *out)
{
    int vector = h->vector, vectors = h->vectors, blocks = h->blocks;
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
        const struct row_answer *r = &answers->v[i];

        g.prefetch = false;
        add(p, s, &g, r->held[false], out);
        g.prefetch = true;
        if (r->how != KEEP_NOTHING)
            add(p, s, &g, r->held[true], out);
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
    add(p, s, &g, row_answer(p, KEEP_LEAVES, true).held[false], out);
}

static void
propose_usual(const struct problem *p, const struct slot_shape *s,
              const row_answer_vec *answers, candidate_vec *out)
{
    int half = s->vector / 2;

    for (int v = 1; v * s->vector <= MAX_ELEMENTS; v++)
        for (int blocks = 1; blocks <= 2; blocks++)
            add_geometry(p, s, answers, &(struct share){s->vector, v, blocks},
                         out);
    /* Half vectors where they give a number of elements between. */
    for (int v = 3; half >= 4 && v * half <= MAX_ELEMENTS; v += 2)
        add_geometry(p, s, answers, &(struct share){half, v, 1}, out);
}

/* --- column sums in shared memory ----------------------------------------- */

static bool
any_fits(const struct problem *p, const struct slot_shape *s,
         const candidate_vec *v, uint32_t from)
{
    struct plan_cost c;

    for (uint32_t i = from; i < v->n; i++) {
        c = (struct plan_cost){0};
        if (!rowwise_cost(p, v->v[i]->plan.kernels, s->n, &c))
            return true;
    }
    return false;
}

/* Rows for which a thread has few registers left: more elements, and of them so
 * many sums in shared memory; 0: all of them in registers. */
static void
propose_crowded(const struct problem *p, const struct slot_shape *s, int shared,
                candidate_vec *out)
{
    int half = s->vector / 2, least = shared ? FEW_ELEMENTS : MAX_ELEMENTS + 1;
    int most = MIN(MOST_ELEMENTS, MOST_VECTORS * s->vector);
    row_answer_vec answers = row_answers(p, true, shared);
    struct share h = {s->vector, 1, 1};

    for (h.vectors = 1; h.vectors * h.vector <= most; h.vectors++)
        if (h.vectors * h.vector >= least)
            add_geometry(p, s, &answers, &h, out);
    if (half < 4)
        return;
    h.vector = half;
    for (h.vectors = 3; h.vectors * half <= most; h.vectors += 2)
        if (h.vectors * half >= least)
            add_geometry(p, s, &answers, &h, out);
}

/* Column sums in shared memory have not been measured. Where long rows have
 * clusters to go to, whose time is known, they are looked for only if no plan
 * has its sums in registers; where a block is all that there is, by the model.
 */
static bool
competes(const struct device *dev)
{
    return !dev->measured && !dev->has_cluster;
}

static const char *
note(const struct problem *p)
{
    const char *cuts = row_cuts_refuse(p);
    const char *sums = "column sums in shared memory, which are not measured, "
                       "are looked for where no plan has them in registers";

    if (competes(p->dev) || !row_sums_most(p) ||
        (p->n_static && p->n <= SHORT_ROW))
        return cuts;
    return cuts ? arena_printf(p->arena, "%s; %s", cuts, sums) : sums;
}

static void
propose(const struct problem *p, const struct slot_shape *s, candidate_vec *out)
{
    struct slot_shape shape = *s;
    const uint32_t before = out->n;
    row_answer_vec answers;

    if (p->n_static)
        shape.bound = MAX(p->n, 1);
    if (shape.bound != ANY_EXTENT) {
        answers = row_answers(p, true, 0);
        propose_usual(p, &shape, &answers, out);
        if (shape.bound > SHORT_ROW &&
            (competes(p->dev) || !any_fits(p, &shape, out, before)))
            for (int k = 0; k <= row_sums_most(p); k++)
                propose_crowded(p, &shape, k, out);
    }
    if (out->n == before)
        add_too_long(p, &shape, out);
}

const struct scheduler sched_inner_outer_persistent = {
    .id = SCHED_INNER_OUTER_PERSISTENT,
    .refuse = refuse,
    .note = note,
    .propose = propose,
    .cost = rowwise_cost,
    .waits = rowwise_waits,
};
