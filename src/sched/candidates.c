/* SPDX-License-Identifier: Apache-2.0 */
/* --candidates: plans to be measured, for programs. Each stands as a plan of
 * the whole file, with the one variant that is measured, and as the kernels of
 * an entry of a tuning file. */
#include "support/base.h"

#include "sched/select.h"

#include "sched/parts.h"
#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

/* The first slot that admits what the cost model counts with. */
static const struct variant_slot *
launched_slot(const struct selection *s)
{
    uint32_t i = 0;

    while (i + 1 < s->n_slots && s->slots[i].columns < s->columns)
        i++;
    return &s->slots[i];
}

static const char *
kernels_text(struct arena *a, const struct variant_plan *v)
{
    struct buf b;

    buf_init(&b, a);
    for (uint32_t k = 0; k < v->n_kernels; k++)
        plan_print_kernel(&b, NULL, &v->kernels[k], k);
    return buf_str(&b);
}

/* The kernels of those that are worth measuring, else NULL: not what stands
 * before under another summary, and fallback only where it has no rival. */
static const char **
rival_texts(struct arena *a, const struct variant_slot *slot)
{
    const char **text = NEW_ARRAY(a, const char *, slot->n_candidates);

    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];

        if (c->refused || (i > 0 && variant_is_fallback(&c->plan)))
            continue;
        text[i] = kernels_text(a, &c->plan);
        for (uint32_t k = 0; k < i && text[i]; k++)
            if (text[k] && !strcmp(text[k], text[i]))
                text[i] = NULL;
    }
    return text;
}

/* How many better ones of its kind there are. */
static uint32_t
place_in_kind(const struct variant_slot *slot, const char *const *text,
              uint32_t i)
{
    uint32_t better = 0;

    for (uint32_t k = 0; k < i; k++)
        better += text[k] && !strcmp(slot->candidates[k].summary,
                                     slot->candidates[i].summary);
    return better;
}

/* The texts of up to MOST of them, half by rank and half kind by kind in turn,
 * so that neither the geometry of the best kind nor another kind is left out;
 * NULL for others. */
static const char **
choose(struct arena *a, const struct variant_slot *slot, uint32_t most)
{
    const char **text = rival_texts(a, slot);
    const char **chosen = NEW_ARRAY(a, const char *, slot->n_candidates);
    uint32_t n = 0;

    for (uint32_t i = 0; i < slot->n_candidates && n < most / 2; i++) {
        chosen[i] = text[i];
        n += text[i] != NULL;
    }
    for (uint32_t place = 0; place < slot->n_candidates; place++)
        for (uint32_t i = 0; i < slot->n_candidates && n < most; i++) {
            if (!text[i] || chosen[i] || place_in_kind(slot, text, i) != place)
                continue;
            chosen[i] = text[i];
            n++;
        }
    return chosen;
}

static void
put_string(struct buf *b, const char *key, const char *s)
{
    buf_printf(b, ", \"%s\": ", key);
    buf_json_string(b, s, strlen(s));
}

static void
put_int(struct buf *b, const char *key, int64_t v)
{
    buf_printf(b, ", \"%s\": %" PRId64, key, v);
}

/* The other fusions of the file as they were chosen. */
static const char *
plan_text(struct arena *a, const struct selection *const *s, uint32_t n,
          uint32_t which, struct variant_plan *v)
{
    const struct fusion_plan **plans =
        NEW_ARRAY(a, const struct fusion_plan *, n);
    struct fusion_plan one = {s[which]->facts->g, v, 1};
    struct buf b;

    for (uint32_t i = 0; i < n; i++)
        plans[i] = i == which ? &one : selection_plan(a, s[i]);
    buf_init(&b, a);
    plan_print(&b, plans, n);
    return buf_str(&b);
}

static int64_t
whole(double x)
{
    return (int64_t)(MIN(x, 9e18) + 0.5);
}

static void
print_slot(struct buf *b, const struct selection *s,
           const struct variant_slot *slot, const char *device)
{
    char signature[17];

    graph_signature(s->facts->g, signature);
    buf_printf(b, "{\"fusion\": ");
    buf_json_string(b, s->facts->g->name, strlen(s->facts->g->name));
    put_string(b, "signature", signature);
    put_string(b, "device", device);
    put_int(b, "rows", s->rows);
    put_int(b, "columns", s->columns);
    put_string(b, "guard", slot->guard);
    put_int(b, "floor_ns", whole(slot->floor_ns));
}

void
candidates_print(struct buf *b, const struct selection *const *s, uint32_t n,
                 const char *device, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct variant_slot *slot = launched_slot(s[i]);
        const char **kernels = choose(b->arena, slot, most);

        for (uint32_t k = 0; k < slot->n_candidates; k++) {
            struct variant_plan v = slot->candidates[k].plan;

            if (!kernels[k])
                continue;
            v.guard = slot->guard;
            print_slot(b, s[i], slot, device);
            put_int(b, "rank", k + 1);
            put_string(b, "scheduler", scheduler_name[v.kernels[0].scheduler]);
            put_string(b, "summary", slot->candidates[k].summary);
            put_int(b, "predicted_ns", whole(v.cost.total_ns));
            put_string(b, "plan", plan_text(b->arena, s, n, i, &v));
            put_string(b, "kernels", kernels[k]);
            buf_puts(b, "}\n");
        }
    }
}
