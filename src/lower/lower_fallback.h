/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fallback: every graph of implemented operations, one value at a time.
 *
 * The graph is cut at each reduction (and where a kernel would grow too large):
 * a cut value is computed by a kernel of its own and waits in workspace. Within
 * a kernel the value of a node at an index is found by following the graph from
 * its result: pointwise operations keep the index, views change it, and what is
 * met twice at the same index is computed once. */
#ifndef FUSEC_LOWER_LOWER_FALLBACK_H
#define FUSEC_LOWER_LOWER_FALLBACK_H

#include "lower/lower_common.h"

enum {
    FB_THREADS = 128,
    FB_MAX_BLOCKS = 65536,
    FB_MAX_INSTANCES = 3000, /* of one kernel: then the graph is cut */
    FB_MAX_INDEX = 120,      /* characters of an index, likewise */
};

/* At how many indices a kernel, the number of its scope, has met a node. */
struct fb_met {
    uint32_t scope, n;
    bool shared; /* better stored */
};

/* What there was before the kernel of a cut node; of the results: n_nodes. */
struct fb_mark {
    node_id node;
    uint32_t launches, buffers;
};

struct fb {
    struct lower *ctx;
    struct arena *a;
    const struct graph *g;
    struct sym_ctx *syms;
    const struct kernel_plan *kp;
    struct lowered_variant *out;
    bool *live;            /* by node_id */
    bool *cut;             /* waits in workspace */
    struct fb_met *met;    /* by node_id */
    uint32_t scopes;       /* made so far */
    uint32_t *seen, stamp; /* by node_id: the last count that met it */
    node_id *todo;
    node_id first_new; /* the lowest cut since the last kernel failed */
    node_id raised;    /* the root of a kernel with a limit of its own */
    uint32_t limit;
    VEC(struct fb_mark) marks; /* before each kernel, in order */
};

/* Conditions e >= 0 under which loads happen; NULL: always. */
struct fb_guard {
    const struct fb_guard *parent;
    VEC(const struct sym *) conds; /* all of them, the parent's first */
    const struct kexpr *var;
};

/* A node at an index. */
struct fb_instance {
    node_id node;
    const struct sym *idx[MAX_RANK];
    const struct fb_guard *guard;
    uint32_t number;           /* among those of its node */
    const struct kexpr *value; /* once written */
    bool open;                 /* the deps are known */
    node_id counted_for;       /* the last node whose cone it was found in */
    uint32_t n_deps;
    struct fb_instance **deps;
    const struct kexpr **chosen; /* joins: when dep i is the value */
};

struct fb_load {
    int param;
    const struct sym *offset;
};

/* One kernel being written. */
struct fb_scope {
    struct fb *fb;
    struct lowered_kernel *lk;
    struct kbuild b;
    uint32_t number, limit;          /* of the scope; of its instances */
    VEC(struct fb_instance *) stack; /* being written */
    VEC(struct fb_instance *) all;
    struct fb_instance **slots; /* the same by hash; a power of two of them */
    uint32_t n_slots;
    VEC(struct fb_guard *) guards;
    VEC(struct fb_load) loads;
    node_id root; /* not to be replaced by its workspace: FB_NO_NODE for none */
    bool too_large;
    node_id bent; /* the view with too long an index, or FB_NO_NODE */
};
static const node_id FB_NO_NODE = UINT32_MAX;

void fb_scope_init(struct fb_scope *s, struct fb *fb, struct lowered_kernel *lk,
                   struct kbuild b, node_id root);
/* The register value of node at idx, of the node's compute type; NULL when the
 * kernel has grown too large. */
const struct kexpr *fb_value(struct fb_scope *s, node_id node,
                             const struct sym *const *idx);
/* A leaf, or read from workspace. */
bool fb_is_at_hand(const struct fb_scope *s, const struct fb_instance *i);
/* A kernel expression of an index or extent. */
const struct kexpr *fb_sym(struct fb_scope *s, const struct sym *x);
/* Symbol of the kernel variable `name`, for use in indices. */
const struct sym *fb_variable(struct fb *fb, const char *name);
/* Declares one index variable "<prefix><d>" for each dimension of extent other
 * than 1 from a row-major linear index; writes their symbols to idx. */
void fb_split(struct fb_scope *s, const struct kexpr *linear,
              const char *prefix, int rank, const struct sym *const *dims,
              const struct sym **idx);
/* Sum of idx times row-major strides, or the given strides. */
const struct sym *fb_offset(struct fb *fb, int rank,
                            const struct sym *const *dims,
                            const struct sym *const *strides,
                            const struct sym *const *idx);

/* The type in which a cut node waits, and its buffer. */
enum dtype fb_cut_type(const struct fb *fb, node_id n);
const struct kexpr *fb_workspace(struct fb *fb, struct lowered_kernel *lk,
                                 node_id n, bool writes);

/* --- lower_fallback_index.c --- */
typedef void fb_index_fn(struct fb *fb, const struct node *n,
                         const struct sym *const *idx, const struct sym **ret);
/* The index function of a view, but for SELECT_INDEX by a computed scalar. */
void fb_view_index(struct fb *fb, node_id n, const struct sym *const *idx,
                   const struct sym *by, const struct sym **ret);

/* --- lower_fallback_reduce.c --- */
/* The kernel of a cut reduction; false when it grew too large. */
bool fb_reduce_kernel(struct fb *fb, node_id n, struct fb_scope *s);

void lower_fallback(struct lower *ctx, const struct kernel_plan *kp,
                    struct lowered_variant *out);

#endif
