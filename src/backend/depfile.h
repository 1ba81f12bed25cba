/* SPDX-License-Identifier: Apache-2.0 */
/* depfile: the dependency file of -MD, as gcc writes it. */
#ifndef FUSEC_BACKEND_DEPFILE_H
#define FUSEC_BACKEND_DEPFILE_H

#include "support/base.h"

struct buf;

struct depfile {
    const char *target;       /* escaped, unless verbatim */
    bool verbatim;            /* -MT: the target as given */
    const char *const *files; /* the main file first */
    uint32_t n_files;
    bool phony; /* -MP: an empty rule for every other file */
};

void depfile_print(struct buf *b, const struct depfile *d);

#endif
