/* SPDX-License-Identifier: Apache-2.0 */
/* The checker as a judge of long sums (field case 31): right sums of a weight
 * gradient pass at every length, one dropped row doesn't. With random terms the
 * bound grows with the length until a row is less; with integer terms every sum
 * is exact and any row is seen. */
#include "support/base.h"

#include "ir/check.h"

#include "ir/inputs.h"
#include "tests/unit/front_fixture.h"

#include "support/arena.h"
#include "support/buf.h"

enum { COLUMNS = 3, PARTIALS = 132 };

static const char program[] =
    "fusion f(dy: f32[M, N], xhat: f32[M, N]) -> (dgamma: f32[N])\n"
    "{ dgamma = sum(dy * xhat, axis=0); }\n";
static const int64_t lengths[] = {16, 1000, 30000, 1000000};

struct problem {
    struct eval *eval;
    struct tensor dy, xhat, out;
    int64_t rows, marked;
};

static struct tensor
matrix(struct arena *a, int64_t rows, const char *form, uint64_t stream)
{
    struct tensor t = {.dtype = DT_F32, .rank = 2, .shape = {rows, COLUMNS}};
    struct input_spec spec;

    assert_true(input_spec_parse(form, &spec));
    tensor_row_major(&t);
    t.data = arena_alloc(a, (size_t)(rows * COLUMNS) * sizeof(float));
    input_fill(&spec, &t, 31, stream, 1);
    return t;
}

/* A row whose terms are all ones, so that it is missed in every column. */
static void
mark_row(struct problem *p)
{
    p->marked = p->rows / 3;
    for (int64_t i = p->marked * COLUMNS; i < (p->marked + 1) * COLUMNS; i++)
        ((float *)p->dy.data)[i] = ((float *)p->xhat.data)[i] = 1;
}

static struct problem
problem_of(struct fixture *f, int64_t rows, const char *form)
{
    struct problem p = {.rows = rows};
    struct buf why;

    buf_init(&why, f->a);
    p.dy = matrix(f->a, rows, form, 0);
    p.xhat = matrix(f->a, rows, form, 1);
    p.out = (struct tensor){.dtype = DT_F32, .rank = 1, .shape = {COLUMNS}};
    tensor_row_major(&p.out);
    p.out.data = arena_alloc(f->a, COLUMNS * sizeof(float));
    mark_row(&p);
    p.eval = eval_new(f->a, graph_of(f, program), 1);
    eval_bind_tensor(p.eval, 0, &p.dy);
    eval_bind_tensor(p.eval, 1, &p.xhat);
    assert_true(eval_run(p.eval, &why));
    return p;
}

/* As a kernel does it: partial sums of interleaved rows, then their sum. */
static void
sum_columns(struct problem *p, int64_t without)
{
    const float *dy = p->dy.data, *xhat = p->xhat.data;

    for (int c = 0; c < COLUMNS; c++) {
        float total = 0;

        for (int64_t k = 0; k < PARTIALS; k++) {
            float part = 0;

            for (int64_t r = k; r < p->rows; r += PARTIALS)
                if (r != without)
                    part += dy[r * COLUMNS + c] * xhat[r * COLUMNS + c];
            total += part;
        }
        ((float *)p->out.data)[c] = total;
    }
}

static struct check_report
judge(struct problem *p, int64_t without, bool exact)
{
    struct eval_values ref = eval_result(p->eval, 0, NULL, 0);

    sum_columns(p, without);
    return check_output(&ref, &p->out, exact);
}

static void
test_integers(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct problem p = problem_of(f, lengths[i], "ints(-3,3)");
        struct check_report r = judge(&p, -1, true);

        assert_true(check_passed(&r));
        assert_int_equal(r.exact, COLUMNS);
        r = judge(&p, p.marked, true);
        assert_int_equal(r.wrong, COLUMNS);
    }
}

static void
test_random(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct problem p = problem_of(f, lengths[i], "normal(0,1)");
        struct check_report r = judge(&p, -1, false);

        assert_true(check_passed(&r));
        assert_true(r.max_units < 0.5);
        r = judge(&p, p.marked, false);
        if (lengths[i] <= 30000)
            assert_int_equal(r.wrong, COLUMNS);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
