/* SPDX-License-Identifier: Apache-2.0 */
/* ast_print: syntax tree -> S-expressions.
 *
 * The tree is first copied into plain S-expressions, an atom or a list each,
 * so that one layout rule serves every node: a list that fits the line stays on
 * it, else its head stays and every other item takes a line of its own, two
 * columns further in. An atom may carry a prefix (`axis=`, `+ `) that belongs
 * to the item behind it. */
#include "support/base.h"

#include "front/ast_print.h"

#include "front/files.h"
#include "front/front.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/vec.h"

enum { WIDTH = 80, STEP = 2 };

struct sexp {
    const char *prefix; /* printed before it, or "" */
    const char *text;   /* an atom, or NULL for a list */
    VEC(struct sexp *) items;
    size_t width; /* on one line, capped at WIDTH + 1 */
};

static struct sexp *
atom(struct arena *a, const char *text)
{
    struct sexp *s = NEW(a, struct sexp);

    s->prefix = "";
    s->text = text;
    s->width = MIN(strlen(text), WIDTH + 1);
    return s;
}

/* A list with its head; items follow by add. */
static struct sexp *
list(struct arena *a, const char *head)
{
    struct sexp *s = NEW(a, struct sexp);

    s->prefix = "";
    s->width = 2;
    VEC_PUSH(a, &s->items, atom(a, head));
    s->width += s->items.v[0]->width;
    return s;
}

static struct sexp *
prefixed(struct arena *a, const char *prefix, struct sexp *s)
{
    assert(!*s->prefix && a);
    s->prefix = prefix;
    s->width = MIN(s->width + strlen(prefix), WIDTH + 1);
    return s;
}

static void
add(struct arena *a, struct sexp *to, struct sexp *item)
{
    VEC_PUSH(a, &to->items, item);
    to->width = MIN(to->width + 1 + item->width, WIDTH + 1);
}

static void
add_atom(struct arena *a, struct sexp *to, const char *text)
{
    add(a, to, atom(a, text));
}

static struct sexp *build_expr(struct arena *a, const struct expr *e);

static struct sexp *
build_optional(struct arena *a, const struct expr *e)
{
    return e ? build_expr(a, e) : atom(a, "_");
}

static struct sexp *
build_index(struct arena *a, const struct ast_index *x)
{
    struct sexp *s;

    switch (x->kind) {
    case INDEX_ALL:
        return atom(a, ":");
    case INDEX_ELLIPSIS:
        return atom(a, "...");
    case INDEX_NEW:
        return atom(a, "None");
    case INDEX_EXPR:
        return build_expr(a, x->expr);
    case INDEX_SLICE:
        s = list(a, "slice");
        add(a, s, build_optional(a, x->lo));
        add(a, s, build_optional(a, x->hi));
        if (x->step)
            add(a, s, build_expr(a, x->step));
        return s;
    }
    BUG("index kind %d", (int)x->kind);
}

static struct sexp *
build_subscripts(struct arena *a, const struct expr *e)
{
    struct sexp *s = list(a, "index");

    add(a, s, build_expr(a, e->u.index.base));
    for (uint32_t i = 0; i < e->u.index.n; i++) {
        const struct ast_subscript *sub = &e->u.index.subs[i];
        struct sexp *at = list(a, "at");

        for (uint32_t k = 0; k < sub->n; k++)
            add(a, at, build_index(a, &sub->items[k]));
        add(a, s, at);
    }
    return s;
}

static struct sexp *
build_chain(struct arena *a, const struct expr *e)
{
    struct sexp *s = list(a, "chain");

    add(a, s, build_expr(a, e->u.chain.first));
    for (uint32_t i = 0; i < e->u.chain.n; i++) {
        const struct ast_link *link = &e->u.chain.links[i];
        const char *op = arena_printf(a, "%s ", ast_op_text(link->op));

        add(a, s, prefixed(a, op, build_expr(a, link->rhs)));
    }
    return s;
}

static struct sexp *
build_call(struct arena *a, const struct expr *e)
{
    struct sexp *s = list(a, "call");

    add_atom(a, s, e->u.call.callee.text);
    for (uint32_t i = 0; i < e->u.call.n; i++) {
        const struct ast_arg *arg = &e->u.call.args[i];
        struct sexp *value = build_expr(a, arg->value);

        if (arg->keyword.text)
            prefixed(a, arena_printf(a, "%s=", arg->keyword.text), value);
        add(a, s, value);
    }
    return s;
}

static struct sexp *
build_exprs(struct arena *a, const char *head, struct expr *const *v,
            uint32_t n)
{
    struct sexp *s = list(a, head);

    for (uint32_t i = 0; i < n; i++)
        add(a, s, build_expr(a, v[i]));
    return s;
}

static struct sexp *
build_unary(struct arena *a, const struct expr *e)
{
    enum ast_op op = e->u.unary.op;
    struct sexp *s = list(a, op == AST_NEG   ? "neg"
                             : op == AST_NOT ? "not"
                                             : "inv");

    add(a, s, build_expr(a, e->u.unary.arg));
    return s;
}

static struct sexp *
build_fixed(struct arena *a, const char *head, const struct expr *const *v)
{
    struct sexp *s = list(a, head);

    for (; *v; v++)
        add(a, s, build_expr(a, *v));
    return s;
}

static struct sexp *
build_expr(struct arena *a, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_ERROR:
        return atom(a, "<error>");
    case EXPR_INT:
        return atom(a, e->u.i.text);
    case EXPR_FLOAT:
        return atom(a, e->u.f.text);
    case EXPR_BOOL:
        return atom(a, e->u.b ? "true" : "false");
    case EXPR_INF:
        return atom(a, "inf");
    case EXPR_NAN:
        return atom(a, "nan");
    case EXPR_PI:
        return atom(a, "pi");
    case EXPR_NAME:
        return atom(a, e->u.name);
    case EXPR_UNARY:
        return build_unary(a, e);
    case EXPR_CHAIN:
        return build_chain(a, e);
    case EXPR_POW:
        return build_fixed(a, "pow",
                           (const struct expr *const[]){
                               e->u.pow.base, e->u.pow.exponent, NULL});
    case EXPR_SELECT:
        return build_fixed(a, "select",
                           (const struct expr *const[]){e->u.select.cond,
                                                        e->u.select.a,
                                                        e->u.select.b, NULL});
    case EXPR_CALL:
        return build_call(a, e);
    case EXPR_INDEX:
        return build_subscripts(a, e);
    case EXPR_LIST:
        return build_exprs(a, "list", e->u.list.items, e->u.list.n);
    case EXPR_KIND_COUNT:
        break;
    }
    BUG("expression kind %d", (int)e->kind);
}

/* ---- statements and declarations ------------------------------------------
 */

static void
add_stmts(struct arena *a, struct sexp *to, const struct ast_stmt *v,
          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sexp *s = list(a, "let");

        for (uint32_t k = 0; k < v[i].n_names; k++)
            add_atom(a, s, v[i].names[k].text);
        add(a, s, prefixed(a, "= ", build_expr(a, v[i].value)));
        add(a, to, s);
    }
}

static void
add_shape(struct arena *a, struct sexp *to, const struct ast_param *t)
{
    add(a, to, build_exprs(a, "dims", t->dims, t->n_dims));
    for (uint32_t i = 0; i < t->n_layouts; i++) {
        const struct ast_layout *l = &t->layouts[i];

        add(a, to, build_exprs(a, l->name.text, l->dims, l->n));
    }
}

static struct sexp *
build_param(struct arena *a, const struct ast_param *param)
{
    struct sexp *s = list(a, param->is_tensor ? "tensor" : "scalar");

    add_atom(a, s, param->name.text);
    add_atom(a, s, param->type.text);
    if (param->is_tensor)
        add_shape(a, s, param);
    if (param->default_value)
        add(a, s, prefixed(a, "= ", build_expr(a, param->default_value)));
    return s;
}

static struct sexp *
build_result(struct arena *a, const struct ast_result *r)
{
    struct ast_param shape = {
        .dims = r->dims,
        .n_dims = r->n_dims,
        .layouts = r->layouts,
        .n_layouts = r->n_layouts,
    };
    struct sexp *s = list(a, "result"), *how;

    add_atom(a, s, r->name.text);
    add_atom(a, s, r->type.text);
    add_shape(a, s, &shape);
    if (r->inplace.text) {
        how = list(a, r->inplace.text);
        add_atom(a, how, r->inplace_arg.text);
        add(a, s, prefixed(a, "= ", how));
    }
    return s;
}

static struct sexp *
build_fusion(struct arena *a, const struct ast_fusion *f)
{
    struct sexp *s = list(a, "fusion");

    add_atom(a, s, f->name.text);
    for (uint32_t i = 0; i < f->n_params; i++)
        add(a, s, build_param(a, &f->params[i]));
    for (uint32_t i = 0; i < f->n_results; i++)
        add(a, s, build_result(a, &f->results[i]));
    for (uint32_t i = 0; i < f->n_requires; i++)
        add(a, s, build_exprs(a, "requires", &f->requires[i], 1));
    add_stmts(a, s, f->stmts, f->n_stmts);
    return s;
}

static struct sexp *
build_def(struct arena *a, const struct ast_def *def)
{
    struct sexp *s = list(a, "def"), *params = list(a, "params");

    add_atom(a, s, def->name.text);
    for (uint32_t i = 0; i < def->n_params; i++) {
        const struct ast_defpar *par = &def->params[i];
        struct sexp *item = atom(a, par->name.text);

        if (par->default_value)
            item = prefixed(a, arena_printf(a, "%s=", par->name.text),
                            build_expr(a, par->default_value));
        add(a, params, item);
    }
    add(a, s, params);
    add_stmts(a, s, def->stmts, def->n_stmts);
    add(a, s, build_exprs(a, "return", def->returns, def->n_returns));
    return s;
}

static struct sexp *
build_file(struct arena *a, const struct ast_file *file)
{
    struct sexp *s = list(a, "file");

    for (uint32_t i = 0; i < file->n_imports; i++) {
        struct sexp *item = list(a, "import");

        add_atom(a, item, arena_printf(a, "\"%s\"", file->imports[i].path));
        add(a, s, item);
    }
    for (uint32_t i = 0; i < file->n_types; i++) {
        struct sexp *item = list(a, "type");

        add_atom(a, item, file->types[i]->name.text);
        add_atom(a, item, file->types[i]->target.text);
        add(a, s, item);
    }
    for (uint32_t i = 0; i < file->n_consts; i++) {
        struct sexp *item = list(a, "const");

        add_atom(a, item, file->consts[i]->name.text);
        add(a, item, build_expr(a, file->consts[i]->value));
        add(a, s, item);
    }
    for (uint32_t i = 0; i < file->n_defs; i++)
        add(a, s, build_def(a, file->defs[i]));
    for (uint32_t i = 0; i < file->n_fusions; i++)
        add(a, s, build_fusion(a, file->fusions[i]));
    return s;
}

/* ---- layout ---------------------------------------------------------------
 */

static void
print_flat(struct buf *out, const struct sexp *s)
{
    buf_puts(out, s->prefix);
    if (s->text) {
        buf_puts(out, s->text);
        return;
    }
    for (uint32_t i = 0; i < s->items.n; i++) {
        buf_putc(out, i == 0 ? '(' : ' ');
        print_flat(out, s->items.v[i]);
    }
    buf_putc(out, ')');
}

static bool
is_toplevel(const struct sexp *s)
{
    static const char *const heads[] = {"file", "fusion", "def"};

    for (size_t i = 0; !s->text && i < ARRAY_LEN(heads); i++) {
        if (strcmp(s->items.v[0]->text, heads[i]) == 0)
            return true;
    }
    return false;
}

/* Plain atoms behind the head stay beside it: (fusion f, (let y. */
static bool
stays_on_line(const struct sexp *s, uint32_t i)
{
    const struct sexp *item = s->items.v[i];

    return item->text && !*item->prefix && i <= 2 &&
           s->items.v[i - 1]->text != NULL;
}

static void
print_sexp(struct buf *out, const struct sexp *s, size_t indent)
{
    bool beside = true;

    if (s->text || (indent + s->width <= WIDTH && !is_toplevel(s))) {
        print_flat(out, s);
        return;
    }
    buf_puts(out, s->prefix);
    buf_putc(out, '(');
    buf_puts(out, s->items.v[0]->text);
    for (uint32_t i = 1; i < s->items.n; i++) {
        beside = beside && stays_on_line(s, i);
        if (beside) {
            buf_putc(out, ' ');
        } else {
            buf_putc(out, '\n');
            for (size_t k = 0; k < indent + STEP; k++)
                buf_putc(out, ' ');
        }
        print_sexp(out, s->items.v[i], indent + STEP);
    }
    buf_putc(out, ')');
}

void
ast_print(struct arena *a, const struct ast_file *file, struct buf *out)
{
    print_sexp(out, build_file(a, file), 0);
    buf_putc(out, '\n');
}

bool
front_print_ast(struct arena *a, struct diag *d, const struct front_text *text,
                struct buf *out)
{
    unsigned before = diag_errors(d);
    const struct ast_file *file = files_parse(a, d, text);

    if (!file || diag_errors(d) > before)
        return false;
    ast_print(a, file, out);
    return true;
}
