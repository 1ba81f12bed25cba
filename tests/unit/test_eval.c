/* SPDX-License-Identifier: Apache-2.0 */
/* The reference interpreter against loops written out here, its bounds against
 * f32 arithmetic, and the checker that is made of both. */
#include "support/base.h"

#include "ir/eval.h"

#include "ir/check.h"
#include "ir/inputs.h"
#include "support/arena.h"
#include "support/buf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
    struct arena *a;
    struct sym_ctx *c;
    struct graph *g;
};

static int
setup(void **state)
{
    struct arena *a = arena_new();
    struct fixture *f = NEW(a, struct fixture);

    f->a = a;
    f->c = sym_ctx_new(a);
    f->g = graph_new(a, f->c, "f");
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

/* A node of the given type whose shape is listed, ended by -1. */
static struct node
shaped(struct fixture *f, enum op op, enum dtype t, const int64_t *shape)
{
    struct node n = {.op = op, .dtype = t};

    while (shape[n.rank] >= 0) {
        n.dims[n.rank] = sym_int(f->c, shape[n.rank]);
        n.step[n.rank] = 1;
        n.start[n.rank] = sym_int(f->c, 0);
        n.map[n.rank] = n.rank;
        n.rank++;
    }
    return n;
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, -1})
#define SCALAR ((const int64_t[]){-1})

static node_id
with_args(struct fixture *f, struct node n, uint32_t count, node_id a,
          node_id b)
{
    node_id args[2] = {a, b};

    n.args = args;
    n.n_args = count;
    return graph_add(f->g, &n);
}

static node_id
input(struct fixture *f, const char *name, enum dtype t, const int64_t *shape)
{
    struct node n = shaped(f, OP_INPUT, t, shape);
    struct param *p;

    f->g->params = arena_grow(f->a, f->g->params, f->g->n_params,
                              f->g->n_params + 1, sizeof(*f->g->params));
    p = &f->g->params[f->g->n_params];
    *p = (struct param){.kind = PARAM_TENSOR,
                        .name = name,
                        .dtype = t,
                        .rank = n.rank,
                        .align = 1};
    memcpy(p->dims, n.dims, sizeof(p->dims));
    n.param = f->g->n_params++;
    return graph_add(f->g, &n);
}

static node_id
binary(struct fixture *f, enum op op, enum dtype t, const int64_t *shape,
       node_id a, node_id b)
{
    return with_args(f, shaped(f, op, t, shape), 2, a, b);
}

static node_id
reduce(struct fixture *f, enum op op, enum dtype t, const int64_t *shape,
       node_id a, int dim)
{
    struct node n = shaped(f, op, t, shape);

    n.flag[dim] = true;
    return with_args(f, n, 1, a, 0);
}

/* Row values of shape [m] stretched to [m, n]. */
static node_id
stretch_rows(struct fixture *f, enum dtype t, const int64_t *shape, node_id a)
{
    struct node n = shaped(f, OP_BROADCAST, t, shape);

    n.map[0] = 0;
    n.map[1] = NO_DIM;
    return with_args(f, n, 1, a, 0);
}

static void
result(struct fixture *f, const char *name, enum dtype t, node_id node)
{
    const struct node *n = graph_node(f->g, node);
    struct result *r;

    f->g->results = arena_grow(f->a, f->g->results, f->g->n_results,
                               f->g->n_results + 1, sizeof(*f->g->results));
    r = &f->g->results[f->g->n_results++];
    *r = (struct result){.name = name,
                         .node = node,
                         .dtype = t,
                         .rank = n->rank,
                         .align = 1,
                         .inplace = -1};
    memcpy(r->dims, n->dims, sizeof(r->dims));
}

static struct tensor
tensor(struct fixture *f, enum dtype t, const int64_t *shape)
{
    struct tensor r = {.dtype = t};

    while (shape[r.rank] >= 0) {
        r.shape[r.rank] = shape[r.rank];
        r.rank++;
    }
    tensor_row_major(&r);
    r.data = arena_alloc(f->a, (size_t)tensor_count(&r) * 8 + 8);
    return r;
}

/* An extent of 0 makes a tensor empty and no size fit. */
static void
test_tensor_sizes(void **state)
{
    const int64_t huge = INT64_C(92233720368547758);
    struct tensor t = {.rank = 5, .shape = {huge, 700, 2, 0, 2}};
    int64_t extent;

    (void)state;
    tensor_row_major(&t);
    assert_int_equal(tensor_count(&t), 0);
    assert_false(tensor_extent(&t, &extent));
    t = (struct tensor){.rank = 3, .shape = {huge, 0, 2}};
    tensor_row_major(&t);
    assert_int_equal(tensor_count(&t), 0);
    assert_true(tensor_extent(&t, &extent));
    assert_int_equal(extent, 0);
    t.shape[1] = 3;
    tensor_row_major(&t);
    assert_int_equal(tensor_count(&t), 6 * huge);
    assert_true(tensor_extent(&t, &extent));
    assert_int_equal(extent, 6 * huge);
    t.strides[1] = -1;
    assert_false(tensor_extent(&t, &extent));
}

static struct tensor
normal(struct fixture *f, enum dtype t, const int64_t *shape, uint64_t seed)
{
    struct tensor r = tensor(f, t, shape);
    struct input_spec s = {INPUT_NORMAL, 0, 1};

    input_fill(&s, &r, seed, input_stream("x"), 2);
    return r;
}

static struct eval *
run(struct fixture *f, unsigned threads, uint32_t n, const struct tensor *in)
{
    struct eval *e = eval_new(f->a, f->g, threads);
    struct buf why;

    buf_init(&why, f->a);
    for (uint32_t i = 0; i < n; i++)
        eval_bind_tensor(e, i, &in[i]);
    if (!eval_run(e, &why))
        fail_msg("%s", buf_str(&why));
    return e;
}

/* --- Reductions ----------------------------------------------------------- */

/* The variance of each row, as the prelude writes it, against long double and
 * against plain f32 arithmetic, which must lie within the bound. */
static void
test_row_variance(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(37, 1003), *m = SHAPE(37);
    struct tensor x = normal(f, DT_F32, mn, 1), out = tensor(f, DT_F32, m);
    const float *v = x.data;
    struct node count = shaped(f, OP_CONST, DT_F32, m);
    node_id in = input(f, "x", DT_F32, mn), n, mean, d, var;
    struct eval_values got;
    struct check_report r;

    count.value.f = 1003;
    n = graph_add(f->g, &count);
    mean = binary(f, OP_DIV, DT_F32, m, reduce(f, OP_SUM, DT_F32, m, in, 1), n);
    d = binary(f, OP_SUB, DT_F32, mn, in, stretch_rows(f, DT_F32, mn, mean));
    var = reduce(f, OP_SUM, DT_F32, m, binary(f, OP_MUL, DT_F32, mn, d, d), 1);
    result(f, "v", DT_F32, binary(f, OP_DIV, DT_F32, m, var, n));
    got = eval_result(run(f, 2, 1, &x), 0, NULL, 0);
    assert_int_equal(got.n_rows * got.row_len, 37);
    for (int i = 0; i < 37; i++) {
        long double sum = 0, square = 0;
        float sum32 = 0, square32 = 0;
        for (int k = 0; k < 1003; k++) {
            sum += v[i * 1003 + k];
            sum32 += v[i * 1003 + k];
        }
        for (int k = 0; k < 1003; k++) {
            long double t = v[i * 1003 + k] - sum / 1003;
            float t32 = v[i * 1003 + k] - sum32 / 1003;
            square += t * t;
            square32 += t32 * t32;
        }
        assert_true(fabsl(got.f[i] - square / 1003) <= 1.3e-7L);
        assert_true(got.err[i] > 0 && got.err[i] < 1e-4);
        ((float *)out.data)[i] = square32 / 1003;
    }
    r = check_output(&got, &out, false);
    assert_true(check_passed(&r));
    ((float *)out.data)[5] *= 1.001f;
    r = check_output(&got, &out, false);
    assert_false(check_passed(&r));
    assert_int_equal(r.wrong, 1);
    assert_int_equal(r.worst, 5);
}

/* Column sums, cut differently for threads and not, give the same bits. */
static void
test_column_sum(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(5000, 70), *n = SHAPE(70);
    struct tensor x = normal(f, DT_BF16, mn, 2);
    struct eval_values one, two;

    result(f, "s", DT_F32,
           reduce(f, OP_SUM, DT_F32, n, input(f, "x", DT_BF16, mn), 0));
    one = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    two = eval_result(run(f, 7, 1, &x), 0, NULL, 0);
    for (int k = 0; k < 70; k++) {
        long double sum = 0;
        for (int i = 0; i < 5000; i++)
            sum += num_load(DT_BF16, x.data, i * 70 + k);
        assert_true(fabsl(one.f[k] - sum) <= 1e-4);
        assert_true(one.f[k] == two.f[k] && one.err[k] == two.err[k]);
    }
}

static void
test_integers_are_exact(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(64, 300), *m = SHAPE(64);
    struct input_spec s = {INPUT_INTS, -2, 2};
    struct tensor x = tensor(f, DT_F32, mn), out = tensor(f, DT_F32, m);
    node_id in = input(f, "x", DT_F32, mn);
    struct eval_values got;
    struct check_report r;

    input_fill(&s, &x, 3, 0, 1);
    result(
        f, "s", DT_F32,
        reduce(f, OP_SUM, DT_F32, m, binary(f, OP_MUL, DT_F32, mn, in, in), 1));
    got = eval_result(run(f, 2, 1, &x), 0, NULL, 0);
    for (int i = 0; i < 64; i++) {
        float sum = 0;
        for (int k = 0; k < 300; k++)
            sum +=
                ((float *)x.data)[i * 300 + k] * ((float *)x.data)[i * 300 + k];
        assert_true(got.f[i] == (double)sum && got.err[i] == 0);
        ((float *)out.data)[i] = sum;
    }
    r = check_output(&got, &out, true);
    assert_true(check_passed(&r));
    assert_int_equal(r.exact, 64);
    ((float *)out.data)[7] = nextafterf(((float *)out.data)[7], 1e9f);
    r = check_output(&got, &out, true);
    assert_int_equal(r.wrong, 1);
}

/* First index wins, NaN wins, and a tie within the bound is undecided. */
static void
test_argmax(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(4, 5), *m = SHAPE(4);
    static const float rows[4][5] = {{1, 3, 2, 3, 0},
                                     {-1, -2, -1, -5, -9},
                                     {1, 2, (float)NAN, 9, (float)NAN},
                                     {0, 1, 2, 3, 4}};
    struct tensor x = tensor(f, DT_F32, mn);
    node_id in = input(f, "x", DT_F32, mn), e;
    struct node exp = shaped(f, OP_EXP, DT_F32, mn);
    struct eval_values got;

    memcpy(x.data, rows, sizeof(rows));
    result(f, "i", DT_I64, reduce(f, OP_ARGMAX, DT_I64, m, in, 1));
    e = with_args(f, exp, 1, in, 0);
    result(f, "j", DT_I64, reduce(f, OP_ARGMAX, DT_I64, m, e, 1));
    got = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    assert_int_equal(got.i[0], 1);
    assert_int_equal(got.i[1], 0);
    assert_int_equal(got.i[2], 2);
    assert_int_equal(got.i[3], 4);
    assert_true(got.err[0] == 0 && got.err[1] == 0);
    got = eval_result(run(f, 1, 1, &x), 1, NULL, 0);
    assert_true(isinf(got.err[0]) && isinf(got.err[1]));
    assert_true(got.err[2] == 0 && got.err[3] == 0 && got.i[3] == 4);
}

static void
test_reductions_of_nothing(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(3, 0), *m = SHAPE(3);
    struct tensor x = tensor(f, DT_F32, mn);
    node_id in = input(f, "x", DT_F32, mn);
    struct eval *e;

    result(f, "s", DT_F32, reduce(f, OP_SUM, DT_F32, m, in, 1));
    result(f, "p", DT_F32, reduce(f, OP_PROD, DT_F32, m, in, 1));
    result(f, "m", DT_F32, reduce(f, OP_MAX, DT_F32, m, in, 1));
    result(f, "i", DT_I64, reduce(f, OP_ARGMAX, DT_I64, m, in, 1));
    e = run(f, 1, 1, &x);
    assert_true(eval_result(e, 0, NULL, 0).f[2] == 0);
    assert_true(eval_result(e, 1, NULL, 0).f[2] == 1);
    assert_true(eval_result(e, 2, NULL, 0).f[2] == -(double)INFINITY);
    assert_int_equal(eval_result(e, 3, NULL, 0).i[2], -1);
}

/* Rows of four terms: what their sum and product are, and whether every order
 * of adding and multiplying them in f32 gives that. */
static void
test_special_terms(void **state)
{
    enum { ROWS = 9 };
    const float inf = (float)INFINITY;
    const float rows[ROWS][4] = {
        {1, inf, 2, 0.1f},         {inf, -inf, 1, 1},
        {1, NAN, inf, 1},          {3e38f, 3e38f, -3e38f, 0.1f},
        {3e38f, 3e38f, 3e38f, 1},  {-3e38f, -3e38f, inf, 1},
        {1e30f, 1e30f, 1e-30f, 1}, {0.5f, -inf, 2, 3},
        {1e-30f, 1e-30f, 0.1f, 1},
    };
    const double sums[ROWS] = {INFINITY, NAN,  NAN,       0,  INFINITY,
                               0,        2e30, -INFINITY, 1.1};
    const bool sum_decided[ROWS] = {true,  true, true, false, true,
                                    false, true, true, true};
    const double products[ROWS] = {INFINITY,  -INFINITY, NAN,
                                   -INFINITY, INFINITY,  INFINITY,
                                   0,         -INFINITY, 0};
    const bool product_decided[ROWS] = {true, true,  true, true, true,
                                        true, false, true, true};
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(ROWS, 4), *m = SHAPE(ROWS);
    struct tensor x = tensor(f, DT_F32, mn);
    node_id in = input(f, "x", DT_F32, mn);
    struct eval_values s, p;
    struct eval *e;

    memcpy(x.data, rows, sizeof(rows));
    result(f, "s", DT_F32, reduce(f, OP_SUM, DT_F32, m, in, 1));
    result(f, "p", DT_F32, reduce(f, OP_PROD, DT_F32, m, in, 1));
    e = run(f, 1, 1, &x);
    s = eval_result(e, 0, NULL, 0);
    p = eval_result(e, 1, NULL, 0);
    for (int i = 0; i < ROWS; i++) {
        assert_true((s.err[i] < (double)INFINITY) == sum_decided[i]);
        assert_true((p.err[i] < (double)INFINITY) == product_decided[i]);
        if (sum_decided[i])
            assert_true(isnan(sums[i]) ? isnan(s.f[i])
                        : isinf(sums[i])
                            ? s.f[i] == sums[i] && s.err[i] == 0
                            : fabs(s.f[i] - sums[i]) <= 1e-6 * sums[i]);
        if (product_decided[i])
            assert_true(isnan(products[i])   ? isnan(p.f[i])
                        : isinf(products[i]) ? p.f[i] == products[i]
                                             : p.err[i] < 1e-44);
    }
}

/* --- Views ---------------------------------------------------------------- */

/* x[i, j] = 1000 i + j as i32. */
static struct tensor
numbered(struct fixture *f, int64_t m, int64_t n)
{
    struct tensor x = tensor(f, DT_I32, SHAPE(m, n));

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            ((int32_t *)x.data)[i * n + j] = (int32_t)(1000 * i + j);
    return x;
}

static void
test_views(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(30, 40);
    struct tensor x = numbered(f, 30, 40);
    node_id in = input(f, "x", DT_I32, mn);
    struct node slice = shaped(f, OP_SLICE, DT_I32, SHAPE(10, 40));
    struct node flip = shaped(f, OP_FLIP, DT_I32, SHAPE(10, 40));
    struct node turn = shaped(f, OP_PERMUTE, DT_I32, SHAPE(40, 10));
    struct node flat = shaped(f, OP_RESHAPE, DT_I32, SHAPE(16, 25));
    struct eval_values got;
    node_id v;

    slice.start[0] = sym_int(f->c, 2);
    slice.step[0] = 3;
    flip.flag[1] = true;
    turn.map[0] = 1;
    turn.map[1] = 0;
    v = with_args(f, slice, 1, in, 0);
    v = with_args(f, flip, 1, v, 0);
    v = with_args(f, turn, 1, v, 0);
    v = with_args(f, flat, 1, v, 0);
    result(f, "v", DT_I32, v);
    got = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    for (int64_t k = 0; k < 400; k++) {
        int64_t col = 39 - k / 10, row = 2 + 3 * (k % 10);
        assert_int_equal(got.i[k], 1000 * row + col);
    }
}

static void
test_joins(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(3, 40);
    struct tensor x = numbered(f, 3, 40);
    node_id in = input(f, "x", DT_I32, mn), fill, padded, both;
    struct node pad = shaped(f, OP_PAD, DT_I32, SHAPE(5, 45));
    struct node cat = shaped(f, OP_CAT, DT_I32, SHAPE(5, 90));
    struct node minus = shaped(f, OP_CONST, DT_I32, SCALAR);
    struct eval_values got;

    minus.value.i = -7;
    fill = graph_add(f->g, &minus);
    pad.start[0] = sym_int(f->c, 1);
    pad.start[1] = sym_int(f->c, 2);
    padded = with_args(f, pad, 2, in, fill);
    cat.dim = 1;
    both = with_args(f, cat, 2, padded, padded);
    result(f, "v", DT_I32, both);
    got = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    for (int64_t i = 0; i < 5; i++)
        for (int64_t j = 0; j < 90; j++) {
            int64_t r = i - 1, c = j % 45 - 2;
            bool in_x = r >= 0 && r < 3 && c >= 0 && c < 40;
            assert_int_equal(got.i[i * 90 + j], in_x ? 1000 * r + c : -7);
        }
}

/* --- Bounds --------------------------------------------------------------- */

/* exp(x) near a rounding boundary of bf16 may go either way; elsewhere a cast
 * forgets the error. */
static void
test_cast_bounds(void **state)
{
    struct fixture *f = *state;
    const int64_t *n = SHAPE(2);
    struct tensor x = tensor(f, DT_F32, n);
    struct node exp = shaped(f, OP_EXP, DT_F32, n);
    struct node cast = shaped(f, OP_CAST, DT_BF16, n);
    node_id v;
    struct eval_values got;

    ((float *)x.data)[0] = logf(1.00390625f + 0.0078125f); /* a tie */
    ((float *)x.data)[1] = logf(1.01f);
    v = with_args(f, exp, 1, input(f, "x", DT_F32, n), 0);
    v = with_args(f, cast, 1, v, 0);
    result(f, "v", DT_BF16, v);
    got = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    assert_true(got.err[0] == 0x1p-7);
    assert_true(got.err[1] == 0);
    assert_true(got.f[1] == 0x1.02p0);
}

/* A comparison of values that may be equal, and an overflow. */
static void
test_undecided(void **state)
{
    struct fixture *f = *state;
    const int64_t *n = SHAPE(3);
    struct tensor x = tensor(f, DT_F32, n);
    struct node exp = shaped(f, OP_EXP, DT_F32, n);
    node_id in = input(f, "x", DT_F32, n), e, one;
    struct node c = shaped(f, OP_CONST, DT_F32, n);
    struct eval_values got;
    struct eval *run_of;

    ((float *)x.data)[0] = 0;
    ((float *)x.data)[1] = 1;
    ((float *)x.data)[2] = 89;
    c.value.f = 1;
    one = graph_add(f->g, &c);
    e = with_args(f, exp, 1, in, 0);
    result(f, "b", DT_BOOL, binary(f, OP_LE, DT_BOOL, n, e, one));
    result(f, "e", DT_F32, e);
    run_of = run(f, 1, 1, &x);
    got = eval_result(run_of, 0, NULL, 0);
    assert_true(got.err[1] == 0 && got.i[1] == 0);
    got = eval_result(run_of, 1, NULL, 0);
    assert_true(got.f[2] == (double)INFINITY && got.err[2] == 0);
}

/* What the larger of two values is within has no jumps, in f64 neither, where
 * the ends of a bound are rounded themselves. */
static void
test_continuous(void **state)
{
    struct fixture *f = *state;
    const int64_t *n = SHAPE(100);
    struct tensor x = normal(f, DT_F64, n, 5);
    struct node exp = shaped(f, OP_EXP, DT_F64, n);
    node_id in = input(f, "x", DT_F64, n), e;
    struct eval_values got;

    e = with_args(f, exp, 1, in, 0);
    result(f, "v", DT_F64, binary(f, OP_MAXIMUM, DT_F64, n, e, in));
    got = eval_result(run(f, 1, 1, &x), 0, NULL, 0);
    for (int i = 0; i < 100; i++)
        assert_true(got.err[i] > 0 && got.err[i] < 1e-12);
}

static void
test_rows(void **state)
{
    struct fixture *f = *state;
    const int64_t *mn = SHAPE(100, 300);
    struct tensor x = normal(f, DT_F16, mn, 9);
    node_id in = input(f, "x", DT_F16, mn);
    int64_t rows[3] = {0, 41, 99}, n;
    const int64_t big[2] = {100000, 1000};
    struct eval_values got;
    const int64_t *some;

    result(f, "v", DT_F16, binary(f, OP_ADD, DT_F32, mn, in, in));
    got = eval_result(run(f, 2, 1, &x), 0, rows, 3);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 300; k++)
            assert_true(got.f[i * 300 + k] ==
                        2 * num_load(DT_F16, x.data, rows[i] * 300 + k));
    assert_null(check_rows(f->a, 2, (const int64_t[]){100, 300}, 1, &n));
    some = check_rows(f->a, 2, big, 1, &n);
    assert_true(n > 200 && some[0] == 0 && some[n - 1] == 99999);
}

static void
test_rounding(void **state)
{
    (void)state;
    for (uint32_t u = 0; u < 65536; u++) {
        uint16_t h = (uint16_t)u, back;
        double x = num_load(DT_F16, &h, 0), y = num_load(DT_BF16, &h, 0);
        num_store(DT_F16, &back, 0, x);
        assert_true(isnan(x) || back == h);
        num_store(DT_BF16, &back, 0, y);
        assert_true(isnan(y) || back == h);
    }
    for (uint32_t u = 0; u < 256; u++) {
        uint8_t h = (uint8_t)u, back;
        double x = num_load(DT_F8E4M3, &h, 0);
        num_store(DT_F8E4M3, &back, 0, x);
        assert_true(isnan(x) || back == h);
        x = num_load(DT_F8E5M2, &h, 0);
        num_store(DT_F8E5M2, &back, 0, x);
        assert_true(isnan(x) || isinf(x) || back == h);
    }
    assert_true(num_round(DT_F8E4M3, 1e9) == 448);
    assert_true(num_round(DT_F8E5M2, -(double)INFINITY) == -57344);
    assert_true(num_round(DT_F16, 65519.99) == 65504);
    assert_true(isinf(num_round(DT_F16, 65520)));
    assert_true(num_round(DT_BF16, 1.00390625) == 1);
    assert_true(num_round(DT_F16, 0x1p-25) == 0);
    assert_true(num_round(DT_F16, 0x1.8p-25) == 0x1p-24);
    assert_int_equal(num_to_int(DT_I8, 300.5L), 127);
    assert_int_equal(num_to_int(DT_I32, (long double)NAN), 0);
    assert_int_equal(num_wrap(DT_U8, -1), 255);
}

static void
test_inputs(void **state)
{
    struct fixture *f = *state;
    struct tensor a = normal(f, DT_F32, SHAPE(1000, 200), 4);
    struct input_spec s;
    double sum = 0, square = 0;

    for (int i = 0; i < 200000; i++) {
        double x = ((float *)a.data)[i];
        sum += x;
        square += x * x;
    }
    assert_true(fabs(sum / 200000) < 0.01);
    assert_true(fabs(square / 200000 - 1) < 0.02);
    assert_true(input_spec_parse("ints(-3,4)", &s) && s.a == -3 && s.b == 4);
    assert_false(input_spec_parse("ints(4,3)", &s));
    assert_false(input_spec_parse("normal(0,1", &s));
    assert_false(input_spec_parse("normal(0,1)x", &s));
    assert_false(input_spec_parse("poisson(1,2)", &s));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_tensor_sizes),  T(test_row_variance),
        T(test_column_sum),    T(test_integers_are_exact),
        T(test_argmax),        T(test_reductions_of_nothing),
        T(test_special_terms), T(test_views),
        T(test_joins),         T(test_cast_bounds),
        T(test_undecided),     T(test_continuous),
        T(test_rows),          T(test_rounding),
        T(test_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
