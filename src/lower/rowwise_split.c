/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_split: few long rows, each read by several blocks. The blocks take
 * chunks of the row in turn; each reduces its own and writes one partial
 * result, and the block that comes last adds those in the order of the blocks,
 * computes what follows, and stores it. A full reduction is one such row. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

static const struct kexpr *
wide(struct rw *w, const char *name)
{
    return lower_wide(w->ctx, ke_call(w->a, name, NULL, 0));
}

struct kbuild
rw_chunk_loop(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *first = rw_column(w, ke_int(a, 0));
    const struct kexpr *step = ke_int(a, (int64_t)w->tpr * w->vec * w->vpt);

    if (w->split) {
        first = ke_bin(a, "*", wide(w, "fu_bid_x"), step);
        step = ke_bin(a, "*", wide(w, "fu_grid_x"), step);
    }
    return kb_for(b, "fu_i64", "c0", first, w->end, step);
}

static bool
is_live_inner(const struct rw *w, node_id n)
{
    return w->f->node[n].live && rw_is_inner(w, n);
}

/* The blocks' results of reduction n, [rows, blocks]. */
static const struct kexpr *
results_of(struct rw *w, node_id n)
{
    struct sym_ctx *c = w->ctx->syms;
    enum dtype t = rw_acc_dtype(w, n);
    const struct sym *all =
        sym_mul(c, w->m, sym_int(c, w->kp->key[PK_GRID_ROWS]));

    return lower_workspace(w->ctx, &w->lk,
                           arena_printf(w->a, "%s_%s_partials", w->ctx->prefix,
                                        lower_node_name(w->ctx, n)),
                           t, sym_mul(c, all, sym_int(c, dtype_info[t].bytes)),
                           false);
}

static const struct kexpr *
place_in_row(struct rw *w, const struct kexpr *block)
{
    return ke_bin(
        w->a, "+",
        ke_bin(w->a, "*", w->row, ke_int(w->a, w->kp->key[PK_GRID_ROWS])),
        block);
}

static void
publish(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in;

    kb_comment(b, "This block's part of the row.");
    in = kb_if(b, ke_bin(a, "==", w->t, ke_int(a, 0)));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_inner(w, n))
            kb_eval(&in, ke_call(a, "fu_store", NULL, 3, results_of(w, n),
                                 place_in_row(w, wide(w, "fu_bid_x")),
                                 w->node[n].acc));
}

/* What the threads of the last block have of the blocks' results. */
static void
collect(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    const struct kexpr *acc = w->node[n].acc, *sum = w->node[n].total, *x;
    struct kbuild in;

    if (sum)
        rw_sum_clear(w, b, n, sum);
    else
        kb_assign(b, acc, rw_identity(w, n));
    in = kb_for(b, "int", "p", w->t, ke_int(a, w->kp->key[PK_GRID_ROWS]),
                ke_int(a, w->tpr));
    x = ke_call(a, "fu_load", NULL, 2, results_of(w, n),
                place_in_row(w, ke_var(a, "p")));
    if (sum) {
        rw_sum_add(w, &in, sum, x);
        kb_assign(b, acc, rw_sum_value(w, sum));
    } else {
        kb_assign(&in, acc, rw_combine(w, n, acc, x));
    }
}

/* One word a row. */
static const struct kexpr *
arrivals(struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;
    const struct kexpr *p = lower_counters(
        w->ctx, &w->lk, arena_printf(w->a, "%s_arrivals", w->ctx->prefix),
        sym_max(c, w->m, sym_int(c, 1)));

    return ke_bin(w->a, "+", p, w->row);
}

struct kbuild
rw_split_meet(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in;

    publish(w, b);
    kb_comment(b, "The last block of the row puts the parts together.");
    in = kb_if(b, ke_call(a, "fu_last_block", NULL, 2, arrivals(w),
                          ke_call(a, "fu_grid_x", NULL, 0)));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_live_inner(w, n))
            collect(w, &in, n);
    rw_exchange(w, &in, 0);
    w->split_met = true;
    return in;
}
