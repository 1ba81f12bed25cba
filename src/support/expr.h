/* SPDX-License-Identifier: Apache-2.0 */
/* expr: the manifest's expressions over i64, compiled once into a list of steps
 * for a stack machine and evaluated without allocation. */
#ifndef FUSEC_SUPPORT_EXPR_H
#define FUSEC_SUPPORT_EXPR_H

#include "support/base.h"

enum { EXPR_MAX_BYTES = 1024, EXPR_MAX_DEPTH = 64 };

enum expr_var_kind {
    EV_DIM,
    EV_SCALAR, /* an integer argument */
    EV_SMS,
    EV_SHAPE,
    EV_STRIDE,
    EV_ALIGN,
};
struct expr_var {
    enum expr_var_kind kind;
    uint32_t index; /* of the dimension or parameter */
    uint32_t dim;   /* of the shape or stride */
};

struct expr_step {
    uint8_t code;
    uint16_t to; /* jumps */
    int64_t value;
    struct expr_var var;
};

struct expr {
    const char *text;
    struct expr_step *steps;
    uint32_t n;
};

/* Finds what stands for a name: member is NULL, "shape", "stride" or "align",
 * dim the index in brackets. False: unknown. */
typedef bool expr_resolve_fn(void *data, const char *name, const char *member,
                             uint32_t dim, struct expr_var *ret);
typedef bool expr_value_fn(const void *data, const struct expr_var *v,
                           int64_t *ret);

/* Steps come from malloc (expr_free). False with a static text in *ret_why. */
bool expr_parse(const char *text, expr_resolve_fn *resolve, void *data,
                struct expr *ret, const char **ret_why);
void expr_free(struct expr *e);
/* False on overflow, a zero divisor, or a value that is not there. */
bool expr_eval(const struct expr *e, expr_value_fn *value, const void *data,
               int64_t *ret);

#endif
