/* SPDX-License-Identifier: Apache-2.0 */
/* sym_print: an expression as text, in the three spellings that differ in
 * quotients, integers and names only. The first positive term leads, so that
 * "8 - N" needs no unary minus, which the manifest's language lacks. */
#include "support/base.h"

#include "ir/sym.h"

#include "ir/sym_impl.h"
#include "support/buf.h"

struct style {
    const char *div, *mod; /* operators, or functions when `calls` */
    const char *min, *max;
    bool calls;
    const char *suffix; /* of an integer */
    const char *(*name)(void *, const char *);
    void *data;
};

static void print_sum(struct buf *b, const struct sym *s,
                      const struct style *style);

static void
print_int(struct buf *b, uint64_t magnitude, const struct style *style)
{
    buf_printf(b, "%" PRIu64 "%s", magnitude, style->suffix);
}

static uint64_t
magnitude_of(int64_t v)
{
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static void
print_call(struct buf *b, const char *function, const struct atom *a,
           const struct style *style)
{
    buf_printf(b, "%s(", function);
    print_sum(b, a->a, style);
    buf_puts(b, ", ");
    print_sum(b, a->b, style);
    buf_putc(b, ')');
}

/* A sum in brackets unless it stands alone as the left operand (a product)
 * or as the right operand (one name, call or integer). */
static void
print_operand(struct buf *b, const struct sym *s, bool right,
              const struct style *style)
{
    int64_t v;
    bool bare = s->n <= 1;

    if (sym_is_int(s, &v))
        bare = v >= 0;
    else if (bare && s->terms[0].coef < 0)
        bare = false;
    else if (bare && right)
        bare = s->terms[0].coef == 1 && s->terms[0].n == 1 &&
               s->terms[0].atoms[0]->kind != ATOM_DIV &&
               s->terms[0].atoms[0]->kind != ATOM_MOD;
    if (!bare)
        buf_putc(b, '(');
    print_sum(b, s, style);
    if (!bare)
        buf_putc(b, ')');
}

static void
print_quotient(struct buf *b, const struct atom *a, bool alone,
               const struct style *style)
{
    const char *symbol = a->kind == ATOM_DIV ? style->div : style->mod;

    if (style->calls) {
        print_call(b, symbol, a, style);
        return;
    }
    if (!alone)
        buf_putc(b, '(');
    print_operand(b, a->a, false, style);
    buf_printf(b, " %s ", symbol);
    print_operand(b, a->b, true, style);
    if (!alone)
        buf_putc(b, ')');
}

static void
print_atom(struct buf *b, const struct atom *a, bool alone,
           const struct style *style)
{
    switch (a->kind) {
    case ATOM_NAME:
        buf_puts(b, style->name ? style->name(style->data, a->name) : a->name);
        return;
    case ATOM_DIV:
    case ATOM_MOD:
        print_quotient(b, a, alone, style);
        return;
    case ATOM_MIN:
        print_call(b, style->min, a, style);
        return;
    case ATOM_MAX:
        print_call(b, style->max, a, style);
        return;
    }
    BUG("atom kind %d", (int)a->kind);
}

/* The term without its sign. */
static void
print_term(struct buf *b, const struct term *t, const struct style *style)
{
    uint64_t m = magnitude_of(t->coef);
    bool alone = t->n == 1 && m == 1;

    if (m != 1 || t->n == 0) {
        print_int(b, m, style);
        if (t->n > 0)
            buf_puts(b, " * ");
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (i > 0)
            buf_puts(b, " * ");
        print_atom(b, t->atoms[i], alone, style);
    }
}

static void
print_sum(struct buf *b, const struct sym *s, const struct style *style)
{
    uint32_t first = 0;

    if (s->n == 0) {
        print_int(b, 0, style);
        return;
    }
    while (first < s->n && s->terms[first].coef < 0)
        first++;
    if (first < s->n)
        print_term(b, &s->terms[first], style);
    else if (s->terms[0].n > 0)
        print_int(b, 0, style);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i == first)
            continue;
        if (first == s->n && s->n == 1 && s->terms[0].n == 0)
            buf_putc(b, '-');
        else
            buf_puts(b, s->terms[i].coef < 0 ? " - " : " + ");
        print_term(b, &s->terms[i], style);
    }
}

void
sym_print(struct buf *b, const struct sym *s)
{
    static const struct style manifest = {
        .div = "/", .mod = "%", .min = "min", .max = "max", .suffix = ""};

    assert(s != NULL);
    print_sum(b, s, &manifest);
}

void
sym_print_fusion(struct buf *b, const struct sym *s)
{
    static const struct style fusion = {.div = "//",
                                        .mod = "%",
                                        .min = "minimum",
                                        .max = "maximum",
                                        .suffix = ""};

    assert(s != NULL);
    print_sum(b, s, &fusion);
}

void
sym_print_c(struct buf *b, const struct sym *s,
            const char *(*name)(void *, const char *), void *data)
{
    struct style c = {.div = "fu_div",
                      .mod = "fu_mod",
                      .min = "fu_min_i64",
                      .max = "fu_max_i64",
                      .calls = true,
                      .suffix = "ll",
                      .name = name,
                      .data = data};

    assert(s != NULL);
    print_sum(b, s, &c);
}
