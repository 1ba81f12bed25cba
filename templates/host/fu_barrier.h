/* SPDX-License-Identifier: Apache-2.0 */
/* fu_barrier: barriers of a block and meetings of a warp. All lanes of a warp
 * must come to the same barrier or exchange, by the same line; a barrier has one
 * count of threads until it opens.
 *
 * Hooks:
 *
 *   fu_emu_barrier_wait(id, threads)   bar.sync
 *   fu_emu_warp_wait()                 bar.warp.sync
 *   fu_emu_warp_exchange(word)         what every lane gave: 32 words, valid
 *                                      until the lane's next exchange but one
 */
#ifndef FU_BARRIER_H
#define FU_BARRIER_H

#include "fu_clock.h"

/* Of the threads that meet, neighbours in a warp came by one line. */
static void
fu_emu_same_lines(fu_emu_thread *const *t, unsigned n, const char *text)
{
    for (unsigned i = 1; i < n; i++)
        if (t[i]->site != t[i - 1]->site &&
            t[i]->index / 32 == t[i - 1]->index / 32)
            fu_emu_suspect_lines(t[i]->site, t[i - 1]->site, text);
}

static void
fu_emu_barrier_open(int id, const char *text)
{
    static fu_emu_thread *met[FU_EMU_THREADS];
    fu_emu_block *b = fu_emu.self->block;
    unsigned n = 0;

    for (unsigned i = 0; i < fu_emu.n_threads; i++) {
        fu_emu_thread *t = &b->thread[i];

        if (t->state != FU_EMU_AT_BARRIER || t->barrier != id)
            continue;
        t->state = FU_EMU_READY;
        met[n++] = t;
    }
    b->barrier[id].arrived = 0;
    fu_emu_same_lines(met, n, text);
    fu_emu_meet(met, n);
}

static void
fu_emu_barrier_check(const void *site, int id, unsigned threads)
{
    const fu_emu_barrier *r;
    unsigned n = fu_emu.n_threads;

    if (id < 0 || id >= FU_EMU_BARRIERS || threads == 0 || threads > n ||
        (threads % 32 != 0 && threads != n)) {
        fu_emu_fail(FU_EMU_BARRIER_MISMATCH, site, NULL,
                    "%s waits at barrier %d of %u threads in a block of %u",
                    fu_emu_who(), id, threads, n);
        fu_emu_abandon();
    }
    r = &fu_emu.self->block->barrier[id];
    if (r->arrived == 0 || r->threads == threads)
        return;
    fu_emu_fail(FU_EMU_BARRIER_MISMATCH, site, r->site,
                "%s waits at barrier %d with %u threads; others wait there "
                "with %u ({2})", fu_emu_who(), id, threads, r->threads);
    fu_emu_abandon();
}

FU_EMU_NOINLINE void
fu_emu_barrier_wait(int id, unsigned threads)
{
    fu_emu_thread *t = fu_emu.self;
    const void *site = FU_EMU_HERE;
    fu_emu_barrier *r;

    fu_emu_barrier_check(site, id, threads);
    r = &t->block->barrier[id];
    if (r->arrived++ == 0) {
        r->threads = threads;
        r->site = site;
    }
    t->state = FU_EMU_AT_BARRIER;
    t->barrier = id;
    t->site = site;
    if (r->arrived < threads) {
        fu_emu_leave();
        return;
    }
    fu_emu_barrier_open(
        id, "lanes of a warp meet at a barrier on two lines: {1}, {2}");
}

/* --- warps ------------------------------------------------------------------------ */

static unsigned
fu_emu_lanes(unsigned warp)
{
    unsigned rest = fu_emu.n_threads - warp * 32;

    return rest < 32 ? rest : 32;
}

static void
fu_emu_warp_meet(const void *site)
{
    fu_emu_thread *t = fu_emu.self, *met[32];
    fu_emu_block *b = t->block;
    unsigned warp = t->index / 32, lanes = fu_emu_lanes(warp);

    t->exchanges++;
    t->site = site;
    if (++b->warp_arrived[warp] < lanes) {
        t->state = FU_EMU_AT_EXCHANGE;
        fu_emu_leave();
        return;
    }
    b->warp_arrived[warp] = 0;
    for (unsigned i = 0; i < lanes; i++) {
        met[i] = &b->thread[warp * 32 + i];
        met[i]->state = FU_EMU_READY;
    }
    fu_emu_same_lines(met, lanes,
                      "lanes of a warp exchange on two lines: {1}, {2}");
    fu_emu_meet(met, lanes);
}

FU_EMU_NOINLINE void
fu_emu_warp_wait()
{
    fu_emu_warp_meet(FU_EMU_HERE);
}

FU_EMU_NOINLINE const uint32_t *
fu_emu_warp_exchange(uint32_t word)
{
    fu_emu_thread *t = fu_emu.self;
    uint32_t *words = t->block->word[t->exchanges % 2];

    words[t->index] = word;
    fu_emu_warp_meet(FU_EMU_HERE);
    return words + (t->index & ~31u);
}

#endif
