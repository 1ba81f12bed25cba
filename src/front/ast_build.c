/* SPDX-License-Identifier: Apache-2.0 */
/* ast_build: declarations and statements. Expressions are in ast_expr.c.
 *
 * The grammar hands over lists of pointers; what the resolver reads are arrays
 * of structs. FLATTEN copies the one into the other. */
#include "support/base.h"

#include "front/ast_build.h"

#include "front/ast_list.h"
#include "front/parse.h"
#include "support/arena.h"

struct ast_list *
ast_list(struct parser *p)
{
    return NEW(p->arena, struct ast_list);
}

struct ast_list *
ast_list_of(struct parser *p, void *item)
{
    return ast_list_add(p, ast_list(p), item);
}

struct ast_list *
ast_list_add(struct parser *p, struct ast_list *l, void *item)
{
    assert(item);
    VEC_PUSH(p->arena, l, item);
    return l;
}

void *
ast_list_flatten(struct parser *p, const struct ast_list *l, size_t size)
{
    char *to = arena_array(p->arena, l->n, size);

    for (uint32_t i = 0; i < l->n; i++)
        memcpy(to + i * size, l->v[i], size);
    return to;
}

void
ast_lost(struct parser *p)
{
    p->file->complete = false;
}

void
ast_import(struct parser *p, const char *quoted, struct span where)
{
    struct ast_import *node = NEW(p->arena, struct ast_import);
    size_t n = strlen(quoted);

    if (n < 2 || quoted[n - 1] != '"') { /* unterminated, and reported */
        ast_lost(p);
        return;
    }
    node->path = arena_strndup(p->arena, quoted + 1, n - 2);
    node->span = where;
    ast_list_add(p, p->imports, node);
}

void
ast_const(struct parser *p, struct ast_name name, struct expr *value,
          struct span where)
{
    struct ast_const *node = NEW(p->arena, struct ast_const);

    node->file = p->file;
    node->name = name;
    node->value = value;
    node->span = where;
    ast_list_add(p, p->consts, node);
}

void
ast_type(struct parser *p, struct ast_name name, struct ast_name target,
         struct span where)
{
    struct ast_type *node = NEW(p->arena, struct ast_type);

    node->file = p->file;
    node->name = name;
    node->target = target;
    node->span = where;
    ast_list_add(p, p->types, node);
}

void
ast_fusion(struct parser *p, struct ast_head head, struct ast_list *results,
           struct ast_list *requires, struct ast_list *stmts, struct span body)
{
    struct ast_fusion *node = NEW(p->arena, struct ast_fusion);

    assert(body.end > body.begin);
    node->file = p->file;
    node->name = head.name;
    node->span = head.span;
    node->params = FLATTEN(p, head.params, struct ast_param);
    node->n_params = head.params->n;
    node->results = FLATTEN(p, results, struct ast_result);
    node->n_results = results->n;
    node->requires = (struct expr **)requires->v;
    node->n_requires = requires->n;
    node->stmts = FLATTEN(p, stmts, struct ast_stmt);
    node->n_stmts = stmts->n;
    node->end = body;
    node->end.begin = body.end - 1;
    ast_list_add(p, p->fusions, node);
}

void
ast_def(struct parser *p, struct ast_head head, struct ast_list *stmts,
        struct ast_list *returns)
{
    struct ast_def *node = NEW(p->arena, struct ast_def);

    node->file = p->file;
    node->name = head.name;
    node->span = head.span;
    node->params = FLATTEN(p, head.params, struct ast_defpar);
    node->n_params = head.params->n;
    if (stmts) {
        node->stmts = FLATTEN(p, stmts, struct ast_stmt);
        node->n_stmts = stmts->n;
    }
    node->returns = (struct expr **)returns->v;
    node->n_returns = returns->n;
    ast_list_add(p, p->defs, node);
}

struct ast_name
ast_no_name(void)
{
    return (struct ast_name){NULL, {NULL, 0, 0}};
}

struct ast_name *
ast_name(struct parser *p, struct ast_name name)
{
    struct ast_name *node = NEW(p->arena, struct ast_name);

    *node = name;
    return node;
}

struct ast_defpar *
ast_defpar(struct parser *p, struct ast_name name, struct expr *value)
{
    struct ast_defpar *node = NEW(p->arena, struct ast_defpar);

    node->name = name;
    node->default_value = value;
    return node;
}

struct ast_param *
ast_scalar(struct parser *p, struct ast_name name, struct ast_name type,
           struct expr *value, struct span where)
{
    struct ast_param *node = NEW(p->arena, struct ast_param);

    node->name = name;
    node->type = type;
    node->default_value = value;
    node->span = where;
    return node;
}

struct ast_param *
ast_tensor(struct parser *p, struct ast_param head, struct ast_list *dims,
           struct ast_list *layouts)
{
    struct ast_param *node = NEW(p->arena, struct ast_param);

    *node = head;
    node->is_tensor = true;
    node->dims = (struct expr **)dims->v;
    node->n_dims = dims->n;
    node->layouts = FLATTEN(p, layouts, struct ast_layout);
    node->n_layouts = layouts->n;
    return node;
}

struct ast_result *
ast_result(struct parser *p, const struct ast_param *tensor,
           struct ast_name inplace, struct ast_name arg, struct span where)
{
    struct ast_result *node = NEW(p->arena, struct ast_result);

    assert(tensor->is_tensor);
    node->name = tensor->name;
    node->type = tensor->type;
    node->dims = tensor->dims;
    node->n_dims = tensor->n_dims;
    node->dims_span = tensor->dims_span;
    node->layouts = tensor->layouts;
    node->n_layouts = tensor->n_layouts;
    node->inplace = inplace;
    node->inplace_arg = arg;
    node->span = where;
    return node;
}

struct ast_layout *
ast_layout(struct parser *p, struct ast_name name, struct ast_list *dims,
           struct span where)
{
    struct ast_layout *node = NEW(p->arena, struct ast_layout);

    node->name = name;
    node->dims = (struct expr **)dims->v;
    node->n = dims->n;
    node->span = where;
    return node;
}

struct ast_stmt *
ast_stmt(struct parser *p, struct ast_list *names, struct expr *value,
         struct span where)
{
    struct ast_stmt *node = NEW(p->arena, struct ast_stmt);

    node->names = FLATTEN(p, names, struct ast_name);
    node->n_names = names->n;
    node->value = value;
    node->span = where;
    return node;
}
