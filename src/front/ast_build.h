/* SPDX-License-Identifier: Apache-2.0 */
/* ast_build: what the grammar's actions call, one call an action.
 *
 * Lists grow as pointers and become arrays of structs when their owner is
 * built. Every builder that nests checks AST_MAX_DEPTH and gives a poisoned
 * expression beyond it. */
#ifndef FUSEC_FRONT_AST_BUILD_H
#define FUSEC_FRONT_AST_BUILD_H

#include "front/ast.h"

struct parser;
struct ast_list;

struct ast_list *ast_list(struct parser *p);
struct ast_list *ast_list_of(struct parser *p, void *item);
struct ast_list *ast_list_add(struct parser *p, struct ast_list *l, void *item);

/* Declarations: into the file. ast_lost says that one could not be read. */
void ast_lost(struct parser *p);
void ast_import(struct parser *p, const char *quoted, struct span where);
void ast_const(struct parser *p, struct ast_name name, struct expr *value,
               struct span where);
void ast_type(struct parser *p, struct ast_name name, struct ast_name target,
              struct span where);

struct ast_head {
    struct ast_name name;
    struct ast_list *params;
    struct span span;
};

void ast_fusion(struct parser *p, struct ast_head head,
                struct ast_list *results, struct ast_list *requires,
                struct ast_list *stmts, struct span body);
/* STMTS is NULL for `= expr;`. */
void ast_def(struct parser *p, struct ast_head head, struct ast_list *stmts,
             struct ast_list *returns);

struct ast_name ast_no_name(void);
struct ast_name *ast_name(struct parser *p, struct ast_name name);
struct ast_defpar *ast_defpar(struct parser *p, struct ast_name name,
                              struct expr *value);
struct ast_param *ast_scalar(struct parser *p, struct ast_name name,
                             struct ast_name type, struct expr *value,
                             struct span where);
/* BRACKETS holds the dims; the whole span ends with the layouts. */
struct ast_param *ast_tensor(struct parser *p, struct ast_param head,
                             struct ast_list *dims, struct ast_list *layouts);
struct ast_result *ast_result(struct parser *p, const struct ast_param *tensor,
                              struct ast_name inplace, struct ast_name arg,
                              struct span where);
struct ast_layout *ast_layout(struct parser *p, struct ast_name name,
                              struct ast_list *dims, struct span where);
struct ast_stmt *ast_stmt(struct parser *p, struct ast_list *names,
                          struct expr *value, struct span where);

/* Expressions. */
struct expr *ast_poison(struct parser *p, struct span where);
struct expr *ast_leaf(struct parser *p, enum expr_kind kind, struct span where);
struct expr *ast_int(struct parser *p, const char *text, struct span where);
struct expr *ast_float(struct parser *p, const char *text, struct span where);
struct expr *ast_bool(struct parser *p, bool value, struct span where);
struct expr *ast_name_expr(struct parser *p, struct ast_name name);
struct expr *ast_parens(struct parser *p, struct expr *e, struct span where);
struct expr *ast_unary(struct parser *p, enum ast_op op, struct span op_span,
                       struct expr *arg);
struct expr *ast_binary(struct parser *p, enum ast_op op, struct span op_span,
                        struct expr *a, struct expr *b);
/* Like ast_binary, but reports a comparison of a comparison. */
struct expr *ast_compare(struct parser *p, enum ast_op op, struct span op_span,
                         struct expr *a, struct expr *b);
struct expr *ast_pow(struct parser *p, struct span op_span, struct expr *base,
                     struct expr *exponent);
struct expr *ast_select(struct parser *p, struct expr *cond, struct expr *a,
                        struct expr *b);
struct expr *ast_call(struct parser *p, struct ast_name callee,
                      struct ast_list *args, struct span where);
struct ast_arg *ast_arg(struct parser *p, struct ast_name keyword,
                        struct expr *value, struct span where);
struct expr *ast_list_expr(struct parser *p, struct ast_list *items,
                           struct span where);
struct expr *ast_subscript(struct parser *p, struct expr *base,
                           struct ast_list *items, struct span brackets);
struct ast_index *ast_index(struct parser *p, enum index_kind kind,
                            struct expr *e, struct span where);

struct ast_bounds {
    struct expr *lo, *hi, *step; /* NULL when absent */
};

struct ast_index *ast_slice(struct parser *p, struct ast_bounds b,
                            struct span where);
/* Checks that a step is 1 at least; e NULL: it had a minus sign. */
struct expr *ast_step(struct parser *p, struct expr *e, struct span where);

#endif
