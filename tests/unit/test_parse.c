/* SPDX-License-Identifier: Apache-2.0 */
/* parse: trees, spans, literals, limits, recovery and imports. Wording is
 * pinned by tests/golden/diag; here stands what a golden cannot show. */
#include "support/base.h"

#include "front/files.h"

#include "front/ast_print.h"
#include "front/front.h"
#include "front/parse.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct arena *a;
    struct diag *d; /* of the last parse */
};

static int
setup(void **state)
{
    struct arena *a = arena_new();
    struct fixture *f = NEW(a, struct fixture);

    f->a = a;
    *state = f;
    return 0;
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->a);
    return 0;
}

static struct ast_file *
parse_bytes(struct fixture *f, const char *text, size_t len)
{
    f->d = diag_new(f->a);
    return parse_file(f->a, f->d, source_new(f->a, "t.fusion", text, len));
}

static struct ast_file *
parse(struct fixture *f, const char *text)
{
    return parse_bytes(f, text, strlen(text));
}

static const char *
tree(struct fixture *f, const char *text)
{
    struct ast_file *file = parse(f, text);
    struct buf b;

    assert_int_equal(diag_errors(f->d), 0);
    buf_init(&b, f->a);
    ast_print(f->a, file, &b);
    return buf_str(&b);
}

static const struct expr *
value_of(struct fixture *f, const char *expr)
{
    struct ast_file *file = parse(f, arena_printf(f->a, "const C = %s;", expr));

    assert_int_equal(file->n_consts, 1);
    return file->consts[0]->value;
}

/* All messages of the last parse. */
static const char *
messages(struct fixture *f)
{
    static const struct diag_style style = {.tool = "test"};
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    const char *copy;

    diag_flush(f->d, to, &style);
    fclose(to);
    copy = arena_strndup(f->a, text, n);
    free(text);
    return copy;
}

static bool
reports(struct fixture *f, const char *text, enum diag_id id)
{
    parse(f, text);
    return strstr(messages(f), arena_printf(f->a, "[%s]", diag_info[id].id)) !=
           NULL;
}

static char *
repeat(struct fixture *f, const char *s, unsigned n)
{
    struct buf b;

    buf_init(&b, f->a);
    buf_puts(&b, "");
    for (unsigned i = 0; i < n; i++)
        buf_puts(&b, s);
    return arena_strdup(f->a, buf_str(&b));
}

/* ---- trees ----------------------------------------------------------------
 */

/* Pairs of spellings: the right one is fully bracketed. */
static void
precedence(void **state)
{
    static const struct {
        const char *plain, *bracketed;
    } cases[] = {
        {"a - b - c", "a - b - c"},
        {"a - b * c", "a - (b * c)"},
        {"a // b % c", "a // b % c"},
        {"-a ** b", "-(a ** b)"},
        {"a ** -b ** c", "a ** (-(b ** c))"},
        {"2 ** -1 * 3", "(2 ** (-1)) * 3"},
        {"-a * ~b", "(-a) * (~b)"},
        {"a << b + c", "a << (b + c)"},
        {"a & b << c", "a & (b << c)"},
        {"a ^ b & c", "a ^ (b & c)"},
        {"a | b ^ c", "a | (b ^ c)"},
        {"a < b | c", "a < (b | c)"},
        {"!a < b", "!(a < b)"},
        {"!a && !b", "(!a) && (!b)"},
        {"a || b && c", "a || (b && c)"},
        {"a ? b : c ? d : e", "a ? b : (c ? d : e)"},
        {"a ? b ? c : d : e", "a ? (b ? c : d) : e"},
        {"a || b ? c || d : e || f", "(a || b) ? (c || d) : (e || f)"},
        {"a[0] ** b[1][2]", "(a[0]) ** (b[1][2])"},
        {"-f(a)[0]", "-(f(a)[0])"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *plain = arena_printf(f->a, "const C = %s;", cases[i].plain);
        const char *same =
            arena_printf(f->a, "const C = %s;", cases[i].bracketed);

        assert_string_equal(tree(f, plain), tree(f, same));
    }
    assert_string_not_equal(tree(f, "const C = (a - b) - c;"),
                            tree(f, "const C = a - (b - c);"));
}

static void
layout_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    const char *tight = "fusion f(x:f32[M,N],e:f32=1e-5)->(y:f32[M])"
                        "requires N%8==0{a,_=g(x[:,None],axis=[0,1]);y=-a;}";
    const char *loose =
        "\xef\xbb\xbf# c\n fusion f ( x : f32 [ M , N ] ,\r\n e : f32 = 1e-5 ,"
        ") # \xce\xb1\n-> ( y\t: f32 [ M ] , )\nrequires ( N % 8 ) == 0\n{\n"
        "a , _ = g ( x [ : , None ] , axis = [ 0 , 1 ] , ) ;\ny = - ( a ) ;\n}";

    assert_string_equal(tree(f, tight), tree(f, loose));
}

static bool
spells(struct span s, const char *text)
{
    return s.end - s.begin == strlen(text) &&
           memcmp(s.src->text + s.begin, text, strlen(text)) == 0;
}

static void
spans_cover_what_they_name(void **state)
{
    struct fixture *f = *state;
    struct ast_file *file =
        parse(f, "fusion f(x: T[M] align(4)) -> (y: T[M] = inplace(x)) {\n"
                 "  y = (x + 1 - z)[0, 1:2] ** -f(a=3);\n}");
    const struct ast_fusion *g = file->fusions[0];
    const struct expr *e = g->stmts[0].value;
    const struct expr *sum = e->u.pow.base->u.index.base;

    assert_true(spells(g->name.span, "f"));
    assert_true(spells(g->params[0].span, "x: T[M] align(4)"));
    assert_true(spells(g->params[0].dims_span, "[M]"));
    assert_true(spells(g->params[0].layouts[0].span, "align(4)"));
    assert_true(spells(g->results[0].span, "y: T[M] = inplace(x)"));
    assert_true(spells(g->results[0].inplace_arg.span, "x"));
    assert_true(spells(g->end, "}"));
    assert_true(spells(e->span, "(x + 1 - z)[0, 1:2] ** -f(a=3)"));
    assert_true(spells(sum->span, "(x + 1 - z)"));
    assert_true(sum->parens);
    assert_int_equal(sum->u.chain.n, 2);
    assert_true(spells(sum->u.chain.links[1].op_span, "-"));
    assert_true(spells(e->u.pow.op_span, "**"));
    assert_true(spells(e->u.pow.base->u.index.subs[0].span, "[0, 1:2]"));
    assert_true(spells(e->u.pow.base->u.index.subs[0].items[1].span, "1:2"));
    assert_true(
        spells(e->u.pow.exponent->u.unary.arg->u.call.args[0].span, "a=3"));
}

static void
literals_keep_text_and_value(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(value_of(f, "0x1F")->u.i.value, 31);
    assert_string_equal(value_of(f, "0x1F")->u.i.text, "0x1F");
    assert_int_equal(value_of(f, "007")->u.i.value, 7);
    assert_true(value_of(f, "9223372036854775808")->u.i.value == UINT64_C(1)
                                                                     << 63);
    assert_true(value_of(f, "0x8000000000000000")->u.i.value == UINT64_C(1)
                                                                    << 63);
    assert_int_equal(value_of(f, "9223372036854775809")->kind, EXPR_ERROR);
    assert_true(value_of(f, "0x1.8p1")->u.f.value == 3.0);
    assert_true(value_of(f, "1e-400")->u.f.value == 0.0);
    assert_true(value_of(f, "0.1")->u.f.value == 0.1);
    assert_string_equal(value_of(f, "1.50E+2")->u.f.text, "1.50E+2");
    assert_int_equal(value_of(f, "1e999")->kind, EXPR_ERROR);
    assert_int_equal(value_of(f, "-2 ** 2")->kind, EXPR_UNARY);
}

/* ---- limits ---------------------------------------------------------------
 */

static const char *
wrap(struct fixture *f, const char *open, const char *close, unsigned n)
{
    return arena_printf(f->a, "const C = %sx%s;", repeat(f, open, n),
                        repeat(f, close, n));
}

static void
nesting_has_a_limit(void **state)
{
    static const struct {
        const char *open, *close;
    } cases[] = {{"(", ")"},       {"f(", ")"},      {"f([", "])"},
                 {"x[", "]"},      {"-", ""},        {"!", ""},
                 {"~", ""},        {"x ** ", ""},    {"-(", ")"},
                 {"x ? x : ", ""}, {"x ? ", " : x"}, {"x + (", ")"},
                 {"x[0:", "]"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *open = cases[i].open, *close = cases[i].close;
        unsigned each = !strcmp(open, "f([") || !strcmp(open, "-(") ? 128 : 256;

        assert_false(
            reports(f, wrap(f, open, close, each), DIAG_NESTING_LIMIT));
        assert_int_equal(diag_errors(f->d), 0);
        assert_true(
            reports(f, wrap(f, open, close, each + 1), DIAG_NESTING_LIMIT));
        assert_int_equal(diag_errors(f->d), 1);
        assert_true(
            reports(f, wrap(f, open, close, 20000), DIAG_NESTING_LIMIT));
        parse(f, wrap(f, open, "", 5000)); /* never closed */
        assert_int_equal(diag_errors(f->d), 1);
    }
}

/* 256 levels, each with every operator: the deepest stack that is legal. */
static void
the_widest_nesting_fits(void **state)
{
    struct fixture *f = *state;
    const char *open = "a || b && c < d | e ^ g & h << i + j * f(k, l=";

    tree(f, wrap(f, open, ")", 256));
    tree(f, wrap(f, "a ? b : c || d && e < g | h ^ i & j << k + l * m ** ", "",
                 128));
}

static void
chains_have_none(void **state)
{
    struct fixture *f = *state;
    struct ast_file *file =
        parse(f, arena_printf(f->a, "const C = x%s%s;", repeat(f, "[:]", 50000),
                              repeat(f, "+x", 50000)));

    assert_int_equal(diag_errors(f->d), 0);
    assert_int_equal(file->consts[0]->value->u.chain.n, 50000);
    assert_int_equal(file->consts[0]->value->u.chain.first->u.index.n, 50000);
}

static void
long_names_are_refused(void **state)
{
    struct fixture *f = *state;
    const char *name = repeat(f, "n", AST_MAX_NAME);

    assert_false(reports(f, arena_printf(f->a, "const %s = 1;", name),
                         DIAG_NAME_TOO_LONG));
    assert_true(reports(f, arena_printf(f->a, "const %sn = 1;", name),
                        DIAG_NAME_TOO_LONG));
}

static void
large_files_are_refused(void **state)
{
    struct fixture *f = *state;

    f->d = diag_new(f->a);
    assert_null(files_load_text(f->a, f->d, "t.fusion", "",
                                (size_t)PARSE_MAX_BYTES + 1, NULL));
    assert_non_null(strstr(messages(f), diag_info[DIAG_SOURCE_TOO_LARGE].id));
}

static void
at_most_twenty_errors(void **state)
{
    struct fixture *f = *state;

    parse(f, repeat(f, "const A = ;\n", 100000));
    assert_int_equal(diag_errors(f->d), 20);
    parse_bytes(f, repeat(f, "\xff\n", 1000), 2000);
    assert_int_equal(diag_errors(f->d), 20);
}

/* ---- recovery -------------------------------------------------------------
 */

static void
a_bad_value_keeps_its_names(void **state)
{
    struct fixture *f = *state;
    struct ast_file *file = parse(f, "const A = 1 +;\n"
                                     "def g(x) { a = (x; return ); }\n"
                                     "fusion f(x: f32[N]) -> (y: f32[N]) {\n"
                                     "  a, b = x x;\n  c = 0 < 1 < 2;\n"
                                     "  d = a\n  e = f(a\n  y = x;\n}\n");

    assert_int_equal(diag_errors(f->d), 7);
    assert_true(file->complete);
    assert_int_equal(file->n_consts, 1);
    assert_int_equal(file->consts[0]->value->kind, EXPR_ERROR);
    assert_int_equal(file->n_defs, 1);
    assert_int_equal(file->fusions[0]->n_stmts, 5);
    assert_int_equal(file->fusions[0]->stmts[0].n_names, 2);
    assert_int_equal(file->fusions[0]->stmts[1].value->kind, EXPR_ERROR);
    assert_int_equal(file->fusions[0]->stmts[2].value->kind, EXPR_NAME);
    assert_int_equal(file->fusions[0]->stmts[3].value->kind, EXPR_ERROR);
}

static void
a_lost_declaration_is_known(void **state)
{
    static const char *const cases[] = {
        "const = 1;",
        "type T;",
        "import x;",
        "import \"x;",
        "x;",
        "}",
        "def f(1) = 2;",
        "def f(x) { y = x; }",
        "def f(x) { return x; y = x; }",
        "fusion f(x: f32[N) -> (y: f32[N]) { y = x; }",
        "fusion f(x: f32[N]) -> (y: f32[N]) { y x; }",
        "fusion f(x: f32[N]) -> (y: f32[N]) { y = x;",
        "fusion f(",
        "fusion",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(parse(f, cases[i])->complete);
        assert_int_equal(diag_errors(f->d), 1);
    }
}

static const char sample[] =
    "import \"a\";const K=2;type T=f32;\n"
    "def g(x,a=[1,-1])=x**2;def h(x){y=x;return y,x;}\n"
    "fusion f(x:T[N,K*2]strides(S,1),e:f32=1.5)->(y:T[N]=inplace(x))\n"
    "requires N%8==0,N<=9{a,_=h(x[0,1:2:3,...]);#c\n"
    "y=a>0&&!b?-inf:0x1p3;}\n";

/* Any prefix is an error or complete, and never anything else. */
static void
every_prefix_ends_well(void **state)
{
    struct fixture *f = *state;

    for (size_t n = 0; n <= strlen(sample); n++) {
        struct ast_file *file =
            parse_bytes(f, arena_strndup(f->a, sample, n), n);

        assert_true(file->complete || diag_errors(f->d) > 0);
    }
    assert_int_equal(diag_errors(f->d), 0);
}

/* Any byte in any place: no crash, and what is printed is a message. */
static void
every_byte_everywhere(void **state)
{
    size_t len = strlen(sample);
    struct fixture *f;

    (void)state;
    for (size_t at = 0; at < len; at++) {
        struct arena *a = arena_new();
        struct fixture local = {a, NULL};

        f = &local;
        for (int byte = 0; byte < 256; byte++) {
            char *text = arena_strdup(a, sample);
            struct ast_file *file;

            text[at] = (char)byte;
            file = parse_bytes(f, text, len);
            assert_true(file->complete || diag_errors(f->d) > 0);
            if (byte % 16 == 0)
                messages(f);
        }
        arena_free(a);
    }
}

/* ---- files ----------------------------------------------------------------
 */

static void
write_file(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");

    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

/* main imports a and b, both import c from an -I folder by different names. */
static void
a_file_reached_twice_counts_once(void **state)
{
    static const char *const made[] = {"t/i/c.fusion", "t/s/b.fusion",
                                       "t/s/a.fusion", "t/main.fusion"};
    static const char *const dirs[] = {"t/i", "t/s", "t"};
    const char *const include[] = {"t/i/"};
    struct front_options opt = {.include_dirs = include, .n_include_dirs = 1};
    struct fixture *f = *state;
    struct file_set *set;

    for (int i = 2; i >= 0; i--)
        mkdir(dirs[i], 0777);
    write_file(made[0], "const C = 1; def shared(x) = x;\n"
                        "fusion ignored() -> (y: f32[]) { y = 1; }\n");
    write_file(made[1], "import \"../i/c.fusion\"; const B = C;\n");
    write_file(made[2], "import \"b.fusion\"; import \"c.fusion\";\n");
    write_file(made[3], "import \"s/a.fusion\"; import \"s/../s/b.fusion\";\n"
                        "fusion f() -> (y: f32[]) { y = 1; }\n");
    f->d = diag_new(f->a);
    set = files_load(f->a, f->d, made[3], &opt);
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        unlink(made[i]);
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        rmdir(dirs[i]);
    assert_string_equal(messages(f), "");
    assert_true(set->complete);
    assert_int_equal(set->n_files, 4);
    assert_string_equal(set->paths[0], "t/main.fusion");
    assert_string_equal(set->paths[1], "t/s/a.fusion");
    assert_string_equal(set->paths[2], "t/s/b.fusion");
    assert_string_equal(set->paths[3], "t/s/../i/c.fusion");
    assert_int_equal(set->n_consts, 2);
    assert_int_equal(set->n_defs, 1);
    assert_int_equal(set->n_fusions, 1);
    assert_true(set->fusions[0]->file->is_main);
}

static void
the_prelude_is_there(void **state)
{
    static const char *const names[] = {"softmax", "log_softmax",  "layernorm",
                                        "rmsnorm", "gelu",         "gelu_tanh",
                                        "swiglu",  "cross_entropy"};
    struct fixture *f = *state;
    struct file_set *set;

    f->d = diag_new(f->a);
    set = files_load_text(f->a, f->d, "t.fusion", "", 0, NULL);
    assert_int_equal(set->n_prelude, ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_string_equal(set->prelude[i]->name.text, names[i]);
    assert_true(set->prelude[0]->file->is_prelude);
    assert_int_equal(set->n_defs, 0);
}

static void
a_missing_file_is_an_error(void **state)
{
    struct fixture *f = *state;

    f->d = diag_new(f->a);
    assert_null(files_load(f->a, f->d, "no-such.fusion", NULL));
    assert_int_equal(diag_errors(f->d), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(precedence, setup, teardown),
        cmocka_unit_test_setup_teardown(layout_leaves_no_trace, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(spans_cover_what_they_name, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(literals_keep_text_and_value, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nesting_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(the_widest_nesting_fits, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(chains_have_none, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(large_files_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(at_most_twenty_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bad_value_keeps_its_names, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_lost_declaration_is_known, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_prefix_ends_well, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_byte_everywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_reached_twice_counts_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_prelude_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_file_is_an_error, setup,
                                        teardown),
    };

    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
