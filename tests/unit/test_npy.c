/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files: what is written reads back; types and layouts convert; hostile
 * headers are refused without a look beyond the file. */
#include "support/base.h"

#include "ir/npy.h"

#include "support/arena.h"
#include "support/buf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int
setup(void **state)
{
    *state = arena_new();
    return 0;
}

static int
teardown(void **state)
{
    arena_free(*state);
    return 0;
}

/* A version 1 file with this dictionary and n bytes of data, 0 1 2 ... */
static size_t
file_of(unsigned char *to, const char *dict, size_t n)
{
    size_t len = strlen(dict);

    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (unsigned char)(len & 0xff);
    to[9] = (unsigned char)(len >> 8);
    memcpy(to + 10, dict, len);
    for (size_t i = 0; i < n; i++)
        to[10 + len + i] = (unsigned char)i;
    return 10 + len + n;
}

static bool
parses(const char *dict, size_t n, struct npy *ret)
{
    unsigned char file[1024];
    size_t len = file_of(file, dict, n);
    unsigned char *exact = malloc(len);
    const char *why;
    bool ok;

    assert_non_null(exact);
    memcpy(exact, file, len); /* so that a sanitizer sees its end */
    ok = npy_parse(exact, len, ret, &why);
    assert_true(ok || why);
    free(exact);
    return ok;
}

static void
test_accepts(void **state)
{
    struct npy n;

    (void)state;
    assert_true(parses("{'descr': '<f4', 'fortran_order': False, "
                       "'shape': (2, 3), }   \n",
                       24, &n));
    assert_int_equal(n.rank, 2);
    assert_int_equal(n.shape[1], 3);
    assert_true(parses("{'shape': (4,), 'fortran_order': False, "
                       "'descr': '|u1'}",
                       4, &n));
    assert_int_equal(n.rank, 1);
    assert_true(parses("{'descr': '<f8', 'fortran_order': False, "
                       "'shape': ()}",
                       8, &n));
    assert_int_equal(n.rank, 0);
    assert_true(parses("{'descr': '<f2', 'fortran_order': False, "
                       "'shape': (0, 4611686018427387903)}",
                       0, &n));
}

static void
test_refuses(void **state)
{
    static const struct {
        const char *dict;
        size_t bytes;
    } bad[] = {
        {"", 0},
        {"{", 0},
        {"{'descr': '<f4'}", 4},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,)}", 4},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", 3},
        {"{'descr': '|f1', 'fortran_order': False, 'shape': (1,)}", 1},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(4611686018427387904, 4)}",
         0},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': "
         "(2305843009213693952,)}",
         0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(99999999999999999999,)}",
         0},
        /* Too large before the extent of 0 and without it. */
        {"{'descr': '|u1', 'fortran_order': False, 'shape': "
         "(92233720368547758, 700, 2, 0, 2)}",
         0},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': "
         "(0, 9223372036854775807)}",
         0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': "
         "(1,1,1,1,1,1,1,1,1)}",
         4},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
         "'shape': (1,)}",
         4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4},
        {"{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (1,)}", 4},
    };
    struct npy n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (parses(bad[i].dict, bad[i].bytes, &n))
            fail_msg("taken: %s", bad[i].dict);
}

/* Every cut of a good file, and headers that claim more than there is. */
static void
test_cut_short(void **state)
{
    unsigned char file[256];
    size_t len = file_of(file,
                         "{'descr': '<f4', 'fortran_order': False, "
                         "'shape': (2,)}",
                         8);
    const char *why;
    struct npy n;

    (void)state;
    for (size_t k = 0; k < len; k++) {
        unsigned char *cut = malloc(k + 1);
        assert_non_null(cut);
        memcpy(cut, file, k);
        assert_false(npy_parse(cut, k, &n, &why));
        free(cut);
    }
    file[6] = 2; /* a length of four bytes that swallows the dictionary */
    assert_false(npy_parse(file, len, &n, &why));
    file[6] = 9;
    assert_false(npy_parse(file, len, &n, &why));
}

static void
test_round_trip(void **state)
{
    static const float values[6] = {1, -2.5f, 3, 0.1f, -0.0f, 1e30f};
    struct arena *a = *state;
    float data[12] = {0}, back[6];
    struct tensor t = {.data = data,
                       .dtype = DT_F32,
                       .rank = 2,
                       .shape = {2, 3},
                       .strides = {6, 2}};
    struct tensor plain = {.data = back,
                           .dtype = DT_F32,
                           .rank = 2,
                           .shape = {2, 3},
                           .strides = {3, 1}};
    const char *why;
    struct npy n;
    struct buf b;

    for (int64_t i = 0; i < 6; i++)
        data[tensor_offset(&t, i)] = values[i];
    buf_init(&b, a);
    npy_write(&b, &t);
    assert_int_equal(b.len % 64, 24);
    assert_true(npy_parse(b.data, b.len, &n, &why));
    assert_true(npy_store(&n, &plain, &why));
    assert_memory_equal(back, values, sizeof(back));
    memset(data, 0, sizeof(data));
    assert_true(npy_store(&n, &t, &why));
    assert_true(data[2] == -2.5f && data[1] == 0 && data[6] == 0.1f);
    plain.shape[1] = 2;
    assert_false(npy_store(&n, &plain, &why));
}

/* Widened on the way out, rounded or taken as bits on the way in. */
static void
test_storage_types(void **state)
{
    struct arena *a = *state;
    uint16_t bits[2] = {0x3f80, 0xc040}, back[2]; /* 1, -3 */
    struct tensor t = {.data = bits,
                       .dtype = DT_BF16,
                       .rank = 1,
                       .shape = {2},
                       .strides = {1}};
    struct tensor u = t;
    struct npy n = {
        .kind = 'u', .bytes = 2, .rank = 1, .shape = {2}, .data = bits};
    const double doubles[2] = {1.00390625, -3};
    const char *why;
    struct buf b;

    u.data = back;
    buf_init(&b, a);
    npy_write(&b, &t);
    assert_non_null(strstr(b.data + 10, "'<f4'"));
    assert_true(npy_store(&n, &u, &why));
    assert_memory_equal(back, bits, sizeof(bits));
    n.kind = 'f';
    n.bytes = 8;
    n.data = doubles;
    assert_true(npy_store(&n, &u, &why));
    assert_memory_equal(back, bits, sizeof(bits));
    n.kind = 'i';
    assert_false(npy_store(&n, &u, &why));
    u.dtype = DT_F16;
    n.kind = 'u';
    n.bytes = 2;
    assert_false(npy_store(&n, &u, &why));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_accepts),    T(test_refuses),       T(test_cut_short),
        T(test_round_trip), T(test_storage_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
