/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fallback_index: views as index functions.
 *
 * Indices are symbolic expressions in normal form, so that a chain of views
 * folds by itself: a flip of a flip, the slices of a stencil, a reshape there
 * and back give the index they began with, and equal indices are one pointer.
 */
#include "support/base.h"

#include "lower/lower_fallback.h"

#include "support/arena.h"

static const struct sym *
zero(struct fb *fb)
{
    return sym_int(fb->syms, 0);
}

static bool
is_int(const struct sym *s, int64_t v)
{
    int64_t x;

    return sym_is_int(s, &x) && x == v;
}

static void
index_map(struct fb *fb, const struct node *n, const struct sym *const *idx,
          const struct sym **ret)
{
    const struct node *arg = graph_node(fb->g, n->args[0]);

    for (int d = 0; d < arg->rank; d++)
        ret[d] = zero(fb);
    for (int d = 0; d < n->rank; d++)
        if (n->map[d] != NO_DIM && !is_int(arg->dims[n->map[d]], 1))
            ret[n->map[d]] = idx[d];
}

static void
index_slice(struct fb *fb, const struct node *n, const struct sym *const *idx,
            const struct sym **ret)
{
    for (int d = 0; d < n->rank; d++)
        ret[d] =
            sym_add(fb->syms, n->start[d],
                    sym_mul(fb->syms, sym_int(fb->syms, n->step[d]), idx[d]));
}

static void
index_flip(struct fb *fb, const struct node *n, const struct sym *const *idx,
           const struct sym **ret)
{
    for (int d = 0; d < n->rank; d++) {
        ret[d] = idx[d];
        if (n->flag[d])
            ret[d] = sym_sub(
                fb->syms, sym_sub(fb->syms, n->dims[d], sym_int(fb->syms, 1)),
                idx[d]);
    }
}

/* --- reshape -------------------------------------------------------------- */

/* Dimensions of extent other than 1. */
struct wide {
    int n;
    int dim[MAX_RANK];
    const struct sym *extent[MAX_RANK];
};

static struct wide
wide_dims(const struct node *n)
{
    struct wide w = {0};

    for (int d = 0; d < n->rank; d++) {
        if (is_int(n->dims[d], 1))
            continue;
        w.dim[w.n] = d;
        w.extent[w.n++] = n->dims[d];
    }
    return w;
}

static const struct sym *
product(struct fb *fb, const struct wide *w, int from, int n)
{
    const struct sym *p = sym_int(fb->syms, 1);

    for (int i = from; i < from + n; i++)
        p = sym_mul(fb->syms, p, w->extent[i]);
    return p;
}

/* The fewest dimensions on both sides, from a and b on, that hold the same
 * number of elements: all the rest when none fewer are known to. */
static void
next_group(struct fb *fb, const struct wide *x, int a, const struct wide *y,
           int b, int *ret)
{
    for (int total = 2; total < x->n - a + y->n - b; total++) {
        for (int i = 1; i < total; i++) {
            if (i > x->n - a || total - i > y->n - b)
                continue;
            if (sym_equal(product(fb, x, a, i), product(fb, y, b, total - i))) {
                ret[0] = i;
                ret[1] = total - i;
                return;
            }
        }
    }
    ret[0] = x->n - a;
    ret[1] = y->n - b;
}

static const struct sym *
linear_index(struct fb *fb, const struct wide *y, int from, int n,
             const struct sym *const *idx)
{
    const struct sym *at = zero(fb);

    for (int i = from; i < from + n; i++)
        at = sym_add(fb->syms, sym_mul(fb->syms, at, y->extent[i]),
                     idx[y->dim[i]]);
    return at;
}

static void
split_index(struct fb *fb, const struct wide *x, int from, int n,
            const struct sym *at, const struct sym **ret)
{
    for (int i = from + n; i-- > from;) {
        const struct sym *e = x->extent[i];

        if (is_int(e, 0)) {
            ret[x->dim[i]] = zero(fb);
            continue;
        }
        ret[x->dim[i]] = i == from ? at : sym_mod(fb->syms, at, e);
        if (i != from)
            at = sym_div(fb->syms, at, e);
    }
}

static void
index_reshape(struct fb *fb, const struct node *n, const struct sym *const *idx,
              const struct sym **ret)
{
    const struct node *arg = graph_node(fb->g, n->args[0]);
    struct wide x = wide_dims(arg), y = wide_dims(n);
    int a = 0, b = 0, size[2];

    for (int d = 0; d < arg->rank; d++)
        ret[d] = zero(fb);
    while (a < x.n) {
        next_group(fb, &x, a, &y, b, size);
        split_index(fb, &x, a, size[0], linear_index(fb, &y, b, size[1], idx),
                    ret);
        a += size[0];
        b += size[1];
    }
}

static fb_index_fn *const index_of[OP_COUNT] = {
    [OP_BROADCAST] = index_map,   [OP_PERMUTE] = index_map,
    [OP_SQUEEZE] = index_map,     [OP_UNSQUEEZE] = index_map,
    [OP_SLICE] = index_slice,     [OP_FLIP] = index_flip,
    [OP_RESHAPE] = index_reshape,
};

void
fb_view_index(struct fb *fb, node_id id, const struct sym *const *idx,
              const struct sym *by, const struct sym **ret)
{
    const struct node *n = graph_node(fb->g, id);

    if (n->op == OP_SELECT_INDEX) {
        for (int d = 0; d < n->rank; d++)
            ret[d < n->dim ? d : d + 1] = idx[d];
        ret[n->dim] = by;
        return;
    }
    if (!index_of[n->op])
        BUG("no index function for '%s'", op_info[n->op].name);
    index_of[n->op](fb, n, idx, ret);
}
