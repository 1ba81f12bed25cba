/* SPDX-License-Identifier: Apache-2.0 */
/* --explain as text: who refused, and for each variant the chosen plan in full
 * with the others beside it. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "support/arena.h"
#include "support/buf.h"

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

/* What candidates hold and the source has no name for. */
static void
print_values(struct buf *b, const struct selection *s)
{
    const bool *held = explain_unnamed(s);
    const struct graph *g = s->facts->g;

    for (node_id n = 0; n < g->n_nodes; n++)
        if (held[n])
            buf_printf(b, "  %%%u is %s\n", n, explain_words(b->arena, g, n));
}

static void
print_slot(struct buf *b, const struct explained *e, uint32_t index, bool all)
{
    const struct selection *s = e->selection;
    const struct variant_slot *slot = &s->slots[index];

    buf_printf(b, "  variant %u", index);
    if (*slot->guard)
        buf_printf(b, " when %s", slot->guard);
    buf_printf(b,
               ", counted with %" PRId64 " row%s of %" PRId64
               ": a copy of the bytes takes %" PRId64 " ns\n",
               s->rows, s->rows == 1 ? "" : "s", slot->columns,
               explain_whole(slot->floor_ns));
    explain_plan(b, e, index, slot->chosen);
    if (!all)
        explain_table(b, slot, e->slots ? &e->slots[index] : NULL);
    for (uint32_t i = 0; all && i < slot->n_candidates; i++)
        if (i != slot->chosen)
            explain_plan(b, e, index, i);
}

void
explain_text(struct buf *b, const struct explained *e, uint32_t n, bool all)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct selection *s = e[i].selection;

        buf_printf(b, "%s on %s\n", s->facts->g->name, s->problem->dev->name);
        print_refusals(b, s);
        print_values(b, s);
        for (uint32_t k = 0; k < s->n_slots; k++)
            print_slot(b, &e[i], k, all);
    }
}
