/* SPDX-License-Identifier: Apache-2.0 */
/* arena: the only allocator. Memory is zeroed and lives until arena_free; out
 * of memory prints one message and leaves with EXIT_ENVIRONMENT, so no caller
 * checks. */
#ifndef FUSEC_SUPPORT_ARENA_H
#define FUSEC_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "support/base.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-byte aligned */
/* n * size with the overflow checked. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A grown copy of OLD (n_old elements) with room for n_new; the rest zeroed. */
void *arena_grow(struct arena *a, const void *old, size_t n_old, size_t n_new,
                 size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Both, one behind the other; X itself where nothing follows. */
const char *arena_join(struct arena *a, const char *x, const char *y);
char *arena_printf(struct arena *a, const char *fmt, ...) ATTR_PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    ATTR_PRINTF(2, 0);

#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define NEW_ARRAY(a, T, n) ((T *)arena_array((a), (size_t)(n), sizeof(T)))

#endif
