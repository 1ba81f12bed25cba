/* SPDX-License-Identifier: Apache-2.0 */
/* base: an internal error says where it stands and aborts. The signal is the
 * point: a fuzzer, a test or a make recipe can't take it for a refusal. */
#include "support/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
bug_at(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fprintf(stderr, "fusec: internal error: %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("; please report it with the input\n", stderr);
    abort();
}

void
out_of_memory(void)
{
    static const char text[] = "fusec: error: out of memory\n";

    /* Not by way of stdio, which may want memory. */
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(EXIT_ENVIRONMENT);
    _exit(EXIT_ENVIRONMENT);
}

void *
memory_take(size_t size)
{
    void *p = malloc(MAX(size, (size_t)1));

    if (!p)
        out_of_memory();
    return p;
}

void
memory_return(void *p)
{
    free(p);
}
