/* SPDX-License-Identifier: Apache-2.0 */
/* ast: the syntax tree, as the grammar sees it. It knows no operation and no
 * type: a cast, a call of a def and a call of an operation are all EXPR_CALL,
 * and the resolver tells them apart.
 *
 * Everything lives in the arena and is read-only after parsing. Every node has
 * a span; an expression in parentheses has the span of the parentheses.
 *
 * Depth. Brackets, unary operators, selects and powers nest at most
 * AST_MAX_DEPTH deep together. What may be arbitrarily long is flat: a
 * left-associative chain `a + b - c` is one EXPR_CHAIN and `x[i][j]` is one
 * EXPR_INDEX. So plain recursion over a tree is safe. */
#ifndef FUSEC_FRONT_AST_H
#define FUSEC_FRONT_AST_H

#include "support/base.h"
#include "support/source.h"

enum { AST_MAX_DEPTH = 256, AST_MAX_NAME = 255 };

struct ast_name {
    const char *text; /* NULL where optional and absent */
    struct span span;
};

enum ast_op {
    /* unary */
    AST_NEG, /* - */
    AST_NOT, /* ! */
    AST_INV, /* ~ */
    /* binary, loosest first; those of one line share a chain */
    AST_OR,
    AST_AND,
    AST_EQ,
    AST_NE,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE, /* comparisons: one link, never more */
    AST_BITOR,
    AST_BITXOR,
    AST_BITAND,
    AST_SHL,
    AST_SHR,
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_FLOORDIV,
    AST_MOD,
    AST_POW, /* EXPR_POW only */
    AST_OP_COUNT
};

enum expr_kind {
    EXPR_ERROR, /* a syntax error stood here and was reported: a poison */
    EXPR_INT,
    EXPR_FLOAT,
    EXPR_BOOL,
    EXPR_INF,
    EXPR_NAN,
    EXPR_PI,
    EXPR_NAME,
    EXPR_UNARY,  /* AST_NEG, AST_NOT, AST_INV */
    EXPR_CHAIN,  /* left-associative: first {op rhs}, one class of operators */
    EXPR_POW,    /* base ** exponent */
    EXPR_SELECT, /* cond ? a : b */
    EXPR_CALL,
    EXPR_INDEX,
    EXPR_LIST, /* only as an argument or a default of a def */
    EXPR_KIND_COUNT
};

struct expr;

/* One `op rhs` of a chain. The value so far spans from the start of the chain
 * to the end of the previous rhs. */
struct ast_link {
    enum ast_op op;
    struct span op_span;
    struct expr *rhs;
};

struct ast_arg {
    struct ast_name keyword; /* text NULL when positional */
    struct expr *value;
    struct span span;
};

enum index_kind {
    INDEX_ALL,      /* : */
    INDEX_ELLIPSIS, /* ... */
    INDEX_NEW,      /* None */
    INDEX_EXPR,     /* drops the axis */
    INDEX_SLICE,    /* lo:hi:step, at least one of the three present */
};

struct ast_index {
    enum index_kind kind;
    struct span span;
    struct expr *expr;           /* INDEX_EXPR */
    struct expr *lo, *hi, *step; /* INDEX_SLICE; NULL when absent; step is an
                                    EXPR_INT of 1 at least */
};

/* One `[...]` after an expression; n >= 1. */
struct ast_subscript {
    struct ast_index *items;
    uint32_t n;
    struct span span; /* the brackets */
};

struct expr {
    enum expr_kind kind;
    bool parens;    /* written in parentheses */
    uint16_t depth; /* nesting below, for AST_MAX_DEPTH */
    struct span span;
    union {
        struct {
            const char *text; /* as written: "0x10" */
            uint64_t value;   /* magnitude, at most 2^63; a sign before it is
                                 the EXPR_UNARY around it */
        } i;
        struct {
            const char *text; /* as written; strtof and strtod read it */
            double value;     /* finite */
        } f;
        bool b;
        const char *name;
        struct {
            enum ast_op op;
            struct span op_span;
            struct expr *arg;
        } unary;
        struct {
            struct expr *first;
            struct ast_link *links;
            uint32_t n, cap; /* links, at least one */
        } chain;
        struct {
            struct expr *base, *exponent;
            struct span op_span;
        } pow;
        struct {
            struct expr *cond, *a, *b;
        } select;
        struct {
            struct ast_name callee;
            struct ast_arg *args;
            uint32_t n;
        } call;
        struct {
            struct expr *base;
            struct ast_subscript *subs;
            uint32_t n, cap; /* subs, at least one, applied in order */
        } index;
        struct {
            struct expr **items;
            uint32_t n;
        } list;
    } u;
};

struct ast_stmt {
    struct ast_name *names; /* at least one; "_" included */
    uint32_t n_names;
    struct expr *value;
    struct span span;
};

/* strides(a, b) or align(n): any name, the resolver judges it. */
struct ast_layout {
    struct ast_name name;
    struct expr **dims;
    uint32_t n;
    struct span span;
};

struct ast_param {
    struct ast_name name;
    struct ast_name type;
    bool is_tensor;     /* has brackets, perhaps empty ones */
    struct expr **dims; /* tensors */
    uint32_t n_dims;
    struct span dims_span; /* the brackets */
    struct ast_layout *layouts;
    uint32_t n_layouts;
    struct expr *default_value; /* scalars; NULL when absent */
    struct span span;
};

struct ast_result {
    struct ast_name name;
    struct ast_name type;
    struct expr **dims;
    uint32_t n_dims;
    struct span dims_span;
    struct ast_layout *layouts;
    uint32_t n_layouts;
    struct ast_name inplace;     /* the word before the bracket, or NULL */
    struct ast_name inplace_arg; /* the input it names */
    struct span span;
};

struct ast_file;

struct ast_import {
    const char *path; /* as written, without the quotes */
    struct span span; /* the string */
};

struct ast_const {
    const struct ast_file *file;
    struct ast_name name;
    struct expr *value;
    struct span span;
};

struct ast_type {
    const struct ast_file *file;
    struct ast_name name;
    struct ast_name target;
    struct span span;
};

struct ast_defpar {
    struct ast_name name;
    struct expr *default_value; /* NULL when absent; may be a list */
};

struct ast_def {
    const struct ast_file *file;
    struct ast_name name;
    struct ast_defpar *params;
    uint32_t n_params;
    struct ast_stmt *stmts; /* none for `= expr;` */
    uint32_t n_stmts;
    struct expr **returns; /* at least one */
    uint32_t n_returns;
    struct span span; /* `def` to the closing bracket of the parameters */
};

struct ast_fusion {
    const struct ast_file *file;
    struct ast_name name;
    struct ast_param *params;
    uint32_t n_params;
    struct ast_result *results; /* at least one */
    uint32_t n_results;
    struct expr **requires;
    uint32_t n_requires;
    struct ast_stmt *stmts;
    uint32_t n_stmts;
    struct span end;  /* the closing brace of the body */
    struct span span; /* `fusion` to the closing bracket of the results */
};

/* Declarations of one file, in the order written within a kind. */
struct ast_file {
    const struct source *source;
    bool is_main, is_prelude;
    /* No declaration was lost to a syntax error: at most some expressions
     * became EXPR_ERROR, so the resolver can still look for more errors. */
    bool complete;
    struct ast_import *imports;
    uint32_t n_imports;
    struct ast_const **consts;
    uint32_t n_consts;
    struct ast_type **types;
    uint32_t n_types;
    struct ast_def **defs;
    uint32_t n_defs;
    struct ast_fusion **fusions;
    uint32_t n_fusions;
};

const char *ast_op_text(enum ast_op op); /* "+", "**" */
/* Binary operators of one level form one chain; higher binds more tightly. 0
 * for unary operators. */
int ast_op_level(enum ast_op op);
bool ast_op_is_comparison(enum ast_op op);

#endif
