/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_requires: conditions.
 *
 * A condition is used three ways: as text, it becomes a guard of the manifest,
 * with consts replaced by their values and `//` spelled `/`; as a fact, it
 * takes part in the normal form of every extent; and where it can be decided
 * now, a false one is an error. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"
#include "support/buf.h"

enum truth { UNKNOWN, TRUE, FALSE };

/* An integer side of a comparison. */
struct term {
    bool good;                  /* false: reported */
    const struct sym *sym;      /* NULL: not known now (a scalar) */
    const struct sym *dividend; /* of `dividend % modulus`, or NULL */
    int64_t modulus;
};

static void
bad(struct resolver *r, struct span where, const char *what, const char *help)
{
    if (!build_fresh(&r->b, DIAG_BAD_REQUIRES, where))
        return;
    diag_report(r->diag, DIAG_BAD_REQUIRES, where, what);
    if (help)
        diag_help(r->diag, where, "%s", help);
}

/* --- integers ------------------------------------------------------------ */

static struct term term_of(struct resolver *r, const struct expr *e,
                           struct buf *text);

static struct term
known(struct resolver *r, const struct sym *s, struct span where,
      struct buf *text)
{
    struct value v = build_sym(&r->b, s, true, where);
    int64_t k;

    if (v.kind == V_POISON)
        return (struct term){0};
    if (sym_is_int(s, &k) && k >= 0) {
        buf_printf(text, "%" PRId64, k);
    } else {
        buf_putc(text, '(');
        sym_print(text, s);
        buf_putc(text, ')');
    }
    return (struct term){.good = true, .sym = s};
}

/* Names that no uniform expression holds; reports the first. */
struct strangers {
    struct resolver *r;
    bool found;
};

static void
find_stranger(void *data, const struct expr *e)
{
    struct strangers *s = data;
    const struct entity *n = scope_find(s->r->scope, e->u.name);

    if (!n || n->kind == E_DIM || s->found)
        return;
    s->found = true;
    bad(s->r, e->span, arena_printf(s->r->arena, "'%s'", n->name),
        n->kind == E_SCALAR ? "scalar arguments are only added, subtracted, "
                              "multiplied, divided with '//' and compared"
                            : "conditions compare dimensions, consts and "
                              "integer scalars");
}

/* Anything else that the language can evaluate to a uniform integer. */
static struct term
other_term(struct resolver *r, const struct expr *e, struct buf *text)
{
    struct strangers s = {r, false};
    struct value v;

    check_walk_names(e, find_stranger, &s);
    if (s.found)
        return (struct term){0};
    v = resolve_expr(r, e);

    if (v.kind == V_POISON)
        return (struct term){0};
    if (v.kind != V_INT) {
        bad(r, e->span,
            v.kind == V_FLOAT ? "a float" : build_subject(&r->b, &v),
            "conditions compare integers");
        return (struct term){0};
    }
    return known(r, v.sym, e->span, text);
}

static struct term
name_term(struct resolver *r, const struct expr *e, struct buf *text)
{
    struct entity *n = scope_find(r->scope, e->u.name);
    const struct ast_param *p;
    enum dtype t;

    if (!n || (n->kind != E_DIM && n->kind != E_SCALAR))
        return other_term(r, e, text);
    n->used = true;
    buf_puts(text, n->name);
    if (n->kind == E_DIM)
        return (struct term){.good = n->value.kind == V_INT,
                             .sym = sym_name(r->b.syms, n->name)};
    if (resolve_binding(r, n->name)) { /* no argument, but a constant */
        struct value v = resolve_binding_value(r, resolve_binding(r, n->name));

        if (v.kind == V_INT) {
            text->len -= strlen(n->name);
            return known(r, v.sym, e->span, text);
        }
    }
    p = &r->fusion->params[n->index];
    if (!resolve_type(r, &p->type, &t))
        return (struct term){0};
    if (dtype_is_integer(t))
        return (struct term){.good = true};
    bad(r, e->span,
        arena_printf(r->arena, "'%s' of type %s", n->name, dtype_info[t].name),
        "conditions compare integers");
    return (struct term){0};
}

typedef const struct sym *sym_fn(struct sym_ctx *, const struct sym *,
                                 const struct sym *);

static const struct {
    enum ast_op op;
    sym_fn *fn;
    const char *text;
} arithmetic[] = {
    {AST_ADD, sym_add, "+"}, {AST_SUB, sym_sub, "-"},
    {AST_MUL, sym_mul, "*"}, {AST_FLOORDIV, sym_div, "/"},
    {AST_MOD, sym_mod, "%"},
};

static size_t
arithmetic_row(enum ast_op op)
{
    size_t i = 0;

    while (i < ARRAY_LEN(arithmetic) && arithmetic[i].op != op)
        i++;
    return i;
}

/* acc op rhs; false after a report. */
static bool
link_term(struct resolver *r, struct term *acc, const struct ast_link *l,
          struct buf *text)
{
    size_t row = arithmetic_row(l->op);
    struct term rhs;
    int64_t k = 0;

    if (row == ARRAY_LEN(arithmetic)) {
        bad(r, l->op_span,
            arena_printf(r->arena, "operator '%s'", ast_op_text(l->op)),
            l->op == AST_DIV ? "conditions compare integers: divide with '//'"
                             : NULL);
        return false;
    }
    buf_printf(text, " %s ", arithmetic[row].text);
    rhs = term_of(r, l->rhs, text);
    if (!rhs.good)
        return false;
    acc->dividend = NULL;
    if (rhs.sym && sym_is_int(rhs.sym, &k) && k == 0 &&
        (l->op == AST_FLOORDIV || l->op == AST_MOD)) {
        bad(r, l->rhs->span, "a division by 0", NULL);
        return false;
    }
    if (!acc->sym || !rhs.sym) {
        acc->sym = NULL;
        return true;
    }
    if (l->op == AST_MOD && k > 0) {
        acc->dividend = acc->sym;
        acc->modulus = k;
    }
    acc->sym = arithmetic[row].fn(r->b.syms, acc->sym, rhs.sym);
    return build_sym(&r->b, acc->sym, true, l->rhs->span).kind != V_POISON;
}

static struct term
chain_term(struct resolver *r, const struct expr *e, struct buf *text)
{
    struct term acc;

    if (arithmetic_row(e->u.chain.links[0].op) == ARRAY_LEN(arithmetic) &&
        e->u.chain.links[0].op != AST_DIV)
        return other_term(r, e, text);
    acc = term_of(r, e->u.chain.first, text);
    for (uint32_t i = 0; i < e->u.chain.n && acc.good; i++)
        acc.good = link_term(r, &acc, &e->u.chain.links[i], text);
    return acc;
}

static struct term
term_of(struct resolver *r, const struct expr *e, struct buf *text)
{
    struct term t;

    if (e->parens)
        buf_putc(text, '(');
    if (e->kind == EXPR_NAME) {
        t = name_term(r, e, text);
    } else if (e->kind == EXPR_CHAIN) {
        t = chain_term(r, e, text);
    } else if (e->kind == EXPR_UNARY && e->u.unary.op == AST_NEG) {
        buf_putc(text, '-');
        t = term_of(r, e->u.unary.arg, text);
        t.dividend = NULL;
        if (t.good && t.sym)
            t.sym = sym_sub(r->b.syms, sym_int(r->b.syms, 0), t.sym);
    } else {
        t = other_term(r, e, text);
    }
    if (e->parens)
        buf_putc(text, ')');
    return t;
}

/* --- truths -------------------------------------------------------------- */

static enum truth
truth_if(bool known_true, bool known_false)
{
    return known_true ? TRUE : known_false ? FALSE : UNKNOWN;
}

/* What is known of a comparison from the bounds of the difference. */
static enum truth
compare(struct resolver *r, enum ast_op op, const struct sym *d)
{
    int64_t lo, hi;
    bool has_lo = sym_lower_bound(r->b.syms, d, &lo),
         has_hi = sym_upper_bound(r->b.syms, d, &hi);
    bool pos = has_lo && lo > 0, neg = has_hi && hi < 0,
         not_neg = has_lo && lo >= 0, not_pos = has_hi && hi <= 0;
    bool zero = not_neg && not_pos;

    switch (op) {
    case AST_EQ:
        return truth_if(zero, pos || neg);
    case AST_NE:
        return truth_if(pos || neg, zero);
    case AST_LT:
        return truth_if(neg, not_neg);
    case AST_LE:
        return truth_if(not_pos, pos);
    case AST_GT:
        return truth_if(pos, not_pos);
    case AST_GE:
        return truth_if(not_neg, neg);
    default:
        BUG("'%s' is no comparison", ast_op_text(op));
    }
}

static bool
free_name(const struct sym *s, const struct sym *other, const char **ret)
{
    return sym_is_name(s, ret) && !sym_uses(other, *ret);
}

static void
assume_equal(struct resolver *r, const struct term *x, const struct term *y)
{
    const char *name;
    int64_t k;

    if (free_name(x->sym, y->sym, &name))
        sym_assume_equal(r->b.syms, name, y->sym);
    else if (free_name(y->sym, x->sym, &name))
        sym_assume_equal(r->b.syms, name, x->sym);
    else if (x->dividend && sym_is_int(y->sym, &k) && k == 0)
        sym_assume_multiple(r->b.syms, x->dividend, x->modulus);
    else if (y->dividend && sym_is_int(x->sym, &k) && k == 0)
        sym_assume_multiple(r->b.syms, y->dividend, y->modulus);
}

struct symbol_count {
    const char *name;
    int n;
};

static void
count_symbol(void *data, const char *name)
{
    struct symbol_count *c = data;

    c->name = name;
    c->n++;
}

/* d = k * name + c with constants k != 0 and c. */
static bool
single_linear(struct resolver *r, const struct sym *d, const char **ret_name,
              int64_t *ret_k, int64_t *ret_c)
{
    struct symbol_count count = {0};
    const struct sym *k, *c;

    sym_symbols(d, count_symbol, &count);
    *ret_name = count.name;
    return count.n == 1 && sym_linear_in(r->b.syms, d, count.name, &k, &c) &&
           sym_is_int(k, ret_k) && sym_is_int(c, ret_c) && *ret_k != 0 &&
           *ret_k > INT64_MIN && *ret_c > INT64_MIN;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* d >= 0 as a range of the only symbol in d. */
static void
assume_at_least_0(struct resolver *r, const struct sym *d)
{
    const char *name;
    int64_t k, c;

    if (!d || !single_linear(r, d, &name, &k, &c))
        return;
    if (k > 0) /* name >= -c / k, rounded up */
        sym_assume_range(r->b.syms, name, -floor_div(c, k), INT64_MAX);
    else /* name <= c / -k, rounded down */
        sym_assume_range(r->b.syms, name, INT64_MIN, floor_div(c, -k));
}

/* x op y, as a range where one symbol stands in it alone. */
static void
assume_range(struct resolver *r, enum ast_op op, const struct sym *x,
             const struct sym *y)
{
    struct sym_ctx *s = r->b.syms;
    const struct sym *d = sym_sub(s, x, y), *one = sym_int(s, 1);

    if (op == AST_GE)
        assume_at_least_0(r, d);
    else if (op == AST_GT)
        assume_at_least_0(r, sym_sub(s, d, one));
    else if (op == AST_LE)
        assume_at_least_0(r, sym_sub(s, y, x));
    else if (op == AST_LT)
        assume_at_least_0(r, sym_sub(s, sym_sub(s, y, x), one));
}

struct condition {
    bool good;
    enum truth truth;
};

static struct condition condition_of(struct resolver *r, const struct expr *e,
                                     bool is_fact, struct buf *text);

static struct condition
comparison(struct resolver *r, const struct expr *e, bool is_fact,
           struct buf *text)
{
    const struct ast_link *l = &e->u.chain.links[0];
    struct term x = term_of(r, e->u.chain.first, text), y;
    struct condition c = {0};
    const struct sym *d;

    buf_printf(text, " %s ", ast_op_text(l->op));
    y = term_of(r, l->rhs, text);
    c.good = x.good && y.good;
    if (!c.good || !x.sym || !y.sym)
        return c;
    d = sym_sub(r->b.syms, x.sym, y.sym);
    if (!d)
        return c;
    c.truth = compare(r, l->op, d);
    if (!is_fact || c.truth != UNKNOWN)
        return c;
    if (l->op == AST_EQ)
        assume_equal(r, &x, &y);
    assume_range(r, l->op, x.sym, y.sym);
    return c;
}

static struct condition
logic_chain(struct resolver *r, const struct expr *e, bool is_fact,
            struct buf *text)
{
    bool is_and = e->u.chain.links[0].op == AST_AND;
    enum truth decides = is_and ? FALSE : TRUE, other = is_and ? TRUE : FALSE;
    struct condition c =
        condition_of(r, e->u.chain.first, is_fact && is_and, text);

    for (uint32_t i = 0; i < e->u.chain.n; i++) {
        struct condition next;

        buf_puts(text, is_and ? " && " : " || ");
        next =
            condition_of(r, e->u.chain.links[i].rhs, is_fact && is_and, text);
        c.good = c.good && next.good;
        if (c.truth == decides || next.truth == decides)
            c.truth = decides;
        else if (c.truth != other || next.truth != other)
            c.truth = UNKNOWN;
    }
    return c;
}

static struct condition
bool_name(struct resolver *r, const struct expr *e, struct buf *text)
{
    struct entity *n = scope_find(r->scope, e->u.name);
    struct value v;
    enum dtype t;

    if (n && n->kind == E_SCALAR &&
        resolve_type_quiet(r, r->fusion->params[n->index].type.text, &t) &&
        t == DT_BOOL) {
        const struct binding *bind = resolve_binding(r, n->name);

        n->used = true;
        v = bind ? resolve_binding_value(r, bind) : build_poison(e->span);
        if (v.kind == V_BOOL) {
            buf_putc(text, v.b ? '1' : '0');
            return (struct condition){true, v.b ? TRUE : FALSE};
        }
        buf_puts(text, n->name);
        return (struct condition){.good = true};
    }
    if (n) {
        bad(r, e->span, arena_printf(r->arena, "'%s'", n->name),
            "write a comparison, such as N > 0");
        return (struct condition){0};
    }
    v = resolve_name(r, e->u.name, e->span);
    if (v.kind == V_BOOL) {
        buf_putc(text, v.b ? '1' : '0');
        return (struct condition){true, v.b ? TRUE : FALSE};
    }
    if (v.kind != V_POISON)
        bad(r, e->span, build_subject(&r->b, &v),
            "write a comparison, such as N > 0");
    return (struct condition){0};
}

static struct condition
bare_condition(struct resolver *r, const struct expr *e, bool is_fact,
               struct buf *text)
{
    struct condition c = {0};

    if (e->kind == EXPR_BOOL) {
        buf_putc(text, e->u.b ? '1' : '0');
        return (struct condition){true, e->u.b ? TRUE : FALSE};
    }
    if (e->kind == EXPR_NAME)
        return bool_name(r, e, text);
    if (e->kind == EXPR_UNARY && e->u.unary.op == AST_NOT) {
        buf_puts(text, "!(");
        c = condition_of(r, e->u.unary.arg, false, text);
        buf_putc(text, ')');
        c.truth = c.truth == TRUE ? FALSE : c.truth == FALSE ? TRUE : UNKNOWN;
        return c;
    }
    if (e->kind == EXPR_CHAIN && ast_op_is_comparison(e->u.chain.links[0].op))
        return comparison(r, e, is_fact, text);
    if (e->kind == EXPR_CHAIN &&
        (e->u.chain.links[0].op == AST_AND || e->u.chain.links[0].op == AST_OR))
        return logic_chain(r, e, is_fact, text);
    if (e->kind != EXPR_ERROR)
        bad(r, e->span, "this expression",
            "write a comparison, such as N % 8 == 0");
    return c;
}

static struct condition
condition_of(struct resolver *r, const struct expr *e, bool is_fact,
             struct buf *text)
{
    struct condition c;

    if (e->parens)
        buf_putc(text, '(');
    c = bare_condition(r, e, is_fact, text);
    if (e->parens)
        buf_putc(text, ')');
    return c;
}

static void
one_condition(struct resolver *r, const struct expr *e)
{
    struct condition c;
    struct buf text;

    if (e->depth > MAX_GUARD_DEPTH) {
        bad(r, e->span, "a condition nested more than 64 deep", NULL);
        return;
    }
    buf_init(&text, r->arena);
    c = condition_of(r, e, true, &text);
    if (!c.good) {
        assert(diag_errors(r->diag) > 0); /* no condition is dropped silently */
        return;
    }
    if (text.len > MAX_GUARD_BYTES) {
        bad(r, e->span, "a condition of more than 1,024 bytes",
            "split it at '&&' into several conditions");
        return;
    }
    if (c.truth == FALSE) {
        BUILD_ERROR(&r->b, DIAG_REQUIRES_FALSE, e->span, buf_str(&text));
        return;
    }
    graph_add_guard(r->b.graph, buf_str(&text));
}

void
resolve_requires(struct resolver *r)
{
    for (uint32_t i = 0; i < r->fusion->n_requires; i++)
        one_condition(r, r->fusion->requires[i]);
}
