/* SPDX-License-Identifier: Apache-2.0 */
/* fu_sync: objects that order threads without a barrier of the block: atomics,
 * barrier objects, whatever a primitive waits on. Who acquires an object knows
 * of all that those did who released it before.
 *
 *   fu_emu_sync_at(address)   the object of an address
 *   fu_emu_release(sync)      before it is signalled
 *   fu_emu_acquire(sync)      after it was seen */
#ifndef FU_SYNC_H
#define FU_SYNC_H

#include "fu_clock.h"

/* What an object that threads meet at has learned. fu_emu_sync_at gives the one
 * of an address: of an atomic in global memory, of a barrier object in shared
 * memory. It is forgotten when the launch ends, in shared memory when the block
 * does. */
struct fu_emu_sync {
    const void *address;
    fu_emu_known *known;
};

static fu_emu_sync **fu_emu_syncs;
static unsigned fu_emu_n_syncs;

static fu_emu_sync *
fu_emu_sync_at(const void *address)
{
    unsigned n = fu_emu_n_syncs;
    fu_emu_sync *s;

    for (unsigned i = n; i-- > 0;)
        if (fu_emu_syncs[i]->address == address)
            return fu_emu_syncs[i];
    if ((n & (n - 1)) == 0)
        fu_emu_syncs = (fu_emu_sync **)realloc(
            fu_emu_syncs, (n ? 2 * n : 1) * sizeof(fu_emu_syncs[0]));
    s = (fu_emu_sync *)calloc(1, sizeof(*s));
    if (!fu_emu_syncs || !s)
        abort();
    s->address = address;
    fu_emu_syncs[fu_emu_n_syncs++] = s;
    return s;
}

/* Forgets the objects in [from, to). */
static void
fu_emu_sync_forget(const void *from, const void *to)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < fu_emu_n_syncs; i++) {
        fu_emu_sync *s = fu_emu_syncs[i];

        if (s->address >= from && s->address < to) {
            fu_emu_known_drop(s->known);
            free(s);
        } else {
            fu_emu_syncs[kept++] = s;
        }
    }
    fu_emu_n_syncs = kept;
}

/* The object learns a clock (takes it over) and what goes with it. */
static void
fu_emu_sync_learn(fu_emu_sync *s, fu_emu_clock *c, fu_emu_known *others)
{
    fu_emu_known *one = fu_emu_known_new(1), *both, *all;

    one->of[one->n++] = c;
    both = fu_emu_known_join(others, one);
    all = fu_emu_known_join(s->known, both);
    fu_emu_known_drop(one);
    fu_emu_known_drop(both);
    fu_emu_known_drop(s->known);
    s->known = all;
}

/* What the running thread did happened before what those do who acquire s. */
static void
fu_emu_release(fu_emu_sync *s)
{
    fu_emu_thread *t = fu_emu.self;
    fu_emu_clock *c = fu_emu_clock_new(t->block->index);

    fu_emu_clock_copy(c, t->own);
    c->at[t->index] = t->now++;
    fu_emu_sync_learn(s, c, t->others);
}

static void
fu_emu_acquire(fu_emu_sync *s)
{
    fu_emu_thread *t = fu_emu.self;
    fu_emu_clock *own = fu_emu_known_of(s->known, t->block->index);
    fu_emu_known *others = fu_emu_known_join(t->others, s->known);

    if (own) {
        own = fu_emu_clock_join(t->own, own);
        fu_emu_clock_drop(t->own);
        t->own = own;
    }
    fu_emu_known_drop(t->others);
    t->others = others;
}

/* An asynchronous copy of block b is complete: the stamp of its accesses. With
 * an object, who acquires that knows of them; with NULL, the running thread. */
static fu_emu_epoch
fu_emu_async_epoch(fu_emu_block *b, fu_emu_sync *s)
{
    fu_emu_epoch e = {fu_emu_name(b, FU_EMU_ASYNC), ++b->async_now};
    fu_emu_clock *c;

    if (!s)
        return fu_emu_epoch_now();
    c = fu_emu_clock_new(b->index);
    memset(c->at, 0, sizeof(c->at));
    c->at[FU_EMU_ASYNC] = e.when;
    fu_emu_sync_learn(s, c, NULL);
    return e;
}

#endif
