/* SPDX-License-Identifier: Apache-2.0 */
/* sym_fact: what `requires` promises, and what follows from it by interval
 * arithmetic and by counting factors. Intervals use INT64_MIN and INT64_MAX
 * for "unbounded", so a bound of exactly that size counts as none. */
#include "support/base.h"

#include "ir/sym.h"

#include "ir/sym_impl.h"
#include "support/arena.h"

enum { MOST_ASKING = 2 };

int64_t
sym_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;

        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

static const struct sym *
keep_name(void *data, const char *name)
{
    (void)data;
    (void)name;
    return NULL;
}

void
sym_assume_equal(struct sym_ctx *c, const char *name, const struct sym *value)
{
    value = sym_subst(c, value, keep_name, NULL);
    if (value == NULL || sym_uses(value, name))
        return;
    if (c->n_equal == c->cap_equal) {
        uint32_t cap = c->cap_equal ? 2 * c->cap_equal : 8;

        c->equal =
            arena_grow(c->arena, c->equal, c->n_equal, cap, sizeof(*c->equal));
        c->cap_equal = cap;
    }
    for (uint32_t i = 0; i < c->n_equal; i++) {
        if (strcmp(c->equal[i].name, name) == 0)
            return;
    }
    c->equal[c->n_equal++] =
        (struct fact_equal){arena_strdup(c->arena, name), value};
    /* Earlier values may name it. */
    for (uint32_t i = 0; i + 1 < c->n_equal; i++) {
        const struct sym *v = sym_subst(c, c->equal[i].value, keep_name, NULL);

        if (v != NULL)
            c->equal[i].value = v;
    }
}

void
sym_assume_multiple(struct sym_ctx *c, const struct sym *e, int64_t k)
{
    if (e == NULL || k == INT64_MIN || k == 0)
        return;
    k = k < 0 ? -k : k;
    if (c->n_multiple == c->cap_multiple) {
        uint32_t cap = c->cap_multiple ? 2 * c->cap_multiple : 8;

        c->multiple = arena_grow(c->arena, c->multiple, c->n_multiple, cap,
                                 sizeof(*c->multiple));
        c->cap_multiple = cap;
    }
    c->multiple[c->n_multiple++] = (struct fact_multiple){e, k};
}

void
sym_assume_range(struct sym_ctx *c, const char *name, int64_t lo, int64_t hi)
{
    for (uint32_t i = 0; i < c->n_range; i++) {
        if (strcmp(c->range[i].name, name) == 0) {
            c->range[i].lo = MAX(c->range[i].lo, lo);
            c->range[i].hi = MIN(c->range[i].hi, hi);
            return;
        }
    }
    if (c->n_range == c->cap_range) {
        uint32_t cap = c->cap_range ? 2 * c->cap_range : 8;

        c->range =
            arena_grow(c->arena, c->range, c->n_range, cap, sizeof(*c->range));
        c->cap_range = cap;
    }
    c->range[c->n_range++] =
        (struct fact_range){arena_strdup(c->arena, name), MAX(lo, 0), hi};
}

/* The least common multiple of all facts about the name. */
int64_t
sym_name_factor(struct sym_ctx *c, const char *name)
{
    int64_t k = 1, lcm;
    const char *n;

    for (uint32_t i = 0; i < c->n_multiple; i++) {
        const struct fact_multiple *f = &c->multiple[i];

        if (!sym_is_name(f->e, &n) || strcmp(n, name) != 0)
            continue;
        if (!__builtin_mul_overflow(k / sym_gcd(k, f->k), f->k, &lcm))
            k = lcm;
    }
    return k;
}

/* A divisor of the atom that divides k, as large as is known. */
static int64_t
atom_factor(struct sym_ctx *c, const struct atom *a, int64_t k)
{
    switch (a->kind) {
    case ATOM_NAME:
        return sym_gcd(k, sym_name_factor(c, a->name));
    case ATOM_MOD:
    case ATOM_MIN:
    case ATOM_MAX:
        return sym_is_multiple(c, a->a, k) && sym_is_multiple(c, a->b, k) ? k
                                                                          : 1;
    case ATOM_DIV: {
        int64_t d, all;

        if (a->exact && sym_is_int(a->b, &d) &&
            !__builtin_mul_overflow(d, k, &all) &&
            sym_is_multiple(c, a->a, all))
            return k;
        return 1;
    }
    }
    BUG("atom kind %d", (int)a->kind);
}

bool
sym_term_is_multiple(struct sym_ctx *c, const struct term *t, int64_t k)
{
    k /= sym_gcd(k, t->coef);
    for (uint32_t i = 0; i < t->n && k > 1; i++)
        k /= atom_factor(c, t->atoms[i], k);
    return k == 1;
}

static bool
terms_are_multiples(struct sym_ctx *c, const struct sym *s, int64_t k)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (!sym_term_is_multiple(c, &s->terms[i], k))
            return false;
    }
    return true;
}

/* s = e + multiples of k, e one of the facts. */
static bool
follows_from_fact(struct sym_ctx *c, const struct sym *s, int64_t k)
{
    for (uint32_t i = 0; i < c->n_multiple; i++) {
        const struct fact_multiple *f = &c->multiple[i];

        if (f->k % k != 0 || f->e->n == 0)
            continue;
        const struct sym *rest = s == f->e ? NULL : sym_sub(c, s, f->e);
        if (s == f->e || (rest != NULL && terms_are_multiples(c, rest, k)))
            return true;
    }
    return false;
}

bool
sym_is_multiple(struct sym_ctx *c, const struct sym *s, int64_t k)
{
    bool known;

    if (s == NULL || k == 0 || k == INT64_MIN)
        return false;
    k = k < 0 ? -k : k;
    if (terms_are_multiples(c, s, k))
        return true;
    /* A difference may hold quotients that ask the same again. */
    if (c->asking >= MOST_ASKING)
        return false;
    c->asking++;
    known = follows_from_fact(c, s, k);
    c->asking--;
    return known;
}

static bool
is_unbounded(int64_t v)
{
    return v == INT64_MIN || v == INT64_MAX;
}

static int64_t
bound_add(int64_t a, int64_t b)
{
    int64_t r;

    if (is_unbounded(a) || is_unbounded(b))
        return is_unbounded(a) ? a : b;
    if (__builtin_add_overflow(a, b, &r))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return r;
}

/* Zero times unbounded is zero: the values themselves are finite. */
static int64_t
bound_mul(int64_t a, int64_t b)
{
    int64_t r;

    if (a == 0 || b == 0)
        return 0;
    if (is_unbounded(a) || is_unbounded(b) || __builtin_mul_overflow(a, b, &r))
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return r;
}

static struct interval
interval_mul(struct interval a, struct interval b)
{
    int64_t p[4] = {bound_mul(a.lo, b.lo), bound_mul(a.lo, b.hi),
                    bound_mul(a.hi, b.lo), bound_mul(a.hi, b.hi)};
    struct interval r = {p[0], p[0]};

    for (int i = 1; i < 4; i++) {
        r.lo = MIN(r.lo, p[i]);
        r.hi = MAX(r.hi, p[i]);
    }
    return r;
}

static const struct interval everything = {INT64_MIN, INT64_MAX};

static struct interval
name_interval(struct sym_ctx *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_range; i++) {
        if (strcmp(c->range[i].name, name) == 0)
            return (struct interval){c->range[i].lo, c->range[i].hi};
    }
    return (struct interval){0, INT64_MAX};
}

static struct interval
div_interval(struct interval a, struct interval b)
{
    int64_t rest;
    struct interval r = a;

    if (b.lo < 1) /* of either sign, or maybe zero */
        return everything;
    if (b.lo == b.hi) {
        if (!is_unbounded(a.lo))
            sym_floor_div(a.lo, b.lo, &r.lo, &rest);
        if (!is_unbounded(a.hi))
            sym_floor_div(a.hi, b.lo, &r.hi, &rest);
        return r;
    }
    r.lo = MIN(a.lo, 0);
    r.hi = MAX(a.hi, 0);
    return r;
}

static struct interval
atom_interval(struct sym_ctx *c, const struct atom *a)
{
    if (a->kind == ATOM_NAME)
        return name_interval(c, a->name);

    struct interval x = sym_interval(c, a->a), y = sym_interval(c, a->b);
    switch (a->kind) {
    case ATOM_NAME:
        break;
    case ATOM_DIV:
        return div_interval(x, y);
    case ATOM_MOD:
        if (y.lo < 1)
            return everything;
        return (struct interval){
            0, x.lo >= 0 && x.hi < y.hi ? x.hi : bound_add(y.hi, -1)};
    case ATOM_MIN:
        return (struct interval){MIN(x.lo, y.lo), MIN(x.hi, y.hi)};
    case ATOM_MAX:
        return (struct interval){MAX(x.lo, y.lo), MAX(x.hi, y.hi)};
    }
    BUG("atom kind %d", (int)a->kind);
}

static struct interval
term_interval(struct sym_ctx *c, const struct term *t)
{
    struct interval r = {t->coef, t->coef};

    if (t->coef == INT64_MIN || t->coef == INT64_MAX)
        return t->n == 0 ? r : everything;
    for (uint32_t i = 0; i < t->n; i++) {
        struct interval a = atom_interval(c, t->atoms[i]);

        r = interval_mul(r, a);
        /* The square of an atom isn't negative. */
        if (i > 0 && t->n == 2 && t->atoms[0] == t->atoms[1] && t->coef > 0)
            r.lo = MAX(r.lo, 0);
    }
    return r;
}

struct interval
sym_interval(struct sym_ctx *c, const struct sym *s)
{
    struct interval r = {0, 0};

    for (uint32_t i = 0; i < s->n; i++) {
        struct interval t = term_interval(c, &s->terms[i]);

        r.lo = r.lo == INT64_MIN || t.lo == INT64_MIN ? INT64_MIN
                                                      : bound_add(r.lo, t.lo);
        r.hi = r.hi == INT64_MAX || t.hi == INT64_MAX ? INT64_MAX
                                                      : bound_add(r.hi, t.hi);
    }
    return r;
}

/* What the atom of the term -c * atom is at most, times c; NULL when that is
 * not known to be an expression. */
static const struct sym *
ceiling(struct sym_ctx *c, const struct term *t)
{
    const struct atom *a = t->atoms[0];
    const struct sym *most;
    int64_t k, q, r, factor = -t->coef;

    if (a->kind == ATOM_NAME || sym_interval(c, a->b).lo < 0 ||
        (a->kind != ATOM_MOD && sym_interval(c, a->a).lo < 0))
        return NULL;
    switch (a->kind) {
    case ATOM_NAME:
        break;
    case ATOM_DIV: /* a // k is at most a / k */
        if (!sym_is_int(a->b, &k) || !sym_floor_div(t->coef, k, &q, &r))
            return NULL;
        return sym_scale(c, a->a, -q);
    case ATOM_MOD: /* a % b is at most b - 1 */
        if (sym_interval(c, a->b).lo < 1)
            return NULL;
        most = sym_sub(c, a->b, sym_int(c, 1));
        return sym_scale(c, most, factor);
    case ATOM_MIN:
        return sym_scale(c, a->a, factor);
    case ATOM_MAX: /* neither is negative */
        return sym_scale(c, sym_add(c, a->a, a->b), factor);
    }
    BUG("atom kind %d", (int)a->kind);
}

/* An expression that is nowhere larger than s, in which atoms that intervals
 * alone can't set against their operands are replaced: N - N // 2 becomes
 * N - N. The same s when there is none. */
static const struct sym *
relax(struct sym_ctx *c, const struct sym *s)
{
    const struct sym *ret = s;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct term *t = &s->terms[i];
        const struct sym *most;

        if (t->n != 1 || t->coef >= 0 || t->coef == INT64_MIN)
            continue;
        most = ceiling(c, t);
        if (most == NULL)
            continue;
        ret = sym_sub(c, sym_sub(c, ret, sym_one_term(c, t)), most);
        if (ret == NULL)
            return s;
    }
    return ret;
}

bool
sym_lower_bound(struct sym_ctx *c, const struct sym *s, int64_t *ret)
{
    enum { STEPS = 4 };
    int64_t lo = INT64_MIN;

    if (s == NULL)
        return false;
    if (sym_is_int(s, ret))
        return true;
    for (int i = 0; i < STEPS; i++) {
        const struct sym *less = relax(c, s);

        lo = MAX(lo, sym_interval(c, s).lo);
        if (less == s)
            break;
        s = less;
    }
    if (lo == INT64_MIN)
        return false;
    *ret = lo;
    return true;
}

bool
sym_upper_bound(struct sym_ctx *c, const struct sym *s, int64_t *ret)
{
    int64_t lo;

    if (s == NULL)
        return false;
    if (sym_is_int(s, ret))
        return true;
    if (!sym_lower_bound(c, sym_scale(c, s, -1), &lo) || lo == INT64_MAX)
        return false;
    *ret = -lo;
    return true;
}
