/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: the allocation $FAIL_AT of the process, counted from 1, fails, and
 * with FAIL_ON=1 so do all after it. With COUNT_TO=FILE the number of
 * allocations is written there at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static long count, fail_at = -1;
static int fail_on, ready;

static int
fails(void)
{
    if (!ready) {
        const char *at = getenv("FAIL_AT"), *on = getenv("FAIL_ON");

        ready = 1;
        fail_at = at ? atol(at) : 0;
        fail_on = on && *on == '1';
    }
    count++;
    if (!fail_at || (count != fail_at && !(fail_on && count > fail_at)))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *
malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

__attribute__((destructor)) static void
tell(void)
{
    const char *path = getenv("COUNT_TO");
    long n = count;
    FILE *f = path ? fopen(path, "w") : NULL;

    fail_at = 0;
    if (f) {
        fprintf(f, "%ld\n", n);
        fclose(f);
    }
}
