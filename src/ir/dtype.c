/* SPDX-License-Identifier: Apache-2.0 */
/* dtype: the table of element types and the rules that combine them. Integers
 * promote as NumPy's do: u8 beside a signed type takes the next signed type
 * that holds both. */
#include "support/base.h"

#include "ir/dtype.h"

const struct dtype_info dtype_info[DT_COUNT] = {
#define DTYPE(id, name, class, bytes, mem, reg, np)                            \
    [DT_##id] = {name, class, bytes, mem, reg, np},
#include "ir/dtypes.def"
#undef DTYPE
};

bool
dtype_find(const char *name, enum dtype *ret)
{
    for (unsigned i = 0; i < DT_COUNT; i++) {
        if (strcmp(dtype_info[i].name, name) == 0) {
            *ret = (enum dtype)i;
            return true;
        }
    }
    return false;
}

static enum dtype_class
class_of(enum dtype t)
{
    assert((unsigned)t < DT_COUNT);
    return dtype_info[t].class;
}

bool
dtype_is_float(enum dtype t)
{
    return class_of(t) == DC_STORAGE || class_of(t) == DC_FLOAT;
}

bool
dtype_is_integer(enum dtype t)
{
    return class_of(t) == DC_SIGNED || class_of(t) == DC_UNSIGNED;
}

bool
dtype_is_storage(enum dtype t)
{
    return class_of(t) == DC_STORAGE;
}

enum dtype
dtype_compute(enum dtype t)
{
    return dtype_is_storage(t) ? DT_F32 : t;
}

enum dtype
dtype_accumulator(enum dtype t)
{
    return dtype_is_float(t) ? dtype_compute(t) : DT_I64;
}

static enum dtype
promote_integers(enum dtype a, enum dtype b)
{
    if (class_of(a) == class_of(b))
        return dtype_info[a].bytes >= dtype_info[b].bytes ? a : b;

    /* The unsigned type is u8: a wider signed type holds it, i16 at least. */
    enum dtype s = class_of(a) == DC_SIGNED ? a : b;
    return s == DT_I8 ? DT_I16 : s;
}

enum dtype
dtype_promote(enum dtype a, enum dtype b)
{
    a = dtype_compute(a);
    b = dtype_compute(b);
    if (a == b)
        return a;
    if (dtype_is_float(a) && dtype_is_float(b))
        return DT_F64;
    if (dtype_is_float(a) || dtype_is_float(b))
        return dtype_is_float(a) ? a : b;
    if (a == DT_BOOL || b == DT_BOOL)
        return a == DT_BOOL ? b : a;
    return promote_integers(a, b);
}
