/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_finish: the second kernel of a fusion with column sums.
 *
 * A block owns 32 columns; its warps share the partial rows between them, each
 * adding every 16th row, and one warp adds the 16 results in order. The same
 * threads then compute whatever follows the sums (a division, a cast, other
 * operands along the columns) and store it. The order is fixed by the plan.
 *
 * Where each thread has seen all rows of its columns (finish none) there is no
 * second kernel: the row kernel ends with what follows the sums. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { COLUMNS = 32, SLICES = 16 };

static bool
is_live_outer(const struct rw *w, node_id n)
{
    return w->f->node[n].live && rw_is_outer(w, n);
}

/* This thread's share of the partial rows of reduction n. */
static void
fold_share(struct rw *w, struct kbuild *b, node_id n, uint32_t variant)
{
    struct arena *a = w->a;
    const struct kexpr *rows = lower_sym(w->ctx, &w->lk, w->partials);
    enum dtype t = rw_acc_dtype(w, n);
    bool is_sum = rw_is_float_sum(w, n);
    const struct kexpr *p, *at, *sum = NULL;
    struct kbuild in, loop;

    p = lower_workspace(
        w->ctx, &w->lk,
        arena_printf(a, "v%u_%s_partials", variant, lower_node_name(w->ctx, n)),
        t, NULL, false);
    w->node[n].acc =
        kb_var(b, dtype_info[t].reg, rw_name(w, "r", n), rw_identity(w, n));
    in = kb_if(b, ke_bin(a, "<", w->col, w->nv));
    if (is_sum)
        sum = rw_sum_open(w, &in, n);
    loop = kb_for(&in, "int", "p", ke_var(a, "slice"), rows, ke_int(a, SLICES));
    at = ke_bin(a, "+",
                ke_bin(a, "*", lower_wide(w->ctx, ke_var(a, "p")), w->nv),
                w->col);
    at = ke_call(a, "fu_load", NULL, 2, p, at);
    if (!is_sum) {
        kb_assign(&loop, w->node[n].acc, rw_combine(w, n, w->node[n].acc, at));
        return;
    }
    rw_sum_add(w, &loop, sum, at);
    kb_assign(&in, w->node[n].acc, rw_sum_value(w, sum));
}

static const struct kexpr *
share_address(const struct rw *w, const struct kexpr *slice, int64_t size)
{
    struct arena *a = w->a;

    return ke_bin(a, "*",
                  ke_bin(a, "+", ke_bin(a, "*", slice, ke_int(a, COLUMNS)),
                         ke_var(a, "x")),
                  ke_int(a, size));
}

/* Adds the shares in the order of the slices. */
static void
fold_slices(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    const char *reg = dtype_info[t].reg;
    int64_t size = dtype_info[t].bytes;
    struct kbuild in, loop;

    kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    kb_eval(b, ke_call(a, "fu_sstore", reg, 2,
                       share_address(w, ke_var(a, "slice"), size),
                       w->node[n].acc));
    kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    in = kb_if(b, ke_bin(a, "==", ke_var(a, "slice"), ke_int(a, 0)));
    loop = kb_unroll(&in, "q", ke_int(a, 1), ke_int(a, SLICES), ke_int(a, 1));
    kb_assign(&loop, w->node[n].acc,
              rw_combine(w, n, w->node[n].acc,
                         ke_call(a, "fu_sload", reg, 1,
                                 share_address(w, ke_var(a, "q"), size))));
    w->node[n].row = w->node[n].elem = w->node[n].acc;
}

/* Operands along the columns may begin elsewhere than their tensors. */
static void
place_operands(struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct access *acc;
        int64_t base;

        if (!w->node[n].need || !w->f->node[n].is_leaf || !rw_has_column(w, n))
            continue;
        acc = &w->f->accesses[w->f->node[n].access];
        if (!sym_is_int(acc->base, &base) || base != 0)
            w->node[n].offset = lower_sym(w->ctx, &w->lk, acc->base);
    }
}

static void
mark_finish(struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct rw_node *r = &w->node[n];

        r->need = false;
        r->array = r->vector = r->offset = NULL;
        r->kept_from = -1;
        r->row = r->elem = NULL;
    }
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (!w->result[i].in_row_kernel)
            w->node[facts_value(w->f, w->g->results[i].node)].need = true;
    rw_mark_args(w, 0);
    place_operands(w);
}

/* Sums count as values of the column here; they are set already. */
static void
emit_values(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_outer(w, n))
            w->node[n].need = false;
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->node[n].need && w->f->node[n].is_leaf && !rw_has_column(w, n)) {
            const struct access *acc = &w->f->accesses[w->f->node[n].access];

            w->node[n].row =
                kb_let(b, dtype_info[graph_node(w->g, n)->dtype].reg,
                       rw_name(w, "v", n),
                       ke_call(w->a, "fu_load", NULL, 2,
                               lower_param_pointer(w->ctx, &w->lk, acc),
                               lower_sym(w->ctx, &w->lk, acc->base)));
            w->node[n].need = false;
        }
    rw_emit_marked(w, b, false, 0);
    rw_emit_marked(w, b, true, 0);
}

static void
store_finished(struct rw *w, struct kbuild *b, uint32_t i)
{
    struct arena *a = w->a;
    const struct result *r = &w->g->results[i];
    const struct access *acc = &w->f->stores[i];
    const struct kexpr *at = lower_sym(w->ctx, &w->lk, acc->base);
    struct kbuild in = *b;

    if (w->f->column != NO_AXIS && acc->stride[w->f->column])
        at = ke_bin(
            a, "+", at,
            ke_bin(a, "*", w->col,
                   lower_sym(w->ctx, &w->lk, acc->stride[w->f->column])));
    else
        in = kb_if(b, ke_bin(a, "==", w->col, ke_int(a, 0)));
    kb_eval(&in,
            ke_call(a, "fu_store", NULL, 3,
                    lower_param_pointer(w->ctx, &w->lk, acc), at,
                    lower_store_value(w->ctx, graph_node(w->g, r->node)->dtype,
                                      r->dtype, rw_value(w, r->node))));
}

static void
finish_body(struct rw *w, struct kbuild *b, uint32_t variant)
{
    struct arena *a = w->a;
    const struct kexpr *bid;
    struct kbuild in;

    w->tid = kb_let(b, "int", "tid", ke_call(a, "fu_tid", NULL, 0));
    kb_let(b, "int", "x", ke_bin(a, "%", w->tid, ke_int(a, COLUMNS)));
    kb_let(b, "int", "slice", ke_bin(a, "/", w->tid, ke_int(a, COLUMNS)));
    bid = lower_wide(w->ctx, ke_call(a, "fu_bid_x", NULL, 0));
    w->col = kb_let(b, "fu_i64", "c",
                    ke_bin(a, "+", ke_bin(a, "*", bid, ke_int(a, COLUMNS)),
                           ke_var(a, "x")));
    if (w->kp->key[PK_FINISH] == FINISH_PDL_KERNEL)
        kb_eval(b, ke_call(a, "fu_pdl_wait", NULL, 0));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_outer(w, n))
            fold_share(w, b, n, variant);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_outer(w, n))
            fold_slices(w, b, n);
    in = kb_if(b, ke_bin(a, "&&",
                         ke_bin(a, "==", ke_var(a, "slice"), ke_int(a, 0)),
                         ke_bin(a, "<", w->col, w->nv)));
    emit_values(w, &in);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (!w->result[i].in_row_kernel)
            store_finished(w, &in, i);
}

void
rw_finish_kernel(struct rw *w, uint32_t variant, struct lowered_variant *out)
{
    struct sym_ctx *c = w->ctx->syms;
    struct kbuild b;

    w->lk = lower_kernel_begin(w->ctx, variant, out, w->kp, COLUMNS * SLICES,
                               "Finish: fold the partial rows.");
    w->steps = 1;
    w->vec = 1;
    w->e = NULL;
    w->active = NULL;
    w->nv = lower_sym(w->ctx, &w->lk, w->n);
    memset(w->axis, 0, sizeof(w->axis));
    mark_finish(w);
    b = (struct kbuild){w->a, &w->lk.kernel->body};
    finish_body(w, &b, variant);
    lower_set_grid(w->ctx, &w->lk, sym_ceil_div(c, w->n, sym_int(c, COLUMNS)),
                   sym_int(c, 1));
    w->lk.launch.smem = arena_printf(w->a, "%d", COLUMNS * SLICES * 8);
    w->lk.kernel->uses_smem = true;
    w->lk.launch.pdl =
        w->kp->key[PK_FINISH] == FINISH_PDL_KERNEL && rw_outer_count(w) > 0;
    lower_kernel_end(w->ctx, &w->lk, out);
}

/* At element e of vector v of this thread; scalar code from here on. */
static void
finish_column(struct rw *w, struct kbuild *b, const struct kexpr *element)
{
    struct kbuild in = *b;

    w->col = kb_let(&in, "fu_i64", "k", element);
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *at = w->v;

        if (!is_live_outer(w, n))
            continue;
        if (w->e)
            at = ke_bin(w->a, "+",
                        ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec)), w->e);
        w->node[n].row = w->node[n].elem = ke_elem(w->a, w->node[n].acc, at);
    }
    w->e = NULL;
    emit_values(w, &in);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (!w->result[i].in_row_kernel)
            store_finished(w, &in, i);
}

void
rw_finish_here(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct rw saved = *w;
    struct kbuild in;

    kb_comment(b, "All rows were seen here: what follows their sums.");
    w->steps = 1;
    w->active = NULL;
    memset(w->axis, 0, sizeof(w->axis));
    mark_finish(w);
    in = rw_vector_loop(w, b, NULL, false);
    if (w->vec > 1) {
        in = kb_unroll(&in, "e", ke_int(a, 0), ke_int(a, w->vec), ke_int(a, 1));
        w->e = ke_var(a, "e");
    }
    finish_column(w, &in, w->e ? ke_bin(a, "+", w->col, w->e) : w->col);
    saved.lk = w->lk;
    *w = saved;
}
