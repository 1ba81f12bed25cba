/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy: how far results of the floating operations are from the exact ones,
 * which MPFR computes.
 *
 *     accuracy list
 *     accuracy inputs TYPE ARITY FILE...
 *     accuracy judge OP TYPE FILE... -- RESULT...
 *     accuracy reference
 *
 * `list` names the operations with their arity and bound. `inputs` writes
 * arguments, raw elements, one file an argument. `judge` compares results of an
 * operation on such files and prints a line of JSON for each. `reference`
 * measures the interpreter's own functions and fails where they aren't far
 * better than what they are used to check. */
#ifndef FUSEC_TESTS_ACCURACY_H
#define FUSEC_TESTS_ACCURACY_H

#include "support/base.h"

#include <mpfr.h>

#include "ir/eval_num.h"
#include "ir/op.h"

enum { ACC_PRECISION = 160 };

/* accuracy_exact.c: r = op(x[0], x[1], x[2]) to ACC_PRECISION bits. */
bool exact_known(enum op op, enum dtype t);
void exact_value(enum op op, enum dtype t, mpfr_ptr r, const double *x);

/* accuracy_inputs.c: argument `which` of sample i of n, of operations with that
 * many arguments; a value of the type. */
int64_t sample_count(enum dtype t, int arity);
void sample_at(enum dtype t, int arity, int64_t i, double *ret);

/* accuracy_judge.c */
struct verdict {
    int64_t n;
    double worst, sum;       /* ulp; of all samples with a number */
    double at[3], got, want; /* where the worst stands */
    int64_t wrong_class;     /* NaN against number, finite against infinite */
    int64_t zero_sign;       /* 0 of the wrong sign */
    double class_at[3], class_got, class_want;
};
struct judged {
    enum op op;
    enum dtype t;
    int arity, n_results;
    int64_t n;
    const void *x[3];
    const void *results[4]; /* NULL: the interpreter's function */
};
void judge_all(const struct judged *j, struct verdict *ret);

#endif
