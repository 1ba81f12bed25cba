/* SPDX-License-Identifier: Apache-2.0 */
/* npy: NumPy's array files, read from and written to memory. A reader of bytes
 * that anyone may have written: every length is checked before it is used. */
#ifndef FUSEC_IR_NPY_H
#define FUSEC_IR_NPY_H

#include "ir/eval_num.h"

struct buf;

struct npy {
    char kind;      /* b i u f */
    unsigned bytes; /* of one element */
    int rank;
    int64_t shape[MAX_RANK];
    const void *data; /* points into the file; may be unaligned */
};

/* False with a reason in *ret_why (a static text). */
bool npy_parse(const void *file, size_t len, struct npy *ret,
               const char **ret_why);
/* Writes every element of the file into dst by dst's strides, converted as the
 * manual says: the parameter's own type, any float type for a float parameter,
 * rounded, and raw bits (u2 for bf16, u1 for 8-bit floats). */
bool npy_store(const struct npy *n, const struct tensor *dst,
               const char **ret_why);
/* Appends a .npy of src's logical array; types without a NumPy name become
 * f32. */
void npy_write(struct buf *b, const struct tensor *src);

#endif
