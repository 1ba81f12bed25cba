/* SPDX-License-Identifier: Apache-2.0 */
/* op: the table of operations and the look-up of their names. */
#include "support/base.h"

#include "ir/op.h"

enum { MAX_NAME = 64, MAX_HINT_DISTANCE = 3 };

const struct op_info op_info[OP_COUNT] = {
#define OP(id, name, class, arity, type, flags, ulp, cost, ident, fl, in, ref) \
    [OP_##id] = {name, class, arity, type, flags, ulp, cost, ident, fl, in},
#include "ir/ops.def"
#undef OP
};

static bool
is_callable(unsigned op)
{
    return !(op_info[op].flags & (OPF_OPERATOR | OPF_INTERNAL));
}

bool
op_find(const char *name, enum op *ret)
{
    for (unsigned i = 0; i < OP_COUNT; i++) {
        if (is_callable(i) && strcmp(op_info[i].name, name) == 0) {
            *ret = (enum op)i;
            return true;
        }
    }
    return false;
}

/* One row of the edit-distance table: cur from the two rows before it. */
static unsigned
distance_row(const char *a, const char *b, size_t i, unsigned *rows[3])
{
    const unsigned *before = rows[0], *prev = rows[1];
    unsigned *cur = rows[2];
    unsigned least = (unsigned)i;

    cur[0] = (unsigned)i;
    for (size_t j = 1; j <= strlen(b); j++) {
        unsigned d = prev[j - 1] + (a[i - 1] != b[j - 1]);
        d = MIN(d, prev[j] + 1);
        d = MIN(d, cur[j - 1] + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            d = MIN(d, before[j - 2] + 1);
        cur[j] = d;
        least = MIN(least, d);
    }
    return least;
}

unsigned
op_edit_distance(const char *a, const char *b, unsigned limit)
{
    unsigned space[3][MAX_NAME + 1];
    unsigned *rows[3] = {space[0], space[1], space[2]};
    size_t n_a = strlen(a), n_b = strlen(b);

    if (n_a > MAX_NAME || n_b > MAX_NAME)
        return limit + 1;
    for (unsigned j = 0; j <= n_b; j++)
        rows[2][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned *oldest = rows[0];
        rows[0] = rows[1];
        rows[1] = rows[2];
        rows[2] = oldest;
        if (distance_row(a, b, i, rows) > limit)
            return limit + 1;
    }
    return MIN(rows[2][n_b], limit + 1);
}

const char *
op_nearest(const char *name)
{
    /* A short name must not be replaced whole. */
    unsigned limit = MIN(MAX_HINT_DISTANCE, (unsigned)strlen(name) / 2);
    unsigned best = limit + 1;
    const char *ret = NULL;

    for (unsigned i = 0; i < OP_COUNT; i++) {
        if (!is_callable(i))
            continue;
        unsigned d = op_edit_distance(name, op_info[i].name, limit);
        if (d < best) {
            best = d;
            ret = op_info[i].name;
        }
    }
    return ret;
}
