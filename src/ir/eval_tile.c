/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of a node: leaves and materialised nodes are gathered from memory,
 * views and joins change the coordinates, everything else is pointwise. */
#include "support/base.h"

#include "ir/eval_impl.h"

/* Small objects: coordinates, tiles and memo entries. */
enum { CELL = 256 };
_Static_assert(sizeof(struct coords) <= CELL, "a cell holds coordinates");
_Static_assert(sizeof(struct tile) <= CELL, "a cell holds a tile");

void
worker_init(struct worker *w, const struct eval *e)
{
    *w = (struct worker){.e = e, .arena = arena_new()};
    w->memo = NEW_ARRAY(w->arena, struct memo *, e->g->n_nodes);
}

void
worker_done(struct worker *w)
{
    arena_free(w->arena);
}

void
worker_reset(struct worker *w)
{
    for (uint32_t i = 0; i < w->touched.n; i++)
        w->memo[w->touched.v[i]] = NULL;
    w->touched.n = w->known.n = 0;
    w->slabs_used = w->cells_used = 0;
}

void *
worker_slab(struct worker *w)
{
    if (w->slabs_used == w->slabs.n)
        VEC_PUSH(w->arena, &w->slabs,
                 arena_alloc(w->arena, TILE * sizeof(long double)));
    return w->slabs.v[w->slabs_used++];
}

static void *
worker_cell(struct worker *w)
{
    if (w->cells_used == w->cells.n)
        VEC_PUSH(w->arena, &w->cells, arena_alloc(w->arena, CELL));
    return w->cells.v[w->cells_used++];
}

struct tile *
worker_tile(struct worker *w, enum rep rep, int step, bool err)
{
    struct tile *t = worker_cell(w);

    *t = (struct tile){.rep = rep, .step = step};
    t->f = worker_slab(w);
    t->err = err ? worker_slab(w) : NULL;
    return t;
}

struct coords *
worker_coords(struct worker *w)
{
    return worker_cell(w);
}

static int
tile_step(const struct coords *c)
{
    return c->n > 1;
}

static void
gather_float(enum dtype t, const char *data, const struct axis *at, int n,
             double *ret)
{
    size_t size = dtype_info[t].bytes;

    if (!at->idx)
        num_gather(t, data + (size_t)at->base * size, at->step, n, ret);
    else
        for (int k = 0; k < n; k++)
            ret[k] = num_load(t, data, at->idx[k]);
}

static struct tile *
load_tensor(struct worker *w, const struct tensor *t, const struct coords *c)
{
    struct tile *r = worker_tile(w, num_rep(t->dtype), tile_step(c), false);
    struct axis at;

    coords_offsets(w, c, t->strides, &at);
    if (r->rep == REP_F)
        gather_float(t->dtype, t->data, &at, c->n, r->f);
    else if (r->rep == REP_L)
        for (int k = 0; k < c->n; k++)
            r->l[k] = num_load_long(t->dtype, t->data, axis_at(&at, k));
    else
        for (int k = 0; k < c->n; k++)
            r->i[k] = num_load_int(t->dtype, t->data, axis_at(&at, k));
    return r;
}

static struct tile *
load_array(struct worker *w, node_id id, const struct coords *c)
{
    const struct array *a = w->e->arrays[id];
    struct tile *r = worker_tile(w, a->rep, tile_step(c), a->err != NULL);
    int64_t strides[MAX_RANK], s = 1;
    struct axis at;

    for (int d = c->rank - 1; d >= 0; d--) {
        strides[d] = s;
        s *= w->e->shape[id][d];
    }
    coords_offsets(w, c, strides, &at);
    for (int k = 0; k < c->n; k++) {
        int64_t i = axis_at(&at, k);
        if (a->rep == REP_F)
            r->f[k] = a->f[i];
        else if (a->rep == REP_L)
            r->l[k] = a->l[i];
        else
            r->i[k] = a->i[i];
        if (a->err)
            r->err[k] = a->err[i];
    }
    return r;
}

/* One value of type t at p. */
static struct tile *
load_scalar(struct worker *w, enum dtype t, const void *p)
{
    struct tensor one = {.data = (void *)(uintptr_t)p, .dtype = t};
    struct coords none = {.n = 1};

    return load_tensor(w, &one, &none);
}

static struct tile *
load_const(struct worker *w, const struct node *n)
{
    struct tile *r = worker_tile(w, num_rep(n->dtype), 0, false);

    if (r->rep == REP_F)
        r->f[0] = num_round(n->dtype, n->value.f);
    else if (r->rep == REP_L)
        r->l[0] = (long double)n->value.f;
    else
        r->i[0] = num_wrap(n->dtype, n->value.i);
    return r;
}

static struct tile *
load_dim(struct worker *w, const struct node *n)
{
    struct tile *r = worker_tile(w, REP_I, 0, false);

    if (!eval_sym(w->e, n->extent, &r->i[0]))
        BUG("extent is not known");
    return r;
}

static struct tile *
load_iota(struct worker *w, const struct coords *c)
{
    struct tile *r = worker_tile(w, REP_I, tile_step(c), false);

    for (int k = 0; k < c->n; k++)
        r->i[k] = axis_at(&c->ax[0], k);
    return r;
}

static struct tile *
load_leaf(struct worker *w, const struct node *n, const struct coords *c)
{
    if (n->op == OP_INPUT)
        return load_tensor(w, &w->e->tensors[n->param], c);
    if (n->op == OP_SCALAR)
        return load_scalar(w, n->dtype, w->e->scalars[n->param]);
    if (n->op == OP_CONST)
        return load_const(w, n);
    if (n->op == OP_DIM)
        return load_dim(w, n);
    if (n->op == OP_IOTA)
        return load_iota(w, c);
    BUG("leaf '%s' has no reference", op_info[n->op].name);
}

static void
copy_element(struct tile *to, const struct tile *from, int k)
{
    int at = k * from->step;

    if (to->rep == REP_F)
        to->f[k] = from->f[at];
    else if (to->rep == REP_L)
        to->l[k] = from->l[at];
    else
        to->i[k] = from->i[at];
    to->err[k] = from->err ? from->err[at] : 0;
}

/* Coordinates along one axis, shifted and held inside [0, extent); returns how
 * many of the n elements lie inside, and which. */
static int
clamp_axis(struct worker *w, struct axis *a, int n, int64_t shift,
           int64_t extent, bool *inside)
{
    int64_t *idx = worker_slab(w);
    int hits = 0;

    for (int k = 0; k < n; k++) {
        int64_t at = axis_at(a, k) + shift;
        bool in = at >= 0 && at < extent;
        inside[k] = inside[k] && in;
        hits += inside[k];
        idx[k] = MAX(0, MIN(at, extent - 1));
    }
    if (hits == n && !a->idx)
        a->base += shift;
    else
        *a = (struct axis){.idx = idx};
    return hits;
}

static const struct tile *
eval_pad(struct worker *w, const struct node *n, const struct coords *c)
{
    const int64_t *shape = w->e->shape[n->args[0]];
    struct coords none = {.n = 1}, at = *c;
    const struct tile *fill, *x;
    struct tile *r;
    bool inside[TILE];
    int hits = c->n;

    fill = tile_eval(w, n->args[1], coords_intern(w, &none));
    memset(inside, 1, sizeof(inside));
    for (int d = 0; d < n->rank && hits > 0; d++) {
        int64_t before = 0;
        if (n->start[d] && !eval_sym(w->e, n->start[d], &before))
            BUG("padding is not known");
        hits = clamp_axis(w, &at.ax[d], c->n, -before, shape[d], inside);
    }
    if (hits == 0)
        return fill;
    x = tile_eval(w, n->args[0], coords_intern(w, &at));
    if (hits == c->n)
        return x;
    r = worker_tile(w, fill->rep, 1, true);
    for (int k = 0; k < c->n; k++)
        copy_element(r, inside[k] ? x : fill, k);
    return r;
}

static const struct tile *
eval_cat(struct worker *w, const struct node *n, const struct coords *c)
{
    struct tile *r = NULL;
    int64_t before = 0;

    for (uint32_t a = 0; a < n->n_args; a++) {
        int64_t extent = w->e->shape[n->args[a]][n->dim];
        struct coords at = *c;
        const struct tile *x;
        bool inside[TILE];
        int hits;
        memset(inside, 1, sizeof(inside));
        hits = clamp_axis(w, &at.ax[n->dim], c->n, -before, extent, inside);
        before += extent;
        if (hits == 0)
            continue;
        x = tile_eval(w, n->args[a], coords_intern(w, &at));
        if (hits == c->n)
            return x;
        if (!r)
            r = worker_tile(w, x->rep, 1, true);
        for (int k = 0; k < c->n; k++)
            if (inside[k])
                copy_element(r, x, k);
    }
    assert(r);
    return r;
}

static const struct tile *
eval_pointwise(struct worker *w, const struct node *n, const struct coords *c)
{
    const struct tile *args[3];

    assert(n->n_args >= 1 && n->n_args <= 3);
    for (uint32_t a = 0; a < n->n_args; a++)
        args[a] = tile_eval(w, n->args[a], c);
    if (op_info[n->op].class == OC_CAST)
        return tile_convert(w, args[0], graph_node(w->e->g, n->args[0])->dtype,
                            n->dtype, c->n);
    return tile_pointwise(w, n, args, c->n);
}

static const struct tile *
eval_node(struct worker *w, node_id id, const struct coords *c)
{
    const struct node *n = graph_node(w->e->g, id);

    if (w->e->arrays[id])
        return load_array(w, id, c);
    if (op_info[n->op].class == OC_LEAF)
        return load_leaf(w, n, c);
    if (op_info[n->op].class == OC_VIEW)
        return tile_eval(w, n->args[0], coords_view(w, id, c));
    if (n->op == OP_PAD)
        return eval_pad(w, n, c);
    if (n->op == OP_CAT)
        return eval_cat(w, n, c);
    return eval_pointwise(w, n, c);
}

const struct tile *
tile_eval(struct worker *w, node_id id, const struct coords *c)
{
    const struct tile *t;
    struct memo *m;

    for (m = w->memo[id]; m; m = m->next)
        if (m->at == c)
            return m->tile;
    t = eval_node(w, id, c);
    m = worker_cell(w);
    *m = (struct memo){.at = c, .tile = t, .next = w->memo[id]};
    if (!w->memo[id])
        VEC_PUSH(w->arena, &w->touched, id);
    w->memo[id] = m;
    return t;
}
