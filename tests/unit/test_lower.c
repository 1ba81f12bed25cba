/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels lowering makes, what they take and how they are launched. What
 * they compute is the business of tests/exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts.h"
#include "codegen/codegen.h"
#include "device/device.h"
#include "front/front.h"
#include "lower/lower.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdlib.h>
#include <time.h>

static struct arena *a;

static int
setup(void **state)
{
    (void)state;
    a = arena_new();
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static const struct lowered *
lower_graph(const struct graph *g, const struct kernel_plan *k)
{
    struct fusion_plan *p = NEW(a, struct fusion_plan);

    p->g = g;
    p->n_variants = 1;
    p->variants = NEW(a, struct variant_plan);
    p->variants->guard = "";
    p->variants->n_kernels = 1;
    p->variants->kernels = NEW(a, struct kernel_plan);
    *p->variants->kernels = *k;
    return lower_fusion(a, facts_analyse(a, g), p);
}

static const struct graph *
graph_of(const char *text)
{
    struct diag *d = diag_new(a);
    struct front_options o = {0};
    struct module *m = front_load_text(a, d, "test", text, strlen(text), &o);

    if (!m) {
        fail_msg("the program is wrong: %s", text);
        return NULL;
    }
    return m->graphs[0];
}

static const struct lowered *
fallback(const char *text)
{
    struct kernel_plan k = {.scheduler = SCHED_FALLBACK};

    return lower_graph(graph_of(text), &k);
}

static const struct lowered *
pointwise(const char *text, int vector, int vectors)
{
    struct kernel_plan k = {.scheduler = SCHED_POINTWISE};

    k.key[PK_THREADS] = 256;
    k.key[PK_VECTOR] = vector;
    k.key[PK_VECTORS_PER_THREAD] = vectors;
    k.key[PK_BLOCKS_PER_SM] = 1;
    return lower_graph(graph_of(text), &k);
}

static const struct launch *
launch_of(const struct lowered *l, uint32_t i)
{
    assert_int_equal(l->variants.n, 1);
    assert_in_range(i, 0, l->variants.v[0].launches.n - 1);
    return &l->variants.v[0].launches.v[i];
}

static uint32_t
launches(const struct lowered *l)
{
    return l->variants.v[0].launches.n;
}

static bool
takes(const struct launch *l, enum launch_arg_kind kind, const char *name)
{
    for (uint32_t i = 0; i < l->args.n; i++)
        if (l->args.v[i].kind == kind && strcmp(l->args.v[i].name, name) == 0)
            return true;
    return false;
}

static const char *
cuda_of(const struct lowered *l)
{
    struct codegen_options opt = {.version = "0 */ evil ?\?/ \\"};

    return codegen_cuda(a, &l, 1, &opt);
}

/* --- fallback ------------------------------------------------------------- */

static void
test_results_of_one_shape_share_a_kernel(void **state)
{
    const struct lowered *l = fallback("fusion f(x: f32[N]) -> (y: f32[N], "
                                       "z: bf16[N]) { y = x + 1; z = x; }");

    (void)state;
    assert_int_equal(launches(l), 1);
    assert_string_equal(launch_of(l, 0)->kernel->symbol, "fu_f_v0_k0");
    assert_string_equal(launch_of(l, 0)->grid[0],
                        "min((N + 127) / 128, 65536)");
    assert_string_equal(launch_of(l, 0)->smem, "0");
    assert_true(takes(launch_of(l, 0), ARG_TENSOR, "x"));
    assert_true(takes(launch_of(l, 0), ARG_TENSOR, "z"));
    assert_true(takes(launch_of(l, 0), ARG_DIM, "N"));
    assert_int_equal(l->workspace.n, 0);
}

static void
test_a_reduction_waits_in_workspace(void **state)
{
    const struct lowered *l =
        fallback("fusion f(x: bf16[M, N]) -> (y: f32[M, N]) { s = sum(x, "
                 "axis=1, keepdim=true); y = x / s; }");

    (void)state;
    assert_int_equal(launches(l), 2);
    assert_int_equal(l->workspace.n, 1);
    assert_string_equal(l->workspace.v[0].name, "v0_cut_s");
    assert_string_equal(l->workspace.v[0].bytes, "4 * M");
    assert_string_equal(launch_of(l, 0)->grid[0], "min(M, 65536)");
    assert_string_equal(launch_of(l, 0)->smem, "2048");
    assert_true(launch_of(l, 0)->kernel->uses_smem);
    assert_true(takes(launch_of(l, 1), ARG_WORKSPACE, "v0_cut_s"));
}

static void
test_columns_take_a_thread_each(void **state)
{
    const struct lowered *l = fallback(
        "fusion f(x: f32[M, N]) -> (i: i64[N]) { i = argmax(x, axis=0); }");

    (void)state;
    assert_string_equal(launch_of(l, 0)->grid[0],
                        "min((N + 127) / 128, 65536)");
    assert_string_equal(launch_of(l, 0)->smem, "0");
    assert_string_equal(l->workspace.v[0].bytes, "8 * N");
}

static void
test_results_in_place_go_through_workspace(void **state)
{
    const struct lowered *same = fallback(
        "fusion f(x: f32[N]) -> (y: f32[N] = inplace(x)) { y = x * 2; }");
    const struct lowered *turned =
        fallback("fusion f(x: f32[N]) -> (y: f32[N] = inplace(x)) "
                 "{ y = flip(x, axis=0); }");

    (void)state;
    assert_int_equal(launches(same), 1);
    assert_null(strstr(cuda_of(same), "FU_RESTRICT p_"));
    assert_int_equal(launches(turned), 2);
    assert_string_equal(turned->workspace.v[0].name, "v0_result_y");
    assert_false(takes(launch_of(turned, 0), ARG_TENSOR, "y"));
}

/* y = x + 1 + 1 + ... , each step a node. */
static struct graph *
chain(uint32_t length)
{
    struct sym_ctx *c = sym_ctx_new(a);
    struct graph *g = graph_new(a, c, "chain");
    struct param *p = NEW(a, struct param);
    struct result *r = NEW(a, struct result);
    const struct sym *n = sym_name(c, "N");
    struct node x = {.op = OP_INPUT, .dtype = DT_F32, .rank = 1, .dims = {n}};
    node_id args[2];

    *p = (struct param){.name = "x", .dtype = DT_F32, .rank = 1, .dims = {n}};
    g->params = p;
    g->n_params = 1;
    args[0] = args[1] = graph_add(g, &x);
    x.op = OP_ADD;
    x.n_args = 2;
    x.args = args;
    for (uint32_t i = 0; i < length; i++)
        args[1] = args[0] = graph_add(g, &x);
    *r = (struct result){.name = "y",
                         .node = args[0],
                         .dtype = DT_F32,
                         .rank = 1,
                         .dims = {n},
                         .inplace = -1};
    g->results = r;
    g->n_results = 1;
    return g;
}

static void
test_long_chains_are_cut(void **state)
{
    struct kernel_plan k = {.scheduler = SCHED_FALLBACK};
    const struct lowered *one = lower_graph(chain(1000), &k);
    const struct lowered *many = lower_graph(chain(20000), &k);

    (void)state;
    assert_int_equal(launches(one), 1);
    assert_in_range(launches(many), 6, 20);
    assert_int_equal(many->workspace.n + 1, launches(many));
    for (uint32_t i = 0; i < launches(many); i++)
        assert_in_range(launch_of(many, i)->kernel->body.stmts.n, 1, 5000);
}

/* Overlapping slices of overlapping slices: the values nearest to the input are
 * met at the most indices, and a kernel that waits takes many steps at once. */
static void
test_long_stencils_are_cut(void **state)
{
    enum { STEPS = 512 };
    clock_t start = clock();
    struct buf text;
    const struct lowered *l;

    (void)state;
    buf_init(&text, a);
    buf_printf(&text, "fusion f(x: f32[N]) -> (y: f32[N - %d]) { t0 = x;\n",
               STEPS);
    for (int i = 0; i < STEPS; i++)
        buf_printf(&text, "t%d = t%d[1:] + t%d[:-1];\n", i + 1, i, i);
    buf_printf(&text, "y = t%d; }", STEPS);
    l = fallback(buf_str(&text));
    assert_in_range(launches(l), STEPS / 40, STEPS / 8);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    for (uint32_t i = 0; i < launches(l); i++)
        assert_in_range(launch_of(l, i)->kernel->body.stmts.n, 1, 3000);
}

/* Many values, each at a few indices and too small to be stored, under one
 * sum: the sum is cut, not the values. */
static void
test_wide_sums_are_cut(void **state)
{
    enum { TERMS = 400 };
    struct buf text;
    const struct lowered *l;

    (void)state;
    buf_init(&text, a);
    buf_puts(&text, "fusion f(x: f32[N]) -> (y: f32[N - 5]) {\n");
    for (int i = 0; i < TERMS; i++)
        buf_printf(&text, "t%d = x * %d + 1;\n", i, i);
    buf_puts(&text, "y = 0");
    for (int i = 0; i < TERMS; i++)
        buf_printf(&text,
                   " + t%d[1:-4] + t%d[2:-3] + t%d[3:-2] + t%d[4:-1] + t%d[5:]",
                   i, i, i, i, i);
    buf_puts(&text, "; }");
    l = fallback(buf_str(&text));
    assert_in_range(launches(l), 3, 20);
}

/* What can't be cut in a useful way stays one kernel. */
static void
test_wide_cat_is_one_kernel(void **state)
{
    enum { PIECES = 3200 };
    struct buf text;

    (void)state;
    buf_init(&text, a);
    buf_printf(&text, "fusion f(x: f32[%d]) -> (y: f32[%d]) { y = cat([",
               PIECES, PIECES);
    for (int i = 0; i < PIECES; i++)
        buf_printf(&text, "%sx[%d:%d]", i ? ", " : "", i, i + 1);
    buf_puts(&text, "], axis=0); }");
    assert_in_range(launches(fallback(buf_str(&text))), 1, 2);
}

/* Each step meets its operand at two indices; without cuts or shared indices
 * there would be 2^40 values. */
static void
test_growth_is_bounded(void **state)
{
    struct buf text;
    const struct lowered *l;
    uint32_t values = 0;

    (void)state;
    buf_init(&text, a);
    buf_puts(&text, "fusion f(x: f32[64]) -> (y: f32[64]) { t0 = x;\n");
    for (int i = 0; i < 40; i++)
        buf_printf(&text,
                   "t%d = reshape(transpose(reshape(t%d, [%d, %d]), 0, 1), "
                   "[64]) + t%d;\n",
                   i + 1, i, i % 2 ? 8 : 4, i % 2 ? 8 : 16, i);
    buf_puts(&text, "y = t40; }");
    l = fallback(buf_str(&text));
    for (uint32_t i = 0; i < launches(l); i++)
        values += launch_of(l, i)->kernel->body.stmts.v[0]->body.stmts.n;
    assert_in_range(values, 40, 20000);
}

/* --- pointwise ------------------------------------------------------------ */

static void
test_one_axis_needs_no_division(void **state)
{
    const struct lowered *l = pointwise(
        "fusion f(x: bf16[M, N]) -> (y: bf16[M, N]) { y = relu(x); }", 8, 2);
    struct buf text;

    (void)state;
    assert_int_equal(launches(l), 1);
    buf_init(&text, a);
    kernel_print(&text, launch_of(l, 0)->kernel);
    assert_null(strstr(buf_str(&text), " / "));
    assert_non_null(strstr(buf_str(&text), "fu_vload<8>"));
    assert_non_null(strstr(buf_str(&text), "fu_vstore<8>"));
}

static void
test_rows_and_columns(void **state)
{
    const struct lowered *l = pointwise(
        "fusion f(x: f32[M, N], b: f32[N], c: f32[M]) -> (y: f32[M, N]) "
        "{ y = x * b + c[:, None]; }",
        4, 1);
    struct buf text;

    (void)state;
    buf_init(&text, a);
    kernel_print(&text, launch_of(l, 0)->kernel);
    assert_non_null(strstr(buf_str(&text), "let fu_i64 row = q / "));
    assert_non_null(strstr(buf_str(&text), " = fu_load(p_c, i0[v])"));
    assert_non_null(strstr(buf_str(&text), " = fu_vload<4>(p_b, i1[v])"));
}

/* --- text ----------------------------------------------------------------- */

/* The limits of a device are checked against what the plan counts. */
static void
check_shared_memory(const char *text, const char *device)
{
    const struct graph *g = graph_of(text);
    struct select_options opt = {.device = device_find(device)};
    const struct selection *s =
        select_plans(a, facts_analyse(a, g), &opt, diag_new(a));

    for (uint32_t i = 0; i < s->n_slots; i++)
        for (uint32_t c = 0; c < s->slots[i].n_candidates; c++) {
            const struct candidate *x = &s->slots[i].candidates[c];
            const struct lowered *l;
            long bytes;

            if (x->refused || x->plan.kernels->scheduler == SCHED_FALLBACK)
                continue;
            l = lower_graph(g, x->plan.kernels);
            bytes = strtol(l->variants.v[0].launches.v[0].smem, NULL, 10);
            if (bytes > x->plan.cost.smem)
                fail_msg("%s: %s takes %ld bytes of shared memory, %d counted",
                         device, x->summary, bytes, x->plan.cost.smem);
        }
}

static void
test_shared_memory_is_counted(void **state)
{
    static const char *const devices[] = {"h200", "a100", "l40s"};
    static const char *const sizes[] = {"64",   "1000",  "4096",
                                        "8192", "10240", "24576"};

    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++)
        for (size_t n = 0; n < ARRAY_LEN(sizes); n++) {
            const char *t = n % 2 ? "bf16" : "f32", *k = sizes[n];

            check_shared_memory(
                arena_printf(a,
                             "fusion f(x: %s[4096, %s], r: f32[4096])"
                             " -> (y: %s[4096, %s], s: f32[%s])"
                             "{ g = x * r[:, None];"
                             "  y = g - mean(g, axis=1, keepdim=true);"
                             "  s = sum(g * x, axis=0); }",
                             t, k, t, k, k),
                devices[d]);
            check_shared_memory(
                arena_printf(a,
                             "fusion f(x: %s[4096, %s], r: f32[4096])"
                             " -> (y: %s[4096, %s])"
                             "{ g = x * r[:, None];"
                             "  y = g - mean(g, axis=1, keepdim=true); }",
                             t, k, t, k),
                devices[d]);
        }
}

static void
test_names_of_the_program_meet_none_of_ours(void **state)
{
    const struct lowered *l = fallback(
        "fusion threadIdx(float: f32[int], tid: f32[int], o: f32[int]) -> "
        "(o0: f32[int]) { acc = float + tid; i0 = acc * o; o0 = i0; }");
    const char *text = cuda_of(l);

    (void)state;
    assert_non_null(strstr(text, "fu_threadIdx_v0_k0("));
    assert_non_null(strstr(text, "const float v_acc = v_float + v_tid;"));
    assert_non_null(strstr(text, "d_int"));
}

static void
test_text_is_safe_and_stable(void **state)
{
    const char *program = "fusion f(x: f32[N], k: i64) -> (y: f32[N]) { y = "
                          "exp(x) * -inf + k * -9223372036854775808; }";
    const char *one = cuda_of(fallback(program));
    const char *two = cuda_of(fallback(program));

    (void)state;
    assert_string_equal(one, two);
    assert_null(strstr(one, "*/ evil"));
    assert_null(strstr(one, "evil \\"));
    assert_null(strstr(one, "?\?/"));
    assert_null(strstr(one, "#include <"));
    assert_non_null(strstr(one, "fu_inff()"));
    assert_non_null(strstr(one, "(-9223372036854775807ll - 1)"));
    assert_non_null(strstr(one, "\nFU_KERNEL(fu_f_v0_k0)\n"));
}

static void
test_only_used_templates_are_carried(void **state)
{
    const char *plain =
        cuda_of(fallback("fusion f(x: f32[N]) -> (y: f32[N]) { y = x + x; }"));
    const char *maths = cuda_of(
        fallback("fusion f(x: f32[N]) -> (y: f32[N]) { y = silu(x); }"));

    (void)state;
    assert_non_null(strstr(plain, "/* begin fu/prim.cuh */"));
    assert_null(strstr(plain, "/* begin fu/math.cuh */"));
    assert_null(strstr(plain, "/* begin fu/order.cuh */"));
    assert_null(strstr(plain, "/* begin fu/async.cuh */"));
    assert_non_null(strstr(maths, "/* begin fu/math.cuh */"));
    assert_true(strstr(maths, "/* begin fu/types.cuh */") <
                strstr(maths, "/* begin fu/prim.cuh */"));
    assert_null(strstr(maths, "#pragma once"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_results_of_one_shape_share_a_kernel),
        TEST(test_a_reduction_waits_in_workspace),
        TEST(test_columns_take_a_thread_each),
        TEST(test_results_in_place_go_through_workspace),
        TEST(test_long_chains_are_cut),
        TEST(test_long_stencils_are_cut),
        TEST(test_wide_sums_are_cut),
        TEST(test_wide_cat_is_one_kernel),
        TEST(test_growth_is_bounded),
        TEST(test_one_axis_needs_no_division),
        TEST(test_rows_and_columns),
        TEST(test_names_of_the_program_meet_none_of_ours),
        TEST(test_shared_memory_is_counted),
        TEST(test_text_is_safe_and_stable),
        TEST(test_only_used_templates_are_carried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
