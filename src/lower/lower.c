/* SPDX-License-Identifier: Apache-2.0 */
/* lower: every variant of a plan, each kernel by the lowering of its
 * scheduler. */
#include "support/base.h"

#include "lower/lower.h"

#include "lower/lower_common.h"
#include "lower/lower_fallback.h"
#include "lower/lower_pointwise.h"
#include "lower/lower_rowwise.h"
#include "support/arena.h"

typedef void lower_fn(struct lower *ctx, const struct kernel_plan *kp,
                      uint32_t variant, struct lowered_variant *out);

static lower_fn *const lowerings[SCHED_COUNT] = {
    [SCHED_POINTWISE] = lower_pointwise,
    [SCHED_REDUCTION] = lower_rowwise,
    [SCHED_INNER_PERSISTENT] = lower_rowwise,
    [SCHED_INNER_OUTER_PERSISTENT] = lower_rowwise,
    [SCHED_FALLBACK] = lower_fallback,
};

struct lowered *
lower_fusion(struct arena *a, const struct facts *f,
             const struct fusion_plan *plan)
{
    struct lowered *out = NEW(a, struct lowered);
    struct lower ctx = {
        .arena = a, .facts = f, .g = f->g, .syms = f->g->syms, .out = out};

    assert(plan->g == f->g);
    out->g = f->g;
    out->plan = plan;
    for (uint32_t v = 0; v < plan->n_variants; v++) {
        const struct variant_plan *vp = &plan->variants[v];
        struct lowered_variant lv = {.guard = vp->guard};

        for (uint32_t k = 0; k < vp->n_kernels; k++) {
            assert(lowerings[vp->kernels[k].scheduler]);
            lowerings[vp->kernels[k].scheduler](&ctx, &vp->kernels[k], v, &lv);
        }
        VEC_PUSH(a, &out->variants, lv);
    }
    return out;
}
