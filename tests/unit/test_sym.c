/* SPDX-License-Identifier: Apache-2.0 */
/* sym: the normal form is unique where the rules promise it, the printed text
 * is what it must be, and every rule agrees with evaluation. */
#include "support/base.h"

#include "ir/sym.h"

#include "support/arena.h"
#include "support/buf.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
    struct arena *a;
    struct sym_ctx *c;
    const struct sym *m, *n;
};

static int
setup(void **state)
{
    struct arena *a = arena_new();
    struct fixture *f = NEW(a, struct fixture);

    f->a = a;
    f->c = sym_ctx_new(a);
    f->m = sym_name(f->c, "M");
    f->n = sym_name(f->c, "N");
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

static const struct sym *
num(struct fixture *f, int64_t v)
{
    return sym_int(f->c, v);
}

static void
assert_prints(struct fixture *f, const struct sym *s, const char *want)
{
    struct buf b;

    assert_non_null(s);
    buf_init(&b, f->a);
    sym_print(&b, s);
    assert_string_equal(buf_str(&b), want);
}

static void
test_ring(void **state)
{
    struct fixture *f = *state;
    const struct sym *a = sym_add(f->c, f->m, num(f, 3));
    const struct sym *b = sym_sub(f->c, f->n, num(f, 5));

    assert_ptr_equal(sym_add(f->c, a, b), sym_add(f->c, b, a));
    assert_ptr_equal(sym_mul(f->c, a, b), sym_mul(f->c, b, a));
    assert_ptr_equal(sym_sub(f->c, sym_add(f->c, a, b), b), a);
    assert_ptr_equal(sym_mul(f->c, a, sym_add(f->c, a, b)),
                     sym_add(f->c, sym_mul(f->c, a, a), sym_mul(f->c, a, b)));
    assert_ptr_equal(sym_sub(f->c, a, a), num(f, 0));
    assert_false(sym_equal(a, b));
    assert_false(sym_equal(NULL, NULL));
}

static void
test_printing(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *n7 = sym_ceil_div(c, f->n, num(f, 8));

    assert_prints(f, n7, "(N + 7) / 8");
    assert_prints(f, sym_mul(c, f->n, f->m), "M * N");
    assert_prints(f, sym_mod(c, f->n, num(f, 4)), "N % 4");
    assert_prints(f, sym_min(c, f->m, num(f, 132)), "min(M, 132)");
    assert_prints(f, sym_mul(c, f->m, n7), "M * ((N + 7) / 8)");
    assert_prints(f, sym_sub(c, num(f, 8), f->n), "8 - N");
    assert_prints(f, sym_sub(c, num(f, 0), f->n), "0 - N");
    assert_prints(f, num(f, -3), "-3");
    assert_prints(f, num(f, 0), "0");
    assert_prints(f, sym_div(c, num(f, 7), f->m), "7 / M");
    assert_prints(f, sym_div(c, f->n, sym_mul(c, f->m, num(f, 2))),
                  "N / (2 * M)");
    assert_prints(f, sym_mul(c, num(f, 3), sym_sub(c, f->m, f->n)),
                  "3 * M - 3 * N");
}

static const char *
c_name(void *data, const char *name)
{
    (void)data;
    return strcmp(name, "N") == 0 ? "p.N" : name;
}

static void
test_printing_c(void **state)
{
    struct fixture *f = *state;
    struct buf b;

    buf_init(&b, f->a);
    sym_print_c(&b, sym_ceil_div(f->c, f->n, num(f, 8)), c_name, NULL);
    assert_string_equal(buf_str(&b), "fu_div(p.N + 7ll, 8ll)");
    buf_init(&b, f->a);
    sym_print_fusion(&b, sym_div(f->c, f->n, num(f, 8)));
    assert_string_equal(buf_str(&b), "N // 8");
}

static void
test_quotients(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *four = num(f, 4);
    const struct sym *n4 = sym_mul(c, f->n, four);

    assert_ptr_equal(sym_div(c, n4, four), f->n);
    assert_ptr_equal(sym_mod(c, n4, four), num(f, 0));
    assert_ptr_equal(sym_div(c, sym_mul(c, f->n, num(f, 2)), four),
                     sym_div(c, f->n, num(f, 2)));
    assert_ptr_equal(sym_div(c, sym_div(c, f->n, four), num(f, 2)),
                     sym_div(c, f->n, num(f, 8)));
    assert_ptr_equal(sym_div(c, sym_add(c, n4, num(f, 3)), four), f->n);
    assert_ptr_equal(sym_mod(c, sym_add(c, n4, num(f, 3)), four), num(f, 3));
    assert_ptr_equal(sym_div(c, sym_mul(c, f->m, f->n), f->n), f->m);
    assert_ptr_equal(sym_mod(c, sym_mul(c, f->m, f->n), f->n), num(f, 0));
    assert_ptr_equal(sym_div(c, sym_add(c, f->m, f->n), f->n),
                     sym_add(c, num(f, 1), sym_div(c, f->m, f->n)));
    /* (N // 4) * 4 isn't N unless that is promised. */
    assert_ptr_not_equal(sym_mul(c, sym_div(c, f->n, four), four), f->n);
    /* But with the remainder added it is, whatever stands beside it. */
    const struct sym *both = sym_add(
        c, sym_mul(c, sym_div(c, f->n, four), four), sym_mod(c, f->n, four));
    assert_ptr_equal(both, f->n);
    assert_ptr_equal(sym_mul(c, sym_add(c, f->m, both), f->m),
                     sym_mul(c, sym_add(c, f->m, f->n), f->m));
}

static void
test_negative_floor(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;

    assert_ptr_equal(sym_div(c, num(f, -7), num(f, 2)), num(f, -4));
    assert_ptr_equal(sym_mod(c, num(f, -7), num(f, 2)), num(f, 1));
    assert_ptr_equal(sym_div(c, num(f, 7), num(f, -2)), num(f, -4));
    assert_ptr_equal(sym_mod(c, num(f, 7), num(f, -2)), num(f, -1));
    assert_null(sym_div(c, f->n, num(f, 0)));
    assert_null(sym_mod(c, f->n, num(f, 0)));
}

static void
test_overflow(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *big = num(f, INT64_MAX);

    assert_null(sym_add(c, big, num(f, 1)));
    assert_null(sym_mul(c, big, num(f, 2)));
    assert_null(sym_mul(c, sym_mul(c, big, f->n), num(f, 2)));
    assert_null(sym_sub(c, num(f, INT64_MIN), num(f, 1)));
    assert_null(sym_div(c, num(f, INT64_MIN), num(f, -1)));
    assert_null(sym_add(c, NULL, f->n));
    assert_null(sym_min(c, f->n, NULL));

    /* A square of squares ends in NULL instead of without end. */
    const struct sym *s = sym_add(c, f->m, f->n);
    for (int i = 0; i < 40 && s != NULL; i++)
        s = sym_mul(c, s, sym_add(c, s, num(f, 1)));
    assert_null(s);
    s = f->n;
    for (int i = 0; i < 1000 && s != NULL; i++)
        s = sym_div(c, sym_add(c, s, num(f, 1)), f->m);
    assert_null(s);
}

static void
test_multiple_facts(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;

    sym_assume_multiple(c, f->n, 8);
    assert_ptr_equal(sym_mul(c, sym_div(c, f->n, num(f, 8)), num(f, 8)), f->n);
    assert_ptr_equal(sym_mul(c, sym_div(c, f->n, num(f, 4)), num(f, 4)), f->n);
    assert_ptr_equal(sym_mod(c, f->n, num(f, 4)), num(f, 0));
    assert_ptr_equal(sym_ceil_div(c, f->n, num(f, 8)),
                     sym_div(c, f->n, num(f, 8)));
    const struct sym *mn = sym_mul(c, f->m, f->n);
    assert_ptr_equal(sym_mul(c, sym_div(c, mn, num(f, 8)), num(f, 8)), mn);
    assert_ptr_equal(sym_div(c, mn, num(f, 8)),
                     sym_mul(c, f->m, sym_div(c, f->n, num(f, 8))));
    assert_true(sym_is_multiple(c, sym_mul(c, mn, num(f, 3)), 24));
    assert_false(sym_is_multiple(c, mn, 16));
    assert_false(sym_is_multiple(c, sym_add(c, f->n, num(f, 4)), 8));
    /* Q - N and -3 Q, Q = N // 4 made of 8s, meet in one form. */
    const struct sym *q = sym_div(c, f->n, num(f, 8));
    assert_ptr_equal(sym_sub(c, q, f->n), sym_mul(c, q, num(f, -7)));
}

static void
test_multiple_of_a_sum(void **state)
{
    struct fixture *f = *state;
    const struct sym *e = sym_add(f->c, f->m, f->n);

    sym_assume_multiple(f->c, e, 4);
    assert_true(sym_is_multiple(f->c, e, 2));
    assert_true(sym_is_multiple(f->c, sym_add(f->c, e, num(f, 8)), 4));
    assert_ptr_equal(sym_mul(f->c, sym_div(f->c, e, num(f, 4)), num(f, 4)), e);
    assert_false(sym_is_multiple(f->c, f->m, 2));
}

static void
test_equal_facts(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;

    sym_assume_equal(c, "M", sym_mul(c, f->n, num(f, 2)));
    assert_ptr_equal(sym_name(c, "M"), sym_mul(c, f->n, num(f, 2)));
    sym_assume_equal(c, "N", num(f, 21));
    assert_ptr_equal(sym_name(c, "M"), num(f, 42));
    /* A circle is not followed. */
    sym_assume_equal(c, "A", sym_name(c, "B"));
    sym_assume_equal(c, "B", sym_name(c, "A"));
    assert_ptr_equal(sym_name(c, "A"), sym_name(c, "B"));
}

static void
test_bounds(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    int64_t v;

    assert_true(sym_lower_bound(c, f->n, &v));
    assert_int_equal(v, 0);
    assert_false(sym_upper_bound(c, f->n, &v));
    sym_assume_range(c, "N", 1, 100);
    sym_assume_range(c, "M", 2, 7);
    const struct sym *e =
        sym_sub(c, sym_mul(c, f->m, f->n), sym_mul(c, num(f, 2), f->m));
    assert_true(sym_upper_bound(c, e, &v));
    assert_int_equal(v, 696);
    assert_true(sym_lower_bound(c, e, &v));
    assert_int_equal(v, -12);
    assert_ptr_equal(sym_div(c, f->n, num(f, 101)), num(f, 0));
    assert_ptr_equal(sym_mod(c, f->n, num(f, 101)), f->n);
    assert_ptr_equal(sym_min(c, f->n, num(f, 100)), f->n);
    assert_ptr_equal(sym_max(c, f->m, num(f, 1)), f->m);
    assert_true(sym_upper_bound(c, sym_mod(c, f->n, num(f, 9)), &v));
    assert_int_equal(v, 8);
    assert_true(sym_upper_bound(c, sym_div(c, f->n, f->m), &v));
    assert_int_equal(v, 100);
}

/* What intervals alone can't see: an atom against its own operand. */
static void
test_bounds_of_differences(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *n1 = sym_max(c, f->n, num(f, 1));
    const struct sym *half = sym_div(c, f->n, num(f, 2));
    int64_t v;

    assert_true(sym_lower_bound(c, sym_sub(c, f->n, half), &v));
    assert_int_equal(v, 0);
    assert_true(
        sym_lower_bound(c, sym_sub(c, f->n, sym_mul(c, half, num(f, 2))), &v));
    assert_int_equal(v, 0);
    assert_true(sym_lower_bound(c, sym_sub(c, f->n, sym_mod(c, f->m, n1)), &v));
    assert_int_equal(v, 0);
    assert_true(sym_upper_bound(c, sym_sub(c, half, f->n), &v));
    assert_int_equal(v, 0);
    assert_false(sym_lower_bound(c, sym_sub(c, f->n, f->m), &v));
    assert_false(
        sym_lower_bound(c, sym_sub(c, f->n, sym_mul(c, half, num(f, 3))), &v));
}

static void
test_linear(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *i = sym_name(c, "i"), *coef, *rest;
    const struct sym *e = sym_add(c, sym_mul(c, i, f->n), f->m);

    assert_true(sym_linear_in(c, e, "i", &coef, &rest));
    assert_ptr_equal(coef, f->n);
    assert_ptr_equal(rest, f->m);
    assert_true(sym_linear_in(c, f->m, "i", &coef, &rest));
    assert_ptr_equal(coef, num(f, 0));
    assert_false(sym_linear_in(c, sym_mul(c, i, i), "i", &coef, &rest));
    assert_false(sym_linear_in(c, sym_div(c, i, num(f, 2)), "i", &coef, &rest));
    assert_true(sym_uses(sym_div(c, i, num(f, 2)), "i"));
    assert_false(sym_uses(f->m, "i"));
}

static void
append_name(void *data, const char *name)
{
    buf_puts(data, name);
}

static void
test_symbols_are_sorted(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    struct buf b;
    const struct sym *e =
        sym_add(c, sym_mul(c, f->n, f->n), sym_div(c, sym_name(c, "Z"), f->m));

    buf_init(&b, f->a);
    sym_symbols(e, append_name, &b);
    assert_string_equal(buf_str(&b), "MNZ");
}

struct values {
    int64_t m, n;
};

static bool
lookup_value(void *data, const char *name, int64_t *ret)
{
    const struct values *v = data;

    *ret = name[0] == 'M' ? v->m : v->n;
    return name[1] == '\0' && (name[0] == 'M' || name[0] == 'N');
}

static double
estimate_value(void *data, const char *name)
{
    int64_t v = 0;

    lookup_value(data, name, &v);
    return (double)v;
}

static uint32_t
next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return a % b != 0 && (a % b < 0) != (b < 0) ? q - 1 : q;
}

/* One random operation on two syms and, beside them, on their values. */
static const struct sym *
random_step(struct fixture *f, uint32_t op, const struct sym *x,
            const struct sym *y, int64_t *vx, int64_t vy)
{
    struct sym_ctx *c = f->c;
    int64_t k = 1 + (int64_t)(op / 8 % 9), v = *vx;

    switch (op % 8) {
    case 0:
        *vx = v + vy;
        return sym_add(c, x, y);
    case 1:
        *vx = v - vy;
        return sym_sub(c, x, y);
    case 2:
        *vx = v * k;
        return sym_mul(c, x, num(f, k));
    case 3:
        *vx = floor_div(v, k);
        return sym_div(c, x, num(f, k));
    case 4:
        *vx = v - k * floor_div(v, k);
        return sym_mod(c, x, num(f, k));
    case 5:
        *vx = MIN(v, vy);
        return sym_min(c, x, y);
    case 6:
        *vx = MAX(v, vy);
        return sym_max(c, x, y);
    default:
        *vx = floor_div(v, -k);
        return sym_div(c, x, num(f, -k));
    }
}

/* Random chains of operations evaluate to what the operations give, under
 * facts that hold. */
static void
test_against_evaluation(void **state)
{
    struct fixture *f = *state;
    uint32_t seed = 1;

    sym_assume_multiple(f->c, f->n, 12);
    sym_assume_range(f->c, "M", 1, 50);
    for (int round = 0; round < 4000; round++) {
        struct values v = {1 + next_random(&seed) % 50,
                           12 * (next_random(&seed) % 9)};
        const struct sym *x = f->m, *y = f->n;
        int64_t vx = v.m, vy = v.n, got, lo, hi;

        for (int step = 0; step < 6 && x != NULL; step++) {
            x = random_step(f, next_random(&seed), x, y, &vx, vy);
            if (next_random(&seed) % 3 == 0) {
                y = step % 2 ? f->m : x;
                vy = step % 2 ? v.m : vx;
            }
        }
        assert_non_null(x);
        assert_true(sym_eval(x, lookup_value, &v, &got));
        assert_int_equal(got, vx);
        assert_true(sym_estimate(x, estimate_value, &v) == (double)vx);
        assert_true(!sym_lower_bound(f->c, x, &lo) || lo <= vx);
        assert_true(!sym_upper_bound(f->c, x, &hi) || hi >= vx);
        for (int64_t k = 2; k < 13; k++)
            assert_true(!sym_is_multiple(f->c, x, k) || vx % k == 0);
    }
}

static const struct sym *
subst_m(void *data, const char *name)
{
    return strcmp(name, "M") == 0 ? data : NULL;
}

static void
test_subst(void **state)
{
    struct fixture *f = *state;
    struct sym_ctx *c = f->c;
    const struct sym *e = sym_div(c, f->m, num(f, 4));
    const struct sym *by = sym_mul(c, f->n, num(f, 8));

    assert_ptr_equal(sym_subst(c, e, subst_m, (void *)(uintptr_t)by),
                     sym_mul(c, f->n, num(f, 2)));
}

static void
test_eval_refuses(void **state)
{
    struct fixture *f = *state;
    struct values v = {0, INT64_MAX};
    int64_t r;

    assert_false(sym_eval(sym_div(f->c, f->n, f->m), lookup_value, &v, &r));
    assert_false(
        sym_eval(sym_add(f->c, f->n, num(f, 1)), lookup_value, &v, &r));
    assert_false(sym_eval(sym_name(f->c, "Q"), lookup_value, &v, &r));
    assert_false(sym_eval(NULL, lookup_value, &v, &r));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ring),
        TEST(test_printing),
        TEST(test_printing_c),
        TEST(test_quotients),
        TEST(test_negative_floor),
        TEST(test_overflow),
        TEST(test_multiple_facts),
        TEST(test_multiple_of_a_sum),
        TEST(test_equal_facts),
        TEST(test_bounds),
        TEST(test_bounds_of_differences),
        TEST(test_linear),
        TEST(test_symbols_are_sorted),
        TEST(test_against_evaluation),
        TEST(test_subst),
        TEST(test_eval_refuses),
    };

    return cmocka_run_group_tests_name("sym", tests, NULL, NULL);
}
