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
/* Of the kernel itself; NULL where only the sum of all is known. */
const struct plan_cost *explain_kernel_cost(const struct variant_plan *v,
                                            uint32_t kernel);
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
struct alternative { /* the best plan that has a value in another store */
    enum store store;
    uint32_t plan;       /* from 1 */
    const char *refused; /* the limit that it breaks, or NULL */
    int64_t more_ns;     /* than the chosen one */
};
/* For a buffer of the chosen plan, in their order. */
uint32_t explain_alternatives(const struct selection *s,
                              const struct variant_slot *slot,
                              const struct buffer_plan *b,
                              struct alternative ret[STORE_COUNT]);
/* "input", "workspace", "computed", "column sum"; f: of the kernel's part. */
const char *explain_what(const struct facts *f, node_id n);
/* The facts of a candidate's kernel. */
const struct facts *explain_part(const struct selection *s,
                                 const struct candidate *c, uint32_t kernel);
/* Of each buffer, or NULL where rows have no phases. */
const struct buffer_wait *explain_waits(const struct selection *s,
                                        const struct variant_slot *slot,
                                        const struct candidate *c,
                                        uint32_t kernel);
/* "reduction, ", or nothing where several kernels have one each. */
const char *explain_scheduler(struct arena *a, const struct candidate *c);
void explain_buffers(struct buf *b, const struct selection *s,
                     const struct variant_slot *slot, const struct candidate *c,
                     uint32_t kernel);
const char *explain_store(struct arena *a, int64_t store);

/* --- explain_plan.c --- */
/* A candidate in full. */
void explain_plan(struct buf *b, const struct explained *e, uint32_t slot,
                  uint32_t candidate);
/* --- explain_table.c --- */
/* The others of a slot, a line each. */
void explain_table(struct buf *b, const struct variant_slot *slot);

#endif
