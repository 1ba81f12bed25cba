/* SPDX-License-Identifier: Apache-2.0 */
/* fu_clock: what happened before what.
 *
 * Every thread counts its own steps (`now`); a step ends where it meets others.
 * An access is stamped with its thread and that thread's step. It happened
 * before everything that thread u does as soon as u knows of that step. What u
 * knows is, for each block, a clock: an array with the last known step of each
 * thread. Vector clocks for each of 1024 threads would be dear, but threads that
 * met know the same: clocks are shared and counted, and changed only by their
 * sole owners.
 *
 *   block barrier    all know the current step of all: one new clock for all
 *   group, warp      the same for those threads; a warp that shuffles again
 *                    changes the clock that it alone holds
 *   sync object      release: the object learns what the thread knows;
 *                    acquire: the thread learns what the object knows. Only
 *                    here knowledge of other blocks arises (`others`).
 *
 * Beside its threads a block has one more clock entry, of its asynchronous
 * copies: who acquires the object that a copy completes knows of its bytes. */
#ifndef FU_CLOCK_H
#define FU_CLOCK_H

#include "fu_machine.h"

/* Entry of the asynchronous copies in a clock. */
enum { FU_EMU_ASYNC = FU_EMU_THREADS, FU_EMU_CLOCK = FU_EMU_THREADS + 1 };

struct fu_emu_clock {
    unsigned refs, block;
    fu_emu_clock *next; /* in the list of free ones */
    uint32_t at[FU_EMU_CLOCK];
};

/* Clocks of several blocks, by block. Never changed once made. */
struct fu_emu_known {
    unsigned refs, n;
    fu_emu_clock *of[1];
};

/* An access: its thread as block * 2048 + thread, and that thread's step. */
struct fu_emu_epoch {
    uint32_t who, when;
};

static fu_emu_clock *fu_emu_free_clocks;

static fu_emu_clock *
fu_emu_clock_hold(fu_emu_clock *c)
{
    c->refs++;
    return c;
}

static void
fu_emu_clock_drop(fu_emu_clock *c)
{
    if (--c->refs > 0)
        return;
    c->next = fu_emu_free_clocks;
    fu_emu_free_clocks = c;
}

static fu_emu_clock *
fu_emu_clock_new(unsigned block)
{
    fu_emu_clock *c = fu_emu_free_clocks;

    if (c)
        fu_emu_free_clocks = c->next;
    else
        c = (fu_emu_clock *)malloc(sizeof(*c));
    if (!c)
        abort();
    c->refs = 1;
    c->block = block;
    return c;
}

/* The threads of the launch and the entry of the copies; others aren't used. */
static void
fu_emu_clock_copy(fu_emu_clock *to, const fu_emu_clock *from)
{
    memcpy(to->at, from->at, fu_emu.n_threads * sizeof(to->at[0]));
    to->at[FU_EMU_ASYNC] = from->at[FU_EMU_ASYNC];
}

static void
fu_emu_clock_max(fu_emu_clock *to, const fu_emu_clock *from)
{
    for (unsigned i = 0; i < fu_emu.n_threads; i++)
        if (to->at[i] < from->at[i])
            to->at[i] = from->at[i];
    if (to->at[FU_EMU_ASYNC] < from->at[FU_EMU_ASYNC])
        to->at[FU_EMU_ASYNC] = from->at[FU_EMU_ASYNC];
}

static fu_emu_clock *
fu_emu_clock_join(fu_emu_clock *a, fu_emu_clock *b)
{
    fu_emu_clock *c;

    if (a == b)
        return fu_emu_clock_hold(a);
    c = fu_emu_clock_new(a->block);
    fu_emu_clock_copy(c, a);
    fu_emu_clock_max(c, b);
    return c;
}

/* --- of several blocks ---------------------------------------------------------- */

static fu_emu_known *
fu_emu_known_hold(fu_emu_known *k)
{
    if (k)
        k->refs++;
    return k;
}

static void
fu_emu_known_drop(fu_emu_known *k)
{
    if (!k || --k->refs > 0)
        return;
    for (unsigned i = 0; i < k->n; i++)
        fu_emu_clock_drop(k->of[i]);
    free(k);
}

static fu_emu_known *
fu_emu_known_new(unsigned room)
{
    fu_emu_known *k = (fu_emu_known *)malloc(
        sizeof(*k) + room * sizeof(k->of[0]));

    if (!k)
        abort();
    k->refs = 1;
    k->n = 0;
    return k;
}

static fu_emu_clock *
fu_emu_known_of(const fu_emu_known *k, unsigned block)
{
    unsigned from = 0, to = k ? k->n : 0;

    while (from < to) {
        unsigned mid = (from + to) / 2;

        if (k->of[mid]->block == block)
            return k->of[mid];
        if (k->of[mid]->block < block)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

static fu_emu_known *
fu_emu_known_join(fu_emu_known *a, fu_emu_known *b)
{
    fu_emu_known *k;
    unsigned i = 0, j = 0;

    if (a == b || !b)
        return fu_emu_known_hold(a);
    if (!a)
        return fu_emu_known_hold(b);
    k = fu_emu_known_new(a->n + b->n);
    while (i < a->n || j < b->n)
        if (j == b->n || (i < a->n && a->of[i]->block < b->of[j]->block))
            k->of[k->n++] = fu_emu_clock_hold(a->of[i++]);
        else if (i == a->n || b->of[j]->block < a->of[i]->block)
            k->of[k->n++] = fu_emu_clock_hold(b->of[j++]);
        else
            k->of[k->n++] = fu_emu_clock_join(a->of[i++], b->of[j++]);
    return k;
}

/* --- threads ------------------------------------------------------------------------ */

static uint32_t
fu_emu_name(const fu_emu_block *b, unsigned thread)
{
    return b->index << 11 | thread;
}

FU_EMU_INLINE fu_emu_epoch
fu_emu_epoch_now()
{
    const fu_emu_thread *t = fu_emu.self;
    return {fu_emu_name(t->block, t->index), t->now};
}

/* Does the running thread know of that access? */
static bool
fu_emu_happened(uint32_t who, uint32_t when)
{
    const fu_emu_thread *t = fu_emu.self;
    unsigned block = who >> 11, thread = who & 2047;
    const fu_emu_clock *c;

    if (block == t->block->index)
        return thread == t->index || when <= t->own->at[thread];
    c = fu_emu_known_of(t->others, block);
    return c && when <= c->at[thread];
}

/* A block begins: its threads know of nothing but the start. */
static void
fu_emu_clocks_begin(fu_emu_block *b)
{
    fu_emu_clock *c = fu_emu_clock_new(b->index);

    memset(c->at, 0, sizeof(c->at));
    for (unsigned i = 0; i < fu_emu.n_threads; i++) {
        b->thread[i].now = 1;
        b->thread[i].own = fu_emu_clock_hold(c);
        b->thread[i].others = NULL;
    }
    fu_emu_clock_drop(c);
    b->async_now = 0;
}

static void
fu_emu_clocks_end(fu_emu_block *b)
{
    for (unsigned i = 0; i < fu_emu.n_threads; i++) {
        fu_emu_clock_drop(b->thread[i].own);
        fu_emu_known_drop(b->thread[i].others);
    }
}

/* The clock that n threads share from now on: what any of them knew. When they
 * alone hold one clock, it is that. All threads of a block know more together
 * than any of them: then only the copies' entry needs a look. */
static fu_emu_clock *
fu_emu_meet_own(fu_emu_thread *const *t, unsigned n)
{
    fu_emu_clock *first = t[0]->own, *c, *last = first;
    bool same = true;

    for (unsigned i = 1; i < n && same; i++)
        same = t[i]->own == first;
    if (same && first->refs == n)
        return fu_emu_clock_hold(first);
    c = fu_emu_clock_new(first->block);
    fu_emu_clock_copy(c, first);
    for (unsigned i = 1; i < n && !same; i++) {
        if (t[i]->own == last)
            continue;
        last = t[i]->own;
        if (n < fu_emu.n_threads)
            fu_emu_clock_max(c, last);
        else if (c->at[FU_EMU_ASYNC] < last->at[FU_EMU_ASYNC])
            c->at[FU_EMU_ASYNC] = last->at[FU_EMU_ASYNC];
    }
    return c;
}

static fu_emu_known *
fu_emu_meet_others(fu_emu_thread *const *t, unsigned n)
{
    fu_emu_known *k = fu_emu_known_hold(t[0]->others);

    for (unsigned i = 1; i < n; i++) {
        fu_emu_known *more;

        if (t[i]->others == k)
            continue;
        more = fu_emu_known_join(k, t[i]->others);
        fu_emu_known_drop(k);
        k = more;
    }
    return k;
}

/* These threads of one block met: each knows all that any of them did. */
static void
fu_emu_meet(fu_emu_thread *const *t, unsigned n)
{
    fu_emu_clock *own = fu_emu_meet_own(t, n);
    fu_emu_known *others = fu_emu_meet_others(t, n);

    for (unsigned i = 0; i < n; i++) {
        own->at[t[i]->index] = t[i]->now++;
        fu_emu_clock_drop(t[i]->own);
        t[i]->own = fu_emu_clock_hold(own);
        fu_emu_known_drop(t[i]->others);
        t[i]->others = fu_emu_known_hold(others);
    }
    fu_emu_clock_drop(own);
    fu_emu_known_drop(others);
}

#endif
