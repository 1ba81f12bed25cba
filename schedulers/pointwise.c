/* SPDX-License-Identifier: Apache-2.0 */
/* pointwise: every element on its own, flat over the merged axes.
 *
 * A thread takes `vectors_per_thread` vectors along the column axis, a block's
 * width apart, all loads before the first use. A block of 256 threads with 16
 * bytes a load has 4 KiB in flight for each input and vector; what is best
 * depends on how many inputs there are, so the cost model chooses. */
#include "support/base.h"

#include "schedulers/cost.h"

#include "sched/scheduler.h"
#include "schedulers/strategies.h"
#include "support/arena.h"

enum { THREADS = 256, MAX_VECTORS = 8 };

static const char *
refuse(const struct problem *p)
{
    const struct facts *f = p->f;

    if (!f->axes_ok)
        return f->why;
    if (f->kind != GK_POINTWISE)
        return "something is reduced";
    if (f->column == NO_AXIS)
        return "every value is a scalar";
    for (uint32_t i = 0; i < f->g->n_results; i++)
        if (f->stores[i].axes != facts_all_axes(f))
            return arena_printf(p->arena, "result '%s' lacks an axis of others",
                                f->g->results[i].name);
    return NULL;
}

static void
propose(const struct problem *p, const struct slot_shape *s, candidate_vec *out)
{
    for (int v = 1; v <= 4; v *= 2) {
        struct candidate *c =
            candidate_add(p, out, SCHED_POINTWISE,
                          arena_printf(p->arena, "%d vector%s a thread", v,
                                       v > 1 ? "s" : ""));
        int64_t *key = c->plan.kernels->key;

        key[PK_THREADS] = THREADS;
        key[PK_THREADS_PER_ROW] = THREADS;
        key[PK_VECTOR] = s->vector;
        key[PK_VECTORS_PER_THREAD] = v;
        key[PK_BLOCKS_PER_SM] = 1;
    }
}

/* Bytes one element reads; from L2 those of operands that lack an axis, which
 * without the column axis are one load a vector. */
static void
count_element(const struct problem *p, double vector, double *ret_in,
              double *ret_l2, int *ret_regs)
{
    const struct facts *f = p->f;

    for (node_id n = 0; n < f->g->n_nodes; n++) {
        double bytes = dtype_info[graph_node(f->g, n)->dtype].bytes;

        if (!f->node[n].live || !f->node[n].is_leaf)
            continue;
        if (f->node[n].axes == facts_all_axes(f))
            *ret_in += bytes;
        else
            *ret_l2 += node_has_column(f, n) ? bytes : bytes / vector;
        *ret_regs += 2;
    }
}

static const char *
bad_keys(const struct kernel_plan *k)
{
    int64_t v = k->key[PK_VECTOR];

    if (k->key[PK_THREADS] % 32)
        return "threads must be a multiple of 32";
    if (v & (v - 1))
        return "vector must be a power of two";
    if (k->key[PK_VECTORS_PER_THREAD] > MAX_VECTORS)
        return "more than 8 vectors a thread";
    if (k->key[PK_PERSISTENT] || k->key[PK_LOOPED] || k->key[PK_COLUMN_TILES] ||
        k->key[PK_STAGES] || k->key[PK_FINISH] || k->n_buffers ||
        k->key[PK_CLUSTER] > 1)
        return "this strategy keeps nothing and reduces nothing";
    return NULL;
}

static const char *
cost(const struct problem *p, const struct kernel_plan *k, int64_t n,
     struct plan_cost *c)
{
    double vec = (double)k->key[PK_VECTOR], in = 0, l2 = 0, elements;
    double each = vec * (double)k->key[PK_VECTORS_PER_THREAD];
    double threads = (double)k->key[PK_THREADS], bytes_in, bytes_out;
    struct work w = {.rounds = 1, .warps = threads / 32};
    const char *why = bad_keys(k);
    int regs = 20, cap;

    if (why)
        return why;
    if (p->n_static && vec > 1 && p->n % k->key[PK_VECTOR])
        return "vector does not divide the columns";
    count_element(p, vec, &in, &l2, &regs);
    elements = (double)MAX(n, 1) * (double)MAX(p->m, 1);
    c->regs = regs + (int)(each * (in + l2) / 4) + 8;
    cap = device_register_cap(p->dev, (int)threads,
                              (int)k->key[PK_BLOCKS_PER_SM]);
    c->blocks_per_sm =
        device_occupancy(p->dev, (int)threads, MIN(c->regs, cap), 0);
    problem_bytes(p, n, &bytes_in, &bytes_out);
    c->dram_bytes = bytes_in + bytes_out;
    c->l2_bytes = l2 * elements;
    c->bytes_per_step = threads * each * (in + l2);
    c->issue_slots =
        elements * (p->f->flops_per_element + 2 + 16 / vec + 24 / each);
    w.blocks = elements / (threads * each);
    w.blocks = MAX(w.blocks, 1.0);
    w.rounds = w.blocks / ((double)p->dev->sms * MAX(c->blocks_per_sm, 1));
    w.stall_ns = DRAM_LATENCY_NS;
    c->inflight_bytes = MIN((double)MAX(c->blocks_per_sm, 1),
                            MAX(w.blocks / p->dev->sms, 1.0)) *
                        threads * each * in;
    c->quantisation = 1 + (w.rounds > 1 ? 0.1 / w.rounds : 0);
    cost_finish(p, &w, c);
    if (c->regs > cap)
        return arena_printf(p->arena, "needs %d registers a thread, %d allowed",
                            c->regs, cap);
    return NULL;
}

const struct scheduler sched_pointwise = {
    .id = SCHED_POINTWISE, .refuse = refuse, .propose = propose, .cost = cost};
