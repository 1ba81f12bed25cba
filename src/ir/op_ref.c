/* SPDX-License-Identifier: Apache-2.0 */
/* op_ref: the reference column of ops.def, once in double and once in long
 * double. */
#include "support/base.h"

#include "ir/op_ref.h"

#include <math.h>

#define REAL double
#define R(f) f
#define F(f) f##_double
#define NEXT(x, y) nextafterf((float)(x), (float)(y))
#include "ir/op_real.def"

#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    static double id##_double(const double *x)                                 \
    {                                                                          \
        (void)x;                                                               \
        return (double)(ref);                                                  \
    }
#include "ir/ops.def"
#undef OP
#undef REAL
#undef R
#undef F
#undef NEXT

#define REAL long double
#define R(f) f##l
#define F(f) f##_long
#define NEXT(x, y) nextafter((double)(x), (double)(y))
#include "ir/op_real.def"

#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    static long double id##_long(const long double *x)                         \
    {                                                                          \
        (void)x;                                                               \
        return (long double)(ref);                                             \
    }
#include "ir/ops.def"
#undef OP

op_double_fn *const op_ref_double[OP_COUNT] = {
#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    [OP_##id] = id##_double,
#include "ir/ops.def"
#undef OP
};

op_long_fn *const op_ref_long[OP_COUNT] = {
#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    [OP_##id] = id##_long,
#include "ir/ops.def"
#undef OP
};
