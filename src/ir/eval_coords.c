/* SPDX-License-Identifier: Apache-2.0 */
/* Views as changes of coordinates. Affine coordinates stay affine through every
 * view but a reshape across a row's end; then the coordinates are listed. */
#include "support/base.h"

#include "ir/eval_impl.h"

static struct axis
fixed(int64_t at)
{
    return (struct axis){.base = at};
}

static bool
moves(const struct coords *c)
{
    for (int d = 0; d < c->rank; d++)
        if (c->ax[d].idx || c->ax[d].step != 0)
            return true;
    return false;
}

static bool
same_axis(const struct axis *a, const struct axis *b, int n)
{
    if (a->idx || b->idx)
        return a->idx && b->idx &&
               (a->idx == b->idx ||
                memcmp(a->idx, b->idx, (size_t)n * sizeof(int64_t)) == 0);
    return a->base == b->base && a->step == b->step;
}

static bool
same_coords(const struct coords *a, const struct coords *b)
{
    if (a->rank != b->rank || a->n != b->n)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (!same_axis(&a->ax[d], &b->ax[d], a->n))
            return false;
    return true;
}

const struct coords *
coords_intern(struct worker *w, const struct coords *c)
{
    struct coords *copy = worker_coords(w);

    *copy = *c;
    if (!moves(copy))
        copy->n = 1;
    for (uint32_t i = 0; i < w->known.n; i++)
        if (same_coords(w->known.v[i], copy))
            return w->known.v[i];
    VEC_PUSH(w->arena, &w->known, copy);
    return copy;
}

int
coords_chunk(const int64_t *shape, int rank, const bool *over, int64_t first,
             int64_t end)
{
    int64_t row = 1, n = MIN(end - first, TILE);

    for (int d = rank - 1; d >= 0; d--)
        if (over[d]) {
            row = shape[d];
            break;
        }
    if (row >= 256)
        n = MIN(n, row - first % row);
    return (int)n;
}

/* Decomposes first + k for all k, one dimension at a time from the last. */
static void
list_range(struct worker *w, struct coords *c, const int64_t *shape,
           const bool *over, int64_t first)
{
    int64_t below = 1;

    for (int d = c->rank - 1; d >= 0; d--) {
        int64_t *idx;
        if (!over[d])
            continue;
        idx = worker_slab(w);
        for (int k = 0; k < c->n; k++)
            idx[k] = (first + k) / below % shape[d];
        c->ax[d] = (struct axis){.idx = idx};
        below *= shape[d];
    }
}

void
coords_range(struct worker *w, struct coords *c, const int64_t *shape,
             const bool *over, int64_t first, int n)
{
    int64_t rest = first;
    bool last = true;

    c->n = n;
    for (int d = c->rank - 1; d >= 0; d--) {
        if (!over[d])
            continue;
        if (last && rest % shape[d] + n > shape[d] && n > 1) {
            list_range(w, c, shape, over, first);
            return;
        }
        c->ax[d] =
            (struct axis){.base = rest % shape[d], .step = last && n > 1};
        rest /= shape[d];
        last = false;
    }
}

bool
coords_offsets(struct worker *w, const struct coords *c, const int64_t *strides,
               struct axis *ret)
{
    bool affine = true;
    int64_t *idx;

    *ret = fixed(0);
    for (int d = 0; d < c->rank; d++) {
        if (c->ax[d].idx) {
            affine = false;
            continue;
        }
        ret->base += c->ax[d].base * strides[d];
        ret->step += c->ax[d].step * strides[d];
    }
    if (affine)
        return true;
    idx = worker_slab(w);
    for (int k = 0; k < c->n; k++)
        idx[k] = ret->base + ret->step * k;
    for (int d = 0; d < c->rank; d++)
        if (c->ax[d].idx)
            for (int k = 0; k < c->n; k++)
                idx[k] += c->ax[d].idx[k] * strides[d];
    ret->idx = idx;
    return false;
}

static void
row_major(const int64_t *shape, int rank, int64_t *ret)
{
    int64_t s = 1;

    for (int d = rank - 1; d >= 0; d--) {
        ret[d] = s;
        s *= shape[d];
    }
}

/* scale * axis + shift */
static struct axis
map_axis(struct worker *w, struct axis a, int n, int64_t scale, int64_t shift)
{
    int64_t *idx;

    if (!a.idx)
        return (struct axis){.base = a.base * scale + shift,
                             .step = a.step * scale};
    if (scale == 1 && shift == 0)
        return a;
    idx = worker_slab(w);
    for (int k = 0; k < n; k++)
        idx[k] = a.idx[k] * scale + shift;
    return (struct axis){.idx = idx};
}

static void
view_map(const struct node *n, const struct coords *c, struct coords *r)
{
    for (int d = 0; d < r->rank; d++)
        r->ax[d] = fixed(0);
    for (int d = 0; d < n->rank; d++)
        if (n->map[d] != NO_DIM)
            r->ax[n->map[d]] = c->ax[d];
}

static void
view_slice(struct worker *w, const struct node *n, const struct coords *c,
           struct coords *r)
{
    for (int d = 0; d < n->rank; d++) {
        int64_t start = 0;
        if (n->start[d] && !eval_sym(w->e, n->start[d], &start))
            BUG("slice start is not known");
        r->ax[d] = map_axis(w, c->ax[d], c->n, n->step[d], start);
    }
}

static void
view_flip(struct worker *w, node_id id, const struct coords *c,
          struct coords *r)
{
    const struct node *n = graph_node(w->e->g, id);

    for (int d = 0; d < n->rank; d++)
        r->ax[d] = n->flag[d]
                       ? map_axis(w, c->ax[d], c->n, -1, w->e->shape[id][d] - 1)
                       : c->ax[d];
}

/* x[e]: the index is uniform or the value of operand 1. An index out of range
 * has failed the launch's guard; here it only must not touch memory. */
static void
view_select(struct worker *w, const struct node *n, const struct coords *c,
            struct coords *r)
{
    const int64_t *shape = w->e->shape[n->args[0]];
    int64_t at = 0;

    if (n->n_args > 1) {
        struct coords none = {.n = 1};
        at = tile_eval(w, n->args[1], coords_intern(w, &none))->i[0];
    } else if (!eval_sym(w->e, n->start[0], &at)) {
        BUG("index is not known");
    }
    at = MAX(0, MIN(at, shape[n->dim] - 1));
    for (int d = 0, from = 0; d < r->rank; d++)
        r->ax[d] = d == n->dim ? fixed(at) : c->ax[from++];
}

static void
reshape_list(struct worker *w, const int64_t *to, const struct axis *linear,
             struct coords *r)
{
    int64_t below = 1;

    for (int d = r->rank - 1; d >= 0; d--) {
        int64_t *idx = worker_slab(w);
        for (int k = 0; k < r->n; k++)
            idx[k] = axis_at(linear, k) / below % to[d];
        r->ax[d] = (struct axis){.idx = idx};
        below *= to[d];
    }
}

static void
view_reshape(struct worker *w, node_id id, const struct coords *c,
             struct coords *r)
{
    const struct node *n = graph_node(w->e->g, id);
    const int64_t *to = w->e->shape[n->args[0]];
    int64_t strides[MAX_RANK], rest, end;
    struct axis linear;
    int last = r->rank - 1;

    row_major(w->e->shape[id], n->rank, strides);
    coords_offsets(w, c, strides, &linear);
    while (last > 0 && to[last] == 1)
        last--;
    if (linear.idx == NULL && last >= 0) {
        end = linear.base % to[last] + linear.step * (c->n - 1);
        if (end >= 0 && end < to[last]) {
            rest = linear.base;
            for (int d = r->rank - 1; d >= 0; d--) {
                r->ax[d] = fixed(rest % to[d]);
                rest /= to[d];
            }
            r->ax[last].step = linear.step;
            return;
        }
    }
    reshape_list(w, to, &linear, r);
}

const struct coords *
coords_view(struct worker *w, node_id id, const struct coords *c)
{
    const struct node *n = graph_node(w->e->g, id);
    struct coords r = {.rank = graph_node(w->e->g, n->args[0])->rank,
                       .n = c->n};

    assert(op_info[n->op].class == OC_VIEW && c->rank == n->rank);
    if (n->op == OP_SLICE)
        view_slice(w, n, c, &r);
    else if (n->op == OP_FLIP)
        view_flip(w, id, c, &r);
    else if (n->op == OP_SELECT_INDEX)
        view_select(w, n, c, &r);
    else if (n->op == OP_RESHAPE)
        view_reshape(w, id, c, &r);
    else
        view_map(n, c, &r);
    return coords_intern(w, &r);
}
