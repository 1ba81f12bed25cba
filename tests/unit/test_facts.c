/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, accesses, kinds and traffic of small programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts.h"
#include "front/front.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

static struct arena *arena;

static int
setup(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct facts *
facts_of(const char *text)
{
    struct diag *d = diag_new(arena);
    struct front_options o = {0};
    struct module *m =
        front_load_text(arena, d, "test", text, strlen(text), &o);

    if (!m) {
        fail_msg("the program is wrong: %s", text);
        return NULL;
    }
    return facts_analyse(arena, m->graphs[0]);
}

static const char *
text_of(const struct sym *s)
{
    struct buf b;

    buf_init(&b, arena);
    sym_print(&b, s);
    return buf_str(&b);
}

static const char *
listing(const struct facts *f)
{
    struct buf b;

    buf_init(&b, arena);
    facts_print(&b, f);
    return buf_str(&b);
}

static void
expect_line(const struct facts *f, const char *line)
{
    if (!strstr(listing(f), line))
        fail_msg("no '%s' in\n%s", line, listing(f));
}

static void
contiguous_dimensions_merge(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[B, S, H]) -> (y: f32[B, S, H])"
                               "{ y = x - mean(x, axis=2, keepdim=true); }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->kind, GK_INNER);
    assert_int_equal(f->n_axes, 2);
    assert_int_equal(f->column, 1);
    assert_string_equal(text_of(f->axes[0].extent), "B * S");
    assert_string_equal(f->axes[1].name, "H");
    assert_int_equal(f->levels, 1);
}

static void
a_flat_program_has_one_axis(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[A, B, C], z: f32[A, B, C])"
                               "-> (y: f32[A, B, C]) { y = x * z; }");

    (void)state;
    assert_int_equal(f->kind, GK_POINTWISE);
    assert_int_equal(f->n_axes, 1);
    assert_string_equal(text_of(f->bytes_in), "8 * A * B * C");
    assert_string_equal(text_of(f->bytes_out), "4 * A * B * C");
}

static void
a_bias_keeps_the_column_apart(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[A, B, C], b: f32[C])"
                               "-> (y: f32[A, B, C]) { y = x + b; }");

    (void)state;
    assert_int_equal(f->n_axes, 2);
    assert_int_equal(f->rows, 1);
    expect_line(f, "{C} = b[0 + C*(1)]");
}

static void
strides_forbid_merging(void **state)
{
    struct facts *f =
        facts_of("fusion f(x: f32[M, N] strides(S, 1)) -> (y: f32[M, N])"
                 "{ y = x * 2.0; }");

    (void)state;
    assert_int_equal(f->n_axes, 2);
    expect_line(f, "= x[0 + M*(S) + N*(1)]");
}

static void
views_of_inputs_are_addresses(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[M, 2 * N]) -> (y: f32[M, N])"
                               "{ y = silu(x[:, :N]) * x[:, N:]; }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->n_axes, 2);
    expect_line(f, "= x[0 + M*(2 * N) + N*(1)]");
    expect_line(f, "= x[N + M*(2 * N) + N*(1)]");
    assert_string_equal(text_of(f->bytes_in), "8 * M * N");
}

static void
a_transposed_input_meets_itself(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[64, 64]) -> (y: f32[64, 64])"
                               "{ y = x + transpose(x, 0, 1); }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->n_axes, 2);
}

static void
a_computed_value_cannot(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[64, 64]) -> (y: f32[64, 64])"
                               "{ s = exp(x); y = s + transpose(s, 0, 1); }");

    (void)state;
    assert_false(f->axes_ok);
    assert_string_equal(f->why, "a value meets itself with axes exchanged");
}

static void
a_reshape_splits_an_axis(void **state)
{
    struct facts *f =
        facts_of("fusion f(x: f32[M, 1024]) -> (y: f32[M, 32])"
                 "{ y = max(reshape(abs(x), [M, 32, 32]), axis=2); }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->kind, GK_INNER);
    assert_int_equal(f->n_axes, 2);
    assert_string_equal(text_of(f->axes[0].extent), "32 * M");
    assert_string_equal(text_of(f->axes[1].extent), "32");
}

static void
a_joined_permutation_keeps_its_factors(void **state)
{
    struct facts *f = facts_of(
        "fusion f(x: f32[B, H, S, 64]) -> (y: f32[B, S, 64 * H])"
        "{ y = reshape(permute(x, [0, 2, 1, 3]), [B, S, 64 * H]) * 2.0; }");

    (void)state;
    assert_true(f->axes_ok);
    expect_line(f, "= x[0 + ");
    assert_int_equal(f->n_axes, 4);
    assert_string_equal(text_of(f->axes[3].extent), "64");
}

static void
independent_results_share_a_loop(void **state)
{
    struct facts *f = facts_of("fusion f(a: f32[M, N], b: f32[M, N])"
                               "-> (x: f32[M, N], y: f32[M, N])"
                               "{ x = a + 1.0; y = b * 2.0; }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->n_axes, 1);
    f = facts_of("fusion f(a: f32[M], b: f32[K]) -> (x: f32[M], y: f32[K])"
                 "{ x = a + 1.0; y = b * 2.0; }");
    assert_false(f->axes_ok);
    assert_string_equal(f->why, "no value has all axes");
}

static void
an_axis_of_extent_one_is_none(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[M, 1, N]) -> (y: f32[M, 1, N])"
                               "{ y = x + 1.0; }");

    (void)state;
    assert_int_equal(f->n_axes, 1);
}

static void
kinds(void **state)
{
    static const struct {
        const char *body, *result;
        enum graph_kind kind;
        const char *why;
    } rows[] = {
        {"y = sum(x, axis=2);", "f32[A, B]", GK_INNER, NULL},
        {"y = sum(x, axis=[0, 1]);", "f32[C]", GK_OUTER, NULL},
        {"y = sum(x);", "f32[]", GK_INNER, NULL},
        {"y = sum(x, axis=1);", "f32[A, C]", GK_OTHER,
         "'sum' reduces a part of the row axes"},
        {"y = sum(x, axis=[0, 2]);", "f32[B]", GK_OTHER,
         "'sum' reduces row and column axes that do not merge"},
        {"y = x - sum(x, axis=[0, 1], keepdim=true);", "f32[A, B, C]", GK_OTHER,
         "the result of an outer reduction is used along the rows"},
        {"y = argmax(x, axis=2);", "i64[A, B]", GK_OTHER,
         "'argmax' keeps an index"},
        {"y = max(sum(x, axis=[0, 1]), axis=0);", "f32[]", GK_OTHER,
         "'max' of the result of an outer reduction"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct facts *f = facts_of(
            arena_printf(arena, "fusion f(x: f32[A, B, C]) -> (y: %s) { %s }",
                         rows[i].result, rows[i].body));

        assert_true(f->axes_ok);
        if (f->kind != rows[i].kind)
            fail_msg("%s: %s", rows[i].body, listing(f));
        if (rows[i].why)
            assert_string_equal(f->kind_why, rows[i].why);
        else
            assert_null(f->kind_why);
    }
}

static uint32_t
count_live_reductions(const struct facts *f)
{
    uint32_t n = 0;

    for (node_id id = 0; id < f->g->n_nodes; id++)
        n += f->node[id].live && facts_is_reduction(f, id);
    return n;
}

/* Over the column and other axes: the column first, once for equal ones; an
 * index and what a strategy does anyway stay whole. */
static void
reductions_in_two_steps(void **state)
{
    static const struct {
        const char *body, *result;
        uint32_t n, inner;
    } rows[] = {
        {"y = sum(x, axis=[0, 2]);", "f32[B]", 2, 1},
        {"y = sum(x * w[None, :, None]);", "f32[]", 2, 1},
        {"a = sum(x, axis=[0, 2]); y = a * sum(x, axis=[0, 2], keepdim=true)"
         "[0, :, 0] + max(x, axis=[0, 2]);",
         "f32[B]", 5, 2},
        {"y = argmax(x, axis=2);", "i64[A, B]", 1, 1},
        {"y = sum(x, axis=2);", "f32[A, B]", 1, 1},
        {"y = sum(x, axis=[0, 1]);", "f32[C]", 1, 0},
        {"y = sum(x, axis=1);", "f32[A, C]", 1, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct facts *f = facts_prepare(
            arena,
            facts_of(
                arena_printf(arena,
                             "fusion f(x: f32[A, B, C], w: f32[B]) -> (y: %s)"
                             " { %s }",
                             rows[i].result, rows[i].body))
                ->g);
        uint32_t inner = 0;

        for (node_id id = 0; id < f->g->n_nodes; id++)
            inner += f->node[id].live && facts_is_reduction(f, id) &&
                     facts_is_inner(f, id);
        if (count_live_reductions(f) != rows[i].n || inner != rows[i].inner)
            fail_msg("%s: %s", rows[i].body, listing(f));
    }
}

static void
levels_count_reductions(void **state)
{
    struct facts *f = facts_of(
        "fusion f(x: bf16[M, N], w: bf16[N]) -> (y: bf16[M, N], s: f32[N]) {"
        "  m = mean(x, axis=1, keepdim=true);"
        "  c = x - m;"
        "  v = mean(c * c, axis=1, keepdim=true);"
        "  y = c * rsqrt(v) * w;"
        "  s = sum(c, axis=0);"
        "}");

    (void)state;
    assert_int_equal(f->kind, GK_INNER_OUTER);
    assert_int_equal(f->levels, 2);
    for (node_id n = 0; n < f->g->n_nodes; n++) {
        const char *name = graph_node(f->g, n)->name;

        if (name && !strcmp(name, "c"))
            assert_int_equal(f->node[n].level, 1);
        if (name && !strcmp(name, "s")) {
            assert_true(f->node[n].after_outer);
            assert_int_equal(f->node[n].level, 1);
        }
    }
    assert_int_equal(f->node[f->g->results[0].node].level, 2);
}

static void
a_flipped_input_walks_backwards(void **state)
{
    struct facts *f = facts_of("fusion f(x: f32[M, N]) -> (y: f32[M, N])"
                               "{ y = flip(x, axis=1) * 2.0; }");

    (void)state;
    assert_true(f->axes_ok);
    assert_int_equal(f->n_axes, 2);
    expect_line(f, "N*(-1)");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous_dimensions_merge),
        cmocka_unit_test(a_flat_program_has_one_axis),
        cmocka_unit_test(a_bias_keeps_the_column_apart),
        cmocka_unit_test(strides_forbid_merging),
        cmocka_unit_test(views_of_inputs_are_addresses),
        cmocka_unit_test(a_transposed_input_meets_itself),
        cmocka_unit_test(a_computed_value_cannot),
        cmocka_unit_test(a_reshape_splits_an_axis),
        cmocka_unit_test(a_joined_permutation_keeps_its_factors),
        cmocka_unit_test(independent_results_share_a_loop),
        cmocka_unit_test(an_axis_of_extent_one_is_none),
        cmocka_unit_test(kinds),
        cmocka_unit_test(reductions_in_two_steps),
        cmocka_unit_test(levels_count_reductions),
        cmocka_unit_test(a_flipped_input_walks_backwards),
    };

    return cmocka_run_group_tests_name("facts", tests, setup, teardown);
}
