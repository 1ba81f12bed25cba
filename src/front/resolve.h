/* SPDX-License-Identifier: Apache-2.0 */
/* resolve: syntax trees to graphs.
 *
 * One struct resolver serves a file and all it imports: the tables of consts,
 * types and defs, and the errors reported so far. A fusion is resolved into its
 * own graph in order: names of parameters, dimension symbols, bindings,
 * requires, shapes, statements, outputs. Defs are expanded where they are
 * called; nothing of them is left in the graph.
 *
 * This header is shared by the resolve*.c files; others need resolve_module. */
#ifndef FUSEC_FRONT_RESOLVE_H
#define FUSEC_FRONT_RESOLVE_H

#include "front/ast.h"
#include "front/build.h"
#include "front/files.h"
#include "front/front.h"
#include "support/vec.h"

enum {
    MAX_STATEMENTS = 100000,
    MAX_TENSORS = 4096,
    MAX_EXPANSION = 1500, /* levels of expressions and calls */
    MAX_FORMALS = 6,      /* of an operation */
    MAX_GUARD_DEPTH = 64,
    MAX_GUARD_BYTES = 1024,
};

enum entity_kind { E_TENSOR, E_SCALAR, E_DIM, E_VALUE, E_FORMAL };

/* What a name stands for in a fusion or in the expansion of a def. */
struct entity {
    enum entity_kind kind;
    const char *name;
    struct span span;
    bool is_result, assigned; /* a statement of this name is to come / stood */
    bool defined;             /* value can be read */
    bool used;
    bool poisoned;  /* a dimension that can't be known, which was reported */
    uint32_t index; /* of the parameter or result; UINT32_MAX: a symbol */
    uint32_t dim;   /* of a dimension: index into graph->dims */
    struct value value;
};

struct scope {
    struct names names;
    VEC(struct entity *) entities; /* in the order declared */
    const struct ast_def *def;     /* being expanded, or NULL */
};

enum state { ST_NEW, ST_ACTIVE, ST_DONE };

struct const_entry {
    const struct ast_const *ast;
    const struct binding *binding; /* -D, or NULL */
    enum state state;
    const struct graph *graph; /* the one value belongs to */
    struct value value;
};

struct type_entry {
    const struct ast_type *ast;
    const struct binding *binding;
    enum state state;
    bool good;
    enum dtype type;
};

struct def_entry {
    const struct ast_def *ast;
    bool in_prelude, used;
    bool in_cycle;        /* reported: calls are poison */
    struct scope *scope;  /* of check_defs: what it declares, and uses */
    uint32_t mark, index; /* for the search of cycles */
};

struct resolver {
    struct arena *arena;
    struct diag *diag;
    const struct file_set *files;
    struct front_options *opt;
    struct names consts, types, defs, prelude; /* to *_entry */
    VEC(struct def_entry *) def_list;
    struct names reported;
    VEC(struct scope *) scopes; /* of the fusions */

    /* The fusion at hand. */
    const struct ast_fusion *fusion;
    struct build b;
    struct scope *scope;
    uint32_t n_statements;
    uint32_t depth;
    bool limit; /* a limit was reported: nothing more is expanded */
};

/* What an expression gives: one value, or several for some calls. */
struct results {
    struct value *v;
    uint32_t n;
};

/* The module of a file set without errors, else NULL. */
struct module *resolve_module(struct arena *a, struct diag *d,
                              const struct file_set *files,
                              struct front_options *opt);

/* --- names and constants (resolve_names.c) -------------------------------- */

void scope_init(struct scope *s, struct arena *a);
/* Reports a clash and returns NULL then. */
struct entity *scope_declare(struct resolver *r, enum entity_kind kind,
                             const struct ast_name *name);
struct entity *scope_find(const struct scope *s, const char *name);
/* The value of a name where it is used. */
struct value resolve_name(struct resolver *r, const char *name,
                          struct span where);
/* A type by name: built in, declared or bound; false after a report. */
bool resolve_type(struct resolver *r, const struct ast_name *name,
                  enum dtype *ret);
/* The same without a report for a name that is no type. */
bool resolve_type_quiet(struct resolver *r, const char *name, enum dtype *ret);
struct def_entry *resolve_find_def(struct resolver *r, const char *name);
/* The last -D of the name, or NULL; marks it as used. */
const struct binding *resolve_binding(struct resolver *r, const char *name);
/* The literal of a -D; poison and a report when it is none. */
struct value resolve_binding_value(struct resolver *r,
                                   const struct binding *bind);
/* Enters consts, types and defs, and checks those that nothing uses. */
void resolve_declarations(struct resolver *r);
void resolve_check_consts(struct resolver *r);
/* A symbol that -D binds, declared where it is first met; NULL if none. */
struct entity *resolve_bound_dim(struct resolver *r, const char *name,
                                 struct span where);

/* --- expressions (resolve_expr.c, resolve_index.c) -------------------------
 */

struct value resolve_expr(struct resolver *r, const struct expr *e);
void resolve_results(struct resolver *r, const struct expr *e,
                     struct results *ret);
/* An argument or default, which may be a list. */
struct value resolve_argument(struct resolver *r, const struct expr *e);
struct value resolve_subscript(struct resolver *r, struct value x,
                               const struct ast_subscript *s,
                               struct span where);
/* The extent that a value is; false after a report. */
bool resolve_extent(struct resolver *r, const struct value *v,
                    const struct sym **ret, bool *ret_literal);
bool resolve_dims(struct resolver *r, struct expr *const *dims, uint32_t n,
                  struct span where, struct shape *ret);
/* A shape given as a list. */
bool resolve_shape(struct resolver *r, const struct value *v, const char *of,
                   struct shape *ret);
/* A def's expansion or a fusion's body: one statement. */
void resolve_statement(struct resolver *r, const struct ast_stmt *s);
/* Counts towards the limit; false when it is reached. */
bool resolve_count(struct resolver *r, struct span where);

/* --- calls (resolve_call.c) ------------------------------------------------
 */

struct formal {
    const char *name;
    bool keyword; /* must be given by name */
    bool required;
};

struct arguments {
    struct value *v;
    bool *given;
};

void resolve_call(struct resolver *r, const struct expr *e,
                  struct results *ret);
void resolve_unknown_operation(struct resolver *r, const struct ast_name *name);

/* --- operations (resolve_op.c, resolve_shape.c) ----------------------------
 */

struct call {
    struct resolver *r;
    struct build *b;
    const struct expr *e;
    const struct signature *sig;
    struct span span;
    struct arguments a;
    struct results *ret; /* room for two; n = 1 and v[0] poison on entry */
};

struct signature {
    const char *name;
    void (*fn)(struct call *c);
    enum op op; /* for handlers that serve several operations */
    /* Words: "x" by position or name, "axis=" by name, "axis?" by name or not
     * at all. */
    const char *formals;
};

/* NULL for an unknown operation. */
const struct signature *resolve_find_operation(const char *name);
/* The i-th operation that has a name, NULL beyond the last. */
const struct signature *resolve_operation_at(uint32_t i);
/* Offers every operation's name. */
void resolve_offer_operations(struct nearest *n);
uint32_t signature_formals(const struct signature *s, struct arena *a,
                           struct formal *ret);
/* The handlers of resolve_shape.c. */
void op_permute(struct call *c);
void op_transpose(struct call *c);
void op_reshape(struct call *c);
void op_broadcast_to(struct call *c);
void op_squeeze(struct call *c);
void op_pad(struct call *c);
void op_cat(struct call *c);
void op_flip(struct call *c);
void op_roll(struct call *c);
void op_size(struct call *c);
void op_iota(struct call *c);
/* For handlers: axes from an argument, for a value of the given rank. */
bool call_axis(struct call *c, uint32_t arg, const struct shape *s, int rank,
               int *ret);
bool call_axes(struct call *c, uint32_t arg, const struct shape *s, int rank,
               struct axes *ret);
/* Operand `arg` as a node in its own type; false after a report. */
bool call_tensor(struct call *c, uint32_t arg);
/* A compile-time number or truth; false after a report. */
bool call_number(struct call *c, uint32_t arg, double *ret);
bool call_bool(struct call *c, uint32_t arg, bool *ret);

/* --- heads of fusions (resolve_head.c, resolve_requires.c, resolve_layout.c)
 */

/* Parameters, symbols, requires and the shapes of results. */
void resolve_head(struct resolver *r);
/* Facts and guards of the conditions; before any extent is evaluated. */
void resolve_requires(struct resolver *r);
/* The places that symbols are read from at launch; guards for extents that are
 * expressions. After the parameters' shapes are known. */
void resolve_symbols(struct resolver *r);
void resolve_param_layout(struct resolver *r, const struct ast_param *p,
                          struct param *ret);
void resolve_result_layout(struct resolver *r, const struct ast_result *p,
                           struct result *ret);
void resolve_inplace(struct resolver *r, const struct ast_result *p,
                     struct result *ret);

/* --- bodies and outputs (resolve.c, resolve_output.c) ----------------------
 */

void resolve_outputs(struct resolver *r);

/* --- checks (checks.c) -----------------------------------------------------
 */

/* Names, argument counts and cycles of all defs. */
void check_defs(struct resolver *r);
/* Warnings, for programs without errors: a misspelt name would show twice. */
void check_unused(struct resolver *r);
void check_implemented(struct diag *d, const struct graph *g);
bool check_has_kernels(enum dtype t);
/* Calls fn for every name used as a value in e, in the order of the text. */
void check_walk_names(const struct expr *e,
                      void (*fn)(void *, const struct expr *), void *data);

#endif
