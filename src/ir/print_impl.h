/* SPDX-License-Identifier: Apache-2.0 */
/* print_impl: what the listing and the .fusion text of a graph share.
 *
 * Both show the live part of a graph, and both show it alike for two graphs
 * that differ only in what text can't tell apart: where constants, parameters
 * and extents are made and how often, and whether new dimensions come with a
 * BROADCAST or one step before it. So leaves are written where they are used,
 * and an UNSQUEEZE that only feeds BROADCASTs is a part of them. */
#ifndef FUSEC_IR_PRINT_IMPL_H
#define FUSEC_IR_PRINT_IMPL_H

#include "ir/graph.h"

struct listing {
    const struct graph *g;
    const char **names; /* per node: kept name, or NULL */
    uint32_t *numbers;  /* per node; UINT32_MAX: dead, a leaf, or folded */
    const char *prefix; /* of generated names: "_", or more of them */
};

/* A BROADCAST with its UNSQUEEZE folded in: map as in struct node. */
struct expansion {
    node_id source;
    int map[MAX_RANK];
};

/* A name that a printed text gave: underscores, then digits. */
bool listing_is_generated(const char *name);
/* False for guards that the head of a text implies, and for those on names that
 * were bound and stand nowhere. */
bool listing_is_condition(const struct graph *g, const char *guard);
void listing_init(struct listing *l, const struct graph *g);
bool listing_is_leaf(const struct node *n);
bool listing_has_line(const struct listing *l, node_id id);
void listing_leaf(struct buf *b, const struct graph *g, const struct node *n);
void listing_expansion(const struct graph *g, const struct node *n,
                       struct expansion *ret);
/* "[M, N]", "[]" for rank 0. */
void print_extents(struct buf *b, int rank, const struct sym *const *dims);
/* A constant of the type, as a literal that is read as exactly this value. */
void print_constant(struct buf *b, enum dtype t, int64_t i, double f);

#endif
