/* SPDX-License-Identifier: Apache-2.0 */
/* value: what an expression means while a fusion is resolved.
 *
 * A value of the graph is V_NODE. What is made of literals, consts and
 * dimension symbols alone is uniform: integers stay a symbolic i64 (V_INT),
 * floats a double (V_FLOAT), truths a bool (V_BOOL), and they get a type and
 * are rounded once, where they meet a value of the graph. A uniform expression
 * that can't be evaluated now (1.0 / N, exp(1.0)) is a rank-0 node of type i64,
 * f64 or bool with `uniform` set.
 *
 * V_POISON stands for whatever an error was already reported about: every
 * operation on it gives V_POISON and says nothing. */
#ifndef FUSEC_FRONT_VALUE_H
#define FUSEC_FRONT_VALUE_H

#include "ir/graph.h"
#include "support/base.h"
#include "support/source.h"

enum value_kind {
    V_POISON,
    V_NODE,
    V_INT,
    V_FLOAT,
    V_BOOL,
    V_LIST, /* of an argument: [1, 2] */
    V_TYPE, /* of an argument: dtype=f16 */
};

struct value {
    enum value_kind kind;
    struct span span;     /* the expression */
    const char *name;     /* when the expression is a name */
    struct span declared; /* where that stands first */

    node_id node; /* V_NODE */
    bool uniform;
    const struct sym *sym; /* V_INT */
    bool sized;            /* V_INT: holds a dimension symbol, so the
                              integer is an i64 and takes no other type */
    double f;
    bool b;
    enum dtype type; /* V_TYPE */
    struct value *items;
    uint32_t n_items;
};

static inline bool
value_is_uniform(const struct value *v)
{
    return v->kind == V_INT || v->kind == V_FLOAT || v->kind == V_BOOL ||
           (v->kind == V_NODE && v->uniform);
}

#endif
