/* SPDX-License-Identifier: Apache-2.0 */
/* arena: chunks of zeroed memory, handed out from front to back.
 *
 * A chunk comes from calloc, so pages nobody touches cost nothing. Chunks grow
 * with the arena, which keeps their number small. The last block handed out can
 * grow in place: a text that is built by appending mostly does. */
#include "support/base.h"

#include "support/arena.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 16, FIRST_CHUNK = 1 << 16, LAST_CHUNK = 1 << 22 };

struct chunk {
    struct chunk *next; /* the one before it in time */
    size_t size, used;  /* of data */
    char *data;
};

struct arena {
    struct chunk *chunk; /* the newest; the only one that is filled */
    size_t next_size;
};

static size_t
round_up(size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        out_of_memory();
    return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static void
add_chunk(struct arena *a, size_t need)
{
    size_t size = MAX(a->next_size, need);
    struct chunk *c = calloc(1, sizeof(*c));

    if (!c)
        out_of_memory();
    c->data = calloc(1, size);
    if (!c->data)
        out_of_memory();
    c->size = size;
    c->next = a->chunk;
    a->chunk = c;
    a->next_size = MIN(2 * a->next_size, (size_t)LAST_CHUNK);
}

struct arena *
arena_new(void)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (!a)
        out_of_memory();
    a->next_size = FIRST_CHUNK;
    return a;
}

void
arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->chunk, *next; c; c = next) {
        next = c->next;
        free(c->data);
        free(c);
    }
    free(a);
}

void *
arena_alloc(struct arena *a, size_t size)
{
    size_t need = round_up(MAX(size, (size_t)1));
    char *p;

    if (!a->chunk || a->chunk->size - a->chunk->used < need)
        add_chunk(a, need);
    p = a->chunk->data + a->chunk->used;
    a->chunk->used += need;
    assert(((uintptr_t)p & (ALIGN - 1)) == 0);
    return p;
}

void *
arena_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        out_of_memory();
    return arena_alloc(a, n * size);
}

/* True when OLD was the last block handed out and there is room behind it. */
static bool
grow_in_place(struct arena *a, const void *old, size_t old_size, size_t size)
{
    struct chunk *c = a->chunk;
    size_t had = round_up(old_size), need = round_up(size);

    if (!old || !old_size || need < had)
        return false;
    if ((const char *)old + had != c->data + c->used)
        return false;
    if (c->size - c->used < need - had)
        return false;
    c->used += need - had;
    return true;
}

void *
arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new,
           size_t size)
{
    void *p;

    assert(n_new >= n_old);
    if (size && n_new > SIZE_MAX / size)
        out_of_memory();
    if (grow_in_place(a, old, n_old * size, n_new * size)) {
        /* The block is ours again, whatever const the caller saw it with. */
        return a->chunk->data + ((const char *)old - a->chunk->data);
    }
    p = arena_array(a, n_new, size);
    if (n_old)
        memcpy(p, old, n_old * size);
    return p;
}

char *
arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);

    if (n)
        memcpy(p, s, n);
    return p;
}

char *
arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

const char *
arena_join(struct arena *a, const char *x, const char *y)
{
    size_t nx = strlen(x), ny = strlen(y);
    char *p;

    if (!ny)
        return x;
    p = arena_alloc(a, nx + ny + 1);
    memcpy(p, x, nx);
    memcpy(p + nx, y, ny);
    return p;
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    char line[256], *p; /* most texts are no longer */
    va_list again;
    int n;

    assert(fmt);
    va_copy(again, ap);
    n = vsnprintf(line, sizeof(line), fmt, again);
    va_end(again);
    if (n < 0)
        BUG("cannot format '%s'", fmt);
    if ((size_t)n < sizeof(line))
        return arena_strndup(a, line, (size_t)n);
    p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;

    va_start(ap, fmt);
    p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}
