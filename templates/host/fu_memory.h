/* SPDX-License-Identifier: Apache-2.0 */
/* fu_memory: global memory. Every access of a kernel is held
 * against the shadows of fu_buffers.h: bounds, alignment, elements, whether there
 * is a value, whose it is, races.
 *
 * Hooks, for n bytes at p, naturally aligned (to 16 bytes from 16 on). They
 * return when all is well and leave the thread otherwise:
 *
 *   fu_emu_read(p, n)       before they are read
 *   fu_emu_write(p, n)      before they are written
 *   fu_emu_atomic(p, n)     before an atomic operation; it orders nothing, see
 *                           fu_emu_acquire and fu_emu_release
 */
#ifndef FU_MEMORY_H
#define FU_MEMORY_H

#include "fu_buffers.h"

/* --- the checks ------------------------------------------------------------------ */

static fu_emu_memory *
fu_emu_find(uintptr_t at, size_t n)
{
    unsigned *seen = &fu_emu_seen[at >> 12 & 255];

    if (*seen < fu_emu_n_memories && at >= fu_emu_memories[*seen].from &&
        at + n <= fu_emu_memories[*seen].to)
        return &fu_emu_memories[*seen];
    for (unsigned i = 0; i < fu_emu_n_memories; i++)
        if (at >= fu_emu_memories[i].from && at + n <= fu_emu_memories[i].to) {
            *seen = i;
            return &fu_emu_memories[i];
        }
    return NULL;
}

/* The distance of an access to a buffer, 0 where it overlaps. */
static uintptr_t
fu_emu_distance(const fu_emu_memory *m, uintptr_t at, size_t n)
{
    if (at >= m->to)
        return at - m->to;
    return at + n <= m->from ? m->from - at - n : 0;
}

static void
fu_emu_fail_outside(const void *site, uintptr_t at, size_t n, const char *verb)
{
    const fu_emu_memory *near = &fu_emu_memories[0];

    for (unsigned i = 1; i < fu_emu_n_memories; i++)
        if (fu_emu_distance(&fu_emu_memories[i], at, n) <
            fu_emu_distance(near, at, n))
            near = &fu_emu_memories[i];
    fu_emu_fail(FU_EMU_OUT_OF_BOUNDS, site, NULL,
                "%s %s %zu bytes at byte %lld of '%s', which has %zu",
                fu_emu_who(), verb, n, (long long)(at - near->from),
                near->info.name, near->info.bytes);
    fu_emu_abandon();
}

/* Do n bytes of flags all have these? */
FU_EMU_INLINE bool
fu_emu_all_have(const unsigned char *flags, size_t n, unsigned char bits)
{
    uint64_t want = 0x0101010101010101u * bits, word;

    for (; n >= 8; n -= 8, flags += 8) {
        memcpy(&word, flags, 8);
        if ((word & want) != want)
            return false;
    }
    for (; n > 0; n--, flags++)
        if ((*flags & bits) != bits)
            return false;
    return true;
}

static size_t
fu_emu_first_without(const unsigned char *flags, size_t n, unsigned char bits)
{
    size_t i = 0;

    while (i < n && (flags[i] & bits) == bits)
        i++;
    return i;
}

static void
fu_emu_aligned(const void *site, uintptr_t at, size_t n, size_t to,
               const char *verb)
{
    if (at % to == 0)
        return;
    fu_emu_fail(FU_EMU_MISALIGNED, site, NULL,
                "%s %s %zu bytes at an address that is %u more than a multiple "
                "of 16", fu_emu_who(), verb, n, (unsigned)(at % 16));
    fu_emu_abandon();
}

/* The memory, when its bounds and flags allow the access; NULL when nothing is
 * declared at all. */
static fu_emu_memory *
fu_emu_admit(const void *site, uintptr_t at, size_t n, unsigned char bits,
             const char *verb)
{
    fu_emu_memory *m;
    const unsigned char *flags;
    size_t i;

    fu_emu.counts.global_bytes += n;
    if (fu_emu_n_memories == 0)
        return NULL;
    m = fu_emu_find(at, n);
    if (!m)
        fu_emu_fail_outside(site, at, n, verb);
    flags = m->flags + (at - m->from);
    if (fu_emu_all_have(flags, n, bits))
        return m;
    i = fu_emu_first_without(flags, n, bits);
    fu_emu_fail(flags[i] & FU_EMU_ELEMENT ? FU_EMU_UNINITIALISED
                                          : FU_EMU_ELSEWHERE,
                site, NULL, "%s %s byte %zu of '%s', which %s", fu_emu_who(),
                verb, at - m->from + i, m->info.name,
                flags[i] & FU_EMU_ELEMENT ? "nothing was written to"
                                          : "lies between its elements");
    fu_emu_abandon();
}

static void
fu_emu_fail_race(const void *site, const fu_emu_memory *m, size_t offset,
                 const fu_emu_mark *other, bool writes, bool pdl)
{
    fu_emu_fail(pdl ? FU_EMU_PDL_ORDER : FU_EMU_GLOBAL_RACE, site,
                fu_emu_site_pc(other->site),
                pdl ? "%s %s byte %zu of '%s' before it waits for the launch "
                      "before, of which %s %s it ({2})"
                    : "%s %s byte %zu of '%s', which %s %s ({2}) with nothing "
                      "between the two that orders them",
                fu_emu_who(), writes ? "writes" : "reads", offset,
                m->info.name, fu_emu_mark_name(other),
                other == &m->cells[offset >> m->shift].write ? "wrote"
                                                             : "read");
    fu_emu_abandon();
}

/* An access of less than an element: from now on a cell is as much as it. */
static void
fu_emu_split(fu_emu_memory *m, unsigned shift)
{
    size_t old = m->info.bytes >> m->shift, parts = (size_t)1 << m->shift >> shift;
    size_t bytes = ((m->info.bytes >> shift) + parts) * sizeof(fu_emu_cell);
    fu_emu_cell *cells = (fu_emu_cell *)fu_emu_map(bytes);

    for (size_t i = 0; i <= old; i++)
        if (m->cells[i].write.stamp || m->cells[i].read.stamp)
            for (size_t k = 0; k < parts; k++)
                cells[i * parts + k] = m->cells[i];
    munmap(m->cells, m->cell_bytes);
    m->cells = cells;
    m->cell_bytes = bytes;
    m->shift = shift;
}

enum fu_emu_access { FU_EMU_READ, FU_EMU_WRITE, FU_EMU_LOAD, FU_EMU_STORE,
                     FU_EMU_CHANGE };

/* The race cells [from, to). An atomic load is an atomic: it may meet those, not
 * plain accesses. */
FU_EMU_INLINE void
fu_emu_global_cells(const void *site, fu_emu_memory *m, size_t from, size_t to,
                    fu_emu_access a)
{
    bool writes = a != FU_EMU_READ && a != FU_EMU_LOAD;
    fu_emu_epoch e = fu_emu_epoch_now();
    int32_t mark = fu_emu_site(site);

    uint32_t launch = fu_emu.launch;

    for (size_t i = from; i < to; i++) {
        fu_emu_cell *c = &m->cells[i];
        const fu_emu_mark *other = fu_emu_race_pdl(c, writes);

        if (other)
            fu_emu_fail_race(site, m, i << m->shift, other, writes, true);
        other = a == FU_EMU_READ    ? fu_emu_race_read(c, launch, e, mark)
                : a == FU_EMU_WRITE ? fu_emu_race_write(c, launch, e, mark)
                                    : fu_emu_race_atomic(c, launch, e, mark);
        if (other)
            fu_emu_fail_race(site, m, i << m->shift, other, writes, false);
    }
}

FU_EMU_INLINE void
fu_emu_global_race(const void *site, fu_emu_memory *m, uintptr_t at, size_t n,
                   fu_emu_access a)
{
    size_t offset = at - m->from;
    unsigned shift = (unsigned)__builtin_ctzll(offset | n);

    if (shift < m->shift)
        fu_emu_split(m, shift);
    fu_emu_global_cells(site, m, offset >> m->shift,
                        (offset + n) >> m->shift, a);
}

FU_EMU_INLINE void
fu_emu_touch_at(const void *site, const void *p, size_t n, fu_emu_access a)
{
    static const char *const verbs[] = {"reads", "writes", "reads", "writes",
                                        "changes"};
    bool needs_value = a != FU_EMU_WRITE && a != FU_EMU_STORE;
    bool writes = a != FU_EMU_READ && a != FU_EMU_LOAD;
    uintptr_t at = (uintptr_t)p;
    fu_emu_memory *m;

    fu_emu_aligned(site, at, n, n > 16 ? 16 : n, verbs[a]);
    m = fu_emu_admit(site, at, n,
                     FU_EMU_ELEMENT | (needs_value ? FU_EMU_INIT : 0),
                     verbs[a]);
    if (!m || (!m->cells && !writes))
        return;
    if (!m->cells) {
        fu_emu_fail(FU_EMU_INPUT_WRITTEN, site, NULL,
                    "%s writes byte %zu of '%s', an input", fu_emu_who(),
                    at - m->from, m->info.name);
        fu_emu_abandon();
    }
    fu_emu_global_race(site, m, at, n, a);
    if (writes)
        memset(m->flags + (at - m->from),
               FU_EMU_ELEMENT | FU_EMU_INIT | FU_EMU_WRITTEN, n);
}

static void
fu_emu_read_at(const void *site, const void *p, size_t n)
{
    fu_emu_touch_at(site, p, n, FU_EMU_READ);
}

/* n bytes at an address of an alignment of their own. */
static void
fu_emu_read_aligned(const void *site, const void *p, size_t n, size_t to)
{
    uintptr_t at = (uintptr_t)p;
    fu_emu_memory *m;

    fu_emu_aligned(site, at, n, to, "reads");
    if (n == 0)
        return;
    m = fu_emu_admit(site, at, n, FU_EMU_ELEMENT | FU_EMU_INIT, "reads");
    if (m && m->cells)
        fu_emu_global_race(site, m, at, n, FU_EMU_READ);
}

static void
fu_emu_write_at(const void *site, void *p, size_t n)
{
    fu_emu_touch_at(site, p, n, FU_EMU_WRITE);
}

static void
fu_emu_atomic_at(const void *site, void *p, size_t n, fu_emu_access a)
{
    fu_emu_touch_at(site, p, n, a);
}

FU_EMU_NOINLINE void
fu_emu_read(const void *p, size_t n)
{
    fu_emu_read_at(FU_EMU_HERE, p, n);
}

FU_EMU_NOINLINE void
fu_emu_write(void *p, size_t n)
{
    fu_emu_write_at(FU_EMU_HERE, p, n);
}

FU_EMU_NOINLINE void
fu_emu_atomic(void *p, size_t n)
{
    fu_emu_atomic_at(FU_EMU_HERE, p, n, FU_EMU_CHANGE);
}

#endif
