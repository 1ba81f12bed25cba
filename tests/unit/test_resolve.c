/* SPDX-License-Identifier: Apache-2.0 */
/* resolve: the graphs that programs mean. Nodes are compared as expressions,
 * "(+ x (bc 2:f32)) : f32[M, N]", written by a printer of this file, so that
 * what is pinned is types, shapes and operations and not a listing's layout.
 * The wording of errors is pinned by tests/golden/diag. */
#include "support/base.h"

#include "front/front.h"

#include "ir/graph.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include "front_fixture.h"

/* --- expressions --------------------------------------------------------- */

static void print_node(const struct graph *g, node_id id, struct buf *out);

static void
print_leaf(const struct graph *g, const struct node *n, struct buf *out)
{
    if (n->op == OP_CONST) {
        if (dtype_is_float(n->dtype))
            buf_double(out, n->value.f);
        else
            buf_printf(out, "%" PRId64, n->value.i);
        buf_printf(out, ":%s", dtype_info[n->dtype].name);
    } else if (n->op == OP_DIM) {
        buf_putc(out, '{');
        sym_print_fusion(out, n->extent);
        buf_putc(out, '}');
    } else if (n->op == OP_IOTA) {
        buf_puts(out, "iota");
    } else {
        buf_puts(out, g->params[n->param].name);
    }
}

static void
print_attributes(const struct node *n, struct buf *out)
{
    if (op_info[n->op].class == OC_REDUCE) {
        for (int d = 0; d < MAX_RANK; d++) {
            if (n->flag[d])
                buf_printf(out, "%d", d);
        }
        buf_puts(out, n->keepdim ? "k" : "");
    } else if (n->op == OP_PERMUTE) {
        for (int d = 0; d < n->rank; d++)
            buf_printf(out, "%d", n->map[d]);
    } else if (n->op == OP_SLICE) {
        for (int d = 0; d < n->rank; d++) {
            buf_putc(out, '<');
            sym_print_fusion(out, n->start[d]);
            buf_printf(out, ":%" PRId64 ">", n->step[d]);
        }
    } else if (n->op == OP_SELECT_INDEX) {
        buf_printf(out, "%d<", n->dim);
        if (n->start[0])
            sym_print_fusion(out, n->start[0]);
        buf_putc(out, '>');
    } else if (n->op == OP_CAT || op_info[n->op].class == OC_INDEX) {
        buf_printf(out, "%d", n->dim);
    }
}

static void
print_node(const struct graph *g, node_id id, struct buf *out)
{
    const struct node *n = graph_node(g, id);
    const char *name = n->op == OP_CAST        ? dtype_info[n->dtype].name
                       : n->op == OP_BROADCAST ? "bc"
                                               : op_info[n->op].name;

    if (op_info[n->op].class == OC_LEAF) {
        print_leaf(g, n, out);
        return;
    }
    buf_printf(out, "(%s", name);
    print_attributes(n, out);
    for (uint32_t i = 0; i < n->n_args; i++) {
        buf_putc(out, ' ');
        print_node(g, n->args[i], out);
    }
    buf_putc(out, ')');
}

static const char *
text_of(struct fixture *f, const struct graph *g, node_id id)
{
    const struct node *n = graph_node(g, id);
    struct buf out;

    buf_init(&out, f->a);
    print_node(g, id, &out);
    buf_printf(&out, " : %s[", dtype_info[n->dtype].name);
    for (int d = 0; d < n->rank; d++) {
        buf_puts(&out, d ? ", " : "");
        sym_print_fusion(&out, n->dims[d]);
    }
    buf_putc(&out, ']');
    return buf_str(&out);
}

/* The value named "t" of the graph. */
static const char *
named_t(struct fixture *f, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const char *name = graph_node(g, i)->name;

        if (name && strcmp(name, "t") == 0)
            return text_of(f, g, i);
    }
    return "nothing";
}

struct expect {
    const char *expr, *want;
};

#define HEAD                                                                   \
    "const K = 3; const HALF = 0.5; type T = bf16;"                            \
    "fusion f(x: f32[M, N], h: f16[M, N], b: bf16[M, N], d: f64[M, N],"        \
    " i: i32[M, N], l: i64[M, N], c: i8[M, N], u: u8[M, N], p: bool[M, N],"    \
    " q: bool[M, N], g: f32[M], w: f32[N], s: f32, n: i32, z: f32[],"          \
    " one: f32[1, N], k3: f32[3 * S], s4: f32[4, 5])"                          \
    "-> (o: f32[]) "

static void
check(struct fixture *f, const char *requires, const struct expect *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = arena_printf(f->a, HEAD "%s { t = %s; o = z; }",
                                        requires, e[i].expr);
        struct graph *g = graph_of(f, text);

        assert_string_equal(named_t(f, g), e[i].want);
    }
}

/* --- types --------------------------------------------------------------- */

static void
test_arithmetic_types(void **state)
{
    static const struct expect e[] = {
        {"x + x", "(+ x x) : f32[M, N]"},
        {"h + h", "(+ h h) : f32[M, N]"},
        {"h * b", "(* h b) : f32[M, N]"},
        {"-b", "(- b) : f32[M, N]"},
        {"abs(h)", "(abs h) : f32[M, N]"},
        {"x + d", "(+ (f64 x) d) : f64[M, N]"},
        {"h + d", "(+ (f64 h) d) : f64[M, N]"},
        {"i + x", "(+ (f32 i) x) : f32[M, N]"},
        {"i + h", "(+ (f32 i) h) : f32[M, N]"},
        {"l + d", "(+ (f64 l) d) : f64[M, N]"},
        {"i + l", "(+ (i64 i) l) : i64[M, N]"},
        {"c + u", "(+ (i16 c) (i16 u)) : i16[M, N]"},
        {"p + i", "(+ (i32 p) i) : i32[M, N]"},
        {"p * x", "(* (f32 p) x) : f32[M, N]"},
        {"i / i", "(/ (f32 i) (f32 i)) : f32[M, N]"},
        {"p / p", "(/ (f32 p) (f32 p)) : f32[M, N]"},
        {"f64(l) / l", "(/ (f64 l) (f64 l)) : f64[M, N]"},
        {"i // i", "(// i i) : i32[M, N]"},
        {"x % w", "(% x (bc w)) : f32[M, N]"},
        {"exp(i)", "(exp (f32 i)) : f32[M, N]"},
        {"exp(b)", "(exp b) : f32[M, N]"},
        {"exp(d)", "(exp d) : f64[M, N]"},
        {"floor(i)", "(floor i) : i32[M, N]"},
        {"relu(c)", "(relu c) : i8[M, N]"},
        {"isnan(h)", "(isnan h) : bool[M, N]"},
        {"atan2(i, h)", "(atan2 (f32 i) h) : f32[M, N]"},
        {"fma(x, h, i)", "(fma x h (f32 i)) : f32[M, N]"},
        {"maximum(p, q)", "(| p q) : bool[M, N]"},
        {"minimum(c, u)", "(minimum (i16 c) (i16 u)) : i16[M, N]"},
        {"x < i", "(< x (f32 i)) : bool[M, N]"},
        {"p < q", "(< p q) : bool[M, N]"},
        {"p == i", "(== (i32 p) i) : bool[M, N]"},
        {"p & q", "(& p q) : bool[M, N]"},
        {"i & p", "(& i (i32 p)) : i32[M, N]"},
        {"~c", "(~ c) : i8[M, N]"},
        {"p && !q", "(&& p (! q)) : bool[M, N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_literals(void **state)
{
    static const struct expect e[] = {
        {"x + 2", "(+ x (bc 2.0:f32)) : f32[M, N]"},
        {"b + 2", "(+ b (bc 2.0:f32)) : f32[M, N]"},
        {"b * 0.1", "(* b (bc 0.10000000149011612:f32)) : f32[M, N]"},
        {"d * 0.1", "(* d (bc 0.1:f64)) : f64[M, N]"},
        {"c + -128", "(+ c (bc -128:i8)) : i8[M, N]"},
        {"i * 2.5", "(* (f32 i) (bc 2.5:f32)) : f32[M, N]"},
        {"p + 1", "(+ (i64 p) (bc 1:i64)) : i64[M, N]"},
        {"u + 255", "(+ u (bc 255:u8)) : u8[M, N]"},
        {"x + true", "(+ x (bc 1.0:f32)) : f32[M, N]"},
        {"i * K", "(* i (bc 3:i32)) : i32[M, N]"},
        {"x * (K + HALF)", "(* x (bc 3.5:f32)) : f32[M, N]"},
        {"i * N", "(* (i64 i) (bc {N})) : i64[M, N]"},
        {"x * N", "(* x (bc (f32 {N}))) : f32[M, N]"},
        {"i + size(x, -1)", "(+ (i64 i) (bc {N})) : i64[M, N]"},
        {"x * (1.0 / N)", "(* x (bc (f32 (/ 1.0:f64 (f64 {N}))))) : f32[M, N]"},
        {"d * (1 / N)", "(* d (bc (/ (f64 1:i64) (f64 {N})))) : f64[M, N]"},
        {"x * exp(1.0)", "(* x (bc (f32 (exp 1.0:f64)))) : f32[M, N]"},
        {"x * sqrt(4)", "(* x (bc 2.0:f32)) : f32[M, N]"},
        {"x * (1 / 3)", "(* x (bc 0.3333333432674408:f32)) : f32[M, N]"},
        {"x * (N > 4 ? 2 : 3)",
         "(* x (bc (f32 (where (> {N} 4:i64) 2:i64 3:i64)))) : f32[M, N]"},
        {"x * (K == 3 ? 2 : 0.5)", "(* x (bc 2.0:f32)) : f32[M, N]"},
        {"x + s", "(+ x (bc s)) : f32[M, N]"},
        {"x + n", "(+ x (bc (f32 n))) : f32[M, N]"},
        {"f32(0.1) * x", "(* (bc 0.10000000149011612:f32) x) : f32[M, N]"},
        {"T(0.1) + x", "(+ (bc (bf16 0.1:f64)) x) : f32[M, N]"},
        {"i8(300) + c", "(+ (bc 44:i8) c) : i8[M, N]"},
        {"u8(-1) + u", "(+ (bc 255:u8) u) : u8[M, N]"},
        {"x + 2 ** 3", "(+ x (bc 8.0:f32)) : f32[M, N]"},
        {"x + 2 ** -1", "(+ x (bc 0.5:f32)) : f32[M, N]"},
        {"x + 7 // 2 % 2", "(+ x (bc 1.0:f32)) : f32[M, N]"},
        {"x + -7 // 2", "(+ x (bc -4.0:f32)) : f32[M, N]"},
        {"x + (6 & 3 | 8) ", "(+ x (bc 1e+01:f32)) : f32[M, N]"},
        {"x + inf", "(+ x (bc inf:f32)) : f32[M, N]"},
        {"where(p, b, 0)", "(where p b (bc 0.0:f32)) : f32[M, N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_casts_and_selects(void **state)
{
    static const struct expect e[] = {
        {"bf16(x)", "(bf16 x) : bf16[M, N]"},
        {"f32(x)", "(f32 x) : f32[M, N]"},
        {"f32(x * x) + x", "(+ (f32 (* x x)) x) : f32[M, N]"},
        {"i32(i) + 1", "(+ i (bc 1:i32)) : i32[M, N]"},
        {"bool(x)", "(bool x) : bool[M, N]"},
        {"p ? h : h", "(where p h h) : f16[M, N]"},
        {"p ? h : b", "(where p h b) : f32[M, N]"},
        {"p ? i : c", "(where p i (i32 c)) : i32[M, N]"},
        {"where(p, i, x)", "(where p (f32 i) x) : f32[M, N]"},
        {"p ? 1 : 2.0", "(where p (bc 1.0:f32) (bc 2.0:f32)) : f32[M, N]"},
        {"p ? 1 : 2", "(where p (bc 1:i64) (bc 2:i64)) : i64[M, N]"},
        {"i << 33", "(<< i (bc 1:i32)) : i32[M, N]"},
        {"1 << i", "(<< (bc 1:i32) i) : i32[M, N]"},
        {"c >> l", "(>> c (i8 l)) : i8[M, N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_powers(void **state)
{
    static const struct expect e[] = {
        {"x ** 2", "(* x x) : f32[M, N]"},
        {"x ** 3", "(* (* x x) x) : f32[M, N]"},
        {"x ** 4", "(* (* x x) (* x x)) : f32[M, N]"},
        {"b ** 1", "(f32 b) : f32[M, N]"},
        {"x ** -2", "(/ (bc 1.0:f32) (* x x)) : f32[M, N]"},
        {"x ** 5", "(pow x (bc 5.0:f32)) : f32[M, N]"},
        {"x ** 0.5", "(pow x (bc 0.5:f32)) : f32[M, N]"},
        {"i ** 3", "(* (* i i) i) : i32[M, N]"},
        {"i ** i", "(pow i i) : i32[M, N]"},
        {"pow(x, 2)", "(* x x) : f32[M, N]"},
        {"2 ** x", "(pow (bc 2.0:f32) x) : f32[M, N]"},
        {"-x ** 2", "(- (* x x)) : f32[M, N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

/* --- shapes -------------------------------------------------------------- */

static void
test_broadcast(void **state)
{
    static const struct expect e[] = {
        {"x * w", "(* x (bc w)) : f32[M, N]"},
        {"x * g[:, None]", "(* x (bc (unsqueeze g))) : f32[M, N]"},
        {"x * one", "(* x (bc one)) : f32[M, N]"},
        {"g[:, None] * w", "(* (bc (unsqueeze g)) (bc w)) : f32[M, N]"},
        {"x * z", "(* x (bc z)) : f32[M, N]"},
        {"one + one", "(+ one one) : f32[1, N]"},
        {"one[0] + w", "(+ (select_index0<0> one) w) : f32[N]"},
        {"x + x[:, 0:1]", "(+ x (bc (slice<0:1><0:1> x))) : f32[M, N]"},
        {"broadcast_to(w, [M, N])", "(bc w) : f32[M, N]"},
        {"x / sum(x, axis=-1, keepdim=true)",
         "(/ x (bc (sum1k x))) : f32[M, N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_views(void **state)
{
    static const struct expect e[] = {
        {"transpose(x, 0, 1)", "(permute10 x) : f32[N, M]"},
        {"permute(x[None], [2, 0, 1])",
         "(permute201 (unsqueeze x)) : f32[N, 1, M]"},
        {"reshape(x, [M * N])", "(reshape x) : f32[M * N]"},
        {"reshape(x, [N, M, 1])", "(reshape x) : f32[N, M, 1]"},
        {"squeeze(one, axis=0)", "(squeeze one) : f32[N]"},
        {"unsqueeze(w, axis=[0, -1])", "(unsqueeze w) : f32[1, N, 1]"},
        {"flip(x, axis=[0, 1])", "(flip x) : f32[M, N]"},
        {"s4[1:3]", "(slice<1:1><0:1> s4) : f32[2, 5]"},
        {"s4[-2:]", "(slice<2:1><0:1> s4) : f32[2, 5]"},
        {"s4[::3, 1::2]", "(slice<0:1><1:2> (slice<0:3><0:1> s4)) : f32[2, 2]"},
        {"s4[-1]", "(select_index0<3> s4) : f32[5]"},
        {"s4[..., 0]", "(select_index1<0> s4) : f32[4]"},
        {"s4[None, 1, ..., None]",
         "(unsqueeze (select_index1<1> (unsqueeze s4))) : f32[1, 5, 1]"},
        {"x[n]", "(select_index0<> x (i64 n)) : f32[N]"},
        {"cat([s4, s4], axis=1)", "(cat1 s4 s4) : f32[4, 10]"},
        {"cat([h, x], axis=0)", "(cat0 (f32 h) x) : f32[2 * M, N]"},
        {"cat([h, h], axis=0)", "(cat0 h h) : f16[2 * M, N]"},
        {"stack([w, w], axis=-1)",
         "(cat1 (unsqueeze w) (unsqueeze w)) : f32[N, 2]"},
        {"pad(h, [[1, 2], [0, N]])",
         "(pad h (f16 0.0:f32)) : f16[M + 3, 2 * N]"},
        {"pad(h, [[1, 2], [0, 0]], value=s)",
         "(pad (f32 h) s) : f32[M + 3, N]"},
        {"roll(s4, 1, axis=0)",
         "(cat0 (slice<3:1><0:1> s4) (slice<0:1><0:1> s4)) : f32[4, 5]"},
        {"roll(s4, -1, axis=1)",
         "(cat1 (slice<0:1><1:1> s4) (slice<0:1><0:1> s4)) : f32[4, 5]"},
        {"roll(s4, 8, axis=0) * 1", "(* s4 (bc 1.0:f32)) : f32[4, 5]"},
        {"iota(N) * 2", "(* iota (bc 2:i64)) : i64[N]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_facts(void **state)
{
    static const struct expect multiple[] = {
        {"reshape(x, [M, N // 8, 8])", "(reshape x) : f32[M, N // 8, 8]"},
    };
    static const struct expect equal[] = {
        {"x + transpose(x, 0, 1)", "(+ x (permute10 x)) : f32[N, N]"},
        {"x * g", "(* x (bc g)) : f32[N, N]"},
    };
    static const struct expect number[] = {
        {"x[:, :8]", "(slice<0:1><0:1> x) : f32[M, 8]"},
        {"w * (N + 1)", "(* w (bc 17.0:f32)) : f32[16]"},
    };

    check(*state, "requires N % 8 == 0", multiple, ARRAY_LEN(multiple));
    check(*state, "requires M == N", equal, ARRAY_LEN(equal));
    check(*state, "requires N == 16", number, ARRAY_LEN(number));
}

/* --- reductions ---------------------------------------------------------- */

static void
test_reductions(void **state)
{
    static const struct expect e[] = {
        {"sum(x)", "(sum01 x) : f32[]"},
        {"sum(h, axis=0)", "(sum0 h) : f32[N]"},
        {"sum(c, axis=[0, 1])", "(sum01 (i64 c)) : i64[]"},
        {"prod(p, axis=1)", "(prod1 (i64 p)) : i64[M]"},
        {"max(h, axis=1)", "(max1 h) : f32[M]"},
        {"max(c, axis=1)", "(max1 c) : i8[M]"},
        {"max(p, axis=1)", "(any1 p) : bool[M]"},
        {"amin(p, axis=1)", "(all1 p) : bool[M]"},
        {"argmax(b, axis=1)", "(argmax1 b) : i64[M]"},
        {"any(x > 0)", "(any01 (> x (bc 0.0:f32))) : bool[]"},
        {"sum(x, axis=[])*2", "(* x (bc 2.0:f32)) : f32[M, N]"},
        {"mean(x, axis=1)", "(/ (sum1 x) (bc (f32 {N}))) : f32[M]"},
        {"mean(x)", "(/ (sum01 x) (f32 {M * N})) : f32[]"},
        {"mean(i, axis=0)", "(/ (f32 (sum0 (i64 i))) (bc (f32 {M}))) : f32[N]"},
        {"mean(d, axis=1)", "(/ (sum1 d) (bc (f64 {N}))) : f64[M]"},
        {"mean(s4, axis=1)", "(/ (sum1 s4) (bc 5.0:f32)) : f32[4]"},
        {"var(s4, axis=1)",
         "(/ (sum1 (* (- s4 (bc (/ (sum1 s4) (bc 5.0:f32)))) (- s4 (bc (/ "
         "(sum1 s4) (bc 5.0:f32)))))) (bc 4.0:f32)) : f32[4]"},
        {"norm(s4, axis=0)", "(sqrt (sum0 (* s4 s4))) : f32[5]"},
        {"norm(s4, axis=0, p=1)", "(sum0 (abs s4)) : f32[5]"},
        {"norm(s4, axis=0, p=inf)",
         "(maximum (max0 (abs s4)) (bc 0.0:f32)) : f32[5]"},
        {"std(s4, axis=1, correction=5)",
         "(sqrt (/ (sum1 (* (- s4 (bc (/ (sum1 s4) (bc 5.0:f32)))) (- s4 (bc "
         "(/ (sum1 s4) (bc 5.0:f32)))))) (bc 0.0:f32))) : f32[4]"},
    };

    check(*state, "", e, ARRAY_LEN(e));
}

static void
test_variance_of_symbols(void **state)
{
    struct fixture *f = *state;
    struct graph *g =
        graph_of(f, "fusion f(x: f32[M, N]) -> (v: f32[M], m: f32[M]) {"
                    " v, m = var_mean(x, axis=1); }");
    const struct node *v = graph_node(g, g->results[0].node);

    assert_string_equal(text_of(f, g, g->results[1].node),
                        "(/ (sum1 x) (bc (f32 {N}))) : f32[M]");
    assert_int_equal(v->op, OP_DIV);
    assert_string_equal(text_of(f, g, v->args[1]),
                        "(bc (f32 {maximum(0, N - 1)})) : f32[M]");
}

/* --- defs ---------------------------------------------------------------- */

static void
test_defs(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "def shift(x, by=K, scale=1) = x * scale + by;"
           "def both(x) { a = x + 1; b = a * 2; return b, a; }"
           "const K = 4;"
           "fusion f(x: f32[N]) -> (y: f32[N], z: f32[N], v: f32[N]) {"
           " y = shift(x, scale=2); a, z = both(x); v = shift(a, 0.5); }");

    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(+ (* x (bc 2.0:f32)) (bc 4.0:f32)) : f32[N]");
    assert_string_equal(text_of(f, g, g->results[1].node),
                        "(+ x (bc 1.0:f32)) : f32[N]");
    assert_string_equal(
        text_of(f, g, g->results[2].node),
        "(+ (* (* (+ x (bc 1.0:f32)) (bc 2.0:f32)) (bc 1.0:f32)) "
        "(bc 0.5:f32)) : f32[N]");
}

/* A default sees neither parameters nor the caller's names. */
static void
test_defaults_see_consts(void **state)
{
    struct fixture *f = *state;
    struct graph *g =
        graph_of(f, "const x = 3; def g(x, y=x) = x * y;"
                    "fusion f(a: f32[N]) -> (b: f32[N]) { b = g(a); }");

    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(* a (bc 3.0:f32)) : f32[N]");
}

static void
test_def_extents(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "def rows(x, n) = reshape(x, [size(x, 0) * size(x, 1) // n, n]);"
           "fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = rows(x, N); }");

    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(reshape x) : f32[M, N]");
}

static void
test_prelude_is_shadowed(void **state)
{
    struct fixture *f = *state;
    struct graph *g =
        graph_of(f, "def softmax(x) = x + 1;"
                    "fusion f(x: f32[N]) -> (y: f32[N]) { y = softmax(x); }");

    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(+ x (bc 1.0:f32)) : f32[N]");
}

/* --- heads --------------------------------------------------------------- */

static bool
has_guard(const struct graph *g, const char *text)
{
    for (uint32_t i = 0; i < g->n_guards; i++) {
        if (strcmp(g->guards[i], text) == 0)
            return true;
    }
    return false;
}

/* Where the symbol is read: param, dimension, divisor. */
static void
assert_dim(const struct graph *g, uint32_t i, const char *name,
           bool from_stride, const int *place)
{
    assert_true(i < g->n_dims);
    assert_string_equal(g->dims[i].name, name);
    assert_int_equal(g->dims[i].from_stride, from_stride);
    assert_int_equal(g->dims[i].param, place[0]);
    assert_int_equal(g->dims[i].dim, place[1]);
    assert_int_equal(g->dims[i].divisor, place[2]);
}

static void
test_symbols(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "fusion f(a: f32[3 * S, T] strides(P, 1), b: f32[S * 2, R + 1],"
           "         c: f32[R], k: dim, d: f32[k])"
           "-> (y: f32[R]) { y = c + sum(a) + sum(b) + sum(d); }");

    assert_dim(g, 0, "k", false, (int[]){3, 0, 1});
    assert_true(g->dims[0].is_arg);
    assert_dim(g, 1, "S", false, (int[]){0, 0, 3});
    assert_dim(g, 2, "T", false, (int[]){0, 1, 1});
    assert_dim(g, 3, "P", true, (int[]){0, 0, 1});
    assert_dim(g, 4, "R", false, (int[]){2, 0, 1});
    assert_int_equal(g->n_dims, 5);
    assert_true(has_guard(g, "a.shape[0] % 3 == 0"));
    assert_true(has_guard(g, "b.shape[0] == 2 * S"));
    assert_true(has_guard(g, "b.shape[1] == R + 1"));
    assert_int_equal(g->n_guards, 3);
    assert_true(g->params[0].has_strides);
    assert_false(g->params[1].has_strides);
}

static void
test_bindings(void **state)
{
    struct fixture *f = *state;
    struct graph *g;

    bind(f, "N", "64");
    bind(f, "s", "0.5");
    bind(f, "K", "7");
    bind(f, "T", "f16");
    bind(f, "P", "3");
    g = graph_of(f, "const K = 2; type T = f32;"
                    "fusion f(x: T[M, N], s: f32 = 1, r: i32 = K)"
                    "-> (y: f32[M, 64], z: f32[P, M])"
                    "{ y = x * s * K * r; z = broadcast_to(x[:, 0], [P, M]);}");
    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(* (* (* x (bc 0.5:f32)) (bc 7.0:f32)) (bc (f32 r)))"
                        " : f32[M, 64]");
    assert_true(has_guard(g, "N == 64"));
    assert_int_equal(g->params[0].dtype, DT_F16);
    assert_true(g->params[1].bound);
    assert_int_equal(g->params[2].value.i, 7);
    assert_true(g->params[2].has_default);
    assert_int_equal(g->n_dims, 3);
    assert_non_null(g->dims[1].bound);
    for (uint32_t i = 0; i < f->opt.n_bindings; i++)
        assert_true(f->bindings[i].used);
}

static void
test_requires(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "const K = 8; fusion f(x: f32[M, N], n: i32, b: bool)"
           "-> (y: f32[M])"
           "requires N % K == 0 && (N // 2 <= 4096), n >= 0 || b, !(n == -3)"
           "{ y = sum(x, axis=1); }");

    assert_int_equal(g->n_guards, 3);
    assert_string_equal(g->guards[0], "N % 8 == 0 && (N / 2 <= 4096)");
    assert_string_equal(g->guards[1], "n >= 0 || b");
    assert_string_equal(g->guards[2], "!((n == -3))");
}

static const char *
all_guards(struct fixture *f, const struct graph *g)
{
    struct buf b;

    buf_init(&b, f->a);
    for (uint32_t i = 0; i < g->n_guards; i++)
        buf_printf(&b, "%s; ", g->guards[i]);
    return buf_str(&b);
}

/* A scalar that -D binds is no argument, so no guard may name it. */
static void
test_bound_scalars(void **state)
{
    struct fixture *f = *state;
    struct graph *g;

    bind(f, "n", "2");
    bind(f, "b", "true");
    g = graph_of(f, "fusion f(x: f32[4, N], n: i32, b: bool) -> (y: f32[N])"
                    " requires n > 0 && b { y = b ? x[n] : x[0]; }");
    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(where (bc 1:bool) (select_index0<2> x) "
                        "(select_index0<0> x)) : f32[N]");
    assert_string_equal(all_guards(f, g), "2 > 0 && 1; ");
}

/* What a program means doesn't depend on whether a symbol is bound. */
static void
test_bound_symbols_mean_the_same(void **state)
{
    static const char text[] =
        "fusion f(x: f32[M, N], i: i32[N], w: f32[1, N]) -> (o: f32[N],"
        " p: i64[N], q: f32[N], r: f32[]) {"
        " o = w[0] ** N; p = i * N; q = w[0] * (1 / N); r = 2.5 ** N; }";
    struct fixture *f = *state;
    struct graph *g;

    bind(f, "N", "2");
    g = graph_of(f, text);
    assert_string_equal(text_of(f, g, g->results[0].node),
                        "(pow (select_index0<0> w) (bc 2.0:f32)) : f32[2]");
    assert_string_equal(text_of(f, g, g->results[1].node),
                        "(* (i64 i) (bc 2:i64)) : i64[2]");
    assert_string_equal(text_of(f, g, g->results[2].node),
                        "(* (select_index0<0> w) (bc 0.5:f32)) : f32[2]");
    assert_string_equal(text_of(f, g, g->results[3].node),
                        "(f32 (pow 2.5:f64 (f64 2:i64))) : f32[]");
    bind(f, "M", "1");
    assert_null(load(f, "fusion f(x: f32[M, N], y: f32[4, N])"
                        "-> (z: f32[4, N]) { z = x + y; }"));
}

static void
test_open_bounds_are_guards(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "fusion f(x: f32[M, N], i: i32)"
           "-> (a: f32[N], b: f32[M, 8], c: f32[N], d: f32[M, N - 3],"
           "    e: f32[2], h: f32[M])"
           "{ a = x[0]; b = x[:, :8]; c = x[i]; d = x[:, 3:]; e = x[0, -2:];"
           "  h = x[:, N // 2]; }");

    assert_string_equal(
        all_guards(f, g),
        "0 <= N - 3; 0 < M; 8 <= N; i >= 0 && i < M; N / 2 < N; ");
}

/* Linear conditions on one symbol bound it. */
static void
test_linear_facts(void **state)
{
    struct fixture *f = *state;
    struct graph *g;
    int64_t hi;

    bind(f, "K", "4");
    g = graph_of(
        f, "fusion f(x: f32[M, N]) -> (a: f32[M, 8], b: f32[N], c: f32[K])"
           "requires 2 * N - 15 > 0, 3 < M + 1 && 100 >= 2 * M, K - 1 == 3"
           "{ a = x[:, :8]; b = x[2]; c = broadcast_to(x[0, 0], [4]); }");

    assert_string_equal(all_guards(f, g),
                        "2 * N - 15 > 0; 3 < M + 1 && 100 >= 2 * M; "
                        "K - 1 == 3; ");
    assert_true(sym_upper_bound(g->syms, g->params[0].dims[0], &hi));
    assert_int_equal(hi, 50);
}

static void
test_proved_bounds_are_not(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "fusion f(x: f32[M, N])"
           "-> (a: f32[M, N // 2], b: f32[M, 8], c: f32[M], d: f32[M, 0])"
           "requires N >= 16"
           "{ a = x[:, : N // 2]; b = x[:, :8]; c = x[:, -1];"
           "  d = x[:, N:]; }");

    assert_string_equal(all_guards(f, g), "N >= 16; ");
}

static void
test_output_strides(void **state)
{
    struct fixture *f = *state;
    struct graph *g = graph_of(
        f, "fusion f(x: f32[M, N] strides(L, 1), w: f32[M, N])"
           "-> (d: f32[M, N] strides(L, 1), t: f32[M, N] strides(1, M),"
           "    v: f32[M, N] align(32) = inplace(w), q: f32[M] strides(2),"
           "    r: f32[M, N] strides(L, 1) = inplace(x))"
           "{ d = x; t = x; v = w; q = x[:, 0]; r = x; }");

    assert_string_equal(all_guards(f, g), "M <= 1 || L > N - 1; 0 < N; ");
    assert_int_equal(g->results[2].inplace, 1);
    assert_int_equal(g->results[2].align, 32);
    assert_int_equal(g->results[0].align, 16);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_arithmetic_types),
        TEST(test_literals),
        TEST(test_casts_and_selects),
        TEST(test_powers),
        TEST(test_broadcast),
        TEST(test_views),
        TEST(test_facts),
        TEST(test_reductions),
        TEST(test_variance_of_symbols),
        TEST(test_defs),
        TEST(test_defaults_see_consts),
        TEST(test_def_extents),
        TEST(test_prelude_is_shadowed),
        TEST(test_symbols),
        TEST(test_bindings),
        TEST(test_requires),
        TEST(test_bound_scalars),
        TEST(test_bound_symbols_mean_the_same),
        TEST(test_open_bounds_are_guards),
        TEST(test_linear_facts),
        TEST(test_proved_bounds_are_not),
        TEST(test_output_strides),
    };

    return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
