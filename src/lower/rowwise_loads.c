/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_loads: what a row, or the whole block, brings on chip.
 *
 * All loads of a row are issued before their first use, so the bytes in flight
 * are the row. With prefetch they are issued one row ahead. Operands without a
 * row axis that the plan keeps over rows are loaded once, before the loop. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

static const struct access *
access_of(const struct rw *w, node_id n)
{
    return &w->f->accesses[w->f->node[n].access];
}

static bool
is_live_leaf(const struct rw *w, node_id n)
{
    return w->f->node[n].live && w->f->node[n].is_leaf;
}

/* Kept as packed vectors: a live leaf along the column that isn't re-read and
 * that its own load brings. */
static bool
is_packed_leaf(const struct rw *w, node_id n, bool over_rows)
{
    return is_live_leaf(w, n) && rw_has_column(w, n) &&
           w->node[n].store == STORE_REGISTER_PACKED && !rw_in_ring(w, n) &&
           w->node[n].over_rows == over_rows;
}

struct kbuild
rw_vector_loop(struct rw *w, struct kbuild *b, const struct kexpr *chunk,
               bool guard_row)
{
    struct arena *a = w->a;
    struct kbuild in =
        kb_unroll(b, "v", ke_int(a, 0), ke_int(a, w->vpt), ke_int(a, 1));
    const struct kexpr *c, *cond = guard_row ? w->active : NULL;

    w->v = ke_var(a, "v");
    c = ke_bin(a, "+", ke_bin(a, "*", w->v, ke_int(a, w->tpr)), w->t);
    if (w->vec > 1)
        c = ke_bin(a, "*", c, ke_int(a, w->vec));
    if (w->mine)
        c = w->own = kb_let(&in, "int", "own", c);
    c = chunk ? ke_bin(a, "+", chunk, c) : rw_column(w, c);
    w->col = kb_let(&in, w->wide_columns ? "fu_i64" : "int", "c", c);
    if (!w->exact && w->mine)
        cond = rw_and(w, cond, ke_bin(a, "<", w->own, w->mine));
    else if (!w->exact)
        cond = rw_and(w, cond, ke_bin(a, "<", w->col, w->end));
    return cond ? kb_if(&in, cond) : in;
}

static const struct kexpr *
declare_vectors(struct rw *w, struct kbuild *b, const char *prefix, node_id n)
{
    const char *t = dtype_info[graph_node(w->g, n)->dtype].mem;

    return kb_array(b, arena_printf(w->a, "fu_vec<%s, %d>", t, w->vec),
                    rw_name(w, prefix, n), w->vpt, NULL);
}

/* array[v] = the vector at column c, element by element where the column
 * stride isn't one. */
static void
load_vector(struct rw *w, struct kbuild *b, node_id n,
            const struct kexpr *array, const struct kexpr *offset)
{
    const struct access *acc = access_of(w, n);
    const struct kexpr *at =
        offset ? ke_bin(w->a, "+", offset, w->col) : w->col;

    kb_assign(b, ke_elem(w->a, array, w->v),
              ke_call(w->a, "fu_vload", arena_printf(w->a, "%d", w->vec), 2,
                      lower_param_pointer(w->ctx, &w->lk, acc), at));
}

static void
zero_vectors(struct rw *w, struct kbuild *b, const struct kexpr *array,
             node_id n)
{
    const char *t = dtype_info[graph_node(w->g, n)->dtype].mem;
    struct kbuild in = kb_unroll(b, "v", ke_int(w->a, 0), ke_int(w->a, w->vpt),
                                 ke_int(w->a, 1));

    kb_assign(
        &in, ke_elem(w->a, array, ke_var(w->a, "v")),
        ke_call(w->a, "fu_vzero", arena_printf(w->a, "%s, %d", t, w->vec), 0));
}

/* Where there may be no rows, a tensor whose row dimensions have stride 0 may
 * have no elements. */
static bool
may_be_empty(const struct rw *w, node_id n)
{
    const struct access *acc = access_of(w, n);
    int64_t rows;

    return acc->param >= 0 && w->g->params[acc->param].has_strides &&
           (!sym_lower_bound(w->g->syms, w->m, &rows) || rows < 1);
}

void
rw_declare_vectors(struct rw *w, struct kbuild *b, node_id n)
{
    w->node[n].array = declare_vectors(w, b, "b", n);
    if (!w->exact || w->active)
        zero_vectors(w, b, w->node[n].array, n);
}

/* --- operands that are the same for every row ----------------------------- */

bool
rw_is_shared(const struct rw *w, node_id n)
{
    return is_live_leaf(w, n) && rw_has_column(w, n) &&
           w->node[n].store == STORE_SHARED && w->node[n].over_rows;
}

static bool
is_unpacked_leaf(const struct rw *w, node_id n)
{
    return is_live_leaf(w, n) && rw_has_column(w, n) &&
           w->node[n].store == STORE_REGISTER_F32 && w->node[n].over_rows;
}

/* Of a block's columns. */
static int64_t
shared_size(const struct rw *w, node_id n)
{
    int64_t span = (int64_t)w->tpr * w->vec * w->vpt;
    int64_t bytes = span * dtype_info[graph_node(w->g, n)->dtype].bytes;

    return (bytes + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

int64_t
rw_shared_bytes(const struct rw *w)
{
    int64_t bytes = 0;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_is_shared(w, n))
            bytes += shared_size(w, n);
    return bytes;
}

int64_t
rw_shared_base(const struct rw *w)
{
    return (rw_smem_bytes(w) + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

static const struct kexpr *
shared_address(const struct rw *w, node_id n)
{
    const struct kexpr *at =
        ke_bin(w->a, "*", rw_own_column(w, w->col),
               ke_int(w->a, dtype_info[graph_node(w->g, n)->dtype].bytes));

    return ke_bin(w->a, "+", at, ke_int(w->a, w->node[n].shared_at));
}

const struct kexpr *
rw_shared_vector(const struct rw *w, node_id n)
{
    const char *t = dtype_info[graph_node(w->g, n)->dtype].mem;

    return ke_call(w->a, "fu_vsload_again",
                   arena_printf(w->a, "%s, %d", t, w->vec), 1,
                   shared_address(w, n));
}

/* Registers or room for it. */
static void
declare_invariant(struct rw *w, struct kbuild *b, node_id n, int64_t *shared)
{
    struct rw_node *r = &w->node[n];

    if (rw_is_shared(w, n)) {
        r->shared_at = *shared;
        *shared += shared_size(w, n);
    } else if (is_unpacked_leaf(w, n)) {
        r->array = kb_array(b, dtype_info[graph_node(w->g, n)->dtype].reg,
                            rw_name(w, "f", n), (int64_t)w->vec * w->vpt, NULL);
    } else {
        r->array = declare_vectors(w, b, "b", n);
        if (!w->exact)
            zero_vectors(w, b, r->array, n);
    }
}

static const struct kexpr *
loaded_vector(struct rw *w, struct kbuild *b, node_id n)
{
    const struct kexpr *at = rw_offset(w, b, access_of(w, n), NULL);
    const char *t = dtype_info[graph_node(w->g, n)->dtype].mem;

    return kb_let(b, arena_printf(w->a, "fu_vec<%s, %d>", t, w->vec),
                  arena_printf(w->a, "l_%s", rw_label(w, n)),
                  ke_call(w->a, "fu_vload", arena_printf(w->a, "%d", w->vec), 2,
                          lower_param_pointer(w->ctx, &w->lk, access_of(w, n)),
                          at ? ke_bin(w->a, "+", at, w->col) : w->col));
}

static void
load_unpacked(struct rw *w, struct kbuild *b, node_id n)
{
    const struct kexpr *x = loaded_vector(w, b, n), *i;
    struct kbuild in = kb_unroll(b, "e", ke_int(w->a, 0), ke_int(w->a, w->vec),
                                 ke_int(w->a, 1));

    i = ke_bin(w->a, "+", ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec)),
               ke_var(w->a, "e"));
    kb_assign(&in, ke_elem(w->a, w->node[n].array, i),
              ke_call(w->a, "fu_get", NULL, 2, x, ke_var(w->a, "e")));
}

/* The first row group brings it in for all. */
static void
load_shared(struct rw *w, struct kbuild *b, node_id n)
{
    struct kbuild in = *b;
    const struct kexpr *x;

    if (w->groups > 1)
        in = kb_if(b, ke_bin(w->a, "==", w->group, ke_int(w->a, 0)));
    x = loaded_vector(w, &in, n);
    kb_eval(&in, ke_call(w->a, "fu_vsstore", NULL, 2, shared_address(w, n), x));
}

static void
load_invariant(struct rw *w, struct kbuild *b, node_id n)
{
    if (rw_is_shared(w, n))
        load_shared(w, b, n);
    else if (is_unpacked_leaf(w, n))
        load_unpacked(w, b, n);
    else
        load_vector(w, b, n, w->node[n].array,
                    rw_offset(w, b, access_of(w, n), NULL));
}

static bool
is_invariant(const struct rw *w, node_id n)
{
    return is_packed_leaf(w, n, true) || rw_is_shared(w, n) ||
           is_unpacked_leaf(w, n);
}

void
rw_load_invariants(struct rw *w, struct kbuild *b)
{
    struct kbuild in;
    int64_t shared = rw_shared_base(w), base = shared;
    bool any = false, check = false;

    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!is_invariant(w, n))
            continue;
        if (!any)
            kb_comment(b, "Operands that are the same for every row.");
        any = true;
        check |= may_be_empty(w, n);
        declare_invariant(w, b, n, &shared);
    }
    if (!any)
        return;
    if (check)
        in = kb_if(b, ke_bin(w->a, ">", w->mv, ke_int(w->a, 0)));
    in = rw_vector_loop(w, check ? &in : b, NULL, false);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_invariant(w, n))
            load_invariant(w, &in, n);
    if (shared > base)
        kb_eval(b, ke_call(w->a, "fu_barrier", NULL, 0));
}

void
rw_row_offsets(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_leaf(w, n) && !rw_in_ring(w, n))
            w->node[n].offset =
                rw_offset(w, b, access_of(w, n), rw_name(w, "o", n));
    for (uint32_t i = 0; i < w->g->n_results; i++) {
        const char *name = w->g->results[i].name;

        if (!w->result[i].in_row_kernel)
            continue;
        name = w->steps > 1 ? arena_printf(w->a, "o_%s_%d", name, w->step)
                            : arena_printf(w->a, "o_%s", name);
        w->result[i].offset = rw_offset(w, b, &w->f->stores[i], name);
    }
}

/* Scalars of the row: one load by every thread, at a clamped address. */
static void
load_row_scalars(struct rw *w, struct kbuild *b, bool ahead)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *x;
        const char *reg;

        if (!is_live_leaf(w, n) || rw_has_column(w, n) || rw_in_ring(w, n))
            continue;
        reg = dtype_info[graph_node(w->g, n)->dtype].reg;
        x = ke_call(w->a, "fu_load", NULL, 2,
                    lower_param_pointer(w->ctx, &w->lk, access_of(w, n)),
                    w->node[n].offset);
        if (!ahead)
            w->node[n].row = kb_let(b, reg, rw_name(w, "v", n), x);
        else
            kb_assign(b, w->node[n].next, x);
    }
}

static bool
has_packed(const struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_packed_leaf(w, n, false))
            return true;
    return false;
}

void
rw_load_row(struct rw *w, struct kbuild *b, bool ahead)
{
    struct kbuild in;

    if (!ahead)
        for (node_id n = 0; n < w->g->n_nodes; n++)
            if (is_packed_leaf(w, n, false))
                rw_declare_vectors(w, b, n);
    if (has_packed(w)) {
        in = rw_vector_loop(w, b, NULL, true);
        for (node_id n = 0; n < w->g->n_nodes; n++)
            if (is_packed_leaf(w, n, false))
                load_vector(w, &in, n,
                            ahead ? w->node[n].next : w->node[n].array,
                            w->node[n].offset);
    }
    load_row_scalars(w, b, ahead);
}

void
rw_declare_prefetch(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (is_packed_leaf(w, n, false)) {
            w->node[n].next = declare_vectors(w, b, "n", n);
            if (!w->exact || w->active)
                zero_vectors(w, b, w->node[n].next, n);
        } else if (is_live_leaf(w, n) && !rw_has_column(w, n)) {
            w->node[n].next =
                kb_var(b, dtype_info[graph_node(w->g, n)->dtype].reg,
                       rw_name(w, "n", n),
                       dtype_is_float(graph_node(w->g, n)->dtype)
                           ? ke_const_float(w->a, graph_node(w->g, n)->dtype, 0)
                           : ke_const_int(w->a, graph_node(w->g, n)->dtype, 0));
        }
    }
}

void
rw_take_prefetched(struct rw *w, struct kbuild *b)
{
    struct kbuild in;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_packed_leaf(w, n, false))
            w->node[n].array = declare_vectors(w, b, "b", n);
    if (has_packed(w)) {
        in = kb_unroll(b, "v", ke_int(w->a, 0), ke_int(w->a, w->vpt),
                       ke_int(w->a, 1));
        for (node_id n = 0; n < w->g->n_nodes; n++)
            if (is_packed_leaf(w, n, false))
                kb_assign(&in,
                          ke_elem(w->a, w->node[n].array, ke_var(w->a, "v")),
                          ke_elem(w->a, w->node[n].next, ke_var(w->a, "v")));
    }
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_leaf(w, n) && !rw_has_column(w, n))
            w->node[n].row =
                kb_let(b, dtype_info[graph_node(w->g, n)->dtype].reg,
                       rw_name(w, "v", n), w->node[n].next);
}
