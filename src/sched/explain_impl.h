/* SPDX-License-Identifier: Apache-2.0 */
/* explain_impl: what text and JSON of --explain share. */
#ifndef FUSEC_SCHED_EXPLAIN_IMPL_H
#define FUSEC_SCHED_EXPLAIN_IMPL_H

#include "sched/explain.h"
#include "sched/scheduler.h"

struct buf;

/* Whole nanoseconds, bytes. */
int64_t explain_whole(double x);
int explain_percent(double part, double of);

/* --- explain_terms.c --- */
struct time_line {
    const char *key, *words;
    int64_t ns;
};
enum { TIME_LINES = CT_COUNT + 1 };
/* A copy's time and what comes to it; they add up to the total. */
void explain_time(const struct device *dev, const struct variant_slot *slot,
                  const struct plan_cost *c, struct time_line ret[TIME_LINES]);
/* "reduction, ", or nothing where several kernels have one each. */
const char *explain_scheduler(struct arena *a, const struct candidate *c);
/* What keeps more blocks from a multiprocessor: "registers", ... */
const char *explain_limit(struct arena *a, const struct device *dev,
                          const struct kernel_plan *k,
                          const struct plan_cost *c);

/* --- explain_words.c --- */
/* The value as an expression over named ones, "mean(wdy * xhat)". */
const char *explain_words(struct arena *a, const struct graph *g, node_id n);

/* By node: what has no name and some candidate's buffer is for. */
const bool *explain_unnamed(const struct selection *s);

/* --- explain_buffers.c --- */
/* A kernel of a candidate, and what it is a kernel of: the fusion, or a part of
 * it (parts.h). */
struct explained_kernel {
    const struct selection *selection;
    const struct variant_slot *slot;
    const struct candidate *candidate;
    uint32_t index;
    const struct kernel_plan *plan;
    const struct plan_cost *cost; /* its own */
    const struct facts *facts;
    int64_t columns; /* counted with */
};
struct explained_kernel explain_kernel(const struct selection *s,
                                       const struct variant_slot *slot,
                                       const struct candidate *c,
                                       uint32_t index);

struct alternative { /* the best plan that has a value in another store */
    enum store store;
    uint32_t plan;       /* from 1 */
    const char *refused; /* the limit that it breaks, or NULL */
    int64_t more_ns;     /* than the chosen one */
};
/* For a buffer of the chosen plan, in their order. */
uint32_t explain_alternatives(const struct explained_kernel *k,
                              const struct buffer_plan *b,
                              struct alternative ret[STORE_COUNT]);
/* "input", "workspace", "computed", "column sum". */
const char *explain_what(const struct facts *f, node_id n);
/* What is kept, then what is written for later kernels, with what of a row
 * waits from which phase to which; has_waits is false where rows have none. */
struct explained_buffer {
    struct buffer_plan plan;
    struct buffer_wait wait;
    bool has_wait, written;
};
uint32_t explain_list_buffers(const struct explained_kernel *k,
                              struct explained_buffer **ret);
void explain_buffers(struct buf *b, const struct explained_kernel *k);
const char *explain_store(struct arena *a, int64_t store);

/* --- explain_plan.c --- */
/* A candidate in full. */
void explain_plan(struct buf *b, const struct explained *e, uint32_t slot,
                  uint32_t candidate);
/* --- explain_table.c --- */
/* The others of a slot, a line each; COMPILED is NULL where nothing was. */
void explain_table(struct buf *b, const struct variant_slot *slot,
                   const struct compiled_slot *compiled);

#endif
