/* SPDX-License-Identifier: Apache-2.0 */
/* exec_plans: everything the schedulers offer, one variant each, and fallback.
 */
#include "support/base.h"

#include "exec.h"

#include "sched/select.h"
#include "support/arena.h"
#include "support/diag.h"

typedef VEC(struct variant_plan) variant_vec;

static void
add_fallback(struct arena *a, variant_vec *all)
{
    struct kernel_plan *k = NEW(a, struct kernel_plan);
    struct variant_plan v = {.guard = "", .kernels = k, .n_kernels = 1};

    k->scheduler = SCHED_FALLBACK;
    VEC_PUSH(a, all, v);
}

static void
add_candidates(struct arena *a, const struct facts *f, const struct device *dev,
               uint32_t per_slot, variant_vec *all)
{
    struct select_options opt = {.device = dev};
    struct diag *d = diag_new(a);
    struct selection *s = select_plans(a, f, &opt, d);

    if (!s)
        BUG("no plan at all");
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct variant_slot *slot = &s->slots[i];

        for (uint32_t c = 0; c < slot->n_candidates && c < per_slot; c++) {
            struct variant_plan v = slot->candidates[c].plan;

            if (slot->candidates[c].refused)
                continue;
            if (v.kernels[0].scheduler == SCHED_FALLBACK)
                continue;
            v.guard = slot->guard;
            VEC_PUSH(a, all, v);
        }
    }
}

struct fusion_plan *
exec_plans(struct arena *a, const struct facts *f, const struct device *dev,
           uint32_t per_slot)
{
    struct fusion_plan *p = NEW(a, struct fusion_plan);
    variant_vec all = {0};

    add_fallback(a, &all);
    add_candidates(a, f, dev, per_slot, &all);
    p->g = f->g;
    p->variants = all.v;
    p->n_variants = all.n;
    return p;
}
