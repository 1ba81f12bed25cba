/* SPDX-License-Identifier: Apache-2.0 */
/* --explain as text: who refused, each slot's candidates with every term of the
 * cost, and the buffers of the chosen one with the reason for each. */
#include "support/base.h"

#include "sched/select.h"

#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

static int64_t
whole(double x)
{
    return (int64_t)(MIN(x, 9e18) + 0.5);
}

static int
percent(double part, double of)
{
    return of > 0 ? (int)whole(100 * part / of) : 0;
}

static void
print_refusals(struct buf *b, const struct selection *s)
{
    for (uint32_t i = 0; i < s->n_refusals; i++)
        buf_printf(b, "  %s refuses: %s\n",
                   scheduler_name[s->refusals[i].scheduler],
                   s->refusals[i].why);
    for (uint32_t i = 0; i < s->n_notes; i++)
        buf_printf(b, "  %s: %s\n", scheduler_name[s->notes[i].scheduler],
                   s->notes[i].why);
}

static void
print_geometry(struct buf *b, const struct kernel_plan *k)
{
    const int64_t *key = k->key;

    buf_printf(b,
               "        threads %" PRId64 ", %" PRId64 " a row, %" PRId64
               " x %" PRId64 " elements each",
               key[PK_THREADS], key[PK_THREADS_PER_ROW],
               key[PK_VECTORS_PER_THREAD], key[PK_VECTOR]);
    if (key[PK_ROWS_PER_STEP] > 1)
        buf_printf(b, ", %" PRId64 " rows a step", key[PK_ROWS_PER_STEP]);
    if (key[PK_PERSISTENT])
        buf_printf(b, ", persistent grid of %" PRId64, key[PK_GRID_ROWS]);
    if (key[PK_LOOPED])
        buf_puts(b, ", looped");
    if (key[PK_LOOPED] && key[PK_COLUMN_TILES])
        buf_printf(b, ", %" PRId64 " blocks a row", key[PK_GRID_ROWS]);
    buf_putc(b, '\n');
}

static void
print_cost(struct buf *b, const struct plan_cost *c)
{
    buf_printf(b,
               "        held %" PRId64 " bytes a row; moved %" PRId64
               " bytes a step; dram %" PRId64 ", l2 %" PRId64
               ", shared %" PRId64 " bytes; %" PRId64 " issue slots\n",
               whole(c->bytes_held), whole(c->bytes_per_step),
               whole(c->dram_bytes), whole(c->l2_bytes), whole(c->smem_bytes),
               whole(c->issue_slots));
    buf_printf(b,
               "        registers %d, shared memory %d bytes, %d blocks an SM; "
               "%" PRId64 " bytes in flight an SM; waves %d%%, quantisation "
               "%d%%\n",
               c->regs, c->smem, c->blocks_per_sm, whole(c->inflight_bytes),
               percent(c->waves, 1), percent(c->quantisation, 1));
    buf_printf(b,
               "        memory %" PRId64 " ns, issue %" PRId64
               ", latency %" PRId64 ", finish %" PRId64,
               whole(c->memory_ns), whole(c->issue_ns), whole(c->latency_ns),
               whole(c->finish_ns));
    if (whole(c->finish_ns))
        buf_printf(b, " (wait %" PRId64 ", fold %" PRId64 ")",
                   whole(c->finish_wait_ns), whole(c->finish_fold_ns));
    buf_printf(b, ", launch %" PRId64 "\n", whole(c->launch_ns));
}

static void
print_candidate(struct buf *b, const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];
    const struct kernel_plan *k = &c->plan.kernels[0];

    buf_printf(b, "    %c %u %s, %s: ", i == slot->chosen ? '*' : ' ', i + 1,
               scheduler_name[k->scheduler], c->summary);
    if (c->refused)
        buf_printf(b, "refused: %s\n", c->refused);
    else
        buf_printf(b, "%" PRId64 " ns, %d%% of the roofline\n",
                   whole(c->plan.cost.total_ns),
                   percent(slot->floor_ns, c->plan.cost.total_ns));
    if (k->scheduler == SCHED_FALLBACK)
        return;
    print_geometry(b, k);
    print_cost(b, &c->plan.cost);
}

static void
print_word(struct buf *b, const struct key_info *k, int64_t v)
{
    size_t len;
    const char *w = key_word(k, v, &len);

    buf_printf(b, "%.*s", w ? (int)len : 0, w ? w : "");
}

static void
print_buffers(struct buf *b, const struct selection *s,
              const struct kernel_plan *k)
{
    if (k->n_buffers)
        buf_puts(b, "    buffers\n");
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *p = &k->buffers[i];

        buf_printf(
            b, "      %s: ", plan_node_name(b->arena, s->facts->g, p->node));
        print_word(b, &buffer_key_info[BK_STORE], p->key[BK_STORE]);
        buf_puts(b, ", reuse ");
        print_word(b, &buffer_key_info[BK_REUSE], p->key[BK_REUSE]);
        buf_printf(b, " (%s)\n", p->reason ? p->reason : "");
    }
}

static void
print_slot(struct buf *b, const struct selection *s, uint32_t index)
{
    const struct variant_slot *slot = &s->slots[index];

    buf_printf(b, "  variant %u", index);
    if (*slot->guard)
        buf_printf(b, " when %s", slot->guard);
    buf_printf(b,
               ", counted with %" PRId64 " rows of %" PRId64
               ": a copy of the bytes takes %" PRId64 " ns\n",
               s->rows, slot->columns, whole(slot->floor_ns));
    for (uint32_t i = 0; i < slot->n_candidates; i++)
        print_candidate(b, slot, i);
    print_buffers(b, s, &slot->candidates[slot->chosen].plan.kernels[0]);
}

void
explain_text(struct buf *b, const struct selection *const *s, uint32_t n,
             const struct device *dev)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "%s on %s\n", s[i]->facts->g->name, dev->name);
        print_refusals(b, s[i]);
        for (uint32_t k = 0; k < s[i]->n_slots; k++)
            print_slot(b, s[i], k);
    }
}
