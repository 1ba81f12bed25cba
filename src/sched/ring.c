/* SPDX-License-Identifier: Apache-2.0 */
/* ring: which leaves arrive through it, where they stand, and what forbids it.
 */
#include "support/base.h"

#include "sched/ring.h"

#include "sched/scheduler.h"
#include "support/arena.h"

enum { WARP = 32, OVER_ROWS = 2, RING_WORD = 4 };

static int64_t
round_up(int64_t v, int64_t to)
{
    return (v + to - 1) / to * to;
}

static const struct buffer_plan *
buffer_of(const struct kernel_plan *k, node_id n)
{
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (k->buffers[i].node == n)
            return &k->buffers[i];
    return NULL;
}

/* Shared memory over all rows is not the ring's. */
static bool
is_slot_buffer(const struct buffer_plan *b)
{
    int64_t store = b->key[BK_STORE];

    return (store == STORE_RING || store == STORE_SHARED) &&
           b->key[BK_REUSE] != OVER_ROWS;
}

bool
ring_carries(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    const struct node_facts *nf = &f->node[n];
    const struct buffer_plan *b;
    int64_t store;

    if (k->key[PK_STAGES] == 0 || !nf->live || !nf->is_leaf)
        return false;
    if (!node_has_column(f, n))
        return true;
    b = buffer_of(k, n);
    store = b ? b->key[BK_STORE] : STORE_NONE;
    if (store == STORE_REGISTER_PACKED || store == STORE_REGISTER_F32)
        return b->key[BK_REUSE] != OVER_ROWS;
    return b && is_slot_buffer(b);
}

static bool
is_in_pieces(const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (k->buffers[i].key[BK_STORE] == STORE_SHARED &&
            is_slot_buffer(&k->buffers[i]))
            return true;
    return false;
}

static int64_t
room_for(const struct facts *f, const struct kernel_plan *k)
{
    const int64_t *key = k->key;
    int64_t vec = key[PK_VECTOR], n = key[PK_BOUND];
    int64_t span = key[PK_THREADS_PER_ROW] * vec * key[PK_VECTORS_PER_THREAD];

    if (f->column == NO_AXIS)
        return 1;
    if (!sym_is_int(f->axes[f->column].extent, &n) && n == 0)
        return span;
    return MIN(round_up(n, vec), span);
}

/* A value of the row: once a slot, or once a warp where each warp copies it for
 * itself. */
static int64_t
scalar_copies(const struct kernel_plan *k)
{
    return is_in_pieces(k) ? MAX(k->key[PK_THREADS_PER_ROW] / WARP, 1) : 1;
}

static int64_t
leaf_bytes(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    int64_t size = dtype_info[graph_node(f->g, n)->dtype].bytes;

    return size * (node_has_column(f, n) ? room_for(f, k) : scalar_copies(k));
}

/* Where the leaf stands, or, for one that isn't there, where a slot ends: rows
 * first, their values behind them. */
static int64_t
place(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    int64_t at = 0;

    for (int wide = 1; wide >= 0; wide--)
        for (uint32_t i = 0; i < f->n_leaves; i++) {
            node_id leaf = f->leaves[i];

            if (node_has_column(f, leaf) != wide || !ring_carries(f, k, leaf))
                continue;
            if (leaf == n)
                return at;
            at +=
                round_up(leaf_bytes(f, k, leaf), wide ? RING_LINE : RING_ALIGN);
        }
    return round_up(at, RING_LINE);
}

int64_t
ring_place(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    assert(ring_carries(f, k, n));
    return place(f, k, n);
}

void
ring_of(const struct facts *f, const struct kernel_plan *k, struct ring *ret)
{
    const int64_t *key = k->key;

    *ret = (struct ring){.stages = (int)key[PK_STAGES]};
    if (!ret->stages)
        return;
    ret->groups = (int)(key[PK_THREADS] / key[PK_THREADS_PER_ROW]);
    ret->pieces = is_in_pieces(k);
    ret->columns = room_for(f, k);
    ret->slot_bytes = place(f, k, f->g->n_nodes);
    ret->bytes = ret->slot_bytes * ret->stages * ret->groups;
    if (!ret->pieces)
        ret->barrier_bytes =
            (int64_t)MBARRIER_BYTES * ret->stages * ret->groups;
    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];

        if (!ring_carries(f, k, n))
            continue;
        if (node_has_column(f, n))
            ret->copies += (int)(key[PK_VECTORS_PER_THREAD] * key[PK_VECTOR] *
                                 dtype_info[graph_node(f->g, n)->dtype].bytes /
                                 RING_PIECE);
        else
            ret->has_scalars = true;
    }
}

int
ring_vector(const struct facts *f, const struct kernel_plan *k)
{
    int v = 1;

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];

        if (ring_carries(f, k, n) && node_has_column(f, n))
            v = MAX(v, RING_PIECE /
                           (int)dtype_info[graph_node(f->g, n)->dtype].bytes);
    }
    return v;
}

/* --- limits --------------------------------------------------------------- */

/* A piece or a scalar of the leaf is too small. */
static const char *
size_wrong(struct arena *a, const struct facts *f, const struct kernel_plan *k,
           node_id n)
{
    int64_t size = dtype_info[graph_node(f->g, n)->dtype].bytes;
    int64_t bytes = size * k->key[PK_VECTOR];

    if (!node_has_column(f, n) && size < RING_SCALAR)
        return arena_printf(a,
                            "a ring copies %d bytes at least, a value of '%s' "
                            "has %" PRId64,
                            RING_SCALAR, plan_node_name(a, f->g, n), size);
    if (!node_has_column(f, n))
        return NULL;
    if (bytes % (is_in_pieces(k) ? RING_PIECE : RING_WORD))
        return arena_printf(a,
                            "a thread moves %d bytes at least out of a slot, "
                            "a vector of '%s' has %" PRId64,
                            is_in_pieces(k) ? RING_PIECE : RING_WORD,
                            plan_node_name(a, f->g, n), bytes);
    if (k->key[PK_CLUSTER] > 1 && bytes % RING_PIECE)
        return arena_printf(a,
                            "a block's part of a row of '%s' begins between "
                            "two pieces of %d bytes",
                            plan_node_name(a, f->g, n), RING_PIECE);
    return NULL;
}

static const char *
leaf_wrong(struct arena *a, const struct facts *f, const struct kernel_plan *k,
           node_id n)
{
    const struct buffer_plan *b = buffer_of(k, n);
    const char *why;

    if (node_has_column(f, n) &&
        !access_is_vector(f, &f->accesses[f->node[n].access]))
        return arena_printf(a, "a ring copies rows, and '%s' isn't contiguous",
                            plan_node_name(a, f->g, n));
    why = size_wrong(a, f, k, n);
    if (!why && node_has_column(f, n) &&
        is_in_pieces(k) != (b->key[BK_STORE] == STORE_SHARED))
        why = arena_printf(a,
                           "a ring is filled in bulk or, with store shared, "
                           "by pieces: '%s' waits as neither",
                           plan_node_name(a, f->g, n));
    return why;
}

static const char *
shape_wrong(const int64_t *key)
{
    if (key[PK_LOOPED] || key[PK_COLUMN_TILES])
        return "a ring takes whole rows, neither looped nor in tiles";
    if (key[PK_PREFETCH])
        return "a ring and prefetch exclude each other";
    if (key[PK_ROWS_PER_STEP] > 1)
        return "a ring takes one row a step";
    if (!key[PK_PERSISTENT] && key[PK_STAGES] > 1)
        return "without a persistent grid a ring has one slot";
    return NULL;
}

/* Values that would wait in slots. */
static const char *
buffers_wrong(struct arena *a, const struct facts *f,
              const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *b = &k->buffers[i];

        if (!is_slot_buffer(b))
            continue;
        if (k->key[PK_STAGES] == 0)
            return "stores ring and shared need stages of 1 or more";
        if (!f->node[b->node].is_leaf || !node_has_column(f, b->node))
            return arena_printf(a,
                                "'%s' is no input along the columns: it "
                                "cannot arrive through a ring",
                                plan_node_name(a, f->g, b->node));
    }
    return NULL;
}

const char *
ring_wrong(struct arena *a, const struct facts *f, const struct kernel_plan *k)
{
    const char *why = buffers_wrong(a, f, k);
    bool any = false;

    if (why || k->key[PK_STAGES] == 0)
        return why;
    why = shape_wrong(k->key);
    for (uint32_t i = 0; i < f->n_leaves && !why; i++) {
        node_id n = f->leaves[i];

        if (!ring_carries(f, k, n))
            continue;
        any |= node_has_column(f, n);
        why = leaf_wrong(a, f, k, n);
    }
    if (!why && !any)
        return "no row arrives through the ring";
    return why;
}
