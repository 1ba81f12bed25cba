/* SPDX-License-Identifier: Apache-2.0 */
/* Rings: plans whose rows arrive through shared memory, made of plans whose
 * rows don't.
 *
 * As many slots as bring the bytes in flight near what the device likes best:
 * fewer starve the memory, more queue in it. A row that waits in registers
 * frees its slot at the first exchange; one that stays in its slot is read
 * there in each phase and takes no registers, but a slot more. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "sched/ring.h"
#include "support/arena.h"

enum { MOST_STAGES = 8 };

static enum store
ring_store(const struct problem *p, enum store was, bool stays)
{
    if (!p->dev->has_bulk_copy)
        return STORE_SHARED;
    return stays || was != STORE_REGISTER_PACKED ? STORE_RING : was;
}

/* Its row has arrived in a slot of shared memory. */
static const char *
ring_reason(const struct row_use *u, const struct buffer_plan *b)
{
    int first, last;

    if (b->key[BK_STORE] == STORE_REGISTER_PACKED)
        return "taken out of its slot at once, which the next row then fills";
    if (!row_span(u, b->node, &first, &last) || first == last)
        return "arrives in a slot of shared memory, read there once";
    return "arrives in a slot of shared memory, read there in each phase";
}

/* A copy of the buffers, in which the rows' inputs arrive through the ring. */
static struct buffer_plan *
fill_by_ring(const struct problem *p, const struct row_held *held, bool stays)
{
    struct buffer_plan *b =
        NEW_ARRAY(p->arena, struct buffer_plan, held->n_buffers + 1);

    for (uint32_t i = 0; i < held->n_buffers; i++) {
        b[i] = held->buffers[i];
        if (!row_is_input(p->f, b[i].node) || !row_is_packable(p->f, b[i].node))
            continue;
        b[i].key[BK_STORE] =
            ring_store(p, (enum store)b[i].key[BK_STORE], stays);
        b[i].reason = NULL;
    }
    return b;
}

/* Of the buffers that have none yet: how often a slot is read follows from all
 * of them. */
static void
give_reasons(const struct problem *p, struct buffer_plan *b, uint32_t n)
{
    struct kernel_plan k = {.buffers = b, .n_buffers = n};
    struct row_use u = row_use(p, &k);

    for (uint32_t i = 0; i < n; i++)
        if (!b[i].reason)
            b[i].reason = ring_reason(&u, &b[i]);
}

static bool
has_packed(const struct problem *p, const struct buffer_plan *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (row_is_input(p->f, b[i].node) &&
            b[i].key[BK_STORE] == STORE_REGISTER_PACKED)
            return true;
    return false;
}

bool
row_has_packed(const struct problem *p, const struct kernel_plan *k)
{
    return has_packed(p, k->buffers, k->n_buffers);
}

struct row_held *
row_hold_ring(const struct problem *p, const struct row_held *held,
              bool persistent, bool stays)
{
    const char *where = !persistent ? "wait in shared memory"
                        : stays     ? "wait in a ring"
                                    : "by a ring";
    struct buffer_plan *b;
    struct row_held *ring;

    if (!stays && (!p->dev->has_bulk_copy ||
                   !has_packed(p, held->buffers, held->n_buffers)))
        return NULL;
    b = fill_by_ring(p, held, stays);
    give_reasons(p, b, held->n_buffers);
    ring = NEW(p->arena, struct row_held);
    ring->buffers = b;
    ring->n_buffers = held->n_buffers;
    ring->keep = held->keep;
    ring->summary = arena_printf(p->arena, "; rows %s", where);
    return ring;
}

static void
add_ring(const struct problem *p, const struct slot_shape *s,
         const struct candidate *base, const struct row_held *ring, int stages,
         candidate_vec *out)
{
    struct kernel_plan k = *base->plan.kernels;
    struct candidate *c;

    k.key[PK_STAGES] = stages;
    k.buffers = ring->buffers;
    if (ring->repeated || ring_vector(p->f, &k) > s->vector ||
        ring_wrong(p->arena, p->f, &k))
        return;
    c = candidate_add(p, out, k.scheduler,
                      arena_join(p->arena, base->summary, ring->summary));
    *c->plan.kernels = k;
    c->keep = ring->keep;
    if (row_outer_count(p->f) > 0)
        row_offer_finishes(p, out, p->n_static ? p->n : s->n);
}

/* Bytes of a row in its slot, where all that can stays there. */
static int64_t
slot_bytes(const struct problem *p, const struct kernel_plan *base,
           const struct row_held *held)
{
    struct kernel_plan k = *base;
    struct ring r;

    k.key[PK_STAGES] = 1;
    k.buffers = held->ring[true]->buffers;
    ring_of(p->f, &k, &r);
    return r.slot_bytes * r.groups;
}

void
row_propose_rings(const struct problem *p, const struct slot_shape *s,
                  const struct row_held *held, uint32_t which,
                  candidate_vec *out)
{
    const struct candidate *base = out->v[which];
    const int64_t *key = base->plan.kernels->key;
    int64_t bytes =
        slot_bytes(p, base->plan.kernels, held) * key[PK_BLOCKS_PER_SM];
    int stages;

    if (bytes <= 0)
        return;
    stages = (int)MIN((int64_t)p->dev->inflight_bytes / bytes, MOST_STAGES);
    for (int n = MAX(stages, 1); n <= stages + 1; n++)
        if (held->ring[false])
            add_ring(p, s, base, held->ring[false], n, out);
    for (int n = MAX(stages, 1) + 1; n <= stages + 2; n++)
        add_ring(p, s, base, held->ring[true], n, out);
}

bool
row_propose_slot(const struct problem *p, const struct slot_shape *s,
                 const struct row_held *held, uint32_t which,
                 candidate_vec *out)
{
    const struct candidate *base = out->v[which];
    uint32_t before = out->n;

    add_ring(p, s, base, held->ring[true], 1, out);
    return out->n > before;
}
