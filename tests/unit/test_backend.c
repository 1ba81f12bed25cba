/* SPDX-License-Identifier: Apache-2.0 */
/* What the backend reads (the assembler's log, PTX headers, manifests) and
 * writes (dependency files, diffs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>

#include "backend/check.h"
#include "backend/depfile.h"
#include "backend/manifest.h"
#include "backend/nvrtc.h"
#include "backend/report.h"
#include "device/device.h"
#include "support/arena.h"
#include "support/buf.h"

static int
set_up(void **state)
{
    *state = arena_new();
    return 0;
}

static int
tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

/* --- report -------------------------------------------------------------- */

static const char nvrtc_log[] =
    "ptxas info    : 24 bytes gmem\n"
    "ptxas info    : Compiling entry function 'k2' for 'sm_90'\n"
    "ptxas info    : Function properties for k2\n"
    "ptxas         .     256 bytes stack frame, 12 bytes spill stores, 8 bytes "
    "spill loads\n"
    "ptxas info    : Used 30 registers, used 0 barriers, 256 bytes cumulative "
    "stack size\n"
    "ptxas info    : Compile time = 23.294 ms\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
    "spill loads\n"
    "ptxas info    : Used 26 registers, used 1 barriers, 512 bytes smem\n";

static void
report_is_read(void **state)
{
    struct report r;
    const struct kernel_report *k;

    assert_true(report_parse(*state, nvrtc_log, &r));
    assert_int_equal(r.kernels.n, 2);
    assert_string_equal(r.kernels.v[0].symbol, "k");
    k = report_find(&r, "k");
    assert_int_equal(k->registers, 26);
    assert_int_equal(k->smem_bytes, 512);
    assert_int_equal(report_local_bytes(k), 0);
    k = report_find(&r, "k2");
    assert_true(k->is_entry);
    assert_int_equal(k->registers, 30);
    assert_int_equal(k->stack_bytes, 256);
    assert_int_equal(k->spill_store_bytes, 12);
    assert_int_equal(k->spill_load_bytes, 8);
    assert_int_equal(report_local_bytes(k), 276);
    assert_null(report_find(&r, "k3"));
}

static void
report_keeps_functions_apart(void **state)
{
    /* nvcc's form: properties indented, a device function in between. */
    static const char log[] =
        "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
        "ptxas info    : Function properties for helper\n"
        "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Function properties for k\n"
        "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 40 registers, 380 bytes cmem[0]\n";
    struct report r;

    assert_true(report_parse(*state, log, &r));
    assert_int_equal(report_find(&r, "helper")->stack_bytes, 16);
    assert_false(report_find(&r, "helper")->is_entry);
    assert_int_equal(report_find(&r, "k")->stack_bytes, 8);
    assert_int_equal(report_find(&r, "k")->registers, 40);
}

static void
unknown_report_is_refused(void **state)
{
    struct report r;

    assert_false(report_parse(*state, "", &r));
    assert_false(report_parse(
        *state, "ptxas info    : Compiling entry function 'k' for 'sm_90'\n",
        &r));
}

static void
ptx_header_is_read(void **state)
{
    static const char ptx[] =
        "//\n// Cuda compilation tools, release 13.0, V13.0.88\n"
        "// Based on NVVM 20.0.0\n//\n\n.version 9.0\n.target sm_90\n";
    const char *isa = report_ptx_isa(*state, ptx, sizeof(ptx) - 1);

    assert_string_equal(report_version(*state, ptx, sizeof(ptx) - 1, 13, 0),
                        "13.0.88");
    assert_string_equal(report_version(*state, NULL, 0, 12, 8), "12.8");
    assert_string_equal(isa, "9.0");
    assert_string_equal(report_min_driver(isa), "580");
    assert_null(report_min_driver("99.9"));
}

/* --- dependency files ---------------------------------------------------- */

static void
dependencies_are_escaped(void **state)
{
    static const char *const files[] = {"a b.fusion", "lib$/x#1.fusion",
                                        "c\\ d:e"};
    struct depfile d = {
        .target = "out 1.ptx", .files = files, .n_files = 3, .phony = true};
    struct buf b;

    buf_init(&b, *state);
    depfile_print(&b, &d);
    assert_string_equal(buf_str(&b), "out\\ 1.ptx: a\\ b.fusion \\\n"
                                     "  lib$$/x\\#1.fusion \\\n"
                                     "  c\\\\\\ d\\:e\n"
                                     "\nlib$$/x\\#1.fusion:\n"
                                     "\nc\\\\\\ d\\:e:\n");
    buf_init(&b, *state);
    d = (struct depfile){
        .target = "$(X) y", .verbatim = true, .files = files, .n_files = 1};
    depfile_print(&b, &d);
    assert_string_equal(buf_str(&b), "$(X) y: a\\ b.fusion\n");
}

/* --- diffs --------------------------------------------------------------- */

static const char *
diff(struct arena *a, const char *before, const char *after)
{
    struct check_text x = {"old", before, strlen(before)};
    struct check_text y = {"new", after, strlen(after)};
    struct buf b;

    buf_init(&b, a);
    if (check_diff(&b, &x, &y))
        assert_int_equal(b.len, 0);
    return buf_str(&b);
}

static void
diffs_are_unified(void **state)
{
    assert_string_equal(diff(*state, "a\nb\n", "a\nb\n"), "");
    assert_string_equal(diff(*state, "a\nb\nc\n", "a\nX\nc\n"),
                        "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n");
    assert_string_equal(diff(*state, "", "a\n"),
                        "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n");
    assert_string_equal(diff(*state, "a\n", ""),
                        "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n");
    assert_string_equal(diff(*state, "a", "a\n"),
                        "--- old\n+++ new\n@@ -1 +1 @@\n-a\n"
                        "\\ No newline at end of file\n+a\n");
}

static void
far_changes_make_two_hunks(void **state)
{
    assert_string_equal(
        diff(*state, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
             "X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n"),
        "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-0\n+X\n 1\n 2\n 3\n"
        "@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-9\n+Y\n");
    assert_string_equal(
        diff(*state, "0\n1\n2\n3\n4\n5\n6\n7\n", "X\n1\n2\n3\n4\n5\n6\nY\n"),
        "--- old\n+++ new\n@@ -1,8 +1,8 @@\n-0\n+X\n 1\n 2\n 3\n 4\n 5\n 6\n"
        "-7\n+Y\n");
}

/* Applies a diff without context checks; the texts have one-letter lines. */
static const char *
apply(struct arena *a, const char *before, const char *d)
{
    struct buf b;
    const char *line = before;

    buf_init(&b, a);
    d = strchr(strchr(d, '\n') + 1, '\n') + 1; /* past the head */
    while (*d) {
        long from, n = 1;
        char *end;

        assert_memory_equal(d, "@@ -", 4);
        from = strtol(d + 4, &end, 10);
        if (*end == ',')
            n = strtol(end + 1, &end, 10);
        d = strchr(d, '\n') + 1;
        for (; line < before + 2 * (n ? from - 1 : from); line += 2)
            buf_write(&b, line, 2);
        for (; *d && *d != '@'; d += 3) {
            if (*d != '+') {
                assert_memory_equal(line, d + 1, 2);
                line += 2;
            }
            if (*d != '-')
                buf_write(&b, d + 1, 2);
        }
    }
    buf_puts(&b, line);
    return buf_str(&b);
}

static void
random_diffs_apply(void **state)
{
    unsigned seed = 1;

    for (int round = 0; round < 500; round++) {
        struct buf x, y;
        unsigned letters = 2 + (unsigned)round % 20;

        buf_init(&x, *state);
        buf_init(&y, *state);
        for (int i = 0; i < 40; i++) {
            unsigned r;

            seed = seed * 1103515245u + 12345u;
            r = seed >> 16;
            if (r % 3)
                buf_printf(&x, "%c\n", (char)('a' + r / 8 % letters));
            if ((r / 4) % 3)
                buf_printf(&y, "%c\n", (char)('a' + r / 8 % letters));
        }
        if (strcmp(buf_str(&x), buf_str(&y)) != 0)
            assert_string_equal(apply(*state, buf_str(&x),
                                      diff(*state, buf_str(&x), buf_str(&y))),
                                buf_str(&y));
    }
}

static void
unlike_texts_still_differ_rightly(void **state)
{
    struct buf x, y;

    buf_init(&x, *state);
    buf_init(&y, *state);
    for (int i = 0; i < 3000; i++) {
        buf_puts(&x, "x\n");
        buf_puts(&y, "y\n");
    }
    assert_string_equal(
        apply(*state, buf_str(&x), diff(*state, buf_str(&x), buf_str(&y))),
        buf_str(&y));
}

/* --- manifests and NVRTC ------------------------------------------------- */

static void
manifest_gives_its_plan(void **state)
{
    static const char good[] = "{\"manifest_version\": 1, \"toolchain\": {}, "
                               "\"plan\": \"plan 1\"}";
    static const char *const bad[] = {
        "{",
        "{\"manifest_version\": 2, \"plan\": \"\"}",
        "{\"manifest_version\": 1}",
        "{\"manifest_version\": 1, \"plan\": 1, \"plan\": \"\"}",
    };
    const char *why;

    assert_string_equal(manifest_plan(*state, good, sizeof(good) - 1, &why),
                        "plan 1");
    assert_string_equal(
        manifest_without_toolchain(*state, good, sizeof(good) - 1, &why),
        "{\n  \"manifest_version\": 1,\n  \"toolchain\": null,\n"
        "  \"plan\": \"plan 1\"\n}\n");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        why = NULL;
        assert_null(manifest_plan(*state, bad[i], strlen(bad[i]), &why));
        assert_non_null(why);
    }
}

/* f(x: bf16[M, 64] strides(ld, 1), eps: f32 = 1e-5) -> (y: bf16[M, 64]), with
 * one kernel, one buffer and one workspace. */
static struct graph *
small_graph(struct arena *a)
{
    struct sym_ctx *c = sym_ctx_new(a);
    struct graph *g = graph_new(a, c, "f");
    const struct sym *m = sym_name(c, "M"), *n = sym_int(c, 64);

    g->params = NEW_ARRAY(a, struct param, 2);
    g->n_params = 2;
    g->params[0] = (struct param){.kind = PARAM_TENSOR,
                                  .name = "x",
                                  .dtype = DT_BF16,
                                  .rank = 2,
                                  .dims = {m, n},
                                  .has_strides = true,
                                  .strides = {sym_name(c, "ld"), sym_int(c, 1)},
                                  .align = 16};
    g->params[1] = (struct param){.kind = PARAM_SCALAR,
                                  .name = "eps",
                                  .dtype = DT_F32,
                                  .has_default = true,
                                  .value = {.f = 1e-5}};
    g->dims = NEW_ARRAY(a, struct dim_symbol, 3);
    g->n_dims = 3;
    g->dims[0] = (struct dim_symbol){.name = "M", .divisor = 1};
    g->dims[1] =
        (struct dim_symbol){.name = "N", .bound = n, .dim = 1, .divisor = 1};
    g->dims[2] =
        (struct dim_symbol){.name = "ld", .from_stride = true, .divisor = 2};
    graph_add_guard(g, "N == 64");
    graph_add(g, &(struct node){.op = OP_INPUT,
                                .dtype = DT_BF16,
                                .rank = 2,
                                .dims = {m, n},
                                .name = "x"});
    g->results = NEW(a, struct result);
    g->n_results = 1;
    *g->results = (struct result){.name = "y",
                                  .dtype = DT_BF16,
                                  .rank = 2,
                                  .dims = {m, n},
                                  .align = 16,
                                  .inplace = 0};
    return g;
}

static struct lowered *
small_lowered(struct arena *a, const struct graph *g)
{
    struct lowered *l = NEW(a, struct lowered);
    struct fusion_plan *plan = NEW(a, struct fusion_plan);
    struct kernel *k = NEW(a, struct kernel);
    struct lowered_variant v = {.guard = "M <= 8"};
    struct launch x = {.kernel = k,
                       .scheduler = SCHED_FALLBACK,
                       .grid = {"ceil_div(M, 2)", "1", "1"},
                       .block = 128,
                       .cluster = 1,
                       .smem = "512",
                       .pdl = true};
    struct launch_arg args[] = {{ARG_TENSOR, "x"},
                                {ARG_WORKSPACE, "part"},
                                {ARG_DIM, "M * 2"},
                                {ARG_SCALAR, "eps"}};
    struct workspace w = {"part", "M * 4", true};
    struct buffer_plan *b = NEW(a, struct buffer_plan);

    b->key[BK_STORE] = STORE_RING;
    b->key[BK_REUSE] = 2;
    b->reason = "because";
    k->symbol = "fu_f_v0_k0";
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        VEC_PUSH(a, &x.args, args[i]);
    VEC_PUSH(a, &v.launches, x);
    VEC_PUSH(a, &l->variants, v);
    VEC_PUSH(a, &l->workspace, w);
    plan->g = g;
    plan->n_variants = 1;
    plan->variants = NEW(a, struct variant_plan);
    plan->variants->cost.total_ns = 1234.6;
    plan->variants->n_kernels = 1;
    plan->variants->kernels = NEW(a, struct kernel_plan);
    plan->variants->kernels->n_buffers = 1;
    plan->variants->kernels->buffers = b;
    l->g = g;
    l->plan = plan;
    return l;
}

/* A member of the first fusion as compact JSON, with ' for ". */
static void
assert_part(const struct manifest *m, const char *key, const char *want)
{
    struct arena *a = arena_new();
    json_t *root = json_loads(manifest_print(a, m), 0, NULL);
    json_t *fusion = json_array_get(json_object_get(root, "fusions"), 0);
    char *got = json_dumps(json_object_get(fusion, key),
                           JSON_COMPACT | JSON_REAL_PRECISION(6));

    assert_non_null(got);
    for (char *p = got; *p; p++)
        *p = (char)(*p == '"' ? '\'' : *p);
    assert_string_equal(got, want);
    free(got);
    json_decref(root);
    arena_free(a);
}

static int64_t
number(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void
assert_resources(const struct manifest *m)
{
    struct arena *a = arena_new();
    json_t *root = json_loads(manifest_print(a, m), 0, NULL);
    json_t *t = json_object_get(root, "toolchain");
    json_t *k = json_array_get(json_object_get(t, "kernels"), 0);
    json_t *r = json_array_get(json_object_get(t, "rejected"), 0);

    assert_int_equal(number(k, "registers"), 32);
    assert_int_equal(number(k, "dynamic_smem"), 512);
    assert_int_equal(number(k, "blocks_per_sm"), 16);
    assert_int_equal(number(k, "occupancy_percent"), 100);
    assert_int_equal(number(r, "candidate"), 1);
    assert_int_equal(number(r, "local_bytes"), 24);
    assert_string_equal(json_string_value(json_object_get(t, "min_driver")),
                        "580");
    json_decref(root);
    arena_free(a);
}

static void
manifest_says_how_to_launch(void **state)
{
    struct arena *a = *state;
    struct graph *g = small_graph(a);
    struct facts f = {.g = g,
                      .bytes_in = sym_int(g->syms, 8),
                      .bytes_out = sym_name(g->syms, "M")};
    struct manifest_fusion fusion = {&f, small_lowered(a, g)};
    struct cuda_result result = {.compiler = "nvrtc",
                                 .version = "13.0.88",
                                 .ptx = "//\n.version 9.0\n",
                                 .ptx_len = 17,
                                 .cubin = "x",
                                 .cubin_len = 1};
    struct rejected_plan rejected = {"f", 0, 1, 24};
    struct report report = {0};
    struct kernel_report k = {
        .symbol = "fu_f_v0_k0", .is_entry = true, .registers = 32};
    struct manifest_toolchain toolchain = {&result, &report, &rejected,
                                           1,       false,   false};
    struct manifest m = {.version = "1.2",
                         .device_name = "h200,sms=66",
                         .device = device_find("h200"),
                         .cuda = "abc",
                         .program = "fusion \"f\"",
                         .plan = "plan",
                         .fusions = &fusion,
                         .n_fusions = 1,
                         .toolchain = &toolchain};

    VEC_PUSH(a, &report.kernels, k);
    assert_part(&m, "dims",
                "[{'name':'M','read':'x.shape[0]','divisor':1,'bound':null},"
                "{'name':'N','read':'x.shape[1]','divisor':1,'bound':64},"
                "{'name':'ld','read':'x.stride[0]','divisor':2,"
                "'bound':null}]");
    assert_part(&m, "guards", "['N == 64']");
    assert_part(&m, "params",
                "[{'name':'x','role':'input','dtype':'bf16','shape':['M','64'],"
                "'strides':['ld','1'],'align':16},"
                "{'name':'eps','role':'scalar','dtype':'f32',"
                "'default':1e-5},"
                "{'name':'y','role':'output','dtype':'bf16',"
                "'shape':['M','64'],'strides':['64','1'],'align':16,"
                "'inplace':'x'}]");
    assert_part(&m, "workspace",
                "[{'name':'part','bytes':'M * 4','align':256,'zero':true}]");
    assert_part(&m, "variants",
                "[{'guard':'M <= 8','estimated_ns':1235,'launches':["
                "{'kernel':'fu_f_v0_k0','scheduler':'fallback',"
                "'grid':['ceil_div(M, 2)','1','1'],'block':[128,1,1],"
                "'cluster':[1,1,1],'dynamic_smem':'512','cooperative':false,"
                "'pdl':true,'args':[{'kind':'tensor','value':'x'},"
                "{'kind':'workspace','value':'part'},"
                "{'kind':'i64','value':'M * 2'},"
                "{'kind':'scalar','value':'eps'}]}],"
                "'buffers':[{'kernel':0,'buffer':'x','bytes':'128 * M',"
                "'store':'ring','reuse':'rows','reason':'because'}]}]");
    assert_non_null(strstr(manifest_print(a, &m), "\"default\": 1e-5"));
    assert_non_null(strstr(manifest_print(a, &m),
                           "\"device\": \"h200,sms=66\",\n"
                           "  \"arch\": \"sm_90\",\n"
                           "  \"cuda_sha256\": \"ba7816bf"));
    assert_resources(&m);
    assert_null(strstr(manifest_print(a, &m), "\"options\""));
    toolchain.fast_math = toolchain.no_fmad = true;
    assert_non_null(strstr(manifest_print(a, &m),
                           "\"options\": [\n      \"--fast-math\",\n"
                           "      \"--fmad=false\"\n    ]"));
    m.toolchain = NULL;
    m.program = NULL;
    assert_non_null(
        strstr(manifest_print(a, &m), "\"toolchain\": null,\n  \"fusions\""));
    assert_null(strstr(manifest_print(a, &m), "\"program\""));
}

static void
given_nvrtc_is_it_or_nothing(void **state)
{
    const char *why = NULL;

    assert_null(nvrtc_load(*state, "no/such/library.so", &why));
    assert_non_null(strstr(why, "--nvrtc 'no/such/library.so'"));
    assert_int_equal(setenv("FUSEC_NVRTC", "/", 1), 0);
    assert_null(nvrtc_load(*state, NULL, &why));
    assert_non_null(strstr(why, "FUSEC_NVRTC '/'"));
    assert_int_equal(unsetenv("FUSEC_NVRTC"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_is_read),
        cmocka_unit_test(report_keeps_functions_apart),
        cmocka_unit_test(unknown_report_is_refused),
        cmocka_unit_test(ptx_header_is_read),
        cmocka_unit_test(dependencies_are_escaped),
        cmocka_unit_test(diffs_are_unified),
        cmocka_unit_test(far_changes_make_two_hunks),
        cmocka_unit_test(random_diffs_apply),
        cmocka_unit_test(unlike_texts_still_differ_rightly),
        cmocka_unit_test(manifest_gives_its_plan),
        cmocka_unit_test(manifest_says_how_to_launch),
        cmocka_unit_test(given_nvrtc_is_it_or_nothing),
    };

    return cmocka_run_group_tests_name("backend", tests, set_up, tear_down);
}
