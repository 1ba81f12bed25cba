/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions and statements: folding, printing, what the verifier refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"
#include "support/arena.h"
#include "support/buf.h"

static struct arena *a;
static struct kernel *k;
static struct kbuild b;

static int
setup(void **state)
{
    (void)state;
    a = arena_new();
    k = NEW(a, struct kernel);
    k->symbol = "fu_test_v0_k0";
    k->threads = 128;
    k->min_blocks = 1;
    k->cluster = 1;
    b = (struct kbuild){a, &k->body};
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    arena_free(a);
    return 0;
}

static const char *
listing(void)
{
    struct buf text;

    buf_init(&text, a);
    kernel_print(&text, k);
    return buf_str(&text);
}

/* Why the kernel is refused, or NULL. */
static const char *
refusal(void)
{
    struct buf why;

    buf_init(&why, a);
    return kernel_verify(k, &why) ? NULL : buf_str(&why);
}

static void
add_param(const char *ctype, const char *name)
{
    struct kparam p = {ctype, name};

    VEC_PUSH(a, &k->params, p);
}

static const struct kexpr *
bin(const char *op, const struct kexpr *x, const struct kexpr *y)
{
    return ke_bin(a, op, x, y);
}

static void
test_index_arithmetic_is_folded(void **state)
{
    const struct kexpr *x = ke_var(a, "x"), *e;

    (void)state;
    e = bin("*", ke_int(a, 6), ke_int(a, 7));
    assert_int_equal(e->kind, KE_INT);
    assert_int_equal(e->value.i, 42);
    assert_ptr_equal(bin("+", x, ke_int(a, 0)), x);
    assert_ptr_equal(bin("+", ke_int(a, 0), x), x);
    assert_ptr_equal(bin("*", ke_int(a, 1), x), x);
    assert_ptr_equal(bin("/", x, ke_int(a, 1)), x);
    assert_int_equal(bin("*", x, ke_int(a, 0))->value.i, 0);
    assert_int_equal(bin("%", x, ke_int(a, 1))->kind, KE_INT);
    assert_int_equal(bin("-", ke_int(a, 0), x)->kind, KE_BIN);
    assert_int_equal(bin("/", ke_int(a, 7), ke_int(a, 0))->kind, KE_BIN);
    assert_int_equal(bin("%", x, ke_int(a, 2))->kind, KE_BIN);
}

static void
test_products_that_overflow_stay(void **state)
{
    const struct kexpr *big = ke_int(a, INT64_C(1) << 40);

    (void)state;
    assert_int_equal(bin("*", big, big)->kind, KE_BIN);
}

static void
test_printing(void **state)
{
    const struct kexpr *x, *args[2];
    struct kbuild in;

    (void)state;
    k->comment = "Twice.";
    add_param("const float *", "p_x");
    add_param("const fu_i64", "d_N");
    in = kb_unroll(&b, "o", ke_int(a, 0), ke_var(a, "d_N"), ke_int(a, 1));
    x = kb_let(&in, "float", "v_x",
               ke_call(a, "fu_load", NULL, 2, ke_var(a, "p_x"),
                       bin("*", bin("+", ke_var(a, "o"), ke_int(a, 2)),
                           ke_int(a, 3))));
    args[0] = x;
    args[1] = ke_const_float(a, DT_F32, 0.5);
    in = kb_if(&in, bin("<", ke_var(a, "o"), ke_int(a, 9)));
    kb_var(&in, "float", "v_y", ke_op(a, OP_ADD, DT_F32, 2, args));
    kb_array(&in, "float", "t", 4, NULL);
    kb_assign(&in, ke_elem(a, ke_var(a, "t"), ke_int(a, 1)),
              ke_cast(a, DT_F32, DT_BF16, ke_var(a, "v_y")));
    assert_null(refusal());
    assert_string_equal(listing(),
                        "kernel fu_test_v0_k0 threads 128 blocks_per_sm 1\n"
                        "  # Twice.\n"
                        "  param const float * p_x\n"
                        "  param const fu_i64 d_N\n"
                        "  for int o = 0 to d_N step 1 unroll\n"
                        "    let float v_x = fu_load(p_x, (o + 2) * 3)\n"
                        "    if o < 9\n"
                        "      var float v_y = +.f32(v_x, 0.5:f32)\n"
                        "      var float t[4]\n"
                        "      t[1] = cast.f32.bf16(v_y)\n");
}

static void
test_else_and_return(void **state)
{
    struct kbuild in = kb_if(&b, ke_const_int(a, DT_BOOL, 1)), other;

    (void)state;
    kb_comment(&in, "one %d", 1);
    other = kb_else(&b);
    kb_return(&other);
    assert_null(refusal());
    assert_string_equal(listing(),
                        "kernel fu_test_v0_k0 threads 128 blocks_per_sm 1\n"
                        "  if 1:bool\n"
                        "    # one 1\n"
                        "  else\n"
                        "    return\n");
}

static void
test_symbols_are_variables(void **state)
{
    struct sym_ctx *c = sym_ctx_new(a);
    const struct sym *i = sym_name(c, "$i");

    (void)state;
    assert_int_equal(ke_sym(a, i)->kind, KE_VAR);
    assert_string_equal(ke_sym(a, i)->name, "i");
    assert_int_equal(ke_sym(a, sym_int(c, 3))->kind, KE_INT);
    kb_eval(&b, ke_call(a, "fu_i64", NULL, 1,
                        ke_sym(a, sym_add(c, i, sym_int(c, 1)))));
    assert_non_null(refusal());
    add_param("const fu_i64", "i");
    assert_null(refusal());
}

static void
test_undeclared_names_are_refused(void **state)
{
    (void)state;
    kb_let(&b, "int", "x", ke_var(a, "y"));
    assert_string_equal(refusal(), "used but not declared: 'y'");
}

static void
test_scopes_end(void **state)
{
    struct kbuild in = kb_if(&b, ke_const_int(a, DT_BOOL, 1));

    (void)state;
    kb_let(&in, "int", "x", ke_int(a, 1));
    kb_let(&b, "int", "y", ke_var(a, "x"));
    assert_string_equal(refusal(), "used but not declared: 'x'");
}

static void
test_names_are_declared_once(void **state)
{
    struct kbuild in;

    (void)state;
    kb_let(&b, "int", "x", ke_int(a, 1));
    in = kb_if(&b, ke_const_int(a, DT_BOOL, 1));
    kb_let(&in, "int", "x", ke_int(a, 2));
    assert_string_equal(refusal(), "declared twice: 'x'");
}

static void
test_other_things_are_refused(void **state)
{
    const struct kexpr *one = ke_int(a, 1);

    (void)state;
    kb_eval(&b, ke_call(a, "printf", NULL, 0));
    assert_string_equal(refusal(),
                        "call of something that is no primitive: 'printf'");
    k->body.stmts.n = 0;
    kb_eval(&b, ke_op(a, OP_ADD, DT_F32, 1, &one));
    assert_string_equal(refusal(), "wrong number of operands: '+'");
    k->body.stmts.n = 0;
    kb_let(&b, "int", "a b", one);
    assert_string_equal(refusal(), "not an identifier: 'a b'");
    k->body.stmts.n = 0;
    kb_for(&b, "int", "i", one, one, ke_int(a, 0));
    assert_string_equal(refusal(), "step of a loop isn't positive: 'i'");
    k->body.stmts.n = 0;
    kb_comment(&b, "two\nlines");
    assert_non_null(refusal());
    k->body.stmts.n = 0;
    k->threads = 2048;
    assert_non_null(refusal());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_index_arithmetic_is_folded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_products_that_overflow_stay, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_printing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_else_and_return, setup, teardown),
        cmocka_unit_test_setup_teardown(test_symbols_are_variables, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_undeclared_names_are_refused,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_scopes_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_are_declared_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_other_things_are_refused, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
