/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_names: what a name stands for.
 *
 * Consts and types are evaluated when they are first needed, so they may stand
 * in any order; a const or type that is met again while it is evaluated depends
 * on itself. A const is evaluated once a fusion, because what it holds may be a
 * node of that fusion's graph. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

#include <errno.h>
#include <stdlib.h>

/* --- scopes -------------------------------------------------------------- */

void
scope_init(struct scope *s, struct arena *a)
{
    *s = (struct scope){0};
    names_init(&s->names, a);
}

struct entity *
scope_find(const struct scope *s, const char *name)
{
    return names_get(&s->names, name);
}

static const char *
kind_text(const struct entity *e)
{
    static const char *const text[] = {
        [E_TENSOR] = "an input",    [E_SCALAR] = "a scalar",
        [E_DIM] = "a dimension",    [E_VALUE] = "a value",
        [E_FORMAL] = "a parameter",
    };

    assert(e->kind < ARRAY_LEN(text));
    return e->is_result ? "an output" : text[e->kind];
}

static void
redefined(struct resolver *r, const struct ast_name *name, const char *as,
          struct span first)
{
    if (!build_fresh(&r->b, DIAG_ALREADY_DEFINED, name->span))
        return;
    diag_report(r->diag, DIAG_ALREADY_DEFINED, name->span, name->text, as);
    diag_note(r->diag, first, "'%s' is first defined here", name->text);
    build_trace(&r->b);
}

struct entity *
scope_declare(struct resolver *r, enum entity_kind kind,
              const struct ast_name *name)
{
    struct entity *e = scope_find(r->scope, name->text);
    const struct const_entry *c = names_get(&r->consts, name->text);

    if (e) {
        redefined(r, name, kind_text(e), e->span);
        return NULL;
    }
    if (c && !r->scope->def) {
        redefined(r, name, "a const", c->ast->name.span);
        return NULL;
    }
    e = NEW(r->arena, struct entity);
    e->kind = kind;
    e->name = name->text;
    e->span = name->span;
    e->value = build_poison(name->span);
    names_put(&r->scope->names, e->name, e);
    VEC_PUSH(r->arena, &r->scope->entities, e);
    return e;
}

/* --- bindings ------------------------------------------------------------ */

const struct binding *
resolve_binding(struct resolver *r, const char *name)
{
    struct binding *found = NULL;

    if (!r->opt)
        return NULL;
    for (uint32_t i = 0; i < r->opt->n_bindings; i++) {
        if (strcmp(r->opt->bindings[i].name, name) != 0)
            continue;
        found = &r->opt->bindings[i];
        found->used = true;
    }
    return found;
}

static struct value
bad_binding(struct resolver *r, const struct binding *bind, const char *why)
{
    struct span nowhere = {0};
    char *key = arena_printf(r->arena, "-D %s %s", bind->name, why);

    if (!names_get(&r->reported, key)) {
        names_put(&r->reported, key, key);
        diag_report(r->diag, DIAG_BAD_BINDING, nowhere, bind->name, bind->value,
                    why);
    }
    return build_poison(nowhere);
}

static bool
looks_float(const char *s)
{
    bool hex = strchr(s, 'x') || strchr(s, 'X');

    return strpbrk(s, hex ? ".pP" : ".eE") != NULL;
}

struct value
resolve_binding_value(struct resolver *r, const struct binding *bind)
{
    const char *s = bind->value, *digits = s + (*s == '-' || *s == '+');
    struct span nowhere = {0};
    char *end;

    if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0)
        return build_bool(*s == 't', nowhere);
    if (strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0)
        return build_float(strtod(s, NULL), nowhere);
    if (*digits < '0' || *digits > '9')
        return bad_binding(r, bind, "the value is no literal");
    errno = 0;
    if (looks_float(s)) {
        double f = strtod(s, &end);

        if (*end)
            return bad_binding(r, bind, "the value is no number");
        if (errno == ERANGE && (f > 1 || f < -1))
            return bad_binding(r, bind, "the value fits no type");
        return build_float(f, nowhere);
    } else {
        bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
        int64_t i = strtoll(s, &end, hex ? 16 : 10);

        if (*end)
            return bad_binding(r, bind, "the value is no number");
        if (errno == ERANGE)
            return bad_binding(r, bind, "the value fits no type");
        return build_int(&r->b, i, nowhere);
    }
}

struct entity *
resolve_bound_dim(struct resolver *r, const char *name, struct span where)
{
    const struct binding *bind = resolve_binding(r, name);
    struct ast_name declared = {name, where};
    struct value v;
    struct entity *e;
    int64_t k;

    if (!bind)
        return NULL;
    v = resolve_binding_value(r, bind);
    e = scope_declare(r, E_DIM, &declared);
    assert(e);
    e->defined = true;
    if (v.kind != V_POISON && !(uniform_int(&v, &k) && k >= 0)) {
        bad_binding(r, bind, "a dimension is an integer of at least 0");
        v = build_poison(where);
    } else if (v.kind == V_INT)
        sym_assume_equal(r->b.syms, e->name, v.sym);
    e->poisoned = v.kind == V_POISON;
    e->value = v;
    e->value.span = where;
    e->value.sized = true;
    e->index = UINT32_MAX;
    return e;
}

/* --- consts -------------------------------------------------------------- */

static struct value
const_value(struct resolver *r, struct const_entry *c)
{
    struct scope *outer = r->scope, empty;

    if (c->state == ST_ACTIVE) {
        BUILD_ERROR(&r->b, DIAG_CYCLE, c->ast->name.span, "const",
                    c->ast->name.text);
        return build_poison(c->ast->name.span);
    }
    if (c->state == ST_DONE && c->graph == r->b.graph)
        return c->value;
    c->state = ST_ACTIVE;
    if (c->binding) {
        c->value = resolve_binding_value(r, c->binding);
    } else {
        scope_init(&empty, r->arena);
        empty.def = outer ? outer->def : NULL;
        r->scope = &empty;
        c->value = resolve_expr(r, c->ast->value);
        r->scope = outer;
    }
    c->value.name = NULL;
    c->state = ST_DONE;
    c->graph = r->b.graph;
    return c->value;
}

void
resolve_check_consts(struct resolver *r)
{
    for (uint32_t i = 0; i < r->files->n_consts; i++) {
        struct const_entry *c =
            names_get(&r->consts, r->files->consts[i]->name.text);

        assert(c);
        const_value(r, c);
    }
}

/* --- the value of a name ------------------------------------------------- */

static void
unknown_name(struct resolver *r, const char *name, struct span where)
{
    struct nearest n;
    const struct signature *sig = resolve_find_operation(name);

    if (!build_fresh(&r->b, DIAG_UNKNOWN_NAME, where))
        return;
    diag_report(r->diag, DIAG_UNKNOWN_NAME, where, name);
    nearest_init(&n, name);
    for (uint32_t i = 0; i < r->scope->entities.n && !diag_full(r->diag); i++)
        nearest_offer(&n, r->scope->entities.v[i]->name);
    for (uint32_t i = 0; i < r->files->n_consts && !diag_full(r->diag); i++)
        nearest_offer(&n, r->files->consts[i]->name.text);
    if (resolve_find_def(r, name))
        diag_help(r->diag, where, "'%s' is a def; call it: %s(...)", name,
                  name);
    else if (sig)
        diag_help(r->diag, where, "'%s' is an operation; call it: %s(x)", name,
                  name);
    else if (n.best)
        diag_help(r->diag, where, "did you mean '%s'?", n.best);
    else if (r->scope->def)
        diag_help(r->diag, where,
                  "a def sees its parameters, locals and consts only; pass "
                  "'%s' as an argument",
                  name);
    build_trace(&r->b);
}

static struct value
entity_value(struct resolver *r, struct entity *e, struct span where)
{
    struct value v;

    e->used = true;
    if (!e->defined) {
        if (build_fresh(&r->b, DIAG_USE_BEFORE_DEFINITION, where)) {
            diag_report(r->diag, DIAG_USE_BEFORE_DEFINITION, where, e->name);
            if (e->is_result && !e->assigned)
                diag_note(r->diag, e->span,
                          "'%s' is an output; assign it first", e->name);
            else
                diag_note(r->diag, e->value.span, "'%s' is defined here",
                          e->name);
            build_trace(&r->b);
        }
        return build_poison(where);
    }
    v = e->value;
    v.span = where;
    v.name = e->name;
    v.declared = e->span;
    return v;
}

struct value
resolve_name(struct resolver *r, const char *name, struct span where)
{
    struct entity *e = scope_find(r->scope, name);
    struct const_entry *c = names_get(&r->consts, name);
    struct value v = {.kind = V_TYPE, .span = where};

    if (!e && !c && !r->scope->def && r->fusion)
        e = resolve_bound_dim(r, name, where);
    if (e)
        return entity_value(r, e, where);
    if (c) {
        v = const_value(r, c);
        v.span = where;
        v.name = name;
        v.declared = c->ast->name.span;
        return v;
    }
    if (resolve_type_quiet(r, name, &v.type))
        return v;
    unknown_name(r, name, where);
    return build_poison(where);
}

/* --- types --------------------------------------------------------------- */

static bool
type_value(struct resolver *r, struct type_entry *t)
{
    struct ast_name bound;

    if (t->state == ST_ACTIVE) {
        BUILD_ERROR(&r->b, DIAG_CYCLE, t->ast->name.span, "type",
                    t->ast->name.text);
        t->good = false;
        return false;
    }
    if (t->state == ST_DONE)
        return t->good;
    if (r->depth > MAX_EXPANSION) {
        BUILD_ERROR(&r->b, DIAG_CALL_DEPTH, t->ast->name.span,
                    t->ast->name.text);
        return false;
    }
    r->depth++;
    t->state = ST_ACTIVE;
    if (t->binding) {
        bound = (struct ast_name){t->binding->value, {0}};
        t->good = dtype_find(bound.text, &t->type);
        if (!t->good)
            bad_binding(r, t->binding, "the value is no type");
    } else {
        t->good = resolve_type(r, &t->ast->target, &t->type);
    }
    r->depth--;
    t->state = ST_DONE;
    return t->good;
}

bool
resolve_type_quiet(struct resolver *r, const char *name, enum dtype *ret)
{
    struct type_entry *t;

    if (dtype_find(name, ret))
        return true;
    t = names_get(&r->types, name);
    if (!t)
        return false;
    type_value(r, t);
    *ret = t->good ? t->type : DT_F32;
    return true;
}

bool
resolve_type(struct resolver *r, const struct ast_name *name, enum dtype *ret)
{
    struct type_entry *t;
    struct nearest n;

    if (dtype_find(name->text, ret))
        return true;
    t = names_get(&r->types, name->text);
    if (t) {
        bool good = type_value(r, t);

        *ret = t->type;
        return good;
    }
    if (!build_fresh(&r->b, DIAG_UNKNOWN_TYPE, name->span))
        return false;
    diag_report(r->diag, DIAG_UNKNOWN_TYPE, name->span, name->text);
    nearest_init(&n, name->text);
    for (int i = 0; i < DT_COUNT; i++)
        nearest_offer(&n, dtype_info[i].name);
    for (uint32_t i = 0; i < r->files->n_types; i++)
        nearest_offer(&n, r->files->types[i]->name.text);
    if (strcmp(name->text, "float") == 0 || strcmp(name->text, "float32") == 0)
        n.best = "f32";
    if (strcmp(name->text, "half") == 0 || strcmp(name->text, "float16") == 0)
        n.best = "f16";
    if (strcmp(name->text, "int") == 0)
        n.best = "i32";
    if (n.best)
        diag_help(r->diag, name->span, "did you mean '%s'?", n.best);
    return false;
}

/* --- declarations of the files ------------------------------------------- */

struct def_entry *
resolve_find_def(struct resolver *r, const char *name)
{
    const struct ast_def *inside = r->scope->def;
    struct def_entry *e = NULL;

    /* The prelude's own defs don't see the user's. */
    if (!inside || !inside->file->is_prelude)
        e = names_get(&r->defs, name);
    return e ? e : names_get(&r->prelude, name);
}

static void
enter_def(struct resolver *r, const struct ast_def *ast, bool in_prelude)
{
    struct def_entry *e = NEW(r->arena, struct def_entry);
    const char *what = NULL;
    enum dtype t;

    if (resolve_find_operation(ast->name.text))
        what = "an operation";
    else if (dtype_find(ast->name.text, &t) ||
             names_get(&r->types, ast->name.text))
        what = "a type";
    if (what)
        BUILD_ERROR(&r->b, DIAG_RESERVED_NAME, ast->name.span, "def",
                    ast->name.text, what);
    e->ast = ast;
    e->in_prelude = in_prelude;
    names_put(in_prelude ? &r->prelude : &r->defs, ast->name.text, e);
    VEC_PUSH(r->arena, &r->def_list, e);
}

void
resolve_declarations(struct resolver *r)
{
    const struct file_set *f = r->files;

    for (uint32_t i = 0; i < f->n_consts; i++) {
        struct const_entry *e = NEW(r->arena, struct const_entry);

        e->ast = f->consts[i];
        e->binding = resolve_binding(r, e->ast->name.text);
        names_put(&r->consts, e->ast->name.text, e);
    }
    for (uint32_t i = 0; i < f->n_types; i++) {
        struct type_entry *e = NEW(r->arena, struct type_entry);

        e->ast = f->types[i];
        e->binding = resolve_binding(r, e->ast->name.text);
        names_put(&r->types, e->ast->name.text, e);
    }
    for (uint32_t i = 0; i < f->n_prelude; i++)
        enter_def(r, f->prelude[i], true);
    for (uint32_t i = 0; i < f->n_defs; i++)
        enter_def(r, f->defs[i], false);
    for (uint32_t i = 0; i < f->n_types; i++)
        type_value(r, names_get(&r->types, f->types[i]->name.text));
}
