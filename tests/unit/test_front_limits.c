/* SPDX-License-Identifier: Apache-2.0 */
/* resolve: programs that are long, deep or broken end in a graph or an error,
 * in a time that grows with their length. */
#include "support/base.h"

#include "front/front.h"

#include "front_fixture.h"
#include "support/buf.h"

#include <time.h>

/* --- limits -------------------------------------------------------------- */

static const char *
repeat(struct fixture *f, const char *head, const char *unit, unsigned n,
       const char *tail)
{
    struct buf b;

    buf_init(&b, f->a);
    buf_puts(&b, head);
    for (unsigned i = 0; i < n; i++)
        buf_printf(&b, unit, i + 1, i);
    buf_puts(&b, tail);
    return buf_str(&b);
}

static void
test_long_chain(void **state)
{
    struct fixture *f = *state;
    struct graph *g =
        graph_of(f, repeat(f, "fusion f(x: f32[N]) -> (y: f32[N]) { y = x",
                           " + x", 100000, "; }"));

    assert_int_equal(g->n_nodes, 100001);
}

static void
test_many_statements(void **state)
{
    struct fixture *f = *state;
    clock_t start = clock();
    struct graph *g =
        graph_of(f, repeat(f, "fusion f(x: f32[N]) -> (y: f32[N]) { v0 = x;",
                           "v%u = v%u + x;\n", 99998, "y = v99998; }"));

    assert_int_equal(g->n_nodes, 99999);
    assert_null(
        load(f, repeat(f, "fusion f(x: f32[N]) -> (y: f32[N]) { v0 = x;",
                       "v%u = v%u + x;\n", 100000, "y = x; }")));
    assert_int_equal(diag_errors(f->d), 1);
    /* Far more than is needed, far less than anything quadratic takes. */
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20);
}

static void
test_many_defs(void **state)
{
    struct fixture *f = *state;

    /* A chain of 100,000 defs: the search for cycles must not recurse. */
    assert_null(load(
        f, repeat(f, "def d0(x) = x;", "def d%u(x) = d%u(x) + 1;\n", 100000,
                  "fusion f(x: f32[N]) -> (y: f32[N]) { y = d100000(x); }")));
    assert_int_equal(diag_errors(f->d), 1);
    assert_null(
        load(f, repeat(f, "type T0 = f32; const C0 = 1;", "type T%u = T%u;",
                       50000, "fusion f(x: T0[N]) -> (y: T0[N]) { y = q; }")));
    assert_int_equal(diag_errors(f->d), 1);
}

/* A program in the wrong order may be refused for its depth, but not crash. */
static void
test_backward_chain(void **state)
{
    struct fixture *f = *state;
    struct buf b;

    buf_init(&b, f->a);
    for (int i = 30000; i > 0; i--)
        buf_printf(&b, "const C%d = C%d + 1; type T%d = T%d;", i, i - 1, i,
                   i - 1);
    buf_puts(&b, "const C0 = 1; type T0 = f32;"
                 "fusion f(x: T30000[N]) -> (y: f32[N]) { y = x + C30000; }");
    load(f, buf_str(&b));
}

/* --- robustness ---------------------------------------------------------- */

static const char *const programs[] = {
    "type T = bf16; fusion f(dy: T[M, N], x: T[M, N], mean: f32[M], "
    "rstd: f32[M], weight: T[N],) -> (dx: T[M, N], dw: T[N], db: T[N])\n"
    "requires N % 8 == 0, N <= 65536 { xhat = (x - mean[:, None]) * "
    "rstd[:, None]; wdy = dy * weight; c1 = mean(wdy * xhat, axis=1, "
    "keepdim=true); c2 = mean(wdy, axis=1, keepdim=true); dx = (wdy - c2 - "
    "xhat * c1) * rstd[:, None]; dw = sum(dy * xhat, axis=0); db = sum(dy, "
    "axis=0); }",
    "const K = 4; def g(a, b=K) { c = a * b; return c, c + 1; }\n"
    "fusion h(x: f32[4, S] strides(P, 1) align(32), s: f32 = 0.5, n: i32, "
    "k: dim) -> (y: f32[4, S], z: f32[k]) { a, _ = g(x, 2); y = roll(flip(a, "
    "axis=1), 3, axis=0) ** 2 + cat([x[:2], x[2:]], axis=0) * s; z = "
    "pad(x[n, 0:1], [[0, k - 1]], value=1.0) + logsumexp(x) + norm(x, p=3); }",
    "fusion i(x: i32[M, N], p: bool[M, N]) -> (y: i64[M], z: bool[N]) { y = "
    "argmax(x << 3 & 0xff, axis=1) + sum(p ? x : -x, axis=-1) % 7 // 2; z = "
    "any(p && !(x == 3), axis=0) || max(p, axis=0); }",
};

/* Programs with bytes replaced, dropped and doubled: an error or a graph, never
 * a crash. */
static void
test_mutations(void **state)
{
    struct fixture *outer = *state;
    static const char alphabet[] = "()[]{},;:=+-*/%<>!&|^~?.# 019xyN\"_";
    uint32_t seed = 12345;

    (void)outer;
    for (int round = 0; round < 6000; round++) {
        const char *from = programs[round % (int)ARRAY_LEN(programs)];
        struct arena *a = arena_new();
        struct fixture f = {.a = a};
        char *text = arena_alloc(a, 2 * strlen(from) + 16);
        size_t n = strlen(from);

        memcpy(text, from, n + 1);
        for (int i = 0; i < 1 + round % 4; i++) {
            size_t at, other;

            seed = seed * 1664525 + 1013904223;
            at = (seed >> 8) % n;
            seed = seed * 1664525 + 1013904223;
            other = (seed >> 8) % n;
            if (seed >> 30 == 0)
                text[at] = alphabet[(seed >> 8) % (sizeof(alphabet) - 1)];
            else if (seed >> 30 == 1)
                memmove(text + at, text + at + 1, n-- - at);
            else
                text[at] = text[other];
        }
        load(&f, text);
        arena_free(a);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_long_chain), TEST(test_many_statements),
        TEST(test_many_defs),  TEST(test_backward_chain),
        TEST(test_mutations),
    };

    return cmocka_run_group_tests_name("front limits", tests, NULL, NULL);
}
