/* SPDX-License-Identifier: Apache-2.0 */
/* fu_bulk: bulk copies. Those to shared memory complete on an mbarrier; those to
 * global memory are read from shared memory when their thread waits until they
 * have been read, and written when it waits until they are written.
 *
 * They go another way to memory than ordinary accesses: what those wrote must
 * have passed a fence of that way, by who wrote it, or by who issues the copy
 * and knew of it then. */
#ifndef FU_BULK_H
#define FU_BULK_H

#include "fu_mbarrier.h"

struct fu_emu_out {
    void *to;
    int from;
    unsigned n, group;
    unsigned char *data; /* as read; NULL before */
    const void *site;
    const fu_emu_thread *by;
    uint32_t when; /* its thread's step, which ended with it */
};

/* --- the fence ---------------------------------------------------------------------- */

FU_EMU_NOINLINE void
fu_emu_proxy_fence()
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);

    fu_emu_sync_clear(&a->fence_knew);
    fu_emu_release(&a->fence_knew);
    a->fenced = fu_emu.self->now - 1;
}

/* Was that write before a fence of its thread, or known to one of this one? */
static bool
fu_emu_fenced(const fu_emu_mark *w)
{
    fu_emu_block *b = fu_emu_resident(w->who >> 11);
    unsigned thread = w->who & 2047;
    const fu_emu_clock *c;
    const fu_emu_async *a;

    if (thread == FU_EMU_ASYNC || !b)
        return true;
    a = b->thread[thread].async;
    if (a && a->group == fu_emu.group && w->when <= a->fenced)
        return true;
    a = fu_emu_async_of(fu_emu.self);
    c = fu_emu_known_of(a->fence_knew.known, w->who >> 11);
    return c && w->when <= c->at[thread];
}

/* The cells from..to that a bulk copy reads, written in this launch (global) or
 * by this set of blocks (shared). */
static void
fu_emu_all_fenced(const void *site, const fu_emu_cell *from,
                  const fu_emu_cell *to, uint32_t stamp)
{
    for (const fu_emu_cell *c = from; c < to; c++)
        if (c->write.stamp == stamp &&
            !fu_emu_fenced(&c->write))
            fu_emu_misuse(site, fu_emu_site_pc(c->write.site),
                          "copies in bulk what %s stored ({2}) with no "
                          "fu_fence_async between", fu_emu_mark_name(&c->write));
}

static void
fu_emu_bulk_aligned(const void *site, const void *global, int shared, int n)
{
    if (n > 0 && n % 16 == 0 && (uintptr_t)global % 16 == 0 && shared % 16 == 0)
        return;
    fu_emu_fail(FU_EMU_MISALIGNED, site, NULL,
                "%s copies %d bytes in bulk between byte %d of shared memory "
                "and global memory at %u behind a multiple of 16; all must be "
                "multiples of 16", fu_emu_who(), n, shared,
                (unsigned)((uintptr_t)global % 16));
    fu_emu_abandon();
}

/* --- to shared memory ------------------------------------------------------------------ */

FU_EMU_NOINLINE void
fu_emu_bulk_load(int to, const void *from, int n, int bar)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu.self->block;
    fu_emu_mbarrier *m;
    fu_emu_flight f = {NULL, to, (unsigned)n, from, {0}, site, 0, false, {NULL, NULL}};
    fu_emu_cells c;

    fu_emu_bulk_aligned(site, from, to, n);
    f.bar = m = fu_emu_mbarrier_use(site, b, bar);
    fu_emu_mbarrier_fenced(site, m);
    fu_emu_read_at(site, from, (size_t)n);
    c = fu_emu_cells_of(from, (size_t)n);
    if (c.n)
        fu_emu_all_fenced(site, &c.memory->cells[c.first],
                          &c.memory->cells[c.first + c.n], fu_emu.launch);
    f.source = fu_emu_source(from, (size_t)n);
    fu_emu_copy_starts_at(site, b, to, (size_t)n, true);
    fu_emu_flight_add(m, &f);
}

FU_EMU_INLINE void
fu_bulk_load(int to, const void *from, int bytes, int bar)
{
    fu_emu_bulk_load(to, from, bytes, bar);
}

FU_EMU_INLINE fu_u64 fu_evict_first() { return 1; }
FU_EMU_INLINE fu_u64 fu_evict_last() { return 2; }

FU_EMU_INLINE void
fu_bulk_load_hint(int to, const void *from, int bytes, int bar, fu_u64)
{
    fu_emu_bulk_load(to, from, bytes, bar);
}

/* --- to global memory ------------------------------------------------------------------- */

FU_EMU_NOINLINE void
fu_emu_bulk_store(void *to, int from, int n)
{
    const void *site = FU_EMU_HERE;
    fu_emu_block *b = fu_emu.self->block;
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);

    fu_emu_bulk_aligned(site, to, from, n);
    fu_emu_copy_starts_at(site, b, from, (size_t)n, false);
    fu_emu_all_fenced(site, &b->smem_cells[from], &b->smem_cells[from + n],
                      fu_emu.group);
    fu_emu_write_at(site, to, (size_t)n);
    a->outs = (fu_emu_out *)fu_emu_grow(a->outs, a->n_outs, &a->room_outs,
                                        sizeof(a->outs[0]));
    a->outs[a->n_outs++] = {to,   from, (unsigned)n, a->out_group,
                            NULL, site, fu_emu.self, fu_emu.self->now};
    fu_emu.self->now++;
}

/* Nobody has touched the cell since the copy to it began: the access, or NULL. */
static const fu_emu_mark *
fu_emu_out_touched(const fu_emu_out *o, const fu_emu_cell *c)
{
    if (c->write.who != fu_emu_name(o->by->block, o->by->index) ||
        c->write.when != o->when)
        return &c->write;
    return (c->read.stamp & ~FU_EMU_ATOMIC) == fu_emu.launch ? &c->read : NULL;
}

static void
fu_emu_out_kept(const fu_emu_out *o)
{
    fu_emu_cells c = fu_emu_cells_of(o->to, o->n);

    for (size_t i = 0; i < c.n; i++) {
        const fu_emu_cell *cell = &c.memory->cells[c.first + i];
        const fu_emu_mark *m = fu_emu_out_touched(o, cell);

        if (!m)
            continue;
        fu_emu_fail(FU_EMU_IN_FLIGHT, fu_emu_site_pc(m->site), o->site,
                    "%s: %s %s byte %zu of '%s', which a bulk copy ({2}) that "
                    "isn't complete writes", fu_emu.info.symbol,
                    fu_emu_mark_name(m), m == &cell->read ? "reads" : "writes",
                    (c.first + i) << c.memory->shift, c.memory->info.name);
        return;
    }
}

static void
fu_emu_out_is_read(fu_emu_out *o)
{
    fu_emu_block *b = fu_emu.self->block;

    if (o->data)
        return;
    o->data = (unsigned char *)malloc(o->n);
    if (!o->data)
        abort();
    memcpy(o->data, b->smem + o->from, o->n);
    fu_emu_copy_ends_at(o->site, b, o->from, o->n, false, NULL);
}

static void
fu_emu_out_is_written(fu_emu_out *o)
{
    fu_emu_out_kept(o);
    memcpy(o->to, o->data, o->n);
    free(o->data);
}

FU_EMU_NOINLINE void
fu_emu_bulk_wait(unsigned n, bool written)
{
    const void *site = FU_EMU_HERE;
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    unsigned kept = 0;

    for (unsigned i = 0; i < a->n_outs; i++) {
        fu_emu_out o = a->outs[i];
        bool waited = o.group + n < a->out_group;

        if (waited)
            fu_emu_out_is_read(&o);
        if (waited && written) {
            fu_emu_out_is_written(&o);
            if (!fu_emu_failed())
                fu_emu_write_at(site, o.to, o.n);
        } else {
            a->outs[kept++] = o;
        }
    }
    a->n_outs = kept;
    if (fu_emu_failed())
        fu_emu_abandon();
}

FU_EMU_INLINE void fu_fence_async() { fu_emu_proxy_fence(); }

FU_EMU_INLINE void
fu_bulk_store(void *to, int from, int bytes)
{
    fu_emu_bulk_store(to, from, bytes);
}

FU_EMU_INLINE void
fu_bulk_commit()
{
    fu_emu_async_of(fu_emu.self)->out_group++;
}

template <int N>
FU_EMU_INLINE void
fu_bulk_wait()
{
    fu_emu_bulk_wait(N, true);
}

template <int N>
FU_EMU_INLINE void
fu_bulk_wait_read()
{
    fu_emu_bulk_wait(N, false);
}

#endif
