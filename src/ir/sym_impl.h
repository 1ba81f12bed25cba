/* SPDX-License-Identifier: Apache-2.0 */
/* sym_impl: the representation shared by the files of sym.
 *
 * A sym is a sum of terms, each a coefficient times a product of atoms.
 * Invariants: no coefficient is 0; no two terms have the same product; terms
 * and the atoms of a product are sorted; both syms and atoms are interned, so
 * that equality is equality of pointers. The order is structural, never by
 * address, so that what is printed depends on the input only. */
#ifndef FUSEC_IR_SYM_IMPL_H
#define FUSEC_IR_SYM_IMPL_H

#include "ir/sym.h"

/* Beyond these a result is NULL: no program needs more, and recursion over an
 * expression stays shallow. */
enum { MAX_TERMS = 512, MAX_FACTORS = 32, MAX_WEIGHT = 4096, MAX_DEPTH = 100 };

enum atom_kind { ATOM_NAME, ATOM_DIV, ATOM_MOD, ATOM_MIN, ATOM_MAX };

struct atom {
    enum atom_kind kind;
    const char *name;        /* ATOM_NAME */
    const struct sym *a, *b; /* operands of the others */
    bool exact;              /* ATOM_DIV: b is known to divide a */
    uint32_t weight, depth;  /* atoms inside; nesting of quotients */
    uint64_t hash;
    struct atom *next; /* in the bucket */
};

struct term {
    int64_t coef;
    uint32_t n; /* 0: the constant */
    const struct atom *const *atoms;
};

struct sym {
    uint32_t n; /* 0: the integer 0 */
    const struct term *terms;
    uint32_t weight, depth;
    uint64_t hash;
    struct sym *next; /* in the bucket */
};

struct fact_equal {
    const char *name;
    const struct sym *value;
};

struct fact_multiple {
    const struct sym *e;
    int64_t k;
};

struct fact_range {
    const char *name;
    int64_t lo, hi;
};

struct sym_ctx {
    struct arena *arena;
    struct sym **syms;
    uint32_t n_syms, n_sym_buckets; /* a power of two */
    struct atom **atoms;
    uint32_t n_atoms, n_atom_buckets;
    struct fact_equal *equal;
    uint32_t n_equal, cap_equal;
    struct fact_multiple *multiple;
    uint32_t n_multiple, cap_multiple;
    struct fact_range *range;
    uint32_t n_range, cap_range;
    int asking; /* questions about multiples that facts are being tried for */
};

/* A closed interval; INT64_MIN and INT64_MAX mean unbounded. */
struct interval {
    int64_t lo, hi;
};

/* sym.c */
int sym_compare(const struct sym *a, const struct sym *b);
/* One atom as a sym; NULL when it grows too large. */
const struct sym *sym_atom(struct sym_ctx *c, enum atom_kind kind,
                           const char *name, const struct sym *a,
                           const struct sym *b);
/* The sum of n terms in any order (takes the array over). */
const struct sym *sym_from_terms(struct sym_ctx *c, struct term *terms,
                                 uint32_t n);
const struct sym *sym_one_term(struct sym_ctx *c, const struct term *t);
const struct sym *sym_scale(struct sym_ctx *c, const struct sym *s,
                            int64_t factor);

/* sym_fact.c */
struct interval sym_interval(struct sym_ctx *c, const struct sym *s);
/* The largest k of a `multiple` fact on this very name, or 1. */
int64_t sym_name_factor(struct sym_ctx *c, const char *name);
bool sym_term_is_multiple(struct sym_ctx *c, const struct term *t, int64_t k);

int64_t sym_gcd(int64_t a, int64_t b); /* not negative */

/* sym_div.c */
/* The floor of a / b and what is left, b != 0; false on overflow. */
bool sym_floor_div(int64_t a, int64_t b, int64_t *ret_q, int64_t *ret_r);

#endif
