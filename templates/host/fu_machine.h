/* SPDX-License-Identifier: Apache-2.0 */
/* fu_machine: the threads of some blocks at once, each a fiber that runs until
 * it waits; who waits for what; and what went wrong first.
 *
 * What primitives use (the contract for all files of this folder):
 *
 *   fu_emu.self              the thread that runs, fu_emu.self->block its block
 *   fu_emu_wait_until(...)   suspend until a condition holds
 *   fu_emu_fail(...)         the first report wins and ends the launch;
 *                            fu_emu_abandon() then leaves the thread for good
 *   fu_emu_resident(index)   a block of the grid by its linear index, if it is
 *                            on the device now: its cluster, or a cooperative
 *                            grid, all of it
 *
 * A hook is a FU_EMU_NOINLINE function that kernels reach through always-inline
 * ones alone, so that its return address lies in the kernel's own line: that is
 * what FU_EMU_HERE names and reports turn into a line of the .cu. */
#ifndef FU_MACHINE_H
#define FU_MACHINE_H

#include "fu_emulate_api.h"
#include "fu_fiber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FU_EMU_THREADS = 1024,
    FU_EMU_WARPS = FU_EMU_THREADS / 32,
    FU_EMU_BARRIERS = 16,
    FU_EMU_MAX_BLOCKS = 1 << 21, /* of a grid */
    FU_EMU_MAX_CLUSTER = 16,
    FU_EMU_SUSPECTS = 64,
    FU_EMU_MAX_SMEM = 227 * 1024,
};

/* In a hook: where the kernel called it. */
#define FU_EMU_HERE __builtin_return_address(0)

enum fu_emu_state {
    FU_EMU_READY,
    FU_EMU_AT_BARRIER,
    FU_EMU_AT_EXCHANGE, /* with the other lanes of its warp */
    FU_EMU_AT_WAIT,     /* for a condition */
    FU_EMU_DONE,
};

struct fu_emu_clock;
struct fu_emu_known;
struct fu_emu_cell;
struct fu_emu_block;
struct fu_emu_async;

struct fu_emu_thread {
    fu_emu_fiber fiber;
    fu_emu_block *block;
    unsigned index; /* in its block */
    fu_emu_state state;
    const void *site;   /* where it waits */
    int barrier;        /* AT_BARRIER: which */
    unsigned exchanges; /* made so far: picks the buffer */
    bool (*ready)(void *); /* AT_WAIT: the condition, and what it is */
    void *ctx;
    const char *what;
    unsigned votes;      /* of the block, made so far */
    fu_emu_async *async; /* fu_atomic.h */
    bool pdl_waited; /* the launch before has ended, as far as it knows */
    /* What it knows of others: fu_clock.h. */
    uint32_t now;
    fu_emu_clock *own;
    fu_emu_known *others;
};

struct fu_emu_barrier {
    unsigned arrived, threads;
    const void *site; /* of the first that arrived */
};

struct fu_emu_block {
    unsigned index, bid[3]; /* in the grid, linear and as coordinates */
    unsigned rank;          /* in its cluster */
    fu_emu_thread *thread;
    unsigned live; /* threads that haven't ended */
    fu_emu_barrier barrier[FU_EMU_BARRIERS];
    unsigned warp_arrived[FU_EMU_WARPS];
    unsigned vote_number[2], vote_yes[2]; /* fu_vote.h */
    uint32_t word[2][FU_EMU_THREADS];
    /* Shared memory: fu_shared.h. */
    unsigned char *smem, *smem_flags;
    fu_emu_cell *smem_cells;
    uint32_t async_now;
};

struct fu_emu_entry {
    const char *name;
    void (*call)(void **args);
    unsigned n_args;
};

/* A report that holds if its two lines differ: of this launch (fresh), or found
 * to be none. */
struct fu_emu_suspicion {
    fu_emu_report report;
    bool fresh, harmless;
};

/* The machine. One object a library: a .cu is one translation unit. */
struct fu_emu_machine {
    fu_emu_thread *self;
    fu_emu_fiber scheduler;
    bool asking; /* a condition is asked: no fiber runs */
    jmp_buf no_answer;
    /* The launch. */
    fu_emu_launch_info info;
    const fu_emu_entry *entry;
    void **args;
    unsigned n_threads; /* of a block */
    uint32_t launch;    /* its number, from 1 */
    uint32_t pdl_from;  /* launches from this one on may still run */
    uint32_t group;     /* number of the set of resident blocks */
    bool early_trigger; /* a thread let the next launch begin before it waited */
    /* Blocks on the device now: resident[0..n_resident). */
    fu_emu_block *resident;
    unsigned n_resident, room_resident, first_resident;
    char *stacks;
    size_t stacks_room;
    int order;
    fu_emu_report report;
    char text[1024];
    fu_emu_suspicion suspect[FU_EMU_SUSPECTS];
    unsigned n_suspects;
    fu_emu_counts counts;
    fu_emu_entry *entries;
    unsigned n_entries;
};

static fu_emu_machine fu_emu;

/* --- reports ------------------------------------------------------------------ */

static bool
fu_emu_failed()
{
    return fu_emu.report.kind != FU_EMU_OK;
}

/* The first report is the one; the others follow from it. */
static void __attribute__((format(printf, 4, 5)))
fu_emu_fail(fu_emu_kind kind, const void *here, const void *there,
            const char *fmt, ...)
{
    va_list ap;

    if (fu_emu_failed())
        return;
    fu_emu.report = {kind, fu_emu.text, {here, there, NULL, NULL}};
    va_start(ap, fmt);
    vsnprintf(fu_emu.text, sizeof(fu_emu.text), fmt, ap);
    va_end(ap);
}

/* Lanes of one warp met here and there, which is wrong if those are two lines;
 * one line may be at two addresses. */
static void
fu_emu_suspect_lines(const void *here, const void *there, const char *text)
{
    fu_emu_suspicion *s = fu_emu.suspect;

    while (s < fu_emu.suspect + fu_emu.n_suspects &&
           (s->report.pc[0] != here || s->report.pc[1] != there))
        s++;
    if (s == fu_emu.suspect + fu_emu.n_suspects) {
        if (fu_emu.n_suspects == FU_EMU_SUSPECTS)
            return;
        fu_emu.n_suspects++;
        *s = {{FU_EMU_DIVERGENT, text, {here, there, NULL, NULL}}, false,
              false};
    }
    s->fresh = true;
}

/* "layernorm block (3, 0) thread 17": who runs. */
static const char *
fu_emu_who()
{
    static char text[256];
    const fu_emu_thread *t = fu_emu.self;

    if (!t)
        return fu_emu.info.symbol;
    snprintf(text, sizeof(text), "%s block (%u, %u, %u) thread %u",
             fu_emu.entry->name, t->block->bid[0], t->block->bid[1],
             t->block->bid[2], t->index);
    return text;
}

/* --- leaving and entering ------------------------------------------------------- */

/* Back to the scheduler; returns when this thread is picked again. */
FU_EMU_NOINLINE void
fu_emu_leave()
{
    fu_emu_switch(&fu_emu.self->fiber, &fu_emu.scheduler);
}

FU_EMU_NOINLINE __attribute__((noreturn)) void
fu_emu_abandon()
{
    if (fu_emu.asking)
        longjmp(fu_emu.no_answer, 1);
    for (;;) {
        fu_emu_thread *t = fu_emu.self;

        if (t->state != FU_EMU_DONE)
            t->block->live--;
        t->state = FU_EMU_DONE;
        fu_emu_leave();
    }
}

static void
fu_emu_run_thread()
{
    fu_emu.entry->call(fu_emu.args);
    fu_emu_abandon();
}

static void
fu_emu_enter(fu_emu_thread *t)
{
    fu_emu.self = t;
    fu_emu_switch(&fu_emu.scheduler, &t->fiber);
    fu_emu.self = NULL;
}

/* Suspends the thread until ready(ctx) is true. The condition is asked from
 * outside any fiber, with fu_emu.self set to the thread that waits; it may
 * change things (a copy that completes now) but must not wait. `what` names it
 * in the report of a deadlock: "waits for WHAT". */
static void
fu_emu_wait_until_at(const void *site, bool (*ready)(void *), void *ctx,
                     const char *what)
{
    fu_emu_thread *t = fu_emu.self;

    if (ready(ctx))
        return;
    t->state = FU_EMU_AT_WAIT;
    t->site = site;
    t->ready = ready;
    t->ctx = ctx;
    t->what = what;
    fu_emu_leave();
}

FU_EMU_NOINLINE void
fu_emu_wait_until(bool (*ready)(void *), void *ctx, const char *what)
{
    fu_emu_wait_until_at(FU_EMU_HERE, ready, ctx, what);
}

/* The block of that linear index, or NULL when it isn't on the device now. */
static fu_emu_block *
fu_emu_resident(unsigned index)
{
    unsigned i = index - fu_emu.first_resident;

    return i < fu_emu.n_resident ? &fu_emu.resident[i] : NULL;
}

#endif
