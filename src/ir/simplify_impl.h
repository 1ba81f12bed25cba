/* SPDX-License-Identifier: Apache-2.0 */
/* simplify_impl: what the rules of simplify see: the new graph, whose nodes are
 * simple already. A rule either leaves the node alone, changes it in place, or
 * names a node of the new graph that has its value. */
#ifndef FUSEC_IR_SIMPLIFY_IMPL_H
#define FUSEC_IR_SIMPLIFY_IMPL_H

#include "ir/graph.h"

struct simplify {
    struct graph *to;
    node_id *buckets; /* of a hash table of nodes; id + 1, 0 is empty */
    uint32_t n_buckets;
};

/* The node of the new graph for n, made when there is none. */
node_id simplify_emit(struct simplify *s, const struct node *n);

/* True when a rule found the node *ret instead of n. */
typedef bool simplify_rule(struct simplify *s, struct node *n, node_id *ret);
simplify_rule simplify_operands, simplify_view, simplify_cast, simplify_fold,
    simplify_identity;

/* op_fold.c: the value of an operation on constants, when the operation is
 * exact or correctly rounded: + - * / sqrt, negation, and casts that do not
 * make integers of floats. */
struct constant {
    enum dtype dtype;
    int64_t i;
    double f;
};
bool op_fold(enum op op, enum dtype result, const struct constant *x,
             struct constant *ret);
/* True when every value of type a is a value of type b. */
bool dtype_holds(enum dtype b, enum dtype a);

#endif
