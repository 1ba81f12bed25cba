/* SPDX-License-Identifier: Apache-2.0 */
/* eval: the reference interpreter. It evaluates a graph as resolved, before any
 * rewriting, and says with every value how far a right program may be from it.
 *
 * f32 and storage types are computed in double, f64 in long double, integers in
 * their own type; values round at casts and stores only. Each value carries a
 * bound e on the error of a correct f32 (f64) evaluation; e = infinity marks an
 * element as undecided: a comparison, a jump or an overflow on the way may fall
 * either way. The rules stand in eval_op.c and eval_reduce.c.
 *
 * Reductions are materialised in topological order; everything else is computed
 * tile by tile on demand. Memory stays with the caller's arena, but for the
 * workers' own, which are given back at the end of each call. */
#ifndef FUSEC_IR_EVAL_H
#define FUSEC_IR_EVAL_H

#include "ir/eval_num.h"

struct arena;
struct buf;
struct eval;

struct eval *eval_new(struct arena *a, const struct graph *g, unsigned threads);
/* The tensor of params[param]; its memory must outlive the evaluation. */
void eval_bind_tensor(struct eval *e, uint32_t param, const struct tensor *t);
/* A scalar's or a dim argument's value, one element of the parameter's type. */
void eval_bind_scalar(struct eval *e, uint32_t param, const void *value);

/* Derives the dimensions, checks every shape against what is bound, and
 * computes all reductions that the results need. False with a text in why. */
bool eval_run(struct eval *e, struct buf *why);

/* Values of some rows of a result (a row runs along the last dimension), as
 * stored: converted to the result's type. */
struct eval_values {
    enum dtype dtype;
    int64_t n_rows, row_len;
    const int64_t *rows; /* row numbers; NULL: row i is row i */
    const double *f;     /* the one that num_rep(dtype) names, else NULL */
    const long double *l;
    const int64_t *i;
    const double *err; /* infinity: undecided */
};
/* rows == NULL: all. After eval_run. */
struct eval_values eval_result(struct eval *e, uint32_t result,
                               const int64_t *rows, int64_t n_rows);
/* The result's shape; after eval_run. */
void eval_result_shape(const struct eval *e, uint32_t result,
                       int64_t ret_shape[MAX_RANK]);

#endif
