/* SPDX-License-Identifier: Apache-2.0 */
/* fu_pieces: the host's cp.async. A piece arrives as late as it may: in the wait
 * of its thread for its group, which is then its writer, so that others need a
 * barrier behind that wait. Its bytes are read from global memory then too. */
#ifndef FU_PIECES_H
#define FU_PIECES_H

#include "fu_atomic.h"

struct fu_emu_piece {
    int to;
    unsigned n, bytes; /* of them read; zeros in the rest */
    const void *from, *site;
    unsigned group;
    uint32_t source; /* fu_emu_source of what it reads */
};

/* The cells of n bytes of global memory; n = 0 where nobody may write. */
struct fu_emu_cells {
    fu_emu_memory *memory;
    size_t first, n;
};

static fu_emu_cells
fu_emu_cells_of(const void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p;
    fu_emu_memory *m = n ? fu_emu_find(at, n) : NULL;
    size_t first;

    if (!m || !m->cells)
        return {m, 0, 0};
    first = (at - m->from) >> m->shift;
    return {m, first, ((at - m->from + n - 1) >> m->shift) - first + 1};
}

/* Changes when somebody writes there, not when cells are split. */
static uint32_t
fu_emu_source(const void *p, size_t n)
{
    fu_emu_cells c = fu_emu_cells_of(p, n);
    uint32_t sum = 0;

    for (size_t i = 0; i < c.n; i++) {
        const fu_emu_mark *w = &c.memory->cells[c.first + i].write;
        uint32_t h = w->who * 0x9e3779b1u;

        h = (h ^ w->when) * 0x85ebca77u;
        h = (h ^ w->stamp) * 0xc2b2ae3du;
        h = (h ^ (uint32_t)w->site) * 0x27d4eb2fu;
        sum += (h ^ h >> 15) << c.memory->shift;
    }
    return sum;
}

/* A copy from there that began at `site` is complete. */
static void
fu_emu_source_kept(const void *site, const void *p, size_t n, uint32_t source)
{
    fu_emu_cells c = fu_emu_cells_of(p, n);

    if (fu_emu_source(p, n) == source)
        return;
    for (size_t i = 0; i < c.n; i++) {
        const fu_emu_mark *w = &c.memory->cells[c.first + i].write;

        if (w->stamp != fu_emu.launch)
            continue;
        fu_emu_fail(FU_EMU_IN_FLIGHT, fu_emu_site_pc(w->site), site,
                    "%s: %s writes byte %zu of '%s', which an asynchronous "
                    "copy ({2}) that isn't complete reads", fu_emu.info.symbol,
                    fu_emu_mark_name(w), (c.first + i) << c.memory->shift,
                    c.memory->info.name);
        return;
    }
}

/* Makes room for one more at *array. */
static void *
fu_emu_grow(void *array, unsigned n, unsigned *room, size_t size)
{
    if (n < *room)
        return array;
    *room = *room ? 2 * *room : 8;
    array = realloc(array, *room * size);
    if (!array)
        abort();
    return array;
}

FU_EMU_NOINLINE void
fu_emu_piece_starts(int to, const void *from, unsigned n, int bytes)
{
    const void *site = FU_EMU_HERE;
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);

    if (bytes < 0 || (unsigned)bytes > n) {
        fu_emu_fail(FU_EMU_SYNC_MISUSE, site, NULL,
                    "%s reads %d bytes into a piece of %u", fu_emu_who(), bytes,
                    n);
        fu_emu_abandon();
    }
    fu_emu_read_aligned(site, from, (size_t)bytes, n);
    fu_emu_copy_starts_at(site, fu_emu.self->block, to, n, true);
    a->pieces = (fu_emu_piece *)fu_emu_grow(a->pieces, a->n_pieces,
                                            &a->room_pieces,
                                            sizeof(a->pieces[0]));
    a->pieces[a->n_pieces++] = {
        to,   n,    (unsigned)bytes,
        from, site, a->piece_group,
        fu_emu_source(from, (size_t)bytes)};
}

static void
fu_emu_piece_arrives(const fu_emu_piece *p)
{
    fu_emu_block *b = fu_emu.self->block;

    memcpy(b->smem + p->to, p->from, p->bytes);
    memset(b->smem + p->to + p->bytes, 0, p->n - p->bytes);
    fu_emu_copy_ends_at(p->site, b, p->to, p->n, true, NULL);
    fu_emu_source_kept(p->site, p->from, p->bytes, p->source);
    fu_emu_read_aligned(p->site, p->from, p->bytes, p->n);
}

/* All groups but the last n; what isn't committed stays under way. */
static void
fu_emu_pieces_wait(unsigned n)
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    unsigned kept = 0;

    for (unsigned i = 0; i < a->n_pieces; i++)
        if (a->pieces[i].group + n < a->piece_group)
            fu_emu_piece_arrives(&a->pieces[i]);
        else
            a->pieces[kept++] = a->pieces[i];
    a->n_pieces = kept;
    if (fu_emu_failed())
        fu_emu_abandon();
}

template <int BYTES>
FU_EMU_INLINE void
fu_copy_async(int to, const void *from)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    fu_emu_piece_starts(to, from, BYTES, BYTES);
}

template <int BYTES>
FU_EMU_INLINE void
fu_copy_async_fill(int to, const void *from, int bytes)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "4, 8 or 16 bytes");
    fu_emu_piece_starts(to, from, BYTES, bytes);
}

FU_EMU_INLINE void
fu_copy_async_commit()
{
    fu_emu_async_of(fu_emu.self)->piece_group++;
}

template <int N>
FU_EMU_INLINE void
fu_copy_async_wait()
{
    fu_emu_pieces_wait(N);
}

#endif
