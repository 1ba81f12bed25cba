/* SPDX-License-Identifier: Apache-2.0 */
/* lower: every variant of a plan, each kernel by the lowering of its
 * scheduler. */
#include "support/base.h"

#include "lower/lower.h"

#include "lower/lower_common.h"
#include "lower/lower_fallback.h"
#include "lower/lower_pointwise.h"
#include "lower/lower_rowwise.h"
#include "sched/parts.h"
#include "support/arena.h"

typedef void lower_fn(struct lower *ctx, const struct kernel_plan *kp,
                      struct lowered_variant *out);

static lower_fn *const lowerings[SCHED_COUNT] = {
    [SCHED_POINTWISE] = lower_pointwise,
    [SCHED_REDUCTION] = lower_rowwise,
    [SCHED_INNER_PERSISTENT] = lower_rowwise,
    [SCHED_INNER_OUTER_PERSISTENT] = lower_rowwise,
    [SCHED_FALLBACK] = lower_fallback,
};

/* True when the input's element is read only where the result's is stored. */
static bool
is_read_where_written(const struct facts *f, const struct access *read,
                      const struct access *written)
{
    if (!sym_equal(read->base, written->base) || read->axes != written->axes)
        return false;
    for (int x = 0; x < f->n_axes; x++)
        if ((read->axes & (1u << x)) &&
            !sym_equal(read->stride[x], written->stride[x]))
            return false;
    return true;
}

/* True when result i, given the buffer of its input, is right under a plan that
 * reads each element before it writes it: the input is read nowhere else, by no
 * thread but the one that writes, and not again in a later phase of the row.
 * What lacks an axis is read by many, and written by one of them or, after a
 * column sum, by a later kernel. */
static bool
may_be_in_place(const struct facts *f, uint32_t i)
{
    const struct result *r = &f->g->results[i];

    if (r->inplace < 0)
        return true;
    if (f->node[facts_value(f, r->node)].level != f->levels)
        return false;
    if (f->stores[i].axes != facts_all_axes(f) &&
        !f->node[facts_value(f, r->node)].after_outer)
        return false;
    for (node_id n = 0; n < f->g->n_nodes; n++) {
        const struct access *acc = &f->accesses[f->node[n].access];

        if (f->node[n].live && f->node[n].is_leaf && acc->param == r->inplace &&
            !is_read_where_written(f, acc, &f->stores[i]))
            return false;
    }
    return true;
}

static bool
all_may_be_in_place(const struct facts *f)
{
    if (!f->axes_ok)
        return false;
    for (uint32_t i = 0; i < f->g->n_results; i++)
        if (!may_be_in_place(f, i))
            return false;
    return true;
}

/* Kernel k of several, or the only one. */
static struct lower
part_of(const struct lower *whole, const struct facts *f,
        const struct variant_plan *vp, uint32_t v, uint32_t k)
{
    struct lower part = *whole;

    part.facts = f;
    part.g = f->g;
    part.names = NULL;
    part.variant = v;
    part.part = k;
    part.n_parts = vp->n_kernels;
    part.prefix = vp->n_kernels > 1
                      ? arena_printf(whole->arena, "v%u_p%u", v, k)
                      : arena_printf(whole->arena, "v%u", v);
    return part;
}

/* Results are written by the last kernel alone. Where a buffer may be shared in
 * a way that its plan doesn't expect, fallback goes through workspace. */
static void
lower_part(struct lower *whole, const struct variant_plan *vp, uint32_t v,
           uint32_t k, struct lowered_variant *lv)
{
    const struct facts *f = part_facts(whole->arena, whole->facts, vp, k);
    struct lower part = part_of(whole, f, vp, v, k);
    lower_fn *fn = lowerings[vp->kernels[k].scheduler];

    assert(fn);
    if (!all_may_be_in_place(f))
        fn = lower_fallback;
    fn(&part, &vp->kernels[k], lv);
}

static struct lowered_variant
lower_variant(struct lower *ctx, const struct variant_plan *vp, uint32_t v)
{
    struct lowered_variant lv = {.guard = vp->guard};

    for (uint32_t k = 0; k < vp->n_kernels; k++)
        lower_part(ctx, vp, v, k, &lv);
    return lv;
}

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
    for (uint32_t v = 0; v < plan->n_variants; v++)
        VEC_PUSH(a, &out->variants, lower_variant(&ctx, &plan->variants[v], v));
    return out;
}
