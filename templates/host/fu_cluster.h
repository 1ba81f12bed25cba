/* SPDX-License-Identifier: Apache-2.0 */
/* fu_cluster: the host's cluster.cuh, and what must be over when the blocks of a
 * cluster end. A block may be visited when the visitor knows that it has begun
 * (a cluster barrier, or word from it), and must not end before it knows that
 * the visit is over (a cluster barrier after it, or word from the visitor): who
 * came when in this run doesn't matter. All threads take part in every cluster
 * barrier; that the device lets those be that have ended is no excuse. */
#ifndef FU_CLUSTER_H
#define FU_CLUSTER_H

#include "fu_bulk.h"

struct fu_emu_cluster {
    uint32_t group;
    unsigned first; /* its first block, in the grid */
    unsigned arrived, phase;
};

/* The last visit of a thread to a block: its step, and how often it had arrived
 * at the cluster's barrier. */
struct fu_emu_visit {
    uint32_t when;
    unsigned arrivals;
    const void *site;
};

static fu_emu_cluster **fu_emu_clusters;
static unsigned fu_emu_n_clusters, fu_emu_room_clusters;

static fu_emu_cluster *
fu_emu_cluster_new(unsigned first)
{
    fu_emu_cluster *c = NULL;

    for (unsigned i = 0; i < fu_emu_n_clusters && !c; i++)
        if (fu_emu_clusters[i]->group != fu_emu.group)
            c = fu_emu_clusters[i];
    if (!c) {
        fu_emu_clusters = (fu_emu_cluster **)fu_emu_grow(
            fu_emu_clusters, fu_emu_n_clusters, &fu_emu_room_clusters,
            sizeof(c));
        c = (fu_emu_cluster *)malloc(sizeof(*c));
        if (!c)
            abort();
        fu_emu_clusters[fu_emu_n_clusters++] = c;
    }
    *c = {fu_emu.group, first, 0, 0};
    fu_emu_sync_clear(fu_emu_sync_at(&c->arrived));
    fu_emu_sync_clear(fu_emu_sync_at(&c->phase));
    return c;
}

static fu_emu_cluster *
fu_emu_cluster_of(const fu_emu_block *b)
{
    unsigned first = b->index - b->rank;

    for (unsigned i = 0; i < fu_emu_n_clusters; i++)
        if (fu_emu_clusters[i]->group == fu_emu.group &&
            fu_emu_clusters[i]->first == first)
            return fu_emu_clusters[i];
    return fu_emu_cluster_new(first);
}

/* --- the barrier --------------------------------------------------------------------- */

static unsigned
fu_emu_cluster_threads()
{
    return fu_emu.info.cluster * fu_emu.n_threads;
}

FU_EMU_NOINLINE void
fu_emu_cluster_arrive(bool releases)
{
    const void *site = FU_EMU_HERE;
    fu_emu_cluster *c = fu_emu_cluster_of(fu_emu.self->block);
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    fu_emu_sync *now = fu_emu_sync_at(&c->arrived), *done;

    if (a->arrivals != a->waits)
        fu_emu_misuse(site, NULL,
                      "arrives at its cluster's barrier twice with no wait");
    a->arrivals++;
    if (releases)
        fu_emu_release(now);
    if (++c->arrived < fu_emu_cluster_threads())
        return;
    done = fu_emu_sync_at(&c->phase);
    fu_emu_sync_clear(done);
    done->known = now->known;
    now->known = NULL;
    c->arrived = 0;
    c->phase++;
}

struct fu_emu_cluster_wait {
    const fu_emu_cluster *c;
    unsigned phase;
    char text[100];
};

static bool
fu_emu_cluster_ready(void *ctx)
{
    fu_emu_cluster_wait *w = (fu_emu_cluster_wait *)ctx;

    if (w->c->phase >= w->phase)
        return true;
    snprintf(w->text, sizeof(w->text),
             "its cluster's barrier, where %u of %u threads have arrived",
             w->c->arrived, fu_emu_cluster_threads());
    return false;
}

FU_EMU_NOINLINE void
fu_emu_cluster_wait_for()
{
    const void *site = FU_EMU_HERE;
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    fu_emu_cluster_wait w;

    if (a->arrivals == a->waits)
        fu_emu_misuse(site, NULL,
                      "waits at its cluster's barrier with no arrival");
    w.c = fu_emu_cluster_of(fu_emu.self->block);
    w.phase = a->arrivals;
    fu_emu_wait_until_at(site, fu_emu_cluster_ready, &w, w.text);
    fu_emu_acquire(fu_emu_sync_at(&w.c->phase));
    a->waits++;
}

FU_EMU_INLINE int fu_cluster_rank() { return (int)fu_emu.self->block->rank; }
FU_EMU_INLINE int fu_cluster_size() { return (int)fu_emu.info.cluster; }

FU_EMU_INLINE int
fu_cluster_x()
{
    return (int)(fu_emu.self->block->bid[0] / fu_emu.info.cluster);
}

FU_EMU_INLINE void fu_cluster_arrive() { fu_emu_cluster_arrive(true); }
FU_EMU_INLINE void fu_cluster_arrive_relaxed() { fu_emu_cluster_arrive(false); }
FU_EMU_INLINE void fu_cluster_wait() { fu_emu_cluster_wait_for(); }

/* --- other blocks' shared memory -------------------------------------------------------- */

/* A place: the block's rank above, the byte offset in 24 bits. */
struct fu_remote {
    fu_u32 at;
};

FU_EMU_NOINLINE fu_remote
fu_emu_remote_at(int offset, int rank)
{
    const void *site = FU_EMU_HERE;
    fu_remote r;

    if (rank < 0 || (unsigned)rank >= fu_emu.info.cluster)
        fu_emu_misuse(site, NULL, "asks for block %d of a cluster of %u", rank,
                      fu_emu.info.cluster);
    fu_emu_shared_admit(site, fu_emu.self->block, offset, 1, "names");
    r.at = (fu_u32)rank << 24 | (fu_u32)offset;
    return r;
}

static int
fu_emu_remote_offset(fu_remote a)
{
    return (int)(a.at & 0xffffffu);
}

/* The block of a place, which has begun. */
static fu_emu_block *
fu_emu_remote_block(const void *site, fu_remote a)
{
    const fu_emu_thread *t = fu_emu.self;
    unsigned rank = a.at >> 24;
    fu_emu_block *b = fu_emu_resident(t->block->index - t->block->rank + rank);

    if (b != t->block && fu_emu_async_of(fu_emu.self)->waits == 0 &&
        !fu_emu_known_of(t->others, b->index))
        fu_emu_misuse(site, NULL,
                      "touches shared memory of block %u, which may not have "
                      "begun: no cluster barrier before", b->index);
    return b;
}

static void
fu_emu_visit_block(const void *site, const fu_emu_block *b)
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);

    if (b == fu_emu.self->block)
        return;
    if (!a->visits)
        a->visits = (fu_emu_visit *)calloc(FU_EMU_MAX_CLUSTER,
                                           sizeof(a->visits[0]));
    if (!a->visits)
        abort();
    a->visits[b->rank] = {fu_emu.self->now, a->arrivals, site};
}

FU_EMU_NOINLINE unsigned char *
fu_emu_remote_use(fu_remote a, size_t n, fu_emu_use use)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu_remote_block(site, a);

    fu_emu_visit_block(site, b);
    return fu_emu_shared_use(site, b, fu_emu_remote_offset(a), n, use);
}

/* A message follows what its sender knows of: its own steps before this one, and
 * what it has learned. It doesn't release what the sender did since it met others
 * last. */
static void
fu_emu_sender_knows(fu_emu_sync *s)
{
    const fu_emu_thread *t = fu_emu.self;

    fu_emu_sync_learn(s, fu_emu_clock_hold(t->own), t->others);
}

FU_EMU_NOINLINE void
fu_emu_remote_send(fu_remote a, const fu_u32 *w, unsigned n, fu_remote bar)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu_remote_block(site, a);
    int to = fu_emu_remote_offset(a);
    fu_emu_mbarrier *m;
    fu_emu_flight f = {NULL, to, n, NULL, {0}, site, 0,
                       b != fu_emu.self->block, {NULL, NULL}};

    if (a.at >> 24 != bar.at >> 24)
        fu_emu_misuse(site, NULL,
                      "sends to block %u with an mbarrier of block %u of the "
                      "cluster", a.at >> 24, bar.at >> 24);
    f.bar = m = fu_emu_mbarrier_use(site, b, fu_emu_remote_offset(bar));
    fu_emu_mbarrier_fenced(site, m);
    fu_emu_copy_starts_at(site, b, to, n, true);
    memcpy(f.data, w, n);
    fu_emu_sender_knows(&f.knew);
    fu_emu_flight_add(m, &f);
}

FU_EMU_NOINLINE void
fu_emu_remote_arrive(fu_remote bar)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu_remote_block(site, bar);
    fu_emu_mbarrier *m =
        fu_emu_mbarrier_use(site, b, fu_emu_remote_offset(bar));

    fu_emu_mbarrier_fenced(site, m);
    fu_emu_visit_block(site, b);
    fu_emu_mbarrier_arrives(site, m, 0);
}

template <int BYTES> struct fu_remote_access {
    static __forceinline__ void load(fu_remote a, fu_u32 *w)
    {
        memcpy(w, fu_emu_remote_use(a, BYTES, FU_EMU_S_READ), BYTES);
    }
    static __forceinline__ void store(fu_remote a, const fu_u32 *w)
    {
        memcpy(fu_emu_remote_use(a, BYTES, FU_EMU_S_WRITE), w, BYTES);
    }
    static __forceinline__ void send(fu_remote a, const fu_u32 *w,
                                     fu_remote bar)
    {
        fu_emu_remote_send(a, w, BYTES, bar);
    }
};

FU_EMU_INLINE fu_remote
fu_remote_at(int byte_offset, int rank)
{
    return fu_emu_remote_at(byte_offset, rank);
}

FU_EMU_INLINE void fu_remote_arrive(fu_remote bar) { fu_emu_remote_arrive(bar); }

FU_EMU_INLINE void
fu_mbarrier_wait_cluster(int bar, int parity)
{
    fu_emu_mbarrier_wait_for(bar, parity, true);
}

/* --- the end of the blocks -------------------------------------------------------------- */

static fu_emu_async *
fu_emu_async_if_any(const fu_emu_thread *t)
{
    return t->async && t->async->group == fu_emu.group ? t->async : NULL;
}

/* Did a thread of b learn of the visit of t, or wait for a phase after it? */
static bool
fu_emu_visit_over(const fu_emu_block *b, const fu_emu_thread *t,
                  const fu_emu_visit *v)
{
    for (unsigned i = 0; i < fu_emu.n_threads; i++) {
        const fu_emu_thread *u = &b->thread[i];
        const fu_emu_async *a = fu_emu_async_if_any(u);
        const fu_emu_clock *c = fu_emu_known_of(u->others, t->block->index);

        if ((a && a->waits > v->arrivals) || (c && c->at[t->index] >= v->when))
            return true;
    }
    return false;
}

static void
fu_emu_visits_end(const fu_emu_thread *t, fu_emu_async *a)
{
    unsigned first = t->block->index - t->block->rank;

    for (unsigned r = 0; a->visits && r < fu_emu.info.cluster; r++) {
        const fu_emu_visit *v = &a->visits[r];

        if (v->when == 0 ||
            fu_emu_visit_over(fu_emu_resident(first + r), t, v))
            continue;
        fu_emu_fail(FU_EMU_BLOCK_LEFT, v->site, NULL,
                    "%s: block %u thread %u touches shared memory of block %u, "
                    "which may have ended: it waits for nothing after that",
                    fu_emu.info.symbol, t->block->index, t->index, first + r);
    }
}

static void
fu_emu_outs_end(const fu_emu_thread *t, fu_emu_async *a)
{
    for (unsigned i = 0; i < a->n_outs; i++) {
        fu_emu_out *o = &a->outs[i];

        if (o->data)
            fu_emu_out_is_written(o);
        else
            fu_emu_fail(FU_EMU_BLOCK_LEFT, o->site, NULL,
                        "%s: block %u ends before a bulk copy has read its "
                        "shared memory", fu_emu.info.symbol, t->block->index);
    }
    a->n_outs = 0;
}

static void
fu_emu_flights_end()
{
    for (unsigned i = 0; i < fu_emu_n_flights; i++)
        fu_emu_fail(FU_EMU_BLOCK_LEFT, fu_emu_flights[i].site, NULL,
                    "%s: block %u ends before a copy to its shared memory is "
                    "complete: no wait for it", fu_emu.info.symbol,
                    fu_emu_flights[i].bar->block->index);
    for (unsigned i = 0; i < fu_emu_n_flights; i++)
        fu_emu_sync_clear(&fu_emu_flights[i].knew);
    fu_emu_n_flights = 0;
}

typedef void fu_emu_each_fn(const fu_emu_thread *t, fu_emu_async *a);

static void
fu_emu_each_async(fu_emu_each_fn *f)
{
    for (unsigned b = 0; b < fu_emu.n_resident; b++)
        for (unsigned i = 0; i < fu_emu.n_threads; i++) {
            const fu_emu_thread *t = &fu_emu.resident[b].thread[i];
            fu_emu_async *a = fu_emu_async_if_any(t);

            if (a)
                f(t, a);
        }
}

static void
fu_emu_reset_one(const fu_emu_thread *, fu_emu_async *a)
{
    fu_emu_async_reset(a);
}

static void
fu_emu_async_end()
{
    fu_emu_flights_end();
    fu_emu_each_async(fu_emu_outs_end);
    fu_emu_each_async(fu_emu_visits_end);
    fu_emu_each_async(fu_emu_reset_one);
}

#endif
