/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts: graphs whose cheapest cut is known, random ones against every choice
 * there is, and the cuts that programs get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts.h"
#include "front/front.h"
#include "sched/scheduler.h"
#include "schedulers/cut.h"
#include "schedulers/rowwise_cut.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdlib.h>

enum { MOST = 16, LITTLE = 9 };

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

/* --- graphs by hand ------------------------------------------------------- */

/* ARGS are places of earlier values, ended by -1. */
static struct cut_value
value(int64_t hold, int64_t again, int wanted, ...)
{
    struct cut_value v = {.hold = hold, .again = again, .wanted = wanted != 0};
    uint32_t *args = NEW_ARRAY(arena, uint32_t, 8);
    va_list ap;

    va_start(ap, wanted);
    for (int k = va_arg(ap, int); k >= 0; k = va_arg(ap, int))
        args[v.n_args++] = (uint32_t)k;
    va_end(ap);
    v.args = args;
    return v;
}

/* The places of what is held: "0 2 ". */
static const char *
held(const struct cut *c, uint32_t n)
{
    struct buf b;

    buf_init(&b, arena);
    for (uint32_t i = 0; i < n; i++)
        if (c->held[i])
            buf_printf(&b, "%u ", i);
    return buf_str(&b);
}

static const char *
cheapest(const struct cut_value *v, uint32_t n, int64_t hold_price,
         int64_t again_price)
{
    struct cut c;

    assert_true(cut_cheapest(arena, v, n, hold_price, again_price, &c));
    return held(&c, n);
}

/* x, dy and weight, f32; xhat and wdy behind them are wanted. The weight stays
 * over the rows, so it costs nothing more, or must be read again. */
static void
layer_norm_backward(void **state)
{
    struct cut_value v[] = {
        value(4, 22, false, -1),     value(4, 22, false, -1),
        value(0, 22, false, -1),     value(4, 2, true, 0, -1),
        value(4, 1, true, 1, 2, -1),
    };

    (void)state;
    assert_string_equal(cheapest(v, 5, 1, 1), "3 4 ");
    v[2].hold = CUT_NEVER;
    assert_string_equal(cheapest(v, 5, 1, 1), "3 4 ");
    /* As bf16 the inputs take half as much: they wait, and weight is at hand.
     */
    v[0].hold = v[1].hold = 2;
    v[2].hold = 0;
    assert_string_equal(cheapest(v, 5, 2, 1), "0 1 2 ");
    /* Without the weight wdy waits, unless reading it again costs little. */
    v[2].hold = CUT_NEVER;
    assert_string_equal(cheapest(v, 5, 2, 1), "0 4 ");
    v[2].again = 1;
    assert_string_equal(cheapest(v, 5, 2, 1), "0 1 ");
}

/* x, e = exp(x - max): the exponential is worth its register, or isn't. */
static void
softmax(void **state)
{
    const struct cut_value f32[] = {value(4, 22, false, -1),
                                    value(4, 1, false, 0, -1),
                                    value(4, 8, true, 1, -1)};
    const struct cut_value bf16[] = {value(2, 12, false, -1),
                                     value(4, 1, false, 0, -1),
                                     value(4, 8, true, 1, -1)};

    (void)state;
    assert_string_equal(cheapest(f32, 3, 1, 1), "2 ");
    assert_string_equal(cheapest(bf16, 3, 1, 1), "2 ");
    assert_string_equal(cheapest(bf16, 3, 5, 1), "0 ");
    assert_string_equal(cheapest(f32, 3, 5, 1), "2 ");
    assert_string_equal(cheapest(bf16, 3, 7, 1), "");
}

/* h = f32(x), g = gelu(h), k = bf16(g), r = f32(k): k waits; r follows from it
 * without cost, and needs no register of its own. */
static void
rounded_before_a_norm(void **state)
{
    const struct cut_value v[] = {
        value(2, 12, false, -1), value(4, 0, false, 0, -1),
        value(4, 40, false, 1, -1), value(2, 1, false, 2, -1),
        value(4, 0, true, 3, -1)};

    (void)state;
    assert_string_equal(cheapest(v, 5, 1, 1), "3 ");
    assert_string_equal(cheapest(v, 5, 6, 1), "3 ");
    assert_string_equal(cheapest(v, 5, 30, 1), "");
}

static void
random_numbers_wait(void **state)
{
    const struct cut_value v[] = {value(4, 22, false, -1),
                                  value(4, CUT_NEVER, false, -1),
                                  value(4, 1, true, 0, 1, -1)};
    const struct cut_value stuck[] = {value(CUT_NEVER, CUT_NEVER, true, -1)};
    struct cut c;

    (void)state;
    assert_string_equal(cheapest(v, 3, 1, 1), "2 ");
    assert_string_equal(cheapest(v, 3, 1000, 1), "2 ");
    assert_false(cut_cheapest(arena, stuck, 1, 1, 1, &c));
    assert_int_equal(cut_front(arena, stuck, 1, &c, 1), 0);
}

/* --- against every choice ------------------------------------------------- */

static uint32_t
draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static uint32_t
draw_graph(uint64_t *seed, struct cut_value *v)
{
    uint32_t n = 1 + draw(seed, LITTLE);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t *args = NEW_ARRAY(arena, uint32_t, 4);

        v[i] = (struct cut_value){.args = args};
        v[i].hold = draw(seed, 8) ? draw(seed, 9) : CUT_NEVER;
        v[i].again = draw(seed, 8) ? draw(seed, 30) : CUT_NEVER;
        v[i].wanted = draw(seed, 3) == 0;
        while (i && v[i].n_args < 3 && draw(seed, 3))
            args[v[i].n_args++] = draw(seed, i);
    }
    return n;
}

/* What holding the values of a set costs; false when something cannot be. */
static bool
cost_of(const struct cut_value *v, uint32_t n, uint32_t set, int64_t *ret_hold,
        int64_t *ret_again)
{
    uint32_t needed = 0;

    *ret_hold = *ret_again = 0;
    for (uint32_t i = n; i-- > 0;) {
        needed |= (uint32_t)v[i].wanted << i;
        if (!(needed >> i & 1))
            continue;
        if ((set >> i & 1 ? v[i].hold : v[i].again) == CUT_NEVER)
            return false;
        if (set >> i & 1)
            *ret_hold += v[i].hold;
        else
            *ret_again += v[i].again;
        for (uint32_t k = 0; !(set >> i & 1) && k < v[i].n_args; k++)
            needed |= 1u << v[i].args[k];
    }
    return true;
}

static int64_t
least(const struct cut_value *v, uint32_t n, int64_t hold_price,
      int64_t again_price)
{
    int64_t best = CUT_NEVER, hold, again;

    for (uint32_t set = 0; set < 1u << n; set++)
        if (cost_of(v, n, set, &hold, &again))
            best = MIN(best, hold * hold_price + again * again_price);
    return best;
}

static void
no_choice_is_cheaper(void **state)
{
    static const int64_t prices[][2] = {
        {1, 1}, {1, 0}, {0, 1}, {7, 2}, {3, 40}};
    struct cut_value v[LITTLE + 1];
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t n = draw_graph(&seed, v);
        const int64_t *p = prices[round % ARRAY_LEN(prices)];
        int64_t best = least(v, n, p[0], p[1]);
        struct cut c;

        if (best == CUT_NEVER) {
            assert_false(cut_cheapest(arena, v, n, p[0], p[1], &c));
            continue;
        }
        assert_true(cut_cheapest(arena, v, n, p[0], p[1], &c));
        assert_int_equal(c.hold * p[0] + c.again * p[1], best);
    }
}

/* Of the front each is the cheapest at some price, and at any price one is. */
static void
the_front_is_complete(void **state)
{
    struct cut_value v[LITTLE + 1];
    struct cut front[MOST];
    uint64_t seed = 5;
    int several = 0;

    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t n = draw_graph(&seed, v);
        uint32_t k = cut_front(arena, v, n, front, MOST);

        several += k > 2;
        for (uint32_t i = 1; i < k; i++) {
            assert_true(front[i].hold > front[i - 1].hold);
            assert_true(front[i].again < front[i - 1].again);
        }
        for (int64_t price = 1; k && price < 40; price += 3) {
            int64_t best = CUT_NEVER;

            for (uint32_t i = 0; i < k; i++)
                best = MIN(best, front[i].hold * price + front[i].again * 5);
            assert_int_equal(best, least(v, n, price, 5));
        }
    }
    assert_true(several > 50);
}

static void
large_graphs_end(void **state)
{
    enum { N = 600 };
    struct cut_value *v = NEW_ARRAY(arena, struct cut_value, N);
    struct cut front[MOST];
    uint64_t seed = 3;

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t *args = NEW_ARRAY(arena, uint32_t, 2);

        v[i].args = args;
        v[i].n_args = i > 20 ? 2 : 0;
        for (uint32_t k = 0; k < v[i].n_args; k++)
            args[k] = i - 1 - draw(&seed, 20);
        v[i].hold = i > 20 ? 4 : 2;
        v[i].again = i > 20 ? 1 + draw(&seed, 10) : 20;
        v[i].wanted = draw(&seed, 10) == 0;
    }
    assert_true(cut_front(arena, v, N, front, 6) >= 2);
}

/* --- programs ------------------------------------------------------------- */

static void
problem_of(const char *text, struct problem *p)
{
    struct front_options o = {0};
    struct module *m =
        front_load_text(arena, diag_new(arena), "test", text, strlen(text), &o);

    if (!m) {
        fail_msg("the program is wrong: %s", text);
        return;
    }
    problem_init(arena, facts_analyse(arena, m->graphs[0]), device_find("h200"),
                 NULL, 0, p);
}

/* Every cut on a line: "x w; x; ". */
static const char *
cuts_of(const char *text, enum row_invariants invariants)
{
    struct problem p = {0};
    const bool *cut[MAX_CUTS];
    struct buf b;
    uint32_t n;

    problem_of(text, &p);
    if (!p.f)
        return "no problem";
    n = row_cuts(&p, invariants, cut);
    buf_init(&b, arena);
    for (uint32_t k = 0; k < n; k++) {
        for (node_id i = 0; i < p.f->g->n_nodes; i++)
            if (cut[k][i])
                buf_printf(&b, "%s ", plan_node_name(arena, p.f->g, i));
        buf_puts(&b, "; ");
    }
    return buf_str(&b);
}

static const char backward[] =
    "fusion f(x: %s[M, N], dy: %s[M, N], r: f32[M], w: %s[N])"
    " -> (dx: f32[M, N], s: f32[N])"
    "{ xhat = x * r[:, None]; g = dy * w;"
    "  dx = g - xhat * mean(g * xhat, axis=1, keepdim=true);"
    "  s = sum(dy * xhat, axis=0); }";

static void
programs_get_cuts(void **state)
{
    const char *f32 = arena_printf(arena, backward, "f32", "f32", "f32");
    const char *bf16 = arena_printf(arena, backward, "bf16", "bf16", "bf16");

    (void)state;
    assert_string_equal(cuts_of(f32, INVARIANTS_PACKED), "w ; xhat g ; ");
    assert_string_equal(cuts_of(f32, INVARIANTS_READ), "; g ; xhat g ; ");
    assert_string_equal(cuts_of(bf16, INVARIANTS_PACKED),
                        "w ; x dy w ; xhat g ; ");
    assert_string_equal(cuts_of(bf16, INVARIANTS_READ),
                        "; g ; x g ; xhat g ; ");
}

/* The cast to bf16 waits, not the f32 values before and after it. */
static void
programs_wait_rounded(void **state)
{
    const char *got =
        cuts_of("fusion f(x: f32[M, N], z: f32[M, N]) -> (y: f32[M, N])"
                "{ h = bf16(tanh(x * z)); v = h * 2.0;"
                "  y = v / sum(v, axis=1, keepdim=true); }",
                INVARIANTS_READ);

    (void)state;
    assert_non_null(strstr(got, "; h ; "));
}

/* Two ends of phases: the maximum needs x only, the sum its exponential. */
static void
ends_of_phases_join(void **state)
{
    const char *got = cuts_of("fusion f(x: f32[M, N]) -> (y: f32[M, N])"
                              "{ e = exp(x - max(x, axis=1, keepdim=true));"
                              "  y = e / sum(e, axis=1, keepdim=true); }",
                              INVARIANTS_READ);

    (void)state;
    assert_string_equal(got, "; e ; x e ; ");
}

static void
long_programs_are_refused(void **state)
{
    struct problem p;
    struct buf b;

    (void)state;
    buf_init(&b, arena);
    buf_puts(&b, "fusion f(x: f32[M, N]) -> (y: f32[M, N]) { a0 = x;");
    for (int i = 1; i < 700; i++)
        buf_printf(&b, "a%d = a%d * x + %d.0;", i, i - 1, i % 7 + 2);
    buf_puts(&b, "y = a699 - sum(a699, axis=1, keepdim=true); }");
    problem_of(buf_str(&b), &p);
    assert_non_null(row_cuts_refuse(&p));
    assert_int_equal(
        row_cuts(&p, INVARIANTS_READ, (const bool *[MAX_CUTS]){NULL}), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_norm_backward),
        cmocka_unit_test(softmax),
        cmocka_unit_test(rounded_before_a_norm),
        cmocka_unit_test(random_numbers_wait),
        cmocka_unit_test(no_choice_is_cheaper),
        cmocka_unit_test(the_front_is_complete),
        cmocka_unit_test(large_graphs_end),
        cmocka_unit_test(programs_get_cuts),
        cmocka_unit_test(programs_wait_rounded),
        cmocka_unit_test(ends_of_phases_join),
        cmocka_unit_test(long_programs_are_refused),
    };

    return cmocka_run_group_tests_name("cut", tests, setup, teardown);
}
