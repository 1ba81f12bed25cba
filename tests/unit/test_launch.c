/* SPDX-License-Identifier: Apache-2.0 */
/* The launch library without a GPU: a manifest in a string, arguments in host
 * memory, and a backend that writes down what it is asked to launch. */
#include "support/base.h"

#include "tools/launch/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* %s: params to replace, variants to replace; the rest is fixed. */
static const char head[] =
    "{\"manifest_version\": 1, \"fusec\": \"0\", \"device\": \"h200\","
    " \"arch\": \"sm_90\", \"cuda_sha256\": \"" HASH "\","
    " \"toolchain\": null, \"plan\": \"\", \"fusions\": [{\"name\": \"f\","
    " \"dims\": ["
    "  {\"name\": \"M\", \"read\": \"x.shape[0]\", \"divisor\": 1,"
    "   \"bound\": null},"
    "  {\"name\": \"N\", \"read\": \"x.shape[1]\", \"divisor\": 2,"
    "   \"bound\": null}],"
    " \"guards\": [\"N % 4 == 0\"],"
    " \"params\": ["
    "  {\"name\": \"x\", \"role\": \"input\", \"dtype\": \"f32\","
    "   \"shape\": [\"M\", \"2 * N\"], \"strides\": [\"2 * N\", \"1\"],"
    "   \"align\": 16},"
    "  {\"name\": \"eps\", \"role\": \"scalar\", \"dtype\": \"f32\","
    "   \"default\": 0.5},"
    "  {\"name\": \"y\", \"role\": \"output\", \"dtype\": \"f32\","
    "   \"shape\": [\"M\", \"2 * N\"], \"strides\": [\"2 * N\", \"1\"],"
    "   \"align\": 4, \"inplace\": \"x\"}],"
    " \"workspace\": ["
    "  {\"name\": \"w0\", \"bytes\": \"4 * N\", \"align\": 256,"
    "   \"zero\": false},"
    "  {\"name\": \"w1\", \"bytes\": \"8\", \"align\": 256, \"zero\": true}],"
    " \"bytes_read\": \"8 * M * N\", \"bytes_written\": \"8 * M * N\","
    " \"variants\": ["
    "  {\"guard\": \"M >= 1000\", \"estimated_ns\": 1, \"buffers\": [],"
    "   \"launches\": []},"
    "  {\"guard\": \"x.align >= 16 && M >= 3\", \"estimated_ns\": 1,"
    "   \"buffers\": [], \"launches\": ["
    "   {\"kernel\": \"k0\", \"scheduler\": \"s\","
    "    \"grid\": [\"sms\", \"1\", \"1\"], \"block\": [32, 1, 1],"
    "    \"cluster\": [1, 1, 1], \"dynamic_smem\": \"0\","
    "    \"cooperative\": true, \"pdl\": false, \"args\": []}]},"
    "  {\"guard\": \"\", \"estimated_ns\": 1, \"buffers\": [],"
    "   \"launches\": ["
    "   {\"kernel\": \"k1\", \"scheduler\": \"s\","
    "    \"grid\": [\"min(M, sms)\", \"1\", \"1\"], \"block\": [64, 1, 1],"
    "    \"cluster\": [1, 1, 1], \"dynamic_smem\": \"4 * N\","
    "    \"cooperative\": false, \"pdl\": false, \"args\": ["
    "     {\"kind\": \"tensor\", \"value\": \"x\"},"
    "     {\"kind\": \"tensor\", \"value\": \"y\"},"
    "     {\"kind\": \"workspace\", \"value\": \"w1\"},"
    "     {\"kind\": \"i64\", \"value\": \"M * N\"},"
    "     {\"kind\": \"scalar\", \"value\": \"eps\"}]},"
    "   {\"kernel\": \"k2\", \"scheduler\": \"s\","
    "    \"grid\": [\"N\", \"1\", \"1\"], \"block\": [64, 1, 1],"
    "    \"cluster\": [2, 1, 1], \"dynamic_smem\": \"0\","
    "    \"cooperative\": false, \"pdl\": true, \"args\": []}]}]}]}";

struct log {
    unsigned n;
    const char *symbols[8];
    unsigned grid, smem;
    void *pointers[3];
    int64_t i64;
    float scalar;
    bool resident;
    void *cleared;
    size_t cleared_bytes;
};

static int
log_launch(void *data, const struct call *c, void *stream,
           const struct message *msg)
{
    struct log *l = data;

    (void)stream;
    (void)msg;
    l->symbols[l->n++] = c->l->symbol;
    if (c->l->n_args == 0)
        return FUSEC_OK;
    l->grid = c->grid[0];
    l->smem = c->smem_bytes;
    for (int i = 0; i < 3; i++)
        memcpy(&l->pointers[i], c->args[i], sizeof(void *));
    memcpy(&l->i64, c->args[3], sizeof(l->i64));
    memcpy(&l->scalar, c->args[4], sizeof(l->scalar));
    return FUSEC_OK;
}

static bool
log_resident(void *data, const struct call *c)
{
    (void)c;
    return ((const struct log *)data)->resident;
}

static int
log_clear(void *data, void *memory, size_t bytes, void *stream,
          const struct message *msg)
{
    struct log *l = data;

    (void)stream;
    (void)msg;
    l->cleared = memory;
    l->cleared_bytes = bytes;
    return FUSEC_OK;
}

struct fixture {
    struct manifest m;
    struct match match;
    struct backend b;
    struct log log;
    char text[256];
    struct message msg;
    int64_t shape[2];
    struct fusec_tensor args[3];
    char *memory;
};

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->msg = (struct message){f->text, sizeof(f->text)};
    if (!manifest_parse(head, strlen(head), &f->m, f->text, sizeof(f->text)))
        fail_msg("%s", f->text);
    f->match.f = &f->m.fusions[0];
    f->match.sms = 132;
    f->b = (struct backend){.data = &f->log,
                            .sms = 132,
                            .launch = log_launch,
                            .resident = log_resident,
                            .clear = log_clear};
    f->memory = aligned_alloc(4096, 65536);
    assert_non_null(f->memory);
    f->shape[0] = 5;
    f->shape[1] = 8;
    f->args[0] = (struct fusec_tensor){f->memory, FUSEC_F32, 2, f->shape, NULL};
    f->args[1] = (struct fusec_tensor){NULL, FUSEC_F32, 0, NULL, NULL};
    f->args[2] =
        (struct fusec_tensor){f->memory + 4096, FUSEC_F32, 2, f->shape, NULL};
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    manifest_free(&f->m);
    free(f->memory);
    free(f);
    return 0;
}

static int
bind(struct fixture *f)
{
    return match_args(&f->match, f->args, 3, true, &f->msg);
}

static int
launch(struct fixture *f, int variant, void *workspace, size_t bytes)
{
    const struct fusec_space space = {workspace, bytes, NULL};

    return match_launch(&f->match, &f->b, variant, &space, &f->msg);
}

/* The status and a part of the message. */
static void
assert_fails(struct fixture *f, int status, const char *part)
{
    int got = bind(f);

    if (got != status || !strstr(f->text, part))
        fail_msg("%d, \"%s\", not %d, \"%s\"", got, f->text, status, part);
}

static void
test_launches(void **state)
{
    struct fixture *f = *state;
    size_t bytes;
    int v;

    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(f->match.dims[0], 5);
    assert_int_equal(f->match.dims[1], 4);
    v = match_variant(&f->match, &f->b, &f->msg);
    assert_int_equal(v, 2); /* the second needs co-residency */
    assert_int_equal(match_workspace(&f->match, NULL, &bytes, &f->msg), 0);
    assert_int_equal(bytes, 256 + 8);
    assert_int_equal(launch(f, v, f->memory + 8192, bytes), FUSEC_OK);
    assert_int_equal(f->log.n, 2);
    assert_string_equal(f->log.symbols[0], "k1");
    assert_string_equal(f->log.symbols[1], "k2");
    assert_int_equal(f->log.grid, 5);
    assert_int_equal(f->log.smem, 16);
    assert_ptr_equal(f->log.pointers[0], f->memory);
    assert_ptr_equal(f->log.pointers[1], f->memory + 4096);
    assert_ptr_equal(f->log.pointers[2], f->memory + 8192 + 256);
    assert_int_equal(f->log.i64, 20);
    assert_true(f->log.scalar == 0.5f);
    f->log.resident = true;
    assert_int_equal(match_variant(&f->match, &f->b, &f->msg), 1);
}

static void
test_clears_counters_only(void **state)
{
    struct fixture *f = *state;
    const struct fusec_space space = {f->memory + 8192, 4096, NULL};

    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(match_clear(&f->match, &f->b, &space, &f->msg), FUSEC_OK);
    assert_ptr_equal(f->log.cleared, f->memory + 8192 + 256);
    assert_int_equal(f->log.cleared_bytes, 8);
}

static void
test_scalar_given(void **state)
{
    struct fixture *f = *state;
    float eps = 0.25f;

    f->args[1].data = &eps;
    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(launch(f, 2, f->memory + 8192, 4096), FUSEC_OK);
    assert_true(f->log.scalar == 0.25f);
}

static void
test_empty_grid_is_skipped(void **state)
{
    struct fixture *f = *state;

    f->shape[0] = 0;
    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(launch(f, 2, f->memory + 8192, 4096), FUSEC_OK);
    assert_int_equal(f->log.n, 1);
    assert_string_equal(f->log.symbols[0], "k2");
}

static void
test_mismatches(void **state)
{
    struct fixture *f = *state;
    int64_t strides[2] = {9, 1}, other[2] = {5, 7};

    f->args[0].dtype = FUSEC_F16;
    assert_fails(f, FUSEC_MISMATCH, "'x': type is f16, not f32");
    f->args[0].dtype = FUSEC_F32;
    f->args[0].ndim = 1;
    assert_fails(f, FUSEC_MISMATCH, "'x': rank is 1, not 2");
    f->args[0].ndim = 2;
    f->args[0].shape = other;
    assert_fails(f, FUSEC_MISMATCH, "'x': 7 is no multiple of 2");
    f->args[0].shape = f->shape;
    f->args[0].strides = strides;
    assert_fails(f, FUSEC_MISMATCH, "stride of dimension 0 is 9, not 2 * N");
    f->args[0].strides = NULL;
    f->args[0].data = f->memory + 4;
    assert_fails(f, FUSEC_MISMATCH, "is not 16-byte aligned");
    f->args[0].data = NULL;
    assert_fails(f, FUSEC_MISMATCH, "'x': no memory");
    f->args[0].data = f->memory;
    other[1] = 16;
    f->args[2].shape = other;
    assert_fails(f, FUSEC_MISMATCH,
                 "'y': extent of dimension 1 is 16, not "
                 "2 * N = 8");
    f->args[2].shape = f->shape;
    f->shape[1] = 12;
    assert_fails(f, FUSEC_MISMATCH, "'f' requires N % 4 == 0");
    f->shape[1] = -8;
    assert_fails(f, FUSEC_MISMATCH, "negative");
    assert_int_equal(match_args(&f->match, f->args, 2, true, &f->msg),
                     FUSEC_BAD_CALL);
}

/* Strides of extent-1 dimensions and of empty tensors say nothing. */
static void
test_ignored_strides(void **state)
{
    struct fixture *f = *state;
    int64_t strides[2] = {12345, 1};

    f->shape[0] = 1;
    f->args[0].strides = strides;
    assert_int_equal(bind(f), FUSEC_OK);
    f->shape[0] = 0;
    strides[1] = 77;
    assert_int_equal(bind(f), FUSEC_OK);
}

static void
test_overlaps(void **state)
{
    struct fixture *f = *state;

    f->args[2].data = f->memory; /* in place: allowed */
    assert_int_equal(bind(f), FUSEC_OK);
    f->args[2].data = f->memory + 16;
    assert_fails(f, FUSEC_OVERLAP, "'y' overlaps 'x'");
    f->args[2].data = f->memory + 5 * 8 * 4;
    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(launch(f, 2, f->memory, 4096), FUSEC_OVERLAP);
    assert_non_null(strstr(f->text, "overlaps the workspace"));
    assert_int_equal(launch(f, 2, f->memory + 8192, 100), FUSEC_MISMATCH);
    assert_int_equal(f->log.n, 0);
}

/* The manifest with the first occurrence of one text replaced by another. */
static bool
parses_with(const char *from, const char *to, char *why, size_t size)
{
    char text[8192];
    const char *at = strstr(head, from);
    struct manifest m;
    bool ok;

    assert_non_null(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - head), head, to,
             at + strlen(from));
    ok = manifest_parse(text, strlen(text), &m, why, size);
    if (ok)
        manifest_free(&m);
    return ok;
}

static void
test_hostile_manifests(void **state)
{
    static const struct {
        const char *from, *to, *part;
    } bad[] = {
        {"\"manifest_version\": 1", "\"manifest_version\": 2", "newer"},
        {"\"manifest_version\": 1", "\"manifest_version\": \"1\"",
         "not an integer"},
        {HASH, "0123", "not a SHA-256"},
        {"\"name\": \"f\"", "\"name\": \"1f\"", "not a name"},
        {"\"name\": \"f\"", "\"name\": \"f\\u0000\"", "NUL"},
        {"\"x.shape[0]\"", "\"x.shape[2]\"", "dims[0]: 'read'"},
        {"\"x.shape[0]\"", "\"y.shape[0]\"", "of an input"},
        {"\"x.shape[0]\"", "\"eps\"", "no dim"},
        {"\"divisor\": 2", "\"divisor\": 0", "out of range"},
        {"\"N % 4 == 0\"", "\"N % 4 ==\"", "guards[0]"},
        {"\"N % 4 == 0\"", "\"eps > 1\"", "unknown name"},
        {"\"N % 4 == 0\"", "\"Q > 1\"", "unknown name"},
        {"\"dtype\": \"f32\"", "\"dtype\": \"f33\"", "\"f33\""},
        {"\"align\": 16", "\"align\": 12", "power of two"},
        {"\"align\": 16", "\"align\": -16", "out of range"},
        {"[\"M\", \"2 * N\"]", "[\"M\"]", "another length"},
        {"[\"M\", \"2 * N\"]", "[1, \"2 * N\"]", "not an expression"},
        {"\"inplace\": \"x\"", "\"inplace\": \"y\"", "names no input"},
        {"\"default\": 0.5", "\"default\": \"much\"", "not a number"},
        {"[32, 1, 1]", "[32, 32, 2]", "'block' is out of range"},
        {"[32, 1, 1]", "[32, 1]", "'block'"},
        {"[32, 1, 1]", "[0, 1, 1]", "'block' is out of range"},
        {"[32, 1, 1]", "[1, 1, 65]", "'block' is out of range"},
        {"[32, 1, 1]", "[32.5, 1, 1]", "'block'"},
        {"\"N % 4 == 0\"", "\"N % 4 == 9223372036854775808\"", "too large"},
        {"\"N % 4 == 0\"",
         "\"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
         "(1"
         "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
         "\"",
         "nested too deeply"},
        {"[\"M\", \"2 * N\"]",
         "[\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\",\"1\"]", "too many"},
        {"\"default\": 0.5", "\"default\": 1e999", "line"},
        {"\"name\": \"eps\"", "\"name\": \"x\"", "a second parameter 'x'"},
        {"\"name\": \"N\"", "\"name\": \"M\"", "a second dimension 'M'"},
        {"\"role\": \"input\"", "\"role\": \"\\u001b[31m\"", "\"?[31m\""},
        {"[2, 1, 1]", "[17, 1, 1]", "'cluster' is out of range"},
        {"\"value\": \"w1\"", "\"value\": \"w9\"", "workspace buffer"},
        {"\"tensor\", \"value\": \"x\"", "\"tensor\", \"value\": \"eps\"",
         "another kind"},
        {"\"scalar\", \"value\": \"eps\"", "\"scalar\", \"value\": \"x\"",
         "another kind"},
        {"\"kind\": \"i64\"", "\"kind\": \"f64\"", "\"f64\""},
        {"\"cooperative\": true", "\"cooperative\": 1", "not a bool"},
        {"\"zero\": true", "\"zero\": null", "not a bool"},
        {"\"plan\": \"\"", "\"plan\": \"\", \"plan\": \"\"", "duplicate"},
        {"\"fusions\"", "\"fusion\"", "'fusions'"},
    };
    char why[256];

    (void)state;
    assert_true(parses_with("\"toolchain\": null", "\"toolchain\": null", why,
                            sizeof(why)));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (parses_with(bad[i].from, bad[i].to, why, sizeof(why)))
            fail_msg("taken: %s", bad[i].to);
        if (!strstr(why, bad[i].part))
            fail_msg("%s: \"%s\" lacks \"%s\"", bad[i].to, why, bad[i].part);
    }
}

/* Sizes that a manifest may ask for and no launch may have. */
static void
test_hostile_sizes(void **state)
{
    static const struct {
        const char *from, *to, *part;
    } bad[] = {
        {"\"min(M, sms)\"", "\"2147483648\"", "grid 2147483648"},
        {"\"min(M, sms)\"", "\"-1\"", "grid -1"},
        {"\"min(M, sms)\"", "\"M / (M - 5)\"", "divides by zero"},
        {"\"min(M, sms)\"", "\"4611686018427387904 * M\"", "overflows"},
        {"[\"min(M, sms)\", \"1\"", "[\"1\", \"65536\"", "grid 65536"},
        {"[\"N\", \"1\", \"1\"]", "[\"3\", \"1\", \"1\"]",
         "no multiple of the cluster"},
        {"\"dynamic_smem\": \"4 * N\"", "\"dynamic_smem\": \"-4\"",
         "shared memory -4"},
        {"\"dynamic_smem\": \"4 * N\"", "\"dynamic_smem\": \"1048577\"",
         "shared memory 1048577"},
        {"\"bytes\": \"8\"", "\"bytes\": \"-8\"", "workspace 'w1'"},
        {"\"bytes\": \"8\"", "\"bytes\": \"9223372036854775807\"",
         "workspace 'w1'"},
        {"\"bytes\": \"8\"", "\"bytes\": \"1000000\"", "are needed"},
        {"\"value\": \"M * N\"", "\"value\": \"1 % (M - 5)\"",
         "divides by zero"},
    };
    struct fixture *f = *state;
    struct manifest good = f->m;
    char text[8192];

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *at = strstr(head, bad[i].from);

        assert_non_null(at);
        snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - head), head,
                 bad[i].to, at + strlen(bad[i].from));
        if (!manifest_parse(text, strlen(text), &f->m, f->text,
                            sizeof(f->text)))
            fail_msg("%s: %s", bad[i].to, f->text);
        f->match.f = &f->m.fusions[0];
        assert_int_equal(bind(f), FUSEC_OK);
        if (launch(f, 2, f->memory + 8192, 4096) != FUSEC_MISMATCH ||
            !strstr(f->text, bad[i].part))
            fail_msg("%s: \"%s\"", bad[i].to, f->text);
        manifest_free(&f->m);
    }
    f->m = good;
}

/* A kernel that takes more arguments than its manifest says reads zeros, not
 * what lies behind the list. */
static int
read_all(void *data, const struct call *c, void *stream,
         const struct message *msg)
{
    struct log *l = data;
    int64_t last;

    (void)stream;
    (void)msg;
    memcpy(&last, c->args[M_MAX_ARGS - 1], sizeof(last));
    l->i64 = last;
    return FUSEC_OK;
}

static void
test_missing_arguments(void **state)
{
    struct fixture *f = *state;

    f->log.i64 = 1;
    f->b.launch = read_all;
    assert_int_equal(bind(f), FUSEC_OK);
    assert_int_equal(launch(f, 2, f->memory + 8192, 4096), FUSEC_OK);
    assert_int_equal(f->log.i64, 0);
}

/* Every prefix is refused, and none reads beyond its end. */
static void
test_cut_manifests(void **state)
{
    size_t len = strlen(head);
    struct manifest m;
    char why[64];

    (void)state;
    for (size_t n = 0; n < len; n += 7) {
        char *cut = malloc(n + 1);
        assert_non_null(cut);
        memcpy(cut, head, n);
        assert_false(manifest_parse(cut, n, &m, why, sizeof(why)));
        free(cut);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_launches),          T(test_clears_counters_only),
        T(test_scalar_given),      T(test_empty_grid_is_skipped),
        T(test_mismatches),        T(test_ignored_strides),
        T(test_overlaps),          T(test_hostile_manifests),
        T(test_cut_manifests),     T(test_hostile_sizes),
        T(test_missing_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
