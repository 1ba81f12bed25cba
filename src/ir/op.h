/* SPDX-License-Identifier: Apache-2.0 */
/* op: one row of ops.def per operation of the graph: what it is called, its
 * type rule, its flags, what it costs, how it is spelled in CUDA and what it
 * means (the reference expression). Nothing outside this module switches over
 * operations; the rest of the compiler asks for class and flags. */
#ifndef FUSEC_IR_OP_H
#define FUSEC_IR_OP_H

#include "ir/dtype.h"
#include "support/base.h"

enum op_class {
    OC_LEAF,      /* input, scalar, constant, dim, iota */
    OC_POINTWISE, /* one element from the same element of each operand */
    OC_CAST,      /* pointwise, to node->dtype */
    OC_VIEW,      /* element i is element f(i) of the operand */
    OC_JOIN,      /* pad, cat: a choice between views and a constant */
    OC_REDUCE,    /* over the dimensions with node->flag */
    OC_SCAN,
    OC_INDEX, /* take, take_along, one_hot, scatter, scatter_add */
    OC_RANDOM,
};

/* The type of the result, from the operands'. */
enum op_type {
    OT_NONE,    /* set by the builder: leaves, casts, indexing, random */
    OT_ARITH,   /* promote; storage -> f32 */
    OT_FLOAT,   /* integers, bools, storage -> f32; f64 stays */
    OT_ROUND,   /* integers stay, storage -> f32: abs sign floor relu ... */
    OT_BOOL,    /* promote operands, result bool: comparisons, isnan */
    OT_LOGIC,   /* bool operands, bool result */
    OT_BITS,    /* bools or integers */
    OT_SHIFT,   /* left operand's type */
    OT_SELECT,  /* where: types of args 1, 2 kept when equal */
    OT_KEEP,    /* the operand's type: views, joins */
    OT_EXTREME, /* max min cummax cummin: storage -> f32, the rest stays */
    OT_SUM,     /* accumulator type; result f32 for storage types */
    OT_INDEX,   /* i64: argmax, argmin */
};

enum {
    OPF_COMMUTES = 1 << 0,
    OPF_ASSOC = 1 << 1, /* mathematically; not for rewriting floats */
    OPF_IDEMPOTENT = 1 << 2,
    OPF_EXPENSIVE = 1 << 3,    /* transcendental: a price to recompute */
    OPF_LOCAL_MEMORY = 1 << 4, /* sin cos tan: range reduction uses a stack */
    OPF_NO_KERNEL = 1 << 5,    /* typed, but [not-implemented-yet] */
    OPF_EXACT = 1 << 6,        /* correctly rounded or exact: may be folded */
    OPF_ARG_INDEX = 1 << 7,    /* argmax, argmin */
    OPF_INTERNAL = 1 << 8,     /* no name to call it by */
    OPF_OPERATOR = 1 << 9,     /* name is an operator's symbol */
    OPF_ABSOLUTE = 1 << 10, /* in f64 the ulp column counts in ulp of 16 where
                               the result is smaller: lgamma at its zeros
                               left of -2, a difference of such numbers */
};

enum op {
#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    OP_##id,
#include "ir/ops.def"
#undef OP
    OP_COUNT
};

struct op_info {
    const char *name; /* as in .fusion; operators by their symbol ("+") */
    enum op_class class;
    int arity; /* -1: any number (cat) */
    enum op_type type;
    unsigned flags;
    double ulp;        /* accuracy of the CUDA spelling in f32, 0 = exact,
                          0.5 = correctly rounded */
    double cost;       /* issue slots per element, fma = 1 */
    const char *ident; /* reductions, scans: "0" "1" "-inf" "inf"; infinities
                          mean the limits of an integer type */
    /* CUDA spelling with %0 %1 %2; overloaded fu_ functions of the templates
     * take float, double and integers. NULL: no such variant. For reductions:
     * the combination of %0 (accumulator) and %1 (element); argmax and argmin
     * combine pairs fu_arg<T>. */
    const char *spell_float;
    const char *spell_int; /* integers and bools; NULL: same as spell_float */
};
extern const struct op_info op_info[OP_COUNT];

/* By the name used in .fusion before '(' ; false when unknown. Operators and
 * rows with OPF_INTERNAL have no such name. */
bool op_find(const char *name, enum op *ret);
/* The nearest known name for a hint, or NULL. */
const char *op_nearest(const char *name);
/* Insertions, deletions, replacements and swaps of neighbours that turn a into
 * b; limit + 1 when there are more than limit. */
unsigned op_edit_distance(const char *a, const char *b, unsigned limit);

#endif
