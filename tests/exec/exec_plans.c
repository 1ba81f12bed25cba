/* SPDX-License-Identifier: Apache-2.0 */
/* exec_plans: everything the schedulers offer, one variant each, and fallback.
 */
#include "support/base.h"

#include "exec.h"

#include "sched/plan_impl.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/diag.h"

#include <stdio.h>
#include <stdlib.h>

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

/* --- plans with other keys ------------------------------------------------ */

static const char set[] = "set.";

static void
change(int64_t *keys, const struct setting *s)
{
    const char *name = s->name + strlen(set);
    int i = key_find(plan_key_info, PK_COUNT, name);

    if (i >= 0 && key_value(&plan_key_info[i], s->value, &keys[i]))
        return;
    fprintf(stderr, "exec: no plan has %s=%s\n", name, s->value);
    exit(EXIT_USAGE);
}

/* Two plans that differed in a changed key only are one. */
static bool
is_twin(const struct fusion_plan *p, const struct variant_plan *v)
{
    for (uint32_t i = 0; i < p->n_variants; i++) {
        const struct kernel_plan *x = p->variants[i].kernels, *y = v->kernels;

        if (x->scheduler == y->scheduler && x->n_buffers == y->n_buffers &&
            memcmp(x->key, y->key, sizeof(x->key)) == 0 &&
            strcmp(p->variants[i].guard, v->guard) == 0 &&
            memcmp(x->buffers, y->buffers,
                   x->n_buffers * sizeof(*x->buffers)) == 0)
            return true;
    }
    return false;
}

struct fusion_plan *
exec_forced(struct arena *a, const struct facts *f, const struct device *dev,
            struct fusion_plan *all, const struct setting *settings, uint32_t n)
{
    struct fusion_plan *p = NEW(a, struct fusion_plan);
    bool any = false;

    *p = (struct fusion_plan){
        all->g, NEW_ARRAY(a, struct variant_plan, all->n_variants + 1), 0};
    for (uint32_t v = 0; v < all->n_variants; v++) {
        struct variant_plan to = all->variants[v];
        struct kernel_plan *k = NEW(a, struct kernel_plan);
        struct plan_cost cost = {0};

        *k = *to.kernels;
        to.kernels = k;
        for (uint32_t i = 0; i < n; i++) {
            if (strncmp(settings[i].name, set, strlen(set)) != 0)
                continue;
            change(k->key, &settings[i]);
            any = true;
        }
        if (k->scheduler != SCHED_FALLBACK &&
            !plan_infeasible(a, f, k, dev, &cost) && !is_twin(p, &to))
            p->variants[p->n_variants++] = to;
    }
    return any ? p : all;
}
