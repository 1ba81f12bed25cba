/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's expressions: values, precedence, and everything refused. */
#include "support/base.h"

#include "support/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static bool
resolve(void *data, const char *name, const char *member, uint32_t dim,
        struct expr_var *ret)
{
    (void)data;
    *ret = (struct expr_var){.dim = dim};
    if (!member && strcmp(name, "sms") == 0)
        return ret->kind = EV_SMS, true;
    if (!member && strcmp(name, "N") == 0)
        return ret->kind = EV_DIM, true;
    if (!member || strcmp(name, "x") != 0)
        return false;
    ret->kind = strcmp(member, "shape") == 0    ? EV_SHAPE
                : strcmp(member, "stride") == 0 ? EV_STRIDE
                                                : EV_ALIGN;
    return dim < 2;
}

/* N = 100, sms = 132, x.shape = [7, 100], x.stride = [128, 1], x.align = 16. */
static bool
value(const void *data, const struct expr_var *v, int64_t *ret)
{
    static const int64_t shape[] = {7, 100}, stride[] = {128, 1};

    (void)data;
    *ret = v->kind == EV_DIM      ? 100
           : v->kind == EV_SMS    ? 132
           : v->kind == EV_SHAPE  ? shape[v->dim]
           : v->kind == EV_STRIDE ? stride[v->dim]
                                  : 16;
    return true;
}

static void
assert_value(const char *text, int64_t want)
{
    struct expr e;
    const char *why;
    int64_t got;

    if (!expr_parse(text, resolve, NULL, &e, &why))
        fail_msg("%s: %s", text, why);
    if (!expr_eval(&e, value, NULL, &got))
        fail_msg("%s: no value", text);
    if (got != want)
        fail_msg("%s: %lld", text, (long long)got);
    expr_free(&e);
}

static void
assert_no_value(const char *text)
{
    struct expr e;
    const char *why;
    int64_t got;

    assert_true(expr_parse(text, resolve, NULL, &e, &why));
    assert_false(expr_eval(&e, value, NULL, &got));
    expr_free(&e);
}

static void
assert_refused(const char *text)
{
    struct expr e = {0};
    const char *why = NULL;

    if (expr_parse(text, resolve, NULL, &e, &why))
        fail_msg("'%s' was taken", text);
    assert_non_null(why);
}

static void
test_values(void **state)
{
    (void)state;
    assert_value("1 + 2 * 3", 7);
    assert_value("(1 + 2) * 3", 9);
    assert_value("10 - 3 - 2", 5);
    assert_value("-7 / 2", -4);
    assert_value("-7 % 2", 1);
    assert_value("7 % -2", -1);
    assert_value("-(7 / 2)", -3);
    assert_value("- - 3", 3);
    assert_value("ceil_div(N, 32)", 4);
    assert_value("ceil_div(-7, 2)", -3);
    assert_value("ceil_div(96, 32)", 3);
    assert_value("min(N, sms) + max(1, 2)", 102);
    assert_value("x.shape[0] * x.stride[0]", 896);
    assert_value("x.align >= 16", 1);
    assert_value("N == 100 && N % 4 == 0", 1);
    assert_value("N != 100 || N < 3", 0);
    assert_value("!N == 100", 0);
    assert_value("! N == 5 && 1 <= 2", 1);
    assert_value("2 && 3", 1);
    assert_value("0 || 5", 1);
    assert_value("1 < 2 && 2 > 1 && 3 >= 3 && 0 || 0", 0);
    assert_value("9223372036854775807", INT64_MAX);
    assert_value("-9223372036854775807 - 1", INT64_MIN);
    assert_value("N != 100 && 1 / 0", 0);
    assert_value("N == 100 || 1 / 0", 1);
}

static void
test_no_value(void **state)
{
    (void)state;
    assert_no_value("1 / 0");
    assert_no_value("N % (N - 100)");
    assert_no_value("ceil_div(1, 0)");
    assert_no_value("9223372036854775807 + 1");
    assert_no_value("9223372036854775807 * 2");
    assert_no_value("-(-9223372036854775807 - 1)");
    assert_no_value("(-9223372036854775807 - 1) / -1");
}

static void
test_refused(void **state)
{
    (void)state;
    assert_refused("");
    assert_refused("1 +");
    assert_refused("1 2");
    assert_refused("(1");
    assert_refused("1)");
    assert_refused("M");
    assert_refused("x");
    assert_refused("x.shape");
    assert_refused("x.shape[2]");
    assert_refused("x.shape[99999999999999999999]");
    assert_refused("x.align[0]");
    assert_refused("x.rank");
    assert_refused("1 < 2 < 3");
    assert_refused("min(1)");
    assert_refused("min(1, 2, 3)");
    assert_refused("abs(1)");
    assert_refused("1 // 2");
    assert_refused("9223372036854775808");
    assert_refused("12N");
    assert_refused("1 & 2");
    assert_refused("\t1");
}

/* n levels of parentheses around 1. */
static void
nested(char *text, int n)
{
    memset(text, '(', (size_t)n);
    text[n] = '1';
    memset(text + n + 1, ')', (size_t)n);
    text[2 * n + 1] = '\0';
}

static void
test_limits(void **state)
{
    char text[2100];

    (void)state;
    nested(text, 64);
    assert_value(text, 1);
    nested(text, 65);
    assert_refused(text);
    memset(text, '-', 65);
    memcpy(text + 65, "1", 2);
    assert_refused(text);
    memset(text, ' ', sizeof(text));
    memcpy(text + 1023, "1", 2);
    assert_value(text, 1);
    memset(text, ' ', sizeof(text));
    memcpy(text + 1024, "1", 2);
    assert_refused(text);
    for (int i = 0; i < 511; i++)
        memcpy(text + 2 * i, "1+", 2);
    memcpy(text + 1022, "1", 2);
    assert_value(text, 512);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_no_value),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
