/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_impl: shared by the files of this folder only.
 *
 * facts_analyse runs in four steps: mark (what is live, what is a view of an
 * input), tie (which dimensions are the same class), place (classes become
 * axes, accesses get strides, axes merge and are ordered), classify. */
#ifndef FUSEC_ANALYSIS_ANALYSIS_IMPL_H
#define FUSEC_ANALYSIS_ANALYSIS_IMPL_H

#include "analysis/facts.h"
#include "support/vec.h"

/* One dimension of a view as memory sees it: nothing for extent 1, one factor
 * as a rule, several when a reshape joined dimensions that are not contiguous.
 * Outer to inner; strides in elements. */
struct view_dim {
    int n;
    const struct sym *extent[MAX_RANK], *stride[MAX_RANK];
};
/* Element (i0, i1, ..) lies at base + sum of index * stride. */
struct view {
    const struct sym *base;
    struct view_dim dim[MAX_RANK];
};

/* A set of tied dimensions. A class that a reshape split has children, outer to
 * inner, and is no axis itself. */
struct axis_class {
    int parent; /* union-find; itself when it is the root */
    const struct sym *extent;
    int n;
    int child[MAX_RANK];
    int axis; /* of a root without children, after placing */
};

struct space {
    struct arena *arena;
    struct sym_ctx *syms;
    const struct graph *g;
    struct facts *f;
    VEC(struct axis_class) cls;
    int (*dim)[MAX_RANK]; /* class by node and dimension; NO_AXIS: extent 1 */
    struct view **view;   /* by node; NULL when it isn't a leaf */
    VEC(struct access) accesses;
    axis_mask (*over)[MAX_RANK]; /* reductions: axes by reduced dimension */
};

/* The first reason stays. */
void space_fail(struct space *s, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* views.c: NULL when the node is not INPUT or a linear view of one. */
struct view *view_of(struct space *s, node_id n);
/* Groups of a reshape: dimensions [a, a + na) of one shape hold the same
 * elements as [b, b + nb) of the other. False when no such grouping exists. */
struct reshape_group {
    int a, na, b, nb;
};
struct extents {
    const struct sym *const *e;
    int n;
};
bool reshape_groups(struct sym_ctx *c, struct extents a, struct extents b,
                    struct reshape_group *ret, int *ret_n);

/* classes.c */
int class_new(struct space *s, const struct sym *extent);
int class_root(struct space *s, int c);
void class_unite(struct space *s, int a, int b);
void class_split(struct space *s, int c, int n,
                 const struct sym *const *extent);
/* The roots without children below c, outer to inner; returns how many. */
int class_leaves(struct space *s, int c, int *ret, int max);
void space_tie(struct space *s);
/* Ties what the data flow leaves apart but has equal extents. */
void space_join(struct space *s);

/* place.c: axes, accesses, merging, order. */
void space_place(struct space *s);
/* A rough number of elements or elements' distance: unknown symbols are 1024.
 */
double rough(const struct sym *s);

/* two_steps.c: the graph with reductions over the column and other axes as one
 * over the column and one over the rest; NULL: there are none. */
const struct graph *two_steps(struct arena *a, const struct facts *f);

/* classify.c: column, kind, levels; then the traffic. */
int choose_column(struct space *s);
void space_classify(struct space *s);
void space_traffic(struct space *s); /* with axes or without */

#endif
