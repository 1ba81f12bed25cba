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

static bool
is_row_leaf(const struct facts *f, node_id n)
{
    return f->node[n].is_leaf && node_has_column(f, n) && node_has_rows(f, n);
}

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

/* A copy of the kernel's buffers, in which the rows' inputs arrive through the
 * ring. */
static void
fill_by_ring(const struct problem *p, struct kernel_plan *k, bool stays)
{
    struct buffer_plan *b =
        NEW_ARRAY(p->arena, struct buffer_plan, k->n_buffers + 1);

    for (uint32_t i = 0; i < k->n_buffers; i++) {
        b[i] = k->buffers[i];
        if (!is_row_leaf(p->f, b[i].node) ||
            !access_is_vector(p->f,
                              &p->f->accesses[p->f->node[b[i].node].access]))
            continue;
        b[i].key[BK_STORE] =
            ring_store(p, (enum store)b[i].key[BK_STORE], stays);
        b[i].reason = NULL;
    }
    k->buffers = b;
}

/* Of the buffers that have none yet: how often a slot is read follows from all
 * of them. */
static void
give_reasons(const struct problem *p, struct kernel_plan *k)
{
    struct row_use u = row_use(p, k);

    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (!k->buffers[i].reason)
            k->buffers[i].reason = ring_reason(&u, &k->buffers[i]);
}

static void
add_ring(const struct problem *p, const struct slot_shape *s,
         const struct candidate *base, int stages, bool stays,
         candidate_vec *out)
{
    const char *where = !base->plan.kernels->key[PK_PERSISTENT]
                            ? "wait in shared memory"
                        : stays ? "wait in a ring"
                                : "by a ring";
    struct candidate *c = candidate_add(
        p, out, base->plan.kernels->scheduler,
        arena_printf(p->arena, "%s; rows %s", base->summary, where));
    struct kernel_plan *k = c->plan.kernels;

    *k = *base->plan.kernels;
    k->key[PK_STAGES] = stages;
    fill_by_ring(p, k, stays);
    c->keep = row_kind(p, k);
    c->keep = base->keep;
    if (ring_wrong(p->arena, p->f, k) || ring_vector(p->f, k) > s->vector ||
        row_is_repeated(out)) {
        out->n--;
        return;
    }
    give_reasons(p, k);
    if (row_outer_count(p->f) > 0)
        row_offer_finishes(p, out, p->n_static ? p->n : s->n);
}

/* Bytes of a row in its slot, with this plan's stores. */
static int64_t
slot_bytes(const struct problem *p, const struct kernel_plan *base)
{
    struct kernel_plan k = *base;
    struct ring r;

    k.key[PK_STAGES] = 1;
    fill_by_ring(p, &k, true);
    ring_of(p->f, &k, &r);
    return r.slot_bytes * r.groups;
}

bool
row_has_packed(const struct problem *p, const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (is_row_leaf(p->f, k->buffers[i].node) &&
            k->buffers[i].key[BK_STORE] == STORE_REGISTER_PACKED)
            return true;
    return false;
}

void
row_propose_rings(const struct problem *p, const struct slot_shape *s,
                  uint32_t which, candidate_vec *out)
{
    const struct candidate base = out->v[which];
    const struct kernel_plan *k = base.plan.kernels;
    int64_t bytes = slot_bytes(p, k) * k->key[PK_BLOCKS_PER_SM];
    int stages;

    if (bytes <= 0 || k->key[PK_PREFETCH])
        return;
    stages = (int)MIN((int64_t)p->dev->inflight_bytes / bytes, MOST_STAGES);
    for (int n = MAX(stages, 1); n <= stages + 1; n++)
        if (p->dev->has_bulk_copy && row_has_packed(p, k))
            add_ring(p, s, &base, n, false, out);
    for (int n = MAX(stages, 1) + 1; n <= stages + 2; n++)
        add_ring(p, s, &base, n, true, out);
}

bool
row_propose_slot(const struct problem *p, const struct slot_shape *s,
                 uint32_t which, candidate_vec *out)
{
    const struct candidate base = out->v[which];
    uint32_t before = out->n;

    add_ring(p, s, &base, 1, true, out);
    return out->n > before;
}
