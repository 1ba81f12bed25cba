/* SPDX-License-Identifier: Apache-2.0 */
/* eval_fold: one reduction of the interpreter: an accumulator takes terms with
 * their bounds, two accumulators merge, and the result is finished. */
#ifndef FUSEC_IR_EVAL_FOLD_H
#define FUSEC_IR_EVAL_FOLD_H

#include "ir/eval_impl.h"

struct acc {
    double f;
    long double l;
    int64_t i;
    double size; /* sums: sum of |term| over the finite ones */
    double err;
    double hi, lo; /* extremes: the greatest and least that the result may be;
                      arg: the best of the others, all and inexact; products:
                      of the factors above 1 and below 1 in size */
    int64_t lo_i, hi_i, n;
    bool inexact; /* some term is no integer or not exact */
    bool undecided;
};

struct fold {
    const struct node *n;
    enum dtype type; /* of the accumulator; terms come converted to it */
    bool is_sum, is_product, is_arg, is_logic;
    struct array *to;
};

struct fold fold_open(struct eval *e, node_id id, int64_t results);
struct acc fold_start(const struct fold *j);
/* Terms first, first + 1, ... of one accumulator (acc_step 0), or one term,
 * number `first`, of each of n (acc_step 1). */
void fold_absorb(const struct fold *j, struct acc *acc, int acc_step,
                 const struct tile *t, int n, int64_t first);
void fold_merge(const struct fold *j, struct acc *a, const struct acc *b);
void fold_finish(const struct fold *j, int64_t result, const struct acc *acc);

#endif
