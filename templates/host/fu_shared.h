/* SPDX-License-Identifier: Apache-2.0 */
/* fu_shared: the shared memory of the resident blocks. Each byte has flags (was
 * it written in this block, is a copy under way) and a race cell.
 *
 * Hooks, for n bytes at an offset, naturally aligned, of the running thread's
 * block or of another resident block (a cluster's distributed shared memory).
 * They give the host's address when all is well and leave the thread otherwise:
 *
 *   fu_emu_shared_read(block, offset, n)    to read from
 *   fu_emu_shared_write(block, offset, n)   to write to
 *   fu_emu_shared_atomic(block, offset, n)  to change atomically
 *
 * Asynchronous copies. Between the two calls nobody may touch the bytes that
 * one writes, nobody may write the bytes that one reads:
 *
 *   fu_emu_copy_starts_at(site, block, offset, n, into)
 *   fu_emu_copy_ends_at(site, block, offset, n, into, sync)
 *
 * `into`: the copy writes shared memory, else it reads it. The thread that
 * issues calls copy_starts; copy_ends may be called by any thread, or by the
 * condition of one that waits, when the copy is complete. Then the bytes are
 * known to who acquires `sync` (a barrier object); with NULL to the running
 * thread alone, which is the one that waited for its own copies. */
#ifndef FU_SHARED_H
#define FU_SHARED_H

#include "fu_memory.h"

enum {
    FU_EMU_S_INIT = 1,
    FU_EMU_S_INTO = 2,  /* a copy writes it */
    FU_EMU_S_OUT_OF = 4, /* times the copies that read it, at most 31 */
    FU_EMU_S_MBARRIER = 128 /* belongs to one */
};

enum fu_emu_use {
    FU_EMU_S_READ,
    FU_EMU_S_WRITE,
    FU_EMU_S_ATOMIC,
    FU_EMU_S_BARRIER /* an atomic of an mbarrier */
};

static const char *
fu_emu_use_name(fu_emu_use use)
{
    return use == FU_EMU_S_READ    ? "reads"
           : use == FU_EMU_S_WRITE ? "writes"
                                   : "changes";
}

/* "of shared memory", or whose it is. */
static const char *
fu_emu_whose(const fu_emu_block *b)
{
    static char text[64];

    if (b == fu_emu.self->block)
        return "shared memory";
    snprintf(text, sizeof(text), "block %u's shared memory", b->index);
    return text;
}

static void
fu_emu_shared_admit(const void *site, const fu_emu_block *b, int64_t offset,
                    size_t n, const char *verb)
{
    fu_emu.counts.shared_bytes += n;
    if (offset < 0 || (size_t)offset + n > fu_emu.info.smem)
        fu_emu_fail(FU_EMU_SHARED_RANGE, site, NULL,
                    "%s %s %zu bytes at byte %lld of %s, which has %zu",
                    fu_emu_who(), verb, n, (long long)offset, fu_emu_whose(b),
                    fu_emu.info.smem);
    else if (offset % (int64_t)(n > 16 ? 16 : n) != 0)
        fu_emu_fail(FU_EMU_MISALIGNED, site, NULL,
                    "%s %s %zu bytes at byte %lld of %s", fu_emu_who(), verb,
                    n, (long long)offset, fu_emu_whose(b));
    else if (b != fu_emu.self->block && b->live == 0)
        fu_emu_fail(FU_EMU_BLOCK_LEFT, site, NULL,
                    "%s %s byte %lld of %s, and that block has ended",
                    fu_emu_who(), verb, (long long)offset, fu_emu_whose(b));
    else
        return;
    fu_emu_abandon();
}

/* Where the copy began that writes a byte, or one that reads it. */
static const void *
fu_emu_copy_site(const fu_emu_block *b, size_t i)
{
    const fu_emu_cell *c = &b->smem_cells[i];

    return fu_emu_site_pc(b->smem_flags[i] & FU_EMU_S_INTO ? c->write.site
                                                           : c->read.site);
}

/* Nothing that copies do forbids the use. */
static void
fu_emu_shared_settled(const void *site, const fu_emu_block *b, size_t offset,
                      size_t n, fu_emu_use use)
{
    for (size_t i = offset; i < offset + n; i++) {
        unsigned char f = b->smem_flags[i];

        if (f <= FU_EMU_S_INIT)
            continue;
        if (f & FU_EMU_S_MBARRIER) {
            if (use == FU_EMU_S_BARRIER)
                continue;
            fu_emu_fail(FU_EMU_SYNC_MISUSE, site,
                        fu_emu_site_pc(b->smem_cells[i].write.site),
                        "%s %s byte %zu of %s, which is an mbarrier ({2})",
                        fu_emu_who(), fu_emu_use_name(use), i, fu_emu_whose(b));
            fu_emu_abandon();
        }
        if (f & FU_EMU_S_INTO || use != FU_EMU_S_READ) {
            fu_emu_fail(FU_EMU_IN_FLIGHT, site, fu_emu_copy_site(b, i),
                        "%s %s byte %zu of %s, which an asynchronous copy "
                        "({2}) that isn't complete %s", fu_emu_who(),
                        fu_emu_use_name(use), i, fu_emu_whose(b),
                        f & FU_EMU_S_INTO ? "writes" : "reads");
            fu_emu_abandon();
        }
    }
}

static void
fu_emu_shared_written(const void *site, const fu_emu_block *b, size_t offset,
                      size_t n, fu_emu_use use)
{
    size_t i;

    if (fu_emu_all_have(b->smem_flags + offset, n, FU_EMU_S_INIT))
        return;
    i = offset + fu_emu_first_without(b->smem_flags + offset, n, FU_EMU_S_INIT);
    fu_emu_fail(FU_EMU_SHARED_UNINITIALISED, site, NULL,
                "%s %s byte %zu of %s, which the block never wrote",
                fu_emu_who(), fu_emu_use_name(use), i, fu_emu_whose(b));
    fu_emu_abandon();
}

static void
fu_emu_shared_race(const void *site, fu_emu_block *b, size_t offset, size_t n,
                   fu_emu_use use)
{
    fu_emu_epoch e = fu_emu_epoch_now();
    int32_t mark = fu_emu_site(site);

    uint32_t group = fu_emu.group;

    for (size_t i = offset; i < offset + n; i++) {
        fu_emu_cell *c = &b->smem_cells[i];
        const fu_emu_mark *other =
            use == FU_EMU_S_READ    ? fu_emu_race_read(c, group, e, mark)
            : use == FU_EMU_S_WRITE ? fu_emu_race_write(c, group, e, mark)
                                    : fu_emu_race_atomic(c, group, e, mark);

        if (!other)
            continue;
        fu_emu_fail(FU_EMU_SHARED_RACE, site, fu_emu_site_pc(other->site),
                    "%s %s byte %zu of %s, which %s %s ({2}) with no barrier "
                    "between", fu_emu_who(), fu_emu_use_name(use), i,
                    fu_emu_whose(b), fu_emu_mark_name(other),
                    other == &c->write ? "wrote" : "read");
        fu_emu_abandon();
    }
}

static unsigned char *
fu_emu_shared_use(const void *site, fu_emu_block *b, int64_t offset, size_t n,
                  fu_emu_use use)
{
    size_t at = (size_t)offset;

    fu_emu_shared_admit(site, b, offset, n, fu_emu_use_name(use));
    fu_emu_shared_settled(site, b, at, n, use);
    if (use != FU_EMU_S_WRITE)
        fu_emu_shared_written(site, b, at, n, use);
    fu_emu_shared_race(site, b, at, n, use);
    if (use == FU_EMU_S_WRITE)
        memset(b->smem_flags + at, FU_EMU_S_INIT, n);
    return b->smem + at;
}

FU_EMU_NOINLINE const unsigned char *
fu_emu_shared_read(fu_emu_block *b, int64_t offset, size_t n)
{
    return fu_emu_shared_use(FU_EMU_HERE, b, offset, n, FU_EMU_S_READ);
}

FU_EMU_NOINLINE unsigned char *
fu_emu_shared_write(fu_emu_block *b, int64_t offset, size_t n)
{
    return fu_emu_shared_use(FU_EMU_HERE, b, offset, n, FU_EMU_S_WRITE);
}

FU_EMU_NOINLINE unsigned char *
fu_emu_shared_atomic(fu_emu_block *b, int64_t offset, size_t n)
{
    return fu_emu_shared_use(FU_EMU_HERE, b, offset, n, FU_EMU_S_ATOMIC);
}

/* --- asynchronous copies ------------------------------------------------------------ */

static void
fu_emu_copy_starts_at(const void *site, fu_emu_block *b, int64_t offset,
                      size_t n, bool into)
{
    fu_emu_shared_use(site, b, offset, n,
                      into ? FU_EMU_S_WRITE : FU_EMU_S_READ);
    for (size_t i = (size_t)offset; i < (size_t)offset + n; i++)
        if (into)
            b->smem_flags[i] = FU_EMU_S_INTO;
        else
            b->smem_flags[i] += FU_EMU_S_OUT_OF;
}

static void
fu_emu_copy_ends_at(const void *site, fu_emu_block *b, int64_t offset,
                    size_t n, bool into, fu_emu_sync *sync)
{
    fu_emu_epoch e = fu_emu_async_epoch(b, sync);
    int32_t mark = fu_emu_site(site);

    for (size_t i = (size_t)offset; i < (size_t)offset + n; i++) {
        if (into)
            b->smem_flags[i] = FU_EMU_S_INIT;
        else
            b->smem_flags[i] -= FU_EMU_S_OUT_OF;
        fu_emu_race_note(&b->smem_cells[i], fu_emu.group, e, mark, into);
    }
}

#endif
