/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as text: what is printed reads back to the same bytes, and what is
 * wrong is refused at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts.h"
#include "front/front.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdio.h>

static struct arena *arena;

static const char program[] =
    "fusion bwd(dy: bf16[M, N], x: bf16[M, N], weight: bf16[N])"
    " -> (dx: bf16[M, N], dw: f32[N]) {"
    "  g = dy * weight;"
    "  c = mean(g * x, axis=1, keepdim=true);"
    "  dx = g - x * c;"
    "  dw = sum(dy * x, axis=0);"
    "}\n"
    "fusion scale(x: f32[N]) -> (y: f32[N]) { y = x * 2.0; }";

struct fixture {
    struct diag *d;
    const struct graph *graphs[2];
    const struct fusion_plan *plans[2];
};

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

static struct fixture
make(void)
{
    struct fixture f = {.d = diag_new(arena)};
    struct front_options o = {0};
    struct select_options opt = {.device = device_find("h200")};
    struct module *m =
        front_load_text(arena, f.d, "test", program, strlen(program), &o);

    assert_non_null(m);
    for (int i = 0; i < 2; i++) {
        struct facts *facts = facts_analyse(arena, m->graphs[i]);

        f.graphs[i] = m->graphs[i];
        f.plans[i] =
            selection_plan(arena, select_plans(arena, facts, &opt, f.d));
    }
    return f;
}

static const char *
printed(const struct fusion_plan *const *plans, uint32_t n)
{
    struct buf b;

    buf_init(&b, arena);
    plan_print(&b, plans, n);
    return buf_str(&b);
}

static bool
parse(struct fixture *f, const char *text, uint32_t n,
      struct fusion_plan ***ret)
{
    f->d = diag_new(arena);
    return plan_parse(arena, f->d,
                      source_new(arena, "plan", text, strlen(text)), f->graphs,
                      n, ret);
}

static const char *
replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    if (!at)
        fail_msg("no '%s' in %s", from, text);
    return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to,
                        at + strlen(from));
}

/* All messages, as the user sees them. */
static const char *
messages(struct fixture *f)
{
    struct diag_style style = {.tool = "fusec"};
    char *text = arena_alloc(arena, 4096);
    FILE *to = fmemopen(text, 4095, "w");

    assert_non_null(to);
    diag_flush(f->d, to, &style);
    fclose(to);
    return text;
}

static void
expect_error(const char *from, const char *to, const char *message)
{
    struct fixture f = make();
    const char *text = replaced(printed(f.plans, 2), from, to);
    struct fusion_plan **back;

    assert_false(parse(&f, text, 2, &back));
    assert_int_equal(diag_errors(f.d), 1);
    if (!strstr(messages(&f), message))
        fail_msg("no '%s' in %s", message, messages(&f));
}

static void
a_printed_plan_reads_back(void **state)
{
    struct fixture f = make();
    struct fusion_plan **back;

    (void)state;
    for (uint32_t n = 1; n <= 2; n++) {
        const char *text = printed(f.plans, n);

        assert_true(parse(&f, text, n, &back));
        assert_string_equal(printed((const struct fusion_plan *const *)back, n),
                            text);
    }
}

static void
comments_and_short_plans_are_read(void **state)
{
    struct fixture f = make();
    struct fusion_plan **back;
    const char *head = arena_strndup(arena, printed(f.plans, 1), 29);
    const char *text = arena_printf(
        arena,
        "# by hand\n%s\nfusion bwd { variant 0 { kernel 0 fallback {"
        " threads 64; buffer x { store reload; } } } }",
        head);

    (void)state;
    assert_true(parse(&f, text, 1, &back));
    assert_int_equal(back[0]->n_variants, 1);
    assert_string_equal(back[0]->variants[0].guard, "");
    assert_int_equal(back[0]->variants[0].kernels[0].key[PK_THREADS], 64);
    assert_int_equal(back[0]->variants[0].kernels[0].key[PK_VECTOR], 1);
    assert_int_equal(back[0]->variants[0].kernels[0].buffers[0].key[BK_STORE],
                     STORE_RELOAD);
    assert_string_equal(
        plan_node_name(arena, f.graphs[0],
                       back[0]->variants[0].kernels[0].buffers[0].node),
        "x");
}

static void
wrong_plans_are_refused(void **state)
{
    (void)state;
    expect_error("plan 1 graph ", "plan 1 graph x", "[plan-graph]");
    expect_error("plan 1", "plan 2", "plan:1:6: error: unexpected '2'");
    expect_error("threads ", "thrads ", "unknown key 'thrads'");
    expect_error("vector ", "vector 77; vector ", "[plan-range]");
    expect_error("finish ", "finish soon; finish ", "'soon' is no value");
    expect_error("buffer x ", "buffer xx ", "the graph has no value 'xx'");
    expect_error("inner_outer_persistent", "magic", "[plan-syntax]");
    expect_error("variant 1", "variant 7", "[plan-syntax]");
    expect_error("fusion scale", "fusion skale", "[plan-syntax]");
    expect_error("store register_packed;", "store register_packed", "[plan-");
}

static void
every_prefix_is_refused(void **state)
{
    struct fixture f = make();
    const char *text = printed(f.plans, 1);
    size_t n = strlen(text);
    struct fusion_plan **back;

    (void)state;
    while (n > 0 && text[n - 1] != '}')
        n--;
    for (size_t i = 0; i < n; i += 7)
        assert_false(parse(&f, arena_strndup(arena, text, i), 1, &back));
}

static void
keys_are_listed(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, arena);
    plan_list_keys(&b);
    assert_non_null(strstr(buf_str(&b), "\nvectors_per_thread "));
    assert_non_null(strstr(buf_str(&b), "none kernel pdl_kernel"));
    assert_non_null(strstr(buf_str(&b), "\nbuffer.store "));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_printed_plan_reads_back),
        cmocka_unit_test(comments_and_short_plans_are_read),
        cmocka_unit_test(wrong_plans_are_refused),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(keys_are_listed),
    };

    return cmocka_run_group_tests_name("plan", tests, setup, teardown);
}
