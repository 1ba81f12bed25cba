/* SPDX-License-Identifier: Apache-2.0 */
/* eval_num: numbers of every element type, in memory and in the interpreter.
 *
 * The interpreter holds a value in one of three representations: double for f32
 * and the storage types, long double for f64, int64_t for integers and bools.
 * All conversions between them and bytes in memory stand here, written from the
 * definitions of the formats; nothing is shared with the generated code. */
#ifndef FUSEC_IR_EVAL_NUM_H
#define FUSEC_IR_EVAL_NUM_H

#include "ir/dtype.h"
#include "ir/graph.h"
#include "support/base.h"

enum rep { REP_F, REP_L, REP_I };

/* Typed memory with a shape and strides in elements. */
struct tensor {
    void *data;
    enum dtype dtype;
    int rank;
    int64_t shape[MAX_RANK];
    int64_t strides[MAX_RANK];
};

enum rep num_rep(enum dtype t);
/* x rounded to nearest even in t, as a cast of the language does: f8 saturates,
 * the others overflow to infinity. t is a float type; f64 takes long double. */
double num_round(enum dtype t, double x);
/* The distance from |x| to the next larger value of t (the smallest subnormal
 * at 0); 0 for infinities and NaN. */
double num_ulp(enum dtype t, double x);
double num_max(enum dtype t); /* largest finite value of a float type */
/* v with the low bits of t kept, sign or zero extended; bools: v != 0. */
int64_t num_wrap(enum dtype t, int64_t v);
int num_bits(enum dtype t);
int64_t num_int_max(enum dtype t);
int64_t num_int_min(enum dtype t);
/* Truncated and saturated, NaN gives 0; to bool: x != 0. */
int64_t num_to_int(enum dtype t, long double x);

/* One element in memory; i counts elements. Storing a float rounds it. */
double num_load(enum dtype t, const void *p, int64_t i);
void num_store(enum dtype t, void *p, int64_t i, double x);
long double num_load_long(enum dtype t, const void *p, int64_t i);
void num_store_long(enum dtype t, void *p, int64_t i, long double x);
int64_t num_load_int(enum dtype t, const void *p, int64_t i);
void num_store_int(enum dtype t, void *p, int64_t i, int64_t x);
/* The bits of a value of t, for messages and for equality. */
uint64_t num_bits_at(enum dtype t, const void *p, int64_t i);

/* n elements p[off + k * step] of float type t (not f64) or integer type t. */
void num_gather(enum dtype t, const void *p, int64_t step, int n, double *ret);
void num_gather_int(enum dtype t, const void *p, int64_t step, int n,
                    int64_t *ret);

/* The element offset of row-major logical index i. */
int64_t tensor_offset(const struct tensor *t, int64_t i);
/* Elements of a shape that tensor_extent takes, or that has none. */
int64_t tensor_count(const struct tensor *t);
/* Elements of memory from the first to past the last one; false when the
 * strides or the shape overflow or are negative. Extents of 0 count as 1, so
 * that every product of extents fits, whatever its order. */
bool tensor_extent(const struct tensor *t, int64_t *ret);
void tensor_row_major(struct tensor *t); /* sets strides */

#endif
