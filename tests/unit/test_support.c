/* SPDX-License-Identifier: Apache-2.0 */
/* The ground every stage stands on: memory, text, places in a source, the form
 * of messages, files, hashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"
#include "support/sha256.h"
#include "support/source.h"
#include "support/utf8.h"
#include "support/vec.h"

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

/* --- memory -------------------------------------------------------------- */

static void
memory_is_zeroed_aligned_and_apart(void **state)
{
    unsigned char *before = NULL;

    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(*state, size);

        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xAB, size);
        if (before)
            assert_int_equal(before[0], 0xAB);
        before = p;
    }
}

static void
grown_memory_keeps_its_content(void **state)
{
    VEC(int) v = {0};
    char *other;

    for (int i = 0; i < 100000; i++) {
        VEC_PUSH(*state, &v, i);
        if (i % 1000 == 0) {
            other =
                arena_alloc(*state, 10); /* keeps it from growing in place */
            memset(other, 0xFF, 10);
        }
    }
    for (int i = 0; i < 100000; i++)
        assert_int_equal(v.v[i], i);
    v.v = arena_grow(*state, v.v, 100000, 100010, sizeof(int));
    for (int i = 100000; i < 100010; i++)
        assert_int_equal(v.v[i], 0);
}

/* --- text ---------------------------------------------------------------- */

static void
text_grows_and_ends_with_nul(void **state)
{
    struct buf b;

    buf_init(&b, *state);
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 2000);
    assert_int_equal(strlen(buf_str(&b)), 2000);
    buf_write(&b, "\0x", 2);
    assert_int_equal(b.len, 2002);
    assert_int_equal(b.data[2002], 0);
}

static void
doubles_print_shortest(void **state)
{
    static const struct {
        double x;
        const char *text;
    } rows[] = {
        {0.1, "0.1"},
        {1, "1.0"},
        {-0.0, "-0.0"},
        {1e30, "1e+30"},
        {1.0 / 3, "0.3333333333333333"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {5e-324, "5e-324"},
        {16777217, "16777217.0"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b;

        buf_init(&b, *state);
        buf_double(&b, rows[i].x);
        assert_string_equal(buf_str(&b), rows[i].text);
    }
}

static void
json_strings_are_escaped(void **state)
{
    static const char text[] =
        /* NOLINTNEXTLINE(misc-misleading-bidirectional): what is escaped */
        "a\"\\\n\x01\x7f\xc3\xa9\xff\xed\xa0\x80.\xe2\x80\xae";
    struct buf b;

    buf_init(&b, *state);
    buf_json_string(&b, text, sizeof(text)); /* with its NUL */
    assert_string_equal(buf_str(&b),
                        "\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa9\\ufffd"
                        "\\ufffd\\ufffd\\ufffd.\\u202e\\u0000\"");
}

static void
ill_formed_utf8_is_refused(void **state)
{
    static const char *const bad[] = {
        "\x80",
        "\xc0\x80",
        "\xc3",
        "\xe0\x80\x80",
        "\xed\xa0\x80",
        "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
    };
    uint32_t code;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(utf8_decode(bad[i], strlen(bad[i]), &code), 0);
    assert_int_equal(utf8_decode("\xf0\x9f\x98\x80", 4, &code), 4);
    assert_int_equal(code, 0x1F600);
}

/* --- places -------------------------------------------------------------- */

static void
positions_count_lines_and_cells(void **state)
{
    static const char text[] = "ab\n\tc\xe4\xb8\xad"
                               "d\r\n\ne\xcc\x81"
                               "f\x1b"
                               "g";
    const struct source *s = source_new(*state, "x", text, sizeof(text) - 1);
    struct position p;
    size_t n;

    assert_int_equal(s->lines, 4);
    p = source_position(s, 3 + 5); /* the d: blank, c, two cells */
    assert_int_equal(p.line, 2);
    assert_int_equal(p.column, 5);
    assert_int_equal(p.byte, 8);
    source_line(s, 2, &n);
    assert_int_equal(n, 6); /* without CR LF */
    p = source_position(s, sizeof(text) - 1);
    assert_int_equal(p.line, 4);
    assert_int_equal(p.column, 1 + 1 + 1 + 4 + 1); /* e f \x1b g */
    p = source_position(s, 1000000);
    assert_int_equal(p.byte, sizeof(text) - 1);
}

static void
empty_source_has_one_line(void **state)
{
    const struct source *s = source_new(*state, "x", "", 0);
    size_t n = 1;

    assert_int_equal(s->lines, 1);
    assert_int_equal(source_position(s, 0).line, 1);
    source_line(s, 1, &n);
    assert_int_equal(n, 0);
}

/* --- messages ------------------------------------------------------------ */

static const char program[] = "fusion f(\n"
                              "\ty = x * g; # \xe4\xb8\xad\xe4\xb8\xad z\x1b\n"
                              "}\n";

static struct span
find(const struct source *s, const char *word)
{
    const char *at = strstr(s->text, word);
    uint32_t begin;

    assert_non_null(at);
    begin = (uint32_t)(at - s->text);
    return (struct span){s, begin, begin + (uint32_t)strlen(word)};
}

static const char *
flushed(struct arena *a, struct diag *d, const struct diag_style *style)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    const char *copy;

    assert_non_null(f);
    diag_flush(d, f, style);
    fclose(f);
    copy = arena_strndup(a, text, len);
    free(text);
    return copy;
}

static void
message_has_place_caret_and_remarks(void **state)
{
    const struct source *s =
        source_new(*state, "a.fusion", program, sizeof(program) - 1);
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec"};

    diag_report(d, DIAG_UNKNOWN_NAME, find(s, "x * g"), "x\x1b");
    diag_secondary(d, find(s, "z"));
    diag_note(d, find(s, "f("), "'%s' declared here", "g");
    diag_help(d, find(s, "x"), "write %d", 1);
    assert_int_equal(diag_errors(d), 1);
    assert_int_equal(diag_exit_status(d), EXIT_INPUT);
    assert_string_equal(
        flushed(*state, d, &style),
        "a.fusion:2:6: error: unknown value 'x\\x1b' [unknown-name]\n"
        "    2 |  y = x * g; # \xe4\xb8\xad\xe4\xb8\xad z\\x1b\n"
        "      |      ^~~~~         ~\n"
        "a.fusion:1:8: note: 'g' declared here\n"
        "a.fusion:2:6: help: write 1\n");
    assert_string_equal(flushed(*state, d, &style), "");
}

static void
messages_stand_in_the_order_of_the_text(void **state)
{
    const struct source *s =
        source_new(*state, "a.fusion", program, sizeof(program) - 1);
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec", .json = true};

    diag_report(d, DIAG_UNKNOWN_NAME, find(s, "g;"), "g");
    diag_report(d, DIAG_USAGE, (struct span){0}, "no \"file\"");
    diag_report(d, DIAG_UNKNOWN_NAME, find(s, "x"), "x");
    diag_report(d, DIAG_UNKNOWN_NAME, find(s, "x"), "x");
    assert_int_equal(diag_exit_status(d), EXIT_USAGE);
    assert_string_equal(
        flushed(*state, d, &style),
        "[\n"
        "{\"id\": \"unknown-name\", \"severity\": \"error\", \"message\": "
        "\"unknown value 'x'\", \"file\": \"a.fusion\", \"line\": 2, "
        "\"column\": 6, \"byte_begin\": 15, \"byte_end\": 16, "
        "\"secondary\": [], \"notes\": []},\n"
        "{\"id\": \"unknown-name\", \"severity\": \"error\", \"message\": "
        "\"unknown value 'g'\", \"file\": \"a.fusion\", \"line\": 2, "
        "\"column\": 10, \"byte_begin\": 19, \"byte_end\": 21, "
        "\"secondary\": [], \"notes\": []},\n"
        "{\"id\": \"usage\", \"severity\": \"error\", \"message\": "
        "\"no \\\"file\\\"\", \"secondary\": [], \"notes\": []}\n"
        "]\n");
}

static void
twenty_errors_are_shown(void **state)
{
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec"};
    const char *text;
    unsigned lines = 0;

    for (int i = 0; i < 25; i++) {
        assert_int_equal(diag_full(d), i >= 20);
        diag_report(d, DIAG_UNKNOWN_NAME, (struct span){0}, i % 2 ? "a" : "b");
    }
    text = flushed(*state, d, &style);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 21);
    assert_non_null(strstr(text, "fusec: note: 5 more errors not shown\n"));
}

static void
warnings_can_be_errors_or_silent(void **state)
{
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec"};
    const struct span nowhere = {0};

    assert_false(diag_set_enabled(d, "unknown-name", false));
    assert_false(diag_set_enabled(d, "no-such-id", false));
    diag_report(d, DIAG_UNUSED, nowhere, "input", "x");
    assert_int_equal(diag_errors(d), 0);
    assert_int_equal(diag_exit_status(d), EXIT_OK);
    assert_true(diag_set_enabled(d, "unused", false));
    diag_report(d, DIAG_UNUSED, nowhere, "input", "y");
    diag_note(d, nowhere, "goes nowhere");
    diag_set_all_warnings(d, true);
    diag_set_werror(d, true);
    diag_report(d, DIAG_UNUSED, nowhere, "input", "z");
    assert_int_equal(diag_errors(d), 1);
    assert_string_equal(flushed(*state, d, &style),
                        "fusec: warning: input 'x' is never used [unused]\n"
                        "fusec: error: input 'z' is never used [unused]\n");
}

static void
long_line_is_shown_around_the_caret(void **state)
{
    struct buf b;
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec"};
    const struct source *s;
    const char *text;

    buf_init(&b, *state);
    for (int i = 0; i < 1000; i++)
        buf_puts(&b, "0123456789");
    s = source_new(*state, "a", buf_str(&b), b.len);
    diag_report(d, DIAG_UNKNOWN_NAME, (struct span){s, 5000, 5001}, "x");
    text = flushed(*state, d, &style);
    assert_true(strlen(text) < 500);
    assert_non_null(strstr(text, "    1 | ...0123456789"));
    /* 60 cells and the dots stand before the caret. */
    text = strstr(text, "      | ");
    assert_non_null(text);
    assert_int_equal(strcspn(text + 8, "^"), 63);
}

static void
fatal_messages_set_the_exit_status(void **state)
{
    static const struct {
        enum diag_id id;
        int status;
    } rows[] = {
        {DIAG_USAGE, EXIT_USAGE},
        {DIAG_UNKNOWN_BINDING, EXIT_USAGE},
        {DIAG_CANNOT_READ, EXIT_ENVIRONMENT},
        {DIAG_CANNOT_WRITE, EXIT_ENVIRONMENT},
        {DIAG_NO_NVRTC, EXIT_ENVIRONMENT},
        {DIAG_NO_DRIVER, EXIT_ENVIRONMENT},
        {DIAG_COMPILER_FAILED, EXIT_ENVIRONMENT},
        {DIAG_COMPILER_REJECTED, EXIT_REJECTED},
        {DIAG_BAD_PLAN_FILE, EXIT_INPUT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct diag *d = diag_new(*state);

        diag_report(d, rows[i].id, (struct span){0}, "a", "b", "c", "d");
        assert_int_equal(diag_exit_status(d), rows[i].status);
    }
}

static void
plans_are_spoken_of_by_number(void **state)
{
    struct diag *d = diag_new(*state);
    struct diag_style style = {.tool = "fusec"};

    diag_report(d, DIAG_PLAN_REJECTED, (struct span){0}, 1, 24u,
                "NVRTC 13.0.88", 2);
    diag_report(d, DIAG_PLAN_LOCAL_MEMORY, (struct span){0}, 3u, "f", 24u);
    assert_int_equal(diag_exit_status(d), EXIT_OK);
    assert_string_equal(
        flushed(*state, d, &style),
        "fusec: note: plan 1 uses 24 bytes of local memory under NVRTC "
        "13.0.88; plan 2 taken [plan-rejected]\n"
        "fusec: warning: variant 3 of 'f' uses 24 bytes of local memory "
        "[plan-local-memory]\n");
}

static void
every_message_is_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < DIAG_COUNT; i++) {
        assert_true(strlen(diag_info[i].explanation) > 10);
        assert_ptr_equal(diag_find(diag_info[i].id), &diag_info[i]);
        assert_true(
            diag_info[i].id[strspn(diag_info[i].id,
                                   "abcdefghijklmnopqrstuvwxyz0123456789-")] ==
            '\0');
    }
}

/* --- files --------------------------------------------------------------- */

static const char *
in_folder(struct arena *a, const char *folder, const char *name)
{
    return arena_printf(a, "%s/%s", folder, name);
}

static const char *
new_folder(struct arena *a)
{
    char *folder = arena_strdup(a, "test_support.XXXXXX");

    assert_non_null(mkdtemp(folder));
    return folder;
}

static void
assert_content(struct arena *a, const char *path, const char *text)
{
    size_t n;
    const char *got = io_read(a, path, &n);

    assert_non_null(got);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(got, text, n);
}

static void
all_files_or_none_are_written(void **state)
{
    const char *folder = new_folder(*state);
    const char *one = in_folder(*state, folder, "one");
    const char *two = in_folder(*state, folder, "none/two");
    struct io_output outs[] = {{one, "abc", 3}, {two, "def", 3}};
    size_t n;

    assert_int_equal(io_write_all(*state, outs, 1, false), -1);
    assert_content(*state, one, "abc");
    outs[0].data = "xyz";
    assert_int_equal(io_write_all(*state, outs, 2, false), 1);
    assert_int_equal(errno, ENOENT);
    assert_content(*state, one, "abc");
    assert_null(io_read(*state, two, &n));
    assert_int_equal(errno, ENOENT);
    assert_null(io_read(*state, folder, &n));
    assert_int_equal(errno, EISDIR);
    outs[0].path = folder;
    assert_int_equal(io_write_all(*state, outs, 1, false), 0);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(unlink(one), 0);
    assert_int_equal(rmdir(folder), 0); /* no temporary is left */
}

static void
unchanged_file_can_keep_its_time(void **state)
{
    const char *folder = new_folder(*state);
    const char *one = in_folder(*state, folder, "one");
    struct io_output out = {one, "abc", 3};
    struct stat before, after;

    assert_int_equal(io_write_all(*state, &out, 1, false), -1);
    assert_int_equal(stat(one, &before), 0);
    assert_int_equal(io_write_all(*state, &out, 1, true), -1);
    assert_int_equal(stat(one, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    out.data = "abd";
    assert_int_equal(io_write_all(*state, &out, 1, true), -1);
    assert_content(*state, one, "abd");
    assert_int_equal(unlink(one), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void
links_are_followed(void **state)
{
    const char *folder = new_folder(*state);
    const char *one = in_folder(*state, folder, "one");
    const char *link = in_folder(*state, folder, "link");
    struct io_output out = {one, "abc", 3};
    struct stat st;

    assert_int_equal(io_write_all(*state, &out, 1, false), -1);
    assert_int_equal(symlink("one", link), 0);
    out = (struct io_output){link, "through", 7};
    assert_int_equal(io_write_all(*state, &out, 1, false), -1);
    assert_content(*state, one, "through");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(unlink(one) | unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* --- hashes -------------------------------------------------------------- */

static void
sha256_matches_the_standard(void **state)
{
    char hex[65], text[200];

    (void)state;
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
                             "b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb924"
                             "27ae41e4649b934ca495991b7852b855");
    /* Lengths around the block, folded into one value. */
    memset(text, 'a', sizeof(text));
    for (size_t n = 50; n < 200; n++) {
        sha256_hex(text, n, hex);
        memcpy(text + 100, hex, 64);
    }
    assert_string_equal(hex, "442ef15db1ee28c0305ee69185606ee1"
                             "5b341d0c0540080f7ef74a8d50746069");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(grown_memory_keeps_its_content),
        cmocka_unit_test(text_grows_and_ends_with_nul),
        cmocka_unit_test(doubles_print_shortest),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(ill_formed_utf8_is_refused),
        cmocka_unit_test(positions_count_lines_and_cells),
        cmocka_unit_test(empty_source_has_one_line),
        cmocka_unit_test(message_has_place_caret_and_remarks),
        cmocka_unit_test(messages_stand_in_the_order_of_the_text),
        cmocka_unit_test(twenty_errors_are_shown),
        cmocka_unit_test(warnings_can_be_errors_or_silent),
        cmocka_unit_test(long_line_is_shown_around_the_caret),
        cmocka_unit_test(fatal_messages_set_the_exit_status),
        cmocka_unit_test(plans_are_spoken_of_by_number),
        cmocka_unit_test(every_message_is_explained),
        cmocka_unit_test(all_files_or_none_are_written),
        cmocka_unit_test(unchanged_file_can_keep_its_time),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(sha256_matches_the_standard),
    };

    return cmocka_run_group_tests_name("support", tests, set_up, tear_down);
}
