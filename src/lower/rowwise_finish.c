/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_finish: what becomes of the partial rows of column sums.
 *
 * Some threads stand beside each other, each with a vector of columns; slices
 * of them share the partial rows out between them, and one slice adds the
 * results of all in order. The same threads then compute whatever follows the
 * sums (a division, a cast, other operands along the columns) and store it.
 * The order of the additions is fixed by the plan, whoever comes first. The
 * plan also says who does it:
 *
 *     kernel, pdl_kernel   a second kernel (rowwise_fold.c)
 *     grid                 all blocks of the row kernel, each its share of the
 *                          columns, behind a barrier of the whole grid
 *     last_block           the last block to come, or of each tile of columns
 *     none                 nobody: each thread has seen all rows of its columns
 */

#include "support/base.h"

#include "lower/rowwise_finish.h"

#include "support/arena.h"

enum { WARP = 32, LOAD_BYTES = 16 };

bool
rw_is_folded(const struct rw *w, node_id n)
{
    return w->f->node[n].live && rw_is_outer(w, n);
}

/* Element e of what this thread has of reduction n. */
const struct kexpr *
rw_share_element(const struct rw *w, const struct fold *f, node_id n,
                 const struct kexpr *e)
{
    return f->vec > 1 ? ke_elem(w->a, w->node[n].acc, e) : w->node[n].acc;
}

const struct kexpr *
rw_share_loop(struct rw *w, struct kbuild *b, const struct fold *f)
{
    if (f->vec == 1)
        return ke_int(w->a, 0);
    *b = kb_unroll(b, "e", ke_int(w->a, 0), ke_int(w->a, f->vec),
                   ke_int(w->a, 1));
    return ke_var(w->a, "e");
}

void
rw_add_to_share(struct rw *w, struct kbuild *b, const struct fold *f,
                const struct part *part)
{
    const struct kexpr *sum = part->sum, *e = part->e, *share;

    if (sum) {
        rw_sum_add(w, b, f->vec > 1 ? ke_elem(w->a, sum, e) : sum, part->x);
        return;
    }
    share = rw_share_element(w, f, part->n, e);
    kb_assign(b, share, rw_combine(w, part->n, share, part->x));
}

void
rw_close_share(struct rw *w, const struct kbuild *b, const struct fold *f,
               node_id n, const struct kexpr *sum)
{
    struct kbuild in = *b;
    const struct kexpr *e;

    if (!sum)
        return;
    e = rw_share_loop(w, &in, f);
    kb_assign(&in, rw_share_element(w, f, n, e),
              rw_sum_value(w, f->vec > 1 ? ke_elem(w->a, sum, e) : sum));
}

/* One partial row's columns join the running sums of the thread. */
static void
add_partial_row(struct rw *w, struct kbuild *b, const struct fold *f, node_id n,
                const struct kexpr *pointer, const struct kexpr *sum)
{
    struct arena *a = w->a;
    const struct kexpr *at, *x, *e;
    struct kbuild in = *b;

    at = ke_bin(a, "+",
                ke_bin(a, "*", lower_wide(w->ctx, ke_var(a, "p")), w->nv),
                w->col);
    if (f->vec == 1) {
        x = ke_call(a, "fu_load", NULL, 2, pointer, at);
    } else {
        const char *t = dtype_info[rw_acc_dtype(w, n)].mem;

        x = kb_let(b, arena_printf(a, "fu_vec<%s, %d>", t, f->vec), "part",
                   ke_call(a, "fu_vload", arena_printf(a, "%d", f->vec), 2,
                           pointer, at));
    }
    e = rw_share_loop(w, &in, f);
    if (f->vec > 1)
        x = ke_call(a, "fu_get", NULL, 2, x, e);
    rw_add_to_share(w, &in, f, &(struct part){n, sum, e, x});
}

/* The sums of the thread of reduction n. */
void
rw_declare_share(struct rw *w, struct kbuild *b, const struct fold *f,
                 node_id n)
{
    const char *reg = dtype_info[rw_acc_dtype(w, n)].reg;

    w->node[n].acc =
        f->vec > 1
            ? kb_array(b, reg, rw_name(w, "r", n), f->vec, rw_identity(w, n))
            : kb_var(b, reg, rw_name(w, "r", n), rw_identity(w, n));
}

/* This thread's share of the partial rows of reduction n. */
static void
fold_share(struct rw *w, struct kbuild *b, const struct fold *f, node_id n)
{
    struct arena *a = w->a;
    const struct kexpr *rows = lower_sym(w->ctx, &w->lk, w->partials), *p;
    const struct kexpr *sum = NULL;
    struct kbuild in, loop;

    p = rw_partials(w, n, false);
    rw_declare_share(w, b, f, n);
    in = kb_if(b, ke_bin(a, "<", w->col, f->end));
    if (rw_is_float_sum(w, n))
        sum = rw_sum_open(w, &in, n, f->vec);
    loop =
        kb_for(&in, "int", "p", ke_var(a, "slice"), rows, ke_int(a, f->slices));
    add_partial_row(w, &loop, f, n, p, sum);
    rw_close_share(w, &in, f, n, sum);
}

/* Of column e of this thread in a slice, in the scratch of the fold. */
static const struct kexpr *
share_address(const struct rw *w, const struct fold *f,
              const struct kexpr *slice, const struct kexpr *e, int64_t size)
{
    struct arena *a = w->a;
    const struct kexpr *row =
        ke_bin(a, "+", ke_bin(a, "*", slice, ke_int(a, f->vec)), e);

    return ke_bin(a, "*",
                  ke_bin(a, "+", ke_bin(a, "*", row, ke_int(a, f->across)),
                         ke_var(a, "x")),
                  ke_int(a, size));
}

/* Adds the shares in the order of the slices. The first barrier is for those
 * who still read what the scratch held before. */
static void
fold_slices(struct rw *w, struct kbuild *b, const struct fold *f, node_id n,
            bool used)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    const char *reg = dtype_info[t].reg;
    int64_t size = dtype_info[t].bytes;
    const struct kexpr *e, *acc;
    struct kbuild in;

    if (used)
        kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    in = *b;
    e = rw_share_loop(w, &in, f);
    kb_eval(&in, ke_call(a, "fu_sstore", reg, 2,
                         share_address(w, f, ke_var(a, "slice"), e, size),
                         rw_share_element(w, f, n, e)));
    kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    in = kb_if(b, ke_bin(a, "==", ke_var(a, "slice"), ke_int(a, 0)));
    in = kb_unroll(&in, "q", ke_int(a, 1), ke_int(a, f->slices), ke_int(a, 1));
    e = rw_share_loop(w, &in, f);
    acc = rw_share_element(w, f, n, e);
    kb_assign(
        &in, acc,
        rw_combine(w, n, acc,
                   ke_call(a, "fu_sload", reg, 1,
                           share_address(w, f, ke_var(a, "q"), e, size))));
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
        if (rw_is_folded(w, n))
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
store_results(struct rw *w, struct kbuild *b)
{
    emit_values(w, b);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (!w->result[i].in_row_kernel)
            store_finished(w, b, i);
}

/* What follows the sums, for each column of the thread. */
void
rw_finish_share(struct rw *w, struct kbuild *b, const struct fold *f)
{
    const struct kexpr *e, *first = w->col;
    struct kbuild in = *b;

    e = rw_share_loop(w, &in, f);
    if (f->vec > 1)
        w->col = kb_let(&in, "fu_i64", "k", ke_bin(w->a, "+", first, e));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_is_folded(w, n))
            w->node[n].row = w->node[n].elem = rw_share_element(w, f, n, e);
    store_results(w, &in);
}

/* The stretch of columns that begins at FIRST. */
static void
fold_stretch(struct rw *w, struct kbuild *b, const struct fold *f,
             const struct kexpr *first)
{
    struct arena *a = w->a;
    const struct kexpr *cond;
    bool used = f->again;
    struct kbuild in;

    w->col = kb_let(b, "fu_i64", "c",
                    ke_bin(a, "+", first,
                           ke_bin(a, "*", ke_var(a, "x"), ke_int(a, f->vec))));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_is_folded(w, n))
            fold_share(w, b, f, n);
    for (node_id n = 0; n < w->g->n_nodes && f->slices > 1; n++) {
        if (!rw_is_folded(w, n))
            continue;
        fold_slices(w, b, f, n, used);
        used = true;
    }
    cond = ke_bin(a, "<", w->col, f->end);
    if (f->slices > 1)
        cond =
            rw_and(w, ke_bin(a, "==", ke_var(a, "slice"), ke_int(a, 0)), cond);
    in = kb_if(b, cond);
    rw_finish_share(w, &in, f);
}

/* The place of a thread in the fold. */
void
rw_declare_place(struct rw *w, struct kbuild *b, const struct fold *f)
{
    struct arena *a = w->a;
    const struct kexpr *across = ke_int(a, f->across);

    kb_let(b, "int", "x",
           f->slices > 1 ? ke_bin(a, "%", w->tid, across) : w->tid);
    kb_let(b, "int", "slice",
           f->slices > 1 ? ke_bin(a, "/", w->tid, across) : ke_int(a, 0));
}

void
rw_start_finish(struct rw *w)
{
    w->mine = NULL;
    w->steps = 1;
    w->vec = 1;
    w->e = NULL;
    w->active = NULL;
    memset(w->axis, 0, sizeof(w->axis));
    mark_finish(w);
}

/* --- behind the row kernel, in it ----------------------------------------- */

bool
rw_finishes_inside(const struct rw *w)
{
    int64_t finish = w->kp->key[PK_FINISH];

    return rw_outer_count(w) > 0 &&
           (finish == FINISH_GRID || finish == FINISH_LAST_BLOCK);
}

/* Columns of one 16-byte load of every partial row. */
int
rw_widest_load(const struct rw *w)
{
    int vec = w->vec;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_is_folded(w, n))
            vec = MIN(vec,
                      LOAD_BYTES / (int)dtype_info[rw_acc_dtype(w, n)].bytes);
    return vec;
}

/* Columns that one block folds, as far as the plan says. */
static int64_t
columns_to_fold(const struct rw *w)
{
    int64_t n = w->kp->key[PK_BOUND], tile = (int64_t)w->tpr * w->vec * w->vpt;

    if (!sym_is_int(w->n, &n) && n == 0)
        n = tile;
    if (w->kp->key[PK_FINISH] == FINISH_LAST_BLOCK)
        return w->tiles ? tile : n;
    if (w->tiles)
        n = tile;
    return MAX((n - 1) / w->kp->key[PK_GRID_ROWS], 0) + 1;
}

/* Whether a block may have to fold a second stretch of columns. */
static bool
folds_again(const struct rw *w, const struct fold *f)
{
    int64_t width = (int64_t)f->across * f->vec, n = w->kp->key[PK_BOUND];
    bool is_last = w->kp->key[PK_FINISH] == FINISH_LAST_BLOCK;

    if (w->tiles)
        return !is_last || (int64_t)w->tpr * w->vec * w->vpt > width;
    if (!sym_is_int(w->n, &n) && n == 0)
        return true;
    return n > width * (is_last ? 1 : w->kp->key[PK_GRID_ROWS]);
}

/* As many slices as would otherwise be threads without a column, while each
 * has two partial rows; then vectors no wider than leave all threads busy. */
static struct fold
fold_inside(const struct rw *w)
{
    struct fold f = {.slices = 1, .vec = rw_widest_load(w)};
    int64_t columns = columns_to_fold(w), rows = w->kp->key[PK_GRID_ROWS];
    int warps = w->threads / WARP;

    for (int s = 2; s <= warps && 2 * s <= rows; s++)
        if (warps % s == 0 && (int64_t)w->threads / s * f.vec >= columns)
            f.slices = s;
    f.across = w->threads / f.slices;
    while (f.vec > 1 && (int64_t)f.across * f.vec / 2 >= columns)
        f.vec /= 2;
    f.again = folds_again(w, &f);
    return f;
}

/* 32-bit words that stand at 0 between launches: one, or one a tile. */
static const struct kexpr *
counters(struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;
    const struct sym *words = sym_int(c, 1), *tile;
    const struct kexpr *p;
    bool each = w->tiles && w->kp->key[PK_FINISH] == FINISH_LAST_BLOCK;

    if (each) {
        tile = sym_int(c, (int64_t)w->tpr * w->vec * w->vpt);
        words = sym_max(c, sym_ceil_div(c, w->n, tile), words);
    }
    p = lower_counters(w->ctx, &w->lk,
                       arena_printf(w->a, "%s_arrivals", w->ctx->prefix),
                       words);
    if (!each)
        return p;
    return ke_bin(w->a, "+", p, ke_call(w->a, "fu_bid_x", NULL, 0));
}

/* The last block folds all columns, or those of its tile. */
static void
finish_by_last(struct rw *w, struct kbuild *b, const struct kexpr *word,
               struct fold *f)
{
    struct arena *a = w->a;
    int64_t tile = (int64_t)w->tpr * w->vec * w->vpt;
    const struct kexpr *first = ke_int(a, 0), *last;
    struct kbuild in;

    last = ke_call(a, "fu_last_block", NULL, 2, word,
                   ke_call(a, w->tiles ? "fu_grid_y" : "fu_grid_x", NULL, 0));
    kb_comment(b, "The last block folds the partial rows.");
    in = kb_if(b, last);
    rw_declare_place(w, &in, f);
    f->end = w->nv;
    if (w->tiles) {
        first = w->first;
        f->end = kb_let(&in, "fu_i64", "end",
                        ke_call(a, "fu_min_i64", NULL, 2, w->nv,
                                ke_bin(a, "+", first, ke_int(a, tile))));
    }
    rw_start_finish(w);
    in = kb_roll(&in, "fu_i64", "c0", first, f->end,
                 ke_int(a, (int64_t)f->across * f->vec));
    fold_stretch(w, &in, f, ke_var(a, "c0"));
}

static const struct kexpr *
grid_extent(struct rw *w, const char *name)
{
    return lower_wide(w->ctx, ke_call(w->a, name, NULL, 0));
}

/* Every block folds stretches of columns, when all have come. */
static void
finish_by_grid(struct rw *w, struct kbuild *b, const struct kexpr *word,
               struct fold *f)
{
    struct arena *a = w->a;
    const struct kexpr *width = ke_int(a, (int64_t)f->across * f->vec), *came;
    const struct kexpr *bid = grid_extent(w, "fu_bid_x");
    const struct kexpr *blocks = grid_extent(w, "fu_grid_x");
    struct kbuild in;

    if (w->tiles) {
        bid = ke_bin(a, "+", ke_bin(a, "*", grid_extent(w, "fu_bid_y"), blocks),
                     bid);
        blocks = ke_bin(a, "*", blocks, grid_extent(w, "fu_grid_y"));
    }
    kb_comment(b, "All blocks fold the partial rows when all are there.");
    came = kb_let(b, "fu_u32", "came",
                  ke_call(a, "fu_grid_arrive", NULL, 1, word));
    rw_declare_place(w, b, f);
    f->end = w->nv;
    kb_eval(b, ke_call(a, "fu_grid_wait", NULL, 2, word, came));
    kb_eval(b, ke_call(a, "fu_grid_leave", NULL, 1, word));
    rw_start_finish(w);
    in = kb_roll(b, "fu_i64", "c0", ke_bin(a, "*", bid, width), f->end,
                 ke_bin(a, "*", blocks, width));
    fold_stretch(w, &in, f, ke_var(a, "c0"));
}

void
rw_finish_inside(struct rw *w, struct kbuild *b)
{
    struct rw saved = *w;
    struct fold f = fold_inside(w);
    const struct kexpr *word = counters(w);

    if (w->kp->key[PK_FINISH] == FINISH_GRID)
        finish_by_grid(w, b, word, &f);
    else
        finish_by_last(w, b, word, &f);
    w->lk.launch.cooperative = w->kp->key[PK_FINISH] == FINISH_GRID;
    saved.lk = w->lk;
    *w = saved;
}

int64_t
rw_fold_bytes(const struct rw *w)
{
    struct fold f;
    int64_t bytes = 0;

    if (!rw_finishes_inside(w))
        return 0;
    f = fold_inside(w);
    for (node_id n = 0; n < w->g->n_nodes && f.slices > 1; n++)
        if (rw_is_folded(w, n))
            bytes =
                MAX(bytes, (int64_t)w->threads * f.vec *
                               (int64_t)dtype_info[rw_acc_dtype(w, n)].bytes);
    return bytes;
}

/* --- no partial rows ------------------------------------------------------ */

/* At element e of vector v of this thread; scalar code from here on. */
static void
finish_column(struct rw *w, struct kbuild *b, const struct kexpr *element)
{
    struct kbuild in = *b;

    w->col = kb_let(&in, "fu_i64", "k", element);
    w->mine = NULL;
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *at = w->v;

        if (!rw_is_folded(w, n))
            continue;
        if (w->e)
            at = ke_bin(w->a, "+",
                        ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec)), w->e);
        w->node[n].row = w->node[n].elem =
            rw_is_shared_sum(w, n) ? rw_sums_element(w, &in, n)
                                   : ke_elem(w->a, w->node[n].acc, at);
    }
    w->e = NULL;
    store_results(w, &in);
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
