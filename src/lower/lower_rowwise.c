/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rowwise: the frame of a row kernel: who handles which row, the loop
 * over rows, the order of loads, phases and the end of the block. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { WARP = 32 };
static const int64_t GRID_MAX = INT32_MAX; /* blocks along x */

/* --- set-up --------------------------------------------------------------- */

static const struct sym *
row_count(const struct rw *w)
{
    const struct sym *m = sym_int(w->ctx->syms, 1);

    for (int i = 0; i < w->f->n_axes; i++)
        if (i != w->f->column)
            m = sym_mul(w->ctx->syms, m, w->f->axes[i].extent);
    return m;
}

static bool
is_exact(const struct rw *w)
{
    int64_t n;

    return !w->looped && !w->tiles && sym_is_int(w->n, &n) &&
           n == (int64_t)w->cluster * w->tpr * w->vec * w->vpt;
}

static void
read_plan(struct rw *w, const struct kernel_plan *kp)
{
    const int64_t *k = kp->key;

    w->kp = kp;
    w->threads = (int)k[PK_THREADS];
    w->tpr = (int)k[PK_THREADS_PER_ROW];
    w->groups = w->threads / w->tpr;
    w->vec = (int)k[PK_VECTOR];
    w->vpt = (int)k[PK_VECTORS_PER_THREAD];
    w->steps = (int)MAX(k[PK_ROWS_PER_STEP], 1);
    w->cluster = (int)MAX(k[PK_CLUSTER], 1);
    w->looped = k[PK_LOOPED] != 0;
    w->persistent = k[PK_PERSISTENT] != 0;
    w->tiles = k[PK_COLUMN_TILES] != 0 && !w->looped;
    w->split = k[PK_COLUMN_TILES] != 0 && w->looped;
    w->prefetch = k[PK_PREFETCH] != 0 && w->persistent && w->steps == 1;
    w->n = w->f->column == NO_AXIS ? sym_int(w->ctx->syms, 1)
                                   : w->f->axes[w->f->column].extent;
    w->m = row_count(w);
    w->exact = is_exact(w);
    w->wide_columns = w->looped || w->tiles || rw_counts_own(w);
}

static bool
has_unit_column_stride(const struct rw *w, node_id n)
{
    const struct access *acc = &w->f->accesses[w->f->node[n].access];
    int64_t s;

    return acc->stride[w->f->column] &&
           sym_is_int(acc->stride[w->f->column], &s) && s == 1;
}

/* Which phase computes a kept value: the first that can. */
static void
read_buffers(struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        w->node[n].kept_from = -1;
        w->node[n].store = STORE_NONE;
    }
    for (uint32_t i = 0; i < w->kp->n_buffers; i++) {
        const struct buffer_plan *bp = &w->kp->buffers[i];
        struct rw_node *r = &w->node[bp->node];

        r->store = (enum store)bp->key[BK_STORE];
        r->over_rows = bp->key[BK_REUSE] == 2;
        if (w->looped || !rw_has_column(w, bp->node))
            r->store = STORE_NONE;
        if (r->store == STORE_NONE || r->store == STORE_RELOAD)
            continue;
        if (w->f->node[bp->node].is_leaf) {
            r->over_rows = r->over_rows && w->persistent;
            if (!has_unit_column_stride(w, bp->node))
                r->store = STORE_RELOAD;
            else if (r->store != STORE_RING && r->store != STORE_SHARED &&
                     !(r->store == STORE_REGISTER_F32 && r->over_rows))
                r->store = STORE_REGISTER_PACKED;
        } else if (!rw_is_inner(w, bp->node) && !rw_is_outer(w, bp->node)) {
            r->kept_from = w->f->node[bp->node].level;
        }
    }
}

/* What the finish kernel writes: results of column sums, and results that
 * depend on no row at all while there are rows. */
static bool
belongs_to_finish(const struct rw *w, uint32_t i)
{
    node_id v = facts_value(w->f, w->g->results[i].node);
    const struct node_facts *nf = &w->f->node[v];

    if (nf->after_outer)
        return true;
    return w->f->rows != 0 && nf->level == 0 && !(nf->axes & w->f->rows) &&
           !(w->f->stores[i].axes & w->f->rows);
}

static void
place_results(struct rw *w)
{
    for (uint32_t i = 0; i < w->g->n_results; i++) {
        node_id v = facts_value(w->f, w->g->results[i].node);

        w->result[i].in_row_kernel = !belongs_to_finish(w, i);
        w->result[i].phase = w->f->node[v].level;
    }
}

static int
count_exchanges(const struct rw *w)
{
    int k = 0;

    for (int p = 0; p < w->f->levels; p++) {
        bool any = false;

        for (node_id n = 0; n < w->g->n_nodes; n++)
            any |= w->f->node[n].live && rw_is_inner(w, n) &&
                   rw_phase_of(w, n) == p;
        k += any;
    }
    return k * w->steps;
}

/* --- the frame ------------------------------------------------------------ */

static const struct kexpr *
call0(const struct rw *w, const char *name)
{
    return ke_call(w->a, name, NULL, 0);
}

static void
declare_threads(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;

    w->tid = kb_let(b, "int", "tid", call0(w, "fu_tid"));
    w->t = w->tid;
    w->group = ke_int(a, 0);
    if (w->groups > 1) {
        w->t = kb_let(b, "int", "t", ke_bin(a, "%", w->tid, ke_int(a, w->tpr)));
        w->group = kb_let(b, "int", "group",
                          ke_bin(a, "/", w->tid, ke_int(a, w->tpr)));
    }
    if ((w->tpr > WARP || w->cluster > 1) && w->f->levels > 0) {
        kb_let(b, "int", "lane", ke_bin(a, "%", w->t, ke_int(a, WARP)));
        kb_let(b, "int", "warp", ke_bin(a, "/", w->t, ke_int(a, WARP)));
    }
}

/* Rows the whole block handles in one step of the loop. */
static int64_t
rows_per_block_step(const struct rw *w)
{
    return (int64_t)w->groups * w->steps;
}

/* Tiles of columns, or blocks that share a row, are along the grid's first
 * extent, which has no limit that matters; the rows of such a grid are at most
 * 65535. */
const struct kexpr *
rw_block_row(const struct rw *w)
{
    const char *name = w->cluster > 1         ? "fu_cluster_x"
                       : w->tiles || w->split ? "fu_bid_y"
                                              : "fu_bid_x";

    return lower_wide(w->ctx, call0(w, name));
}

static const struct sym *
row_steps(const struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;

    return sym_ceil_div(c, w->m, sym_int(c, rows_per_block_step(w)));
}

/* Blocks along the rows, each with a partial row of sums. Over tiles of columns
 * no more than have rows: the columns may be so many that their partial rows
 * are what fills the memory. */
static const struct sym *
grid_rows(const struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;
    const struct sym *rows = sym_int(c, w->kp->key[PK_GRID_ROWS]);

    if (!w->tiles)
        return rows;
    return sym_min(c, rows, sym_max(c, row_steps(w), sym_int(c, 1)));
}

/* Blocks, or clusters of blocks, along the grid's first extent. */
static int64_t
grid_most(const struct rw *w)
{
    return GRID_MAX / w->cluster;
}

/* True when one block a step may be more than a grid's first extent takes: then
 * the second goes on. */
static bool
is_folded(const struct rw *w)
{
    int64_t most;

    return !w->persistent && !w->tiles && !w->split &&
           !(sym_upper_bound(w->ctx->syms, row_steps(w), &most) &&
             most <= grid_most(w));
}

static const struct kexpr *
first_row(const struct rw *w)
{
    const struct kexpr *bid = rw_block_row(w);

    if (is_folded(w))
        bid = ke_bin(w->a, "+", bid,
                     ke_bin(w->a, "*", lower_wide(w->ctx, call0(w, "fu_bid_y")),
                            ke_int(w->a, grid_most(w))));
    if (rows_per_block_step(w) == 1)
        return bid;
    return ke_bin(w->a, "*", bid, ke_int(w->a, rows_per_block_step(w)));
}

const struct kexpr *
rw_row_stride(const struct rw *w)
{
    const struct kexpr *grid =
        lower_wide(w->ctx, call0(w, w->tiles ? "fu_grid_y" : "fu_grid_x"));

    grid = ke_bin(w->a, "/", grid, ke_int(w->a, w->cluster));
    if (rows_per_block_step(w) == 1)
        return grid;
    return ke_bin(w->a, "*", grid, ke_int(w->a, rows_per_block_step(w)));
}

/* Splits the row number into the row axes, the last one running fastest. */
void
rw_split_row(struct rw *w, struct kbuild *b, const char *suffix)
{
    const struct kexpr *rest = w->row;
    int first = -1;

    for (int i = w->f->n_axes; i-- > 0;)
        if (i != w->f->column)
            first = i;
    for (int i = w->f->n_axes; i-- > 0;) {
        const struct kexpr *extent;

        if (i == w->f->column)
            continue;
        if (i == first) {
            w->axis[i] = rest;
            continue;
        }
        extent = lower_sym(w->ctx, &w->lk, w->f->axes[i].extent);
        w->axis[i] = kb_let(b, "fu_i64", arena_printf(w->a, "i%d%s", i, suffix),
                            ke_bin(w->a, "%", rest, extent));
        rest = kb_let(b, "fu_i64", arena_printf(w->a, "q%d%s", i, suffix),
                      ke_bin(w->a, "/", rest, extent));
    }
}

/* Every group has a row in every step: the rows are known to come in steps. */
static bool
fills_steps(const struct rw *w)
{
    return sym_is_multiple(w->ctx->syms, w->m, rows_per_block_step(w));
}

/* The row of this group in this step; a group without one computes on the last
 * row and stores nothing, so that all threads meet at each barrier. */
static void
declare_row(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    struct arena *a = w->a;
    const char *suffix = w->steps > 1 ? arena_printf(a, "_%d", w->step) : "";
    const struct kexpr *x = row0, *last;

    w->active = NULL;
    if (w->steps > 1 && w->step > 0)
        x = ke_bin(a, "+", x, ke_int(a, (int64_t)w->step * w->groups));
    if (w->groups > 1)
        x = ke_bin(a, "+", x, w->group);
    if (x == row0 || fills_steps(w)) {
        w->row = x == row0
                     ? row0
                     : kb_let(b, "fu_i64", arena_printf(a, "row%s", suffix), x);
        rw_split_row(w, b, suffix);
        return;
    }
    x = kb_let(b, "fu_i64", arena_printf(a, "want%s", suffix), x);
    w->active = kb_let(b, "bool", arena_printf(a, "active%s", suffix),
                       ke_bin(a, "<", x, w->mv));
    last = ke_bin(a, "-", w->mv, ke_int(a, 1));
    w->row = kb_let(b, "fu_i64", arena_printf(a, "row%s", suffix),
                    ke_call(a, "fu_min_i64", NULL, 2, x, last));
    rw_split_row(w, b, suffix);
}

static void
forget_row(struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct rw_node *r = &w->node[n];

        r->row = NULL;
        r->elem = NULL;
        r->offset = NULL;
        if (!r->over_rows)
            r->array = NULL;
    }
}

/* Arrays of computed values that wait between phases. */
static void
declare_kept(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct rw_node *r = &w->node[n];
        const struct dtype_info *t = &dtype_info[graph_node(w->g, n)->dtype];

        if (r->kept_from < 0 || w->f->node[n].is_leaf)
            continue;
        if (r->store == STORE_REGISTER_PACKED)
            r->array = kb_array(
                b, arena_printf(w->a, "fu_vec<%s, %d>", t->mem, w->vec),
                rw_name(w, "k", n), w->vpt, NULL);
        else
            r->array = kb_array(b, t->reg, rw_name(w, "k", n),
                                (int64_t)w->vec * w->vpt, NULL);
    }
}

static void
emit_phases(struct rw *w, struct kbuild *b)
{
    struct kbuild in;

    declare_kept(w, b);
    for (int p = 0; p <= w->f->levels; p++) {
        rw_phase_rows(w, b, p);
        rw_inner_declare(w, b, p);
        rw_phase_columns(w, b, p);
        rw_exchange(w, b, p);
        rw_ring_refill(w, b, p);
        if (w->split && p == 0)
            in = rw_split_meet(w, b), b = &in;
    }
}

/* The next row's loads, in flight while this row is reduced. */
static void
load_ahead(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    struct arena *a = w->a;
    const struct kexpr *next =
        kb_let(b, "fu_i64", "next0", ke_bin(a, "+", row0, rw_row_stride(w)));
    struct kbuild in = kb_if(b, ke_bin(a, "<", next, w->mv));

    kb_comment(&in, "The next row, in flight while this one is reduced.");
    declare_row(w, &in, next);
    rw_row_offsets(w, &in);
    rw_load_row(w, &in, true);
}

static void
emit_row_prefetched(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    rw_take_prefetched(w, b);
    load_ahead(w, b, row0);
    declare_row(w, b, row0);
    rw_row_offsets(w, b);
    emit_phases(w, b);
}

/* Several rows a step: all their loads first, then row by row. */
static void
emit_rows(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    struct rw_node *saved =
        NEW_ARRAY(w->a, struct rw_node, (size_t)w->steps * w->g->n_nodes);
    struct rw_result *stores =
        NEW_ARRAY(w->a, struct rw_result, (size_t)w->steps * w->g->n_results);
    const struct kexpr *row[MAX_STEPS], *active[MAX_STEPS];
    const struct kexpr *axis[MAX_STEPS][MAX_AXES];
    size_t nodes = w->g->n_nodes, results = w->g->n_results;

    assert(w->steps <= MAX_STEPS);
    for (w->step = 0; w->step < w->steps; w->step++) {
        forget_row(w);
        declare_row(w, b, row0);
        rw_row_offsets(w, b);
        rw_load_row(w, b, false);
        memcpy(saved + (size_t)w->step * nodes, w->node,
               nodes * sizeof(*saved));
        memcpy(stores + (size_t)w->step * results, w->result,
               results * sizeof(*stores));
        row[w->step] = w->row;
        active[w->step] = w->active;
        memcpy(axis[w->step], w->axis, sizeof(w->axis));
    }
    for (w->step = 0; w->step < w->steps; w->step++) {
        memcpy(w->node, saved + (size_t)w->step * nodes,
               nodes * sizeof(*saved));
        memcpy(w->result, stores + (size_t)w->step * results,
               results * sizeof(*stores));
        w->row = row[w->step];
        w->active = active[w->step];
        memcpy(w->axis, axis[w->step], sizeof(w->axis));
        emit_phases(w, b);
    }
    w->step = 0;
}

static void
emit_row_of_ring(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    forget_row(w);
    declare_row(w, b, row0);
    rw_row_offsets(w, b);
    rw_ring_take(w, b);
    rw_load_row(w, b, false);
    emit_phases(w, b);
    rw_ring_advance(w, b);
}

static void
emit_step(struct rw *w, struct kbuild *b, const struct kexpr *row0)
{
    w->exchanges = 0;
    w->row0 = row0;
    if (w->ring.stages)
        emit_row_of_ring(w, b, row0);
    else if (w->prefetch)
        emit_row_prefetched(w, b, row0);
    else
        emit_rows(w, b, row0);
}

static void
start_prefetch(struct rw *w, struct kbuild *b)
{
    struct kbuild in;

    rw_declare_prefetch(w, b);
    in = kb_if(b, ke_bin(w->a, "<", first_row(w), w->mv));
    declare_row(w, &in, kb_let(&in, "fu_i64", "start", first_row(w)));
    rw_row_offsets(w, &in);
    rw_load_row(w, &in, true);
    forget_row(w);
}

/* The loop over rows in chunks, each of which is carried to a long sum. */
static void
emit_long_loop(struct rw *w, struct kbuild *b)
{
    struct kbuild chunk, in;

    rw_columns_open(w, b, first_row(w), rw_row_stride(w));
    chunk = rw_columns_chunk(w, b, first_row(w), rw_row_stride(w), &in);
    emit_step(w, &in, ke_var(w->a, "row0"));
    rw_columns_carry(w, &chunk);
    rw_columns_close(w, b);
}

static void
emit_one_step(struct rw *w, struct kbuild *b)
{
    const struct kexpr *row0 = kb_let(b, "fu_i64", "row0", first_row(w));
    struct kbuild in = *b;

    if (is_folded(w) && rows_per_block_step(w) == 1) {
        rw_cluster_join(w, b);
        in = kb_if(b, ke_bin(w->a, "<", row0, w->mv));
    }
    rw_ring_start(w, &in, row0, NULL);
    emit_step(w, &in, row0);
}

static void
emit_row_loop(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in;

    if (!w->persistent) {
        emit_one_step(w, b);
        return;
    }
    if (w->exchanges_total == 1 && w->tpr > WARP && w->cluster == 1)
        w->parity = kb_var(b, "int", "parity", ke_int(a, 0));
    if (w->prefetch)
        start_prefetch(w, b);
    rw_cluster_join(w, b);
    if (rw_columns_are_long(w)) {
        emit_long_loop(w, b);
        return;
    }
    in = kb_roll(b, "fu_i64", "row0", first_row(w), w->mv, rw_row_stride(w));
    emit_step(w, &in, ke_var(a, "row0"));
}

static bool
reads_again(const struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->node[n].store == STORE_RELOAD)
            return true;
    return false;
}

/* Where registers are too short to keep the row, or sums wait in shared memory,
 * a guard around each vector keeps the CUDA compiler from reading all of them
 * ahead, whether there is something behind the row or not. Beside such sums it
 * compares the thread's number with a constant, which takes no registers. */
static void
keep_guards(struct rw *w, struct kbuild *b)
{
    bool sums = rw_sums_bytes(w) > 0;

    if (!w->exact || !w->persistent || !(reads_again(w) || sums))
        return;
    w->exact = false;
    if (!sums)
        rw_hide_columns(w, b);
}

static void
emit_body(struct rw *w, struct kbuild *b)
{
    declare_threads(w, b);
    w->mv = lower_sym(w->ctx, &w->lk, w->m);
    w->nv = lower_sym(w->ctx, &w->lk, w->n);
    rw_declare_columns(w, b);
    keep_guards(w, b);
    rw_cluster_open(w, b);
    if (w->persistent)
        rw_ring_start(w, b, first_row(w), rw_row_stride(w));
    rw_load_invariants(w, b);
    rw_outer_declare(w, b);
    emit_row_loop(w, b);
    if (!rw_outer_count(w))
        return;
    if (w->kp->key[PK_FINISH] == FINISH_NONE) {
        rw_finish_here(w, b);
        return;
    }
    if (w->kp->key[PK_FINISH] == FINISH_PDL_KERNEL)
        kb_eval(b, call0(w, "fu_pdl_launch"));
    rw_outer_flush(w, b);
    if (rw_finishes_inside(w)) {
        rw_cluster_close(w, b);
        rw_finish_inside(w, b);
    }
}

/* Results without columns are the first tile's, also where there are none. */
static bool
has_row_results(const struct rw *w)
{
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (w->result[i].in_row_kernel && rw_is_row_result(w, i))
            return true;
    return false;
}

static void
set_grid(struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;
    const struct sym *rows = row_steps(w), *tiles;
    const struct sym *most = sym_int(c, grid_most(w));
    const struct sym *blocks = sym_int(c, w->cluster);
    int64_t tile = (int64_t)w->tpr * w->vec * w->vpt, smem;

    if (w->persistent && w->kp->key[PK_GRID_ROWS] > 0)
        rows = w->partials;
    tiles = sym_ceil_div(c, w->n, sym_int(c, tile));
    if (has_row_results(w))
        tiles = sym_max(c, tiles, sym_int(c, 1));
    if (w->split)
        tiles = sym_int(c, w->kp->key[PK_GRID_ROWS]);
    if (w->tiles || w->split)
        lower_set_grid(w->ctx, &w->lk, tiles, rows);
    else if (is_folded(w))
        lower_set_grid(w->ctx, &w->lk,
                       sym_mul(c, sym_min(c, rows, most), blocks),
                       sym_ceil_div(c, rows, most));
    else
        lower_set_grid(w->ctx, &w->lk, sym_mul(c, rows, blocks), sym_int(c, 1));
    w->lk.launch.cluster = w->lk.kernel->cluster = w->cluster;
    smem = rw_smem_bytes(w);
    if (rw_shared_bytes(w) || rw_sums_bytes(w))
        smem = rw_sums_base(w) + rw_sums_bytes(w);
    w->lk.launch.smem = arena_printf(w->a, "%" PRId64, smem);
    w->lk.kernel->uses_smem = smem > 0;
}

static bool
needs_finish(const struct rw *w)
{
    if (rw_outer_count(w) && w->kp->key[PK_FINISH] == FINISH_NONE)
        return false;
    if (rw_finishes_inside(w))
        return false;
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (!w->result[i].in_row_kernel)
            return true;
    return false;
}

static bool
needs_row_kernel(const struct rw *w)
{
    if (rw_outer_count(w))
        return true;
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (w->result[i].in_row_kernel)
            return true;
    return false;
}

void
lower_rowwise(struct lower *ctx, const struct kernel_plan *kp,
              struct lowered_variant *out)
{
    struct rw w = {.ctx = ctx, .a = ctx->arena, .f = ctx->facts, .g = ctx->g};
    struct kbuild b;

    w.node = NEW_ARRAY(w.a, struct rw_node, w.g->n_nodes);
    w.result = NEW_ARRAY(w.a, struct rw_result, w.g->n_results);
    read_plan(&w, kp);
    w.partials = grid_rows(&w);
    read_buffers(&w);
    place_results(&w);
    w.exchanges_total = count_exchanges(&w);
    rw_ring_plan(&w);
    if (needs_row_kernel(&w)) {
        w.lk = lower_kernel_begin(ctx, out, kp, w.threads,
                                  "Rows: one group of threads a row.");
        w.lk.kernel->min_blocks = (int)MAX(kp->key[PK_BLOCKS_PER_SM], 1);
        b = (struct kbuild){w.a, &w.lk.kernel->body};
        emit_body(&w, &b);
        set_grid(&w);
        lower_kernel_end(ctx, &w.lk, out);
    }
    if (needs_finish(&w))
        rw_finish_kernel(&w, out);
}
