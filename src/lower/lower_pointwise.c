/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pointwise: flat over all axes, in vectors along the column axis.
 *
 * Vectors are numbered through all rows. A thread takes `vectors_per_thread` of
 * them, a block's width apart: first all loads, then vector by vector the
 * arithmetic and the stores. The plan's guard says that the vector divides the
 * columns and all strides, so no vector is partial; the number of the last one
 * is checked. With one axis the number is the place; else the row and the other
 * axes come from it by division, once a vector. */
#include "support/base.h"

#include "lower/lower_pointwise.h"

#include "support/arena.h"

struct pw {
    struct lower *ctx;
    struct arena *a;
    const struct facts *f;
    const struct graph *g;
    struct lowered_kernel lk;
    int threads, vec, vpt;
    bool *need;                         /* by node_id */
    const struct kexpr **value;         /* in the scope being written */
    const struct kexpr **held;          /* leaves: the array that was loaded */
    const struct kexpr **out;           /* results: the vector being filled */
    const struct kexpr *axis[MAX_AXES]; /* arrays: index along the axis */
    const struct kexpr *v, *e;          /* loop variables */
    const struct kexpr *q, *total;      /* number of the vector, of all */
};

static bool
has_column(const struct pw *w, node_id n)
{
    return (w->f->node[n].axes & (1u << w->f->column)) != 0;
}

static const struct access *
access_of(const struct pw *w, node_id n)
{
    return &w->f->accesses[w->f->node[n].access];
}

static bool
is_contiguous(const struct pw *w, const struct access *acc)
{
    int64_t s;

    return acc->stride[w->f->column] &&
           sym_is_int(acc->stride[w->f->column], &s) && s == 1;
}

/* What the results need, back to the leaves. */
static void
mark(struct pw *w)
{
    for (uint32_t i = 0; i < w->g->n_results; i++)
        w->need[facts_value(w->f, w->g->results[i].node)] = true;
    for (node_id n = w->g->n_nodes; n-- > 0;) {
        const struct node *nd = graph_node(w->g, n);

        if (!w->need[n] || w->f->node[n].is_leaf)
            continue;
        for (uint32_t i = 0; i < nd->n_args; i++)
            w->need[facts_value(w->f, nd->args[i])] = true;
    }
}

/* --- addresses ------------------------------------------------------------ */

static const struct kexpr *
add(const struct pw *w, const struct kexpr *x, const struct kexpr *y)
{
    return ke_bin(w->a, "+", x, y);
}

/* Of the current vector's first element, or its element e. */
static const struct kexpr *
offset(struct pw *w, const struct access *acc)
{
    const struct kexpr *at = lower_sym(w->ctx, &w->lk, acc->base);

    for (int x = 0; x < w->f->n_axes; x++) {
        const struct kexpr *i;

        if (!acc->stride[x] || !(acc->axes & (1u << x)))
            continue;
        i = ke_elem(w->a, w->axis[x], w->v);
        if (x == w->f->column && w->e)
            i = add(w, i, w->e);
        at = add(
            w, at,
            ke_bin(w->a, "*", i, lower_sym(w->ctx, &w->lk, acc->stride[x])));
    }
    return at;
}

/* --- the numbers of vectors and what they stand for ----------------------- */

static const struct sym *
vectors_in_row(struct pw *w)
{
    return sym_div(w->ctx->syms, w->f->axes[w->f->column].extent,
                   sym_int(w->ctx->syms, w->vec));
}

static const struct sym *
all_vectors(struct pw *w)
{
    return sym_mul(w->ctx->syms, facts_extent(w->f, w->f->rows),
                   vectors_in_row(w));
}

static void
declare_axes(struct pw *w, struct kbuild *b)
{
    for (int x = 0; x < w->f->n_axes; x++)
        w->axis[x] =
            kb_array(b, "fu_i64", arena_printf(w->a, "i%d", x), w->vpt, NULL);
}

/* `for v`, the number q of its vector; returns the body of `if (q < total)`. */
static struct kbuild
vector_loop(struct pw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in =
        kb_unroll(b, "v", ke_int(a, 0), ke_int(a, w->vpt), ke_int(a, 1));
    const struct kexpr *q = ke_var(a, "first");

    w->v = ke_var(a, "v");
    q = add(w, q, ke_bin(a, "*", w->v, ke_int(a, w->threads)));
    w->q = kb_let(&in, "fu_i64", "q", q);
    return kb_if(&in, ke_bin(a, "<", w->q, w->total));
}

static void
split_number(struct pw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *rest = w->q, *extent, *i = w->q;
    int column = w->f->column, first = -1;

    for (int x = w->f->n_axes; x-- > 0;)
        if (x != column)
            first = x;
    if (first >= 0) {
        extent = lower_sym(w->ctx, &w->lk, vectors_in_row(w));
        rest = kb_let(b, "fu_i64", "row", ke_bin(a, "/", w->q, extent));
        i = ke_bin(a, "-", w->q, ke_bin(a, "*", rest, extent));
    }
    kb_assign(b, ke_elem(a, w->axis[column], w->v),
              ke_bin(a, "*", i, ke_int(a, w->vec)));
    for (int x = w->f->n_axes; x-- > 0;) {
        if (x == column)
            continue;
        i = rest;
        if (x != first) {
            extent = lower_sym(w->ctx, &w->lk, w->f->axes[x].extent);
            i = ke_bin(a, "%", rest, extent);
        }
        kb_assign(b, ke_elem(a, w->axis[x], w->v), i);
        if (x != first)
            rest = kb_let(b, "fu_i64", arena_printf(a, "row%d", x),
                          ke_bin(a, "/", rest, extent));
    }
}

/* --- loads ---------------------------------------------------------------- */

static void
declare_held(struct pw *w, struct kbuild *b, node_id n)
{
    const struct dtype_info *t = &dtype_info[graph_node(w->g, n)->dtype];
    const char *name = arena_printf(w->a, "b_%s", lower_node_name(w->ctx, n));

    if (has_column(w, n) && is_contiguous(w, access_of(w, n)))
        w->held[n] =
            kb_array(b, arena_printf(w->a, "fu_vec<%s, %d>", t->mem, w->vec),
                     name, w->vpt, NULL);
    else
        w->held[n] = kb_array(
            b, t->reg, name, has_column(w, n) ? w->vpt * w->vec : w->vpt, NULL);
}

static const struct kexpr *
held_element(const struct pw *w, node_id n)
{
    const struct kexpr *i = ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec));

    if (!has_column(w, n))
        return ke_elem(w->a, w->held[n], w->v);
    if (is_contiguous(w, access_of(w, n)))
        return ke_call(w->a, "fu_get", NULL, 2, ke_elem(w->a, w->held[n], w->v),
                       w->e ? w->e : ke_int(w->a, 0));
    return ke_elem(w->a, w->held[n], w->e ? add(w, i, w->e) : i);
}

static struct kbuild
element_loop(struct pw *w, struct kbuild *b)
{
    w->e = NULL;
    if (w->vec == 1)
        return *b;
    w->e = ke_var(w->a, "e");
    return kb_unroll(b, "e", ke_int(w->a, 0), ke_int(w->a, w->vec),
                     ke_int(w->a, 1));
}

static void
load(struct pw *w, struct kbuild *b, node_id n)
{
    const struct access *acc = access_of(w, n);
    const struct kexpr *p = lower_param_pointer(w->ctx, &w->lk, acc);
    struct kbuild in = *b;

    if (has_column(w, n) && is_contiguous(w, acc)) {
        kb_assign(b, ke_elem(w->a, w->held[n], w->v),
                  ke_call(w->a, "fu_vload", arena_printf(w->a, "%d", w->vec), 2,
                          p, offset(w, acc)));
        return;
    }
    if (has_column(w, n))
        in = element_loop(w, b);
    kb_assign(&in, held_element(w, n),
              ke_call(w->a, "fu_load", NULL, 2, p, offset(w, acc)));
    w->e = NULL;
}

static void
load_all(struct pw *w, struct kbuild *b)
{
    struct kbuild in;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->need[n] && w->f->node[n].is_leaf)
            declare_held(w, b, n);
    in = vector_loop(w, b);
    split_number(w, &in);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->need[n] && w->f->node[n].is_leaf)
            load(w, &in, n);
}

/* --- values --------------------------------------------------------------- */

static const struct kexpr *
computed(struct pw *w, node_id n)
{
    const struct node *nd = graph_node(w->g, n);
    const struct kexpr *args[4] = {0};

    if (w->f->node[n].is_leaf)
        return held_element(w, n);
    if (w->f->node[n].has_index)
        return lower_convert(w->ctx, DT_I64, nd->dtype,
                             lower_wide(w->ctx, offset(w, access_of(w, n))));
    assert(nd->n_args <= ARRAY_LEN(args));
    for (uint32_t i = 0; i < nd->n_args; i++)
        args[i] = w->value[facts_value(w->f, nd->args[i])];
    return lower_node_expr(w->ctx, &w->lk, n, args);
}

/* Values with the column axis, or those without. */
static void
write_values(struct pw *w, struct kbuild *b, bool column)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct node *nd = graph_node(w->g, n);

        if (!w->need[n] || has_column(w, n) != column)
            continue;
        if (op_info[nd->op].class == OC_LEAF && !w->f->node[n].is_leaf &&
            !w->f->node[n].has_index)
            w->value[n] = lower_node_expr(w->ctx, &w->lk, n, NULL);
        else
            w->value[n] =
                kb_let(b, dtype_info[nd->dtype].reg,
                       arena_printf(w->a, "v_%s", lower_node_name(w->ctx, n)),
                       computed(w, n));
    }
}

/* --- stores --------------------------------------------------------------- */

static void
declare_out(struct pw *w, struct kbuild *b, uint32_t i)
{
    const struct result *r = &w->g->results[i];

    w->out[i] = NULL;
    if (is_contiguous(w, &w->f->stores[i]))
        w->out[i] = kb_var(b,
                           arena_printf(w->a, "fu_vec<%s, %d>",
                                        dtype_info[r->dtype].mem, w->vec),
                           arena_printf(w->a, "s_%s", r->name), NULL);
}

static const struct kexpr *
stored(struct pw *w, uint32_t i)
{
    const struct result *r = &w->g->results[i];

    return lower_store_value(w->ctx, graph_node(w->g, r->node)->dtype, r->dtype,
                             w->value[facts_value(w->f, r->node)]);
}

static void
set_element(struct pw *w, struct kbuild *b, uint32_t i)
{
    const struct access *acc = &w->f->stores[i];

    if (w->out[i])
        kb_eval(b, ke_call(w->a, "fu_set", NULL, 3, w->out[i],
                           w->e ? w->e : ke_int(w->a, 0), stored(w, i)));
    else
        kb_eval(b, ke_call(w->a, "fu_store", NULL, 3,
                           lower_param_pointer(w->ctx, &w->lk, acc),
                           offset(w, acc), stored(w, i)));
}

static void
compute_all(struct pw *w, struct kbuild *b)
{
    struct kbuild in = vector_loop(w, b), each;

    write_values(w, &in, false);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        declare_out(w, &in, i);
    each = element_loop(w, &in);
    write_values(w, &each, true);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        set_element(w, &each, i);
    w->e = NULL;
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (w->out[i])
            kb_eval(
                &in,
                ke_call(w->a, "fu_vstore", arena_printf(w->a, "%d", w->vec), 3,
                        lower_param_pointer(w->ctx, &w->lk, &w->f->stores[i]),
                        offset(w, &w->f->stores[i]), w->out[i]));
}

static void
write_kernel(struct pw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *first;

    w->total = lower_sym(w->ctx, &w->lk, all_vectors(w));
    first = ke_bin(a, "*", lower_wide(w->ctx, ke_call(a, "fu_bid_x", NULL, 0)),
                   ke_int(a, (int64_t)w->threads * w->vpt));
    kb_let(b, "fu_i64", "first", add(w, first, ke_call(a, "fu_tid", NULL, 0)));
    declare_axes(w, b);
    load_all(w, b);
    compute_all(w, b);
}

void
lower_pointwise(struct lower *ctx, const struct kernel_plan *kp,
                struct lowered_variant *out)
{
    struct pw w = {.ctx = ctx, .a = ctx->arena, .f = ctx->facts, .g = ctx->g};
    struct sym_ctx *c = ctx->syms;
    struct kbuild b;

    w.threads = (int)kp->key[PK_THREADS];
    w.vec = (int)kp->key[PK_VECTOR];
    w.vpt = (int)kp->key[PK_VECTORS_PER_THREAD];
    w.need = NEW_ARRAY(w.a, bool, w.g->n_nodes);
    w.value = NEW_ARRAY(w.a, const struct kexpr *, w.g->n_nodes);
    w.held = NEW_ARRAY(w.a, const struct kexpr *, w.g->n_nodes);
    w.out = NEW_ARRAY(w.a, const struct kexpr *, w.g->n_results);
    assert(w.f->axes_ok && w.f->column != NO_AXIS);
    mark(&w);
    w.lk = lower_kernel_begin(ctx, out, kp, w.threads,
                              "Elements, in vectors along the columns.");
    w.lk.kernel->min_blocks = (int)MAX(kp->key[PK_BLOCKS_PER_SM], 1);
    b = (struct kbuild){w.a, &w.lk.kernel->body};
    write_kernel(&w, &b);
    lower_set_grid(ctx, &w.lk,
                   sym_ceil_div(c, all_vectors(&w),
                                sym_int(c, (int64_t)w.threads * w.vpt)),
                   sym_int(c, 1));
    lower_kernel_end(ctx, &w.lk, out);
}
