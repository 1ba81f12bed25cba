/* SPDX-License-Identifier: Apache-2.0 */
/* embedded: one file carried inside the executable. tools/embed.py writes the
 * tables, sorted by name; text is NUL-terminated and the NUL is not counted. */
#ifndef FUSEC_SUPPORT_EMBEDDED_H
#define FUSEC_SUPPORT_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *name; /* base name of the file, "block_reduce.cuh" */
    const char *text;
    size_t len;
};

#endif
