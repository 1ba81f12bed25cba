/* SPDX-License-Identifier: Apache-2.0 */
/* sym: interning and the ring operations of the normal form.
 *
 * A sum is normal when like terms are merged and when no quotient that is
 * known to be exact stands with a coefficient that undoes it: with N a
 * multiple of 4, (N // 4) * 4 is N. Quotient and remainder of the same
 * operands that stand together in the proportion k : 1 are their operand
 * again: (i // k) * k + i % k is i. sym_div.c makes the quotients. */
#include "support/base.h"

#include "ir/sym.h"

#include "ir/sym_impl.h"
#include "support/arena.h"

enum { FIRST_BUCKETS = 256 };

struct sym_ctx *
sym_ctx_new(struct arena *a)
{
    struct sym_ctx *c = NEW(a, struct sym_ctx);

    c->arena = a;
    c->n_sym_buckets = c->n_atom_buckets = FIRST_BUCKETS;
    c->syms = NEW_ARRAY(a, struct sym *, FIRST_BUCKETS);
    c->atoms = NEW_ARRAY(a, struct atom *, FIRST_BUCKETS);
    return c;
}

/* Order: names before quotients before remainders, min and max. */
static int
compare_atoms(const struct atom *a, const struct atom *b)
{
    if (a == b)
        return 0;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == ATOM_NAME)
        return strcmp(a->name, b->name);

    int r = sym_compare(a->a, b->a);
    return r != 0 ? r : sym_compare(a->b, b->b);
}

/* Longer products first, the constant last. */
static int
compare_products(const struct term *a, const struct term *b)
{
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    for (uint32_t i = 0; i < a->n; i++) {
        int r = compare_atoms(a->atoms[i], b->atoms[i]);

        if (r != 0)
            return r;
    }
    return 0;
}

int
sym_compare(const struct sym *a, const struct sym *b)
{
    if (a == b)
        return 0;
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int r = compare_products(&a->terms[i], &b->terms[i]);

        if (r != 0)
            return r;
        if (a->terms[i].coef != b->terms[i].coef)
            return a->terms[i].coef < b->terms[i].coef ? -1 : 1;
    }
    return a->n == b->n ? 0 : a->n < b->n ? -1 : 1;
}

static uint64_t
hash_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t
hash_string(const char *s)
{
    uint64_t h = 1;

    for (; *s != '\0'; s++)
        h = hash_mix(h, (unsigned char)*s);
    return h;
}

static void
grow_atoms(struct sym_ctx *c)
{
    uint32_t n = 2 * c->n_atom_buckets;
    struct atom **to = NEW_ARRAY(c->arena, struct atom *, n);

    for (uint32_t i = 0; i < c->n_atom_buckets; i++) {
        for (struct atom *p = c->atoms[i], *next; p != NULL; p = next) {
            next = p->next;
            p->next = to[p->hash & (n - 1)];
            to[p->hash & (n - 1)] = p;
        }
    }
    c->atoms = to;
    c->n_atom_buckets = n;
}

static void
grow_syms(struct sym_ctx *c)
{
    uint32_t n = 2 * c->n_sym_buckets;
    struct sym **to = NEW_ARRAY(c->arena, struct sym *, n);

    for (uint32_t i = 0; i < c->n_sym_buckets; i++) {
        for (struct sym *p = c->syms[i], *next; p != NULL; p = next) {
            next = p->next;
            p->next = to[p->hash & (n - 1)];
            to[p->hash & (n - 1)] = p;
        }
    }
    c->syms = to;
    c->n_sym_buckets = n;
}

static bool
same_atom(const struct atom *a, const struct atom *b)
{
    if (a->hash != b->hash || a->kind != b->kind)
        return false;
    if (a->kind == ATOM_NAME)
        return strcmp(a->name, b->name) == 0;
    return a->a == b->a && a->b == b->b;
}

static const struct atom *
intern_atom(struct sym_ctx *c, struct atom key)
{
    key.hash = hash_mix(7, key.kind);
    if (key.kind == ATOM_NAME)
        key.hash = hash_mix(key.hash, hash_string(key.name));
    else
        key.hash = hash_mix(hash_mix(key.hash, key.a->hash), key.b->hash);

    struct atom *p = c->atoms[key.hash & (c->n_atom_buckets - 1)];
    for (; p != NULL; p = p->next) {
        if (same_atom(p, &key)) {
            p->exact = p->exact || key.exact; /* facts only grow */
            return p;
        }
    }
    if (++c->n_atoms > c->n_atom_buckets)
        grow_atoms(c);

    struct atom **bucket = &c->atoms[key.hash & (c->n_atom_buckets - 1)];
    key.next = *bucket;
    if (key.kind == ATOM_NAME)
        key.name = arena_strdup(c->arena, key.name);
    *bucket = NEW(c->arena, struct atom);
    **bucket = key;
    return *bucket;
}

static bool
same_terms(const struct sym *a, const struct sym *b)
{
    if (a->hash != b->hash || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct term *s = &a->terms[i], *t = &b->terms[i];

        if (s->coef != t->coef || s->n != t->n)
            return false;
        for (uint32_t j = 0; j < s->n; j++) {
            if (s->atoms[j] != t->atoms[j])
                return false;
        }
    }
    return true;
}

/* The unique sym of sorted, merged terms. */
static const struct sym *
intern_sym(struct sym_ctx *c, const struct term *terms, uint32_t n)
{
    struct sym key = {.n = n, .terms = terms, .hash = 3, .weight = 1};

    for (uint32_t i = 0; i < n; i++) {
        key.hash = hash_mix(key.hash, (uint64_t)terms[i].coef);
        for (uint32_t j = 0; j < terms[i].n; j++) {
            key.hash = hash_mix(key.hash, terms[i].atoms[j]->hash);
            key.weight += terms[i].atoms[j]->weight;
            key.depth = MAX(key.depth, terms[i].atoms[j]->depth);
        }
        if (terms[i].n > MAX_FACTORS || key.weight > MAX_WEIGHT)
            return NULL;
    }
    if (n > MAX_TERMS)
        return NULL;

    struct sym *p = c->syms[key.hash & (c->n_sym_buckets - 1)];
    for (; p != NULL; p = p->next) {
        if (same_terms(p, &key))
            return p;
    }
    if (++c->n_syms > c->n_sym_buckets)
        grow_syms(c);

    struct sym **bucket = &c->syms[key.hash & (c->n_sym_buckets - 1)];
    key.next = *bucket;
    *bucket = NEW(c->arena, struct sym);
    **bucket = key;
    return *bucket;
}

/* Insertion sort: sums are short, and mostly sorted already. */
static void
sort_terms(struct term *t, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct term x = t[i];
        uint32_t j = i;

        for (; j > 0 && compare_products(&t[j - 1], &x) > 0; j--)
            t[j] = t[j - 1];
        t[j] = x;
    }
}

/* Adds like terms of a sorted array up; false on overflow. */
static bool
merge_terms(struct term *t, uint32_t *n)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < *n;) {
        struct term x = t[i++];

        for (; i < *n && compare_products(&x, &t[i]) == 0; i++) {
            if (__builtin_add_overflow(x.coef, t[i].coef, &x.coef))
                return false;
        }
        if (x.coef != 0)
            t[out++] = x;
    }
    *n = out;
    return true;
}

/* The product of t without its atom at `skip`, times coef. */
static struct term
without_atom(struct sym_ctx *c, const struct term *t, uint32_t skip,
             int64_t coef)
{
    struct term ret = {.coef = coef, .n = t->n - 1};
    const struct atom **atoms = NEW_ARRAY(c->arena, const struct atom *, t->n);

    for (uint32_t i = 0, j = 0; i < t->n; i++) {
        if (i != skip)
            atoms[j++] = t->atoms[i];
    }
    ret.atoms = atoms;
    return ret;
}

/* s with its term `at` replaced by `by`. */
static const struct sym *
replace_term(struct sym_ctx *c, const struct sym *s, uint32_t at,
             const struct sym *by)
{
    struct term *rest = NEW_ARRAY(c->arena, struct term, s->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        if (i != at)
            rest[n++] = s->terms[i];
    }
    return sym_add(c, intern_sym(c, rest, n), by);
}

/* (x // k) * (q k + r) is q x + (x // k) * r where k is known to divide x. */
static const struct sym *
undo_exact(struct sym_ctx *c, const struct sym *s, uint32_t at, uint32_t which)
{
    const struct term *t = &s->terms[at];
    const struct atom *a = t->atoms[which];
    int64_t k, q, r;

    if (a->kind != ATOM_DIV || !a->exact || !sym_is_int(a->b, &k))
        return s;
    if (!sym_floor_div(t->coef, k, &q, &r) || q == 0)
        return s;

    struct term left = *t, undone = without_atom(c, t, which, q);
    left.coef = r;
    const struct sym *by = sym_mul(c, sym_one_term(c, &undone), a->a);
    if (r != 0)
        by = sym_add(c, by, sym_one_term(c, &left));
    return by == NULL ? NULL : replace_term(c, s, at, by);
}

/* m (k (x // k)) + m (x % k) is m x: looks for the quotient's term. */
static const struct sym *
undo_pair(struct sym_ctx *c, const struct sym *s, uint32_t at, uint32_t which)
{
    const struct term *t = &s->terms[at];
    const struct atom *mod = t->atoms[which];
    int64_t k, scale;

    if (mod->kind != ATOM_MOD || !sym_is_int(mod->b, &k) ||
        __builtin_mul_overflow(t->coef, k, &scale))
        return s;

    struct term m = without_atom(c, t, which, 1);
    const struct sym *want =
        sym_mul(c, sym_one_term(c, &m), sym_div(c, mod->a, mod->b));
    want = sym_scale(c, want, scale);
    if (want == NULL || want->n != 1)
        return s;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->terms[i].coef != want->terms[0].coef ||
            compare_products(&s->terms[i], &want->terms[0]) != 0)
            continue;

        m.coef = t->coef;
        const struct sym *rest = sym_sub(c, s, want);
        rest = sym_sub(c, rest, sym_one_term(c, t));
        return sym_add(c, rest, sym_mul(c, sym_one_term(c, &m), mod->a));
    }
    return s;
}

/* Applies the two rules until none changes anything. Each application removes
 * a quotient or a remainder, so this ends. */
static const struct sym *
undo_quotients(struct sym_ctx *c, const struct sym *s)
{
    for (uint32_t i = 0; s != NULL && i < s->n; i++) {
        for (uint32_t j = 0; j < s->terms[i].n; j++) {
            const struct sym *r = undo_exact(c, s, i, j);

            if (r == s)
                r = undo_pair(c, s, i, j);
            if (r != s)
                return r; /* built by sym_add: normal already */
        }
    }
    return s;
}

const struct sym *
sym_from_terms(struct sym_ctx *c, struct term *terms, uint32_t n)
{
    sort_terms(terms, n);
    if (!merge_terms(terms, &n))
        return NULL;
    const struct sym *s = intern_sym(c, terms, n);
    return s == NULL ? NULL : undo_quotients(c, s);
}

const struct sym *
sym_one_term(struct sym_ctx *c, const struct term *t)
{
    struct term *copy = NEW(c->arena, struct term);

    *copy = *t;
    return intern_sym(c, copy, t->coef != 0);
}

const struct sym *
sym_int(struct sym_ctx *c, int64_t v)
{
    struct term t = {.coef = v};

    return sym_one_term(c, &t);
}

const struct sym *
sym_atom(struct sym_ctx *c, enum atom_kind kind, const char *name,
         const struct sym *a, const struct sym *b)
{
    struct atom key = {.kind = kind, .name = name, .a = a, .b = b, .weight = 1};
    int64_t k;

    if (kind != ATOM_NAME) {
        key.weight += a->weight + b->weight;
        key.depth = 1 + MAX(a->depth, b->depth);
        key.exact =
            kind == ATOM_DIV && sym_is_int(b, &k) && sym_is_multiple(c, a, k);
    }
    if (key.weight > MAX_WEIGHT || key.depth > MAX_DEPTH)
        return NULL;

    const struct atom **atoms = NEW_ARRAY(c->arena, const struct atom *, 1);
    atoms[0] = intern_atom(c, key);
    struct term t = {.coef = 1, .n = 1, .atoms = atoms};
    return sym_one_term(c, &t);
}

const struct sym *
sym_name(struct sym_ctx *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_equal; i++) {
        if (strcmp(c->equal[i].name, name) == 0)
            return c->equal[i].value;
    }
    return sym_atom(c, ATOM_NAME, name, NULL, NULL);
}

const struct sym *
sym_add(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    if (a == NULL || b == NULL)
        return NULL;
    if (a->n == 0 || b->n == 0)
        return a->n == 0 ? b : a;

    struct term *t = NEW_ARRAY(c->arena, struct term, a->n + b->n);
    memcpy(t, a->terms, a->n * sizeof(*t));
    memcpy(t + a->n, b->terms, b->n * sizeof(*t));
    return sym_from_terms(c, t, a->n + b->n);
}

const struct sym *
sym_scale(struct sym_ctx *c, const struct sym *s, int64_t factor)
{
    if (s == NULL || s->n == 0)
        return s;

    struct term *t = NEW_ARRAY(c->arena, struct term, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        t[i] = s->terms[i];
        if (__builtin_mul_overflow(t[i].coef, factor, &t[i].coef))
            return NULL;
    }
    return sym_from_terms(c, t, s->n);
}

const struct sym *
sym_sub(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    return sym_add(c, a, sym_scale(c, b, -1));
}

/* The product of two terms, atoms merged in order; false on overflow. */
static bool
multiply_terms(struct sym_ctx *c, const struct term *a, const struct term *b,
               struct term *ret)
{
    uint32_t n = a->n + b->n;
    const struct atom **atoms = NEW_ARRAY(c->arena, const struct atom *, n);

    if (n > MAX_FACTORS || __builtin_mul_overflow(a->coef, b->coef, &ret->coef))
        return false;
    for (uint32_t i = 0, j = 0; i + j < n;) {
        bool left = j == b->n ||
                    (i < a->n && compare_atoms(a->atoms[i], b->atoms[j]) <= 0);
        uint32_t at = i + j;

        atoms[at] = left ? a->atoms[i++] : b->atoms[j++];
    }
    ret->n = n;
    ret->atoms = atoms;
    return true;
}

const struct sym *
sym_mul(struct sym_ctx *c, const struct sym *a, const struct sym *b)
{
    if (a == NULL || b == NULL)
        return NULL;
    if (a->n * b->n > MAX_TERMS)
        return NULL;

    struct term *t = NEW_ARRAY(c->arena, struct term, a->n * b->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        for (uint32_t j = 0; j < b->n; j++) {
            if (!multiply_terms(c, &a->terms[i], &b->terms[j], &t[n++]))
                return NULL;
        }
    }
    return sym_from_terms(c, t, n);
}

bool
sym_is_int(const struct sym *s, int64_t *ret)
{
    if (s == NULL || s->n > 1 || (s->n == 1 && s->terms[0].n > 0))
        return false;
    *ret = s->n == 0 ? 0 : s->terms[0].coef;
    return true;
}

bool
sym_is_one(const struct sym *s)
{
    int64_t v;

    return sym_is_int(s, &v) && v == 1;
}

bool
sym_is_name(const struct sym *s, const char **ret)
{
    if (s == NULL || s->n != 1 || s->terms[0].coef != 1 || s->terms[0].n != 1 ||
        s->terms[0].atoms[0]->kind != ATOM_NAME)
        return false;
    *ret = s->terms[0].atoms[0]->name;
    return true;
}

bool
sym_equal(const struct sym *a, const struct sym *b)
{
    return a != NULL && a == b;
}
