/* SPDX-License-Identifier: Apache-2.0 */
/* diag: the only printer of messages to the user.
 *
 * Every message has a row in diags.def: a stable id, a severity and a format.
 * Stages report; diag collects; the driver flushes once (sorted by place) and
 * asks for the number of errors. Notes, hints and secondary carets belong to
 * the message reported last. */
#ifndef FUSEC_SUPPORT_DIAG_H
#define FUSEC_SUPPORT_DIAG_H

#include <stdio.h>

#include "support/base.h"
#include "support/source.h"

struct arena;

enum severity { SEV_NOTE, SEV_WARNING, SEV_ERROR, SEV_FATAL };

enum diag_id {
#define DIAG(id, text_id, severity, format, explanation) DIAG_##id,
#include "support/diags.def"
#undef DIAG
    DIAG_COUNT
};

struct diag_info {
    const char *id; /* "shape-mismatch" */
    enum severity severity;
    const char *format;
    const char *explanation; /* for --explain-error */
};
extern const struct diag_info diag_info[DIAG_COUNT];

struct diag;

struct diag *diag_new(struct arena *a);
/* The arguments follow diag_info[id].format. */
void diag_report(struct diag *d, enum diag_id id, struct span where, ...);
void diag_secondary(struct diag *d, struct span where); /* the `~~` caret */
void diag_note(struct diag *d, struct span where, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
void diag_help(struct diag *d, struct span where, const char *fmt, ...)
    ATTR_PRINTF(3, 4);

unsigned diag_errors(const struct diag *d);
/* The exit status that the messages since the last flush ask for: by the first
 * fatal one, else EXIT_INPUT after an error, else EXIT_OK. */
int diag_exit_status(const struct diag *d);
/* True after 20 errors: stages may stop. */
bool diag_full(const struct diag *d);

struct diag_style {
    bool json; /* -fdiagnostics=json */
    bool color;
    const char *tool; /* "fusec", for messages without a place */
};
/* -W name / -Wno-name / -Wname; false for an unknown id. */
bool diag_set_enabled(struct diag *d, const char *id, bool on);
void diag_set_all_warnings(struct diag *d, bool on); /* -Wall, -w */
/* Warnings reported from here on count and print as errors. */
void diag_set_werror(struct diag *d, bool on);
/* Prints all messages sorted by (file order, offset), at most 20 errors, and
 * forgets them; the number of errors stays. As JSON it is one array, one
 * message a line:
 *     {"id", "severity", "message", "file", "line", "column", "byte_begin",
 *      "byte_end", "secondary": [{"byte_begin", "byte_end"}],
 *      "notes": [{"severity", "message", "file", ...}]}
 * where a message without a place lacks the members from "file" to
 * "byte_end". */
void diag_flush(struct diag *d, FILE *to, const struct diag_style *style);
const struct diag_info *diag_find(const char *id);

#endif
