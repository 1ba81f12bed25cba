/* SPDX-License-Identifier: Apache-2.0 */
/* io: whole files in, whole files out. Outputs are complete temporaries,
 * flushed to disk, before the first is renamed; a failure leaves all old files
 * as they were. */
#ifndef FUSEC_SUPPORT_IO_H
#define FUSEC_SUPPORT_IO_H

#include "support/base.h"

#include <signal.h>

struct arena;

/* NULL with errno set on failure. The text is NUL-terminated beyond len. */
char *io_read(struct arena *a, const char *path, size_t *ret_len);
/* Standard input, which can be read but once. */
char *io_read_stdin(struct arena *a, size_t *ret_len);

struct io_output {
    const char *path; /* "-" is standard output */
    const void *data;
    size_t len;
};
/* Writes all or none; renames in the order given. On failure returns the index
 * of the output that failed and leaves errno; -1 on success. With keep_time an
 * output whose bytes are unchanged is left untouched. */
int io_write_all(struct arena *a, const struct io_output *outs, size_t n,
                 bool keep_time);

/* Holds back the signals that would end the process, until the mask before is
 * set again: for as long as there is something to be removed. */
void io_hold_signals(sigset_t *ret_before);
/* True, with errno EINTR, when such a signal waits. */
bool io_interrupted(void);

/* Standard files that are closed get a descriptor that can only fail, so that
 * no output of ours is opened under their number. Call it first. */
void io_open_standard_files(void);

/* PATH absolute and without links; as it is when it leads nowhere. */
const char *io_follow_links(struct arena *a, const char *path);

/* The first NAME on $PATH that can be run, its links followed, or NULL. */
const char *io_find_program(struct arena *a, const char *name);

#endif
