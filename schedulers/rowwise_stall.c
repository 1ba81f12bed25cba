/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_stall: what one step of a row kernel waits for: the row's arrival,
 * the combinations of its reductions, reads that no one sent for ahead. The
 * numbers were fitted to 2,500 plans of norms and softmax, measured on an H200
 * (docs/performance/); what is said of one was seen by itself. */
#include "support/base.h"

#include "schedulers/rowwise_shape.h"

#include "sched/sums.h"
#include "schedulers/cost.h"

enum { WARP = 32 };

/* Of the rows that a ring has in flight, so many are before a read from L2:
 * two phases that read the weight again cost 0 to 270 ns a row behind 80 to 160
 * KB on an H200. */
static const double QUEUE_SHARE = 0.03;

/* Loads that wait for registers: layer norm backward in f32 at N = 10240 took
 * 5.6 us a row in place of 3.8 with the inputs unkept and no register to spare
 * (H200). */
static const double LATE_LOT_NS = 600;

/* An input that only a later phase reads, layer norm backward with a residual
 * in f32 at N = 8192: 6.0 us a row in place of 4.0. */
static const double LATE_ROW_NS = 2600;

/* Layer norm backward in f32 at N = 16384 over clusters of 4: 1.1 us a row for
 * the weight read again, in one block 0.35. */
static const double CLUSTER_RELOAD = 6;

/* Registers of one thread for one kept row of the node. Elements narrower than
 * a register that stand alone take one each, and the assembler's copies between
 * halves about half as many again. */
int
row_packed_registers(const struct row_shape *s, enum dtype t)
{
    int bytes = s->vec * (int)dtype_info[t].bytes;

    if (bytes < 4)
        return s->vpt + (s->vpt + 1) / 2;
    return (bytes + 3) / 4 * s->vpt;
}

double
row_exchange_ns(const struct row_shape *s)
{
    return s->tpr <= WARP ? 60 : 330 + 5.0 * s->tpr / WARP;
}

/* A read from L2 in the row loop; rows that a ring has sent for are before it
 * in the queue. */
static double
reload_ns(const struct problem *p, const struct row_shape *s,
          const struct plan_cost *c)
{
    double rate = p->dev->dram_bytes_per_ns / p->dev->sms;
    bool queue = s->ring.stages > 0 && s->persistent;

    return L2_LATENCY_NS + (queue ? QUEUE_SHARE * c->inflight_bytes / rate : 0);
}

/* The next row arrives while this one is worked on. Loads come back in order: a
 * re-read in the loop waits for the next row's loads before it, and nothing is
 * hidden. */
static bool
loads_ahead(const struct row_shape *s, const struct row_traffic *t)
{
    return s->persistent &&
           ((s->prefetch && t->reload_phases == 0) || s->ring.stages > 0);
}

/* What isn't kept is loaded where it is used, a few vectors at a time where
 * registers are few, and one at a time where each vector has a guard around it:
 * each lot but the first waits on its own. */
static double
held_back_ns(const struct row_use *u, const struct row_shape *s, int spare)
{
    const struct facts *f = u->p->f;
    int all = 0, lot, lots, first, last;
    bool guarded = !(u->p->n_static && u->p->n == s->reach) ||
                   sums_bytes(u->p->f, u->k) > 0;

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        enum store st = u->store[n];

        if (node_has_column(f, n) && node_has_rows(f, n) &&
            (st == STORE_NONE || st == STORE_RELOAD) &&
            row_span(u, n, &first, &last) && first == 0)
            all += row_packed_registers(s, graph_node(f->g, n)->dtype);
    }
    if (s->looped || all == 0)
        return 0;
    lot = (guarded ? 0 : MAX(spare, 0)) + (all + s->vpt - 1) / s->vpt;
    lots = (all + lot - 1) / lot;
    return LATE_LOT_NS * (lots - 1);
}

/* A multiprocessor with one block that sends for a row when it wants it: while
 * others compute it draws more than its share of the bandwidth. */
static double
arrival_ns(const struct row_use *u, const struct row_shape *s,
           const struct row_traffic *t, const struct plan_cost *c)
{
    double rate = u->p->dev->dram_bytes_per_ns / u->p->dev->sms * SM_REACH;

    if (!s->persistent || c->blocks_per_sm > 1 || loads_ahead(s, t))
        return 0;
    return t->loads * s->groups * s->steps / s->cluster / rate;
}

/* A later phase is the first to read an input of the row, and nothing has sent
 * for it: the row waits for DRAM once more. */
static double
late_ns(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int first, last, phases = 0;

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        enum store st = u->store[n];

        if (node_has_column(f, n) && node_has_rows(f, n) &&
            (st == STORE_NONE || st == STORE_RELOAD) &&
            row_span(u, n, &first, &last) && first > 0)
            phases = MAX(phases, first);
    }
    return s->looped || !phases ? 0 : LATE_ROW_NS;
}

/* Blocks of a cluster wait for the slowest of them, and have nothing else to do
 * while it reads. */
static double
again_ns(const struct row_use *u, const struct row_shape *s,
         const struct row_traffic *t, const struct plan_cost *c)
{
    double ns = t->reload_phases * reload_ns(u->p, s, c) * s->steps;
    double rate = u->p->dev->l2_bytes_per_ns / u->p->dev->sms;

    if (s->cluster == 1 || !s->persistent)
        return ns;
    return ns * CLUSTER_RELOAD + t->l2 * s->groups / s->cluster / rate;
}

double
row_stall_ns(const struct row_use *u, const struct row_shape *s,
             const struct row_traffic *t, const struct plan_cost *c, int spare)
{
    double ns = loads_ahead(s, t) ? 0 : DRAM_LATENCY_NS;

    ns += u->p->f->levels * (row_exchange_ns(s) + row_cluster_ns(u->k)) *
          s->steps;
    if (!s->persistent)
        ns += TURNOVER_NS;
    ns += held_back_ns(u, s, spare) + late_ns(u, s) + arrival_ns(u, s, t, c);
    return ns + again_ns(u, s, t, c) + row_sums_ns(u, s);
}
