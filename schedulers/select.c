/* SPDX-License-Identifier: Apache-2.0 */
/* Selection: cuts the launches of a fusion into slots, asks every strategy for
 * candidates, ranks them by predicted time.
 *
 * A static column extent has one slot with the widest vector that divides it,
 * and a scalar one when alignment is only known at launch. A symbolic extent
 * has slots of growing bounds, so that short rows don't pay for long ones. The
 * last slot has no guard: where no strategy takes every shape, it is
 * fallback's. Ranking is deterministic: whole nanoseconds, ties to the smaller
 * plan text. */
#include "support/base.h"

#include "sched/select.h"

#include "sched/parts.h"
#include "sched/plan_impl.h"
#include "sched/ring.h"
#include "sched/scheduler.h"
#include "schedulers/select_parts.h"
#include "schedulers/select_set.h"
#include "support/arena.h"
#include "support/buf.h"

enum {
    MAX_SLOTS = 16,
    PER_SUMMARY = 2, /* where nobody asked for more */
    BOUND_PARTS = 8,
};

/* A plan is compared with several kernels where it takes this many times a copy
 * of what they read and write. */
static const double PARTS_MARGIN = 1.2;

static const int64_t inner_bounds[] = {1024,   8192,   32768,     65536,
                                       131072, 262144, ANY_EXTENT};
static const int64_t inner_outer_bounds[] = {1024,  8192,  16384,
                                             32768, 65536, 131072};
static const int64_t scalar_bounds[] = {2048, ANY_EXTENT};
static const int64_t scalar_outer_bounds[] = {2048, 16384, 131072};
static const int64_t any_bounds[] = {ANY_EXTENT};

static int64_t
whole_ns(const struct candidate *c)
{
    return (int64_t)(MIN(c->plan.cost.total_ns, 1e18) + 0.5);
}

static bool
is_fallback(const struct candidate *c)
{
    return variant_is_fallback(&c->plan);
}

static const char *
candidate_text(struct arena *a, const struct graph *g,
               const struct candidate *c)
{
    struct buf b;

    buf_init(&b, a);
    for (uint32_t k = 0; k < c->plan.n_kernels; k++)
        plan_print_kernel(&b, g, &c->plan.kernels[k], k);
    return buf_str(&b);
}

/* What the order looks at. */
struct rank {
    struct candidate *c;
    int64_t ns;
    bool fallback, kept;
    const char *text; /* of its kernels, once that is asked for */
};

static const char *
rank_text(struct arena *a, const struct graph *g, struct rank *x)
{
    if (!x->text)
        x->text = candidate_text(a, g, x->c);
    return x->text;
}

static bool
ranks_before(struct arena *a, const struct graph *g, struct rank *x,
             struct rank *y)
{
    const char *tx, *ty;

    if (!x->c->refused != !y->c->refused)
        return !x->c->refused;
    if (x->fallback != y->fallback)
        return y->fallback;
    if (x->ns != y->ns)
        return x->ns < y->ns;
    if (x->c->refused) /* as they were proposed */
        return false;
    tx = rank_text(a, g, x);
    ty = rank_text(a, g, y);
    if (strlen(tx) != strlen(ty))
        return strlen(tx) < strlen(ty);
    return strcmp(tx, ty) < 0;
}

/* Merges x[lo..mid) and x[mid..hi), each in order, into y. */
static void
merge(struct arena *a, const struct graph *g, struct rank *x,
      const uint32_t at[3], struct rank *y)
{
    uint32_t i = at[0], k = at[1];

    for (uint32_t n = at[0]; n < at[2]; n++) {
        bool right =
            i == at[1] || (k < at[2] && ranks_before(a, g, &x[k], &x[i]));

        y[n] = right ? x[k++] : x[i++];
    }
}

static struct rank *
ranks_of(struct arena *a, const candidate_vec *v)
{
    struct rank *x = NEW_ARRAY(a, struct rank, v->n);

    for (uint32_t i = 0; i < v->n; i++)
        x[i] = (struct rank){.c = v->v[i],
                             .ns = whole_ns(v->v[i]),
                             .fallback = is_fallback(v->v[i])};
    return x;
}

/* The candidates of x[0..n) in their order. */
static candidate_vec
in_order(struct arena *a, const struct graph *g, struct rank *x, uint32_t n)
{
    struct rank *y = NEW_ARRAY(a, struct rank, n), *t;
    candidate_vec all = {0};

    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t lo = 0; lo < n; lo += 2 * width)
            merge(a, g, x,
                  (uint32_t[]){lo, MIN(lo + width, n), MIN(lo + 2 * width, n)},
                  y);
        t = x;
        x = y;
        y = t;
    }
    for (uint32_t i = 0; i < n; i++)
        VEC_PUSH(a, &all, x[i].c);
    return all;
}

void
select_rank(struct arena *a, const struct graph *g, candidate_vec *v)
{
    *v = in_order(a, g, ranks_of(a, v), v->n);
}

/* The best candidates of one summary, in their order. */
struct kind {
    const char *summary;
    VEC(struct rank *) best;
};

static uint32_t
hash(const char *s)
{
    uint32_t h = 2166136261u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

/* That of the summary, in a table with room left. */
static struct kind *
find_kind(struct kind *k, uint32_t cap, const char *summary)
{
    uint32_t i = hash(summary) % cap;

    while (k[i].summary && strcmp(k[i].summary, summary) != 0)
        i = (i + 1) % cap;
    k[i].summary = summary;
    return &k[i];
}

/* Of one kind the best few, or one that says why none is feasible. */
static void
keep_best(const struct problem *p, struct kind *k, struct rank *x)
{
    uint32_t at = k->best.n, most = p->per_summary;

    VEC_PUSH(p->arena, &k->best, x);
    for (; at > 0 && ranks_before(p->arena, p->f->g, x, k->best.v[at - 1]);
         at--)
        k->best.v[at] = k->best.v[at - 1];
    k->best.v[at] = x;
    x->kept = true;
    while (k->best.n > 1 &&
           (k->best.n > most || k->best.v[k->best.n - 1]->c->refused))
        k->best.v[--k->best.n]->kept = false;
}

/* The best candidates of each kind, all in their order. */
static candidate_vec
thin_out(const struct problem *p, const candidate_vec *v)
{
    struct rank *x = ranks_of(p->arena, v);
    uint32_t cap = 2 * v->n + 1, n = 0;
    struct kind *kinds = NEW_ARRAY(p->arena, struct kind, cap);

    for (uint32_t i = 0; i < v->n; i++)
        keep_best(p, find_kind(kinds, cap, x[i].c->summary), &x[i]);
    for (uint32_t i = 0; i < v->n; i++)
        if (x[i].kept)
            x[n++] = x[i];
    return in_order(p->arena, p->f->g, x, n);
}

static void
cost_candidate(const struct problem *p, const struct slot_shape *s,
               struct candidate *c)
{
    const struct kernel_plan *k = &c->plan.kernels[0];

    c->plan.cost = (struct plan_cost){0};
    c->refused = schedulers[k->scheduler]->cost(p, k, s->n, &c->plan.cost);
}

static void
set_size(const struct problem *p, const struct slot_shape *s,
         struct variant_slot *slot)
{
    double in = p->bytes_in, out = p->bytes_out;

    if (p->f->axes_ok)
        problem_bytes(p, s->n, &in, &out);
    slot->columns = s->n;
    slot->floor_ns =
        p->dev->copy_fixed_ns + (in + out) / p->dev->dram_bytes_per_ns;
}

candidate_vec
select_propose(const struct problem *p, const struct slot_shape *s,
               const char *guard)
{
    candidate_vec v = {0};

    for (int i = 0; i < SCHED_COUNT; i++)
        if (!schedulers[i]->refuse(p))
            schedulers[i]->propose(p, s, &v);
    for (uint32_t i = 0; i < v.n; i++) {
        v.v[i]->plan.guard = guard;
        cost_candidate(p, s, v.v[i]);
    }
    return thin_out(p, &v);
}

/* The parts of the fusion, found when the first slot asks. */
static const struct parts *
parts_of(const struct problem *p)
{
    if (!p->parts->known) {
        *p->parts = select_parts(p);
        p->parts->known = true;
    }
    return p->parts;
}

/* Rows that are read in each phase, or slowly, may take longer than two kernels
 * that read them twice. */
static void
add_parts(const struct problem *p, const struct slot_shape *s,
          const struct variant_slot *slot, candidate_vec *v)
{
    const struct parts *parts;
    const char *guard;
    candidate_vec more;

    if (p->f->kind != GK_INNER_OUTER || is_fallback(v->v[0]))
        return;
    parts = parts_of(p);
    if (!parts->cut.n_kernels ||
        PARTS_MARGIN * select_parts_floor(p, parts, s->n) >=
            v->v[0]->plan.cost.total_ns)
        return;
    more = select_part_plans(p, parts, s->vector > 1, s->n, &guard);
    if (strcmp(guard_and(p->arena, slot->guard, guard), slot->guard) != 0)
        return;
    for (uint32_t i = 0; i < more.n; i++)
        VEC_PUSH(p->arena, v, more.v[i]);
    select_rank(p->arena, p->f->g, v);
}

static void
set_candidates(const struct problem *p, struct variant_slot *slot,
               const candidate_vec *v)
{
    slot->candidates = NEW_ARRAY(p->arena, struct candidate, v->n);
    for (uint32_t i = 0; i < v->n; i++)
        slot->candidates[i] = *v->v[i];
    slot->n_candidates = v->n;
    slot->chosen = 0;
}

static void
fill_slot(const struct problem *p, const struct slot_shape *s,
          struct variant_slot *slot)
{
    candidate_vec v = select_propose(p, s, slot->guard);

    add_parts(p, s, slot, &v);
    set_size(p, s, slot);
    set_candidates(p, slot, &v);
    assert(v.n > 0 && !v.v[0]->refused);
}

/* The columns that a slot is counted with: the likely ones when they come to
 * it, else near them among those that do. It is for more than LOW. */
static int64_t
slot_columns(const struct problem *p, int64_t low, int64_t bound)
{
    int64_t n = p->n;

    if (p->n_static)
        return n;
    if (n <= low)
        n = MIN(2 * low, MAX(p->n_max, 1));
    return bound == ANY_EXTENT ? n : MIN(n, bound);
}

/* True when it is filled. */
static bool
add_slot(const struct problem *p, struct selection *sel, int vector,
         const int64_t range[2])
{
    struct variant_slot *slot = &sel->slots[sel->n_slots];
    struct slot_shape s = {vector, range[1],
                           slot_columns(p, range[0], range[1])};

    for (uint32_t i = 0; i < sel->n_slots; i++)
        if (!*sel->slots[i].guard)
            return false;
    assert(sel->n_slots < MAX_SLOTS);
    slot->guard = problem_guard(p, vector, s.bound);
    fill_slot(p, &s, slot);
    if (is_fallback(&slot->candidates[0]))
        return false;
    /* Plans of several parts have a slot without a bound. */
    if (slot->candidates[0].plan.n_kernels > 1 && !p->n_static)
        return false;
    sel->n_slots++;
    return true;
}

static void
add_slots(const struct problem *p, struct selection *sel, int vector,
          const int64_t *bounds, size_t n)
{
    int64_t low = 0;

    for (size_t i = 0; i < n; i++)
        if (add_slot(p, sel, vector, (int64_t[]){low, bounds[i]}))
            low = bounds[i];
}

/* No strategy takes the slot that was tried last. */
static bool
is_untaken(const struct selection *sel)
{
    const struct variant_slot *slot = &sel->slots[sel->n_slots];

    return slot->n_candidates > 0 && is_fallback(&slot->candidates[0]);
}

/* The same where rows of some bound on may be too long for the device's
 * registers and shared memory: part of the first such range is taken. */
static void
add_slots_as_far(const struct problem *p, struct selection *sel, int vector,
                 const int64_t *bounds, size_t n)
{
    int64_t low = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t bound = bounds[i], step = bound / BOUND_PARTS;

        if (add_slot(p, sel, vector, (int64_t[]){low, bound})) {
            low = bound;
            continue;
        }
        if (!is_untaken(sel))
            continue;
        while (bound > low &&
               !add_slot(p, sel, vector, (int64_t[]){low, bound}))
            bound -= step;
        return;
    }
}

/* A launch on a device that can't hold all blocks at once takes the next
 * variant, guard or not. */
static bool
wants_room(const struct candidate *c)
{
    for (uint32_t k = 0; k < c->plan.n_kernels; k++)
        if (c->plan.kernels[k].key[PK_FINISH] == FINISH_GRID)
            return true;
    return false;
}

/* One of the first N slots takes every launch that the guard admits. */
static bool
first_take_all(const struct selection *sel, uint32_t n, const char *guard)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct variant_slot *s = &sel->slots[i];

        if ((!*s->guard || !strcmp(s->guard, guard)) &&
            !wants_room(&s->candidates[s->chosen]))
            return true;
    }
    return false;
}

static bool
takes_all(const struct selection *sel, const char *guard)
{
    return first_take_all(sel, sel->n_slots, guard);
}

/* A measured plan may take what later slots were for. */
static void
drop_unreached(struct selection *sel)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < sel->n_slots; i++)
        if (!first_take_all(sel, n, sel->slots[i].guard))
            sel->slots[n++] = sel->slots[i];
    sel->n_slots = n;
}

static bool
has_fallback(const struct candidate *c)
{
    for (uint32_t k = 0; k < c->plan.n_kernels; k++)
        if (c->plan.kernels[k].scheduler == SCHED_FALLBACK)
            return true;
    return false;
}

/* Plans of several parts before those of V, whose first is fallback; not those
 * that go through fallback and gain nothing by the other parts. */
static void
put_before(struct arena *a, const candidate_vec *first, candidate_vec *v)
{
    candidate_vec all = {0};

    assert(v->n > 0);
    for (uint32_t i = 0; i < first->n; i++)
        if (!has_fallback(first->v[i]) ||
            whole_ns(first->v[i]) < whole_ns(v->v[0]))
            VEC_PUSH(a, &all, first->v[i]);
    for (uint32_t i = 0; i < v->n; i++)
        VEC_PUSH(a, &all, v->v[i]);
    *v = all;
}

/* The fallback, and behind it what else was proposed, with the limit that it
 * breaks. */
static candidate_vec
fallback_first(const struct problem *p, const struct slot_shape *s)
{
    candidate_vec v = select_propose(p, s, "");

    while (!is_fallback(v.v[0])) {
        v.n--;
        memmove(v.v, v.v + 1, v.n * sizeof(*v.v));
    }
    return v;
}

/* A slot for any columns, by plans of several parts before fallback; none where
 * fallback is best and something is asked for at launch. */
static void
add_any_slot(const struct problem *p, struct selection *sel,
             const candidate_vec *first, const char *guard)
{
    struct slot_shape s = {1, ANY_EXTENT, p->n};
    struct variant_slot *slot = &sel->slots[sel->n_slots];
    candidate_vec v = fallback_first(p, &s);

    assert(sel->n_slots < MAX_SLOTS);
    put_before(p->arena, first, &v);
    if (*guard && is_fallback(v.v[0]))
        return;
    slot->guard = guard;
    set_size(p, &s, slot);
    set_candidates(p, slot, &v);
    sel->n_slots++;
}

/* Any columns in several parts, with vectors. */
static void
add_vector_parts(const struct problem *p, struct selection *sel)
{
    const struct parts *parts = parts_of(p);
    const char *guard;
    candidate_vec v;

    if (!select_have_vectors(parts))
        return;
    v = select_part_plans(p, parts, true, p->n, &guard);
    if (v.n > 0 && !takes_all(sel, guard))
        add_any_slot(p, sel, &v, guard);
}

/* The last slot has no guard: several parts, or fallback. */
static void
close_slots(const struct problem *p, struct selection *sel)
{
    candidate_vec v = {0};
    const struct parts *parts;
    const char *guard = "";

    if (takes_all(sel, ""))
        return;
    parts = parts_of(p);
    if (parts->cut.n_kernels)
        v = select_part_plans(p, parts, false, p->n, &guard);
    if (*guard)
        v.n = 0;
    add_any_slot(p, sel, &v, "");
}

int
select_vector(const struct problem *p)
{
    int v = p->max_vector;

    while (v > 1 && p->n_static && (p->n == 0 || p->n % v))
        v /= 2;
    return v;
}

/* Rows whose columns aren't known: slots of growing bounds. */
static void
make_symbolic_slots(const struct problem *p, struct selection *sel, int vector)
{
    if (p->f->kind == GK_INNER) {
        add_slots(p, sel, vector, inner_bounds, ARRAY_LEN(inner_bounds));
        add_slots(p, sel, 1, scalar_bounds, ARRAY_LEN(scalar_bounds));
        add_vector_parts(p, sel);
        return;
    }
    add_slots_as_far(p, sel, vector, inner_outer_bounds,
                     ARRAY_LEN(inner_outer_bounds));
    add_vector_parts(p, sel);
    add_slots_as_far(p, sel, 1, scalar_outer_bounds,
                     ARRAY_LEN(scalar_outer_bounds));
}

static void
make_slots(const struct problem *p, struct selection *sel)
{
    enum graph_kind kind = p->f->kind;
    int vector = select_vector(p);
    int64_t fixed[] = {MAX(p->n, 1)};

    if (!p->f->axes_ok || kind == GK_OTHER) {
        add_vector_parts(p, sel);
    } else if (kind == GK_POINTWISE || kind == GK_OUTER) {
        add_slots(p, sel, vector, any_bounds, 1);
        add_slots(p, sel, 1, any_bounds, 1);
        add_vector_parts(p, sel);
    } else if (p->n_static) {
        add_slots(p, sel, vector, fixed, 1);
        add_vector_parts(p, sel);
        add_slots(p, sel, 1, fixed, 1);
    } else {
        make_symbolic_slots(p, sel, vector);
    }
}

static void
collect_refusals(const struct problem *p, struct selection *sel)
{
    sel->refusals = NEW_ARRAY(p->arena, struct refusal, SCHED_COUNT);
    sel->notes = NEW_ARRAY(p->arena, struct refusal, SCHED_COUNT);
    for (int i = 0; i < SCHED_COUNT; i++) {
        const char *why = schedulers[i]->refuse(p);
        const char *note =
            !why && schedulers[i]->note ? schedulers[i]->note(p) : NULL;

        if (why)
            sel->refusals[sel->n_refusals++] =
                (struct refusal){(enum scheduler_id)i, why};
        if (note)
            sel->notes[sel->n_notes++] =
                (struct refusal){(enum scheduler_id)i, note};
    }
}

/* Without slots. */
static struct selection *
new_selection(struct arena *a, const struct facts *f,
              const struct select_options *opt)
{
    struct selection *sel = NEW(a, struct selection);
    struct problem *p = NEW(a, struct problem);

    problem_init(a, f, opt->device, opt->hints, opt->n_hints, p);
    p->parts = NEW(a, struct parts);
    p->per_summary = opt->n_candidates ? opt->n_candidates : PER_SUMMARY;
    sel->facts = f;
    sel->problem = p;
    sel->rows = p->m;
    sel->columns = p->n;
    collect_refusals(p, sel);
    return sel;
}

struct selection *
select_plans(struct arena *a, const struct facts *f,
             const struct select_options *opt, struct diag *d)
{
    struct selection *sel = new_selection(a, f, opt);
    const struct problem *p = sel->problem;

    sel->slots = NEW_ARRAY(a, struct variant_slot, MAX_SLOTS);
    make_slots(p, sel);
    close_slots(p, sel);
    if (opt->tuned || opt->measured) {
        select_tuned(p, sel, opt, d);
        drop_unreached(sel);
    }
    for (uint32_t i = 0; i < opt->n_sets; i++)
        if (!select_set(p, sel, opt, opt->sets[i], d))
            return NULL;
    if (opt->n_sets && !select_check_sets(p, sel, opt, d))
        return NULL;
    close_slots(p, sel);
    return sel;
}

/* Counted with the columns of its variant, as far as a bound tells them. */
static void
add_given(struct selection *sel, const struct variant_plan *v)
{
    const struct problem *p = sel->problem;
    struct variant_slot *slot = &sel->slots[sel->n_slots++];
    struct candidate *c = NEW(p->arena, struct candidate);
    int64_t bound = v->n_kernels == 1 ? v->kernels->key[PK_BOUND] : ANY_EXTENT;
    struct slot_shape s = {.n = p->n};

    if (!p->n_static && bound != ANY_EXTENT)
        s.n = MIN(s.n, bound);
    set_size(p, &s, slot);
    c->plan = *v;
    c->summary = "given by --plan";
    c->refused = select_cost(p, s.n, &c->plan);
    slot->guard = v->guard;
    slot->candidates = c;
    slot->n_candidates = 1;
}

struct selection *
select_given(struct arena *a, const struct facts *f,
             const struct select_options *opt, const struct fusion_plan *plan)
{
    struct selection *sel = new_selection(a, f, opt);

    sel->slots = NEW_ARRAY(a, struct variant_slot, plan->n_variants + 1);
    for (uint32_t i = 0; i < plan->n_variants; i++)
        add_given(sel, &plan->variants[i]);
    return sel;
}

struct fusion_plan *
selection_plan(struct arena *a, const struct selection *s)
{
    struct fusion_plan *p = NEW(a, struct fusion_plan);

    p->g = s->facts->g;
    p->n_variants = s->n_slots;
    p->variants = NEW_ARRAY(a, struct variant_plan, s->n_slots);
    for (uint32_t i = 0; i < s->n_slots; i++) {
        p->variants[i] = s->slots[i].candidates[s->slots[i].chosen].plan;
        p->variants[i].guard = s->slots[i].guard;
    }
    return p;
}

/* As many elements a thread as in X, which has spilled, and no more room; in
 * every kernel. */
static bool
spills_alike(const struct candidate *c, const struct candidate *x,
             const struct device *dev)
{
    if (c->plan.n_kernels != x->plan.n_kernels)
        return false;
    for (uint32_t i = 0; i < c->plan.n_kernels; i++) {
        const struct kernel_plan *k = &c->plan.kernels[i];
        const struct kernel_plan *kx = &x->plan.kernels[i];

        if (k->scheduler != kx->scheduler ||
            k->key[PK_VECTOR] * k->key[PK_VECTORS_PER_THREAD] !=
                kx->key[PK_VECTOR] * kx->key[PK_VECTORS_PER_THREAD])
            return false;
    }
    return select_room(c, dev) <= select_room(x, dev);
}

/* In the last slot, which takes what no other does. */
static bool
leaves_open(const struct selection *s, uint32_t at, const struct candidate *c)
{
    return at + 1 == s->n_slots && wants_room(c);
}

bool
selection_next(struct selection *s, uint32_t at, const struct device *dev)
{
    struct variant_slot *slot = &s->slots[at];
    const struct candidate *was = &slot->candidates[slot->chosen];

    for (uint32_t i = slot->chosen + 1; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];

        if (c->refused)
            return false;
        if (!spills_alike(c, was, dev) && !leaves_open(s, at, c)) {
            slot->chosen = i;
            return true;
        }
    }
    return false;
}

bool
selection_roomiest(struct selection *s, uint32_t at, const struct device *dev)
{
    struct variant_slot *slot = &s->slots[at];
    uint32_t best = slot->chosen;
    int most = 0;

    for (uint32_t i = slot->chosen + 1; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];

        if (c->refused || is_fallback(c) || select_room(c, dev) <= most ||
            leaves_open(s, at, c))
            continue;
        most = select_room(c, dev);
        best = i;
    }
    if (best == slot->chosen)
        return false;
    slot->chosen = best;
    return true;
}

const char *
plan_infeasible(struct arena *a, const struct facts *f,
                const struct kernel_plan *k, const struct device *dev,
                struct plan_cost *ret)
{
    struct problem p;
    struct plan_cost c = {0};
    const char *why;
    int64_t n;

    problem_init(a, f, dev, NULL, 0, &p);
    n = p.n;
    if (!p.n_static && k->key[PK_BOUND])
        n = MIN(n, k->key[PK_BOUND]);
    why = schedulers[k->scheduler]->refuse(&p);
    if (!why)
        why = schedulers[k->scheduler]->cost(&p, k, n, &c);
    *ret = c;
    return why;
}

const char *
plan_required_guard(struct arena *a, const struct facts *f,
                    const struct kernel_plan *k)
{
    static const struct device none = {0};
    struct problem p;

    if (k->scheduler == SCHED_FALLBACK)
        return "";
    problem_init(a, f, &none, NULL, 0, &p);
    return problem_guard(&p, MAX((int)k->key[PK_VECTOR], ring_vector(f, k)),
                         k->key[PK_BOUND]);
}
