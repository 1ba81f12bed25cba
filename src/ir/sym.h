/* SPDX-License-Identifier: Apache-2.0 */
/* sym: symbolic i64 expressions over dimension symbols, kept in a normal form:
 * a polynomial with integer coefficients whose atoms are symbols, floor
 * quotients, floor remainders, min and max. Within one sym_ctx equal normal
 * forms are the same pointer. A result that leaves i64, or that grows beyond
 * some hundred terms, is NULL, and every function takes NULL and gives NULL.
 * Facts take part in what is made after them: state them first. */
#ifndef FUSEC_IR_SYM_H
#define FUSEC_IR_SYM_H

#include "support/base.h"

struct arena;
struct buf;
struct sym;
struct sym_ctx;

struct sym_ctx *sym_ctx_new(struct arena *a);
const struct sym *sym_int(struct sym_ctx *c, int64_t v);
const struct sym *sym_name(struct sym_ctx *c, const char *name);
const struct sym *sym_add(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b);
const struct sym *sym_sub(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b);
const struct sym *sym_mul(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b);
const struct sym *sym_div(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b); /* floor; b != 0 */
const struct sym *sym_mod(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b); /* floor */
const struct sym *sym_min(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b);
const struct sym *sym_max(struct sym_ctx *c, const struct sym *a,
                          const struct sym *b);
const struct sym *sym_ceil_div(struct sym_ctx *c, const struct sym *a,
                               const struct sym *b);

/* Facts from `requires`: they take part in every later normal form. */
void sym_assume_equal(struct sym_ctx *c, const char *name,
                      const struct sym *value); /* name := value */
void sym_assume_multiple(struct sym_ctx *c, const struct sym *e, int64_t k);
void sym_assume_range(struct sym_ctx *c, const char *name, int64_t lo,
                      int64_t hi); /* intersected; default [0, INT64_MAX] */

bool sym_is_int(const struct sym *s, int64_t *ret); /* a constant? */
bool sym_is_one(const struct sym *s);               /* the constant 1? */
bool sym_is_name(const struct sym *s, const char **ret);
bool sym_equal(const struct sym *a, const struct sym *b);
/* Provable facts; false means "not known". */
bool sym_is_multiple(struct sym_ctx *c, const struct sym *s, int64_t k);
bool sym_upper_bound(struct sym_ctx *c, const struct sym *s, int64_t *ret);
bool sym_lower_bound(struct sym_ctx *c, const struct sym *s, int64_t *ret);
/* s = coef * name + rest with name in neither; false if not of this form
 * (name inside a quotient, or squared). Used on index expressions, where the
 * index variables are symbols too. */
bool sym_linear_in(struct sym_ctx *c, const struct sym *s, const char *name,
                   const struct sym **ret_coef, const struct sym **ret_rest);
bool sym_uses(const struct sym *s, const char *name);
/* Replaces names by the value lookup gives (NULL: keep). */
const struct sym *sym_subst(struct sym_ctx *c, const struct sym *s,
                            const struct sym *(*lookup)(void *, const char *),
                            void *data);
/* Calls visit once per symbol, in sorted order. */
void sym_symbols(const struct sym *s, void (*visit)(void *, const char *),
                 void *data);
/* False on overflow, zero divisor or an unknown name. */
bool sym_eval(const struct sym *s,
              bool (*lookup)(void *, const char *, int64_t *), void *data,
              int64_t *ret);
/* Prints in a deterministic order, in the expression language of the manifest
 * ("(N + 7) / 8", "M * N", "N % 4", "min(M, 132)"), which .fusion shares but
 * for "//"; with c_names non-NULL spelled as C++ with 64-bit literals
 * ("fu_div(N + 7ll, 8ll)") and names mapped. */
void sym_print(struct buf *b, const struct sym *s); /* manifest: / is floor */
void sym_print_fusion(struct buf *b, const struct sym *s); /* // is floor */
void sym_print_c(struct buf *b, const struct sym *s,
                 const char *(*name)(void *, const char *), void *data);
/* A rough value for cost estimates: unknown symbols through lookup. */
double sym_estimate(const struct sym *s, double (*lookup)(void *, const char *),
                    void *data);

#endif
