/* SPDX-License-Identifier: Apache-2.0 */
/* lower_common: what every lowering needs: a kernel under construction with its
 * arguments, names, and the arithmetic of one node.
 *
 * Names in a kernel carry a prefix, so that no name of the program can meet a
 * word of CUDA or a name of ours. Arguments: p_ tensors, d_ dimensions, m_
 * other expressions over dimensions, c_ scalars, w_ workspace. All other
 * prefixes are free for locals. */
#ifndef FUSEC_LOWER_LOWER_COMMON_H
#define FUSEC_LOWER_LOWER_COMMON_H

#include "lower/lower.h"

struct lower {
    struct arena *arena;
    const struct facts *facts;
    const struct graph *g; /* facts->g: simplified */
    struct sym_ctx *syms;
    struct lowered *out;
    const char **names; /* by node_id; lower_node_name */
    uint32_t variant;
    /* Before the names of workspace: "v0", of a kernel among several "v0_p1".
     */
    const char *prefix;
    uint32_t part, n_parts; /* kernels of the plan (sched/parts.h) */
};

/* A kernel that is being written, and its launch. Arguments join when they are
 * first asked for. */
struct lowered_kernel {
    struct kernel *kernel;
    struct launch launch;
};

/* The next kernel of the variant: fu_<fusion>_v<variant>_k<launches so far>. */
struct lowered_kernel lower_kernel_begin(struct lower *ctx,
                                         const struct lowered_variant *out,
                                         const struct kernel_plan *kp,
                                         int threads, const char *comment);
/* Appends the launch; the kernel must be valid. */
void lower_kernel_end(struct lower *ctx, struct lowered_kernel *lk,
                      struct lowered_variant *out);
void lower_set_grid(struct lower *ctx, struct lowered_kernel *lk,
                    const struct sym *x, const struct sym *y);

/* Arguments. A dimension expression is one i64 argument, computed at launch;
 * a constant is a literal. */
const struct kexpr *lower_sym(struct lower *ctx, struct lowered_kernel *lk,
                              const struct sym *s);
const struct kexpr *lower_input(struct lower *ctx, struct lowered_kernel *lk,
                                int param);
const struct kexpr *lower_output(struct lower *ctx, struct lowered_kernel *lk,
                                 int result);
const struct kexpr *lower_param_pointer(struct lower *ctx,
                                        struct lowered_kernel *lk,
                                        const struct access *acc);
/* A buffer of the fusion, elements of t. The first to name it gives its size;
 * others may pass NULL. Reads of it are ordinary loads, so a kernel may read
 * what an earlier one, or itself, wrote. */
const struct kexpr *lower_workspace(struct lower *ctx,
                                    struct lowered_kernel *lk, const char *name,
                                    enum dtype t, const struct sym *bytes,
                                    bool writes);

/* 32-bit words of workspace that are 0 before the first launch, and that every
 * launch must leave at 0. */
const struct kexpr *lower_counters(struct lower *ctx, struct lowered_kernel *lk,
                                   const char *name, const struct sym *words);

/* The part of a local's name that says which node it is: unique, and fit to
 * stand after a prefix and '_'. */
const char *lower_node_name(struct lower *ctx, node_id n);

/* The type an operation computes in: its operands are converted to it. */
enum dtype lower_compute_type(const struct graph *g, node_id n);
/* The value of a pointwise node, cast or leaf (SCALAR, CONST, DIM) from the
 * register values of its operands. */
const struct kexpr *lower_node_expr(struct lower *ctx,
                                    struct lowered_kernel *lk, node_id n,
                                    const struct kexpr *const *args);
/* Elements of a shape. */
const struct sym *lower_elements(struct lower *ctx, int rank,
                                 const struct sym *const *dims);
/* A register value of one type as a register value of the other. */
const struct kexpr *lower_convert(struct lower *ctx, enum dtype from,
                                  enum dtype to, const struct kexpr *x);
/* What fu_store takes for an element of type `to` from a value of type `from`:
 * rounded at most once. */
const struct kexpr *lower_store_value(struct lower *ctx, enum dtype from,
                                      enum dtype to, const struct kexpr *x);
/* The identity of a reduction that accumulates in t. */
const struct kexpr *lower_identity(struct lower *ctx, enum op op, enum dtype t);
/* The type in which a reduction node accumulates. */
enum dtype lower_accumulator(const struct graph *g, node_id n);

/* i64(fu_bid_x()) and the like. */
const struct kexpr *lower_wide(struct lower *ctx, const struct kexpr *x);

#endif
