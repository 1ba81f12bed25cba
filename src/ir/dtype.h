/* SPDX-License-Identifier: Apache-2.0 */
/* dtype: the element types, one row each in dtypes.def. */
#ifndef FUSEC_IR_DTYPE_H
#define FUSEC_IR_DTYPE_H

#include "support/base.h"

enum dtype_class { DC_BOOL, DC_SIGNED, DC_UNSIGNED, DC_STORAGE, DC_FLOAT };

enum dtype {
#define DTYPE(id, name, class, bytes, mem, reg, np) DT_##id,
#include "ir/dtypes.def"
#undef DTYPE
    DT_COUNT
};

struct dtype_info {
    const char *name;       /* as in .fusion: "bf16" */
    enum dtype_class class; /* DC_STORAGE: f16 bf16 f8e4m3 f8e5m2 */
    unsigned bytes;         /* in memory */
    const char *mem;        /* C type of one element in memory: "fu_bf16" */
    const char *reg;        /* C type of a value in a register: "float" */
    const char *np;         /* NumPy descr, "" where NumPy has none */
};
extern const struct dtype_info dtype_info[DT_COUNT];

bool dtype_find(const char *name, enum dtype *ret); /* exact name */
bool dtype_is_float(enum dtype t);   /* storage types, f32, f64 */
bool dtype_is_integer(enum dtype t); /* not bool */
bool dtype_is_storage(enum dtype t);
/* f32 for storage types, the type itself otherwise. */
enum dtype dtype_compute(enum dtype t);
/* The accumulator of sum and prod: f32, f64 or i64. */
enum dtype dtype_accumulator(enum dtype t);
/* The type of an arithmetic operation on the two (language.md rule 5). */
enum dtype dtype_promote(enum dtype a, enum dtype b);

#endif
