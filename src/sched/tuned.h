/* SPDX-License-Identifier: Apache-2.0 */
/* tuned: plans that were measured to be good, by the signature of a graph, a
 * device and a range of sizes. A text, made by fusec-tune, read by --tuned:
 *
 *     tuned := 'tuned' '1' { 'entry' SIGNATURE DEVICE '{'
 *         'rows' LEAST MOST ';' 'columns' LEAST MOST ';'
 *         'measured_ns' INT ';' 'model_ns' INT ';' { KERNEL } '}' }
 *
 * with the kernels of a plan, whose buffers are named by number. The first
 * entry that fits is taken. */
#ifndef FUSEC_SCHED_TUNED_H
#define FUSEC_SCHED_TUNED_H

#include "sched/plan.h"
#include "support/source.h"

struct tuned_entry {
    char signature[17]; /* graph_signature */
    const char *device; /* as --device names it */
    int64_t rows[2], columns[2];
    int64_t measured_ns;
    int64_t model_ns; /* of what fusec took without it, measured as well */
    struct variant_plan plan; /* kernels alone */
    struct span span;         /* of the word 'entry' */
};

struct tuned_file {
    struct tuned_entry *entries;
    uint32_t n_entries;
};

/* NULL after an error, which is in D with its place. */
const struct tuned_file *tuned_parse(struct arena *a, struct diag *d,
                                     const struct source *src);
/* A tuning file of the entries of TEXT that belong to one of the graphs; each
 * begins a line. The rest needn't be parsed. */
const struct source *tuned_extract(struct arena *a, const char *name,
                                   const char *text,
                                   const struct graph *const *graphs,
                                   uint32_t n_graphs);
/* The first entry from *AT on for these sizes, which moves past it; NULL when
 * there is no more. */
const struct tuned_entry *tuned_find(const struct tuned_file *f,
                                     const struct graph *g, const char *device,
                                     const int64_t rows_columns[2],
                                     uint32_t *at);

#endif
