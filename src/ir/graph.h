/* SPDX-License-Identifier: Apache-2.0 */
/* graph: one fusion as a DAG of typed values in topological order.
 *
 * Owns nodes, parameters and results; all in one arena. Invariants
 * (graph_verify): a node's operands precede it; pointwise operands have exactly
 * the node's shape (broadcasts are explicit BROADCAST nodes, rank-0 operands
 * included); operands have the type that the operation computes in, where one
 * of a storage type stands for its value as f32; stores' conversions are
 * explicit in struct result only. */
#ifndef FUSEC_IR_GRAPH_H
#define FUSEC_IR_GRAPH_H

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/sym.h"
#include "support/base.h"
#include "support/source.h"

struct arena;
struct buf;
struct diag;

enum { MAX_RANK = 8, NO_DIM = -1 };

typedef uint32_t node_id; /* index into graph->nodes */

/* Attributes by op (unused ones zero):
 *   INPUT, SCALAR   param: index into graph->params
 *   CONST           value (i64 for integers and bools, f64 for floats)
 *   DIM             extent: the i64 value as a symbolic expression
 *   IOTA            value i of element i along its only dimension
 *   BROADCAST       map[d] = operand dimension of result dimension d, or NO_DIM
 *                   where it stretches (new axis or extent 1 -> n)
 *   PERMUTE         map[d] = operand dimension of result dimension d
 *   SQUEEZE         like PERMUTE: map of kept dims (extent-1 dims dropped)
 *   UNSQUEEZE       map[d] = operand dimension, NO_DIM for a new extent-1 one
 *   SLICE           start[d], step[d] per operand dimension (rank kept)
 *   SELECT_INDEX    x[.., e, ..] : drops dimension dim; index: start[0] when it
 *                   is uniform, else operand 1 is a rank-0 i64 scalar
 *   RESHAPE         same elements in row-major order; dims says the shape
 *   FLIP            flags[d]
 *   PAD             operand 0, operand 1 = rank-0 fill value; start[d] =
 *                   elements before per dimension (after follows from dims)
 *   CAT             along dim
 *   REDUCE ops      reduced[d] per operand dimension; keepdim: result has
 *                   extent 1 there, else dimension dropped
 *   scans, take...  dim */
struct node {
    enum op op;
    enum dtype dtype;
    int rank;
    const struct sym *dims[MAX_RANK];
    uint32_t n_args;
    const node_id *args;
    const char *name; /* the statement's name, or NULL */
    struct span span;

    uint32_t param;
    union {
        int64_t i;
        double f;
    } value;
    const struct sym *extent;
    int map[MAX_RANK];
    const struct sym *start[MAX_RANK];
    int64_t step[MAX_RANK];
    bool flag[MAX_RANK]; /* flipped / reduced dimensions */
    bool keepdim;
    int dim;
    enum dtype draw; /* random: dtype= */
};

enum param_kind { PARAM_TENSOR, PARAM_SCALAR, PARAM_DIM };

/* One input, in the order of the source. */
struct param {
    enum param_kind kind;
    const char *name;
    enum dtype dtype;
    int rank;
    const struct sym *dims[MAX_RANK];
    bool has_strides;                    /* strides(...) given */
    const struct sym *strides[MAX_RANK]; /* elements; row-major if not given */
    int64_t align;                       /* bytes of the base address, >= 1 */
    bool has_default;                    /* scalars */
    union {
        int64_t i;
        double f;
    } value;           /* default, or the bound value */
    bool bound;        /* scalar bound by -D: not an argument */
    bool is_workspace; /* what an earlier kernel wrote (sched/parts.h) */
    struct span span;
};

struct result {
    const char *name;
    node_id node; /* its value before the store rounds it */
    enum dtype dtype;
    int rank;
    const struct sym *dims[MAX_RANK];
    bool has_strides;
    const struct sym *strides[MAX_RANK];
    int64_t align;
    int inplace;       /* parameter index, or -1 */
    bool is_workspace; /* read by later kernels (sched/parts.h) */
    struct span span;
};

/* A dimension symbol and how it is read at launch. */
struct dim_symbol {
    const char *name;
    const struct sym *bound; /* constant from -D, or NULL */
    /* read as params[param].shape[dim] (or .stride[dim]) / divisor */
    int param, dim;
    bool from_stride;
    int64_t divisor;
    bool is_arg; /* a PARAM_DIM scalar */
};

struct graph {
    struct arena *arena;
    struct sym_ctx *syms;
    const char *name; /* of the fusion */
    struct node *nodes;
    uint32_t n_nodes, cap_nodes;
    struct param *params;
    uint32_t n_params;
    struct result *results;
    uint32_t n_results;
    struct dim_symbol *dims;
    uint32_t n_dims;
    /* Launch conditions in the manifest's expression language ("N % 8 == 0"):
     * from requires, -D, unprovable slices and extents. */
    const char **guards;
    bool *guard_derived; /* by guard: made by a statement, not by requires */
    uint32_t n_guards, cap_guards;
};

struct graph *graph_new(struct arena *a, struct sym_ctx *syms,
                        const char *name);
/* Appends a copy of *n (its args are copied too) and returns its id. */
node_id graph_add(struct graph *g, const struct node *n);
void graph_add_guard(struct graph *g, const char *text);
/* A guard that a statement makes by itself (a slice's bounds). The printed
 * program leaves it out: read back as `requires` it would be a fact for all
 * statements, those before it too. */
void graph_add_derived_guard(struct graph *g, const char *text);
static inline const struct node *
graph_node(const struct graph *g, node_id id)
{
    assert(id < g->n_nodes);
    return &g->nodes[id];
}

/* True when all invariants hold; otherwise a description in *why. */
bool graph_verify(const struct graph *g, struct buf *why);
/* The .graph listing: one line per node, "%3 = + %1 %2 : f32[M, N] # xhat".
 * Dead nodes have no line; leaves are written where they are used. */
void graph_print(struct buf *b, const struct graph *g);
/* The fusion as canonical .fusion text that resolves to the same graph. */
void graph_print_fusion(struct buf *b, const struct graph *g);
void graph_print_dot(struct buf *b, const struct graph *g);
/* 16 hex digits of the SHA-256 of graph_print's text. */
void graph_hash(const struct graph *g, char ret[17]);
/* The same of the graph without names and extents: equal for programs that
 * differ in nothing else. */
void graph_signature(const struct graph *g, char ret[17]);

/* A new graph: dead values dropped, equal values merged, exact constants
 * folded, exact identities applied (x*1, casts that lose nothing, ...). */
struct graph *graph_simplify(const struct graph *g);

/* Row-major strides of a shape, in elements. */
void graph_row_major(struct sym_ctx *c, int rank, const struct sym *const *dims,
                     const struct sym **ret_strides);

#endif
