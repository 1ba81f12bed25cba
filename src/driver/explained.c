/* SPDX-License-Identifier: Apache-2.0 */
/* explained: what is told of the choice of plans on standard output: the
 * selections, beside what the assembler said of the kernels where it ran. */
#include "support/base.h"

#include "driver/pipeline.h"

#include "sched/explain.h"
#include "support/arena.h"

static struct compiled_kernel
compiled_kernel(const struct pipeline *p, const struct launch *l)
{
    const char *symbol = l->kernel->symbol;
    const struct kernel_report *r = report_find(&p->report, symbol);
    struct compiled_kernel k = {.symbol = symbol, .threads = l->block};
    long dynamic = report_dynamic_smem(l->smem);

    if (!r) /* which accept_plans said */
        return k;
    k.registers = (int)r->registers;
    k.local_bytes = (int)report_local_bytes(r);
    k.smem = dynamic < 0 ? -1 : (int)dynamic + (int)r->smem_bytes;
    return k;
}

static void
take_given_up(const struct pipeline *p, const char *fusion, uint32_t slot,
              struct compiled_slot *ret)
{
    struct given_up *v = NEW_ARRAY(p->arena, struct given_up, p->rejected.n);

    for (uint32_t i = 0; i < p->rejected.n; i++) {
        const struct rejected_plan *r = &p->rejected.v[i];

        if (r->variant == slot && !strcmp(r->fusion, fusion))
            v[ret->n_given_up++] =
                (struct given_up){r->candidate, r->local_bytes};
    }
    ret->given_up = v;
}

static const struct compiled_slot *
compiled_slots(const struct pipeline *p, const struct unit *u)
{
    uint32_t n = u->lowered->variants.n;
    struct compiled_slot *s = NEW_ARRAY(p->arena, struct compiled_slot, n);

    for (uint32_t v = 0; v < n; v++) {
        const struct lowered_variant *x = &u->lowered->variants.v[v];
        struct compiled_kernel *k =
            NEW_ARRAY(p->arena, struct compiled_kernel, x->launches.n);

        for (uint32_t i = 0; i < x->launches.n; i++)
            k[i] = compiled_kernel(p, &x->launches.v[i]);
        s[v].kernels = k;
        s[v].n_kernels = x->launches.n;
        take_given_up(p, u->simple->name, v, &s[v]);
    }
    return s;
}

void
explain_choice(const struct pipeline *p, struct buf *to)
{
    const struct options *o = p->options;
    const struct selection **s =
        NEW_ARRAY(p->arena, const struct selection *, p->n_units);
    struct explained *e = NEW_ARRAY(p->arena, struct explained, p->n_units);

    for (uint32_t i = 0; i < p->n_units; i++) {
        const struct unit *u = &p->units[i];

        s[i] = e[i].selection = u->selection ? u->selection : u->given;
        if (p->compiled)
            e[i].slots = compiled_slots(p, u);
    }
    if (o->explain == EXPLAIN_JSON)
        explain_json(to, e, p->n_units);
    else if (o->explain)
        explain_text(to, e, p->n_units, o->explain == EXPLAIN_ALL);
    if (o->candidates)
        candidates_print(to, s, p->n_units, p->device.name, o->candidates);
}
