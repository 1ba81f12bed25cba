/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_fold: the second kernel, which folds the partial rows of column sums.
 *
 * A block has some columns, each thread a vector of them, and slices of threads
 * share the partial rows out. A thread has all its loads on their way before it
 * adds the first: the kernel is short, and its time is that of one trip to L2
 * after the other. In the end each column of the block has a thread, which adds
 * what the slices have in their order, computes what follows the sums and
 * stores it. With a load of 4 bytes a thread and half of them behind the other
 * half, layer norm backward of 2048 rows of 65536 columns took 8 us longer on
 * an H200. Where columns are few, so are those of a block, down to a line of
 * memory: blocks of 128 columns made 2048 rows of 1024 columns 1 us slower than
 * blocks of 32, since so few multiprocessors read. */
#include "support/base.h"

#include "lower/rowwise_finish.h"

#include "support/arena.h"

enum {
    THREADS = 512,
    WARP = 32,
    LEAST_COLUMNS = 32, /* of a block */
    ENOUGH_BLOCKS = 128,
    ON_THEIR_WAY = 80, /* registers of loads of a thread */
    WORD = 4,
};

static int
load_registers(const struct rw *w, const struct fold *f, node_id n)
{
    return f->vec * (int)dtype_info[rw_acc_dtype(w, n)].bytes / WORD;
}

/* Reductions from FIRST on whose loads a thread has on their way at once: those
 * before *RET_END, so many partial rows of each. */
static int
loads_at_once(const struct rw *w, const struct fold *f, node_id first,
              node_id *ret_end)
{
    int64_t rows = (w->kp->key[PK_GRID_ROWS] + f->slices - 1) / f->slices;
    int registers = 0, n_loads;

    for (*ret_end = first; *ret_end < w->g->n_nodes; ++*ret_end) {
        int more =
            rw_is_folded(w, *ret_end) ? load_registers(w, f, *ret_end) : 0;

        if (registers > 0 && registers + more > ON_THEIR_WAY / 2)
            break;
        registers += more;
    }
    n_loads = registers ? MAX(ON_THEIR_WAY / registers, 1) : 1;
    return (int)MIN(n_loads, MAX(rows, 1));
}

/* The body for the i-th of the partial rows that are loaded at once; sets "p",
 * which it is. */
static struct kbuild
each_row(struct rw *w, struct kbuild *b, const struct fold *f, int n_loads)
{
    struct arena *a = w->a;
    const struct kexpr *rows = lower_sym(w->ctx, &w->lk, w->partials), *p;
    struct kbuild in =
        kb_unroll(b, "i", ke_int(a, 0), ke_int(a, n_loads), ke_int(a, 1));

    p = kb_let(&in, "int", "p",
               ke_bin(a, "+", ke_var(a, "p0"),
                      ke_bin(a, "*", ke_var(a, "i"), ke_int(a, f->slices))));
    return kb_if(&in, ke_bin(a, "<", p, rows));
}

static const struct kexpr *
part_of(struct rw *w, node_id n)
{
    return ke_var(w->a, rw_name(w, "part", n));
}

static void
load_part(struct rw *w, struct kbuild *b, const struct fold *f, node_id n)
{
    struct arena *a = w->a;
    const struct kexpr *at = ke_bin(
        a, "+", ke_bin(a, "*", lower_wide(w->ctx, ke_var(a, "p")), w->nv),
        w->col);

    kb_assign(b, ke_elem(a, part_of(w, n), ke_var(a, "i")),
              ke_call(a, "fu_vload", arena_printf(a, "%d", f->vec), 2,
                      rw_partials(w, n, false), at));
}

/* A loaded part joins the sums of the thread. */
static void
add_part(struct rw *w, struct kbuild *b, const struct fold *f, node_id n,
         const struct kexpr *sum)
{
    struct arena *a = w->a;
    struct kbuild in = *b;
    const struct kexpr *e = rw_share_loop(w, &in, f), *x;

    x = ke_call(a, "fu_get", NULL, 2, ke_elem(a, part_of(w, n), ke_var(a, "i")),
                e);
    rw_add_to_share(w, &in, f, &(struct part){n, sum, e, x});
}

/* This thread's share of the partial rows of reductions FIRST to END - 1. */
static void
fold_shares(struct rw *w, struct kbuild *b, const struct fold *f, node_id first,
            node_id end, int n_loads)
{
    struct arena *a = w->a;
    const struct kexpr **sum = NEW_ARRAY(a, const struct kexpr *, end);
    struct kbuild in, loop, row;

    for (node_id n = first; n < end; n++)
        if (rw_is_folded(w, n))
            rw_declare_share(w, b, f, n);
    in = kb_if(b, ke_bin(a, "<", w->col, f->end));
    for (node_id n = first; n < end; n++)
        if (rw_is_folded(w, n) && rw_is_float_sum(w, n))
            sum[n] = rw_sum_open(w, &in, n, f->vec);
    loop = kb_for(&in, "int", "p0", ke_var(a, "slice"),
                  lower_sym(w->ctx, &w->lk, w->partials),
                  ke_int(a, (int64_t)f->slices * n_loads));
    for (node_id n = first; n < end; n++)
        if (rw_is_folded(w, n))
            kb_array(&loop,
                     arena_printf(a, "fu_vec<%s, %d>",
                                  dtype_info[rw_acc_dtype(w, n)].mem, f->vec),
                     rw_name(w, "part", n), n_loads, NULL);
    row = each_row(w, &loop, f, n_loads);
    for (node_id n = first; n < end; n++)
        if (rw_is_folded(w, n))
            load_part(w, &row, f, n);
    row = each_row(w, &loop, f, n_loads);
    for (node_id n = first; n < end; n++)
        if (rw_is_folded(w, n))
            add_part(w, &row, f, n, sum[n]);
    for (node_id n = first; n < end; n++)
        rw_close_share(w, &in, f, n, sum[n]);
}

/* Thread k of the block adds up column k, in the order of the slices. */
static void
fold_column(struct rw *w, struct kbuild *b, const struct fold *f, node_id n,
            bool used)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    const char *reg = dtype_info[t].reg;
    int64_t size = dtype_info[t].bytes, width = (int64_t)f->across * f->vec;
    const struct kexpr *e, *acc, *at;
    struct kbuild in = *b;

    if (used)
        kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    e = rw_share_loop(w, &in, f);
    at = ke_bin(a, "+", ke_bin(a, "*", ke_var(a, "x"), ke_int(a, f->vec)), e);
    at = ke_bin(a, "+", ke_bin(a, "*", ke_var(a, "slice"), ke_int(a, width)),
                at);
    kb_eval(&in,
            ke_call(a, "fu_sstore", reg, 2, ke_bin(a, "*", at, ke_int(a, size)),
                    rw_share_element(w, f, n, e)));
    kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    acc = kb_var(b, reg, rw_name(w, "t", n), rw_identity(w, n));
    in = kb_if(b, ke_bin(a, "<", w->tid, ke_int(a, width)));
    in = kb_unroll(&in, "q", ke_int(a, 0), ke_int(a, f->slices), ke_int(a, 1));
    at = ke_bin(a, "+", ke_bin(a, "*", ke_var(a, "q"), ke_int(a, width)),
                w->tid);
    kb_assign(&in, acc,
              rw_combine(w, n, acc,
                         ke_call(a, "fu_sload", reg, 1,
                                 ke_bin(a, "*", at, ke_int(a, size)))));
    w->node[n].acc = acc;
}

/* The columns of a block of a second kernel. */
static void
fold_block(struct rw *w, struct kbuild *b, const struct fold *f)
{
    struct arena *a = w->a;
    const struct fold own = {.vec = 1};
    const struct kexpr *width = ke_int(a, (int64_t)f->across * f->vec), *c0;
    struct kbuild in;
    bool used = false;

    c0 = kb_let(b, "fu_i64", "c0",
                ke_bin(a, "*",
                       lower_wide(w->ctx, ke_call(a, "fu_bid_x", NULL, 0)),
                       width));
    w->col = kb_let(
        b, "fu_i64", "c",
        ke_bin(a, "+", c0, ke_bin(a, "*", ke_var(a, "x"), ke_int(a, f->vec))));
    if (w->lk.launch.pdl)
        kb_eval(b, ke_call(a, "fu_pdl_wait", NULL, 0));
    for (node_id first = 0, end; first < w->g->n_nodes; first = end) {
        int n_loads = loads_at_once(w, f, first, &end);

        fold_shares(w, b, f, first, end, n_loads);
        for (node_id n = first; n < end; n++) {
            if (!rw_is_folded(w, n))
                continue;
            fold_column(w, b, f, n, used);
            used = true;
        }
    }
    w->col = kb_let(b, "fu_i64", "k", ke_bin(a, "+", c0, w->tid));
    in = kb_if(b, rw_and(w, ke_bin(a, "<", w->tid, width),
                         ke_bin(a, "<", w->col, f->end)));
    rw_finish_share(w, &in, &own);
}

/* A vector of columns for each lane, or fewer where they leave enough blocks.
 */
static struct fold
fold_outside(const struct rw *w)
{
    int64_t n = w->kp->key[PK_BOUND], columns;
    struct fold f = {.vec = rw_widest_load(w)};

    (void)sym_is_int(w->n, &n);
    columns = (int64_t)WARP * f.vec;
    while (columns > LEAST_COLUMNS && n / columns < ENOUGH_BLOCKS)
        columns /= 2;
    f.across = (int)columns / f.vec;
    f.slices = THREADS / f.across;
    return f;
}

void
rw_finish_kernel(struct rw *w, struct lowered_variant *out)
{
    struct sym_ctx *c = w->ctx->syms;
    struct fold f = fold_outside(w);
    int64_t width = (int64_t)f.across * f.vec, size = 0;
    struct kbuild b;

    w->lk = lower_kernel_begin(w->ctx, out, w->kp, THREADS,
                               "Finish: fold the partial rows.");
    w->nv = f.end = lower_sym(w->ctx, &w->lk, w->n);
    rw_start_finish(w);
    w->lk.launch.pdl =
        w->kp->key[PK_FINISH] == FINISH_PDL_KERNEL && rw_outer_count(w) > 0;
    b = (struct kbuild){w->a, &w->lk.kernel->body};
    w->tid = kb_let(&b, "int", "tid", ke_call(w->a, "fu_tid", NULL, 0));
    rw_declare_place(w, &b, &f);
    fold_block(w, &b, &f);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_is_folded(w, n))
            size = MAX(size, (int64_t)dtype_info[rw_acc_dtype(w, n)].bytes);
    lower_set_grid(w->ctx, &w->lk, sym_ceil_div(c, w->n, sym_int(c, width)),
                   sym_int(c, 1));
    w->lk.launch.smem = arena_printf(w->a, "%" PRId64, width * f.slices * size);
    w->lk.kernel->uses_smem = true;
    lower_kernel_end(w->ctx, &w->lk, out);
}
