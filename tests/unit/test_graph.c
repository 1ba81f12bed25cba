/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what the listing looks like, that printed programs list alike when
 * they are read again, that verify sees each kind of damage, and that simplify
 * does its rewrites and no others. */
#include "support/base.h"

#include "ir/graph.h"

#include "front/front.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int
setup(void **state)
{
    *state = arena_new();
    return 0;
}

static int
teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static struct graph *
load(struct arena *a, const char *text, struct binding *bind)
{
    struct front_options opt = {.bindings = bind, .n_bindings = bind != NULL};
    struct diag *d = diag_new(a);
    struct diag_style plain = {0};
    struct module *m =
        front_load_text(a, d, "test.fusion", text, strlen(text), &opt);

    if (!m) {
        diag_flush(d, stderr, &plain);
        fail_msg("the program is wrong: %s", text);
        return NULL;
    }
    assert_int_equal(m->n_graphs, 1);
    return m->graphs[0];
}

static const char *
listing(const struct graph *g)
{
    struct buf b;

    buf_init(&b, g->arena);
    graph_print(&b, g);
    return buf_str(&b);
}

static const char *
fusion(const struct graph *g)
{
    struct buf b;

    buf_init(&b, g->arena);
    graph_print_fusion(&b, g);
    return buf_str(&b);
}

static void
assert_verifies(const struct graph *g)
{
    struct buf why;

    buf_init(&why, g->arena);
    graph_verify(g, &why);
    assert_string_equal(buf_str(&why), "");
}

/* --- printing --------------------------------------------------------------
 */

static void
test_listing(void **state)
{
    struct graph *g =
        load(*state,
             "fusion f(x: bf16[M, N], w: f32[N], eps: f32 = 1e-5)\n"
             "    -> (y: bf16[M, N], z: f32[M]) requires N % 8 == 0\n"
             "{ t = x * w; y = t + eps; z = sum(t[:, 1:], axis=1); }",
             NULL);

    assert_string_equal(listing(g),
                        "fusion f\n"
                        "  x: bf16[M, N]\n"
                        "  w: f32[N]\n"
                        "  eps: f32 = 1e-05\n"
                        "  requires N % 8 == 0\n"
                        "  requires 1 <= N\n"
                        "  %0 = broadcast_to w [_, 0] : f32[M, N]\n"
                        "  %1 = * x %0 : f32[M, N] # t\n"
                        "  %2 = broadcast_to eps [_, _] : f32[M, N]\n"
                        "  %3 = + %1 %2 : f32[M, N] # y\n"
                        "  %4 = slice %1 [0:1, 1:1] : f32[M, N - 1]\n"
                        "  %5 = sum %4 [1] : f32[M] # z\n"
                        "  y: bf16[M, N] = %3\n"
                        "  z: f32[M] = %5\n");
    assert_verifies(g);
}

/* Each text in one fusion; between them they use all that can be printed. */
static const char *const programs[] = {
    "fusion f(x: bf16[M, N], m: f32[M]) -> (y: bf16[M, N])\n"
    "{ a = (x - m[:, None]) * 2.5; y = a / sum(a, axis=1, keepdim=true); }",

    "fusion f(x: bf16[M, N]) -> (a: bf16[N, M], b: bf16[M * N],\n"
    "    c: bf16[M, 1, N], d: bf16[M, N], e: bf16[M, N + 3], g: bf16[2 * M, "
    "N])\n"
    "{ a = transpose(x, 0, 1); b = reshape(x, [M * N]); c = x[:, None];\n"
    "  d = flip(x, axis=1); e = pad(x, [[0, 0], [1, 2]]); g = cat([x, d],\n"
    "  axis=0); }",

    "fusion f(x: f32[M, N], i: i32) -> (a: f32[N], b: f32[(M + 1) // 2, N - "
    "5],\n"
    "    c: f32[N], d: f32[M, N]) requires M >= 4, N // 8 >= 2\n"
    "{ a = x[i] + x[2]; b = x[::2, 2:N - 3]; c = x[-1]; d = roll(x, 3,\n"
    "  axis=1); }",

    "fusion f(x: i32[M, N], u: u8[M, N], b: bool[M, N], s: i64, t: bool = "
    "true)\n"
    "    -> (a: i64[M], c: bool[M, N], d: i32[M, N], e: i64[])\n"
    "{ a = sum(x, axis=1) + argmax(u, axis=1) + s; c = (x > 3 && b) || !(u == "
    "7)\n"
    "  ^ t; d = (x // 3) % 5 + (x << 2) + ~x + i32(i8(300)); e = iota(5)[1] + "
    "M;\n"
    "}",

    "fusion f(d: f64[N], h: f16[N], z: f64 = 0.1) -> (a: f64[N], b: f32[],\n"
    "    c: f16[N], e: f32[N], g: f32[])\n"
    "{ a = d ** 3 + f64(h) * z / 7; b = norm(h, p=3) + prod(h) + nan - inf;\n"
    "  c = h; e = softmax(h, axis=0) + f32(f32(h)) + 1e-40 + f32(0.1); g = "
    "1.5; }",

    "fusion f(x: f16[4 * S, 1, N] strides(P, N, 1) align(32), n: dim = 3)\n"
    "    -> (y: f16[4 * S, 1, N] strides(P, N, 1) = inplace(x), v: "
    "f32[n])\n"
    "    requires n == 4 || n > 100, P > N\n"
    "{ y = squeeze(x, axis=1)[:, None, :]; v = f32(iota(n)) * f32(n * S); }",

    "fusion f(x: f32[V, 1], y: f32[V, H]) -> (a: f32[V, H], b: f32[1, V, 1, "
    "H],\n"
    "    _0: f32[V, H])\n"
    "{ a = broadcast_to(x, [V, H]) + broadcast_to(3.0, [V, H]); b = y[None, "
    ":,\n"
    "  None]; _0 = where(y > 0, y, x) + clamp(y, lo=-1); }",
};

static void
test_round_trip(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct graph *g = load(*state, programs[i], NULL);
        struct graph *again = load(*state, fusion(g), NULL);

        assert_verifies(g);
        assert_string_equal(listing(again), listing(g));
        assert_string_equal(fusion(again), fusion(g));
    }
}

/* The same for what simplify made of them. */
static void
test_round_trip_of_simple(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        struct graph *g = graph_simplify(load(*state, programs[i], NULL));
        struct graph *again = load(*state, fusion(g), NULL);

        assert_verifies(g);
        assert_string_equal(listing(graph_simplify(again)), listing(g));
        assert_string_equal(listing(graph_simplify(g)), listing(g));
    }
}

/* A bound symbol is still read, and checked, where it was. */
static void
test_round_trip_of_bound(void **state)
{
    struct binding n = {"N", "128", false};
    struct graph *g = load(*state, programs[0], &n);
    struct graph *again = load(*state, fusion(g), NULL);

    assert_non_null(strstr(fusion(g), "x: bf16[M, N]"));
    assert_non_null(strstr(fusion(g), "requires N == 128"));
    assert_non_null(strstr(listing(g), "x: bf16[M, 128]"));
    assert_string_equal(listing(again), listing(g));
}

static void
test_hash(void **state)
{
    char a[17], b[17], c[17];

    graph_hash(load(*state, programs[0], NULL), a);
    graph_hash(load(*state, programs[0], NULL), b);
    graph_hash(load(*state, programs[1], NULL), c);
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    assert_int_equal(strspn(a, "0123456789abcdef"), 16);
}

static void
sign(void **state, const char *text, struct binding *bind, char ret[17])
{
    graph_signature(graph_simplify(load(*state, text, bind)), ret);
}

/* Names and extents are not part of it; all else is. */
static void
test_signature(void **state)
{
    static const char *const others[] = {
        "fusion f(x: f16[M, N]) -> (y: f32[M, N]) {"
        " y = x - mean(x, axis=1, keepdim=true); }",
        "fusion f(x: f32[M, N]) -> (y: f16[M, N]) {"
        " y = x - mean(x, axis=1, keepdim=true); }",
        "fusion f(x: f32[M, N]) -> (y: f32[M, N]) {"
        " y = x - mean(x, axis=0, keepdim=true); }",
        "fusion f(x: f32[M, N]) -> (y: f32[M, N]) {"
        " y = x + mean(x, axis=1, keepdim=true); }",
        "fusion f(x: f32[M, N] align(4)) -> (y: f32[M, N]) {"
        " y = x - mean(x, axis=1, keepdim=true); }",
        "fusion f(x: f32[N, N]) -> (y: f32[N, N]) {"
        " y = x - mean(x, axis=1, keepdim=true); }",
    };
    const char *text = "fusion f(x: f32[M, N]) -> (y: f32[M, N]) {"
                       " y = x - mean(x, axis=1, keepdim=true); }";
    const char *renamed = "fusion g(in: f32[A, B]) -> (out: f32[A, B]) {"
                          " m = mean(in, axis=1, keepdim=true);"
                          " out = in - m; }";
    struct binding n = {"N", "4096", false}, b = {"B", "1000", false};
    char want[17], got[17];

    sign(state, text, NULL, want);
    sign(state, renamed, NULL, got);
    assert_string_equal(got, want);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        sign(state, others[i], NULL, got);
        assert_string_not_equal(got, want);
    }
    sign(state, text, &n, want);
    sign(state, renamed, &b, got);
    assert_string_equal(got, want);
}

static void
test_dot(void **state)
{
    struct buf b;
    struct graph *g = load(
        *state, "fusion f(x: f32[N]) -> (y: f32[N]) { y = exp(x); }", NULL);

    buf_init(&b, *state);
    graph_print_dot(&b, g);
    assert_string_equal(buf_str(&b),
                        "digraph \"f\" {\n"
                        "  node [shape=box];\n"
                        "  n0 [label=\"x\\nf32[N]\", shape=oval];\n"
                        "  n1 [label=\"exp\\nf32[N]\"];\n"
                        "  n0 -> n1;\n"
                        "  r0 [label=\"y\", peripheries=2];\n"
                        "  n1 -> r0;\n"
                        "}\n");
}

/* --- verify ----------------------------------------------------------------
 */

static struct graph *
small(struct arena *a)
{
    return load(
        a,
        "fusion f(x: bf16[M, N], w: f32[N]) -> (y: f32[N, M], z: f32[M])"
        " { t = x + w; y = transpose(t, 0, 1); z = sum(t, axis=1); }",
        NULL);
}

static struct node *
find(struct graph *g, enum op op)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].op == op)
            return &g->nodes[i];
    }
    fail();
    return NULL;
}

static void
assert_broken(struct graph *g, const char *what)
{
    struct buf why;

    buf_init(&why, g->arena);
    assert_false(graph_verify(g, &why));
    if (strstr(buf_str(&why), what) == NULL)
        assert_string_equal(buf_str(&why), what);
}

static void
test_verify(void **state)
{
    struct graph *g = small(*state);
    node_id late[2] = {g->n_nodes - 1, g->n_nodes - 1};

    assert_verifies(g);
    find(g, OP_ADD)->dtype = DT_BF16;
    assert_broken(g, "computes in the storage type bf16");
    g = small(*state);
    find(g, OP_ADD)->dtype = DT_F64;
    assert_broken(g, "type f32, not f64");
    g = small(*state);
    find(g, OP_ADD)->args = late;
    assert_broken(g, "doesn't precede it");
    g = small(*state);
    find(g, OP_ADD)->n_args = 1;
    assert_broken(g, "1 operands");
    g = small(*state);
    find(g, OP_ADD)->dims[0] = sym_int(g->syms, 7);
    assert_broken(g, "has another shape");
    g = small(*state);
    find(g, OP_PERMUTE)->map[0] = 0;
    assert_broken(g, "dimension 1 comes from 0");
    g = small(*state);
    find(g, OP_BROADCAST)->map[1] = NO_DIM;
    assert_broken(g, "dimension 0 of the operand is lost");
    g = small(*state);
    find(g, OP_SUM)->keepdim = true;
    assert_broken(g, "rank 1, not 2");
    g = small(*state);
    find(g, OP_INPUT)->param = 9;
    assert_broken(g, "no parameter 9");
    g = small(*state);
    g->results[0].node = 99;
    assert_broken(g, "result 'y' has no value");
    g = small(*state);
    g->results[0].rank = 1;
    assert_broken(g, "result 'y' has another shape");
}

/* --- simplify ---------------------------------------------------------------
 */

/* The listing of `y: f32[N]` computed from x: f32[N], b: bf16[N], k: i32[N],
 * from its first operation on. */
static const char *
simple(struct arena *a, const char *expr)
{
    const char *text = arena_printf(
        a,
        "fusion f(x: f32[N], b: bf16[N], k: i32[N]) -> (y: f32[N]) { y = %s; }",
        expr);
    struct graph *g = graph_simplify(load(a, text, NULL));
    const char *all = listing(g), *first = strstr(all, "  %0");

    assert_verifies(g);
    return first != NULL ? first : strstr(all, "  y: ");
}

#define RESULT "  y: f32[N] = "

static void
test_identities_go(void **state)
{
    static const char *const same[] = {
        "x * 1",
        "1.0 * x",
        "x / 1",
        "x - 0",
        "x + -0.0",
        "-(-x)",
        "maximum(x, x)",
        "f32(f64(x))",
        "squeeze(x[:, None], axis=1)",
        "squeeze(squeeze(x[None, :, None], axis=2), axis=0)",
        "flip(x, axis=0) == 1.0 ? x : x",
        "reshape(reshape(x, [1, N]), [N])",
        "squeeze(transpose(transpose(x[None], 0, 1), 0, 1), axis=0)",
    };

    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_string_equal(simple(*state, same[i]), RESULT "x\n");
}

static void
test_what_must_stay(void **state)
{
    /* x + 0.0 turns -0.0 into 0.0. */
    assert_non_null(strstr(simple(*state, "x + 0.0"), "= + x"));
    assert_non_null(strstr(simple(*state, "x * 0"), "= * x"));
    assert_non_null(strstr(simple(*state, "x / x"), "= / x x"));
    assert_non_null(strstr(simple(*state, "x - x"), "= - x x"));
    assert_non_null(strstr(simple(*state, "(x + 1) + 2"), "f32(1.0)"));
    /* An explicit f32 forbids contraction, a storage type rounds. */
    assert_string_equal(simple(*state, "f32(x * x)"),
                        "  %0 = * x x : f32[N]\n"
                        "  %1 = cast %0 : f32[N] # y\n" RESULT "%1\n");
    assert_string_equal(simple(*state, "bf16(x)"),
                        "  %0 = cast x : bf16[N] # y\n" RESULT "%0\n");
    assert_string_equal(simple(*state, "f32(f64(x * x))"),
                        "  %0 = * x x : f32[N]\n"
                        "  %1 = cast %0 : f32[N] # y\n" RESULT "%1\n");
    /* i8 wraps, so it is not the same from f64. */
    assert_non_null(strstr(simple(*state, "i8(f64(k))"), "f64[N]"));
}

static void
test_casts_meet(void **state)
{
    assert_string_equal(simple(*state, "bf16(f32(b))"), RESULT "b\n");
    assert_string_equal(simple(*state, "f16(f64(f32(b)))"),
                        "  %0 = cast b : f16[N] # y\n" RESULT "%0\n");
    assert_string_equal(simple(*state, "f32(b) * x"),
                        "  %0 = * b x : f32[N] # y\n" RESULT "%0\n");
    assert_string_equal(simple(*state, "flip(f32(b), axis=0) * x"),
                        "  %0 = flip b [0] : bf16[N]\n"
                        "  %1 = * %0 x : f32[N] # y\n" RESULT "%1\n");
    assert_string_equal(simple(*state, "i8(i64(k))"),
                        "  %0 = cast k : i8[N] # y\n" RESULT "%0\n");
}

static void
test_equal_values_merge(void **state)
{
    assert_string_equal(simple(*state, "exp(x * b) + exp(b * x)"),
                        "  %0 = * x b : f32[N]\n"
                        "  %1 = exp %0 : f32[N]\n"
                        "  %2 = + %1 %1 : f32[N] # y\n" RESULT "%2\n");
    assert_non_null(strstr(simple(*state, "(x - b) * (b - x)"), "%2 = *"));
    assert_string_equal(simple(*state, "x + 2.0 * (k == 1 ? 3.0 : 3.0)"),
                        "  %0 = broadcast_to f32(6.0) [_] : f32[N]\n"
                        "  %1 = + x %0 : f32[N] # y\n" RESULT "%1\n");
}

static void
test_views_compose(void **state)
{
    struct graph *g = graph_simplify(load(
        *state,
        "fusion f(m: f32[M], x: f32[M, N]) -> (y: f32[M, N], z: f32[N * M])"
        " { y = broadcast_to(broadcast_to(m[:, None], [M, 1]), [M, N]) + x;"
        "   z = reshape(reshape(x, [N, M]), [N * M]); }",
        NULL));

    assert_verifies(g);
    assert_string_equal(strstr(listing(g), "  %0"),
                        "  %0 = broadcast_to m [0, _] : f32[M, N]\n"
                        "  %1 = + %0 x : f32[M, N] # y\n"
                        "  %2 = reshape x : f32[M * N] # z\n"
                        "  y: f32[M, N] = %1\n"
                        "  z: f32[M * N] = %2\n");
    /* No step in between is left among the nodes. */
    for (uint32_t i = 0; i < g->n_nodes; i++)
        assert_int_not_equal(g->nodes[i].op, OP_UNSQUEEZE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_listing),
        TEST(test_round_trip),
        TEST(test_round_trip_of_simple),
        TEST(test_round_trip_of_bound),
        TEST(test_hash),
        TEST(test_signature),
        TEST(test_dot),
        TEST(test_verify),
        TEST(test_identities_go),
        TEST(test_what_must_stay),
        TEST(test_casts_meet),
        TEST(test_equal_values_merge),
        TEST(test_views_compose),
    };

    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
