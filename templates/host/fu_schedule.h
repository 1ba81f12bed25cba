/* SPDX-License-Identifier: Apache-2.0 */
/* fu_schedule: whose turn it is. Rounds over the threads of the resident blocks,
 * until all have ended or none can run; then it says who waits where. */
#ifndef FU_SCHEDULE_H
#define FU_SCHEDULE_H

#include "fu_machine.h"

/* The condition of a thread that waits, asked in its name; no when the answer
 * is a report. */
static bool
fu_emu_ask(fu_emu_thread *t)
{
    bool yes = false;

    fu_emu.self = t;
    fu_emu.asking = true;
    if (setjmp(fu_emu.no_answer) == 0 && t->ready(t->ctx)) {
        t->state = FU_EMU_READY;
        yes = true;
    }
    fu_emu.asking = false;
    fu_emu.self = NULL;
    return yes;
}

static bool
fu_emu_now_ready(fu_emu_thread *t)
{
    return t->state == FU_EMU_READY ||
           (t->state == FU_EMU_AT_WAIT && fu_emu_ask(t));
}

/* One turn of each thread of a block that can run. */
static bool
fu_emu_turn(fu_emu_block *b)
{
    unsigned n = fu_emu.n_threads;
    bool progress = false;

    for (unsigned k = 0; k < n && !fu_emu_failed(); k++) {
        fu_emu_thread *t = &b->thread[fu_emu.order ? n - 1 - k : k];

        if (!fu_emu_now_ready(t))
            continue;
        fu_emu_enter(t);
        progress = true;
    }
    return progress;
}

/* Where threads are stuck, as one kind of place. */
struct fu_emu_stuck {
    fu_emu_state state;
    int barrier;
    const char *what;
    const void *site;
    unsigned threads;
    const fu_emu_thread *first;
};

static unsigned
fu_emu_stuck_places(fu_emu_stuck *place, unsigned most, unsigned *ret_done)
{
    unsigned n = 0, k;

    *ret_done = 0;
    for (unsigned b = 0; b < fu_emu.n_resident; b++)
        for (unsigned i = 0; i < fu_emu.n_threads; i++) {
            const fu_emu_thread *t = &fu_emu.resident[b].thread[i];

            if (t->state == FU_EMU_DONE) {
                ++*ret_done;
                continue;
            }
            for (k = 0; k < n; k++)
                if (place[k].site == t->site && place[k].state == t->state)
                    break;
            if (k == most)
                continue;
            if (k == n)
                place[n++] = {t->state, t->barrier, t->what, t->site, 0, t};
            place[k].threads++;
        }
    return n;
}

/* Nobody can run: says who waits where. Threads of one block at two barriers, or
 * some at a barrier that others have passed by, are a divergent barrier. */
static void
fu_emu_report_stuck()
{
    fu_emu_stuck place[4];
    unsigned done, at = 0, n = fu_emu_stuck_places(place, 4, &done);
    bool diverged = done > 0 || n > 1;
    char text[700] = "";

    for (unsigned i = 0; i < n; i++) {
        const fu_emu_stuck *p = &place[i];

        at += (unsigned)snprintf(text + at, sizeof(text) - at,
                                 "%s%u threads wait ", i ? "; " : "",
                                 p->threads);
        if (p->state == FU_EMU_AT_BARRIER)
            at += (unsigned)snprintf(text + at, sizeof(text) - at,
                                     "at barrier %d", p->barrier);
        else
            at += (unsigned)snprintf(
                text + at, sizeof(text) - at, "for %s",
                p->state == FU_EMU_AT_WAIT ? p->what : "lanes of their warp");
        at += (unsigned)snprintf(
            text + at, sizeof(text) - at, " ({%u}), the first is block %u "
            "thread %u", i + 1, p->first->block->index, p->first->index);
        diverged &= p->state != FU_EMU_AT_WAIT;
    }
    fu_emu_fail(diverged ? FU_EMU_DIVERGENT : FU_EMU_DEADLOCK, NULL, NULL,
                "%s: %s; %u have ended", fu_emu.entry->name, text, done);
    for (unsigned i = 0; i < n; i++)
        fu_emu.report.pc[i] = place[i].site;
}

/* Runs all resident blocks to their end. */
static void
fu_emu_run_resident()
{
    bool progress = true;
    unsigned live = 1;

    while (live && progress && !fu_emu_failed()) {
        progress = false;
        live = 0;
        for (unsigned k = 0; k < fu_emu.n_resident; k++) {
            unsigned i = fu_emu.order ? fu_emu.n_resident - 1 - k : k;

            progress |= fu_emu_turn(&fu_emu.resident[i]);
        }
        for (unsigned i = 0; i < fu_emu.n_resident; i++)
            live += fu_emu.resident[i].live;
    }
    if (live && !fu_emu_failed())
        fu_emu_report_stuck();
}

#endif
