/* SPDX-License-Identifier: Apache-2.0 */
/* Selection: every program has a plan, every shape is admitted by some variant,
 * what is chosen is feasible and the cheapest, and the choice between inputs
 * and computed values follows predicted time. */
#include "select_fixture.h"

#include "sched/explain.h"
#include "sched/parts.h"
#include "support/buf.h"

#include <stdlib.h>

static struct selection *
select_text(const char *text)
{
    return select_on(text, device_find("h200"));
}

static int64_t
key(const struct candidate *c, enum plan_key k)
{
    return c->plan.kernels[0].key[k];
}

/* Its terms are all of the time. */
static void
check_terms(const struct plan_cost *c)
{
    double sum = 0;

    for (int i = 0; i < CT_COUNT; i++)
        sum += c->term[i];
    assert_true(sum > c->total_ns - 1e-6 * (1 + c->total_ns));
    assert_true(sum < c->total_ns + 1e-6 * (1 + c->total_ns));
}

/* What must hold of any selection on a device. */
static void
check_selection(const struct selection *s, const struct device *dev)
{
    assert_true(s->n_slots > 0);
    assert_string_equal(s->slots[s->n_slots - 1].guard, "");
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct candidate *c = chosen(s, i);
        double last = 0;
        struct plan_cost cost;

        assert_null(c->refused);
        for (uint32_t k = 0; k < c->plan.n_kernels; k++) {
            assert_null(part_refuse(arena, s->facts, &c->plan, k));
            assert_null(
                plan_infeasible(arena, part_facts(arena, s->facts, &c->plan, k),
                                &c->plan.kernels[k], dev, &cost));
        }
        assert_true(i + 1 == s->n_slots || *s->slots[i].guard ||
                    key(c, PK_FINISH) == FINISH_GRID);
        for (uint32_t k = 0; k < s->slots[i].n_candidates; k++) {
            const struct candidate *x = &s->slots[i].candidates[k];

            check_terms(&x->plan.cost);
            if (x->refused)
                continue;
            /* Nothing is faster than a copy of what must move. */
            assert_true(x->plan.cost.total_ns > 0.9 * s->slots[i].floor_ns);
            if (variant_is_fallback(&x->plan))
                continue;
            assert_true(x->plan.cost.total_ns + 1 >= last);
            last = x->plan.cost.total_ns;
        }
    }
}

static const char *const bodies[] = {
    "fusion f(x: %s[%s, %s], w: %s[%s]) -> (y: %s[%s, %s])"
    "{ y = x * rsqrt(mean(x * x, axis=1, keepdim=true)) * w; }",
    "fusion f(x: %s[%s, %s], w: %s[%s]) -> (y: %s[%s, %s], s: f32[%s])"
    "{ g = x * w; y = g - x * mean(g, axis=1, keepdim=true);"
    "  s = sum(g, axis=0); }",
    "fusion f(x: %s[%s, %s], w: %s[%s]) -> (y: %s[%s, %s], s: f32[%s])"
    "{ y = x * w; s = sum(x, axis=0); }",
    "fusion f(x: %s[%s, %s], w: %s[%s]) -> (y: %s[%s, %s])"
    "{ y = x + w; }",
};

static const char *
instance(size_t body, const char *t, const char *m, const char *n)
{
    return arena_printf(arena, bodies[body], t, m, n, t, n, t, m, n, n);
}

static int64_t
columns_held(const struct candidate *c)
{
    return key(c, PK_CLUSTER) * key(c, PK_THREADS_PER_ROW) * key(c, PK_VECTOR) *
           key(c, PK_VECTORS_PER_THREAD);
}

static void
every_shape_has_a_plan(void **state)
{
    static const char *const types[] = {"f32", "bf16", "f64"};
    static const int columns[] = {0,    1,    2,     3,     7,     8,    24,
                                  31,   32,   33,    63,    108,   1000, 1001,
                                  5140, 8192, 10242, 15057, 16384, 65536};
    static const int rows[] = {0, 1, 108, 8192};

    (void)state;
    for (size_t b = 0; b < ARRAY_LEN(bodies); b++)
        for (size_t t = 0; t < ARRAY_LEN(types); t++)
            for (size_t n = 0; n < ARRAY_LEN(columns); n++) {
                const char *m =
                    arena_printf(arena, "%d", rows[(n + t) % ARRAY_LEN(rows)]);
                const char *text = instance(
                    b, types[t], m, arena_printf(arena, "%d", columns[n]));
                struct selection *s = select_text(text);
                const struct candidate *c = chosen(s, 0);

                check_selection(s, device_find("h200"));
                if (b < 2 && !key(c, PK_LOOPED) && c->plan.n_kernels == 1 &&
                    c->plan.kernels[0].scheduler != SCHED_FALLBACK)
                    assert_true(columns_held(c) >= columns[n]);
                if (columns[n] > 1)
                    assert_int_equal(columns[n] % key(c, PK_VECTOR), 0);
            }
}

/* Few rows need no second kernel, and all of a tensor no single block. A device
 * that can't hold a grid at once has another variant. */
static void
few_rows_finish_inside(void **state)
{
    static const char *const rows[] = {"16", "64", "128"};
    struct selection *s;

    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(rows); m++)
        for (size_t b = 1; b <= 2; b++) {
            s = select_text(instance(b, "bf16", rows[m], "1024"));
            assert_true(key(chosen(s, 0), PK_FINISH) != FINISH_KERNEL);
            assert_true(key(chosen(s, 0), PK_FINISH) != FINISH_PDL_KERNEL);
            assert_string_equal(s->slots[s->n_slots - 1].guard, "");
            assert_int_not_equal(key(chosen(s, s->n_slots - 1), PK_FINISH),
                                 FINISH_GRID);
        }
    s = select_text("fusion f(x: f32[4096, 4096]) -> (y: f32[]) "
                    "{ y = sum(x); }");
    assert_int_equal(key(chosen(s, 0), PK_FINISH), FINISH_LAST_BLOCK);
    assert_true(key(chosen(s, 0), PK_GRID_ROWS) >= 132);
}

/* Clusters hold rows of 131072 columns, whatever divides them. */
static void
long_rows_go_to_clusters(void **state)
{
    static const char *const devices[] = {"b200", "h100", "h200"};
    static const char *const columns[] = {"16384", "20000", "65537", "131072"};

    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++)
        for (size_t n = 0; n < ARRAY_LEN(columns); n++) {
            struct selection *s =
                select_on(instance(1, "f32", "2048", columns[n]),
                          device_find(devices[d]));
            const struct candidate *c = chosen(s, 0);

            assert_int_equal(c->plan.kernels[0].scheduler,
                             SCHED_INNER_OUTER_PERSISTENT);
            /* One block holds 16384 columns of one input. */
            assert_true(key(c, PK_CLUSTER) > 1 || n == 0);
        }
}

static void
every_device_has_a_plan(void **state)
{
    (void)state;
    for (unsigned i = 0; i < device_rows_count; i++)
        for (size_t b = 0; b < ARRAY_LEN(bodies); b++) {
            struct selection *s =
                select_on(instance(b, "bf16", "M", "N"), &device_rows[i]);

            check_selection(s, &device_rows[i]);
        }
}

static void
guards_name_what_is_not_proven(void **state)
{
    struct selection *s = select_text(
        "fusion f(x: bf16[M, N] strides(S, 1) align(2)) -> (y: bf16[M, N])"
        "{ y = softmax(x); }");

    (void)state;
    assert_string_equal(s->slots[0].guard,
                        "N <= 1024 && N % 8 == 0 && x.align >= 16 && S % 8 == "
                        "0");
    s = select_text("fusion f(x: bf16[M, N]) -> (y: bf16[M, N])"
                    " requires N % 8 == 0, N <= 512 { y = softmax(x); }");
    assert_string_equal(s->slots[0].guard, "");
    assert_int_equal(s->n_slots, 1);
    s = select_text("fusion f(x: f32[M, 768]) -> (y: f32[M, 768])"
                    "{ y = softmax(x); }");
    assert_int_equal(s->n_slots, 1);
    assert_int_equal(key(chosen(s, 0), PK_VECTOR), 4);
}

static void
kinds_go_to_their_strategy(void **state)
{
    static const struct {
        const char *text;
        enum scheduler_id id;
    } rows[] = {
        {"fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = x * 2.0; }",
         SCHED_POINTWISE},
        {"fusion f(x: f32[M, N]) -> (y: f32[M]) { y = sum(x, axis=1); }",
         SCHED_REDUCTION},
        {"fusion f(x: f32[M, N]) -> (y: f32[N]) { y = sum(x, axis=0); }",
         SCHED_REDUCTION},
        {"fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = softmax(x); }",
         SCHED_INNER_PERSISTENT},
        {"fusion f(x: f32[M, N], z: f32[M, N])"
         " -> (y: f32[M, N], s: f32[N])"
         "{ y = x - sum(x, axis=1, keepdim=true); s = sum(z, axis=0); }",
         SCHED_INNER_OUTER_PERSISTENT},
        {"fusion f(x: f32[K, M, N]) -> (y: f32[M]) { y = max(x, axis=[0, 2]); "
         "}",
         SCHED_FALLBACK},
        {"fusion f(x: f32[]) -> (y: f32[]) { y = x * 2.0; }", SCHED_FALLBACK},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct selection *s = select_text(rows[i].text);

        assert_int_equal(chosen(s, 0)->plan.kernels[0].scheduler, rows[i].id);
        if (rows[i].id == SCHED_FALLBACK)
            assert_int_equal(s->n_refusals, SCHED_COUNT - 1);
    }
}

static void
rejection_ends_at_fallback(void **state)
{
    struct selection *s = select_text(instance(1, "bf16", "8192", "4096"));
    const struct device *dev = device_find("h200");
    uint32_t steps = 0;

    (void)state;
    assert_true(selection_roomiest(s, 0, dev));
    assert_int_not_equal(chosen(s, 0)->plan.kernels[0].scheduler,
                         SCHED_FALLBACK);
    s->slots[0].chosen = 0;
    while (selection_next(s, 0, dev)) {
        assert_null(chosen(s, 0)->refused);
        steps++;
    }
    assert_true(steps >= 3);
    assert_int_equal(chosen(s, 0)->plan.kernels[0].scheduler, SCHED_FALLBACK);
}

static const char explain_many[] =
    "fusion f(a: f32[8192, 4096], b: f32[8192, 4096], c: f32[8192, 4096],"
    "  d: f32[8192, 4096], e: f32[8192, 4096], x: f32[8192, 4096],"
    "  weight: f32[4096]) -> (y: f32[8192, 4096], total: f32[4096])"
    "{ v = (a + b + c + d + e + x) * weight;"
    "  y = v - sum(v, axis=1, keepdim=true); total = sum(x, axis=0); }";
static const char explain_packed[] =
    "fusion f(x: bf16[8192, 1024]) -> (y: bf16[8192, 1024])"
    "{ v = x * x + 1.0; y = v / sum(v, axis=1, keepdim=true); }";

static bool
is_projected(const struct selection *s)
{
    return strcmp(chosen(s, 0)->keep, "projection") == 0;
}

/* Some input stays in registers over the rows. */
static bool
keeps_an_invariant(const struct selection *s)
{
    const struct kernel_plan *k = chosen(s, 0)->plan.kernels;

    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (s->facts->node[k->buffers[i].node].is_leaf &&
            k->buffers[i].key[BK_STORE] == STORE_REGISTER_PACKED &&
            k->buffers[i].key[BK_REUSE] == 2)
            return true;
    return false;
}

static void
the_cut_follows_predicted_time(void **state)
{
    const char *why;
    const struct device *h200 = device_find("h200");

    (void)state;
    assert_true(keeps_an_invariant(select_text(
        "fusion f(dy: f32[8192, 8192], x: f32[8192, 8192], w: f32[8192])"
        " -> (dx: f32[8192, 8192], dw: f32[8192])"
        "{ g = dy * w; dx = g - x * mean(g * x, axis=1, keepdim=true);"
        "  dw = sum(dy * x, axis=0); }")));
    assert_false(is_projected(select_text(explain_many)));
    assert_false(is_projected(select_text(
        "fusion f(a: f32[8192, 4096], b: f32[8192, 4096], c: f32[8192, 4096])"
        " -> (y: f32[8192, 4096])"
        "{ v = a * b + c; y = v / sum(v, axis=1, keepdim=true); }")));
    assert_true(is_projected(select_text(explain_packed)));
    assert_true(keeps_an_invariant(select_on(
        explain_many, device_override(arena, h200, "l2_rate=1000", &why))));
    assert_false(is_projected(select_on(
        explain_packed, device_override(arena, h200, "regs=131072", &why))));
}

static struct selection *
select_with(const char *text, const char *const *sets, uint32_t n)
{
    struct select_options opt = {
        .device = device_find("h200"), .sets = sets, .n_sets = n};

    return select_plans(arena, facts_of(text), &opt, diag);
}

static void
fields_can_be_set(void **state)
{
    static const char *const good[] = {
        "f.v0.k0.finish=kernel", "x.store=reload", "stages=0", "prefetch=0"};
    static const char *const bad[] = {
        "speed=9",      "threads",           "vector=3x",
        "z.store=none", "threads_per_row=7", "v9.vector=1",
        "k1.vector=1",  "x.store=slowly",    "stages=17",
    };
    const char *text = instance(1, "bf16", "8192", "4096");
    struct selection *s = select_with(text, good, ARRAY_LEN(good));

    (void)state;
    assert_non_null(s);
    assert_int_equal(key(chosen(s, 0), PK_FINISH), FINISH_KERNEL);
    assert_int_equal(key(chosen(s, 0), PK_PREFETCH), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        unsigned before = diag_errors(diag);

        if (select_with(text, &bad[i], 1))
            fail_msg("'%s' is accepted", bad[i]);
        assert_int_equal(diag_errors(diag), before + 1);
    }
}

/* A kernel that keeps its row packed, with a ring on some device. */
static const char *
ring_refusal(const char *text, const char *device, const char *store,
             int64_t stages)
{
    const struct device *dev = device_find(device);
    const struct selection *s = select_on(text, dev);
    struct kernel_plan k = chosen(s, 0)->plan.kernels[0];
    struct plan_cost cost;
    struct buffer_plan *b = NEW_ARRAY(arena, struct buffer_plan, k.n_buffers);
    int64_t word = STORE_REGISTER_PACKED;

    if (*store)
        word = !strcmp(store, "ring") ? STORE_RING : STORE_SHARED;
    for (uint32_t i = 0; i < k.n_buffers; i++) {
        b[i] = k.buffers[i];
        if (b[i].key[BK_REUSE] == 1)
            b[i].key[BK_STORE] = word;
    }
    k.buffers = b;
    k.key[PK_PREFETCH] = 0;
    k.key[PK_STAGES] = stages;
    return plan_infeasible(arena, s->facts, &k, dev, &cost);
}

static void
rings_are_refused_with_their_limit(void **state)
{
    const char *wide = "fusion f(dy: f32[8192, 8192], x: f32[8192, 8192])"
                       " -> (y: f32[8192, 8192], s: f32[8192])"
                       "{ y = dy - x * mean(dy * x, axis=1, keepdim=true);"
                       "  s = sum(dy, axis=0); }";
    const char *narrow = "fusion f(x: bf16[8192, 8192], r: bf16[8192])"
                         " -> (y: bf16[8192, 8192], s: f32[8192])"
                         "{ y = x * mean(x * r[:, None], axis=1, keepdim=true);"
                         "  s = sum(x, axis=0); }";

    (void)state;
    assert_null(ring_refusal(wide, "h200", "", 2));
    assert_null(ring_refusal(wide, "h200", "ring", 3));
    assert_null(ring_refusal(wide, "a100", "shared", 2));
    assert_non_null(strstr(ring_refusal(wide, "h200", "", 4),
                           "bytes of shared memory, 232448 allowed"));
    assert_string_equal(ring_refusal(wide, "a100", "", 1),
                        "the device has no bulk copies to fill a ring");
    assert_string_equal(ring_refusal(wide, "a100", "ring", 1),
                        "the device has no bulk copies to fill a ring");
    assert_string_equal(ring_refusal(wide, "h200", "ring", 0),
                        "stores ring and shared need stages of 1 or more");
    assert_string_equal(ring_refusal(narrow, "h200", "", 1),
                        "a ring copies 4 bytes at least, a value of 'r' has 2");
}

static void
kinds_of_values_can_be_forced(void **state)
{
    static const char *const kinds[] = {"projection", "no_projection",
                                        "nothing", "mixed", "everything"};
    const char *text =
        "fusion f(dy: bf16[8192, 4096], x: bf16[8192, 4096], w: bf16[4096])"
        " -> (dx: bf16[8192, 4096], dw: f32[4096])"
        "{ xhat = x * 2.0 + 1.0; g = dy * w;"
        "  dx = g - xhat * mean(g * xhat, axis=1, keepdim=true);"
        "  dw = sum(dy * xhat, axis=0); }";

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *set = arena_printf(arena, "keep=%s", kinds[i]);
        struct selection *s = select_with(text, &set, 1);

        if (i + 1 == ARRAY_LEN(kinds)) {
            assert_null(s);
            continue;
        }
        assert_non_null(s);
        assert_string_equal(chosen(s, 0)->keep, kinds[i]);
        for (uint32_t k = 0; k < s->slots[0].chosen; k++)
            assert_string_not_equal(s->slots[0].candidates[k].keep, kinds[i]);
    }
}

static void
a_set_vector_joins_the_guard(void **state)
{
    static const char *const sets[] = {"v1.vector=2"};
    struct selection *s = select_with(
        "fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = x * x[:, 0:1]; }", sets,
        1);

    (void)state;
    assert_non_null(s);
    assert_string_equal(s->slots[1].guard, "N % 2 == 0");
    assert_string_equal(s->slots[2].guard, "");
    assert_int_equal(chosen(s, 2)->plan.kernels[0].scheduler, SCHED_FALLBACK);
}

static void
hints_inform_the_model_only(void **state)
{
    const char *text = instance(0, "bf16", "M", "N");
    struct hint hints[] = {{"M", 64}, {"N", 512}};
    struct select_options opt = {
        .device = device_find("h200"), .hints = hints, .n_hints = 2};
    struct selection *plain = select_text(text),
                     *s = select_plans(arena, facts_of(text), &opt, diag);

    (void)state;
    assert_int_equal(plain->rows, 8192);
    assert_int_equal(s->rows, 64);
    assert_int_equal(s->slots[0].columns, 512);
    assert_int_equal(s->n_slots, plain->n_slots);
    for (uint32_t i = 0; i < s->n_slots; i++)
        assert_string_equal(s->slots[i].guard, plain->slots[i].guard);
}

static const char *
text_of(const struct selection *s, bool all)
{
    const struct explained e = {s, NULL};
    struct buf b;

    buf_init(&b, arena);
    explain_text(&b, &e, 1, all);
    return buf_str(&b);
}

static const char *
json_of(const struct selection *s)
{
    const struct explained e = {s, NULL};
    struct buf b;

    buf_init(&b, arena);
    explain_json(&b, &e, 1);
    return buf_str(&b);
}

static void
explanations_are_complete_and_stable(void **state)
{
    const char *program = instance(1, "f32", "M", "N");
    const char *text = text_of(select_text(program), true);

    (void)state;
    assert_string_equal(text, text_of(select_text(program), true));
    for (int i = 0; i < SCHED_COUNT; i++)
        assert_non_null(strstr(text, scheduler_name[i]));
    assert_non_null(strstr(text, "of the roofline"));
    assert_non_null(strstr(text, "not compiled"));
    assert_non_null(
        strstr(json_of(select_text(program)), "\"quantisation_percent\""));
}

/* The lines under "what makes up the time" are whole nanoseconds that add up to
 * the last of them, the predicted time. Returns how many there were. */
static int
add_up(const char *lines)
{
    int64_t sum = 0;
    int n = 0;

    for (lines = strchr(lines, '\n'); lines; lines = strchr(lines, '\n')) {
        char *end;
        long long ns = strtoll(++lines, &end, 10);

        end += strspn(end, " ");
        if (!strncmp(end, "100%\n", 5)) {
            assert_int_equal(sum, ns);
            return n;
        }
        sum += ns;
        n++;
    }
    fail_msg("no last line");
    return 0;
}

static void
the_parts_of_the_time_add_up(void **state)
{
    static const char *const devices[] = {"h200", "a100", "rtx4090"};
    int lines = 0;

    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++) {
        const char *text = text_of(
            select_on(instance(1, "bf16", "M", "N"), device_find(devices[d])),
            true);

        while ((text = strstr(text, "what makes up the time")) != NULL)
            lines += add_up(text++);
    }
    assert_true(lines > 1000);
}

static int64_t
store_of(const struct selection *s, const struct candidate *c, const char *name)
{
    const struct kernel_plan *k = &c->plan.kernels[0];

    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (!strcmp(plan_node_name(arena, s->facts->g, k->buffers[i].node),
                    name))
            return k->buffers[i].key[BK_STORE];
    return STORE_NONE;
}

/* Beside the chosen plan the first of the others with another store of a
 * value. */
static void
other_stores_have_their_price(void **state)
{
    const struct selection *s =
        select_text(instance(1, "bf16", "8192", "8192"));
    const struct variant_slot *slot = &s->slots[0];
    const char *text = text_of(s, false);
    bool seen[STORE_COUNT] = {false};
    int found = 0;

    (void)state;
    seen[store_of(s, chosen(s, 0), "w")] = true;
    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];
        int64_t store = store_of(s, c, "w");
        double more = c->plan.cost.total_ns - chosen(s, 0)->plan.cost.total_ns;

        if (seen[store] || c->refused ||
            c->plan.kernels[0].scheduler == SCHED_FALLBACK)
            continue;
        seen[store] = true;
        found++;
        if (!strstr(text, arena_printf(arena, " ns (plan %u)", i + 1)))
            fail_msg("no plan %u, %.0f ns more: %s", i + 1, more, text);
    }
    assert_true(found >= 2);
}

/* Of y only the column sum needs `a`; x and w wait for the row's mean. */
static const char waiting[] =
    "fusion f(x: f32[M, 8192], a: bf16[M, 8192], w: f32[8192])"
    " -> (y: f32[M, 8192], s: f32[8192])"
    "{ h = x * w; c = mean(h, axis=1, keepdim=true);"
    "  y = h - c; s = sum(x * f32(a), axis=0); }";

/* A picture is drawn from these. */
static void
buffers_wait_from_phase_to_phase(void **state)
{
    const char *const sets[] = {"keep=projection"};
    const struct select_options opt = {
        .device = device_find("h200"), .sets = sets, .n_sets = 1};
    const struct selection *s =
        select_plans(arena, facts_of(waiting), &opt, diag);
    static const char *const parts[] = {
        "\"phases\": [{\"inner_reductions\": 1, \"outer_reductions\": 1, "
        "\"writes\": []}, {\"inner_reductions\": 0, "
        "\"outer_reductions\": 0, \"writes\": [\"y\"]}]",
        "{\"buffer\": \"x\", \"what\": \"input\", \"store\": "
        "\"register_packed\", \"reuse\": "
        "\"row\", \"bytes\": 32768, \"first_phase\": 0, \"last_phase\": 1,",
        "{\"buffer\": \"a\", \"what\": \"input\", \"store\": \"none\", "
        "\"reuse\": \"row\", "
        "\"bytes\": 0, \"first_phase\": 0, \"last_phase\": 0,",
        "{\"buffer\": \"s\", \"what\": \"column sum\", \"store\": "
        "\"register_f32\", \"reuse\": "
        "\"rows\", \"bytes\": 32768, \"first_phase\": 0, \"last_phase\": 0,",
    };
    const char *json;

    (void)state;
    assert_non_null(s);
    json = json_of(s);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!strstr(json, parts[i]))
            fail_msg("no %s in %.6000s", parts[i], json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_has_a_plan),
        cmocka_unit_test(long_rows_go_to_clusters),
        cmocka_unit_test(few_rows_finish_inside),
        cmocka_unit_test(every_device_has_a_plan),
        cmocka_unit_test(guards_name_what_is_not_proven),
        cmocka_unit_test(kinds_go_to_their_strategy),
        cmocka_unit_test(rejection_ends_at_fallback),
        cmocka_unit_test(the_cut_follows_predicted_time),
        cmocka_unit_test(fields_can_be_set),
        cmocka_unit_test(rings_are_refused_with_their_limit),
        cmocka_unit_test(kinds_of_values_can_be_forced),
        cmocka_unit_test(a_set_vector_joins_the_guard),
        cmocka_unit_test(hints_inform_the_model_only),
        cmocka_unit_test(explanations_are_complete_and_stable),
        cmocka_unit_test(the_parts_of_the_time_add_up),
        cmocka_unit_test(other_stores_have_their_price),
        cmocka_unit_test(buffers_wait_from_phase_to_phase),
    };

    return cmocka_run_group_tests_name("sched", tests, setup, teardown);
}
