/* SPDX-License-Identifier: Apache-2.0 */
/* explain_table: what else was proposed, a line each: the best of the other
 * kinds, then those that break a limit. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "support/arena.h"
#include "support/buf.h"

enum { MOST_LINES = 10, MOST_REFUSED = 5 };

/* What keeps the same in the same way is of one kind, whatever its geometry. */
static bool
is_repeated(const struct variant_slot *slot, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(slot->candidates[k].summary, slot->candidates[i].summary))
            return true;
    return false;
}

/* The first of those that --set keep= names, or of a scheduler. */
static bool
is_first(const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];

    for (uint32_t k = 0; k < i; k++) {
        const struct candidate *x = &slot->candidates[k];

        if (x->plan.n_kernels == c->plan.n_kernels &&
            x->plan.kernels[0].scheduler == c->plan.kernels[0].scheduler &&
            !x->keep == !c->keep && (!x->keep || !strcmp(x->keep, c->keep)))
            return false;
    }
    return true;
}

/* The first of each kind is, and of the others as many as leave it readable. */
static bool
is_shown(const struct variant_slot *slot, uint32_t i, uint32_t lines)
{
    return is_first(slot, i) || (lines < MOST_LINES && !is_repeated(slot, i));
}

static void
print_head(struct buf *b, uint32_t lines)
{
    if (lines)
        return;
    buf_puts(b, "      other plans, the best of each kind\n"
                "        rank         ns  roofline  registers  shared  blocks  "
                "threads  a row  vectors   grid  plan\n");
}

/* Of one kernel; "-": a block makes one step. */
static void
print_kernel(struct buf *b, const struct kernel_plan *k,
             const struct plan_cost *c)
{
    const int64_t *key = k->key;
    const char *vectors =
        arena_printf(b->arena, "%" PRId64 "x%" PRId64,
                     key[PK_VECTORS_PER_THREAD], key[PK_VECTOR]);
    const char *grid = key[PK_GRID_ROWS] ? arena_printf(b->arena, "%" PRId64,
                                                        key[PK_GRID_ROWS])
                                         : "-";

    buf_printf(b, "%9d  %6d  %6d  %7" PRId64 "  %5" PRId64 "  %7s  %5s  ",
               c->regs, c->smem, c->blocks_per_sm, key[PK_THREADS],
               key[PK_THREADS_PER_ROW], vectors, grid);
}

/* The scheduler, where it isn't that of the chosen plan. */
static void
print_line(struct buf *b, const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];
    const struct kernel_plan *k = &c->plan.kernels[0];

    buf_printf(b, "        %4u %10" PRId64 "  %7d%%  ", i + 1,
               explain_whole(c->plan.cost.total_ns),
               explain_percent(slot->floor_ns, c->plan.cost.total_ns));
    if (c->plan.n_kernels == 1 && k->scheduler != SCHED_FALLBACK)
        print_kernel(b, k, &c->plan.cost);
    if (k->scheduler != slot->candidates[slot->chosen].plan.kernels->scheduler)
        buf_puts(b, explain_scheduler(b->arena, c));
    buf_puts(b, c->summary);
}

static void
print_refused(struct buf *b, const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];

    buf_printf(b, "        %4u %s%s: refused: %s\n", i + 1,
               explain_scheduler(b->arena, c), c->summary, c->refused);
}

static bool
is_given_up(const struct compiled_slot *s, uint32_t i)
{
    for (uint32_t k = 0; s && k < s->n_given_up; k++)
        if (s->given_up[k].candidate == i + 1)
            return true;
    return false;
}

void
explain_table(struct buf *b, const struct variant_slot *slot,
              const struct compiled_slot *compiled)
{
    uint32_t lines = 0, refused = 0, more = 0;

    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        if (i == slot->chosen)
            continue;
        if (slot->candidates[i].refused ? refused >= MOST_REFUSED
                                        : !is_shown(slot, i, lines)) {
            more++;
        } else if (slot->candidates[i].refused) {
            print_refused(b, slot, i);
            refused++;
        } else {
            print_head(b, lines++);
            print_line(b, slot, i);
            buf_puts(b, is_given_up(compiled, i) ? " (given up)\n" : "\n");
        }
    }
    if (more)
        buf_printf(b, "      and %u more: --explain=all\n", more);
}
