/* SPDX-License-Identifier: Apache-2.0 */
/* diag_impl: what diag.c collects and diag_print.c prints. Nobody else includes
 * it. */
#ifndef FUSEC_SUPPORT_DIAG_IMPL_H
#define FUSEC_SUPPORT_DIAG_IMPL_H

#include "support/diag.h"
#include "support/vec.h"

enum { MAX_ERRORS = 20 };

struct remark {
    bool is_help; /* else a note */
    struct span where;
    const char *text;
};

struct message {
    enum diag_id id;
    enum severity severity; /* after -Werror */
    struct span where;
    uint32_t file;  /* rank of the source: by its first message */
    uint32_t order; /* of reporting, which breaks ties */
    const char *text;
    VEC(struct span) secondary;
    VEC(struct remark) remarks;
};

struct diag {
    struct arena *arena;
    bool off[DIAG_COUNT];
    bool werror;
    unsigned errors;
    struct message *last; /* NULL or the one that remarks belong to */
    struct message muted; /* takes the remarks of a disabled warning */
    VEC(struct message *) messages;
    VEC(const struct source *) sources;
};

#endif
