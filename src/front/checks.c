/* SPDX-License-Identifier: Apache-2.0 */
/* checks: what is looked at without evaluating: every def, called or not, for
 * names, argument counts and cycles; what nothing reads; and operations that
 * have no kernel yet.
 *
 * The search for cycles among defs is a loop with a stack of its own, because a
 * file may chain as many defs as it likes. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

/* --- walking ------------------------------------------------------------- */

struct walk {
    void (*name)(void *, const struct expr *); /* EXPR_NAME; may be NULL */
    void (*call)(void *, const struct expr *); /* EXPR_CALL; may be NULL */
    void *data;
};

static void walk(const struct walk *w, const struct expr *e);

static void
walk_index(const struct walk *w, const struct expr *e)
{
    walk(w, e->u.index.base);
    for (uint32_t i = 0; i < e->u.index.n; i++) {
        const struct ast_subscript *s = &e->u.index.subs[i];

        for (uint32_t k = 0; k < s->n; k++) {
            walk(w, s->items[k].expr);
            walk(w, s->items[k].lo);
            walk(w, s->items[k].hi);
        }
    }
}

static void
walk_call(const struct walk *w, const struct expr *e)
{
    if (w->call)
        w->call(w->data, e);
    for (uint32_t i = 0; i < e->u.call.n; i++)
        walk(w, e->u.call.args[i].value);
}

static void
walk(const struct walk *w, const struct expr *e)
{
    if (!e)
        return;
    switch (e->kind) {
    case EXPR_NAME:
        if (w->name)
            w->name(w->data, e);
        return;
    case EXPR_UNARY:
        walk(w, e->u.unary.arg);
        return;
    case EXPR_CHAIN:
        walk(w, e->u.chain.first);
        for (uint32_t i = 0; i < e->u.chain.n; i++)
            walk(w, e->u.chain.links[i].rhs);
        return;
    case EXPR_POW:
        walk(w, e->u.pow.base);
        walk(w, e->u.pow.exponent);
        return;
    case EXPR_SELECT:
        walk(w, e->u.select.cond);
        walk(w, e->u.select.a);
        walk(w, e->u.select.b);
        return;
    case EXPR_CALL:
        walk_call(w, e);
        return;
    case EXPR_INDEX:
        walk_index(w, e);
        return;
    case EXPR_LIST:
        for (uint32_t i = 0; i < e->u.list.n; i++)
            walk(w, e->u.list.items[i]);
        return;
    default:
        return;
    }
}

void
check_walk_names(const struct expr *e, void (*fn)(void *, const struct expr *),
                 void *data)
{
    walk(&(struct walk){.name = fn, .data = data}, e);
}

/* --- defs ---------------------------------------------------------------- */

struct def_check {
    struct resolver *r;
    struct def_entry *entry;
    VEC(struct def_entry *) callees;
};

static void
check_name(void *data, const struct expr *e)
{
    struct def_check *c = data;
    struct entity *n = scope_find(c->r->scope, e->u.name);
    enum dtype t;

    if (n) {
        n->used = true;
        if (n->defined)
            return;
    } else if (resolve_type_quiet(c->r, e->u.name, &t)) {
        return;
    }
    resolve_name(c->r, e->u.name, e->span);
}

static void
count_error(struct def_check *c, const struct expr *e, uint32_t least,
            uint32_t most)
{
    struct build *b = &c->r->b;
    const char *wants =
        least == most
            ? arena_printf(b->arena, "%u argument%s", most,
                           most == 1 ? "" : "s")
            : arena_printf(b->arena, "%u to %u arguments", least, most);

    BUILD_ERROR(b, DIAG_ARGUMENT_COUNT, e->span, e->u.call.callee.text, wants,
                e->u.call.n);
}

static void
check_call(void *data, const struct expr *e)
{
    struct def_check *c = data;
    const char *name = e->u.call.callee.text;
    const struct signature *sig;
    struct def_entry *def;
    struct formal formals[MAX_FORMALS];
    uint32_t least = 0, most;
    enum dtype t;

    if (resolve_type_quiet(c->r, name, &t)) {
        if (e->u.call.n != 1)
            count_error(c, e, 1, 1);
        return;
    }
    def = resolve_find_def(c->r, name);
    if (def) {
        VEC_PUSH(c->r->arena, &c->callees, def);
        def->used = def->used || def != c->entry;
        most = def->ast->n_params;
        for (uint32_t i = 0; i < most; i++)
            least += !def->ast->params[i].default_value;
    } else if ((sig = resolve_find_operation(name)) != NULL) {
        most = signature_formals(sig, c->r->arena, formals);
        for (uint32_t i = 0; i < most; i++)
            least += formals[i].required;
    } else {
        resolve_unknown_operation(c->r, &e->u.call.callee);
        return;
    }
    if ((e->u.call.n < least || e->u.call.n > most) &&
        !(most > 1 && strcmp(name, "max") == 0) &&
        !(most > 1 && strcmp(name, "min") == 0))
        count_error(c, e, least, most);
}

static void
check_expr(struct def_check *c, const struct expr *e)
{
    walk(&(struct walk){check_name, check_call, c}, e);
}

static void
warn_unused(struct resolver *r, const struct entity *e, const char *what)
{
    if (e->used || e->name[0] == '_')
        return;
    diag_report(r->diag, DIAG_UNUSED, e->span, what, e->name);
}

static void
warn_unused_locals(struct resolver *r, const struct scope *s)
{
    for (uint32_t i = 0; i < s->entities.n; i++) {
        const struct entity *e = s->entities.v[i];

        warn_unused(r, e, e->kind == E_FORMAL ? "parameter" : "value");
    }
}

static void
declare_formals(struct resolver *r, const struct ast_def *def)
{
    for (uint32_t i = 0; i < def->n_params; i++) {
        struct entity *e = scope_declare(r, E_FORMAL, &def->params[i].name);

        if (e)
            e->defined = true;
    }
    for (uint32_t i = 0; i < def->n_stmts; i++) {
        for (uint32_t k = 0; k < def->stmts[i].n_names; k++) {
            const struct ast_name *name = &def->stmts[i].names[k];
            struct entity *e = strcmp(name->text, "_") == 0
                                   ? NULL
                                   : scope_declare(r, E_VALUE, name);

            if (e)
                e->value.span = name->span;
        }
    }
}

static void
check_statements(struct def_check *c, const struct ast_def *def)
{
    for (uint32_t i = 0; i < def->n_stmts; i++) {
        const struct ast_stmt *s = &def->stmts[i];

        check_expr(c, s->value);
        for (uint32_t k = 0; k < s->n_names; k++) {
            struct entity *e = scope_find(c->r->scope, s->names[k].text);

            if (e)
                e->defined = true;
        }
    }
    for (uint32_t i = 0; i < def->n_returns; i++)
        check_expr(c, def->returns[i]);
}

/* Names, argument counts, and what it calls. */
static void
check_def(struct def_check *c, const struct ast_def *def)
{
    struct resolver *r = c->r;
    struct scope *inner = NEW(r->arena, struct scope), *outer = r->scope;

    scope_init(inner, r->arena);
    inner->def = def;
    r->scope = c->entry->scope = inner;
    for (uint32_t i = 0; i < def->n_params; i++) {
        if (def->params[i].default_value)
            check_expr(c, def->params[i].default_value);
    }
    declare_formals(r, def);
    check_statements(c, def);
    r->scope = outer;
}

/* --- cycles among defs --------------------------------------------------- */

enum { MARK_NEW, MARK_ACTIVE, MARK_DONE };

struct frame {
    uint32_t def, next; /* next callee to look at */
};

static void
report_cycle(struct resolver *r, const struct def_check *checks,
             const struct frame *stack, uint32_t n, struct def_entry *again)
{
    const struct ast_name *name = &again->ast->name;
    bool fresh = build_fresh(&r->b, DIAG_CYCLE, name->span);
    uint32_t first = n - 1;

    if (fresh)
        diag_report(r->diag, DIAG_CYCLE, name->span, "def", name->text);
    while (checks[stack[first].def].entry != again)
        first--;
    for (uint32_t i = first; i < n; i++) {
        struct def_entry *e = checks[stack[i].def].entry;

        e->in_cycle = true;
        if (fresh && i > first && i - first < 8)
            diag_note(r->diag, e->ast->name.span, "through '%s'",
                      e->ast->name.text);
    }
}

static void
search_from(struct resolver *r, struct def_check *checks, struct frame *stack,
            uint32_t root)
{
    uint32_t n = 0;

    stack[n++] = (struct frame){root, 0};
    checks[root].entry->mark = MARK_ACTIVE;
    while (n > 0) {
        struct frame *f = &stack[n - 1];
        struct def_check *c = &checks[f->def];
        struct def_entry *callee;

        if (f->next == c->callees.n) {
            c->entry->mark = MARK_DONE;
            n--;
            continue;
        }
        callee = c->callees.v[f->next++];
        if (callee->mark == MARK_ACTIVE) {
            report_cycle(r, checks, stack, n, callee);
        } else if (callee->mark == MARK_NEW) {
            callee->mark = MARK_ACTIVE;
            stack[n++] = (struct frame){callee->index, 0};
        }
    }
}

void
check_defs(struct resolver *r)
{
    uint32_t n = r->def_list.n;
    struct def_check *checks = NEW_ARRAY(r->arena, struct def_check, n);
    struct frame *stack = NEW_ARRAY(r->arena, struct frame, n);

    for (uint32_t i = 0; i < n; i++) {
        checks[i].r = r;
        checks[i].entry = r->def_list.v[i];
        checks[i].entry->index = i;
        check_def(&checks[i], r->def_list.v[i]->ast);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (r->def_list.v[i]->mark == MARK_NEW)
            search_from(r, checks, stack, i);
    }
}

/* --- what nothing reads -------------------------------------------------- */

static void
unused_of_fusion(struct resolver *r, const struct scope *s)
{
    static const char *const what[] = {
        [E_TENSOR] = "input", [E_SCALAR] = "scalar", [E_VALUE] = "value"};

    for (uint32_t i = 0; i < s->entities.n; i++) {
        const struct entity *e = s->entities.v[i];

        if (e->kind == E_DIM && e->index != UINT32_MAX)
            warn_unused(r, e, "scalar");
        else if (!e->is_result && e->kind < ARRAY_LEN(what) && what[e->kind])
            warn_unused(r, e, what[e->kind]);
    }
}

/* Defs of the main file and what they declare; those of imported files serve
 * others. */
static void
unused_defs(struct resolver *r)
{
    for (uint32_t i = 0; i < r->def_list.n; i++) {
        const struct def_entry *e = r->def_list.v[i];

        if (!e->ast->file->is_main)
            continue;
        warn_unused_locals(r, e->scope);
        if (!e->used && e->ast->name.text[0] != '_')
            diag_report(r->diag, DIAG_UNUSED, e->ast->name.span, "def",
                        e->ast->name.text);
    }
}

void
check_unused(struct resolver *r)
{
    for (uint32_t i = 0; i < r->scopes.n; i++)
        unused_of_fusion(r, r->scopes.v[i]);
    unused_defs(r);
}

/* --- what has no kernel -------------------------------------------------- */

bool
check_has_kernels(enum dtype t)
{
    return t != DT_F8E4M3 && t != DT_F8E5M2;
}

void
check_implemented(struct diag *d, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct node *n = graph_node(g, i);
        const char *what = NULL;

        if (op_info[n->op].flags & OPF_NO_KERNEL)
            what = op_info[n->op].name;
        else if (!check_has_kernels(n->dtype) &&
                 op_info[n->op].class != OC_VIEW &&
                 op_info[n->op].class != OC_JOIN)
            what = dtype_info[n->dtype].name;
        if (what)
            diag_report(d, DIAG_NOT_IMPLEMENTED_YET, n->span, what);
    }
    for (uint32_t i = 0; i < g->n_results; i++) {
        if (!check_has_kernels(g->results[i].dtype))
            diag_report(d, DIAG_NOT_IMPLEMENTED_YET, g->results[i].span,
                        dtype_info[g->results[i].dtype].name);
    }
}
