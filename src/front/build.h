/* SPDX-License-Identifier: Apache-2.0 */
/* build: typed construction of graph nodes, independent of the syntax tree.
 *
 * Each function takes values, applies the type rule of the operation's row, the
 * shape rule of its class, and adds what the graph wants spelled out: a CAST
 * where an operand's type differs from the type the operation computes in, a
 * BROADCAST where its shape differs from the result's, a CONST or DIM where it
 * is uniform. A pointwise operand of a storage type is not cast to f32: every
 * reader of such an operand gets the exact f32 value.
 *
 * A wrong operand is reported to diag and gives V_POISON. */
#ifndef FUSEC_FRONT_BUILD_H
#define FUSEC_FRONT_BUILD_H

#include "front/names.h"
#include "front/value.h"
#include "ir/graph.h"
#include "support/diag.h"

/* A call of a def that is being expanded, for the notes of an error in it. */
struct call_site {
    const char *name;
    struct span span;
    const struct call_site *outer;
};

struct draw {
    int64_t seed, first, blocks;
    struct span span;
};

struct build {
    struct arena *arena;
    struct diag *diag;
    struct graph *graph;
    struct sym_ctx *syms;
    /* Bit d of a node's entry: dimension d was written 1 (or made by None or
     * keepdim) and stretches. */
    uint8_t *stretch;
    uint32_t cap_stretch;
    const struct call_site *calls; /* innermost, or NULL */
    struct names *reported;        /* errors by id and place */
    const struct sym **known;      /* guarded not to be negative */
    uint32_t n_known, cap_known;
    struct draw *draws;
    uint32_t n_draws, cap_draws;
};

struct shape {
    int rank;
    const struct sym *dims[MAX_RANK];
    uint8_t stretch;
};

struct axes {
    bool on[MAX_RANK];
    int at[MAX_RANK]; /* in the order given */
    int n;
};

/* --- reports ------------------------------------------------------------- */

/* True the first time this id is reported here: a def expanded ten times has
 * each of its errors reported once. The caller ends with build_trace. */
bool build_fresh(struct build *b, enum diag_id id, struct span where);
/* Notes for the calls around the place. */
void build_trace(struct build *b);
#define BUILD_ERROR(b, id, where, ...)                                         \
    do {                                                                       \
        if (build_fresh((b), (id), (where))) {                                 \
            diag_report((b)->diag, (id), (where), __VA_ARGS__);                \
            build_trace(b);                                                    \
        }                                                                      \
    } while (0)
/* "'x'" or "this expression", in messages. */
const char *build_subject(struct build *b, const struct value *v);
const char *build_shape_text(struct build *b, const struct shape *s);
const char *build_sym_text(struct build *b, const struct sym *s);
/* A guard of the manifest, "M - 1 < N", unless one before implies it; op is "<"
 * or "<=". */
void build_guard(struct build *b, const struct sym *l, const char *op,
                 const struct sym *r);

/* --- values -------------------------------------------------------------- */

struct value build_poison(struct span where);
struct value build_int(struct build *b, int64_t v, struct span where);
/* NULL: the expression left i64, which is reported. */
struct value build_sym(struct build *b, const struct sym *s, bool sized,
                       struct span where);
struct value build_float(double f, struct span where);
struct value build_bool(bool v, struct span where);
struct value build_value(node_id id, struct span where);

/* The type that v has when nothing else decides: i64, f32 or bool for uniform
 * values. */
enum dtype build_type(struct build *b, const struct value *v);
/* True for a value that can be an operand; reports lists and types. */
bool build_is_operand(struct build *b, const struct value *v);
struct shape build_shape(struct build *b, const struct value *v);
/* The node of v in its own type; uniform values get one. */
struct value build_materialize(struct build *b, const struct value *v);
/* A node of type t, or of a storage type when t is f32. Reports literals that
 * don't fit; poison then. */
struct value build_as(struct build *b, const struct value *v, enum dtype t);

/* --- nodes --------------------------------------------------------------- */

/* The least that an extent can be, 0 counted as 1: the strides and offsets of a
 * tensor without elements are products of its other extents. */
int64_t build_least_extent(struct build *b, const struct sym *extent);
/* Appends n, whose extents stretch as s says; checks rank and size. */
struct value build_emit(struct build *b, const struct node *n, uint8_t stretch,
                        struct span where);
struct value build_const(struct build *b, enum dtype t, double f, int64_t i,
                         struct span where);
/* The extent s as a rank-0 node of type t, which is a float or i64. */
struct value build_dim(struct build *b, const struct sym *s, enum dtype t,
                       struct span where);
struct value build_cast(struct build *b, const struct value *v, enum dtype t,
                        struct span where);
struct value build_pointwise(struct build *b, enum op op,
                             const struct value *args, uint32_t n,
                             struct span where);
struct value build_unary(struct build *b, enum op op, const struct value *x,
                         struct span where);
struct value build_binary(struct build *b, enum op op, const struct value *x,
                          const struct value *y, struct span where);
/* x ** y, with small constant exponents as products. */
struct value build_power(struct build *b, const struct value *x,
                         const struct value *y, struct span where);
/* NumPy's rule over n values; false after a report. */
bool build_broadcast_shape(struct build *b, const struct value *vs, uint32_t n,
                           struct shape *ret);
/* v with exactly the shape s, to which it broadcasts. */
struct value build_expand(struct build *b, const struct value *v,
                          const struct shape *s);
/* The type that the operands of a join (cat, pad, where) share, or promote
 * to. */
enum dtype build_join_type(struct build *b, const struct value *vs, uint32_t n);

/* --- uniform expressions (uniform.c) ------------------------------------- */

/* The value of an operation on uniform operands; false when it can't be
 * evaluated now and becomes nodes. */
bool uniform_fold(struct build *b, enum op op, const struct value *args,
                  uint32_t n, struct span where, struct value *ret);
/* A literal-like constant integer or number. */
bool uniform_int(const struct value *v, int64_t *ret);
bool uniform_number(const struct value *v, double *ret);

/* --- views (build_view.c) ------------------------------------------------ */

struct value build_permute(struct build *b, const struct value *x,
                           const int *map, struct span where);
struct value build_reshape(struct build *b, const struct value *x,
                           const struct shape *s, struct span where);
struct value build_broadcast_to(struct build *b, const struct value *x,
                                const struct shape *s, struct span where);
/* Drops extent-1 dimensions; inserts them so that they stand at these axes. */
struct value build_squeeze(struct build *b, const struct value *x,
                           const struct axes *axes, struct span where);
struct value build_unsqueeze(struct build *b, const struct value *x,
                             const struct axes *axes, struct span where);
struct value build_flip(struct build *b, const struct value *x,
                        const struct axes *axes, struct span where);
struct value build_roll(struct build *b, const struct value *x,
                        const struct sym *shift, int axis, struct span where);
/* Equal shapes, whatever stands at that axis; -1: at no axis. */
bool build_same_but(const struct shape *x, const struct shape *y, int axis);
struct value build_cat(struct build *b, const struct value *xs, uint32_t n,
                       int axis, struct span where);
struct value build_pad(struct build *b, const struct value *x,
                       const struct sym *const *before,
                       const struct sym *const *after, const struct value *fill,
                       struct span where);
/* lo:hi:step of one dimension, without range checks. */
struct slice {
    int dim;
    const struct sym *lo, *hi;
    int64_t step;
};
struct value build_slice(struct build *b, const struct value *x,
                         const struct slice *sl, struct span where);
/* x[.., i, ..] where i is uniform (sym) or else a rank-0 i64 node. */
struct value build_select(struct build *b, const struct value *x, int dim,
                          const struct sym *i, const struct value *node,
                          struct span where);

/* --- reductions (build_reduce.c) ----------------------------------------- */

struct reduce_args {
    struct axes axes;
    bool keepdim;
    double correction; /* var, std, var_mean */
    double p;          /* norm */
};

struct value build_reduce(struct build *b, enum op op, const struct value *x,
                          const struct reduce_args *ra, struct span where);
struct value build_mean(struct build *b, const struct value *x,
                        const struct reduce_args *ra, struct span where);
/* Mean and variance; either pointer may be NULL. */
void build_var_mean(struct build *b, const struct value *x,
                    const struct reduce_args *ra, struct value *ret_var,
                    struct value *ret_mean, struct span where);
struct value build_logsumexp(struct build *b, const struct value *x,
                             const struct reduce_args *ra, struct span where);
struct value build_norm(struct build *b, const struct value *x,
                        const struct reduce_args *ra, struct span where);

/* --- scans, indexing, random numbers (build_index.c) ---------------------- */

struct value build_iota(struct build *b, const struct sym *n, bool literal,
                        struct span where);
struct value build_scan(struct build *b, enum op op, const struct value *x,
                        int axis, struct span where);
struct value build_take(struct build *b, const struct value *x,
                        const struct value *i, int axis, struct span where);
struct value build_take_along(struct build *b, const struct value *x,
                              const struct value *i, int axis,
                              struct span where);
struct value build_one_hot(struct build *b, const struct value *i,
                           const struct sym *n, struct span where);
/* The result has x's role: its shape stands in s. */
struct scatter_args {
    struct shape shape;
    const struct value *i, *v;
    int axis;
};
struct value build_scatter(struct build *b, enum op op,
                           const struct scatter_args *sa, struct span where);
struct random_args {
    const struct value *p; /* NULL for uniform and normal */
    const struct value *seed, *offset;
    enum dtype draw; /* dtype= */
};
struct value build_random(struct build *b, enum op op, const struct shape *s,
                          const struct random_args *ra, struct span where);

#endif
