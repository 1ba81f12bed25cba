/* SPDX-License-Identifier: Apache-2.0 */
/* match: do these arguments fit the manifest, which variant takes them, and
 * what exactly does it launch? The same for a GPU and for the emulation: a
 * backend is told the grid, the shared memory and the argument list. */
#ifndef FUSEC_TOOLS_LAUNCH_MATCH_H
#define FUSEC_TOOLS_LAUNCH_MATCH_H

#include "tools/launch/manifest.h"

struct message {
    char *text;
    size_t size;
};
/* Control characters of what a file says, as question marks; LINES: but for
 * line ends. */
void message_clean(char *text, bool lines);
/* Writes the text, cleaned, and returns the status. */
int message_set(const struct message *m, int status, const char *fmt, ...)
    ATTR_PRINTF(3, 4);

struct call {
    const struct m_launch *l;
    unsigned grid[3];
    unsigned smem_bytes;
    void **args; /* pointers to the values, as cuLaunchKernel takes them */
};

struct backend {
    void *data;
    int sms;
    int (*launch)(void *data, const struct call *c, void *stream,
                  const struct message *msg);
    /* Cooperative: can the whole grid be on the device at once? */
    bool (*resident)(void *data, const struct call *c);
    int (*clear)(void *data, void *memory, size_t bytes, void *stream,
                 const struct message *msg);
};

/* Arguments bound to a fusion. */
struct match {
    const struct fusec_fusion *f;
    const struct fusec_tensor *args;
    int64_t sms;
    int64_t dims[M_MAX_DIMS];
};

/* Reads the dimensions and checks types, shapes, strides, guards, and with
 * `memory` also addresses, alignment and overlaps. */
int match_args(struct match *m, const struct fusec_tensor *args, unsigned n,
               bool memory, const struct message *msg);
/* The first variant whose guard holds and whose grid fits; -1 with a message.
 */
int match_variant(const struct match *m, const struct backend *b,
                  const struct message *msg);
/* Offsets of the workspace buffers (may be NULL) and the size of all. */
int match_workspace(const struct match *m, size_t *ret_offsets,
                    size_t *ret_bytes, const struct message *msg);
int match_clear(const struct match *m, const struct backend *b,
                const struct fusec_space *s, const struct message *msg);
/* Runs every launch of the variant. */
int match_launch(const struct match *m, const struct backend *b, int variant,
                 const struct fusec_space *s, const struct message *msg);
/* The value of an expression of the fusion; false: overflow or zero divisor. */
bool match_eval(const struct match *m, const struct expr *e, int64_t *ret);
size_t match_dtype_bytes(int dtype);

#endif
