/* SPDX-License-Identifier: Apache-2.0 */
/* Fusions that several kernels compute: where they are cut, what a plan may say
 * of it, and that it stays cheap. */
#include "select_fixture.h"

#include "sched/parts.h"
#include "support/buf.h"

static struct selection *
select_text(const char *text)
{
    return select_on(text, device_find("h200"));
}

/* Of each part, in order. */
static void
parts_go_to_their_strategy(void **state)
{
    static const struct {
        const char *text;
        uint32_t n;
        enum scheduler_id id[3];
    } rows[] = {
        {"fusion f(x: f32[M, N]) -> (y: f32[M, N])"
         "{ y = softmax(x, axis=0); }",
         3,
         {SCHED_REDUCTION, SCHED_REDUCTION, SCHED_POINTWISE}},
        {"fusion f(x: f32[M, 800000], w: f32[800000])"
         " -> (y: f32[M, 800000], s: f32[800000])"
         "{ y = x - sum(x * w, axis=1, keepdim=true); s = sum(x, axis=0); }",
         2,
         {SCHED_REDUCTION, SCHED_REDUCTION}},
        {"fusion f(x: f32[M, N], s: f32[M])"
         " -> (y: f32[M, N], r: f32[M], q: f32[M], twice: f32[M])"
         "{ r = rsqrt(s); q = r + 1.0; twice = r; y = x * r[:, None]; }",
         2,
         {SCHED_POINTWISE, SCHED_POINTWISE}},
        /* The sum and the largest of a column in one pass. */
        {"fusion f(x: f32[M, N]) -> (y: f32[M, N], m: f32[N])"
         "{ m = max(x, axis=0); y = x * sum(x, axis=0); }",
         2,
         {SCHED_REDUCTION, SCHED_POINTWISE}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct selection *s = select_text(rows[i].text);
        const struct variant_plan *v = &chosen(s, 0)->plan;

        assert_int_equal(v->n_kernels, rows[i].n);
        for (uint32_t k = 0; k < v->n_kernels; k++) {
            assert_int_equal(v->kernels[k].scheduler, rows[i].id[k]);
            assert_int_equal(v->kernels[k].n_writes > 0, k + 1 < v->n_kernels);
        }
        assert_true(chosen(s, s->n_slots - 1)->plan.n_kernels > 1);
    }
}

/* Work and memory for parts grow with the graph, not with its square: where
 * they did, this took 6 GB. */
static void
many_results_in_parts(void **state)
{
    struct buf b;
    struct selection *s;

    (void)state;
    buf_init(&b, arena);
    buf_puts(&b, "fusion f(x: f32[M, N], w: f32[M]) -> (y: f32[M, N]");
    for (int i = 0; i < 800; i++)
        buf_printf(&b, ", y%d: f32[N]", i);
    buf_puts(&b, ") { s = sum(x, axis=0); y = x - s;");
    for (int i = 0; i < 800; i++)
        buf_printf(&b, "y%d = sum(x * (w + %d.0)[:, None], axis=0) * s;", i, i);
    buf_puts(&b, "}");
    s = select_text(buf_str(&b));
    assert_int_equal(chosen(s, s->n_slots - 1)->plan.n_kernels, 2);
}

/* What a plan file may say and no kernel can do. */
static void
parts_that_cannot_be(void **state)
{
    struct selection *s = select_text(
        "fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = x * sum(x, axis=0); }");
    struct variant_plan v = chosen(s, 0)->plan;
    struct kernel_plan k[2] = {v.kernels[0], v.kernels[1]};
    node_id twice[2] = {k[0].writes[0], k[0].writes[0]}, input = 0;

    (void)state;
    v.kernels = k;
    assert_null(part_refuse(arena, s->facts, &v, 0));
    assert_null(part_refuse(arena, s->facts, &v, 1));
    k[0].writes = twice;
    k[0].n_writes = 2;
    assert_non_null(part_refuse(arena, s->facts, &v, 0));
    k[0].writes = &input;
    k[0].n_writes = 1;
    assert_non_null(part_refuse(arena, s->facts, &v, 0));
    k[0].n_writes = 0;
    assert_non_null(part_refuse(arena, s->facts, &v, 0));
    k[1].writes = twice;
    k[1].n_writes = 1;
    assert_non_null(part_refuse(arena, s->facts, &v, 1));
    k[0].n_writes = 1;
    k[0].writes = &s->facts->g->results[0].node;
    k[1].n_writes = 0;
    assert_string_equal(part_refuse(arena, s->facts, &v, 1),
                        "it has nothing left to compute");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_go_to_their_strategy),
        cmocka_unit_test(many_results_in_parts),
        cmocka_unit_test(parts_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
