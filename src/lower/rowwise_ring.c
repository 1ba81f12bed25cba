/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_ring: rows that arrive through shared memory (sched/ring.h).
 *
 * In bulk: one thread of the group starts the copies of a whole row and its
 * values; an mbarrier a slot counts what has come. A leaf that waits in
 * registers is copied out as soon as its slot is full. A slot is free once all
 * threads have passed a barrier behind their last look at it: the exchange of
 * the phase in which that was, or, after a phase without one, a barrier of its
 * own. Then the row `stages` steps ahead is sent for. So there is no barrier
 * that says "empty", and one slot makes a pipeline where the row waits in
 * registers. A group without a row waits for nothing and holds zeros.
 *
 * By pieces: each thread copies what it will read itself, so its own wait is
 * enough and a slot is free when this thread has read it. Values of the row
 * come once a warp, which then meets.
 *
 * Between the mbarriers' waits no thread loads from global memory what a row
 * needs: behind a queue of rows that takes microseconds. */
#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "sched/scheduler.h"
#include "support/arena.h"

enum { WARP = 32 };

static bool
in_slot(const struct rw *w, node_id n)
{
    return w->node[n].in_ring &&
           (w->node[n].store == STORE_RING || w->node[n].store == STORE_SHARED);
}

bool
rw_in_ring(const struct rw *w, node_id n)
{
    return w->ring.stages > 0 && w->f->node[n].is_leaf && w->node[n].in_ring;
}

static const struct access *
access_of(const struct rw *w, node_id n)
{
    return &w->f->accesses[w->f->node[n].access];
}

static int64_t
size_of(const struct rw *w, node_id n)
{
    return dtype_info[graph_node(w->g, n)->dtype].bytes;
}

/* --- the plan ------------------------------------------------------------- */

static int64_t
slots_end(const struct rw *w)
{
    return w->ring_base + w->ring.bytes;
}

/* Behind the slots and what takes their place after the rows. */
static int64_t
barriers_at(const struct rw *w)
{
    int64_t at = MAX(slots_end(w), rw_after_bytes(w));

    return (at + MBARRIER_BYTES - 1) / MBARRIER_BYTES * MBARRIER_BYTES;
}

int64_t
rw_ring_end(const struct rw *w)
{
    return w->ring.pieces ? slots_end(w)
                          : barriers_at(w) + w->ring.barrier_bytes;
}

/* The last phase that looks at a slot; -1 when all is copied out before the
 * first, unless that has an exchange for a barrier. */
static int
last_look(struct rw *w)
{
    int last = w->f->levels > 0 ? 0 : -1;

    for (int phase = 0; phase <= w->f->levels; phase++) {
        rw_mark_phase(w, phase);
        for (node_id n = 0; n < w->g->n_nodes; n++)
            if (w->node[n].need && rw_in_ring(w, n) && in_slot(w, n))
                last = phase;
    }
    return last;
}

void
rw_ring_plan(struct rw *w)
{
    int64_t base = rw_loop_bytes(w);

    ring_of(w->f, w->kp, &w->ring);
    if (!w->ring.stages)
        return;
    w->ring_base = (base + RING_LINE - 1) / RING_LINE * RING_LINE;
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        w->node[n].in_ring =
            ring_carries(w->f, w->kp, n) && !w->node[n].over_rows;
        if (w->node[n].in_ring)
            w->node[n].ring_at = ring_place(w->f, w->kp, n);
    }
    w->ring_last = last_look(w);
}

/* --- addresses ------------------------------------------------------------ */

/* Number of the group's slot `slot` among those of the block. */
static const struct kexpr *
slot_number(const struct rw *w, const struct kexpr *slot)
{
    struct arena *a = w->a;

    return ke_bin(a, "+", ke_bin(a, "*", w->group, ke_int(a, w->ring.stages)),
                  slot);
}

static const struct kexpr *
slot_address(const struct rw *w, const struct kexpr *slot)
{
    return ke_bin(w->a, "+",
                  ke_bin(w->a, "*", slot_number(w, slot),
                         ke_int(w->a, w->ring.slot_bytes)),
                  ke_int(w->a, w->ring_base));
}

static const struct kexpr *
barrier_address(const struct rw *w, const struct kexpr *slot)
{
    return ke_bin(
        w->a, "+",
        ke_bin(w->a, "*", slot_number(w, slot), ke_int(w->a, MBARRIER_BYTES)),
        ke_int(w->a, barriers_at(w)));
}

/* Of the leaf in the slot at `ring`; of a row's value by pieces, this warp's.
 */
static const struct kexpr *
place(const struct rw *w, node_id n, const struct kexpr *ring)
{
    struct arena *a = w->a;
    const struct kexpr *x = ke_bin(a, "+", ring, ke_int(a, w->node[n].ring_at));

    if (rw_has_column(w, n) || !w->ring.pieces || w->tpr <= WARP)
        return x;
    return ke_bin(a, "+", x,
                  ke_bin(a, "*", ke_bin(a, "/", w->t, ke_int(a, WARP)),
                         ke_int(a, size_of(w, n))));
}

static const struct kexpr *
column_place(const struct rw *w, node_id n, const struct kexpr *ring)
{
    return ke_bin(w->a, "+", place(w, n, ring),
                  ke_bin(w->a, "*", rw_own_column(w, w->col),
                         ke_int(w->a, size_of(w, n))));
}

const struct kexpr *
rw_ring_vector(const struct rw *w, node_id n)
{
    const char *t = dtype_info[graph_node(w->g, n)->dtype].mem;

    return ke_call(w->a, "fu_vsload", arena_printf(w->a, "%s, %d", t, w->vec),
                   1, column_place(w, n, w->row_slot));
}

/* --- filling -------------------------------------------------------------- */

static const struct kexpr *
source(struct rw *w, node_id n, const struct kexpr *column)
{
    const struct kexpr *at = rw_offset(w, NULL, access_of(w, n), NULL);

    if (column)
        at = ke_bin(w->a, "+", at, column);
    return ke_bin(w->a, "+",
                  lower_param_pointer(w->ctx, &w->lk, access_of(w, n)), at);
}

static void
copy_scalars(struct rw *w, struct kbuild *b, const struct kexpr *ring)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_in_ring(w, n) && !rw_has_column(w, n))
            kb_eval(b, ke_call(w->a, "fu_copy_async",
                               arena_printf(w->a, "%" PRId64, size_of(w, n)), 2,
                               place(w, n, ring), source(w, n, NULL)));
}

/* Columns of the row that are this block's; of a cluster's last blocks maybe
 * none. */
static const struct kexpr *
own_columns(const struct rw *w)
{
    const struct kexpr *n;

    if (!w->first)
        return w->nv;
    if (w->exact)
        return ke_int(w->a, (int64_t)w->tpr * w->vec * w->vpt);
    if (w->mine)
        return w->mine;
    n = lower_wide(w->ctx, rw_own_column(w, w->end));
    return ke_call(w->a, "fu_max_i64", NULL, 2, n, ke_int(w->a, 0));
}

static const struct kexpr *
row_bytes(const struct rw *w, node_id n)
{
    return ke_bin(w->a, "*", own_columns(w), ke_int(w->a, size_of(w, n)));
}

static const struct kexpr *
as_int(const struct rw *w, const struct kexpr *x)
{
    return x->kind == KE_INT ? x : ke_call(w->a, "fu_i32", NULL, 1, x);
}

static void
copy_in_bulk(struct rw *w, struct kbuild *b, const struct kexpr *ring,
             const struct kexpr *bar)
{
    const struct kexpr *all = ke_int(w->a, 0);
    struct kbuild in = *b;
    int64_t least;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_in_ring(w, n) && rw_has_column(w, n))
            all = ke_bin(w->a, "+", all, row_bytes(w, n));
    kb_eval(b,
            ke_call(w->a, "fu_mbarrier_expect", NULL, 2, bar, as_int(w, all)));
    if ((w->first && !w->exact) ||
        !sym_lower_bound(w->ctx->syms, w->n, &least) || least < 1)
        in = kb_if(b, ke_bin(w->a, ">", own_columns(w), ke_int(w->a, 0)));
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_in_ring(w, n) && rw_has_column(w, n))
            kb_eval(&in, ke_call(w->a, "fu_bulk_load", NULL, 4,
                                 place(w, n, ring), source(w, n, w->first),
                                 as_int(w, row_bytes(w, n)), bar));
    copy_scalars(w, b, ring);
    if (w->ring.has_scalars)
        kb_eval(b, ke_call(w->a, "fu_mbarrier_arrive_copies", NULL, 1, bar));
}

static const struct kexpr *
is_first(const struct rw *w, int of)
{
    const struct kexpr *t = w->t;

    if (of < w->tpr)
        t = ke_bin(w->a, "%", t, ke_int(w->a, of));
    return ke_bin(w->a, "==", t, ke_int(w->a, 0));
}

static void
copy_pieces(struct rw *w, struct kbuild *b, const struct kexpr *ring)
{
    struct arena *a = w->a;
    struct kbuild in = rw_vector_loop(w, b, NULL, false);

    for (node_id n = 0; n < w->g->n_nodes; n++) {
        int64_t per_piece = RING_PIECE / size_of(w, n);

        if (!rw_in_ring(w, n) || !rw_has_column(w, n))
            continue;
        for (int64_t e = 0; e < w->vec; e += per_piece)
            kb_eval(&in, ke_call(a, "fu_copy_async",
                                 arena_printf(a, "%d", RING_PIECE), 2,
                                 ke_bin(a, "+", column_place(w, n, ring),
                                        ke_int(a, e * size_of(w, n))),
                                 source(w, n,
                                        ke_bin(a, "+", w->col, ke_int(a, e)))));
    }
    if (!w->ring.has_scalars)
        return;
    in = kb_if(b, is_first(w, WARP));
    copy_scalars(w, &in, ring);
}

/* Sends for a row, if there is one, into the group's slot. */
static void
fill(struct rw *w, struct kbuild *b, const struct kexpr *row,
     const struct kexpr *slot)
{
    const struct kexpr *saved[MAX_AXES], *saved_row = w->row;
    const struct kexpr *ring = slot_address(w, slot), *to, *full;
    struct kbuild in;

    memcpy(saved, w->axis, sizeof(saved));
    if (w->groups > 1)
        row = ke_bin(w->a, "+", row, w->group);
    w->row = kb_let(b, "fu_i64", "fill", row);
    in = kb_if(b, ke_bin(w->a, "<", w->row, w->mv));
    rw_split_row(w, &in, "_fill");
    to = kb_let(&in, "int", "to", ring);
    if (w->ring.pieces) {
        copy_pieces(w, &in, to);
    } else {
        full = kb_let(&in, "int", "full", barrier_address(w, slot));
        copy_in_bulk(w, &in, to, full);
    }
    memcpy(w->axis, saved, sizeof(saved));
    w->row = saved_row;
}

static void
init_barriers(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in = kb_unroll(b, "s", ke_int(a, 0),
                                 ke_int(a, w->ring.stages), ke_int(a, 1));

    kb_eval(&in, ke_call(a, "fu_mbarrier_init", NULL, 2,
                         barrier_address(w, ke_var(a, "s")),
                         ke_int(a, 1 + w->ring.has_scalars)));
    kb_eval(b, ke_call(a, "fu_mbarrier_fence", NULL, 0));
}

/* The rows of the first `stages` steps. */
static void
fill_all(struct rw *w, struct kbuild *b, const struct kexpr *first,
         const struct kexpr *stride)
{
    struct arena *a = w->a;
    struct kbuild in;

    in = kb_roll(b, "int", "s", ke_int(a, 0), ke_int(a, w->ring.stages),
                 ke_int(a, 1));
    if (w->ring.stages > 1)
        first = ke_bin(a, "+", first, ke_bin(a, "*", stride, ke_var(a, "s")));
    fill(w, &in, first, ke_var(a, "s"));
    if (w->ring.pieces)
        kb_eval(&in, ke_call(a, "fu_copy_async_commit", NULL, 0));
}

void
rw_ring_start(struct rw *w, struct kbuild *b, const struct kexpr *first,
              const struct kexpr *stride)
{
    struct kbuild in = *b;

    if (!w->ring.stages)
        return;
    kb_comment(b, "The first rows are on their way.");
    if (!w->ring.pieces) {
        in = kb_if(b, is_first(w, w->tpr));
        init_barriers(w, &in);
        if (w->tpr < WARP) {
            /* A warp begins several rings; racecheck takes their barriers for
             * one lane's. */
            kb_eval(b, ke_call(w->a, "fu_warp_barrier", NULL, 0));
            in = kb_if(b, is_first(w, w->tpr));
        }
    }
    fill_all(w, &in, first, stride);
    if (!w->ring.pieces)
        kb_eval(b, ke_call(w->a, "fu_barrier", NULL, 0));
    w->slot = w->lap = ke_int(w->a, 0);
    if (!w->persistent)
        return;
    if (w->ring.stages > 1)
        w->slot = kb_var(b, "int", "slot", ke_int(w->a, 0));
    if (!w->ring.pieces)
        w->lap = kb_var(b, "int", "lap", ke_int(w->a, 0));
}

/* --- taking --------------------------------------------------------------- */

static void
wait_pieces(struct rw *w, struct kbuild *b)
{
    kb_eval(b, ke_call(w->a, "fu_copy_async_wait",
                       arena_printf(w->a, "%d", w->ring.stages - 1), 0));
    if (w->ring.has_scalars)
        kb_eval(b, ke_call(w->a, "fu_warp_barrier", NULL, 0));
}

static const struct kexpr *
zero(const struct rw *w, enum dtype t)
{
    return dtype_is_float(t) ? ke_const_float(w->a, t, 0)
                             : ke_const_int(w->a, t, 0);
}

/* Values of the row; zeros without one. */
static void
take_scalars(struct rw *w, struct kbuild *b, struct kbuild *in)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        enum dtype t = graph_node(w->g, n)->dtype;
        const struct kexpr *x;

        if (!rw_in_ring(w, n) || rw_has_column(w, n))
            continue;
        x = ke_call(w->a, "fu_sload", dtype_info[t].reg, 1,
                    place(w, n, w->row_slot));
        if (!w->active) {
            w->node[n].row =
                kb_let(b, dtype_info[t].reg, rw_name(w, "v", n), x);
            continue;
        }
        w->node[n].row =
            kb_var(b, dtype_info[t].reg, rw_name(w, "v", n), zero(w, t));
        kb_assign(in, w->node[n].row, x);
    }
}

/* Into registers what waits there. */
static void
take_vectors(struct rw *w, struct kbuild *b)
{
    bool any = false;
    struct kbuild in;

    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!rw_in_ring(w, n) || !rw_has_column(w, n) || in_slot(w, n))
            continue;
        any = true;
        rw_declare_vectors(w, b, n);
    }
    if (!any)
        return;
    in = rw_vector_loop(w, b, NULL, true);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (rw_in_ring(w, n) && rw_has_column(w, n) && !in_slot(w, n))
            kb_assign(&in, ke_elem(w->a, w->node[n].array, w->v),
                      rw_ring_vector(w, n));
}

void
rw_ring_take(struct rw *w, struct kbuild *b)
{
    struct kbuild in = *b, *first = b;

    kb_comment(b, "The row has arrived.");
    w->row_slot = kb_let(b, "int", "ring", slot_address(w, w->slot));
    if (w->ring.pieces)
        wait_pieces(w, b);
    if (w->active && (!w->ring.pieces || w->ring.has_scalars)) {
        /* Declarations go before the condition. */
        struct kblock *then = NEW(w->a, struct kblock);

        in = (struct kbuild){w->a, then};
        first = &in;
    }
    if (!w->ring.pieces)
        kb_eval(first, ke_call(w->a, "fu_mbarrier_wait", NULL, 2,
                               barrier_address(w, w->slot), w->lap));
    take_scalars(w, b, first);
    if (first == &in)
        *kb_if(b, w->active).to = *in.to;
    take_vectors(w, b);
    rw_ring_refill(w, b, -1);
}

/* --- again ---------------------------------------------------------------- */

/* All threads that look at the slot have done so. */
static void
meet(struct rw *w, struct kbuild *b, int phase)
{
    if (w->tpr <= WARP || w->ring.pieces) {
        if (!w->ring.pieces || w->ring.has_scalars)
            kb_eval(b, ke_call(w->a, "fu_warp_barrier", NULL, 0));
        return;
    }
    if (!rw_has_exchange(w, phase))
        rw_group_barrier(w, b);
}

void
rw_ring_refill(struct rw *w, struct kbuild *b, int phase)
{
    struct arena *a = w->a;
    const struct kexpr *ahead;
    struct kbuild in = *b;

    if (!w->ring.stages || !w->persistent || phase != w->ring_last)
        return;
    meet(w, b, phase);
    kb_comment(b, "Its slot is free for the row %d steps ahead.",
               w->ring.stages);
    ahead = ke_bin(a, "+", w->row0,
                   ke_bin(a, "*", rw_row_stride(w), ke_int(a, w->ring.stages)));
    if (!w->ring.pieces)
        in = kb_if(b, is_first(w, w->tpr));
    fill(w, &in, ahead, w->slot);
    if (w->ring.pieces)
        kb_eval(b, ke_call(a, "fu_copy_async_commit", NULL, 0));
}

void
rw_ring_advance(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in = *b;

    if (!w->ring.stages || !w->persistent)
        return;
    if (w->ring.stages > 1) {
        kb_assign(b, w->slot, ke_bin(a, "+", w->slot, ke_int(a, 1)));
        in = kb_if(b, ke_bin(a, "==", w->slot, ke_int(a, w->ring.stages)));
        kb_assign(&in, w->slot, ke_int(a, 0));
    }
    if (!w->ring.pieces)
        kb_assign(&in, w->lap, ke_bin(a, "-", ke_int(a, 1), w->lap));
}
