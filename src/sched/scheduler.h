/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler: what a strategy of schedulers/ gets and gives.
 *
 * Selection cuts the launches of a fusion into slots: for each, a vector width
 * and a largest column extent, told to the launcher by a guard. A strategy
 * refuses the whole fusion with one reason, or proposes candidates for a slot;
 * the cost model ranks them. */
#ifndef FUSEC_SCHED_SCHEDULER_H
#define FUSEC_SCHED_SCHEDULER_H

#include "sched/select.h"
#include "support/vec.h"

enum { ANY_EXTENT = 0 };

struct parts;

/* A fusion on a device, with numbers for what is only known at launch. */
struct problem {
    struct arena *arena;
    const struct facts *f;
    const struct device *dev;
    const struct sym *n_sym, *m_sym; /* column extent, product of row extents */
    bool n_static, m_static;
    int64_t n, m;   /* exact when static, else --hint or the default guess */
    int64_t n_max;  /* provable bound of the column extent */
    int max_vector; /* elements, by the widths of the column accesses */
    double bytes_in, bytes_out;
    uint32_t per_summary; /* feasible candidates kept of one kind */
    const struct hint *hints;
    uint32_t n_hints;
    struct parts *parts; /* how selection cuts it, once that is asked for */
};

struct slot_shape {
    int vector;
    int64_t bound; /* columns admitted; ANY_EXTENT */
    int64_t n;     /* columns the cost model counts with */
};

typedef VEC(struct candidate *) candidate_vec;

/* How long a buffer is needed: from the phase of a row in which it is loaded or
 * computed to the last one that takes it from there. */
struct buffer_wait {
    int first, last;
    int64_t bytes; /* of a row of the counted columns, in its store */
};

struct scheduler {
    enum scheduler_id id;
    const char *(*refuse)(const struct problem *p); /* NULL: takes it */
    /* What it doesn't look for in this fusion, and why; or NULL. */
    const char *(*note)(const struct problem *p);
    void (*propose)(const struct problem *p, const struct slot_shape *s,
                    candidate_vec *out);
    /* Fills everything of the cost but its totals' sum; a limit it breaks. */
    const char *(*cost)(const struct problem *p, const struct kernel_plan *k,
                        int64_t n, struct plan_cost *ret);
    /* Of each buffer, in their order; NULL: rows have no phases. */
    void (*waits)(struct arena *a, const struct facts *f,
                  const struct kernel_plan *k, int64_t n,
                  struct buffer_wait *ret);
};
/* In the order of schedulers.def. */
extern const struct scheduler *const schedulers[SCHED_COUNT];

void problem_init(struct arena *a, const struct facts *f,
                  const struct device *dev, const struct hint *hints,
                  uint32_t n_hints, struct problem *ret);
/* Bytes that must move when a row has n columns. */
void problem_bytes(const struct problem *p, int64_t n, double *ret_in,
                   double *ret_out);
/* The manifest expression under which accesses of `vector` elements along the
 * column are aligned and the column extent is within bound; "" when proven. */
const char *problem_guard(const struct problem *p, int vector, int64_t bound);
/* Both guards; a condition that stands in one already isn't repeated. */
const char *guard_and(struct arena *a, const char *x, const char *y);
/* True when the value varies along the column axis. */
static inline bool
node_has_column(const struct facts *f, node_id n)
{
    return f->node[n].has_column;
}
static inline bool
node_has_rows(const struct facts *f, node_id n)
{
    return f->node[n].has_rows;
}
/* Read or written along the column with stride 1. */
bool access_is_vector(const struct facts *f, const struct access *a);

/* A candidate of one kernel: keys at their least, no buffers. */
struct candidate *candidate_add(const struct problem *p, candidate_vec *out,
                                enum scheduler_id id, const char *summary);
void candidate_keep(const struct problem *p, struct candidate *c, node_id n,
                    enum store store, int reuse, const char *reason);

#endif
