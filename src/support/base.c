/* SPDX-License-Identifier: Apache-2.0 */
/* base: an internal error says where it stands and aborts. The signal is the
 * point: a fuzzer, a test or a make recipe can't take it for a refusal. */
#include "support/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
