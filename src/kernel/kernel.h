/* SPDX-License-Identifier: Apache-2.0 */
/* kernel: the loop-level IR. Statements are a tree; expressions are trees of op
 * table rows, index arithmetic (sym), and calls of template primitives. It says
 * what runs in which order; codegen says how that is spelled. All memory is
 * reached through primitives of templates/. */
#ifndef FUSEC_KERNEL_KERNEL_H
#define FUSEC_KERNEL_KERNEL_H

#include "ir/graph.h"
#include "support/vec.h"

struct buf;

enum kexpr_kind {
    KE_INT,   /* 64-bit or 32-bit integer literal */
    KE_CONST, /* value of dtype, exact */
    KE_VAR,   /* a variable or parameter by name */
    KE_ELEM,  /* args[0] [ args[1] ] */
    KE_SYM,   /* a sym; symbol "$x" is variable x, other names have no "$" */
    KE_OP,    /* op row on args, at compute type dtype */
    KE_CAST,  /* args[0] from dtype `from` to dtype */
    KE_CALL,  /* name(args...) : a primitive of templates/ */
    KE_BIN,   /* args[0] name args[1]: C operators of index arithmetic */
};

struct kexpr {
    enum kexpr_kind kind;
    const char *name;
    const char *targs; /* template arguments of a call, or NULL */
    enum op op;
    enum dtype dtype, from;
    union {
        int64_t i;
        double f;
    } value;
    const struct sym *sym;
    uint32_t n_args;
    const struct kexpr *const *args;
};

enum kstmt_kind {
    KS_COMMENT, /* text */
    KS_BLANK,
    KS_DECL,   /* ctype name = init; init may be NULL */
    KS_ARRAY,  /* ctype name[count]; zeroed when init is non-NULL: each element
                  = init */
    KS_ASSIGN, /* lhs = rhs */
    KS_EVAL,   /* expr; */
    KS_FOR,    /* for (ctype name = from; name < to; name += step) body */
    KS_IF,     /* if (cond) body else other */
    KS_RETURN,
};

struct kblock {
    VEC(struct kstmt *) stmts;
};

enum kunroll {
    KUNROLL_FREE, /* as the CUDA compiler likes */
    KUNROLL_FULL, /* #pragma unroll */
    KUNROLL_NONE, /* #pragma unroll 1 */
};

struct kstmt {
    enum kstmt_kind kind;
    const char *text;  /* comment */
    const char *ctype; /* declarations, loop variables */
    const char *name;
    int64_t count;
    bool is_const;
    enum kunroll unroll;
    const struct kexpr *a, *b, *c; /* init | lhs, rhs | from, to, step | cond */
    struct kblock body, other;
};

struct kparam {
    const char *ctype; /* "const fu_bf16 *FU_RESTRICT", "fu_i64", "float" */
    const char *name;
};

struct kernel {
    const char *symbol;  /* fu_layernorm_bwd_v0_k0 */
    const char *comment; /* what it does, for the reader of the .cu */
    VEC(struct kparam) params;
    int threads, min_blocks; /* __launch_bounds__ */
    int cluster;             /* 1: none */
    struct kblock body;
    bool uses_smem;
};

struct kbuild { /* where statements go */
    struct arena *arena;
    struct kblock *to;
};

/* Index arithmetic: int when it fits in 32 bits, else 64-bit. */
const struct kexpr *ke_int(struct arena *a, int64_t v);
const struct kexpr *ke_const_int(struct arena *a, enum dtype t, int64_t v);
const struct kexpr *ke_const_float(struct arena *a, enum dtype t, double v);
const struct kexpr *ke_var(struct arena *a, const char *name);
const struct kexpr *ke_elem(struct arena *a, const struct kexpr *array,
                            const struct kexpr *index);
/* Symbols of s are variables of the kernel. A symbol may begin with '$', which
 * no name of a program does; the variable's name is the rest. */
const struct kexpr *ke_sym(struct arena *a, const struct sym *s);
const struct kexpr *ke_op(struct arena *a, enum op op, enum dtype compute,
                          uint32_t n, const struct kexpr *const *args);
const struct kexpr *ke_cast(struct arena *a, enum dtype from, enum dtype to,
                            const struct kexpr *x);
const struct kexpr *ke_call(struct arena *a, const char *name,
                            const char *targs, uint32_t n, ...);
/* Folds constants, x + 0, x * 1 and their like: index arithmetic only. */
const struct kexpr *ke_bin(struct arena *a, const char *c_operator,
                           const struct kexpr *x, const struct kexpr *y);

void kb_comment(struct kbuild *k, const char *fmt, ...) ATTR_PRINTF(2, 3);
void kb_blank(struct kbuild *k);
/* `const ctype name = init;` ; returns the variable. */
const struct kexpr *kb_let(struct kbuild *k, const char *ctype,
                           const char *name, const struct kexpr *init);
const struct kexpr *kb_var(struct kbuild *k, const char *ctype,
                           const char *name, const struct kexpr *init);
const struct kexpr *kb_array(struct kbuild *k, const char *ctype,
                             const char *name, int64_t count,
                             const struct kexpr *init);
void kb_assign(struct kbuild *k, const struct kexpr *lhs,
               const struct kexpr *rhs);
void kb_eval(struct kbuild *k, const struct kexpr *e);
/* Return a builder for the body. */
struct kbuild kb_for(struct kbuild *k, const char *ctype, const char *var,
                     const struct kexpr *from, const struct kexpr *to,
                     const struct kexpr *step);
/* Over an int, and unrolled by the compiler. */
struct kbuild kb_unroll(struct kbuild *k, const char *var,
                        const struct kexpr *from, const struct kexpr *to,
                        const struct kexpr *step);
/* Never unrolled: a long body, or threads that wait for each other in it. */
struct kbuild kb_roll(struct kbuild *k, const char *ctype, const char *var,
                      const struct kexpr *from, const struct kexpr *to,
                      const struct kexpr *step);
struct kbuild kb_if(struct kbuild *k, const struct kexpr *cond);
/* The other branch of the `if` that k's last statement is. */
struct kbuild kb_else(struct kbuild *k);
void kb_return(struct kbuild *k);

/* The name of the variable that a symbol of a KE_SYM stands for. */
const char *kernel_symbol_variable(const char *symbol);
/* How tightly a C operator binds: larger is tighter; 0 for an unknown one. */
int kernel_precedence(const char *c_operator);

void kernel_print(struct buf *b, const struct kernel *k); /* --emit=kernel */
bool kernel_verify(const struct kernel *k, struct buf *why);

#endif
