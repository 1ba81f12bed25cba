/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy: any bytes as a .npy file. What is accepted is stored into tensors
 * of every type and of two layouts; stored in its own type, it is written as a
 * file that reads back as the same. */
#include "support/base.h"

#include "harness.h"

#include "ir/eval_num.h"
#include "ir/npy.h"
#include "support/arena.h"
#include "support/buf.h"

enum { MOST_ELEMENTS = 1 << 20 };

/* False for a tensor that no program makes: its type may be wider than the
 * file's, and extents count although another is 0. */
static bool
make_tensor(struct arena *a, const struct npy *n, enum dtype t, int64_t gap,
            struct tensor *ret)
{
    int64_t extent, stride = 1;

    *ret = (struct tensor){.dtype = t, .rank = n->rank};
    for (int d = n->rank - 1; d >= 0; d--) {
        ret->shape[d] = n->shape[d];
        ret->strides[d] = stride;
        if (__builtin_mul_overflow(stride, n->shape[d] + (d ? gap : 0),
                                   &stride))
            return false;
    }
    if (!tensor_extent(ret, &extent) || extent > MOST_ELEMENTS)
        return false;
    ret->data = arena_array(a, (size_t)extent, dtype_info[t].bytes);
    return true;
}

static void
check_round_trip(struct arena *a, const struct tensor *t)
{
    struct tensor again;
    const char *why;
    struct buf b, c;
    struct npy n;

    buf_init(&b, a);
    npy_write(&b, t);
    if (!npy_parse(b.data, b.len, &n, &why))
        BUG("a written file is refused: %s", why);
    if (!make_tensor(a, &n, t->dtype, 0, &again))
        BUG("a tensor that was made cannot be made again");
    if (!npy_store(&n, &again, &why))
        BUG("a written file does not fit: %s", why);
    buf_init(&c, a);
    npy_write(&c, &again);
    if (b.len != c.len || memcmp(b.data, c.data, b.len) != 0)
        BUG("a file is written differently the second time");
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    const char *why = NULL;
    struct npy n;

    if (!npy_parse(text, len, &n, &why)) {
        if (!why || !*why)
            BUG("a file was refused without a reason");
        return;
    }
    for (int t = 0; t < DT_COUNT; t++) {
        for (int64_t gap = 0; gap < 4; gap += 3) {
            struct tensor to;

            if (!make_tensor(a, &n, (enum dtype)t, gap, &to))
                continue;
            /* A type without a NumPy name is written as f32, and f8 saturates
             * on the way back. */
            if (npy_store(&n, &to, &why) && dtype_info[t].np[0])
                check_round_trip(a, &to);
        }
    }
}
