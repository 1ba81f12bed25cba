/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_op: the operations by name, with their arguments.
 *
 * A pointwise operation needs no line here: its row in ops.def gives name and
 * number of arguments. The table below holds the rest. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

#include <math.h>

/* --- reading arguments --------------------------------------------------- */

bool
call_tensor(struct call *c, uint32_t arg)
{
    struct value *v = &c->a.v[arg];
    struct value node;

    if (!build_is_operand(c->b, v))
        return false;
    node = v->kind == V_NODE && !v->uniform
               ? *v
               : build_as(c->b, v, build_type(c->b, v));
    node.span = v->span;
    node.name = v->name;
    node.declared = v->declared;
    *v = node;
    return v->kind == V_NODE;
}

static bool
not_constant(struct call *c, uint32_t arg, const char *wants)
{
    struct formal formals[MAX_FORMALS] = {0};

    signature_formals(c->sig, c->b->arena, formals);
    BUILD_ERROR(c->b, DIAG_NOT_CONSTANT, c->a.v[arg].span,
                arena_printf(c->b->arena, "'%s'", formals[arg].name),
                c->sig->name, wants);
    return false;
}

bool
call_number(struct call *c, uint32_t arg, double *ret)
{
    if (!c->a.given[arg])
        return true;
    if (c->a.v[arg].kind == V_POISON)
        return false;
    return uniform_number(&c->a.v[arg], ret) ||
           not_constant(c, arg, "a constant number");
}

bool
call_bool(struct call *c, uint32_t arg, bool *ret)
{
    const struct value *v = &c->a.v[arg];

    if (!c->a.given[arg])
        return true;
    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_BOOL)
        return not_constant(c, arg, "true or false");
    *ret = v->b;
    return true;
}

/* One axis, counted from the end when negative; false after a report. */
static bool
one_axis(struct call *c, uint32_t arg, const struct value *v,
         const struct shape *s, int rank, int *ret)
{
    int64_t k;

    if (v->kind == V_POISON)
        return false;
    if (!uniform_int(v, &k))
        return not_constant(c, arg, "a constant integer or a list of them");
    if (k < -rank || k >= rank) {
        if (build_fresh(c->b, DIAG_AXIS_RANGE, v->span)) {
            diag_report(c->b->diag, DIAG_AXIS_RANGE, v->span,
                        build_sym_text(c->b, v->sym),
                        build_shape_text(c->b, s));
            if (rank > 0)
                diag_help(c->b->diag, v->span, "axes run from %d to %d", -rank,
                          rank - 1);
            build_trace(c->b);
        }
        return false;
    }
    *ret = (int)(k < 0 ? k + rank : k);
    return true;
}

bool
call_axis(struct call *c, uint32_t arg, const struct shape *s, int rank,
          int *ret)
{
    return one_axis(c, arg, &c->a.v[arg], s, rank, ret);
}

bool
call_axes(struct call *c, uint32_t arg, const struct shape *s, int rank,
          struct axes *ret)
{
    const struct value *v = &c->a.v[arg], *items = v;
    uint32_t n = 1;
    int axis = 0;

    *ret = (struct axes){0};
    if (v->kind == V_LIST) {
        items = v->items;
        n = v->n_items;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!one_axis(c, arg, &items[i], s, rank, &axis))
            return false;
        if (ret->on[axis]) {
            BUILD_ERROR(c->b, DIAG_AXIS_REPEATED, items[i].span,
                        build_sym_text(c->b, items[i].sym));
            return false;
        }
        ret->on[axis] = true;
        ret->at[ret->n++] = axis;
    }
    return true;
}

/* --- pointwise ----------------------------------------------------------- */

static void
op_pointwise(struct call *c)
{
    c->ret->v[0] = build_pointwise(
        c->b, c->sig->op, c->a.v, (uint32_t)op_info[c->sig->op].arity, c->span);
}

static void
op_power(struct call *c)
{
    c->ret->v[0] = build_power(c->b, &c->a.v[0], &c->a.v[1], c->span);
}

static void
op_clamp(struct call *c)
{
    struct value x = c->a.v[0];

    if (!c->a.given[1] && !c->a.given[2]) {
        BUILD_ERROR(c->b, DIAG_MISSING_ARGUMENT, c->span, "clamp",
                    "lo' or 'hi");
        return;
    }
    if (c->a.given[1])
        x = build_binary(c->b, OP_MAXIMUM, &x, &c->a.v[1], c->span);
    if (c->a.given[2])
        x = build_binary(c->b, OP_MINIMUM, &x, &c->a.v[2], c->span);
    c->ret->v[0] = x;
}

static void
op_lerp(struct call *c)
{
    struct value d =
        build_binary(c->b, OP_SUB, &c->a.v[1], &c->a.v[0], c->span);

    d = build_binary(c->b, OP_MUL, &c->a.v[2], &d, c->span);
    c->ret->v[0] = build_binary(c->b, OP_ADD, &c->a.v[0], &d, c->span);
}

static void
op_addcmul(struct call *c)
{
    struct value d =
        build_binary(c->b, OP_MUL, &c->a.v[1], &c->a.v[2], c->span);

    c->ret->v[0] = build_binary(c->b, OP_ADD, &c->a.v[0], &d, c->span);
}

/* --- reductions ---------------------------------------------------------- */

/* x, axis?, keepdim? and, as the fourth, correction? or p?. */
static bool
reduce_arguments(struct call *c, struct reduce_args *ret)
{
    struct shape s;

    *ret = (struct reduce_args){.correction = 1, .p = 2};
    if (!build_is_operand(c->b, &c->a.v[0]))
        return false;
    s = build_shape(c->b, &c->a.v[0]);
    if (c->a.given[1]) {
        if (!call_axes(c, 1, &s, s.rank, &ret->axes))
            return false;
    } else {
        for (int d = 0; d < s.rank; d++)
            ret->axes.on[d] = true;
        ret->axes.n = s.rank;
    }
    return call_bool(c, 2, &ret->keepdim);
}

static void
op_reduce(struct call *c)
{
    struct reduce_args ra;

    if (reduce_arguments(c, &ra))
        c->ret->v[0] = build_reduce(c->b, c->sig->op, &c->a.v[0], &ra, c->span);
}

/* argmax and argmin take one axis, or none for the row-major index of all. */
static void
op_arg_reduce(struct call *c)
{
    struct reduce_args ra;

    if (!reduce_arguments(c, &ra))
        return;
    if (c->a.given[1] && ra.axes.n != 1) {
        not_constant(c, 1, "one axis");
        return;
    }
    c->ret->v[0] = build_reduce(c->b, c->sig->op, &c->a.v[0], &ra, c->span);
}

static void
op_mean(struct call *c)
{
    struct reduce_args ra;

    if (reduce_arguments(c, &ra))
        c->ret->v[0] = build_mean(c->b, &c->a.v[0], &ra, c->span);
}

static void
op_logsumexp(struct call *c)
{
    struct reduce_args ra;

    if (reduce_arguments(c, &ra))
        c->ret->v[0] = build_logsumexp(c->b, &c->a.v[0], &ra, c->span);
}

static bool
variance_arguments(struct call *c, struct reduce_args *ra)
{
    if (!reduce_arguments(c, ra) || !call_number(c, 3, &ra->correction))
        return false;
    if (isfinite(ra->correction))
        return true;
    return not_constant(c, 3, "a finite number");
}

static void
op_var(struct call *c)
{
    struct reduce_args ra;

    if (variance_arguments(c, &ra))
        build_var_mean(c->b, &c->a.v[0], &ra, &c->ret->v[0], NULL, c->span);
}

static void
op_std(struct call *c)
{
    op_var(c);
    c->ret->v[0] = build_unary(c->b, OP_SQRT, &c->ret->v[0], c->span);
}

static void
op_var_mean(struct call *c)
{
    struct reduce_args ra;

    c->ret->n = 2;
    c->ret->v[1] = build_poison(c->span);
    if (variance_arguments(c, &ra))
        build_var_mean(c->b, &c->a.v[0], &ra, &c->ret->v[0], &c->ret->v[1],
                       c->span);
}

static void
op_norm(struct call *c)
{
    struct reduce_args ra;

    if (!reduce_arguments(c, &ra) || !call_number(c, 3, &ra.p))
        return;
    if (!(ra.p > 0)) {
        BUILD_ERROR(c->b, DIAG_BAD_ARGUMENT, c->a.v[3].span, "'p'", "norm",
                    "must be greater than 0");
        return;
    }
    c->ret->v[0] = build_norm(c->b, &c->a.v[0], &ra, c->span);
}

static void
op_scan(struct call *c)
{
    struct shape s;
    int axis;

    if (!call_tensor(c, 0))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (call_axis(c, 1, &s, s.rank, &axis))
        c->ret->v[0] = build_scan(c->b, c->sig->op, &c->a.v[0], axis, c->span);
}

/* --- indexing ------------------------------------------------------------ */

static void
op_take(struct call *c)
{
    struct shape s;
    int axis;

    if (!call_tensor(c, 0) || !build_is_operand(c->b, &c->a.v[1]))
        return;
    s = build_shape(c->b, &c->a.v[0]);
    if (!call_axis(c, 2, &s, s.rank, &axis))
        return;
    if (c->sig->op == OP_TAKE)
        c->ret->v[0] = build_take(c->b, &c->a.v[0], &c->a.v[1], axis, c->span);
    else
        c->ret->v[0] =
            build_take_along(c->b, &c->a.v[0], &c->a.v[1], axis, c->span);
}

static void
op_one_hot(struct call *c)
{
    const struct sym *n;

    if (build_is_operand(c->b, &c->a.v[0]) &&
        resolve_extent(c->r, &c->a.v[1], &n, NULL))
        c->ret->v[0] = build_one_hot(c->b, &c->a.v[0], n, c->span);
}

static void
op_scatter(struct call *c)
{
    struct scatter_args sa = {.i = &c->a.v[1], .v = &c->a.v[2]};

    if (!resolve_shape(c->r, &c->a.v[0], c->sig->name, &sa.shape) ||
        !build_is_operand(c->b, &c->a.v[1]) ||
        !build_is_operand(c->b, &c->a.v[2]) ||
        !call_axis(c, 3, &sa.shape, sa.shape.rank, &sa.axis))
        return;
    c->ret->v[0] = build_scatter(c->b, c->sig->op, &sa, c->span);
}

/* --- random numbers ------------------------------------------------------ */

static bool
draw_type(struct call *c, uint32_t arg, enum dtype *ret)
{
    const struct value *v = &c->a.v[arg];

    *ret = DT_F32;
    if (!c->a.given[arg])
        return true;
    if (v->kind == V_POISON)
        return false;
    if (v->kind != V_TYPE ||
        (v->type != DT_F32 && v->type != DT_F16 && v->type != DT_BF16))
        return not_constant(c, arg, "f32, f16 or bf16");
    *ret = v->type;
    return true;
}

static void
op_uniform(struct call *c)
{
    struct random_args ra = {.seed = &c->a.v[1], .offset = &c->a.v[2]};
    struct shape s;

    if (resolve_shape(c->r, &c->a.v[0], c->sig->name, &s) &&
        draw_type(c, 3, &ra.draw))
        c->ret->v[0] = build_random(c->b, c->sig->op, &s, &ra, c->span);
}

static void
op_bernoulli(struct call *c)
{
    struct random_args ra = {&c->a.v[1], &c->a.v[2], &c->a.v[3], DT_F32};
    struct shape s;

    if (resolve_shape(c->r, &c->a.v[0], c->sig->name, &s) &&
        build_is_operand(c->b, &c->a.v[1]))
        c->ret->v[0] = build_random(c->b, OP_BERNOULLI, &s, &ra, c->span);
}

static void
op_dropout(struct call *c)
{
    struct build *b = c->b;
    struct random_args ra = {&c->a.v[1], &c->a.v[2], &c->a.v[3], DT_F32};
    struct value one = build_int(b, 1, c->span),
                 zero = build_int(b, 0, c->span);
    struct value scale, kept;
    struct shape s;

    c->ret->n = 2;
    c->ret->v[1] = build_poison(c->span);
    if (!call_tensor(c, 0) || !build_is_operand(b, &c->a.v[1]))
        return;
    s = build_shape(b, &c->a.v[0]);
    c->ret->v[1] = build_random(b, OP_DROPOUT_KEEP, &s, &ra, c->span);
    scale = build_binary(b, OP_SUB, &one, ra.p, c->span);
    scale = build_binary(b, OP_DIV, &one, &scale, c->span);
    if (c->ret->v[1].kind == V_POISON || scale.kind == V_POISON)
        return;
    scale = build_as(b, &scale, DT_F32);
    kept = build_binary(b, OP_MUL, &c->a.v[0], &scale, c->span);
    c->ret->v[0] = build_pointwise(
        b, OP_WHERE, (struct value[]){c->ret->v[1], kept, zero}, 3, c->span);
}

/* --- the table ----------------------------------------------------------- */

#define REDUCE_FORMALS "x axis? keepdim?"

static const struct signature signatures[] = {
    {"clamp", op_clamp, OP_MAXIMUM, "x lo? hi?"},
    {"lerp", op_lerp, OP_ADD, "a b t"},
    {"addcmul", op_addcmul, OP_ADD, "x a b"},
    {"pow", op_power, OP_POW, "x y"},
    {"where", op_pointwise, OP_WHERE, "c a b"},

    {"sum", op_reduce, OP_SUM, REDUCE_FORMALS},
    {"prod", op_reduce, OP_PROD, REDUCE_FORMALS},
    {"max", op_reduce, OP_MAX, REDUCE_FORMALS},
    {"min", op_reduce, OP_MIN, REDUCE_FORMALS},
    {"amax", op_reduce, OP_MAX, REDUCE_FORMALS},
    {"amin", op_reduce, OP_MIN, REDUCE_FORMALS},
    {"any", op_reduce, OP_ANY, REDUCE_FORMALS},
    {"all", op_reduce, OP_ALL, REDUCE_FORMALS},
    {"argmax", op_arg_reduce, OP_ARGMAX, REDUCE_FORMALS},
    {"argmin", op_arg_reduce, OP_ARGMIN, REDUCE_FORMALS},
    {"mean", op_mean, OP_SUM, REDUCE_FORMALS},
    {"var", op_var, OP_SUM, REDUCE_FORMALS " correction?"},
    {"std", op_std, OP_SUM, REDUCE_FORMALS " correction?"},
    {"var_mean", op_var_mean, OP_SUM, REDUCE_FORMALS " correction?"},
    {"logsumexp", op_logsumexp, OP_SUM, REDUCE_FORMALS},
    {"norm", op_norm, OP_SUM, REDUCE_FORMALS " p?"},

    {"cumsum", op_scan, OP_CUMSUM, "x axis="},
    {"cumprod", op_scan, OP_CUMPROD, "x axis="},
    {"cummax", op_scan, OP_CUMMAX, "x axis="},
    {"cummin", op_scan, OP_CUMMIN, "x axis="},

    {"permute", op_permute, OP_PERMUTE, "x axes"},
    {"transpose", op_transpose, OP_PERMUTE, "x a b"},
    {"reshape", op_reshape, OP_RESHAPE, "x shape"},
    {"broadcast_to", op_broadcast_to, OP_BROADCAST, "x shape"},
    {"squeeze", op_squeeze, OP_SQUEEZE, "x axis="},
    {"unsqueeze", op_squeeze, OP_UNSQUEEZE, "x axis="},
    {"pad", op_pad, OP_PAD, "x widths value?"},
    {"cat", op_cat, OP_CAT, "xs axis="},
    {"stack", op_cat, OP_UNSQUEEZE, "xs axis="},
    {"flip", op_flip, OP_FLIP, "x axis="},
    {"roll", op_roll, OP_SLICE, "x shift axis="},
    {"size", op_size, OP_DIM, "x axis"},
    {"iota", op_iota, OP_IOTA, "n"},

    {"take", op_take, OP_TAKE, "x i axis="},
    {"take_along", op_take, OP_TAKE_ALONG, "x i axis="},
    {"one_hot", op_one_hot, OP_ONE_HOT, "i n"},
    {"scatter", op_scatter, OP_SCATTER, "shape i v axis="},
    {"scatter_add", op_scatter, OP_SCATTER_ADD, "shape i v axis="},

    {"uniform", op_uniform, OP_UNIFORM, "shape seed offset dtype?"},
    {"normal", op_uniform, OP_NORMAL, "shape seed offset dtype?"},
    {"bernoulli", op_bernoulli, OP_BERNOULLI, "shape p seed offset"},
    {"dropout", op_dropout, OP_DROPOUT_KEEP, "x p seed offset"},
};

/* Signatures of the pointwise operations, by arity, from their rows. */
static const struct signature pointwise[OP_COUNT] = {
#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    [OP_##id] = {name, op_pointwise, OP_##id,                                  \
                 (arity) == 1   ? "x"                                          \
                 : (arity) == 2 ? "x y"                                        \
                                : "a b c"},
#include "ir/ops.def"
#undef OP
};

const struct signature *
resolve_find_operation(const char *name)
{
    enum op op;

    for (size_t i = 0; i < ARRAY_LEN(signatures); i++) {
        if (strcmp(signatures[i].name, name) == 0)
            return &signatures[i];
    }
    if (!op_find(name, &op) || op_info[op].class != OC_POINTWISE)
        return NULL;
    return &pointwise[op];
}

const struct signature *
resolve_operation_at(uint32_t i)
{
    if (i < ARRAY_LEN(signatures))
        return &signatures[i];
    i -= (uint32_t)ARRAY_LEN(signatures);
    for (int op = 0; op < OP_COUNT; op++) {
        const struct signature *s = &pointwise[op];

        if (!(op_info[op].flags & OPF_OPERATOR) &&
            resolve_find_operation(op_info[op].name) == s && i-- == 0)
            return s;
    }
    return NULL;
}

void
resolve_offer_operations(struct nearest *n)
{
    const struct signature *s;

    for (uint32_t i = 0; (s = resolve_operation_at(i)) != NULL; i++)
        nearest_offer(n, s->name);
}

uint32_t
signature_formals(const struct signature *s, struct arena *a,
                  struct formal *ret)
{
    uint32_t n = 0;

    for (const char *p = s->formals; *p;) {
        size_t len = strcspn(p, " ?=");

        assert(n < MAX_FORMALS);
        ret[n].name = arena_strndup(a, p, len);
        p += len;
        ret[n].keyword = *p == '?' || *p == '=';
        ret[n].required = *p != '?';
        p += ret[n].keyword;
        p += *p == ' ';
        n++;
    }
    return n;
}
