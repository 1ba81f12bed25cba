/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_finish: what the ways to fold partial rows share. */
#ifndef FUSEC_LOWER_ROWWISE_FINISH_H
#define FUSEC_LOWER_ROWWISE_FINISH_H

#include "lower/lower_rowwise.h"

/* Which thread folds which columns. */
struct fold {
    int across, slices, vec; /* threads beside each other, groups, columns */
    const struct kexpr *end; /* columns from here on are another's */
    bool again;              /* the block folds more than one stretch */
};

/* Column sums whose partial rows are folded. */
bool rw_is_folded(const struct rw *w, node_id n);
/* Columns of one 16-byte load of every partial row. */
int rw_widest_load(const struct rw *w);
/* What follows is code of the fold, a column at a time. */
void rw_start_finish(struct rw *w);
/* The place of a thread in the fold: "x" and "slice". */
void rw_declare_place(struct rw *w, struct kbuild *b, const struct fold *f);
/* The sums of the thread of reduction n; element e of them; a loop over them,
 * whose body *b becomes, and its variable. */
void rw_declare_share(struct rw *w, struct kbuild *b, const struct fold *f,
                      node_id n);
const struct kexpr *rw_share_element(const struct rw *w, const struct fold *f,
                                     node_id n, const struct kexpr *e);
const struct kexpr *rw_share_loop(struct rw *w, struct kbuild *b,
                                  const struct fold *f);
/* What joins the sums of the thread: of reduction n, element e, where `sum` is
 * what rw_sum_open gave, or NULL. */
struct part {
    node_id n;
    const struct kexpr *sum, *e, *x;
};
void rw_add_to_share(struct rw *w, struct kbuild *b, const struct fold *f,
                     const struct part *part);
/* The open sums become the thread's share. */
void rw_close_share(struct rw *w, const struct kbuild *b, const struct fold *f,
                    node_id n, const struct kexpr *sum);
/* What follows the sums, for each column of the thread. */
void rw_finish_share(struct rw *w, struct kbuild *b, const struct fold *f);

#endif
