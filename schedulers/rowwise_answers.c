/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to what waits between the phases of a row: the plain ones and the
 * cheapest cuts, each with every place where operands without a row axis may
 * wait. Answers that come out as the same plan are proposed once. */
#include "support/base.h"

#include "schedulers/rowwise_cut.h"

#include "support/arena.h"

/* Some operand without a row axis is read as vectors; `narrow`: in a storage
 * type. */
static bool
has_invariants(const struct facts *f, bool narrow)
{
    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (f->node[n].live && f->node[n].is_leaf && node_has_column(f, n) &&
            !node_has_rows(f, n) && row_is_packable(f, n) &&
            (!narrow || dtype_is_storage(graph_node(f->g, n)->dtype)))
            return true;
    return false;
}

static void
add_answer(const struct problem *p, row_answer_vec *v, enum row_keep how,
           enum row_invariants i, const bool *cut)
{
    struct row_answer r = {.how = how, .invariants = i, .cut = cut};

    VEC_PUSH(p->arena, v, r);
}

static void
add_cuts(const struct problem *p, row_answer_vec *v, enum row_invariants i)
{
    const bool *cut[MAX_CUTS];
    uint32_t n = row_cuts(p, i, cut);

    for (uint32_t k = 0; k < n; k++)
        add_answer(p, v, KEEP_CUT, i, cut[k]);
}

/* Every answer with the invariants in one place. */
static void
add_all(const struct problem *p, row_answer_vec *v, enum row_invariants i)
{
    add_answer(p, v, i == INVARIANTS_READ ? KEEP_RELOAD : KEEP_LEAVES, i, NULL);
    add_answer(p, v, KEEP_COMPUTED, i, NULL);
    add_answer(p, v, KEEP_NARROW, i, NULL);
    add_answer(p, v, KEEP_NOTHING, i, NULL);
    add_cuts(p, v, i);
}

static void
add_persistent(const struct problem *p, row_answer_vec *v)
{
    if (has_invariants(p->f, false)) {
        add_all(p, v, INVARIANTS_PACKED);
        add_all(p, v, INVARIANTS_SHARED);
    }
    if (has_invariants(p->f, true))
        add_all(p, v, INVARIANTS_F32);
    add_all(p, v, INVARIANTS_READ);
}

static void
add_one_step(const struct problem *p, row_answer_vec *v)
{
    for (int how = 0; how < KEEP_CUT; how++)
        if (how != KEEP_RELOAD)
            add_answer(p, v, (enum row_keep)how, INVARIANTS_READ, NULL);
    add_cuts(p, v, INVARIANTS_READ);
}

/* --- what they come out as ------------------------------------------------ */

static struct row_held *
held_by(const struct problem *p, const struct kernel_plan *k)
{
    struct row_held *h = NEW(p->arena, struct row_held);
    struct row_use u = row_use(p, k);

    h->buffers = k->buffers;
    h->n_buffers = k->n_buffers;
    h->keep = row_kind(&u);
    h->summary = arena_printf(
        p->arena, "%s%s%s", row_summary(&u, h->keep), row_sums_summary(p, k),
        k->key[PK_PREFETCH] ? "; next row in flight" : "");
    return h;
}

/* The buffers follow from the answer and two keys; the geometry has no part.
 * NULL when there are no values of that kind. */
static struct row_held *
hold(const struct problem *p, const struct row_answer *r, bool persistent,
     bool prefetch)
{
    struct kernel_plan k = {0};
    struct candidate c = {.plan = {.kernels = &k, .n_kernels = 1}};

    k.key[PK_PERSISTENT] = persistent;
    k.key[PK_PREFETCH] = prefetch;
    return row_keep_answer(p, &c, r) ? held_by(p, &k) : NULL;
}

static bool
has_buffer(const struct row_held *h, const struct buffer_plan *b)
{
    for (uint32_t i = 0; i < h->n_buffers; i++)
        if (h->buffers[i].node == b->node)
            return !memcmp(h->buffers[i].key, b->key, sizeof(b->key));
    return false;
}

/* The same buffers, in whatever order. */
static bool
is_same(const struct row_held *x, const struct row_held *y)
{
    if (x->n_buffers != y->n_buffers)
        return false;
    for (uint32_t i = 0; i < x->n_buffers; i++)
        if (!has_buffer(y, &x->buffers[i]))
            return false;
    return true;
}

static bool
is_held_before(const row_answer_vec *v, uint32_t n, bool prefetch,
               const struct row_held *h)
{
    for (uint32_t i = 0; i < n; i++)
        if (v->v[i].held[prefetch] && is_same(v->v[i].held[prefetch], h))
            return true;
    return false;
}

static bool
has_ring_before(const row_answer_vec *v, uint32_t n, bool stays,
                const struct row_held *ring)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct row_held *h = v->v[i].held[false];

        if (h && h->ring[stays] && is_same(h->ring[stays], ring))
            return true;
    }
    return false;
}

/* One with the next row in flight has no ring. */
static void
add_rings(const struct problem *p, const row_answer_vec *v, uint32_t n,
          bool persistent, struct row_held *h)
{
    for (int stays = 0; stays < 2; stays++) {
        struct row_held *ring = row_hold_ring(p, h, persistent, stays);

        if (ring)
            ring->repeated = has_ring_before(v, n, stays, ring);
        h->ring[stays] = ring;
    }
}

static void
hold_answers(const struct problem *p, row_answer_vec *v, bool persistent)
{
    for (uint32_t i = 0; i < v->n; i++) {
        for (int prefetch = 0; prefetch < 2; prefetch++) {
            struct row_held *h = hold(p, &v->v[i], persistent, prefetch);

            if (!h || is_held_before(v, i, prefetch, h))
                continue;
            if (persistent && !prefetch)
                add_rings(p, v, i, persistent, h);
            v->v[i].held[prefetch] = h;
        }
    }
}

row_answer_vec
row_answers(const struct problem *p, bool persistent, int shared_sums)
{
    row_answer_vec v = {0};

    if (persistent)
        add_persistent(p, &v);
    else
        add_one_step(p, &v);
    for (uint32_t i = 0; i < v.n; i++)
        v.v[i].shared_sums = shared_sums;
    hold_answers(p, &v, persistent);
    return v;
}

struct row_answer
row_answer(const struct problem *p, enum row_keep how, bool persistent)
{
    struct row_answer r = {.how = how};
    struct row_held *h;

    if (persistent && (how == KEEP_LEAVES || how == KEEP_NARROW))
        r.invariants = INVARIANTS_PACKED;
    h = hold(p, &r, persistent, false);
    if (h)
        add_rings(p, &(row_answer_vec){0}, 0, persistent, h);
    r.held[false] = h;
    return r;
}

struct candidate *
row_candidate(const struct problem *p, candidate_vec *out, enum scheduler_id id,
              const struct row_held *held)
{
    struct candidate *c = candidate_add(p, out, id, held->summary);

    c->plan.kernels->buffers = held->buffers;
    c->plan.kernels->n_buffers = held->n_buffers;
    c->keep = held->keep;
    return c;
}

const char *
row_kind(const struct row_use *u)
{
    const struct kernel_plan *k = u->k;
    const struct facts *f = u->p->f;
    bool inputs = false, computed = false;
    int first, last;

    for (uint32_t i = 0; i < k->n_buffers && !k->key[PK_LOOPED]; i++) {
        const struct buffer_plan *b = &k->buffers[i];

        if (b->key[BK_STORE] == STORE_NONE ||
            b->key[BK_STORE] == STORE_RELOAD || u->over_rows[b->node] ||
            !row_span(u, b->node, &first, &last) || first == last)
            continue;
        if (!f->node[b->node].is_leaf)
            computed = true;
        else if (node_has_rows(f, b->node))
            inputs = true;
    }
    if (inputs)
        return computed ? "mixed" : "projection";
    return computed ? "no_projection" : "nothing";
}
