/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_traffic: what one row moves and issues under a plan. The counts
 * follow the phases: a leaf is read from DRAM the first time a row needs it and
 * from L2 when a later phase reads it again; what no earlier phase kept is
 * computed again. */
#include "support/base.h"

#include "schedulers/rowwise_shape.h"

#include "sched/sums.h"

enum {
    WARP = 32,
    STEPS_OF_WARP = 12, /* instructions of an exchange, of a thread */
    STEPS_OF_EXCHANGE = 20,
};

/* What every row reads again is often still in L1, which is shared memory. */
static const double INVARIANT_L1_SHARE = 0.5;

static double
bytes_per_row(const struct problem *p, node_id n, int64_t columns)
{
    return (double)dtype_info[graph_node(p->f->g, n)->dtype].bytes *
           (double)columns;
}

/* One leaf of the ring in one phase: into its slot, and out of it. */
static void
count_slot(const struct row_shape *s, double bytes, bool packed, bool first,
           struct row_traffic *t)
{
    if (first) {
        t->dram += bytes;
        t->loads += bytes;
        t->l1 += bytes;
    }
    if (first || !packed)
        t->l1 += bytes;
    if (first && s->ring.pieces)
        t->issue += bytes / RING_PIECE * 3;
}

/* No other row reads it: there is none, or each has its own. */
static bool
is_read_once(const struct facts *f, node_id n)
{
    return !f->rows || node_has_rows(f, n);
}

/* One leaf in one phase: where it comes from. */
static void
count_leaf(const struct row_use *u, const struct row_shape *s, node_id n,
           int phase, int64_t columns, struct row_traffic *t)
{
    const struct facts *f = u->p->f;
    double bytes = bytes_per_row(u->p, n, columns);
    enum store st = s->looped ? STORE_RELOAD : u->store[n];
    bool packed = st == STORE_REGISTER_PACKED || st == STORE_REGISTER_F32;
    int first = u->first[n];

    if (st == STORE_REGISTER_F32 && u->over_rows[n])
        return;
    t->issue += (double)columns;
    if (ring_carries(f, u->k, n)) {
        count_slot(s, bytes, packed, first == phase, t);
        t->issue += packed && first != phase ? 0 : (double)columns / s->vec * 3;
        return;
    }
    if (packed && (first != phase || (u->over_rows[n] && s->persistent)))
        return;
    t->issue += (double)columns / s->vec * 4;
    if (st == STORE_SHARED) {
        t->l1 += bytes;
        return;
    }
    if (is_read_once(f, n) && first == phase) {
        t->dram += bytes;
        t->loads += phase == 0 ? bytes : 0;
        t->unbuffered += phase == 0 && s->persistent && !packed ? bytes : 0;
    } else if (is_read_once(f, n)) {
        t->l2 += bytes;
    } else {
        t->l2 += bytes * (1 - INVARIANT_L1_SHARE);
        t->l1 += bytes * INVARIANT_L1_SHARE;
    }
}

static bool
phase_reads_again(const struct row_use *u, const struct row_shape *s, int phase)
{
    const struct facts *f = u->p->f;

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        enum store st = s->looped ? STORE_RELOAD : u->store[n];

        if (!row_needs(u, phase, n) || (st != STORE_RELOAD && st != STORE_NONE))
            continue;
        if (!is_read_once(f, n) || u->first[n] != phase || phase > 0)
            return true;
    }
    return false;
}

static int
op_cost(const struct facts *f, node_id n)
{
    return op_info[graph_node(f->g, n)->op].cost;
}

static void
count_reductions(const struct row_use *u, int64_t columns,
                 struct row_traffic *t)
{
    const struct facts *f = u->p->f;

    for (uint32_t i = 0; i < f->n_reductions; i++) {
        node_id n = f->reductions[i];

        t->issue += op_cost(f, n) * (double)columns;
        if (row_shares_sum(u, n))
            row_count_sum(u->p, u->k, n, columns, t);
    }
}

/* A value in a phase that needs it. */
static void
count_value(const struct row_use *u, const struct row_shape *s, node_id n,
            int phase, int64_t columns, struct row_traffic *t)
{
    const struct facts *f = u->p->f;
    bool kept =
        u->store[n] != STORE_NONE && !s->looped && f->node[n].level < phase;

    if (f->node[n].is_leaf)
        count_leaf(u, s, n, phase, columns, t);
    else if (!kept && !facts_is_reduction(f, n))
        t->issue += op_cost(f, n) * (double)columns;
}

static void
count_stores(const struct problem *p, const struct row_shape *s,
             int64_t columns, struct row_traffic *t)
{
    const struct facts *f = p->f;

    for (uint32_t i = 0; i < f->g->n_results; i++) {
        const struct access *a = &f->stores[i];
        double bytes = dtype_info[f->g->results[i].dtype].bytes;
        bool wide = a->axes >> f->column & 1;

        if (f->rows && !(a->axes & f->rows))
            continue;
        t->stores += bytes * (wide ? (double)columns : 1);
        t->issue += wide ? (double)columns * (1 + 4.0 / s->vec) : 4;
    }
}

static void
count_held(const struct problem *p, const struct kernel_plan *k,
           const struct row_shape *s, int64_t columns, struct row_traffic *t)
{
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        node_id n = k->buffers[i].node;
        int64_t store = k->buffers[i].key[BK_STORE];
        enum dtype type = graph_node(p->f->g, n)->dtype;

        if (s->looped || store == STORE_NONE || store == STORE_RELOAD ||
            facts_is_outer(p->f, n))
            continue;
        t->held += store != STORE_REGISTER_F32
                       ? bytes_per_row(p, n, columns)
                       : 4.0 * row_compute_words(type) * (double)columns;
    }
}

/* What the threads of a row issue to combine a phase's sums. */
static double
exchange_issue(const struct row_shape *s)
{
    double steps = s->tpr <= WARP ? STEPS_OF_WARP : STEPS_OF_EXCHANGE;

    return steps * s->tpr * s->cluster;
}

struct row_traffic
row_traffic(const struct row_use *u, const struct row_shape *s, int64_t columns)
{
    struct row_traffic t = {0};

    count_reductions(u, columns, &t);
    for (node_id n = 0; n < u->p->f->g->n_nodes; n++)
        for (int phase = u->first[n]; u->needed[n] && phase <= u->last[n];
             phase++)
            if (row_needs(u, phase, n))
                count_value(u, s, n, phase, columns, &t);
    for (int phase = 0; phase < u->phases; phase++)
        t.reload_phases += phase_reads_again(u, s, phase);
    count_stores(u->p, s, columns, &t);
    count_held(u->p, u->k, s, columns, &t);
    t.issue += u->p->f->levels * exchange_issue(s);
    return t;
}
