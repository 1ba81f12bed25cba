/* SPDX-License-Identifier: Apache-2.0 */
/* explain_plan: one candidate in full: geometry, resources, bytes, what makes
 * up its time, its buffers, and what the assembler says of it. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

static const char *
plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void
print_geometry(struct buf *b, const struct kernel_plan *k)
{
    const int64_t *key = k->key;
    size_t len;
    const char *finish =
        key_word(&plan_key_info[PK_FINISH], key[PK_FINISH], &len);

    buf_printf(b,
               "        threads %" PRId64 ", %" PRId64 " a row, %" PRId64
               " x %" PRId64 " elements each",
               key[PK_THREADS], key[PK_THREADS_PER_ROW],
               key[PK_VECTORS_PER_THREAD], key[PK_VECTOR]);
    if (key[PK_ROWS_PER_STEP] > 1)
        buf_printf(b, ", %" PRId64 " rows a step", key[PK_ROWS_PER_STEP]);
    if (key[PK_CLUSTER] > 1)
        buf_printf(b, ", cluster of %" PRId64, key[PK_CLUSTER]);
    if (key[PK_PERSISTENT])
        buf_printf(b, ", persistent grid of %" PRId64, key[PK_GRID_ROWS]);
    if (key[PK_STAGES])
        buf_printf(b, ", ring of %" PRId64, key[PK_STAGES]);
    if (key[PK_LOOPED])
        buf_puts(b, ", looped");
    if (key[PK_LOOPED] && key[PK_COLUMN_TILES])
        buf_printf(b, ", %" PRId64 " blocks a row", key[PK_GRID_ROWS]);
    if (key[PK_FINISH])
        buf_printf(b, ", finish %.*s", (int)len, finish);
    buf_putc(b, '\n');
}

/* What the assembler gave the kernel. A part may be launched as several, which
 * are listed elsewhere. */
static const char *
reported(struct arena *a, const struct explained *e, uint32_t slot,
         const struct candidate *c)
{
    const struct variant_slot *s = &e->selection->slots[slot];

    if (!e->slots || c != &s->candidates[s->chosen])
        return ", not compiled";
    if (c->plan.n_kernels > 1)
        return "";
    return arena_printf(a, ", %d reported",
                        e->slots[slot].kernels[0].registers);
}

static void
print_resources(struct buf *b, const struct device *dev,
                const struct kernel_plan *k, const struct plan_cost *c,
                const char *compiled)
{
    int64_t threads = c->blocks_per_sm * k->key[PK_THREADS];

    buf_printf(b, "        registers %d estimated%s; shared memory %d bytes\n",
               c->regs, compiled, c->smem);
    buf_printf(b,
               "        occupancy %d%%: %d block%s an SM, %" PRId64 " of %d "
               "warps, limited by %s\n",
               explain_percent((double)threads, dev->threads_per_sm),
               c->blocks_per_sm, plural(c->blocks_per_sm), threads / dev->warp,
               dev->threads_per_sm / dev->warp,
               explain_limit(b->arena, dev, k, c));
    buf_printf(b,
               "        %" PRId64 " bytes in flight an SM, %" PRId64
               " are best; waves %d%%, quantisation %d%%\n",
               explain_whole(c->inflight_bytes),
               explain_whole(dev->inflight_bytes), explain_percent(c->waves, 1),
               explain_percent(c->quantisation, 1));
}

/* A row and a step are those of one kernel. */
static void
print_bytes(struct buf *b, const struct plan_cost *c, bool one)
{
    buf_puts(b, "        ");
    if (one)
        buf_printf(
            b, "held %" PRId64 " bytes a row; moved %" PRId64 " bytes a step; ",
            explain_whole(c->bytes_held), explain_whole(c->bytes_per_step));
    buf_printf(b,
               "dram %" PRId64 ", l2 %" PRId64 ", shared %" PRId64
               " bytes; %" PRId64 " issue slots\n",
               explain_whole(c->dram_bytes), explain_whole(c->l2_bytes),
               explain_whole(c->smem_bytes), explain_whole(c->issue_slots));
    buf_printf(b,
               "        memory %" PRId64 " ns, issue %" PRId64
               ", latency %" PRId64 ", finish %" PRId64,
               explain_whole(c->memory_ns), explain_whole(c->issue_ns),
               explain_whole(c->latency_ns), explain_whole(c->finish_ns));
    if (explain_whole(c->finish_ns))
        buf_printf(b, " (wait %" PRId64 ", fold %" PRId64 ")",
                   explain_whole(c->finish_wait_ns),
                   explain_whole(c->finish_fold_ns));
    buf_printf(b, ", launch %" PRId64 "\n", explain_whole(c->launch_ns));
}

/* The model of fallback knows no more. */
static void
print_fallback(struct buf *b, const struct plan_cost *c)
{
    buf_printf(b,
               "        dram %" PRId64 " bytes\n        memory %" PRId64
               " ns, launch %" PRId64 "\n",
               explain_whole(c->dram_bytes), explain_whole(c->memory_ns),
               explain_whole(c->launch_ns));
}

static void
print_time(struct buf *b, const struct device *dev,
           const struct variant_slot *slot, const struct plan_cost *c)
{
    struct time_line t[TIME_LINES];

    explain_time(dev, slot, c, t);
    buf_puts(b, "        what makes up the time, in ns\n");
    for (int i = 0; i < TIME_LINES; i++)
        if (t[i].ns)
            buf_printf(b, "        %10" PRId64 " %3d%%  %s\n", t[i].ns,
                       explain_percent((double)t[i].ns, c->total_ns),
                       t[i].words);
    buf_printf(b, "        %10" PRId64 " 100%%\n", explain_whole(c->total_ns));
}

static void
print_compiled(struct buf *b, const struct device *dev,
               const struct compiled_slot *s)
{
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        const struct compiled_kernel *k = &s->kernels[i];
        int blocks = k->smem < 0 ? 0
                                 : device_occupancy(dev, k->threads,
                                                    k->registers, k->smem);

        buf_printf(b,
                   "        compiled %s: %d registers, %d bytes of local "
                   "memory",
                   k->symbol, k->registers, k->local_bytes);
        if (k->smem >= 0)
            buf_printf(b,
                       ", %d of shared memory, %d block%s an SM, occupancy "
                       "%d%%",
                       k->smem, blocks, plural(blocks),
                       explain_percent((double)blocks * k->threads,
                                       dev->threads_per_sm));
        buf_putc(b, '\n');
    }
    for (uint32_t i = 0; i < s->n_given_up; i++)
        buf_printf(b,
                   "        given up: plan %u, which took %u bytes of local "
                   "memory\n",
                   s->given_up[i].candidate, s->given_up[i].local_bytes);
}

/* Its geometry and resources; of a part its name and time too. */
static void
print_kernel(struct buf *b, const struct explained *e, uint32_t slot,
             const struct explained_kernel *k)
{
    if (k->candidate->plan.n_kernels > 1) {
        buf_printf(b, "      kernel %u %s", k->index,
                   scheduler_name[k->plan->scheduler]);
        if (k->cost)
            buf_printf(b, ": %" PRId64 " ns", explain_whole(k->cost->total_ns));
        buf_putc(b, '\n');
    }
    if (k->plan->scheduler == SCHED_FALLBACK)
        return;
    print_geometry(b, k->plan);
    if (k->cost)
        print_resources(b, e->selection->problem->dev, k->plan, k->cost,
                        reported(b->arena, e, slot, k->candidate));
}

/* The whole first, then each part. */
static void
print_parts(struct buf *b, const struct explained *e, uint32_t slot,
            const struct candidate *c)
{
    const struct selection *s = e->selection;

    print_bytes(b, &c->plan.cost, false);
    print_time(b, s->problem->dev, &s->slots[slot], &c->plan.cost);
    for (uint32_t i = 0; i < c->plan.n_kernels; i++) {
        struct explained_kernel k = explain_kernel(s, &s->slots[slot], c, i);

        print_kernel(b, e, slot, &k);
        if (k.cost && k.plan->scheduler != SCHED_FALLBACK)
            print_bytes(b, k.cost, true);
        explain_buffers(b, &k);
    }
}

static void
print_one(struct buf *b, const struct explained *e, uint32_t slot,
          const struct candidate *c)
{
    const struct selection *s = e->selection;
    struct explained_kernel k = explain_kernel(s, &s->slots[slot], c, 0);

    print_kernel(b, e, slot, &k);
    if (k.plan->scheduler == SCHED_FALLBACK)
        print_fallback(b, k.cost);
    else
        print_bytes(b, k.cost, true);
    print_time(b, s->problem->dev, &s->slots[slot], k.cost);
    explain_buffers(b, &k);
}

static void
print_head(struct buf *b, const struct variant_slot *s, uint32_t candidate)
{
    const struct candidate *c = &s->candidates[candidate];

    buf_printf(b, "    %c %u %s%s: ", candidate == s->chosen ? '*' : ' ',
               candidate + 1, explain_scheduler(b->arena, c), c->summary);
    if (c->refused)
        buf_printf(b, "refused: %s\n", c->refused);
    else
        buf_printf(b, "%" PRId64 " ns, %d%% of the roofline\n",
                   explain_whole(c->plan.cost.total_ns),
                   explain_percent(s->floor_ns, c->plan.cost.total_ns));
}

void
explain_plan(struct buf *b, const struct explained *e, uint32_t slot,
             uint32_t candidate)
{
    const struct variant_slot *s = &e->selection->slots[slot];
    const struct candidate *c = &s->candidates[candidate];

    print_head(b, s, candidate);
    if (c->refused)
        return;
    if (candidate == s->chosen && e->slots)
        print_compiled(b, e->selection->problem->dev, &e->slots[slot]);
    if (c->plan.n_kernels > 1)
        print_parts(b, e, slot, c);
    else
        print_one(b, e, slot, c);
}
