/* SPDX-License-Identifier: Apache-2.0 */
/* Measured plans in front of what the cost model ranks. They meet the limits
 * that every candidate meets, and must not need more than the slot's guard
 * gives: a slot admits the same launches with and without them. */
#include "support/base.h"

#include "schedulers/select_set.h"

#include "sched/scheduler.h"
#include "sched/tuned.h"
#include "schedulers/select_parts.h"
#include "support/arena.h"
#include "support/diag.h"

/* A number of a tuning file that names no value of this graph. */
static const char *
unknown_value(const struct problem *p, const struct variant_plan *v)
{
    node_id most = 0;

    for (uint32_t i = 0; i < v->n_kernels; i++) {
        const struct kernel_plan *k = &v->kernels[i];

        for (uint32_t b = 0; b < k->n_buffers; b++)
            most = MAX(most, k->buffers[b].node);
        for (uint32_t w = 0; w < k->n_writes; w++)
            most = MAX(most, k->writes[w]);
    }
    return most < p->f->g->n_nodes
               ? NULL
               : arena_printf(p->arena, "the graph has no value '%%%u'", most);
}

static bool
keeps_guard(const struct problem *p, const struct variant_slot *slot,
            const struct variant_plan *v)
{
    const char *needs = select_guard(p, v);

    return !strcmp(slot->guard, guard_and(p->arena, slot->guard, needs));
}

/* "12.3" */
static const char *
microseconds(struct arena *a, int64_t ns)
{
    int64_t tenths = ns / 100 + (ns % 100 >= 50);

    return arena_printf(a, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

static struct candidate
make_candidate(const struct problem *p, const struct variant_slot *slot,
               const struct tuned_entry *e)
{
    struct candidate c = {.plan = e->plan};
    uint32_t n = e->plan.n_kernels;

    c.plan.guard = slot->guard;
    c.plan.kernels = NEW_ARRAY(p->arena, struct kernel_plan, n);
    memcpy(c.plan.kernels, e->plan.kernels, n * sizeof(*c.plan.kernels));
    c.summary = arena_printf(p->arena, "tuned: measured %s us, %s us without",
                             microseconds(p->arena, e->measured_ns),
                             microseconds(p->arena, e->model_ns));
    return c;
}

static void
put_first(struct arena *a, struct variant_slot *slot, struct candidate c)
{
    struct candidate *v =
        NEW_ARRAY(a, struct candidate, slot->n_candidates + 1);

    v[0] = c;
    memcpy(v + 1, slot->candidates, slot->n_candidates * sizeof(c));
    slot->candidates = v;
    slot->n_candidates++;
    slot->chosen = 0;
}

/* True when an entry of the file was put before the candidates. Those that
 * can't run are reported, unless D is NULL. */
static bool
tune_slot(const struct problem *p, struct selection *sel, uint32_t index,
          const struct tuned_file *file, const char *device, struct diag *d)
{
    struct variant_slot *slot = &sel->slots[index];
    const int64_t sizes[2] = {sel->rows, slot->columns};
    const struct tuned_entry *e;
    uint32_t at = 0;

    while (file && (e = tuned_find(file, p->f->g, device, sizes, &at))) {
        struct candidate c = make_candidate(p, slot, e);
        const char *why;

        why = unknown_value(p, &c.plan);
        if (!why && !keeps_guard(p, slot, &c.plan))
            continue;
        if (!why)
            why = select_cost(p, slot->columns, &c.plan);
        if (!why) {
            put_first(p->arena, slot, c);
            return true;
        }
        if (d)
            diag_report(d, DIAG_TUNED_REFUSED, e->span, p->f->g->name, index,
                        why);
    }
    return false;
}

void
select_tuned(const struct problem *p, struct selection *sel,
             const struct select_options *opt, struct diag *d)
{
    for (uint32_t i = 0; i < sel->n_slots; i++)
        if (!tune_slot(p, sel, i, opt->tuned, opt->device_name, d))
            tune_slot(p, sel, i, opt->measured, opt->device_name, NULL);
}
