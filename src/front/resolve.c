/* SPDX-License-Identifier: Apache-2.0 */
/* resolve: a file set to a module, fusion by fusion. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"
#include "support/buf.h"

/* --- bodies -------------------------------------------------------------- */

static void
assigned_twice(struct resolver *r, const struct entity *e,
               const struct ast_name *name)
{
    if (!build_fresh(&r->b, DIAG_ALREADY_DEFINED, name->span))
        return;
    diag_report(r->diag, DIAG_ALREADY_DEFINED, name->span, name->text,
                "an output");
    diag_note(r->diag, e->value.span, "'%s' is assigned here", name->text);
}

/* Enters the name of a statement, so that a use above it can say where it
 * stands. */
static void
announce(struct resolver *r, const struct ast_name *name)
{
    struct entity *e;

    if (strcmp(name->text, "_") == 0)
        return;
    e = scope_find(r->scope, name->text);
    if (e && e->is_result) {
        if (e->assigned) {
            assigned_twice(r, e, name);
            return;
        }
        e->assigned = true;
        e->value.span = name->span;
        return;
    }
    e = scope_declare(r, E_VALUE, name);
    if (e)
        e->value.span = name->span;
}

static void
resolve_body(struct resolver *r)
{
    const struct ast_fusion *f = r->fusion;

    for (uint32_t i = 0; i < f->n_stmts; i++) {
        for (uint32_t k = 0; k < f->stmts[i].n_names; k++)
            announce(r, &f->stmts[i].names[k]);
    }
    for (uint32_t i = 0; i < f->n_stmts && !r->limit; i++)
        resolve_statement(r, &f->stmts[i]);
}

/* --- fusions ------------------------------------------------------------- */

static void
start_graph(struct resolver *r, const char *name)
{
    struct sym_ctx *syms = sym_ctx_new(r->arena);

    r->b = (struct build){.arena = r->arena,
                          .diag = r->diag,
                          .syms = syms,
                          .reported = &r->reported};
    r->b.graph = graph_new(r->arena, syms, name);
    r->scope = NEW(r->arena, struct scope);
    scope_init(r->scope, r->arena);
    r->n_statements = 0;
    r->depth = 0;
    r->limit = false;
}

static struct graph *
resolve_fusion(struct resolver *r, const struct ast_fusion *f)
{
    struct buf why;

    start_graph(r, f->name.text);
    r->fusion = f;
    if (f->n_params + f->n_results > MAX_TENSORS) {
        diag_report(r->diag, DIAG_TENSOR_LIMIT, f->name.span, f->name.text,
                    (unsigned)MAX_TENSORS);
        return NULL;
    }
    resolve_head(r);
    resolve_body(r);
    resolve_outputs(r);
    r->fusion = NULL;
    if (diag_errors(r->diag) > 0)
        return NULL;
    buf_init(&why, r->arena);
    if (!graph_verify(r->b.graph, &why))
        BUG("fusion '%s' resolves to a broken graph: %s", f->name.text,
            buf_str(&why));
    return r->b.graph;
}

/* --- modules ------------------------------------------------------------- */

static struct module *
make_module(struct resolver *r)
{
    const struct file_set *f = r->files;
    struct module *m = NEW(r->arena, struct module);

    m->graphs = NEW_ARRAY(r->arena, struct graph *, f->n_fusions);
    for (uint32_t i = 0; i < f->n_fusions; i++) {
        m->graphs[m->n_graphs++] = resolve_fusion(r, f->fusions[i]);
        VEC_PUSH(r->arena, &r->scopes, r->scope);
    }
    m->files = f->paths;
    m->n_files = f->n_files;
    return m;
}

struct module *
resolve_module(struct arena *a, struct diag *d, const struct file_set *files,
               struct front_options *opt)
{
    struct resolver r = {.arena = a, .diag = d, .files = files, .opt = opt};
    struct module *m;

    names_init(&r.consts, a);
    names_init(&r.types, a);
    names_init(&r.defs, a);
    names_init(&r.prelude, a);
    names_init(&r.reported, a);
    start_graph(&r, "consts");
    resolve_declarations(&r);
    resolve_check_consts(&r);
    check_defs(&r);
    if (files->n_fusions == 0)
        diag_report(d, DIAG_NO_FUSION,
                    (struct span){files->files[0]->source, 0, 0},
                    files->files[0]->source->name);
    m = make_module(&r);
    if (diag_errors(d) > 0)
        return NULL;
    for (uint32_t i = 0; i < m->n_graphs; i++)
        check_implemented(d, m->graphs[i]);
    check_unused(&r);
    return diag_errors(d) == 0 ? m : NULL;
}
