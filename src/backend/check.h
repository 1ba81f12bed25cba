/* SPDX-License-Identifier: Apache-2.0 */
/* check: a unified diff of two texts, for --check. */
#ifndef FUSEC_BACKEND_CHECK_H
#define FUSEC_BACKEND_CHECK_H

#include "support/base.h"

struct buf;

struct check_text {
    const char *name; /* stands in the head of the diff */
    const char *text;
    size_t len;
};

/* True when both are the same bytes; else the diff is appended to B. */
bool check_diff(struct buf *b, const struct check_text *before,
                const struct check_text *after);

#endif
