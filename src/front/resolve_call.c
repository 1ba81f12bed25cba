/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_call: NAME(...): a cast, the expansion of a def, or an operation.
 *
 * Arguments are evaluated once, in the caller's scope, before anything else. A
 * def is expanded in a scope of its own, where its parameters are these values;
 * errors inside carry a note for each call around them. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

/* --- arguments ----------------------------------------------------------- */

struct binder {
    struct resolver *r;
    const struct expr *e;
    const struct formal *formals;
    uint32_t n;
    struct arguments *ret;
    bool good;
};

static uint32_t
formal_index(const struct binder *bd, const char *name)
{
    uint32_t i = 0;

    while (i < bd->n && strcmp(bd->formals[i].name, name) != 0)
        i++;
    return i;
}

static uint32_t
positional_formals(const struct binder *bd)
{
    uint32_t n = 0;

    while (n < bd->n && !bd->formals[n].keyword)
        n++;
    return n;
}

static void
too_many(struct binder *bd, const struct ast_arg *arg, uint32_t given)
{
    struct build *b = &bd->r->b;
    uint32_t n = positional_formals(bd);
    const char *name = bd->e->u.call.callee.text;
    const char *other = strcmp(name, "max") == 0   ? "maximum"
                        : strcmp(name, "min") == 0 ? "minimum"
                                                   : NULL;
    struct value v = resolve_argument(bd->r, arg->value);
    int64_t k;

    bd->good = false;
    if (v.kind == V_POISON)
        return;
    if (other && given == 2 && !(v.kind == V_INT && uniform_int(&v, &k))) {
        if (!build_fresh(b, DIAG_USE_OTHER, bd->e->span))
            return;
        diag_report(b->diag, DIAG_USE_OTHER, bd->e->span,
                    arena_printf(b->arena, "'%s' reduces one tensor", name));
        diag_help(
            b->diag, bd->e->span, "for the %s of two values write %s(a, b)",
            *other == 'm' && other[1] == 'a' ? "larger" : "smaller", other);
        build_trace(b);
        return;
    }
    if (!build_fresh(b, DIAG_ARGUMENT_COUNT, arg->span))
        return;
    diag_report(b->diag, DIAG_ARGUMENT_COUNT, arg->span, name,
                arena_printf(b->arena, "%u argument%s%s", n, n == 1 ? "" : "s",
                             n < bd->n ? " by position" : ""),
                given);
    if (n < bd->n)
        diag_help(b->diag, arg->span, "give it by name: %s=...",
                  bd->formals[n].name);
    build_trace(b);
}

static void
unknown_argument(struct binder *bd, const struct ast_arg *arg)
{
    struct build *b = &bd->r->b;
    struct nearest n;

    bd->good = false;
    if (!build_fresh(b, DIAG_UNKNOWN_ARGUMENT, arg->keyword.span))
        return;
    diag_report(b->diag, DIAG_UNKNOWN_ARGUMENT, arg->keyword.span,
                bd->e->u.call.callee.text, arg->keyword.text);
    nearest_init(&n, arg->keyword.text);
    for (uint32_t i = 0; i < bd->n; i++)
        nearest_offer(&n, bd->formals[i].name);
    if (n.best)
        diag_help(b->diag, arg->keyword.span, "did you mean '%s'?", n.best);
    build_trace(b);
}

/* The formal that the argument goes to, or bd->n. */
static uint32_t
place(struct binder *bd, const struct ast_arg *arg, uint32_t position)
{
    uint32_t i;

    if (!arg->keyword.text) {
        if (position < positional_formals(bd))
            return position;
        too_many(bd, arg, position + 1);
        return bd->n;
    }
    i = formal_index(bd, arg->keyword.text);
    if (i == bd->n)
        unknown_argument(bd, arg);
    return i;
}

static void
missing(struct binder *bd, const struct formal *f)
{
    struct build *b = &bd->r->b;

    bd->good = false;
    if (!build_fresh(b, DIAG_MISSING_ARGUMENT, bd->e->span))
        return;
    diag_report(b->diag, DIAG_MISSING_ARGUMENT, bd->e->span,
                bd->e->u.call.callee.text, f->name);
    if (f->keyword)
        diag_help(b->diag, bd->e->span, "give it by name: %s=...", f->name);
    build_trace(b);
}

/* Evaluates the arguments into the formals; false after a report. A poisoned
 * argument is no reason to stop here. */
static bool
bind_arguments(struct binder *bd)
{
    uint32_t position = 0;

    bd->good = true;
    bd->ret->v = NEW_ARRAY(bd->r->arena, struct value, bd->n);
    bd->ret->given = NEW_ARRAY(bd->r->arena, bool, bd->n);
    for (uint32_t i = 0; i < bd->e->u.call.n; i++) {
        const struct ast_arg *arg = &bd->e->u.call.args[i];
        uint32_t at = place(bd, arg, position);

        position += !arg->keyword.text;
        if (at == bd->n)
            continue;
        if (bd->ret->given[at]) {
            bd->good = false;
            BUILD_ERROR(&bd->r->b, DIAG_REPEATED_ARGUMENT, arg->span,
                        bd->formals[at].name, bd->e->u.call.callee.text);
            continue;
        }
        bd->ret->given[at] = true;
        bd->ret->v[at] = resolve_argument(bd->r, arg->value);
    }
    for (uint32_t i = 0; i < bd->n && bd->good; i++) {
        if (bd->formals[i].required && !bd->ret->given[i])
            missing(bd, &bd->formals[i]);
    }
    return bd->good;
}

static void
poison_results(struct resolver *r, uint32_t n, struct span where,
               struct results *ret)
{
    ret->n = n;
    ret->v = NEW_ARRAY(r->arena, struct value, MAX(n, 2));
    for (uint32_t i = 0; i < n; i++)
        ret->v[i] = build_poison(where);
}

/* --- casts --------------------------------------------------------------- */

/* A cast that stays in the graph even where it changes nothing but forbids
 * contraction: f32(e) of an f32. */
static struct value
explicit_cast(struct resolver *r, const struct value *v, enum dtype t,
              struct span where)
{
    struct build *b = &r->b;
    struct value x = build_materialize(b, v);
    struct node n = {.op = OP_CAST, .dtype = t, .n_args = 1};
    struct shape s;

    x.uniform = false;
    if (x.kind == V_POISON ||
        (build_type(b, &x) == t && !(t == DT_F32 || t == DT_F64)))
        return x;
    s = build_shape(b, &x);
    n.rank = s.rank;
    memcpy(n.dims, s.dims, sizeof(n.dims));
    n.args = &x.node;
    return build_emit(b, &n, s.stretch, where);
}

static struct value
cast_value(struct resolver *r, const struct value *v, enum dtype t,
           struct span where)
{
    struct build *b = &r->b;
    int64_t k;

    if (!build_is_operand(b, v))
        return build_poison(where);
    if (v->kind == V_FLOAT && t == DT_F32)
        return build_const(b, t, (double)(float)v->f, 0, where);
    if (v->kind == V_FLOAT && t == DT_F64)
        return build_const(b, t, v->f, 0, where);
    if (uniform_int(v, &k) && (t == DT_F32 || t == DT_F64))
        return build_dim(b, v->sym, t, where);
    if (uniform_int(v, &k) && dtype_is_integer(t)) {
        unsigned lost = 64 - 8 * dtype_info[t].bytes;
        int64_t low = (int64_t)((uint64_t)k << lost);

        /* The low bits, as a value of the type. */
        k = t == DT_U8 ? (int64_t)((uint64_t)low >> lost)
                       : low / (INT64_C(1) << lost);
        return build_const(b, t, 0, k, where);
    }
    return explicit_cast(r, v, t, where);
}

static void
resolve_cast(struct resolver *r, const struct expr *e, enum dtype t,
             struct results *ret)
{
    static const struct formal formals[] = {{"x", false, true}};
    struct arguments args = {0};
    struct binder bd = {r, e, formals, 1, &args, true};

    poison_results(r, 1, e->span, ret);
    if (bind_arguments(&bd))
        ret->v[0] = cast_value(r, &args.v[0], t, e->span);
}

/* --- defs ---------------------------------------------------------------- */

static void
declare_locals(struct resolver *r, const struct ast_def *def)
{
    for (uint32_t i = 0; i < def->n_stmts; i++) {
        for (uint32_t k = 0; k < def->stmts[i].n_names; k++) {
            const struct ast_name *name = &def->stmts[i].names[k];
            struct entity *e;

            if (strcmp(name->text, "_") == 0)
                continue;
            e = scope_declare(r, E_VALUE, name);
            if (e)
                e->value.span = name->span;
        }
    }
}

static void
expand_body(struct resolver *r, const struct ast_def *def, struct results *ret)
{
    for (uint32_t i = 0; i < def->n_stmts && !r->limit; i++)
        resolve_statement(r, &def->stmts[i]);
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->v[i] = resolve_expr(r, def->returns[i]);
        if (ret->v[i].kind != V_POISON && !build_is_operand(&r->b, &ret->v[i]))
            ret->v[i] = build_poison(ret->v[i].span);
        ret->v[i].name = NULL;
    }
}

static void
expand_def(struct resolver *r, const struct expr *e, const struct ast_def *def,
           struct arguments *args, struct results *ret)
{
    struct scope inner, *outer = r->scope;
    struct call_site site = {def->name.text, e->span, r->b.calls};

    scope_init(&inner, r->arena);
    inner.def = def;
    r->scope = &inner;
    r->b.calls = &site;
    for (uint32_t i = 0; i < def->n_params; i++) {
        if (!args->given[i]) /* sees no parameter */
            args->v[i] = resolve_argument(r, def->params[i].default_value);
    }
    for (uint32_t i = 0; i < def->n_params; i++) {
        struct entity *f = scope_declare(r, E_FORMAL, &def->params[i].name);

        if (!f)
            continue;
        f->defined = true;
        f->value = args->v[i];
    }
    declare_locals(r, def);
    expand_body(r, def, ret);
    r->scope = outer;
    r->b.calls = site.outer;
}

static void
resolve_def_call(struct resolver *r, const struct expr *e,
                 struct def_entry *entry, struct results *ret)
{
    const struct ast_def *def = entry->ast;
    struct formal *formals = NEW_ARRAY(r->arena, struct formal, def->n_params);
    struct arguments args = {0};
    struct binder bd = {r, e, formals, def->n_params, &args, true};

    entry->used = true;
    poison_results(r, def->n_returns, e->span, ret);
    for (uint32_t i = 0; i < def->n_params; i++) {
        formals[i].name = def->params[i].name.text;
        formals[i].required = !def->params[i].default_value;
    }
    if (!bind_arguments(&bd) || entry->in_cycle || !resolve_count(r, e->span))
        return;
    expand_def(r, e, def, &args, ret);
}

/* --- operations ---------------------------------------------------------- */

static void
resolve_operation(struct resolver *r, const struct expr *e,
                  const struct signature *sig, struct results *ret)
{
    struct formal formals[MAX_FORMALS];
    struct call c = {.r = r, .b = &r->b, .e = e, .sig = sig, .span = e->span};
    struct binder bd = {r, e, formals, 0, &c.a, true};

    poison_results(r, 1, e->span, ret);
    c.ret = ret;
    bd.n = signature_formals(sig, r->arena, formals);
    if (bind_arguments(&bd))
        sig->fn(&c);
}

void
resolve_unknown_operation(struct resolver *r, const struct ast_name *name)
{
    struct nearest n;

    if (!build_fresh(&r->b, DIAG_UNKNOWN_OPERATION, name->span))
        return;
    diag_report(r->diag, DIAG_UNKNOWN_OPERATION, name->span, name->text);
    nearest_init(&n, name->text);
    for (uint32_t i = 0; i < r->def_list.n && !diag_full(r->diag); i++)
        nearest_offer(&n, r->def_list.v[i]->ast->name.text);
    resolve_offer_operations(&n);
    for (int t = 0; t < DT_COUNT; t++)
        nearest_offer(&n, dtype_info[t].name);
    if (n.best)
        diag_help(r->diag, name->span, "did you mean '%s'?", n.best);
    else if (scope_find(r->scope, name->text))
        diag_help(r->diag, name->span,
                  "'%s' is a value; an index is written %s[...]", name->text,
                  name->text);
    build_trace(&r->b);
}

void
resolve_call(struct resolver *r, const struct expr *e, struct results *ret)
{
    const char *name = e->u.call.callee.text;
    const struct signature *sig;
    struct def_entry *def;
    enum dtype t;

    assert(e->kind == EXPR_CALL);
    if (resolve_type_quiet(r, name, &t)) {
        resolve_cast(r, e, t, ret);
        return;
    }
    def = resolve_find_def(r, name);
    if (def) {
        resolve_def_call(r, e, def, ret);
        return;
    }
    sig = resolve_find_operation(name);
    if (sig) {
        resolve_operation(r, e, sig, ret);
        return;
    }
    poison_results(r, 1, e->span, ret);
    for (uint32_t i = 0; i < e->u.call.n; i++)
        resolve_argument(r, e->u.call.args[i].value);
    resolve_unknown_operation(r, &e->u.call.callee);
}
