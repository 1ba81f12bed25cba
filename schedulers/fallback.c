/* SPDX-License-Identifier: Apache-2.0 */
/* fallback: a sequence of simple kernels, cut at each reduction.
 *
 * Results of reductions wait in workspace in their accumulator type, accesses
 * are scalar, indices 64-bit. It takes every graph of implemented operations
 * and every shape; it is the last candidate of every choice and the variant
 * without a guard where no other one is. */
#include "support/base.h"

#include "schedulers/cost.h"

#include "sched/scheduler.h"
#include "schedulers/strategies.h"

static const double SCALAR_SHARE = 0.3; /* of the copy rate, by scalar access */

static const char *
refuse(const struct problem *p)
{
    (void)p;
    return NULL;
}

static void
propose(const struct problem *p, const struct slot_shape *s, candidate_vec *out)
{
    struct candidate *c =
        candidate_add(p, out, SCHED_FALLBACK, "a kernel for each reduction");
    int64_t *key = c->plan.kernels->key;

    (void)s;
    key[PK_THREADS] = 256;
    key[PK_THREADS_PER_ROW] = 256;
}

static int
count_reductions(const struct facts *f)
{
    int n = 0;

    for (node_id id = 0; id < f->g->n_nodes; id++)
        n += f->node[id].live && facts_is_reduction(f, id);
    return n;
}

/* Every kernel reads the inputs again. */
static const char *
cost(const struct problem *p, const struct kernel_plan *k, int64_t n,
     struct plan_cost *c)
{
    int kernels = 1 + count_reductions(p->f);
    double in = p->bytes_in, out = p->bytes_out;

    if (k->key[PK_THREADS] % 32)
        return "threads must be a multiple of 32";
    if (p->f->axes_ok)
        problem_bytes(p, n, &in, &out);
    c->dram_bytes = in * kernels + out;
    c->bytes_per_step = c->dram_bytes;
    c->regs = 32;
    c->blocks_per_sm = 8;
    c->quantisation = 1;
    c->memory_ns = c->dram_bytes / (p->dev->dram_bytes_per_ns * SCALAR_SHARE);
    c->launch_ns = p->dev->launch_ns * kernels;
    c->term[CT_DRAM] = c->dram_bytes / p->dev->dram_bytes_per_ns;
    c->term[CT_SCALAR] = c->memory_ns - c->term[CT_DRAM];
    c->term[CT_LAUNCH] = c->launch_ns;
    c->total_ns = c->memory_ns + c->launch_ns;
    return NULL;
}

const struct scheduler sched_fallback = {
    .id = SCHED_FALLBACK, .refuse = refuse, .propose = propose, .cost = cost};
