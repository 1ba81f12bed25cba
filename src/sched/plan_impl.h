/* SPDX-License-Identifier: Apache-2.0 */
/* plan_impl: the key tables and pieces of the plan text, for this layer. */
#ifndef FUSEC_SCHED_PLAN_IMPL_H
#define FUSEC_SCHED_PLAN_IMPL_H

#include "sched/plan.h"

struct buf;

struct key_info {
    const char *name;
    int64_t lo, hi;
    const char *words; /* NULL: an integer */
    const char *doc;
};
extern const struct key_info plan_key_info[PK_COUNT];
extern const struct key_info buffer_key_info[BK_COUNT];

/* The i-th word of an enumerated key; NULL beyond the last. */
const char *key_word(const struct key_info *k, int64_t i, size_t *ret_len);
/* A word or a decimal number in range, else false. */
bool key_value(const struct key_info *k, const char *text, int64_t *ret);
/* Index into one of the tables, or -1. */
int key_find(const struct key_info *table, int n, const char *name);

/* g == NULL: buffers by the numbers of their nodes. */
void plan_print_kernel(struct buf *b, const struct graph *g,
                       const struct kernel_plan *k, uint32_t index);
void plan_hash(struct arena *a, const struct graph *const *graphs, uint32_t n,
               char ret[17]);
/* By plan_node_name or "%n". */
bool plan_find_node(struct arena *a, const struct graph *g, const char *name,
                    node_id *ret);

#endif
