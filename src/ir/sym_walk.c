/* SPDX-License-Identifier: Apache-2.0 */
/* sym_walk: questions that walk over an expression: substitution, evaluation,
 * its symbols, its form in one of them. */
#include "support/base.h"

#include "ir/sym.h"

#include "ir/sym_impl.h"
#include "support/arena.h"

struct subst {
    struct sym_ctx *ctx;
    const struct sym *(*lookup)(void *, const char *);
    void *data;
};

static const struct sym *subst_sum(const struct subst *s, const struct sym *e);

static const struct sym *
subst_atom(const struct subst *s, const struct atom *a)
{
    if (a->kind == ATOM_NAME) {
        const struct sym *by = s->lookup(s->data, a->name);

        return by != NULL ? by : sym_name(s->ctx, a->name);
    }

    const struct sym *x = subst_sum(s, a->a), *y = subst_sum(s, a->b);
    switch (a->kind) {
    case ATOM_NAME:
        break;
    case ATOM_DIV:
        return sym_div(s->ctx, x, y);
    case ATOM_MOD:
        return sym_mod(s->ctx, x, y);
    case ATOM_MIN:
        return sym_min(s->ctx, x, y);
    case ATOM_MAX:
        return sym_max(s->ctx, x, y);
    }
    BUG("atom kind %d", (int)a->kind);
}

static const struct sym *
subst_sum(const struct subst *s, const struct sym *e)
{
    const struct sym *ret = sym_int(s->ctx, 0);

    if (e == NULL)
        return NULL;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct sym *t = sym_int(s->ctx, e->terms[i].coef);

        for (uint32_t j = 0; j < e->terms[i].n; j++)
            t = sym_mul(s->ctx, t, subst_atom(s, e->terms[i].atoms[j]));
        ret = sym_add(s->ctx, ret, t);
    }
    return ret;
}

const struct sym *
sym_subst(struct sym_ctx *c, const struct sym *s,
          const struct sym *(*lookup)(void *, const char *), void *data)
{
    struct subst state = {c, lookup, data};

    return subst_sum(&state, s);
}

/* The least name above `after` (NULL: the least of all) in s, or best. */
static const char *
next_name(const struct sym *s, const char *after, const char *best)
{
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < s->terms[i].n; j++) {
            const struct atom *a = s->terms[i].atoms[j];

            if (a->kind != ATOM_NAME) {
                best = next_name(a->a, after, best);
                best = next_name(a->b, after, best);
            } else if ((after == NULL || strcmp(a->name, after) > 0) &&
                       (best == NULL || strcmp(a->name, best) < 0)) {
                best = a->name;
            }
        }
    }
    return best;
}

void
sym_symbols(const struct sym *s, void (*visit)(void *, const char *),
            void *data)
{
    const char *name = NULL;

    if (s == NULL)
        return;
    while ((name = next_name(s, name, NULL)) != NULL)
        visit(data, name);
}

static bool
atom_uses(const struct atom *a, const char *name)
{
    if (a->kind == ATOM_NAME)
        return strcmp(a->name, name) == 0;
    return sym_uses(a->a, name) || sym_uses(a->b, name);
}

bool
sym_uses(const struct sym *s, const char *name)
{
    if (s == NULL)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        for (uint32_t j = 0; j < s->terms[i].n; j++) {
            if (atom_uses(s->terms[i].atoms[j], name))
                return true;
        }
    }
    return false;
}

/* The term without the one atom that is the name; 0 or 1 occurrences, more or
 * hidden ones give false. */
static bool
remove_name(struct sym_ctx *c, const struct term *t, const char *name,
            struct term *ret)
{
    const struct atom **atoms =
        NEW_ARRAY(c->arena, const struct atom *, t->n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        const struct atom *a = t->atoms[i];

        if (!atom_uses(a, name))
            atoms[n++] = a;
        else if (a->kind != ATOM_NAME)
            return false;
    }
    *ret = (struct term){.coef = t->coef, .n = n, .atoms = atoms};
    return n + 1 >= t->n;
}

bool
sym_linear_in(struct sym_ctx *c, const struct sym *s, const char *name,
              const struct sym **ret_coef, const struct sym **ret_rest)
{
    if (s == NULL)
        return false;

    struct term *coef = NEW_ARRAY(c->arena, struct term, s->n);
    struct term *rest = NEW_ARRAY(c->arena, struct term, s->n);
    uint32_t n_coef = 0, n_rest = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct term t;

        if (!remove_name(c, &s->terms[i], name, &t))
            return false;
        if (t.n < s->terms[i].n)
            coef[n_coef++] = t;
        else
            rest[n_rest++] = t;
    }

    const struct sym *k = sym_from_terms(c, coef, n_coef);
    const struct sym *r = sym_from_terms(c, rest, n_rest);
    if (k == NULL || r == NULL)
        return false;
    *ret_coef = k;
    *ret_rest = r;
    return true;
}

struct eval {
    bool (*lookup)(void *, const char *, int64_t *);
    void *data;
};

static bool eval_sum(const struct eval *e, const struct sym *s, int64_t *ret);

static bool
eval_atom(const struct eval *e, const struct atom *a, int64_t *ret)
{
    int64_t x, y, q, r;

    if (a->kind == ATOM_NAME)
        return e->lookup(e->data, a->name, ret);
    if (!eval_sum(e, a->a, &x) || !eval_sum(e, a->b, &y))
        return false;
    switch (a->kind) {
    case ATOM_NAME:
        break;
    case ATOM_DIV:
    case ATOM_MOD:
        if (y == 0 || !sym_floor_div(x, y, &q, &r))
            return false;
        *ret = a->kind == ATOM_DIV ? q : r;
        return true;
    case ATOM_MIN:
        *ret = MIN(x, y);
        return true;
    case ATOM_MAX:
        *ret = MAX(x, y);
        return true;
    }
    BUG("atom kind %d", (int)a->kind);
}

static bool
eval_sum(const struct eval *e, const struct sym *s, int64_t *ret)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        int64_t p = s->terms[i].coef, v;

        for (uint32_t j = 0; j < s->terms[i].n; j++) {
            if (!eval_atom(e, s->terms[i].atoms[j], &v) ||
                __builtin_mul_overflow(p, v, &p))
                return false;
        }
        if (__builtin_add_overflow(sum, p, &sum))
            return false;
    }
    *ret = sum;
    return true;
}

bool
sym_eval(const struct sym *s, bool (*lookup)(void *, const char *, int64_t *),
         void *data, int64_t *ret)
{
    struct eval e = {lookup, data};

    return s != NULL && eval_sum(&e, s, ret);
}

struct estimate {
    double (*lookup)(void *, const char *);
    void *data;
};

static double estimate_sum(const struct estimate *e, const struct sym *s);

/* A quotient is rounded down like the value itself, without libm. */
static double
floor_quotient(double x, double y)
{
    double q = y != 0 ? x / y : 0;

    if (q < -9e15 || q > 9e15)
        return q;
    double t = (double)(int64_t)q;
    return t > q ? t - 1 : t;
}

static double
estimate_atom(const struct estimate *e, const struct atom *a)
{
    if (a->kind == ATOM_NAME)
        return e->lookup(e->data, a->name);

    double x = estimate_sum(e, a->a), y = estimate_sum(e, a->b);
    switch (a->kind) {
    case ATOM_NAME:
        break;
    case ATOM_DIV:
        return floor_quotient(x, y);
    case ATOM_MOD:
        return x - y * floor_quotient(x, y);
    case ATOM_MIN:
        return MIN(x, y);
    case ATOM_MAX:
        return MAX(x, y);
    }
    BUG("atom kind %d", (int)a->kind);
}

static double
estimate_sum(const struct estimate *e, const struct sym *s)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        double p = (double)s->terms[i].coef;

        for (uint32_t j = 0; j < s->terms[i].n; j++)
            p *= estimate_atom(e, s->terms[i].atoms[j]);
        sum += p;
    }
    return sum;
}

double
sym_estimate(const struct sym *s, double (*lookup)(void *, const char *),
             void *data)
{
    struct estimate e = {lookup, data};

    assert(s != NULL);
    return estimate_sum(&e, s);
}
