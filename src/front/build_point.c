/* SPDX-License-Identifier: Apache-2.0 */
/* build_point: pointwise operations: the type they compute in, the shape their
 * operands share.
 *
 * The type is found from the operands that have one. A literal has none: it
 * takes the type that the others give, and only says whether that must be a
 * float. The row of the operation (op_info.type) then turns the common type
 * into the one it computes in. */
#include "support/base.h"

#include "front/build.h"

#include "support/arena.h"

/* --- types --------------------------------------------------------------- */

struct common {
    bool typed;        /* some operand has a type of its own */
    bool same;         /* ... and all of those have it */
    bool ints, floats; /* adaptable integers, floats among the operands */
    enum dtype type;   /* promoted type of the typed ones */
};

static bool
is_adaptable_int(const struct value *v)
{
    return v->kind == V_INT && !v->sized;
}

static bool
is_adaptable_float(struct build *b, const struct value *v)
{
    return v->kind == V_FLOAT ||
           (v->kind == V_NODE && v->uniform &&
            graph_node(b->graph, v->node)->dtype == DT_F64);
}

static struct common
common_of(struct build *b, const struct value *vs, uint32_t n)
{
    struct common c = {.same = true};

    for (uint32_t i = 0; i < n; i++) {
        enum dtype t;

        if (is_adaptable_int(&vs[i])) {
            c.ints = true;
            continue;
        }
        if (is_adaptable_float(b, &vs[i])) {
            c.floats = true;
            continue;
        }
        t = build_type(b, &vs[i]);
        if (c.typed && t != c.type) {
            c.same = false;
            c.type = dtype_promote(c.type, t);
        } else {
            c.type = t;
        }
        c.typed = true;
    }
    return c;
}

/* The type of arithmetic among the operands, storage types included. */
static enum dtype
arithmetic_type(const struct common *c)
{
    enum dtype t = c->typed ? c->type : DT_I64;

    if (c->floats && t != DT_F64)
        return DT_F32;
    if (c->ints && t == DT_BOOL)
        return DT_I64;
    return dtype_compute(t);
}

enum dtype
build_join_type(struct build *b, const struct value *vs, uint32_t n)
{
    struct common c = common_of(b, vs, n);

    if (c.typed && c.same && !c.ints && !c.floats)
        return c.type;
    return arithmetic_type(&c);
}

static void
type_error(struct build *b, enum op op, const char *wants, enum dtype is,
           const struct value *at)
{
    const char *kind =
        op_info[op].flags & OPF_OPERATOR ? "operator '%s'" : "'%s'";
    const char *name = op_info[op].name;

    if (!build_fresh(b, DIAG_TYPE_MISMATCH, at->span))
        return;
    diag_report(b->diag, DIAG_TYPE_MISMATCH, at->span,
                arena_printf(b->arena, kind, name), wants, dtype_info[is].name);
    if (is == DT_BOOL && op_info[op].type != OT_LOGIC)
        diag_help(b->diag, at->span,
                  "count it as 0 or 1 with i32(e), or use & | ^ ~ on bools");
    else if (op_info[op].type == OT_LOGIC && is != DT_BOOL)
        diag_help(b->diag, at->span, "write a comparison, such as %s != 0",
                  at->name ? at->name : "(e)");
    build_trace(b);
}

/* The first operand whose type is (not) t. */
static const struct value *
operand_with(struct build *b, const struct value *vs, uint32_t n, enum dtype t,
             bool equal)
{
    for (uint32_t i = 0; i < n; i++) {
        if ((build_type(b, &vs[i]) == t) == equal)
            return &vs[i];
    }
    return &vs[0];
}

/* The type that op computes in; false after a report. */
static bool
compute_type(struct build *b, enum op op, const struct value *vs, uint32_t n,
             enum dtype *ret)
{
    struct common c = common_of(b, vs, n);
    enum dtype t = arithmetic_type(&c);

    *ret = t;
    switch (op_info[op].type) {
    case OT_ARITH:
    case OT_ROUND:
        if (t != DT_BOOL)
            return true;
        type_error(b, op, n == 1 ? "a number" : "a number on one side", t,
                   &vs[0]);
        return false;
    case OT_FLOAT:
        *ret = t == DT_F64 ? DT_F64 : DT_F32;
        return true;
    case OT_BOOL:
        return true;
    case OT_LOGIC:
        if (t == DT_BOOL)
            return true;
        vs = operand_with(b, vs, n, DT_BOOL, false);
        type_error(b, op, "bools", build_type(b, vs), vs);
        return false;
    case OT_BITS:
        if (!dtype_is_float(t))
            return true;
        for (uint32_t i = 0; i < n; i++) {
            if (!dtype_is_float(build_type(b, &vs[i])))
                continue;
            type_error(b, op, "bools or integers", build_type(b, &vs[i]),
                       &vs[i]);
            return false;
        }
        return false;
    default:
        BUG("'%s' is no pointwise operation", op_info[op].name);
    }
}

/* --- shapes -------------------------------------------------------------- */

/* True when the vector's extent is another one of the tensor's: it is meant to
 * run along that. */
static bool
runs_along(const struct shape *vector, const struct shape *tensor)
{
    for (int d = 0; vector->rank == 1 && d < tensor->rank - 1; d++) {
        if (sym_equal(vector->dims[0], tensor->dims[d]))
            return true;
    }
    return false;
}

static void
suggest(struct build *b, const struct value *l, const struct value *r,
        const struct sym *a, const struct sym *c)
{
    struct shape ls = build_shape(b, l), rs = build_shape(b, r);
    const struct value *vector = runs_along(&ls, &rs)   ? l
                                 : runs_along(&rs, &ls) ? r
                                                        : NULL;
    struct span where = span_join(l->span, r->span);
    int64_t k;

    if (vector)
        diag_help(b->diag, vector->span,
                  "if %s runs along the rows, write %s[:, None]",
                  vector->name ? build_subject(b, vector) : "it",
                  vector->name ? vector->name : "(...)");
    else if (sym_is_int(a, &k) != sym_is_int(c, &k))
        diag_help(b->diag, where,
                  "'%s' and '%s' are equal only when bound with -D or "
                  "required equal: requires %s == %s",
                  build_sym_text(b, a), build_sym_text(b, c),
                  build_sym_text(b, a), build_sym_text(b, c));
    else if (!sym_is_int(a, &k))
        diag_help(b->diag, where,
                  "only an extent written 1 stretches; if both are always "
                  "equal, add: requires %s == %s",
                  build_sym_text(b, a), build_sym_text(b, c));
}

static void
mismatch(struct build *b, const struct value *l, const struct value *r, int d)
{
    struct shape ls = build_shape(b, l), rs = build_shape(b, r);
    const struct sym *a = ls.dims[ls.rank - d], *c = rs.dims[rs.rank - d];

    if (!build_fresh(b, DIAG_SHAPE_MISMATCH, l->span))
        return;
    diag_report(b->diag, DIAG_SHAPE_MISMATCH, l->span, build_shape_text(b, &ls),
                build_shape_text(b, &rs),
                arena_printf(b->arena, "'%s' is not '%s'", build_sym_text(b, a),
                             build_sym_text(b, c)));
    diag_secondary(b->diag, r->span);
    if (l->name && l->declared.src)
        diag_note(b->diag, l->declared, "'%s' declared here", l->name);
    if (r->name && r->declared.src)
        diag_note(b->diag, r->declared, "'%s' declared here", r->name);
    suggest(b, l, r, a, c);
    build_trace(b);
}

/* One dimension, counted 1.. from the right, over all operands. */
static bool
broadcast_dim(struct build *b, const struct value *vs, uint32_t n, int d,
              struct shape *ret)
{
    const struct sym *dim = NULL;
    const struct value *from = NULL;
    bool stretch = false;

    for (uint32_t i = 0; i < n; i++) {
        struct shape s = build_shape(b, &vs[i]);
        bool stretches;
        const struct sym *other;

        if (d > s.rank)
            continue;
        other = s.dims[s.rank - d];
        stretches = s.stretch >> (s.rank - d) & 1;
        if (dim && sym_equal(dim, other)) {
            stretch = stretch && stretches;
        } else if (!dim || stretch) {
            dim = other;
            from = &vs[i];
            stretch = stretches;
        } else if (!stretches) {
            mismatch(b, from, &vs[i], d);
            return false;
        }
    }
    assert(dim);
    ret->dims[ret->rank - d] = dim;
    ret->stretch |= (uint8_t)(stretch << (ret->rank - d));
    return true;
}

bool
build_broadcast_shape(struct build *b, const struct value *vs, uint32_t n,
                      struct shape *ret)
{
    *ret = (struct shape){0};
    for (uint32_t i = 0; i < n; i++) {
        if (vs[i].kind == V_NODE)
            ret->rank = MAX(ret->rank, graph_node(b->graph, vs[i].node)->rank);
    }
    for (int d = 1; d <= ret->rank; d++) {
        if (!broadcast_dim(b, vs, n, d, ret))
            return false;
    }
    return true;
}

struct value
build_expand(struct build *b, const struct value *v, const struct shape *s)
{
    struct shape from = build_shape(b, v);
    struct node n = {.op = OP_BROADCAST, .rank = s->rank, .n_args = 1};
    bool same = from.rank == s->rank;
    struct value r;

    assert(v->kind == V_NODE && from.rank <= s->rank);
    for (int d = 0; d < s->rank; d++) {
        int o = d - (s->rank - from.rank);
        bool equal = o >= 0 && sym_equal(from.dims[o], s->dims[d]);

        same = same && equal;
        n.dims[d] = s->dims[d];
        n.map[d] = equal ? o : NO_DIM;
    }
    if (same)
        return *v;
    n.dtype = graph_node(b->graph, v->node)->dtype;
    n.args = &v->node;
    r = build_emit(b, &n, s->stretch, v->span);
    r.name = v->name;
    return r;
}

/* --- operations ---------------------------------------------------------- */

/* Operands 0..n-1 as nodes of the types t[i], in one shape, and op over them.
 */
static struct value
apply(struct build *b, enum op op, const struct value *args, uint32_t n,
      const enum dtype *types, struct span where)
{
    struct node out = {.op = op, .n_args = n};
    struct value vs[3], r;
    node_id ids[3];
    struct shape s;

    assert(n <= 3 && op_info[op].arity == (int)n);
    if (!build_broadcast_shape(b, args, n, &s))
        return build_poison(where);
    for (uint32_t i = 0; i < n; i++) {
        vs[i] = build_as(b, &args[i], types[i]);
        if (vs[i].kind == V_POISON)
            return build_poison(where);
        vs[i] = build_expand(b, &vs[i], &s);
        if (vs[i].kind == V_POISON)
            return build_poison(where);
        ids[i] = vs[i].node;
    }
    out.dtype = types[n]; /* the result's */
    out.args = ids;
    out.rank = s.rank;
    memcpy(out.dims, s.dims, sizeof(out.dims));
    r = build_emit(b, &out, s.stretch, where);
    return r;
}

static struct value
apply_shift(struct build *b, enum op op, const struct value *args,
            struct span where)
{
    struct value vs[2] = {args[0], args[1]};
    enum dtype t[3];
    int64_t k;

    for (int i = 0; i < 2; i++) {
        if (dtype_is_integer(build_type(b, &vs[i])))
            continue;
        type_error(b, op, "integers", build_type(b, &vs[i]), &vs[i]);
        return build_poison(where);
    }
    t[0] = build_type(b, is_adaptable_int(&vs[0]) ? &vs[1] : &vs[0]);
    t[1] = t[2] = t[0];
    /* A constant count is reduced first, so that it fits any type. */
    if (vs[1].kind == V_INT && sym_is_int(vs[1].sym, &k))
        vs[1] = build_int(b, k & (8 * (int64_t)dtype_info[t[0]].bytes - 1),
                          vs[1].span);
    return apply(b, op, vs, 2, t, where);
}

static struct value
apply_where(struct build *b, const struct value *args, struct span where)
{
    enum dtype t[4];

    if (build_type(b, &args[0]) != DT_BOOL) {
        if (build_fresh(b, DIAG_TYPE_MISMATCH, args[0].span)) {
            diag_report(b->diag, DIAG_TYPE_MISMATCH, args[0].span,
                        "the condition of a select", "a bool",
                        dtype_info[build_type(b, &args[0])].name);
            diag_help(b->diag, args[0].span,
                      "write a comparison, such as %s != 0",
                      args[0].name ? args[0].name : "(e)");
            build_trace(b);
        }
        return build_poison(where);
    }
    t[0] = DT_BOOL;
    t[1] = t[2] = t[3] = build_join_type(b, &args[1], 2);
    return apply(b, OP_WHERE, args, 3, t, where);
}

/* What is wrong for two bools, except that their larger is "or". */
static enum op
bool_alias(struct build *b, enum op op, const struct value *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (build_type(b, &args[i]) != DT_BOOL)
            return op;
    }
    return op == OP_MAXIMUM ? OP_BITOR : op == OP_MINIMUM ? OP_BITAND : op;
}

static struct value
typed_pointwise(struct build *b, enum op op, const struct value *args,
                uint32_t n, struct span where)
{
    enum dtype t, types[4];

    if (op_info[op].type == OT_SHIFT)
        return apply_shift(b, op, args, where);
    if (op_info[op].type == OT_SELECT)
        return apply_where(b, args, where);
    op = bool_alias(b, op, args, n);
    if (!compute_type(b, op, args, n, &t))
        return build_poison(where);
    for (uint32_t i = 0; i < n; i++)
        types[i] = t;
    types[n] = op_info[op].type == OT_BOOL ? DT_BOOL : t;
    return apply(b, op, args, n, types, where);
}

/* Uniform operands that can't be evaluated now: the operation on i64, f64 and
 * bool nodes, whose result is uniform again. */
static struct value
uniform_pointwise(struct build *b, enum op op, const struct value *args,
                  uint32_t n, struct span where)
{
    struct value vs[3], r;
    bool floats = op_info[op].type == OT_FLOAT;

    for (uint32_t i = op_info[op].type == OT_SELECT; i < n; i++)
        floats = floats || is_adaptable_float(b, &args[i]);
    for (uint32_t i = 0; i < n; i++) {
        vs[i] = build_materialize(b, &args[i]);
        if (vs[i].kind == V_POISON)
            return vs[i];
        if (floats && !(op_info[op].type == OT_SELECT && i == 0))
            vs[i] = build_cast(b, &vs[i], DT_F64, vs[i].span);
        vs[i].uniform = false;
    }
    r = typed_pointwise(b, op, vs, n, where);
    r.uniform = r.kind == V_NODE;
    return r;
}

struct value
build_pointwise(struct build *b, enum op op, const struct value *args,
                uint32_t n, struct span where)
{
    bool uniform = true, good = true;
    struct value r;

    assert(n >= 1 && n <= 3);
    for (uint32_t i = 0; i < n; i++) {
        good = build_is_operand(b, &args[i]) && good;
        uniform = uniform && value_is_uniform(&args[i]);
    }
    if (!good)
        return build_poison(where);
    if (!uniform)
        return typed_pointwise(b, op, args, n, where);
    if (uniform_fold(b, op, args, n, where, &r))
        return r;
    return uniform_pointwise(b, op, args, n, where);
}

struct value
build_unary(struct build *b, enum op op, const struct value *x,
            struct span where)
{
    return build_pointwise(b, op, x, 1, where);
}

struct value
build_binary(struct build *b, enum op op, const struct value *x,
             const struct value *y, struct span where)
{
    struct value args[2] = {*x, *y};

    return build_pointwise(b, op, args, 2, where);
}

/* --- powers -------------------------------------------------------------- */

/* x ** n for 0 <= n <= 4. */
static struct value
small_power(struct build *b, const struct value *x, int64_t n,
            struct span where)
{
    struct value x2;

    if (n == 0) { /* 1 in x's shape and type, whatever x holds */
        struct value any = build_binary(b, OP_EQ, x, x, where),
                     one = build_int(b, 1, where);

        one = build_as(b, &one, dtype_compute(build_type(b, x)));
        return build_pointwise(b, OP_WHERE, (struct value[]){any, one, one}, 3,
                               where);
    }
    if (n == 1) {
        enum dtype t = dtype_compute(build_type(b, x));
        struct value v = build_materialize(b, x);

        return build_cast(b, &v, t, where);
    }
    x2 = build_binary(b, OP_MUL, x, x, where);
    if (n == 2)
        return x2;
    return build_binary(b, OP_MUL, &x2, n == 3 ? x : &x2, where);
}

static struct value
negative_power(struct build *b, const struct value *x, const struct value *y,
               struct span where)
{
    if (build_fresh(b, DIAG_BAD_ARGUMENT, y->span)) {
        diag_report(b->diag, DIAG_BAD_ARGUMENT, y->span, "exponent", "**",
                    "is negative and the base is an integer");
        diag_help(b->diag, x->span, "convert the base, as in f32(%s)",
                  x->name ? x->name : "e");
        build_trace(b);
    }
    return build_poison(where);
}

struct value
build_power(struct build *b, const struct value *x, const struct value *y,
            struct span where)
{
    struct value args[2] = {*x, *y}, r, one;
    int64_t n = 0;
    bool literal = uniform_int(y, &n) && !y->sized;

    if (!build_is_operand(b, x) || !build_is_operand(b, y))
        return build_poison(where);
    if (literal && n < 0 && dtype_is_integer(build_type(b, x)) &&
        !is_adaptable_int(x))
        return negative_power(b, x, y, where);
    if (!literal || value_is_uniform(x) || build_type(b, x) == DT_BOOL ||
        n < -4 || n > 4)
        return build_pointwise(b, OP_POW, args, 2, where);
    r = small_power(b, x, n < 0 ? -n : n, where);
    if (n >= 0 || r.kind == V_POISON)
        return r;
    one = build_int(b, 1, where);
    return build_binary(b, OP_DIV, &one, &r, where);
}
