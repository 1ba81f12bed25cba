/* SPDX-License-Identifier: Apache-2.0 */
/* sym_div: floor quotients and remainders, min and max.
 *
 * a // k and a % k start alike: what k divides leaves the operand, so that
 * a = k q + r with the coefficients of r in [0, k). Then a // k = q + r // k
 * and a % k = r % k, where common factors are cancelled and nested quotients
 * merged; bounds decide r // k where they can. */
#include "support/base.h"

#include "ir/sym.h"

#include "ir/sym_impl.h"
#include "support/arena.h"

bool
sym_floor_div(int64_t a, int64_t b, int64_t *ret_q, int64_t *ret_r)
{
    assert(b != 0);
    if (a == INT64_MIN && b == -1)
        return false;

    int64_t q = a / b, r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *ret_q = q;
    *ret_r = r;
    return true;
}

/* t with every name N that has a fact `N is a multiple of K` written as
 * K * (N // K); NULL on overflow. */
static const struct sym *
expand_factors(struct sym_ctx *c, const struct term *t)
{
    struct term out = {.coef = t->coef, .n = t->n};
    const struct atom **atoms = NEW_ARRAY(c->arena, const struct atom *, t->n);

    for (uint32_t i = 0; i < t->n; i++) {
        const struct atom *a = atoms[i] = t->atoms[i];
        int64_t k = a->kind == ATOM_NAME ? sym_name_factor(c, a->name) : 1;

        if (k == 1)
            continue;
        const struct sym *name = sym_atom(c, ATOM_NAME, a->name, NULL, NULL);
        const struct sym *q = sym_atom(c, ATOM_DIV, NULL, name, sym_int(c, k));
        if (q == NULL || __builtin_mul_overflow(out.coef, k, &out.coef))
            return NULL;
        atoms[i] = q->terms[0].atoms[0];
    }
    out.atoms = atoms;
    return sym_one_term(c, &out);
}

/* The part of term t that k divides, over k, and the rest: t = k q + r. */
static void
split_term(struct sym_ctx *c, const struct term *t, int64_t k,
           const struct sym **ret_q, const struct sym **ret_r)
{
    struct term q = *t, r = *t;

    if (t->coef % k != 0 && sym_term_is_multiple(c, t, k)) {
        const struct sym *e = expand_factors(c, t);

        if (e != NULL && e->n == 1 && e->terms[0].coef % k == 0) {
            struct term *expanded = NEW(c->arena, struct term);

            *expanded = e->terms[0];
            expanded->coef /= k;
            *ret_q = sym_from_terms(c, expanded, 1);
            *ret_r = sym_int(c, 0);
            return;
        }
    }
    sym_floor_div(t->coef, k, &q.coef, &r.coef);
    *ret_q = sym_one_term(c, &q);
    *ret_r = sym_one_term(c, &r);
}

/* a = k q + r. */
static void
split(struct sym_ctx *c, const struct sym *a, int64_t k,
      const struct sym **ret_q, const struct sym **ret_r)
{
    *ret_q = *ret_r = sym_int(c, 0);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sym *q, *r;

        split_term(c, &a->terms[i], k, &q, &r);
        *ret_q = sym_add(c, *ret_q, q);
        *ret_r = sym_add(c, *ret_r, r);
    }
}

/* r = g p + rest with 0 <= rest < g, g the common divisor of k and all
 * coefficients but the constant's. */
static int64_t
common_divisor(const struct sym *r, int64_t k)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->terms[i].n > 0)
            k = sym_gcd(k, r->terms[i].coef);
    }
    return k;
}

static const struct sym *
divide_exactly(struct sym_ctx *c, const struct sym *r, int64_t g,
               int64_t *ret_rest)
{
    struct term *t = NEW_ARRAY(c->arena, struct term, r->n);
    int64_t rest = 0;

    *ret_rest = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        t[i] = r->terms[i];
        sym_floor_div(r->terms[i].coef, g, &t[i].coef, &rest);
        *ret_rest += rest;
    }
    return sym_from_terms(c, t, r->n);
}

/* (x // i + d) // k is (x + i d) // (i k); NULL when r isn't of that form. */
static const struct sym *
merge_nested(struct sym_ctx *c, const struct sym *r, int64_t k)
{
    int64_t inner, d = 0, all;

    if (r->n == 0 || r->n > 2 || r->terms[0].coef != 1 || r->terms[0].n != 1)
        return NULL;
    if (r->n == 2 && r->terms[1].n > 0)
        return NULL;

    const struct atom *a = r->terms[0].atoms[0];
    if (a->kind != ATOM_DIV || !sym_is_int(a->b, &inner))
        return NULL;
    if (r->n == 2)
        d = r->terms[1].coef;
    if (__builtin_mul_overflow(inner, d, &d) ||
        __builtin_mul_overflow(inner, k, &all))
        return NULL;
    return sym_div(c, sym_add(c, a->a, sym_int(c, d)), sym_int(c, all));
}

/* True when r // k has the same value all over the bounds of r. */
static bool
constant_quotient(struct sym_ctx *c, const struct sym *r, int64_t k,
                  int64_t *ret)
{
    struct interval i = sym_interval(c, r);
    int64_t lo, hi, rest;

    if (i.lo == INT64_MIN || i.hi == INT64_MAX)
        return false;
    if (!sym_floor_div(i.lo, k, &lo, &rest) ||
        !sym_floor_div(i.hi, k, &hi, &rest) || lo != hi)
        return false;
    *ret = lo;
    return true;
}

static const struct sym *
div_by_int(struct sym_ctx *c, const struct sym *a, int64_t k)
{
    const struct sym *q, *r;
    int64_t rest, v;

    if (k < 0)
        return k == INT64_MIN ? NULL : div_by_int(c, sym_scale(c, a, -1), -k);
    if (a == NULL || k == 1)
        return a;
    split(c, a, k, &q, &r);
    if (q == NULL || r == NULL)
        return NULL;
    if (constant_quotient(c, r, k, &v))
        return sym_add(c, q, sym_int(c, v));

    int64_t g = common_divisor(r, k);
    const struct sym *p = divide_exactly(c, r, g, &rest);
    if (p == NULL || k == g)
        return sym_add(c, q, p);
    const struct sym *nested = merge_nested(c, p, k / g);
    if (nested == NULL)
        nested = sym_atom(c, ATOM_DIV, NULL, p, sym_int(c, k / g));
    return sym_add(c, q, nested);
}

static const struct sym *
mod_by_int(struct sym_ctx *c, const struct sym *a, int64_t k)
{
    const struct sym *q, *r;
    int64_t rest, v;

    if (k < 0) /* a % -k is -(-a % k) */
        return k == INT64_MIN || a == NULL
                   ? NULL
                   : sym_scale(c, mod_by_int(c, sym_scale(c, a, -1), -k), -1);
    if (a == NULL || k == 1)
        return a == NULL ? NULL : sym_int(c, 0);
    split(c, a, k, &q, &r);
    if (r == NULL)
        return NULL;
    if (sym_is_multiple(c, r, k))
        return sym_int(c, 0);
    if (constant_quotient(c, r, k, &v))
        return __builtin_mul_overflow(v, k, &v) ? NULL
                                                : sym_sub(c, r, sym_int(c, v));

    int64_t g = common_divisor(r, k);
    const struct sym *p = divide_exactly(c, r, g, &rest);
    if (p == NULL || k == g)
        return p == NULL ? NULL : sym_int(c, rest);
    p = sym_scale(c, sym_atom(c, ATOM_MOD, NULL, p, sym_int(c, k / g)), g);
    return sym_add(c, p, sym_int(c, rest));
}

/* The quotient of two terms when it is a term; b's atoms are among a's. */
static bool
cancel_term(struct sym_ctx *c, const struct term *a, const struct term *b,
            struct term *ret)
{
    const struct atom **atoms = NEW_ARRAY(c->arena, const struct atom *, a->n);
    uint32_t j = 0, n = 0;

    if (b->coef == -1 ? a->coef == INT64_MIN : a->coef % b->coef != 0)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (j < b->n && a->atoms[i] == b->atoms[j])
            j++;
        else
            atoms[n++] = a->atoms[i];
    }
    if (j < b->n)
        return false;
    *ret = (struct term){.coef = a->coef / b->coef, .n = n, .atoms = atoms};
    return true;
}

/* a = b q + r for a symbolic b: q the terms that b divides. */
static void
split_symbolic(struct sym_ctx *c, const struct sym *a, const struct sym *b,
               const struct sym **ret_q, const struct sym **ret_r)
{
    struct term *q = NEW_ARRAY(c->arena, struct term, a->n);
    struct term *r = NEW_ARRAY(c->arena, struct term, a->n);
    uint32_t n_q = 0, n_r = 0;

    if (a == b) {
        *ret_q = sym_int(c, 1);
        *ret_r = sym_int(c, 0);
        return;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (b->n == 1 && cancel_term(c, &a->terms[i], &b->terms[0], &q[n_q]))
            n_q++;
        else
            r[n_r++] = a->terms[i];
    }
    *ret_q = sym_from_terms(c, q, n_q);
    *ret_r = sym_from_terms(c, r, n_r);
}

/* True when 0 <= r < b. */
static bool
is_remainder(struct sym_ctx *c, const struct sym *r, const struct sym *b)
{
    int64_t lo;

    return sym_lower_bound(c, r, &lo) && lo >= 0 &&
           sym_lower_bound(c, sym_sub(c, b, r), &lo) && lo >= 1;
}

const struct sym *
sym_div(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    const struct sym *q, *r;
    int64_t k;

    if (a == NULL || b == NULL)
        return NULL;
    if (sym_is_int(b, &k))
        return k == 0 ? NULL : div_by_int(c, a, k);
    split_symbolic(c, a, b, &q, &r);
    if (q == NULL || r == NULL || r->n == 0 || is_remainder(c, r, b))
        return q == NULL || r == NULL ? NULL : q;
    return sym_add(c, q, sym_atom(c, ATOM_DIV, NULL, r, b));
}

const struct sym *
sym_mod(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    const struct sym *q, *r;
    int64_t k;

    if (a == NULL || b == NULL)
        return NULL;
    if (sym_is_int(b, &k))
        return k == 0 ? NULL : mod_by_int(c, a, k);
    split_symbolic(c, a, b, &q, &r);
    if (q == NULL || r == NULL || r->n == 0 || is_remainder(c, r, b))
        return r;
    return sym_atom(c, ATOM_MOD, NULL, r, b);
}

const struct sym *
sym_ceil_div(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    return sym_div(c, sym_sub(c, sym_add(c, a, b), sym_int(c, 1)), b);
}

/* The smaller or the larger of two, decided by bounds where possible. */
static const struct sym *
extreme(struct sym_ctx *c, enum atom_kind kind, const struct sym *a,
        const struct sym *b)
{
    int64_t v;

    if (a == NULL || b == NULL || a == b)
        return a == NULL ? NULL : b;

    const struct sym *diff = sym_sub(c, a, b);
    if (sym_lower_bound(c, diff, &v) && v >= 0)
        return kind == ATOM_MAX ? a : b;
    if (sym_upper_bound(c, diff, &v) && v <= 0)
        return kind == ATOM_MAX ? b : a;
    return sym_compare(a, b) < 0 ? sym_atom(c, kind, NULL, a, b)
                                 : sym_atom(c, kind, NULL, b, a);
}

const struct sym *
sym_min(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    return extreme(c, ATOM_MIN, a, b);
}

const struct sym *
sym_max(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    return extreme(c, ATOM_MAX, a, b);
}
