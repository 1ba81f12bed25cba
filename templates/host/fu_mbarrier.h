/* SPDX-License-Identifier: Apache-2.0 */
/* fu_mbarrier: mbarriers, and the copies and messages that complete on them. They
 * arrive as late as they may: when a thread waits for the phase, all arrivals
 * have come and the bytes under way are those that are missing.
 *
 * The counts are kept in a table beside memory; the eight bytes only remember
 * whose they are. What a phase has learned of other threads is kept apart from
 * what the phase before had: two sync objects. */
#ifndef FU_MBARRIER_H
#define FU_MBARRIER_H

#include "fu_pieces.h"

enum { FU_EMU_MOST_BYTES = (1 << 20) - 1 };

struct fu_emu_mbarrier {
    uint32_t group;
    fu_emu_block *block;
    int at;
    unsigned count, pending, phase;
    int64_t missing, flying; /* bytes expected and not here; of those under way */
    fu_emu_epoch made;       /* by whom, in which step */
    bool fenced;             /* since its init: copies may use it */
    bool remote, was_remote; /* other blocks took part: in this phase, the last */
    const void *site;        /* of its init */
};

/* A bulk copy or a message on its way to shared memory. */
struct fu_emu_flight {
    fu_emu_mbarrier *bar;
    int to;
    unsigned n;
    const void *from; /* NULL: a message */
    unsigned char data[16];
    const void *site;
    uint32_t source; /* fu_emu_source of what it reads */
    bool remote;
    fu_emu_sync knew; /* of a message: what its sender had known */
};

static fu_emu_mbarrier **fu_emu_mbarriers;
static unsigned fu_emu_n_mbarriers, fu_emu_room_mbarriers;
static fu_emu_flight *fu_emu_flights;
static unsigned fu_emu_n_flights, fu_emu_room_flights;

static fu_emu_mbarrier *
fu_emu_mbarrier_find(const fu_emu_block *b, int at)
{
    for (unsigned i = 0; i < fu_emu_n_mbarriers; i++) {
        fu_emu_mbarrier *m = fu_emu_mbarriers[i];

        if (m->group == fu_emu.group && m->block == b && m->at == at)
            return m;
    }
    return NULL;
}

/* A free one: of a set of blocks that is gone, or new. */
static fu_emu_mbarrier *
fu_emu_mbarrier_new()
{
    fu_emu_mbarrier *m;

    for (unsigned i = 0; i < fu_emu_n_mbarriers; i++)
        if (fu_emu_mbarriers[i]->group != fu_emu.group)
            return fu_emu_mbarriers[i];
    fu_emu_mbarriers = (fu_emu_mbarrier **)fu_emu_grow(
        fu_emu_mbarriers, fu_emu_n_mbarriers, &fu_emu_room_mbarriers,
        sizeof(m));
    m = (fu_emu_mbarrier *)malloc(sizeof(*m));
    if (!m)
        abort();
    fu_emu_mbarriers[fu_emu_n_mbarriers++] = m;
    return m;
}

static fu_emu_sync *
fu_emu_mbarrier_sync(const fu_emu_mbarrier *m, bool completed)
{
    return fu_emu_sync_at(m->block->smem + m->at + completed);
}

static void __attribute__((noreturn, format(printf, 3, 4)))
fu_emu_misuse(const void *site, const void *there, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fu_emu_fail(FU_EMU_SYNC_MISUSE, site, there, "%s %s", fu_emu_who(), text);
    fu_emu_abandon();
}

/* --- the word ----------------------------------------------------------------------- */

FU_EMU_NOINLINE void
fu_emu_mbarrier_init(int at, int arrivals)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu.self->block;
    const fu_emu_mbarrier *old = fu_emu_mbarrier_find(b, at);
    fu_emu_mbarrier *m;

    if (arrivals < 1 || arrivals > FU_EMU_MOST_BYTES)
        fu_emu_misuse(site, NULL, "makes an mbarrier of %d arrivals", arrivals);
    if (old)
        fu_emu_misuse(site, old->site,
                      "makes an mbarrier at byte %d, where one is ({2})", at);
    fu_emu_shared_use(site, b, at, 8, FU_EMU_S_WRITE);
    memset(b->smem_flags + at, FU_EMU_S_INIT | FU_EMU_S_MBARRIER, 8);
    m = fu_emu_mbarrier_new();
    *m = {fu_emu.group, b,     at,    (unsigned)arrivals, (unsigned)arrivals,
          0,            0,     0,     fu_emu_epoch_now(), false,
          false,        false, site};
}

/* The mbarrier there, which a thread may use now. */
static fu_emu_mbarrier *
fu_emu_mbarrier_use(const void *site, fu_emu_block *b, int at)
{
    fu_emu_mbarrier *m;

    fu_emu_shared_admit(site, b, at, 8, "uses");
    m = fu_emu_mbarrier_find(b, at);
    if (!m)
        fu_emu_misuse(site, NULL,
                      "uses an mbarrier at byte %d of %s, where there is none",
                      at, fu_emu_whose(b));
    if (!fu_emu_happened(m->made.who, m->made.when))
        fu_emu_misuse(site, m->site,
                      "uses the mbarrier at byte %d of %s, which was made ({2}) "
                      "with no barrier between", at, fu_emu_whose(b));
    fu_emu_shared_use(site, b, at, 8, FU_EMU_S_BARRIER);
    return m;
}

FU_EMU_NOINLINE void
fu_emu_mbarrier_inval(int at)
{
    const void *site = FU_EMU_HERE;
    fu_emu_mbarrier *m = fu_emu_mbarrier_use(site, fu_emu.self->block, at);

    if (m->flying)
        fu_emu_misuse(site, NULL,
                      "invalidates the mbarrier at byte %d, which %lld bytes "
                      "under way complete on", at, (long long)m->flying);
    memset(m->block->smem_flags + at, FU_EMU_S_INIT, 8);
    fu_emu_shared_use(site, m->block, at, 8, FU_EMU_S_WRITE);
    memset(m->block->smem_flags + at, 0, 8);
    m->group = 0;
}

static void
fu_emu_mbarrier_fence()
{
    for (unsigned i = 0; i < fu_emu_n_mbarriers; i++)
        if (fu_emu_mbarriers[i]->made.who == fu_emu_epoch_now().who)
            fu_emu_mbarriers[i]->fenced = true;
}

static void
fu_emu_mbarrier_fenced(const void *site, const fu_emu_mbarrier *m)
{
    if (!m->fenced)
        fu_emu_misuse(site, m->site,
                      "uses the mbarrier at byte %d of %s ({2}) from outside "
                      "its block's threads, with no fu_mbarrier_fence since",
                      m->at, fu_emu_whose(m->block));
}

/* --- phases -------------------------------------------------------------------------- */

static void
fu_emu_mbarrier_complete(fu_emu_mbarrier *m)
{
    fu_emu_sync *now = fu_emu_mbarrier_sync(m, false);
    fu_emu_sync *done = fu_emu_mbarrier_sync(m, true);

    fu_emu_sync_clear(done);
    done->known = now->known;
    now->known = NULL;
    m->phase++;
    m->pending = m->count;
    m->was_remote = m->remote;
    m->remote = false;
}

/* Who waits for the copy knows then that it has read its source. */
static void
fu_emu_source_ends(const fu_emu_flight *f)
{
    fu_emu_cells c = fu_emu_cells_of(f->from, f->n);
    fu_emu_epoch e;

    fu_emu_source_kept(f->site, f->from, f->n, f->source);
    if (c.n == 0)
        return;
    e = fu_emu_async_epoch(f->bar->block, fu_emu_mbarrier_sync(f->bar, false));
    for (size_t i = 0; i < c.n; i++)
        fu_emu_race_note(&c.memory->cells[c.first + i], fu_emu.launch, e,
                         fu_emu_site(f->site), false);
}

static void
fu_emu_flight_lands(fu_emu_flight *f)
{
    fu_emu_mbarrier *m = f->bar;

    memcpy(m->block->smem + f->to, f->from ? f->from : f->data, f->n);
    fu_emu_copy_ends_at(f->site, m->block, f->to, f->n, true,
                        fu_emu_mbarrier_sync(m, false));
    if (f->from)
        fu_emu_source_ends(f);
    m->missing -= f->n;
    m->flying -= f->n;
    m->remote |= f->remote;
    fu_emu_sync_pass(fu_emu_mbarrier_sync(m, false), &f->knew);
}

/* What is missing and under way arrives now; who waits is told when more is
 * under way than is missing. */
static void
fu_emu_mbarrier_settle(fu_emu_mbarrier *m, const void *site)
{
    unsigned kept = 0;

    if (m->pending > 0 || m->missing > m->flying)
        return;
    if (m->missing < m->flying) {
        fu_emu_fail(FU_EMU_SYNC_MISUSE, site, NULL,
                    "%s waits for the mbarrier at byte %d, which lacks %lld "
                    "bytes, and %lld are under way", fu_emu_who(), m->at,
                    (long long)m->missing, (long long)m->flying);
        return;
    }
    for (unsigned i = 0; i < fu_emu_n_flights; i++)
        if (fu_emu_flights[i].bar == m)
            fu_emu_flight_lands(&fu_emu_flights[i]);
        else
            fu_emu_flights[kept++] = fu_emu_flights[i];
    fu_emu_n_flights = kept;
    fu_emu_mbarrier_complete(m);
}

/* An arrival of the running thread, which expects `bytes` more. */
static void
fu_emu_mbarrier_arrives(const void *site, fu_emu_mbarrier *m, int bytes)
{
    if (m->pending == 0)
        fu_emu_misuse(site, m->site,
                      "arrives at the mbarrier at byte %d of %s ({2}) beyond "
                      "its %u arrivals", m->at, fu_emu_whose(m->block),
                      m->count);
    if (bytes < 0 || m->missing + bytes > FU_EMU_MOST_BYTES)
        fu_emu_misuse(site, NULL,
                      "expects %d bytes at the mbarrier at byte %d; a phase has "
                      "at most %d", bytes, m->at, FU_EMU_MOST_BYTES);
    fu_emu_release(fu_emu_mbarrier_sync(m, false));
    m->missing += bytes;
    m->pending--;
    m->remote |= fu_emu.self->block != m->block;
    if (m->pending == 0 && m->missing == 0 && m->flying == 0)
        fu_emu_mbarrier_complete(m);
}

FU_EMU_NOINLINE void
fu_emu_mbarrier_arrive(int at, int bytes)
{
    const void *site = FU_EMU_HERE;

    fu_emu_mbarrier_arrives(
        site, fu_emu_mbarrier_use(site, fu_emu.self->block, at), bytes);
}

static void
fu_emu_flight_add(fu_emu_mbarrier *m, const fu_emu_flight *f)
{
    fu_emu_flights = (fu_emu_flight *)fu_emu_grow(
        fu_emu_flights, fu_emu_n_flights, &fu_emu_room_flights, sizeof(*f));
    fu_emu_flights[fu_emu_n_flights++] = *f;
    m->flying += f->n;
}

/* The pieces that the thread has begun complete on the mbarrier. */
FU_EMU_NOINLINE void
fu_emu_mbarrier_arrive_copies(int at)
{
    const void *site = FU_EMU_HERE;
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    fu_emu_mbarrier *m = fu_emu_mbarrier_use(site, fu_emu.self->block, at);
    int bytes = 0;

    for (unsigned i = 0; i < a->n_pieces; i++) {
        const fu_emu_piece *p = &a->pieces[i];
        fu_emu_flight f = {m,       p->to, p->n,      p->from, {0},
                           p->site, p->source, false, {NULL, NULL}};

        if (p->bytes != p->n)
            fu_emu_misuse(site, p->site,
                          "leaves pieces filled up with zeros ({2}) to an "
                          "mbarrier");
        fu_emu_flight_add(m, &f);
        bytes += (int)p->n;
    }
    a->n_pieces = 0;
    fu_emu_mbarrier_arrives(site, m, bytes);
}

/* --- waiting ------------------------------------------------------------------------- */

struct fu_emu_mbarrier_wait {
    fu_emu_mbarrier *m;
    unsigned parity;
    const void *site;
    unsigned rounds; /* of a try: how often it has been asked */
    char text[160];
};

static bool
fu_emu_mbarrier_ready(void *ctx)
{
    fu_emu_mbarrier_wait *w = (fu_emu_mbarrier_wait *)ctx;
    const fu_emu_mbarrier *m = w->m;

    if (m->phase % 2 == w->parity)
        fu_emu_mbarrier_settle(w->m, w->site);
    if (m->phase % 2 != w->parity || fu_emu_failed())
        return true;
    snprintf(w->text, sizeof(w->text),
             "the mbarrier at byte %d of shared memory, whose phase %u lacks "
             "%u arrivals and %lld bytes", m->at, m->phase, m->pending,
             (long long)(m->missing - m->flying));
    return false;
}

static fu_emu_mbarrier *
fu_emu_mbarrier_wait_starts(const void *site, int at, int parity)
{
    fu_emu_mbarrier *m = fu_emu_mbarrier_use(site, fu_emu.self->block, at);

    if (parity != 0 && parity != 1)
        fu_emu_misuse(site, NULL,
                      "waits for parity %d of the mbarrier at byte %d", parity,
                      at);
    return m;
}

/* The phase before the current one is what was waited for. */
static void
fu_emu_mbarrier_wait_ends(const void *site, fu_emu_mbarrier *m, bool cluster)
{
    if (fu_emu_failed())
        fu_emu_abandon();
    if (m->was_remote && !cluster)
        fu_emu_misuse(site, NULL,
                      "waits as in one block for what another block did at the "
                      "mbarrier at byte %d: fu_mbarrier_wait_cluster", m->at);
    fu_emu_acquire(fu_emu_mbarrier_sync(m, true));
}

FU_EMU_NOINLINE void
fu_emu_mbarrier_wait_for(int at, int parity, bool cluster)
{
    fu_emu_mbarrier_wait w;

    w.site = FU_EMU_HERE;
    w.m = fu_emu_mbarrier_wait_starts(w.site, at, parity);
    w.parity = (unsigned)parity;
    fu_emu_wait_until_at(w.site, fu_emu_mbarrier_ready, &w, w.text);
    fu_emu_mbarrier_wait_ends(w.site, w.m, cluster);
}

static bool
fu_emu_mbarrier_tried(void *ctx)
{
    fu_emu_mbarrier_wait *w = (fu_emu_mbarrier_wait *)ctx;

    return fu_emu_mbarrier_ready(ctx) ||
           (w->rounds++ > 0 &&
            fu_emu_async_of(fu_emu.self)->looks < FU_EMU_LOOKS);
}

/* Gives way once; after very many tries in vain it waits. */
FU_EMU_NOINLINE bool
fu_emu_mbarrier_try(int at, int parity)
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    fu_emu_mbarrier_wait w;

    w.site = FU_EMU_HERE;
    w.m = fu_emu_mbarrier_wait_starts(w.site, at, parity);
    w.parity = (unsigned)parity;
    w.rounds = 0;
    fu_emu_wait_until_at(w.site, fu_emu_mbarrier_tried, &w, w.text);
    if (w.m->phase % 2 == w.parity && !fu_emu_failed()) {
        a->looks++;
        return false;
    }
    a->looks = 0;
    fu_emu_mbarrier_wait_ends(w.site, w.m, false);
    return true;
}

FU_EMU_INLINE void
fu_mbarrier_init(int bar, int arrivals)
{
    fu_emu_mbarrier_init(bar, arrivals);
}

FU_EMU_INLINE void fu_mbarrier_fence() { fu_emu_mbarrier_fence(); }
FU_EMU_INLINE void fu_mbarrier_inval(int bar) { fu_emu_mbarrier_inval(bar); }
FU_EMU_INLINE void fu_mbarrier_arrive(int bar) { fu_emu_mbarrier_arrive(bar, 0); }

FU_EMU_INLINE void
fu_mbarrier_arrive_copies(int bar)
{
    fu_emu_mbarrier_arrive_copies(bar);
}

FU_EMU_INLINE void
fu_mbarrier_expect(int bar, int bytes)
{
    fu_emu_mbarrier_arrive(bar, bytes);
}

FU_EMU_INLINE bool
fu_mbarrier_try(int bar, int parity)
{
    return fu_emu_mbarrier_try(bar, parity);
}

FU_EMU_INLINE void
fu_mbarrier_wait(int bar, int parity)
{
    fu_emu_mbarrier_wait_for(bar, parity, false);
}

#endif
