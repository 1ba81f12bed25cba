/* SPDX-License-Identifier: Apache-2.0 */
/* What the backend reads (the assembler's log, PTX headers, manifests) and
 * writes (dependency files, diffs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "backend/check.h"
#include "backend/depfile.h"
#include "backend/manifest.h"
#include "backend/nvrtc.h"
#include "backend/report.h"
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
                                        "c\\ d"};
    struct depfile d = {
        .target = "out 1.ptx", .files = files, .n_files = 3, .phony = true};
    struct buf b;

    buf_init(&b, *state);
    depfile_print(&b, &d);
    assert_string_equal(buf_str(&b), "out\\ 1.ptx: a\\ b.fusion \\\n"
                                     "  lib$$/x\\#1.fusion \\\n"
                                     "  c\\\\\\ d\n"
                                     "\nlib$$/x\\#1.fusion:\n"
                                     "\nc\\\\\\ d:\n");
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
        cmocka_unit_test(given_nvrtc_is_it_or_nothing),
    };

    return cmocka_run_group_tests_name("backend", tests, set_up, tear_down);
}
