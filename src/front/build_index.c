/* SPDX-License-Identifier: Apache-2.0 */
/* build_index: scans, indexing by tensors, iota and random numbers. */
#include "support/base.h"

#include "front/build.h"

#include "support/arena.h"

static void
set_shape(struct node *n, const struct shape *s)
{
    n->rank = s->rank;
    memcpy(n->dims, s->dims, sizeof(n->dims));
}

struct value
build_iota(struct build *b, const struct sym *n, bool literal,
           struct span where)
{
    struct node out = {.op = OP_IOTA, .dtype = DT_I64, .rank = 1};
    int64_t k;

    out.dims[0] = n;
    return build_emit(b, &out, literal && sym_is_int(n, &k) && k == 1, where);
}

struct value
build_scan(struct build *b, enum op op, const struct value *x, int axis,
           struct span where)
{
    enum dtype t = build_type(b, x);
    struct node n = {.op = op, .n_args = 1, .dim = axis};
    struct shape s;
    struct value v;

    n.dtype =
        op_info[op].type == OT_SUM ? dtype_accumulator(t) : dtype_compute(t);
    v = build_as(b, x, n.dtype);
    if (v.kind == V_POISON)
        return build_poison(where);
    s = build_shape(b, &v);
    assert(axis >= 0 && axis < s.rank);
    set_shape(&n, &s);
    n.args = &v.node;
    return build_emit(b, &n, s.stretch, where);
}

/* The index operand as i64; false after a report. */
static bool
index_operand(struct build *b, const char *name, struct value *i)
{
    enum dtype t = build_type(b, i);

    if (dtype_is_integer(t)) {
        *i = build_as(b, i, DT_I64);
        return i->kind != V_POISON;
    }
    if (build_fresh(b, DIAG_TYPE_MISMATCH, i->span)) {
        diag_report(b->diag, DIAG_TYPE_MISMATCH, i->span,
                    arena_printf(b->arena, "the index of '%s'", name),
                    "integers", dtype_info[t].name);
        if (dtype_is_float(t))
            diag_help(b->diag, i->span, "write i64(%s)",
                      i->name ? i->name : "...");
        build_trace(b);
    }
    return false;
}

struct value
build_take(struct build *b, const struct value *x, const struct value *i,
           int axis, struct span where)
{
    struct value index = *i;
    struct shape s = build_shape(b, x), is, out = {0};
    struct node n = {.op = OP_TAKE, .n_args = 2, .dim = axis};
    node_id args[2];

    if (!index_operand(b, "take", &index))
        return build_poison(where);
    is = build_shape(b, &index);
    if (s.rank - 1 + is.rank > MAX_RANK) {
        BUILD_ERROR(b, DIAG_RANK_LIMIT, where, (unsigned)(s.rank - 1 + is.rank),
                    MAX_RANK);
        return build_poison(where);
    }
    for (int d = 0; d < s.rank; d++) {
        for (int e = 0; d == axis && e < is.rank; e++) {
            out.stretch |= (uint8_t)((is.stretch >> e & 1) << out.rank);
            out.dims[out.rank++] = is.dims[e];
        }
        if (d == axis)
            continue;
        out.stretch |= (uint8_t)((s.stretch >> d & 1) << out.rank);
        out.dims[out.rank++] = s.dims[d];
    }
    args[0] = x->node;
    args[1] = index.node;
    n.args = args;
    n.dtype = graph_node(b->graph, x->node)->dtype;
    set_shape(&n, &out);
    return build_emit(b, &n, out.stretch, where);
}

static bool
equal_but(const struct shape *x, const struct shape *y, int axis)
{
    if (x->rank != y->rank)
        return false;
    for (int d = 0; d < x->rank; d++) {
        if (d != axis && !sym_equal(x->dims[d], y->dims[d]))
            return false;
    }
    return true;
}

struct value
build_take_along(struct build *b, const struct value *x, const struct value *i,
                 int axis, struct span where)
{
    struct value index = *i;
    struct shape s = build_shape(b, x), is;
    struct node n = {.op = OP_TAKE_ALONG, .n_args = 2, .dim = axis};
    node_id args[2];

    if (!index_operand(b, "take_along", &index))
        return build_poison(where);
    is = build_shape(b, &index);
    if (!equal_but(&s, &is, axis)) {
        if (build_fresh(b, DIAG_OPERAND_SHAPE, i->span)) {
            diag_report(b->diag, DIAG_OPERAND_SHAPE, i->span, "take_along",
                        arena_printf(b->arena,
                                     "an index of shape '%s' but for axis %d",
                                     build_shape_text(b, &s), axis),
                        build_shape_text(b, &is));
            diag_secondary(b->diag, x->span);
            build_trace(b);
        }
        return build_poison(where);
    }
    args[0] = x->node;
    args[1] = index.node;
    n.args = args;
    n.dtype = graph_node(b->graph, x->node)->dtype;
    set_shape(&n, &is);
    return build_emit(b, &n, is.stretch, where);
}

struct value
build_one_hot(struct build *b, const struct value *i, const struct sym *extent,
              struct span where)
{
    struct value index = *i;
    struct shape s;
    struct node n = {.op = OP_ONE_HOT, .dtype = DT_BOOL, .n_args = 1};

    if (!index_operand(b, "one_hot", &index))
        return build_poison(where);
    s = build_shape(b, &index);
    if (s.rank == MAX_RANK) {
        BUILD_ERROR(b, DIAG_RANK_LIMIT, where, (unsigned)(s.rank + 1),
                    MAX_RANK);
        return build_poison(where);
    }
    s.dims[s.rank++] = extent;
    n.args = &index.node;
    set_shape(&n, &s);
    return build_emit(b, &n, s.stretch, where);
}

/* True when v holds what i addresses: slices for a rank-1 i, else elements. */
static bool
scatter_fits(const struct scatter_args *sa, const struct shape *is,
             const struct shape *vs)
{
    if (!equal_but(&sa->shape, vs, sa->axis))
        return false;
    if (is->rank == 1 && sym_equal(is->dims[0], vs->dims[sa->axis]))
        return true;
    return equal_but(is, vs, NO_DIM);
}

struct value
build_scatter(struct build *b, enum op op, const struct scatter_args *sa,
              struct span where)
{
    struct value index = *sa->i, v = build_materialize(b, sa->v);
    enum dtype t = build_type(b, &v);
    struct node n = {.op = op, .n_args = 2, .dim = sa->axis};
    struct shape is, vs;
    node_id args[2];

    if (!index_operand(b, op_info[op].name, &index))
        return build_poison(where);
    n.dtype = op == OP_SCATTER_ADD ? dtype_accumulator(t) : t;
    v = build_as(b, &v, n.dtype);
    is = build_shape(b, &index);
    vs = build_shape(b, &v);
    if (!scatter_fits(sa, &is, &vs)) {
        if (build_fresh(b, DIAG_OPERAND_SHAPE, sa->v->span)) {
            diag_report(b->diag, DIAG_OPERAND_SHAPE, sa->v->span,
                        op_info[op].name,
                        arena_printf(b->arena,
                                     "values of shape '%s' but for axis %d, "
                                     "with an index for each slice or element",
                                     build_shape_text(b, &sa->shape), sa->axis),
                        build_shape_text(b, &vs));
            diag_secondary(b->diag, sa->i->span);
            build_trace(b);
        }
        return build_poison(where);
    }
    args[0] = index.node;
    args[1] = v.node;
    n.args = args;
    set_shape(&n, &sa->shape);
    return build_emit(b, &n, sa->shape.stretch, where);
}

/* --- random numbers ------------------------------------------------------ */

/* A rank-0 operand of type t; false after a report. */
static bool
random_operand(struct build *b, const char *what, struct value *v, enum dtype t)
{
    enum dtype is;
    struct shape s;

    if (!build_is_operand(b, v))
        return false;
    is = build_type(b, v);
    s = build_shape(b, v);
    if (s.rank != 0) {
        BUILD_ERROR(b, DIAG_OPERAND_SHAPE, v->span, what, "a scalar",
                    build_shape_text(b, &s));
        return false;
    }
    if (t == DT_I64 && !dtype_is_integer(is)) {
        BUILD_ERROR(b, DIAG_TYPE_MISMATCH, v->span,
                    arena_printf(b->arena, "'%s'", what), "an integer",
                    dtype_info[is].name);
        return false;
    }
    *v = build_as(b, v, t);
    return v->kind != V_POISON;
}

/* Blocks of four words that a draw of this shape surely takes. */
static int64_t
blocks_of(struct build *b, const struct shape *s)
{
    const struct sym *n = sym_int(b->syms, 1);
    int64_t least = 0;

    for (int d = 0; d < s->rank; d++)
        n = sym_mul(b->syms, n, s->dims[d]);
    if (!n || !sym_lower_bound(b->syms, n, &least) || least < 1)
        return 1; /* empty draws share nothing, but sizes vary */
    return (least - 1) / 4 + 1;
}

/* Warns of the latest earlier draw with the same constant seed whose blocks
 * overlap; looks back over a bounded number of draws. */
static void
warn_shared(struct build *b, const struct draw *d)
{
    enum { LOOK_BACK = 64 };
    uint32_t first = b->n_draws > LOOK_BACK ? b->n_draws - LOOK_BACK : 0;

    for (uint32_t i = b->n_draws; i > first; i--) {
        const struct draw *e = &b->draws[i - 1];

        if (e->seed != d->seed || e->first - d->first >= d->blocks ||
            d->first - e->first >= e->blocks)
            continue;
        if (build_fresh(b, DIAG_SHARED_RANDOM, d->span)) {
            diag_report(b->diag, DIAG_SHARED_RANDOM, d->span);
            diag_note(b->diag, e->span, "the other draw");
            build_trace(b);
        }
        return;
    }
}

static void
remember_draw(struct build *b, const struct shape *s,
              const struct random_args *ra, struct span where)
{
    struct draw d = {.span = where};

    if (!uniform_int(ra->seed, &d.seed) || !uniform_int(ra->offset, &d.first) ||
        d.first < 0)
        return;
    d.blocks = blocks_of(b, s);
    warn_shared(b, &d);
    if (b->n_draws == b->cap_draws) {
        uint32_t cap = b->cap_draws ? 2 * b->cap_draws : 8;

        b->draws =
            arena_grow(b->arena, b->draws, b->n_draws, cap, sizeof(*b->draws));
        b->cap_draws = cap;
    }
    b->draws[b->n_draws++] = d;
}

struct value
build_random(struct build *b, enum op op, const struct shape *s,
             const struct random_args *ra, struct span where)
{
    struct value v[3];
    struct node n = {.op = op, .draw = ra->draw};
    node_id args[3];
    double p;
    bool good = true;

    n.dtype = ra->p ? DT_BOOL : ra->draw;
    if (ra->p) {
        v[n.n_args] = *ra->p;
        if (uniform_number(ra->p, &p) && !(p >= 0 && p <= 1)) {
            BUILD_ERROR(b, DIAG_BAD_ARGUMENT, ra->p->span, "probability",
                        op == OP_BERNOULLI ? "bernoulli" : "dropout",
                        "is outside [0, 1]");
            return build_poison(where);
        }
        good = random_operand(b, "p", &v[n.n_args++], DT_F32);
    }
    v[n.n_args] = *ra->seed;
    good = random_operand(b, "seed", &v[n.n_args++], DT_I64) && good;
    v[n.n_args] = *ra->offset;
    good = random_operand(b, "offset", &v[n.n_args++], DT_I64) && good;
    if (!good)
        return build_poison(where);
    remember_draw(b, s, ra, where);
    for (uint32_t i = 0; i < n.n_args; i++)
        args[i] = v[i].node;
    n.args = args;
    set_shape(&n, s);
    return build_emit(b, &n, s->stretch, where);
}
