/* SPDX-License-Identifier: Apache-2.0 */
/* fu_race: a memory of who touched each element last, and the question whether
 * that happened before. Exact: a race is reported if and only if two accesses
 * of this run touch one element, one of them writes, and nothing orders them,
 * in whatever order the fibers ran.
 *
 * A cell keeps the last plain write and a group of accesses since: readers, or
 * atomics, which may meet each other but nothing else. One is kept in the cell;
 * those that don't know of each other go to a set for each block, made when it
 * is needed. Cells are stamped with the launch (global memory) or with
 * the set of resident blocks (shared memory), so nothing is cleared: a cell of
 * another stamp is empty, and for a dependent launch it says what the launches
 * before did. */
#ifndef FU_RACE_H
#define FU_RACE_H

#include "fu_sync.h"

enum : uint32_t {
    FU_EMU_NOBODY = 0xffffffffu,
    FU_EMU_MANY = 0xfffffffeu,   /* `when` is the index of the first set */
    FU_EMU_ATOMIC = 0x80000000u, /* in the stamp of a group: of atomics */
};

/* Where: code addresses relative to the machine, in 32 bits. */
struct fu_emu_mark {
    uint32_t who, when, stamp;
    int32_t site;
};

struct fu_emu_cell {
    fu_emu_mark write, read;
};

/* The readers of one block; `next` is the set of another block, from 1. Behind
 * its threads stand its asynchronous copies. */
struct fu_emu_readers {
    uint32_t block, next, threads;
    struct {
        uint32_t when;
        int32_t site;
    } of[1];
};

static fu_emu_readers **fu_emu_sets; /* from 1 */
static uint32_t fu_emu_n_sets, fu_emu_room_sets;

static int32_t
fu_emu_site(const void *pc)
{
    return (int32_t)((const char *)pc - (const char *)&fu_emu);
}

static const void *
fu_emu_site_pc(int32_t site)
{
    return (const char *)&fu_emu + site;
}

static uint32_t
fu_emu_readers_new(uint32_t block, uint32_t next)
{
    fu_emu_readers *r;

    if (++fu_emu_n_sets >= fu_emu_room_sets) {
        fu_emu_room_sets = fu_emu_room_sets ? 2 * fu_emu_room_sets : 64;
        fu_emu_sets = (fu_emu_readers **)realloc(
            fu_emu_sets, fu_emu_room_sets * sizeof(fu_emu_sets[0]));
        if (!fu_emu_sets)
            abort();
    }
    r = (fu_emu_readers *)calloc(1, sizeof(*r) +
                                        fu_emu.n_threads * sizeof(r->of[0]));
    if (!r)
        abort();
    r->block = block;
    r->next = next;
    r->threads = fu_emu.n_threads;
    fu_emu_sets[fu_emu_n_sets] = r;
    return fu_emu_n_sets;
}

/* No cell of the current stamps may exist any more. */
static void
fu_emu_readers_clear()
{
    for (; fu_emu_n_sets > 0; fu_emu_n_sets--)
        free(fu_emu_sets[fu_emu_n_sets]);
}

static void
fu_emu_readers_add(fu_emu_mark *read, uint32_t who, uint32_t when, int32_t site)
{
    uint32_t block = who >> 11, thread = who & 2047, i = read->when;
    fu_emu_readers *r;

    /* The sets of resident blocks stand in front. A second set of a block would
     * do no harm: what happened after its later reading did so after both. */
    for (unsigned left = fu_emu.n_resident;
         i && fu_emu_sets[i]->block != block;)
        i = --left ? fu_emu_sets[i]->next : 0;
    if (!i)
        i = read->when = fu_emu_readers_new(block, read->when);
    r = fu_emu_sets[i];
    r->of[thread < r->threads ? thread : r->threads] = {when, site};
}

/* A reader that the running thread doesn't know of, as a mark; false: none. */
static bool
fu_emu_readers_unknown(const fu_emu_mark *read, fu_emu_mark *ret)
{
    for (uint32_t i = read->when; i; i = fu_emu_sets[i]->next) {
        const fu_emu_readers *r = fu_emu_sets[i];

        for (uint32_t t = 0; t <= r->threads; t++) {
            uint32_t who =
                r->block << 11 | (t < r->threads ? t : (uint32_t)FU_EMU_ASYNC);

            if (r->of[t].when && !fu_emu_happened(who, r->of[t].when)) {
                *ret = {who, r->of[t].when, read->stamp, r->of[t].site};
                return true;
            }
        }
    }
    return false;
}

/* --- the three questions -------------------------------------------------- */

/* One of a group that the running thread doesn't know of, or NULL. */
static const fu_emu_mark *
fu_emu_group_unknown(const fu_emu_mark *group)
{
    static fu_emu_mark one;

    if (group->who == FU_EMU_MANY)
        return fu_emu_readers_unknown(group, &one) ? &one : NULL;
    return fu_emu_happened(group->who, group->when) ? NULL : group;
}

/* Notes an access in the group of its kind; all of another kind are known. */
FU_EMU_INLINE void
fu_emu_group_join(fu_emu_mark *r, uint32_t stamp, fu_emu_epoch e, int32_t site)
{
    if (r->stamp != stamp || r->who == e.who ||
        (r->who != FU_EMU_MANY && fu_emu_happened(r->who, r->when))) {
        *r = {e.who, e.when, stamp, site};
        return;
    }
    if (r->who != FU_EMU_MANY) {
        fu_emu_mark one = *r;

        *r = {FU_EMU_MANY, 0, stamp, site};
        fu_emu_readers_add(r, one.who, one.when, one.site);
    }
    fu_emu_readers_add(r, e.who, e.when, site);
}

/* Each returns the mark that the access of the running thread races with, or
 * NULL, and then notes the access. `e` is the access's own stamp: the thread's,
 * or that of a copy that is complete. */

FU_EMU_INLINE const fu_emu_mark *
fu_emu_race_read(fu_emu_cell *c, uint32_t stamp, fu_emu_epoch e, int32_t site)
{
    const fu_emu_mark *other;

    if (c->write.stamp == stamp &&
        !fu_emu_happened(c->write.who, c->write.when))
        return &c->write;
    if (c->read.stamp == (stamp | FU_EMU_ATOMIC) &&
        (other = fu_emu_group_unknown(&c->read)) != NULL)
        return other;
    fu_emu_group_join(&c->read, stamp, e, site);
    return NULL;
}

FU_EMU_INLINE const fu_emu_mark *
fu_emu_race_atomic(fu_emu_cell *c, uint32_t stamp, fu_emu_epoch e, int32_t site)
{
    const fu_emu_mark *other;

    if (c->write.stamp == stamp &&
        !fu_emu_happened(c->write.who, c->write.when))
        return &c->write;
    if (c->read.stamp == stamp &&
        (other = fu_emu_group_unknown(&c->read)) != NULL)
        return other;
    fu_emu_group_join(&c->read, stamp | FU_EMU_ATOMIC, e, site);
    return NULL;
}

FU_EMU_INLINE const fu_emu_mark *
fu_emu_race_write(fu_emu_cell *c, uint32_t stamp, fu_emu_epoch e, int32_t site)
{
    const fu_emu_mark *other;

    if (c->write.stamp == stamp &&
        !fu_emu_happened(c->write.who, c->write.when))
        return &c->write;
    if ((c->read.stamp & ~FU_EMU_ATOMIC) == stamp &&
        (other = fu_emu_group_unknown(&c->read)) != NULL)
        return other;
    c->write = {e.who, e.when, stamp, site};
    c->read.stamp = 0;
    return NULL;
}

/* The access of a copy that is complete; the questions were asked when it
 * began. */
static void
fu_emu_race_note(fu_emu_cell *c, uint32_t stamp, fu_emu_epoch e, int32_t site,
                 bool writes)
{
    if (writes) {
        c->write = {e.who, e.when, stamp, site};
        c->read.stamp = 0;
    } else if (c->read.stamp != stamp) {
        c->read = {e.who, e.when, stamp, site};
    } else {
        fu_emu_mark one = c->read;

        if (one.who != FU_EMU_MANY) {
            c->read = {FU_EMU_MANY, 0, stamp, site};
            fu_emu_readers_add(&c->read, one.who, one.when, one.site);
        }
        fu_emu_readers_add(&c->read, e.who, e.when, site);
    }
}

/* Before it waited, a thread of a dependent launch may touch only what the
 * launches that may still run leave alone: the mark of theirs, or NULL. */
FU_EMU_INLINE const fu_emu_mark *
fu_emu_race_pdl(const fu_emu_cell *c, bool writes)
{
    uint32_t w = c->write.stamp, r = c->read.stamp & ~FU_EMU_ATOMIC;

    if (fu_emu.self->pdl_waited)
        return NULL;
    if (w >= fu_emu.pdl_from && w < fu_emu.launch)
        return &c->write;
    if ((writes || c->read.stamp & FU_EMU_ATOMIC) && r >= fu_emu.pdl_from &&
        r < fu_emu.launch)
        return &c->read;
    return NULL;
}

/* "thread 5", "block 3 thread 5", "an asynchronous copy". */
static const char *
fu_emu_mark_name(const fu_emu_mark *m)
{
    static char text[64];
    unsigned block = m->who >> 11, thread = m->who & 2047;

    if (m->who == FU_EMU_MANY)
        snprintf(text, sizeof(text), "several threads");
    else if (thread == FU_EMU_ASYNC)
        snprintf(text, sizeof(text), "an asynchronous copy of block %u", block);
    else if (fu_emu.self && block == fu_emu.self->block->index)
        snprintf(text, sizeof(text), "thread %u", thread);
    else
        snprintf(text, sizeof(text), "block %u thread %u", block, thread);
    return text;
}

#endif
