/* SPDX-License-Identifier: Apache-2.0 */
/* --set [FUSION.][vN.][kN.][BUFFER.]KEY=VALUE. Without vN it changes every
 * variant but fallback's. The key `keep` is none of a plan: it chooses the best
 * candidate of a kind, which later --set options may change. */
#include "support/base.h"

#include "schedulers/select_set.h"

#include "sched/parts.h"
#include "sched/plan_impl.h"
#include "schedulers/select_parts.h"
#include "support/arena.h"
#include "support/diag.h"

static const struct span nowhere;

struct set {
    const struct problem *p;
    const char *text;
    struct diag *d;
    int variant, kernel; /* -1: all */
    bool has_node, skip;
    node_id node;
    const char *key, *value;
};

static bool
complain(const struct set *s, const char *why)
{
    diag_report(s->d, DIAG_BAD_SET, nowhere, s->text, why);
    return false;
}

/* "v12" with letter 'v'. */
static bool
is_index(const char *word, char letter, int *ret)
{
    int v = 0;

    if (word[0] != letter || !word[1])
        return false;
    for (const char *c = word + 1; *c; c++) {
        if (*c < '0' || *c > '9' || v > 1000)
            return false;
        v = v * 10 + (*c - '0');
    }
    *ret = v;
    return true;
}

static bool
is_other_fusion(const struct select_options *opt, const char *word)
{
    for (uint32_t i = 0; i < opt->n_fusions; i++)
        if (!strcmp(opt->fusions[i], word))
            return true;
    return false;
}

static bool
read_part(struct set *s, const struct select_options *opt, const char *word,
          bool first)
{
    const struct graph *g = s->p->f->g;

    if (first && !strcmp(word, g->name))
        return true;
    if (first && is_other_fusion(opt, word)) {
        s->skip = true;
        return true;
    }
    if (!s->has_node && s->kernel < 0 && is_index(word, 'v', &s->variant))
        return true;
    if (!s->has_node && is_index(word, 'k', &s->kernel))
        return true;
    if (!s->has_node && plan_find_node(s->p->arena, g, word, &s->node)) {
        s->has_node = true;
        return true;
    }
    return complain(s, arena_printf(s->p->arena,
                                    "'%s' is no fusion, variant, kernel or "
                                    "value",
                                    word));
}

static bool
read_path(struct set *s, const struct select_options *opt)
{
    const char *at = s->text, *eq = strchr(s->text, '=');
    bool first = true;

    if (!eq)
        return complain(s, "'=' is missing");
    while (!s->skip) {
        size_t n = strcspn(at, ".=");
        const char *word = arena_strndup(s->p->arena, at, n);

        if (at[n] == '=') {
            s->key = word;
            break;
        }
        if (!read_part(s, opt, word, first))
            return false;
        first = false;
        at += n + 1;
    }
    s->value = eq + 1;
    return true;
}

/* Of a copy: candidates that differ in their geometry share their buffers. */
static int64_t *
buffer_keys(const struct set *s, struct kernel_plan *k)
{
    struct buffer_plan b = {.node = s->node, .reason = "given by --set"};
    struct buffer_plan *copy =
        NEW_ARRAY(s->p->arena, struct buffer_plan, k->n_buffers + 1);

    for (uint32_t i = 0; i < k->n_buffers; i++)
        copy[i] = k->buffers[i];
    k->buffers = copy;
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        if (copy[i].node != s->node)
            continue;
        copy[i].reason = b.reason;
        return copy[i].key;
    }
    copy[k->n_buffers++] = b;
    return copy[k->n_buffers - 1].key;
}

static bool
set_key(const struct set *s, struct kernel_plan *k)
{
    const struct key_info *table =
        s->has_node ? buffer_key_info : plan_key_info;
    int n = s->has_node ? BK_COUNT : PK_COUNT;
    int key = key_find(table, n, s->key);
    int64_t v;

    if (key < 0)
        return complain(
            s, arena_printf(s->p->arena,
                            "unknown key '%s'; see fusec --list-plan-keys",
                            s->key));
    if (!key_value(&table[key], s->value, &v))
        return complain(s, arena_printf(s->p->arena, "'%s' is no value of '%s'",
                                        s->value, s->key));
    if (s->has_node && ((key == BK_STORE && v == STORE_WORKSPACE) ||
                        (key == BK_REUSE && v == REUSE_KERNELS)))
        return complain(s, "where a fusion is cut is changed with --plan");
    if (s->has_node)
        buffer_keys(s, k)[key] = v;
    else
        k->key[key] = v;
    return true;
}

/* The best candidate that keeps what the word says, or why there is none. */
static bool
choose_kind(const struct set *s, struct variant_slot *slot)
{
    const struct candidate *refused = NULL;

    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];

        if (!c->keep || strcmp(c->keep, s->value) != 0)
            continue;
        if (!c->refused) {
            slot->chosen = i;
            return true;
        }
        refused = refused ? refused : c;
    }
    if (refused)
        return complain(s, arena_printf(s->p->arena, "%s: %s", refused->summary,
                                        refused->refused));
    return complain(s, "no candidate keeps that; there are projection, "
                       "no_projection, mixed and nothing");
}

/* The summary was made of the plan as it was proposed. */
static void
mark_changed(const struct set *s, struct candidate *c)
{
    static const char mark[] = "; with fields given by --set";

    if (!strstr(c->summary, mark))
        c->summary = arena_printf(s->p->arena, "%s%s", c->summary, mark);
}

static bool
set_slot(const struct set *s, struct variant_slot *slot, int index)
{
    struct candidate *c = &slot->candidates[slot->chosen];
    bool fallback = variant_is_fallback(&c->plan);

    if (s->variant >= 0 ? s->variant != index : fallback)
        return true;
    if (!s->has_node && !strcmp(s->key, "keep"))
        return choose_kind(s, slot);
    if (s->kernel >= (int)c->plan.n_kernels)
        return complain(s, "no such kernel");
    for (int k = 0; k < (int)c->plan.n_kernels; k++)
        if ((s->kernel < 0 || s->kernel == k) &&
            !set_key(s, &c->plan.kernels[k]))
            return false;
    mark_changed(s, c);
    return true;
}

bool
select_set(const struct problem *p, struct selection *sel,
           const struct select_options *opt, const char *text, struct diag *d)
{
    struct set s = {.p = p, .text = text, .d = d, .variant = -1, .kernel = -1};

    if (!read_path(&s, opt))
        return false;
    if (s.skip)
        return true;
    if (s.variant >= (int)sel->n_slots)
        return complain(&s, "no such variant");
    for (uint32_t i = 0; i < sel->n_slots; i++)
        if (!set_slot(&s, &sel->slots[i], (int)i))
            return false;
    return true;
}

/* All fields are set before any is judged, so that two may depend on each
 * other. */
bool
select_check_sets(const struct problem *p, struct selection *sel,
                  const struct select_options *opt, struct diag *d)
{
    for (uint32_t i = 0; i < sel->n_slots; i++) {
        struct variant_slot *slot = &sel->slots[i];
        struct candidate *c = &slot->candidates[slot->chosen];

        c->plan.cost = (struct plan_cost){0};
        c->refused = select_cost(p, slot->columns, &c->plan);
        if (c->refused) {
            diag_report(d, DIAG_BAD_SET, nowhere, opt->sets[opt->n_sets - 1],
                        arena_printf(p->arena, "variant %u %s", i, c->refused));
            return false;
        }
        slot->guard =
            guard_and(p->arena, slot->guard, select_guard(p, &c->plan));
        c->plan.guard = slot->guard;
    }
    return true;
}
