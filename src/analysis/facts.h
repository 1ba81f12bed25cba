/* SPDX-License-Identifier: Apache-2.0 */
/* facts: what the schedulers and lowering know about a (simplified) graph.
 *
 * The iteration space is a set of axes. Every node varies along a subset of
 * them; a reduction removes axes, a broadcast adds none. Dimensions of
 * different nodes are tied to one axis by the pointwise operations between
 * them. Axes that always appear together and contiguous are merged. Views of
 * inputs become accesses: element offset = base + sum stride[a] * i[a]. When
 * two axes of one value are tied together (x + transpose(x) of a computed x),
 * when a view of a computed value is not a mere renaming of axes, or when an
 * access isn't linear, there is no such space: `axes_ok` is false, `why` says
 * so, and only `fallback` takes the graph. */
#ifndef FUSEC_ANALYSIS_FACTS_H
#define FUSEC_ANALYSIS_FACTS_H

#include "ir/graph.h"

struct buf;

enum { MAX_AXES = 16, NO_AXIS = -1 };
typedef uint32_t axis_mask;

struct axis {
    const struct sym *extent;
    const char *name; /* "M", "N", else "a0": unique in the graph */
};

/* How one tensor in memory is addressed over the axes. An access of neither a
 * parameter nor a result is the row-major element index of an IOTA or RANDOM
 * node over its own dimensions. */
struct access {
    int param;                          /* index into graph->params, or -1 */
    int result;                         /* index into graph->results, or -1 */
    const struct sym *base;             /* elements */
    const struct sym *stride[MAX_AXES]; /* elements; NULL = absent (0) */
    axis_mask axes;                     /* those present */
};

struct node_facts {
    axis_mask axes;    /* along which the value varies */
    bool live;         /* needed by a result */
    bool is_leaf;      /* INPUT or a view chain of one: read through access */
    bool has_index;    /* IOTA, RANDOM: access is its element index */
    uint32_t access;   /* into facts->accesses when is_leaf or has_index */
    bool is_alias;     /* broadcast, permute, squeeze..: the value of another */
    node_id value;     /* what an alias stands for, no alias; else itself */
    int level;         /* inner reductions on the longest way from the leaves;
                          one counts itself: it is its operand's level + 1 */
    bool after_outer;  /* depends on an outer reduction */
    axis_mask reduced; /* reductions: the axes reduced */
    bool is_inner;     /* reduces the column axis only */
    bool is_outer;     /* reduces exactly the row axes */
    bool has_column;   /* varies along the column axis */
    bool has_rows;     /* varies along some row axis */
    /* Reductions: which dimensions of the operand, bit by bit, are reduced and
       lie on the column axis alone. */
    uint32_t column_dims;
};

enum graph_kind {
    GK_POINTWISE,   /* no reduction */
    GK_INNER,       /* all reductions over the column axis only */
    GK_OUTER,       /* all over the row axes only */
    GK_INNER_OUTER, /* both kinds */
    GK_OTHER,       /* anything else: fallback */
};

struct facts {
    const struct graph *g; /* simplified */
    bool axes_ok;
    const char *why;
    struct axis
        axes[MAX_AXES]; /* row axes first (outer to inner), then column */
    int n_axes;
    struct node_facts *node;      /* by node_id */
    node_id *leaves, *reductions; /* the live ones, in order */
    uint32_t n_leaves, n_reductions;
    struct access *accesses;
    uint32_t n_accesses;
    struct access *stores; /* by result index */

    enum graph_kind kind;
    const char *kind_why; /* for GK_OTHER */
    int column;           /* the column axis, or NO_AXIS (all scalars) */
    axis_mask rows;       /* all others */
    int levels;           /* number of inner reduction levels */

    /* Traffic: each live input read once, each result written once. */
    const struct sym *bytes_in, *bytes_out;
    bool expensive;           /* some operation along the columns is */
    double flops_per_element; /* issue slots of the live pointwise nodes over
                                 the full space, per element */
};

struct facts *facts_analyse(struct arena *a, const struct graph *simplified);
/* The facts of a program as schedulers get it: simplified, and with reductions
 * in two steps where that is what they are to do (two_steps.c). */
struct facts *facts_prepare(struct arena *a, const struct graph *resolved);
/* A readable listing, for --emit and tests. */
void facts_print(struct buf *b, const struct facts *f);
/* Follows aliases. */
static inline node_id
facts_value(const struct facts *f, node_id n)
{
    return f->node[n].value;
}
bool facts_is_reduction(const struct facts *f, node_id n);
/* Reductions over the column axis only. */
static inline bool
facts_is_inner(const struct facts *f, node_id n)
{
    return f->node[n].is_inner;
}
/* Reductions over exactly the row axes. */
static inline bool
facts_is_outer(const struct facts *f, node_id n)
{
    return f->node[n].is_outer;
}
/* Every axis of the space. */
axis_mask facts_all_axes(const struct facts *f);
/* Product of the extents of some axes, 1 for none. */
const struct sym *facts_extent(const struct facts *f, axis_mask axes);

#endif
