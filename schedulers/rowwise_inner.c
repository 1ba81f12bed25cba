/* SPDX-License-Identifier: Apache-2.0 */
/* Geometries of kernels without column sums: one step a block, by the number of
 * vectors a thread holds. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "support/arena.h"

enum {
    MIN_THREADS = 128,
    MAX_THREADS_PER_ROW = 1024,
    LOOP_THREADS = 512,
    MAX_ELEMENTS = 64,
    MIN_SHARE_THREADS = 256, /* of a block of a cluster */
    MIN_SHARE = 8, /* elements of a thread, and what their number divides */
    MIN_RING_ELEMENTS = 16,
    MOST_RING_ELEMENTS = 32,
    SHORT_ROW = 8192, /* of a ring: several blocks hold them as well */
    LONG_ROW = 16384, /* longer ones are a burden to registers */
    SLOT_VECTORS = 16,
    ENOUGH_IN_FLIGHT = 96 * 1024,
};

/* True when no phase reads what an earlier one has read, and none after the
 * first needs the columns. */
bool
row_reads_once(const struct problem *p)
{
    struct row_use u = row_use(p, NULL);

    for (int phase = 1; phase < u.phases; phase++)
        for (node_id n = 0; n < p->f->g->n_nodes; n++)
            if (row_needs(&u, phase, n))
                return false;
    return true;
}

/* As many blocks as registers allow with some slack, but not more than it takes
 * to have enough bytes in flight: the cap they imply leaves room to the
 * assembler. */
static int
resident_blocks(const struct problem *p, const struct kernel_plan *k, int64_t n)
{
    struct plan_cost c = {0};
    int threads = (int)k->key[PK_THREADS], blocks, enough;

    rowwise_cost(p, k, n, &c);
    blocks = device_occupancy(p->dev, threads, c.regs + 2, c.smem);
    if (c.bytes_per_step > 0) {
        enough = 1 + (int)(ENOUGH_IN_FLIGHT / c.bytes_per_step);
        blocks = MIN(blocks, MAX(enough, 2));
    }
    return MAX(blocks, 1);
}

static struct kernel_plan *
add_as_it_is(const struct problem *p, const struct slot_shape *s,
             const struct row_geometry *g, const struct row_held *held,
             candidate_vec *out)
{
    enum scheduler_id id =
        row_reads_once(p) ? SCHED_REDUCTION : SCHED_INNER_PERSISTENT;
    struct candidate *c = row_candidate(p, out, id, held);

    row_set(c->plan.kernels, g, g->looped ? ANY_EXTENT : s->bound);
    c->summary = arena_join(p->arena, c->summary, row_cluster_summary(p, g));
    return c->plan.kernels;
}

/* With as many blocks on a multiprocessor as it takes. */
static void
add(const struct problem *p, const struct slot_shape *s,
    const struct row_geometry *g, const struct row_held *held,
    candidate_vec *out)
{
    struct kernel_plan *k;

    if (!held)
        return;
    k = add_as_it_is(p, s, g, held, out);
    k->key[PK_BLOCKS_PER_SM] = resident_blocks(p, k, s->n);
}

/* The row in shared memory, where each phase reads it again. Of two blocks one
 * loads while the other computes; alone it would wait for its row. */
static void
add_slot(const struct problem *p, const struct slot_shape *s,
         const struct row_geometry *g, candidate_vec *out)
{
    const struct row_held *held = row_answer(p, KEEP_NOTHING, false).held[0];
    struct kernel_plan *k;
    uint32_t at = out->n;

    add(p, s, g, held, out);
    if (row_propose_slot(p, s, held, at, out)) {
        k = out->v[at + 1]->plan.kernels;
        k->key[PK_BLOCKS_PER_SM] = resident_blocks(p, k, s->n);
        out->n -= k->key[PK_BLOCKS_PER_SM] < 2;
    }
    out->v[at] = out->v[--out->n];
}

static void
add_held(const struct problem *p, const struct slot_shape *s,
         const row_answer_vec *answers, int vectors, candidate_vec *out)
{
    struct row_geometry g = {.vector = s->vector, .vectors = vectors};
    int64_t n = s->bound == ANY_EXTENT ? p->n : s->bound;
    int groups = 1;

    g.threads_per_row = row_threads((n + s->vector - 1) / s->vector, vectors);
    if (g.threads_per_row > MAX_THREADS_PER_ROW)
        return;
    while (g.threads_per_row * groups < MIN_THREADS)
        groups *= 2;
    g.threads = g.threads_per_row * groups;
    if (!row_reads_once(p) && n > LONG_ROW)
        add_slot(p, s, &g, out);
    if (vectors * s->vector > MAX_ELEMENTS || vectors == SLOT_VECTORS)
        return;
    for (uint32_t i = 0; i < answers->n; i++)
        if (answers->v[i].how == KEEP_LEAVES || !row_reads_once(p))
            add(p, s, &g, answers->v[i].held[0], out);
}

/* Rows that a cluster shares: a cluster a row, its blocks of some warps each.
 */
static void
add_shared(const struct problem *p, const struct slot_shape *s,
           const row_answer_vec *answers, const int size[2], candidate_vec *out)
{
    struct row_geometry g = {.vector = s->vector, .vectors = size[0]};
    int64_t n = s->bound == ANY_EXTENT ? p->n : s->bound;

    if (!row_fit_cluster(p, (n + s->vector - 1) / s->vector, size[1], &g) ||
        g.cluster == 1)
        return;
    g.threads = g.threads_per_row;
    for (uint32_t i = 0; i < answers->n; i++)
        if (answers->v[i].how == KEEP_LEAVES || !row_reads_once(p))
            add(p, s, &g, answers->v[i].held[0], out);
}

/* Blocks of a ring, all that a multiprocessor has at once. */
static const struct ring_blocks {
    int threads, blocks;
} ring_blocks[] = {{256, 2}, {256, 3}, {256, 4}, {512, 1}, {512, 2}, {1024, 1}};

static bool
reads_invariants(const row_answer_vec *answers, const struct row_answer *r)
{
    for (uint32_t i = 0; i < answers->n; i++)
        if (answers->v[i].invariants != INVARIANTS_READ)
            return r->invariants == INVARIANTS_READ;
    return false;
}

/* Long rows that a ring brings to a persistent grid, in clusters where a block
 * is too small for one: while a row is reduced the next one arrives. What every
 * row needs waits over the rows: read again it would double the traffic from
 * L2. */
static void
add_ringed(const struct problem *p, const struct slot_shape *s,
           const row_answer_vec *answers, const struct ring_blocks *at,
           int vectors, candidate_vec *out)
{
    struct row_geometry g = {.vector = s->vector,
                             .vectors = vectors,
                             .blocks_per_sm = at->blocks,
                             .persistent = true};
    int64_t n = s->bound == ANY_EXTENT ? p->n : s->bound;
    uint32_t base;

    if (!row_fit_cluster(p, (n + s->vector - 1) / s->vector, at->threads, &g))
        return;
    g.threads = g.threads_per_row;
    g.grid_rows = row_resident_units(p, &g);
    if (p->m_static)
        g.grid_rows = (int)MAX(MIN(g.grid_rows, p->m), 1);
    for (uint32_t i = 0; i < answers->n; i++) {
        const struct row_answer *r = &answers->v[i];

        if (!r->held[0] || reads_invariants(answers, r) ||
            (r->how != KEEP_LEAVES && r->how != KEEP_COMPUTED &&
             r->how != KEEP_CUT))
            continue;
        base = out->n;
        add_as_it_is(p, s, &g, r->held[0], out);
        row_propose_rings(p, s, r->held[0], base, out);
        out->v[base] = out->v[--out->n];
    }
}

static void
propose_ringed(const struct problem *p, const struct slot_shape *s,
               candidate_vec *out)
{
    int64_t n = s->bound == ANY_EXTENT ? p->n : s->bound;
    row_answer_vec answers;

    if (n <= SHORT_ROW || row_reads_once(p) || !p->dev->has_bulk_copy)
        return;
    answers = row_answers(p, true, 0);
    for (size_t i = 0; i < ARRAY_LEN(ring_blocks); i++)
        for (int v = 1; v * s->vector <= MOST_RING_ELEMENTS; v++)
            if (v * s->vector >= MIN_RING_ELEMENTS &&
                v * s->vector % MIN_SHARE == 0)
                add_ringed(p, s, &answers, &ring_blocks[i], v, out);
}

static void
add_looped(const struct problem *p, const struct slot_shape *s, int threads,
           candidate_vec *out)
{
    bool once = row_reads_once(p);
    struct row_held held = {.summary =
                                once ? "looped over the row"
                                     : "looped: each phase reads the row again",
                            .keep = "nothing"};
    struct row_geometry g = {.vector = s->vector, .looped = true};

    g.threads = g.threads_per_row = threads;
    for (g.vectors = 1; g.vectors <= 4; g.vectors *= 2)
        if (g.vectors * s->vector <= 32)
            add(p, s, &g, &held, out);
}

void
row_propose_inner(const struct problem *p, const struct slot_shape *s,
                  candidate_vec *out)
{
    bool any = s->bound == ANY_EXTENT && !p->n_static;
    row_answer_vec answers = {0};

    if (!any)
        answers = row_answers(p, false, 0);
    for (int v = 1; !any && v <= 8; v++)
        add_held(p, s, &answers, v, out);
    if (!any)
        add_held(p, s, &answers, SLOT_VECTORS, out);
    for (int t = MIN_SHARE_THREADS; !any && t <= LOOP_THREADS; t *= 2)
        for (int v = 1; v * s->vector <= MAX_ELEMENTS; v++)
            if (v * s->vector >= MIN_SHARE && v * s->vector % MIN_SHARE == 0)
                add_shared(p, s, &answers, (int[]){v, t}, out);
    if (!any)
        propose_ringed(p, s, out);
    for (int t = MIN_THREADS; t <= LOOP_THREADS; t *= 2)
        add_looped(p, s, t, out);
}
