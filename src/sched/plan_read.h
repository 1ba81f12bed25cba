/* SPDX-License-Identifier: Apache-2.0 */
/* plan_read: the words and kernels of a plan text, for the readers of plans and
 * of tuning files. The first refusal is reported; after it nothing more is. */
#ifndef FUSEC_SCHED_PLAN_READ_H
#define FUSEC_SCHED_PLAN_READ_H

#include "support/source.h"

struct arena;
struct diag;
struct graph;
struct variant_plan;

struct reader {
    struct arena *arena;
    struct diag *d;
    const struct source *src;
    uint32_t at;
    struct span span; /* of the current word */
    const char *word; /* NULL at the end; a string keeps its first quote */
    bool failed;
};

void reader_next(struct reader *r);
bool reader_is(const struct reader *r, const char *word);
bool reader_accept(struct reader *r, const char *word);
bool reader_expect(struct reader *r, const char *word);
/* False, after a message that names what was expected. */
bool reader_fail(struct reader *r, const char *expected);
/* A decimal number that fits, else false. */
bool reader_number(const char *s, int64_t *ret);
/* The kernels of a variant and the brace behind them. With g == NULL buffers
 * are named by the numbers of their nodes, "%7", which are not looked up. */
bool reader_kernels(struct reader *r, const struct graph *g,
                    struct variant_plan *v);

#endif
