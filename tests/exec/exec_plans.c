/* SPDX-License-Identifier: Apache-2.0 */
/* exec_plans: everything the schedulers offer, one variant each, and fallback.
 */
#include "support/base.h"

#include "exec.h"

#include "sched/parts.h"
#include "sched/plan_impl.h"
#include "sched/scheduler.h"
#include "sched/sums.h"
#include "schedulers/select_parts.h"
#include "support/arena.h"
#include "support/diag.h"

#include <stdio.h>
#include <stdlib.h>

/* Plans for longer rows, and clusters, run in cases that force their keys: as
 * they are proposed their threads are too many. */
enum { LONGEST_ROW = 16384 };

typedef VEC(struct variant_plan) variant_vec;

static void
add_fallback(struct arena *a, variant_vec *all)
{
    struct kernel_plan *k = NEW(a, struct kernel_plan);
    struct variant_plan v = {.guard = "", .kernels = k, .n_kernels = 1};

    k->scheduler = SCHED_FALLBACK;
    VEC_PUSH(a, all, v);
}

/* A few of those whose rows arrive through a ring suffice beside the others,
 * and one of several kernels: their own cases have more. */
enum { MOST_RINGS = 2 };

static bool
has_ring(const struct candidate *c)
{
    return c->plan.kernels[0].key[PK_STAGES] > 0;
}

typedef void add_fn(struct arena *a, const struct facts *f,
                    const struct device *dev, const struct variant_plan *v,
                    variant_vec *all);

static void
add_as_it_is(struct arena *a, const struct facts *f, const struct device *dev,
             const struct variant_plan *v, variant_vec *all)
{
    (void)f;
    (void)dev;
    VEC_PUSH(a, all, *v);
}

static void
add_candidates(struct arena *a, const struct facts *f, const struct device *dev,
               uint32_t per_slot, variant_vec *all, add_fn *add)
{
    uint32_t most_rings = add == add_as_it_is ? MOST_RINGS : 0;
    struct select_options opt = {.device = dev};
    struct diag *d = diag_new(a);
    struct selection *s = select_plans(a, f, &opt, d);

    if (!s)
        BUG("no plan at all");
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct variant_slot *slot = &s->slots[i];
        uint32_t rings = 0, parts = 0, n = 0;

        for (uint32_t c = 0; c < slot->n_candidates && n < per_slot; c++) {
            struct variant_plan v = slot->candidates[c].plan;

            if (slot->candidates[c].refused || variant_is_fallback(&v))
                continue;
            if (v.n_kernels > 1 && (add != add_as_it_is || parts++ > 0))
                continue;
            if (v.kernels[0].key[PK_BOUND] > LONGEST_ROW ||
                v.kernels[0].key[PK_CLUSTER] > 1)
                continue;
            if (has_ring(&slot->candidates[c]) && rings++ >= most_rings)
                continue;
            n++;
            v.guard = slot->guard;
            add(a, f, dev, &v, all);
        }
    }
}

/* --- rings ---------------------------------------------------------------- */

static const struct ring_kind {
    int64_t stages;
    enum store store; /* of the rows' inputs; NONE: as they are */
    bool mixed;       /* of every other one */
} ring_kinds[] = {
    {1, STORE_NONE, false},   {2, STORE_NONE, false},   {3, STORE_NONE, false},
    {1, STORE_RING, false},   {2, STORE_RING, false},   {2, STORE_RING, true},
    {1, STORE_SHARED, false}, {3, STORE_SHARED, false},
};

static bool
is_row_leaf(const struct facts *f, node_id n)
{
    return f->node[n].is_leaf && node_has_column(f, n) && node_has_rows(f, n);
}

/* The kernel with its rows through a ring, when it takes one. */
static bool
make_ring(struct arena *a, const struct facts *f, const struct device *dev,
          const struct ring_kind *kind, struct kernel_plan *k)
{
    struct buffer_plan *b = NEW_ARRAY(a, struct buffer_plan, k->n_buffers + 1);
    struct plan_cost cost;
    bool odd = false;

    for (uint32_t i = 0; i < k->n_buffers; i++) {
        b[i] = k->buffers[i];
        if (!is_row_leaf(f, b[i].node))
            continue;
        odd = !odd;
        if (kind->store != STORE_NONE && (odd || !kind->mixed))
            b[i].key[BK_STORE] = kind->store;
    }
    k->buffers = b;
    k->key[PK_STAGES] = k->key[PK_PERSISTENT] ? kind->stages : 1;
    k->key[PK_PREFETCH] = 0;
    return !plan_infeasible(a, f, k, dev, &cost);
}

static bool
is_among(const variant_vec *all, const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < all->n; i++) {
        const struct kernel_plan *o = all->v[i].kernels;

        if (o->scheduler == k->scheduler && o->n_buffers == k->n_buffers &&
            memcmp(o->key, k->key, sizeof(k->key)) == 0 &&
            memcmp(o->buffers, k->buffers,
                   k->n_buffers * sizeof(*k->buffers)) == 0)
            return true;
    }
    return false;
}

static void
add_rings(struct arena *a, const struct facts *f, const struct device *dev,
          const struct variant_plan *v, variant_vec *all)
{
    for (size_t i = 0; i < ARRAY_LEN(ring_kinds); i++) {
        struct kernel_plan *k = NEW(a, struct kernel_plan);
        struct variant_plan r = *v;

        *k = v->kernels[0];
        r.kernels = k;
        if (make_ring(a, f, dev, &ring_kinds[i], k) && !is_among(all, k))
            VEC_PUSH(a, all, r);
    }
}

/* --- plans ---------------------------------------------------------------- */

static struct fusion_plan *
plan_of(struct arena *a, const struct facts *f, const variant_vec *all)
{
    struct fusion_plan *p = NEW(a, struct fusion_plan);

    p->g = f->g;
    p->variants = all->v;
    p->n_variants = all->n;
    return p;
}

struct fusion_plan *
exec_plans(struct arena *a, const struct facts *f, const struct device *dev,
           uint32_t per_slot)
{
    variant_vec all = {0};

    add_fallback(a, &all);
    add_candidates(a, f, dev, per_slot, &all, add_as_it_is);
    return plan_of(a, f, &all);
}

struct fusion_plan *
exec_rings(struct arena *a, const struct facts *f, const struct device *dev,
           uint32_t per_slot)
{
    variant_vec all = {0};

    add_candidates(a, f, dev, per_slot, &all, add_rings);
    if (all.n == 0)
        BUG("no plan of '%s' takes a ring", f->g->name);
    return plan_of(a, f, &all);
}

/* --- parts ---------------------------------------------------------------- */

/* Of vectors and of scalars the first few. */
static void
add_parts(struct arena *a, const struct facts *f, const struct device *dev,
          uint32_t per_slot, variant_vec *all)
{
    struct parts parts;
    struct problem p;

    problem_init(a, f, dev, NULL, 0, &p);
    p.per_summary = 1;
    parts = select_parts(&p);
    for (int vectors = select_have_vectors(&parts); vectors >= 0; vectors--) {
        const char *guard;
        candidate_vec v = {0};

        if (parts.cut.n_kernels)
            v = select_part_plans(&p, &parts, vectors != 0, p.n, &guard);
        for (uint32_t i = 0; i < v.n && i < per_slot; i++)
            VEC_PUSH(a, all, v.v[i]->plan);
    }
}

struct fusion_plan *
exec_parts(struct arena *a, const struct facts *f, const struct device *dev,
           uint32_t per_slot)
{
    variant_vec all = {0};

    add_parts(a, f, dev, per_slot, &all);
    if (all.n == 0)
        BUG("'%s' cannot be cut", f->g->name);
    return plan_of(a, f, &all);
}

struct fusion_plan *
exec_all(struct arena *a, const struct facts *f, const struct device *dev,
         uint32_t per_slot)
{
    variant_vec all = {0};
    bool parts = false;

    add_fallback(a, &all);
    add_candidates(a, f, dev, per_slot, &all, add_as_it_is);
    for (uint32_t i = 0; i < all.n; i++)
        parts |= all.v[i].n_kernels > 1;
    if (!parts)
        add_parts(a, f, dev, 1, &all);
    return plan_of(a, f, &all);
}

/* --- kinds ---------------------------------------------------------------- */

/* What a summary says waits, and where: up to its first ';'. */
static bool
is_new_kind(const struct variant_slot *slot, uint32_t c)
{
    const char *s = slot->candidates[c].summary;
    size_t n = strcspn(s, ";");

    for (uint32_t i = 0; i < c; i++) {
        const char *t = slot->candidates[i].summary;

        if (!slot->candidates[i].refused && strcspn(t, ";") == n &&
            strncmp(s, t, n) == 0)
            return false;
    }
    return true;
}

struct fusion_plan *
exec_kinds(struct arena *a, const struct facts *f, const struct device *dev)
{
    struct select_options opt = {.device = dev};
    struct selection *s = select_plans(a, f, &opt, diag_new(a));
    variant_vec all = {0};

    if (!s)
        BUG("no plan at all");
    for (uint32_t i = 0; i < s->n_slots; i++)
        for (uint32_t c = 0; c < s->slots[i].n_candidates; c++) {
            struct variant_plan v = s->slots[i].candidates[c].plan;

            v.guard = s->slots[i].guard;
            if (!s->slots[i].candidates[c].refused &&
                is_new_kind(&s->slots[i], c))
                VEC_PUSH(a, &all, v);
        }
    return plan_of(a, f, &all);
}

/* --- column sums ---------------------------------------------------------- */

/* The kernel with its column sums in shared memory, of MIXED every other one;
 * false when it takes none there. */
static bool
share_sums(struct arena *a, const struct facts *f, bool mixed,
           struct kernel_plan *k)
{
    struct buffer_plan *b = NEW_ARRAY(a, struct buffer_plan, k->n_buffers + 1);
    bool odd = false, any = false;

    for (uint32_t i = 0; i < k->n_buffers; i++) {
        b[i] = k->buffers[i];
        if (!facts_is_outer(f, b[i].node) || sums_wrong(f, k, b[i].node))
            continue;
        odd = !odd;
        any |= odd || !mixed;
        if (odd || !mixed)
            b[i].key[BK_STORE] = STORE_SHARED;
    }
    k->buffers = b;
    return any;
}

struct fusion_plan *
exec_sums(struct arena *a, const struct facts *f, const struct device *dev,
          struct fusion_plan *all, bool mixed)
{
    variant_vec shared = {0};
    struct plan_cost cost;

    for (uint32_t i = 0; i < all->n_variants; i++) {
        struct kernel_plan *k = NEW(a, struct kernel_plan);
        struct variant_plan v = all->variants[i];

        *k = *v.kernels;
        v.kernels = k;
        if (share_sums(a, f, mixed, k) && !plan_infeasible(a, f, k, dev, &cost))
            VEC_PUSH(a, &shared, v);
    }
    if (shared.n == 0)
        BUG("no plan of '%s' has column sums in shared memory", f->g->name);
    return plan_of(a, f, &shared);
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
        if (to.n_kernels == 1 && k->scheduler != SCHED_FALLBACK &&
            !plan_infeasible(a, f, k, dev, &cost) && !is_twin(p, &to))
            p->variants[p->n_variants++] = to;
    }
    return any ? p : all;
}
