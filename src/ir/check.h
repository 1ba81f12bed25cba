/* SPDX-License-Identifier: Apache-2.0 */
/* check: is an output right? The one judge of tests, fusec-run and the
 * random-program generator.
 *
 * An element is right when it is NaN where the reference is, the same infinity
 * where it is infinite, and else |out - ref| <= e + 1 ulp of the output's type;
 * an undecided element is right whatever it is. A check with more than 1 %
 * undecided elements has shown nothing. */
#ifndef FUSEC_IR_CHECK_H
#define FUSEC_IR_CHECK_H

#include "ir/eval.h"

struct check_report {
    int64_t count, wrong, undecided;
    int64_t exact; /* elements whose bound is 0 */
    int64_t worst; /* row-major index of the wrong element farthest out of
                      its bound, or -1 */
    double got, want, bound; /* there */
    double max_error;        /* of the finite ones, absolute */
    double max_units;        /* largest |out - ref| / (e + 1 ulp) */
    double rel_l2;           /* ||out - ref|| / ||ref||, 0 / 0 = 0 */
};

/* With `exact`, elements whose bound is 0 must have the reference's value, and
 * of the others only the class counts: roundings of small integers go the same
 * way too often for a bound that takes them as random. */
struct check_report check_output(const struct eval_values *ref,
                                 const struct tensor *out, bool exact);
bool check_passed(const struct check_report *r);
/* Rows to look at in a result of this shape: NULL (all) up to 16 Mi elements,
 * else the first, the last and 256 at random, sorted. */
struct arena;
const int64_t *check_rows(struct arena *a, int rank, const int64_t *shape,
                          uint64_t seed, int64_t *ret_n);

#endif
