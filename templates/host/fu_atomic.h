/* SPDX-License-Identifier: Apache-2.0 */
/* fu_atomic: the host's atomic.cuh. A word's sync object knows what was released
 * to it: a store begins anew, an atomic adds. A fence keeps what its thread knew
 * then for the relaxed stores after it, and takes up what the relaxed loads
 * before it found; one of the block counts as one of the GPU.
 *
 * A thread that looks at an unchanged word again gives way to the others; after
 * very many looks it waits for a change, so that a loop that would never end is
 * a deadlock. */
#ifndef FU_ATOMIC_H
#define FU_ATOMIC_H

#include "fu_words.h"
#include "atomic.cuh"

enum { FU_EMU_LOOKS = 100000 };

/* As on the device the type is the word's, whatever the value's is. */
template <typename T> struct fu_emu_same {
    typedef T type;
};

/* What a thread has to do with asynchronous things; of one set of blocks. */
struct fu_emu_async {
    uint32_t group;
    /* Its last look at a word, and how often it saw the same. */
    const void *looked;
    size_t look_bytes;
    uint64_t saw;
    unsigned looks;
    bool gave_way;
    fu_emu_sync fence, loaded; /* see above */
    /* fu_async.h: pieces under way and stores of bulk copies, by group. */
    struct fu_emu_piece *pieces;
    unsigned n_pieces, room_pieces, piece_group;
    struct fu_emu_out *outs;
    unsigned n_outs, room_outs, out_group;
    /* The step that its last fence of the async proxy ended, and what it knew
     * of others then. */
    uint32_t fenced;
    fu_emu_sync fence_knew;
    /* fu_cluster.h: the cluster's barrier. */
    unsigned arrivals, waits;
    struct fu_emu_visit *visits; /* by rank */
};

static void
fu_emu_sync_clear(fu_emu_sync *s)
{
    fu_emu_known_drop(s->known);
    s->known = NULL;
}

/* What `from` has learned goes to `to`. */
static void
fu_emu_sync_pass(fu_emu_sync *to, fu_emu_sync *from)
{
    fu_emu_known *all = fu_emu_known_join(to->known, from->known);

    fu_emu_sync_clear(to);
    fu_emu_sync_clear(from);
    to->known = all;
}

static void
fu_emu_async_reset(fu_emu_async *a)
{
    fu_emu_async old = *a;

    fu_emu_sync_clear(&a->fence);
    fu_emu_sync_clear(&a->loaded);
    fu_emu_sync_clear(&a->fence_knew);
    memset(a, 0, sizeof(*a));
    a->group = fu_emu.group;
    a->pieces = old.pieces;
    a->room_pieces = old.room_pieces;
    a->outs = old.outs;
    a->room_outs = old.room_outs;
    free(old.visits);
}

static fu_emu_async *
fu_emu_async_of(fu_emu_thread *t)
{
    if (!t->async) {
        t->async = (fu_emu_async *)calloc(1, sizeof(fu_emu_async));
        if (!t->async)
            abort();
    }
    if (t->async->group != fu_emu.group)
        fu_emu_async_reset(t->async);
    return t->async;
}

/* --- looking again ------------------------------------------------------------------ */

static uint64_t
fu_emu_peek(const void *p, size_t n)
{
    uint64_t x = 0;

    memcpy(&x, p, n);
    return x;
}

static bool
fu_emu_look_ready(void *ctx)
{
    fu_emu_async *a = (fu_emu_async *)ctx;

    if (fu_emu_peek(a->looked, a->look_bytes) != a->saw)
        return true;
    if (a->looks >= FU_EMU_LOOKS)
        return false;
    a->gave_way ^= true;
    return !a->gave_way;
}

/* Before a look at n bytes at p. */
static void
fu_emu_look(const void *site, const void *p, size_t n)
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);
    uint64_t now = fu_emu_peek(p, n);

    if (a->looked != p || a->saw != now) {
        a->looked = p;
        a->look_bytes = n;
        a->saw = now;
        a->looks = 0;
        return;
    }
    a->looks++;
    a->gave_way = false;
    fu_emu_wait_until_at(site, fu_emu_look_ready, a,
                         "a word that it looks at to change");
}

/* --- order ------------------------------------------------------------------------- */

/* The side of a release: before the word changes. */
static void
fu_emu_order_out(fu_emu_sync *s, fu_order order, bool is_store)
{
    fu_emu_sync *fence = &fu_emu_async_of(fu_emu.self)->fence;
    fu_emu_known *all;

    if (is_store)
        fu_emu_sync_clear(s);
    if (order == FU_RELEASE || order == FU_ACQ_REL) {
        fu_emu_release(s);
    } else if (fence->known) {
        all = fu_emu_known_join(s->known, fence->known);
        fu_emu_sync_clear(s);
        s->known = all;
    }
}

/* The side of an acquire: what is known to the word. */
static void
fu_emu_order_in(fu_emu_sync *s, fu_order order)
{
    fu_emu_sync *loaded = &fu_emu_async_of(fu_emu.self)->loaded;
    fu_emu_known *all;

    if (order == FU_ACQUIRE || order == FU_ACQ_REL) {
        fu_emu_acquire(s);
    } else if (s->known) {
        all = fu_emu_known_join(loaded->known, s->known);
        fu_emu_sync_clear(loaded);
        loaded->known = all;
    }
}

FU_EMU_NOINLINE void
fu_emu_fence()
{
    fu_emu_async *a = fu_emu_async_of(fu_emu.self);

    fu_emu_acquire(&a->loaded);
    fu_emu_release(&a->fence);
}

/* --- atomics ------------------------------------------------------------------------ */

/* Before an atomic changes n bytes at p. */
FU_EMU_NOINLINE void
fu_emu_change(void *p, size_t n, fu_order order)
{
    const void *site = FU_EMU_HERE;
    fu_emu_sync *s;

    fu_emu_atomic_at(site, p, n, FU_EMU_CHANGE);
    s = fu_emu_sync_at(p);
    fu_emu_order_in(s, order);
    fu_emu_order_out(s, order, false);
}

/* Before one that may leave the word as it is. */
FU_EMU_NOINLINE void
fu_emu_try_change(void *p, size_t n, fu_order order)
{
    const void *site = FU_EMU_HERE;
    fu_emu_sync *s;

    fu_emu_atomic_at(site, p, n, FU_EMU_CHANGE);
    fu_emu_look(site, p, n);
    s = fu_emu_sync_at(p);
    fu_emu_order_in(s, order);
    fu_emu_order_out(s, order, false);
}

FU_EMU_NOINLINE void
fu_emu_load_word(const void *p, size_t n, fu_order order)
{
    const void *site = FU_EMU_HERE;

    fu_emu_atomic_at(site, (void *)p, n, FU_EMU_LOAD);
    fu_emu_look(site, p, n);
    fu_emu_order_in(fu_emu_sync_at(p), order);
}

FU_EMU_NOINLINE void
fu_emu_store_word(void *p, size_t n, fu_order order)
{
    fu_emu_atomic_at(FU_EMU_HERE, p, n, FU_EMU_STORE);
    fu_emu_order_out(fu_emu_sync_at(p), order, true);
}

template <fu_order O, typename T>
FU_EMU_INLINE T
fu_atomic_add(T *p, typename fu_emu_same<T>::type x)
{
    fu_emu_change(p, sizeof(T), O);
    T y = *p;
    *p = y + x;
    return y;
}

template <fu_order O, typename T>
FU_EMU_INLINE T
fu_atomic_max(T *p, typename fu_emu_same<T>::type x)
{
    fu_emu_change(p, sizeof(T), O);
    T y = *p;
    *p = y < x ? x : y;
    return y;
}

template <fu_order O>
FU_EMU_INLINE fu_u32
fu_atomic_inc(fu_u32 *p, fu_u32 x)
{
    fu_emu_change(p, sizeof(*p), O);
    fu_u32 y = *p;
    *p = y >= x ? 0 : y + 1;
    return y;
}

template <fu_order O, typename T>
FU_EMU_INLINE T
fu_atomic_cas(T *p, typename fu_emu_same<T>::type from,
              typename fu_emu_same<T>::type to)
{
    fu_emu_try_change(p, sizeof(T), O);
    T y = *p;
    if (y == from)
        *p = to;
    return y;
}

template <typename T>
FU_EMU_INLINE T
fu_load_relaxed(const T *p)
{
    fu_emu_load_word(p, sizeof(T), FU_RELAXED);
    return *p;
}

template <typename T>
FU_EMU_INLINE T
fu_load_acquire(const T *p)
{
    fu_emu_load_word(p, sizeof(T), FU_ACQUIRE);
    return *p;
}

template <typename T>
FU_EMU_INLINE void
fu_store_relaxed(T *p, typename fu_emu_same<T>::type x)
{
    fu_emu_store_word(p, sizeof(T), FU_RELAXED);
    *p = x;
}

template <typename T>
FU_EMU_INLINE void
fu_store_release(T *p, typename fu_emu_same<T>::type x)
{
    fu_emu_store_word(p, sizeof(T), FU_RELEASE);
    *p = x;
}

FU_EMU_INLINE void fu_fence_block() { fu_emu_fence(); }
FU_EMU_INLINE void fu_fence_gpu() { fu_emu_fence(); }

/* --- waiting for a word --------------------------------------------------------------- */

struct fu_emu_word {
    const fu_u32 *p;
    fu_u32 mask, value;
    char text[160];
};

static bool
fu_emu_word_differs(void *ctx)
{
    const fu_emu_word *w = (const fu_emu_word *)ctx;

    return (*w->p & w->mask) != w->value;
}

static void
fu_emu_word_name(fu_emu_word *w)
{
    const fu_emu_memory *m = fu_emu_find((uintptr_t)w->p, 4);

    snprintf(w->text, sizeof(w->text),
             "byte %zu of '%s', a word, to differ from 0x%x under mask 0x%x",
             m ? (size_t)((uintptr_t)w->p - m->from) : 0,
             m ? m->info.name : "memory", w->value, w->mask);
}

FU_EMU_NOINLINE void
fu_emu_word_wait(fu_emu_word *w)
{
    const void *site = FU_EMU_HERE;

    fu_emu_atomic_at(site, (void *)w->p, 4, FU_EMU_LOAD);
    fu_emu_word_name(w);
    fu_emu_wait_until_at(site, fu_emu_word_differs, w, w->text);
    fu_emu_atomic_at(site, (void *)w->p, 4, FU_EMU_LOAD);
    fu_emu_acquire(fu_emu_sync_at(w->p));
}

FU_EMU_INLINE fu_u32
fu_wait_while(const fu_u32 *p, fu_u32 mask, fu_u32 value)
{
    fu_emu_word w;

    w.p = p;
    w.mask = mask;
    w.value = value;
    fu_emu_word_wait(&w);
    return *p;
}

#endif
