/* SPDX-License-Identifier: Apache-2.0 */
/* op_ref: what the pointwise operations and the combinations of reductions
 * mean, as tables of functions made from the rows of ops.def.
 *
 * Values of f32 and of the storage types are evaluated in double, values of
 * f64 in long double, integers and bools in int64_t. Rounding to the type of
 * the node is the caller's business, but for nextafter, which steps in f32
 * (op_ref_double) or f64 (op_ref_long). */
#ifndef FUSEC_IR_OP_REF_H
#define FUSEC_IR_OP_REF_H

#include "ir/op.h"

typedef double op_double_fn(const double *x);
typedef long double op_long_fn(const long double *x);
/* x[i] are values of type t, the common type of the operands (a shift's left
 * operand); the result is wrapped to t, or 0 or 1 for a truth value. */
typedef int64_t op_int_fn(const int64_t *x, enum dtype t);

/* Meaningful for rows with a spell_float, but argmax and argmin (there the
 * larger or smaller value); truth is 1 and 0. Reductions and scans: the
 * combination of x[0] and x[1]. Other rows give 0. */
extern op_double_fn *const op_ref_double[OP_COUNT];
extern op_long_fn *const op_ref_long[OP_COUNT];
/* NULL where the operation isn't defined on integers or bools (its operands
 * are converted to a float before). */
extern op_int_fn *const op_ref_int[OP_COUNT];

/* The low bits of v as a value of the integer type t; DT_BOOL: v != 0. */
int64_t op_wrap(int64_t v, enum dtype t);
/* Least and greatest value of an integer type or bool. */
int64_t op_int_min(enum dtype t);
int64_t op_int_max(enum dtype t);
/* The identity of a reduction or scan. */
double op_identity(enum op op);
int64_t op_identity_int(enum op op, enum dtype t);

#endif
