/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations against itself: what the flags claim holds for the
 * reference on random values, identities are neutral, spellings name exactly
 * the operands; and the constants that simplify folds are those of IEEE 754. */
#include "support/base.h"

#include "ir/op_ref.h"

#include "ir/simplify_impl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROUNDS = 3000 };

static uint64_t
next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed >> 11;
}

/* Small integers, where + and * are exact, and the special values. */
static double
random_double(uint64_t *seed)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
    uint64_t r = next_random(seed);

    return r % 8 == 0 ? special[r / 8 % ARRAY_LEN(special)]
                      : (double)(r / 8 % 33) - 16;
}

static int64_t
random_int(uint64_t *seed, enum dtype t)
{
    uint64_t r = next_random(seed);

    return op_wrap((int64_t)(r % 3 == 0 ? r << 13 ^ r : r % 17 - 8), t);
}

static bool
same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static bool
is_binary(unsigned op)
{
    enum op_class class = op_info[op].class;

    return (class == OC_POINTWISE && op_info[op].arity == 2) ||
           class == OC_REDUCE || class == OC_SCAN;
}

/* A sum of 0.0 and -0.0 is 0.0 whatever the order, so signs count too. */
static void
check_double(unsigned op, const double *x)
{
    op_double_fn *f = op_ref_double[op];
    unsigned flags = op_info[op].flags;
    double y[2] = {x[1], x[0]}, l[2] = {f(x), x[2]};
    double tail[2] = {x[1], x[2]}, r[2] = {x[0], f(tail)}, z[2] = {x[0], x[0]};

    if (flags & OPF_COMMUTES)
        assert_true(same(f(x), f(y)));
    if ((flags & OPF_ASSOC) && op_info[op].ulp == 0)
        assert_true(same(f(l), f(r)));
    if (flags & OPF_IDEMPOTENT)
        assert_true(same(f(z), x[0]));
}

static void
check_long(unsigned op, const double *x)
{
    long double l[3] = {x[0], x[1], x[2]};

    if (op != OP_NEXTAFTER && op_info[op].ulp == 0)
        assert_true(same((double)op_ref_long[op](l), op_ref_double[op](x)));
}

static void
test_flags_on_floats(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (!is_binary(op) || op_info[op].spell_float == NULL)
            continue;
        for (int i = 0; i < ROUNDS; i++) {
            double x[3] = {random_double(&seed), random_double(&seed),
                           random_double(&seed)};

            check_double(op, x);
            check_long(op, x);
        }
    }
}

static void
check_int(unsigned op, enum dtype t, const int64_t *x)
{
    op_int_fn *f = op_ref_int[op];
    unsigned flags = op_info[op].flags;
    int64_t y[2] = {x[1], x[0]}, z[2] = {x[0], x[0]}, v = f(x, t);

    if (op_info[op].type == OT_BOOL)
        assert_in_range(v, 0, 1);
    else
        assert_int_equal(v, op_wrap(v, t));
    if (!is_binary(op))
        return;
    if (flags & OPF_COMMUTES)
        assert_int_equal(v, f(y, t));
    if (flags & OPF_ASSOC) {
        int64_t l[2] = {v, x[2]}, tail[2] = {x[1], x[2]},
                r[2] = {x[0], f(tail, t)};

        assert_int_equal(f(l, t), f(r, t));
    }
    if (flags & OPF_IDEMPOTENT)
        assert_int_equal(f(z, t), x[0]);
}

static void
test_flags_on_integers(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        for (unsigned t = DT_BOOL; t <= DT_U8; t++) {
            bool logic = op_info[op].type == OT_LOGIC;

            if (op_ref_int[op] == NULL || (logic && t != DT_BOOL))
                continue;
            for (int i = 0; i < ROUNDS / 4; i++) {
                int64_t x[3] = {random_int(&seed, t), random_int(&seed, t),
                                random_int(&seed, t)};

                check_int(op, t, x);
            }
        }
    }
}

static void
test_unary_idempotent(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (op_info[op].class != OC_POINTWISE || op_info[op].arity != 1 ||
            !(op_info[op].flags & OPF_IDEMPOTENT))
            continue;
        for (int i = 0; i < ROUNDS; i++) {
            double x = random_double(&seed) / 4, y = op_ref_double[op](&x);

            assert_true(same(op_ref_double[op](&y), y));
        }
    }
}

static void
test_identities(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        bool folds =
            op_info[op].class == OC_REDUCE || op_info[op].class == OC_SCAN;

        assert_int_equal(folds, op_info[op].ident != NULL);
        for (int i = 0; folds && i < ROUNDS; i++) {
            double x[2] = {op_identity(op), random_double(&seed)};
            int64_t k[2] = {op_identity_int(op, DT_I16),
                            random_int(&seed, DT_I16)};

            /* 0.0 + -0.0 is 0.0: equal, but for the sign. */
            if (op_info[op].spell_float != NULL)
                assert_true(same(op_ref_double[op](x), x[1]) ||
                            (x[1] == 0 && op_ref_double[op](x) == 0));
            if (op_info[op].type != OT_LOGIC)
                assert_int_equal(op_ref_int[op](k, DT_I16), k[1]);
        }
    }
    assert_int_equal(op_identity_int(OP_ALL, DT_BOOL), 1);
    assert_int_equal(op_identity_int(OP_MAX, DT_U8), 0);
    assert_int_equal(op_identity_int(OP_MIN, DT_I64), INT64_MAX);
}

/* Exactly %0 .. %(n - 1), each at least once. */
static void
check_spelling(const char *s, unsigned n)
{
    unsigned seen = 0;

    for (; s != NULL && (s = strchr(s, '%')) != NULL; s++) {
        assert_in_range(s[1], '0', '0' + n - 1);
        seen |= 1u << (s[1] - '0');
    }
    assert_int_equal(seen, (1u << n) - 1);
}

static void
test_spellings(void **state)
{
    (void)state;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        const struct op_info *info = &op_info[op];
        unsigned n = is_binary(op) ? 2 : (unsigned)info->arity;

        if (info->spell_float != NULL)
            check_spelling(info->spell_float, n);
        if (info->spell_int != NULL)
            check_spelling(info->spell_int, n);
        if (info->class == OC_POINTWISE || info->class == OC_REDUCE)
            assert_true(info->spell_float != NULL || info->spell_int != NULL);
    }
}

static void
test_names(void **state)
{
    enum op op = OP_COUNT;

    (void)state;
    for (unsigned i = 0; i < OP_COUNT; i++) {
        bool callable = !(op_info[i].flags & (OPF_INTERNAL | OPF_OPERATOR));

        assert_int_equal(op_find(op_info[i].name, &op) && op == i, callable);
        for (unsigned k = 0; callable && k < i; k++)
            assert_string_not_equal(op_info[i].name, op_info[k].name);
    }
    assert_false(op_find("input", &op));
    assert_false(op_find("+", &op));
    assert_string_equal(op_nearest("sigmiod"), "sigmoid");
    assert_string_equal(op_nearest("Exp"), "exp");
    assert_null(op_nearest("qq"));
    assert_null(op_nearest("completely_else"));
}

static void
test_edit_distance(void **state)
{
    (void)state;
    assert_int_equal(op_edit_distance("kitten", "sitting", 9), 3);
    assert_int_equal(op_edit_distance("abcd", "acbd", 9), 1);
    assert_int_equal(op_edit_distance("", "abc", 9), 3);
    assert_int_equal(op_edit_distance("abc", "abc", 0), 0);
    assert_int_equal(op_edit_distance("abcdef", "uvwxyz", 2), 3);
}

static double
real(enum op op, double a, double b)
{
    double x[2] = {a, b};

    return op_ref_double[op](x);
}

static void
test_meanings(void **state)
{
    (void)state;
    assert_true(same(real(OP_MAXIMUM, -0.0, 0.0), 0.0));
    assert_true(same(real(OP_MINIMUM, 0.0, -0.0), -0.0));
    assert_true(isnan(real(OP_MAXIMUM, NAN, 1)));
    assert_true(same(real(OP_RELU, -0.0, 0), 0.0));
    assert_true(real(OP_ROUND, 2.5, 0) == 2 && real(OP_ROUND, -3.5, 0) == -4);
    assert_true(real(OP_MOD, -7, 3) == 2 && real(OP_MOD, 7, -3) == -2);
    assert_true(real(OP_FMOD, -7, 3) == -1);
    /* The floor of the exact quotient, whole though the rounded one is. */
    assert_true(real(OP_FLOORDIV, 1, (double)0.1f) == 9);
    assert_true(real(OP_FLOORDIV, 1 - 0x1p-53, 0x1p-60) == 0x1p60 - 0x1p7);
    assert_true(real(OP_FLOORDIV, 0.3, 0.1) == 2);
    assert_true(real(OP_FLOORDIV, -1, 1e300) == -1);
    assert_true(same(real(OP_FLOORDIV, -1, INFINITY), -0.0));
    assert_true(real(OP_FLOORDIV, -1, 0) == -(double)INFINITY);
    assert_true(real(OP_NEXTAFTER, 1, 2) == 1 + 0x1p-23);
    assert_true(isnan(real(OP_SIGN, NAN, 0)));
    assert_true(real(OP_SIGMOID, -1000, 0) == 0);
    assert_true(isnan(real(OP_SILU, -INFINITY, 0)));
    for (int i = -27; i <= 27; i++) {
        double x = 0.037 * i;
        assert_true(fabs(erf(real(OP_ERFINV, x, 0)) - x) < 4e-16);
    }
    assert_true(isinf(real(OP_ERFINV, 1, 0)) && isnan(real(OP_ERFINV, 2, 0)));
}

static int64_t
whole(enum op op, enum dtype t, int64_t a, int64_t b)
{
    int64_t x[2] = {a, b};

    return op_ref_int[op](x, t);
}

static void
test_integer_meanings(void **state)
{
    (void)state;
    assert_int_equal(whole(OP_ADD, DT_I8, 127, 1), -128);
    assert_int_equal(whole(OP_FLOORDIV, DT_I32, -7, 2), -4);
    assert_int_equal(whole(OP_FLOORDIV, DT_I32, INT32_MIN, -1), INT32_MIN);
    assert_int_equal(whole(OP_FLOORDIV, DT_I64, 5, 0), 0);
    assert_int_equal(whole(OP_MOD, DT_I32, -7, 3), 2);
    assert_int_equal(whole(OP_POW, DT_I32, -1, -3), -1);
    assert_int_equal(whole(OP_POW, DT_I32, 2, -1), 0);
    assert_int_equal(whole(OP_POW, DT_U8, 3, 6), 729 % 256);
    assert_int_equal(whole(OP_SHL, DT_I8, 1, 9), 2);
    assert_int_equal(whole(OP_SHR, DT_I16, -8, 1), -4);
    assert_int_equal(whole(OP_BITNOT, DT_BOOL, 1, 0), 0);
    assert_int_equal(whole(OP_BITNOT, DT_U8, 1, 0), 254);
}

/* In f32 the folded operation is that of the machine. */
static void
test_fold_is_ieee(void **state)
{
    static const enum op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV};
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint32_t bits[2] = {(uint32_t)next_random(&seed),
                            (uint32_t)next_random(&seed)};
        volatile float a, b, want;
        float raw[2];
        enum op op = ops[i % 4];

        memcpy(raw, bits, sizeof(raw));
        a = raw[0];
        b = raw[1];
        struct constant x[3] = {{DT_F32, 0, (double)a}, {DT_F32, 0, (double)b}},
                        r;
        want = op == OP_ADD   ? a + b
               : op == OP_SUB ? a - b
               : op == OP_MUL ? a * b
                              : a / b;
        assert_true(op_fold(op, DT_F32, x, &r));
        assert_true(same(r.f, (double)want));
    }
}

static void
test_fold_refuses(void **state)
{
    struct constant x[3] = {{DT_F32, 0, 1}, {DT_F32, 0, 2}}, r;

    (void)state;
    assert_false(op_fold(OP_EXP, DT_F32, x, &r));
    assert_false(op_fold(OP_CAST, DT_I32, x, &r));
    assert_false(op_fold(OP_CAST, DT_BF16, x, &r));
    assert_false(op_fold(OP_LT, DT_BOOL, x, &r));
    x[0] = (struct constant){DT_I64, 300, 0};
    assert_true(op_fold(OP_CAST, DT_U8, x, &r));
    assert_int_equal(r.i, 44);
}

static void
test_dtype_holds(void **state)
{
    (void)state;
    assert_true(dtype_holds(DT_F32, DT_BF16));
    assert_true(dtype_holds(DT_F16, DT_F8E5M2));
    assert_false(dtype_holds(DT_F16, DT_BF16));
    assert_false(dtype_holds(DT_BF16, DT_F16));
    assert_true(dtype_holds(DT_F32, DT_I16));
    assert_false(dtype_holds(DT_F32, DT_I32));
    assert_true(dtype_holds(DT_F64, DT_I32));
    assert_true(dtype_holds(DT_BF16, DT_U8));
    assert_false(dtype_holds(DT_I8, DT_U8));
    assert_true(dtype_holds(DT_I16, DT_U8));
    assert_false(dtype_holds(DT_U8, DT_I8));
    assert_false(dtype_holds(DT_BOOL, DT_I8));
    assert_true(dtype_holds(DT_U8, DT_BOOL));
}

static void
test_promotion(void **state)
{
    (void)state;
    assert_int_equal(dtype_promote(DT_BF16, DT_BF16), DT_F32);
    assert_int_equal(dtype_promote(DT_F16, DT_F64), DT_F64);
    assert_int_equal(dtype_promote(DT_I64, DT_F16), DT_F32);
    assert_int_equal(dtype_promote(DT_U8, DT_I8), DT_I16);
    assert_int_equal(dtype_promote(DT_U8, DT_I32), DT_I32);
    assert_int_equal(dtype_promote(DT_BOOL, DT_I8), DT_I8);
    for (unsigned a = 0; a < DT_COUNT; a++) {
        for (unsigned b = 0; b < DT_COUNT; b++)
            assert_int_equal(dtype_promote(a, b), dtype_promote(b, a));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_on_floats),
        cmocka_unit_test(test_flags_on_integers),
        cmocka_unit_test(test_unary_idempotent),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_edit_distance),
        cmocka_unit_test(test_meanings),
        cmocka_unit_test(test_integer_meanings),
        cmocka_unit_test(test_fold_is_ieee),
        cmocka_unit_test(test_fold_refuses),
        cmocka_unit_test(test_dtype_holds),
        cmocka_unit_test(test_promotion),
    };

    return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
