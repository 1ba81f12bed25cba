/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model.
 *
 *     time = max(DRAM, L2, shared memory, issue) / efficiency * quantisation
 *          + steps * (latency of one step's chain - its share of the first
 * term)
 *          + ramp + finish + launch
 *
 * Rates are the device row's, measured where the row says so. Efficiency is a
 * curve over the bytes in flight: too few starve the memory, too many queue.
 * The pipes overlap well but not wholly, so a small part of what isn't the
 * maximum is added: of two plans that move the same bytes the one with less
 * work wins. Only + - * / and comparisons, so every machine ranks alike. */
#include "support/base.h"

#include "schedulers/cost.h"

/* Relative bytes in flight, share of the copy rate; between points linear.
 * Measured with bulk copies on an H200 (16, 32, 48, 64, 96, 192 KiB). */
static const struct {
    double at, share;
} curve[] = {
    {0.00, 0.02}, {0.14, 0.40}, {0.29, 0.71}, {0.57, 0.95}, {0.86, 1.00},
    {1.15, 1.00}, {1.72, 0.97}, {3.43, 0.93}, {8.00, 0.90},
};

static const double OVERLAP_LOSS =
    0.04;                              /* of the pipes that aren't the bound */
static const double ISSUE_SHARE = 0.8; /* of the slots, with warps enough */
static const double ENOUGH_WARPS = 16; /* a multiprocessor */
/* Of a step's own issue, what the next step waits for when its row is there. */
static const double RING_ISSUE = 0.6;
enum { PARTITIONS = 4 }; /* of a multiprocessor */

double
cost_efficiency(const struct device *dev, double inflight)
{
    double x = inflight / dev->inflight_bytes;
    size_t n = ARRAY_LEN(curve);

    for (size_t i = 1; i < n; i++) {
        if (x > curve[i].at)
            continue;
        return curve[i - 1].share + (curve[i].share - curve[i - 1].share) *
                                        (x - curve[i - 1].at) /
                                        (curve[i].at - curve[i - 1].at);
    }
    return curve[n - 1].share;
}

/* Part of the device that has work. */
static double
busy_share(const struct problem *p, const struct work *w, double reach)
{
    double share = w->blocks * reach / p->dev->sms;

    return MIN(MAX(share, 1e-9), 1.0);
}

/* Few warps leave issue slots empty: half of them even with one warp a
 * sub-partition and independent instructions. A block whose warps don't share
 * out evenly over the sub-partitions waits for the fullest. */
static double
issue_share(const struct work *w, double resident)
{
    double warps = w->warps * resident / ENOUGH_WARPS;
    int64_t rounds = ((int64_t)w->warps + PARTITIONS - 1) / PARTITIONS;
    double balance = w->warps / (double)(rounds * PARTITIONS);

    return ISSUE_SHARE * (0.5 + 0.5 * MIN(warps, 1.0)) * balance;
}

/* The time one block takes to issue its step when it runs alone: part of the
 * chain that its own loads, exchanges and arithmetic form. */
static double
own_issue(const struct problem *p, const struct work *w,
          const struct plan_cost *c, double resident)
{
    double at_once = MIN(w->blocks, p->dev->sms * resident);
    double step = c->issue_slots / (MAX(w->rounds, 1.0) * MAX(at_once, 1.0));
    double rate = p->dev->issue_per_ns / p->dev->sms * issue_share(w, 1);

    return w->chained ? step / rate : 0;
}

/* What follows one another in a step: its own chain, or, where that is longer,
 * what a slot of the ring goes through between two rows, of all slots at once.
 */
static double
chain_time(const struct problem *p, const struct work *w,
           const struct plan_cost *c, double resident)
{
    double own = own_issue(p, w, c, resident);
    double cycle = w->cycle_ns + w->cycle_issue * own;

    if (w->slots <= 0)
        return w->stall_ns + own;
    return MAX(w->stall_ns + RING_ISSUE * own, cycle / w->slots);
}

/* The parts of the time that all bytes and instructions take, from the slowest
 * on; their sum. */
static double
pipe_time(const struct problem *p, const struct work *w, struct plan_cost *c,
          double resident)
{
    const struct device *dev = p->dev;
    double *t = c->term, dram, l2, smem, pipe, efficiency, bound;

    dram = c->dram_bytes / dev->dram_bytes_per_ns;
    l2 = (c->dram_bytes + c->l2_bytes) / dev->l2_bytes_per_ns;
    smem = c->smem_bytes / dev->smem_bytes_per_ns;
    pipe = MAX(dram, MAX(l2, smem));
    efficiency = cost_efficiency(dev, c->inflight_bytes);
    if (w->reach > 0)
        efficiency *= w->reach;
    c->memory_ns = pipe / efficiency / busy_share(p, w, SM_REACH);
    c->issue_ns = c->issue_slots /
                  (dev->issue_per_ns * issue_share(w, resident)) /
                  busy_share(p, w, 1.0);
    bound = MAX(c->memory_ns, c->issue_ns);
    t[CT_DRAM] = dram;
    t[CT_PIPE] = pipe - dram;
    t[CT_FLIGHT] = pipe / efficiency - pipe;
    t[CT_IDLE] = c->memory_ns - pipe / efficiency;
    t[CT_ISSUE] = bound - c->memory_ns;
    t[CT_OVERLAP] = OVERLAP_LOSS * (dram + l2 + smem + c->issue_ns - bound);
    return bound + t[CT_OVERLAP];
}

void
cost_finish(const struct problem *p, const struct work *w, struct plan_cost *c)
{
    double resident = MAX(c->blocks_per_sm, 1), round, stall, *t = c->term;
    double loss = MAX(w->loss, 1.0), again = MAX(w->again, 1.0), steps;

    c->waves = w->blocks / (p->dev->sms * resident);
    c->total_ns = pipe_time(p, w, c, resident);
    t[CT_ROUNDS] = c->total_ns * (c->quantisation - 1);
    c->quantisation *= loss;
    t[CT_CLUSTER] = c->total_ns * (c->quantisation - 1) - t[CT_ROUNDS];
    steps = c->total_ns * c->quantisation;
    t[CT_AGAIN] = steps * (again - 1);
    c->total_ns = steps * again;
    round = c->total_ns / MAX(w->rounds, 1.0);
    stall = chain_time(p, w, c, resident) - round;
    t[CT_RAMP] = RAMP_NS;
    t[CT_WAIT] = MAX(w->rounds, 1.0) * MAX(stall, 0.0);
    t[CT_FINISH_WAIT] = c->finish_wait_ns;
    t[CT_FINISH_FOLD] = c->finish_fold_ns;
    t[CT_LAUNCH] = p->dev->launch_ns;
    c->latency_ns = RAMP_NS + t[CT_WAIT];
    c->launch_ns = p->dev->launch_ns;
    c->total_ns += c->latency_ns + c->finish_ns + c->launch_ns;
}
