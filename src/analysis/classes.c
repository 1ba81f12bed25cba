/* SPDX-License-Identifier: Apache-2.0 */
/* Which dimensions are the same axis. Every dimension of every live value
 * starts as a class of its own; pointwise operations, broadcasts, permutations
 * and reductions unite classes, a reshape splits or joins them. What is left
 * apart at the end but has the same extent is joined too, so that two
 * independent results of one shape are computed by one loop. */
#include "support/base.h"

#include "analysis/analysis_impl.h"

#include "support/arena.h"

typedef void tie_fn(struct space *s, node_id id, const struct node *n);

int
class_new(struct space *s, const struct sym *extent)
{
    struct axis_class c = {
        .parent = (int)s->cls.n, .extent = extent, .axis = NO_AXIS};

    VEC_PUSH(s->arena, &s->cls, c);
    return c.parent;
}

int
class_root(struct space *s, int c)
{
    assert(c >= 0 && c < (int)s->cls.n);
    while (s->cls.v[c].parent != c) {
        s->cls.v[c].parent = s->cls.v[s->cls.v[c].parent].parent;
        c = s->cls.v[c].parent;
    }
    return c;
}

int
class_leaves(struct space *s, int c, int *ret, int max)
{
    const struct axis_class *k;
    int n = 0;

    c = class_root(s, c);
    k = &s->cls.v[c];
    if (k->n == 0) {
        if (max > 0)
            ret[0] = c;
        return 1;
    }
    for (int i = 0; i < k->n; i++)
        n += class_leaves(s, k->child[i], ret + n, MAX(max - n, 0));
    return n;
}

void
class_unite(struct space *s, int a, int b)
{
    struct axis_class *ca, *cb;

    if (a == NO_AXIS || b == NO_AXIS)
        return;
    a = class_root(s, a);
    b = class_root(s, b);
    if (a == b)
        return;
    ca = &s->cls.v[a];
    cb = &s->cls.v[b];
    if (ca->n && cb->n) {
        if (ca->n != cb->n) {
            space_fail(s, "a dimension is split in two different ways");
            return;
        }
        for (int i = 0; i < ca->n; i++) {
            int x = s->cls.v[a].child[i], y = s->cls.v[b].child[i];

            if (!sym_equal(s->cls.v[x].extent, s->cls.v[y].extent)) {
                space_fail(s, "a dimension is split in two different ways");
                return;
            }
            class_unite(s, x, y);
        }
        cb->parent = a;
    } else if (cb->n) {
        ca->parent = b;
    } else {
        cb->parent = a;
    }
}

static void
class_adopt(struct space *s, int c, int n, const int *child)
{
    int whole = class_new(s, s->cls.v[class_root(s, c)].extent);

    s->cls.v[whole].n = n;
    for (int i = 0; i < n; i++)
        s->cls.v[whole].child[i] = child[i];
    class_unite(s, whole, c);
}

void
class_split(struct space *s, int c, int n, const struct sym *const *extent)
{
    int child[MAX_RANK];

    assert(n > 1 && n <= MAX_RANK);
    for (int i = 0; i < n; i++)
        child[i] = class_new(s, extent[i]);
    class_adopt(s, c, n, child);
}

static void
tie_pointwise(struct space *s, node_id id, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        node_id arg = n->args[i];

        if (graph_node(s->g, arg)->rank != n->rank)
            continue; /* seeds of random numbers: rank 0 */
        for (int d = 0; d < n->rank; d++)
            class_unite(s, s->dim[id][d], s->dim[arg][d]);
    }
}

static void
tie_map(struct space *s, node_id id, const struct node *n)
{
    for (int d = 0; d < n->rank; d++)
        if (n->map[d] != NO_DIM)
            class_unite(s, s->dim[id][d], s->dim[n->args[0]][n->map[d]]);
}

static void
tie_reduce(struct space *s, node_id id, const struct node *n)
{
    const struct node *arg = graph_node(s->g, n->args[0]);
    int to = 0;

    for (int d = 0; d < arg->rank; d++) {
        if (n->flag[d]) {
            to += n->keepdim;
            continue;
        }
        class_unite(s, s->dim[id][to++], s->dim[n->args[0]][d]);
    }
    assert(to == n->rank);
}

/* The classes and extents of a node's dimensions but those of extent 1. */
static int
wide_dims(struct space *s, node_id id, int *cls, const struct sym **extent)
{
    const struct node *n = graph_node(s->g, id);
    int k = 0;

    for (int d = 0; d < n->rank; d++) {
        if (s->dim[id][d] == NO_AXIS)
            continue;
        cls[k] = s->dim[id][d];
        extent[k++] = n->dims[d];
    }
    return k;
}

/* A reshape of a computed value renames axes when each group has one dimension
 * on one side. */
static void
tie_reshape(struct space *s, node_id id, const struct node *n)
{
    int ca[MAX_RANK], cb[MAX_RANK], na, nb, n_groups;
    const struct sym *ea[MAX_RANK], *eb[MAX_RANK];
    struct reshape_group r[MAX_RANK];

    na = wide_dims(s, n->args[0], ca, ea);
    nb = wide_dims(s, id, cb, eb);
    if (!reshape_groups(s->syms, (struct extents){ea, na},
                        (struct extents){eb, nb}, r, &n_groups)) {
        space_fail(s, "a reshape of a computed value is no renaming of axes");
        return;
    }
    for (int i = 0; i < n_groups; i++) {
        if (r[i].na == 1 && r[i].nb == 1)
            class_unite(s, ca[r[i].a], cb[r[i].b]);
        else if (r[i].na == 1)
            class_adopt(s, ca[r[i].a], r[i].nb, cb + r[i].b);
        else if (r[i].nb == 1)
            class_adopt(s, cb[r[i].b], r[i].na, ca + r[i].a);
        else
            space_fail(s, "a reshape of a computed value is no renaming of "
                          "axes");
    }
}

static void
tie_slice(struct space *s, node_id id, const struct node *n)
{
    const struct node *arg = graph_node(s->g, n->args[0]);

    for (int d = 0; d < n->rank; d++) {
        int64_t first;

        if (!sym_is_int(n->start[d], &first) || first != 0 || n->step[d] != 1 ||
            !sym_equal(n->dims[d], arg->dims[d])) {
            space_fail(s, "a slice of a computed value");
            return;
        }
        class_unite(s, s->dim[id][d], s->dim[n->args[0]][d]);
    }
}

static tie_fn *const view_ties[OP_COUNT] = {
    [OP_BROADCAST] = tie_map, [OP_PERMUTE] = tie_map,
    [OP_SQUEEZE] = tie_map,   [OP_UNSQUEEZE] = tie_map,
    [OP_SLICE] = tie_slice,   [OP_RESHAPE] = tie_reshape,
};

static void
tie_view(struct space *s, node_id id, const struct node *n)
{
    if (view_ties[n->op])
        view_ties[n->op](s, id, n);
    else
        space_fail(s, "'%s' of a computed value", op_info[n->op].name);
}

static void
tie_leaf(struct space *s, node_id id, const struct node *n)
{
    const struct view *v = s->view[id];

    for (int d = 0; v && d < n->rank; d++)
        if (v->dim[d].n > 1)
            class_split(s, s->dim[id][d], v->dim[d].n, v->dim[d].extent);
}

static void
tie_nothing(struct space *s, node_id id, const struct node *n)
{
    (void)id;
    space_fail(s, "'%s' has no axes of its own", op_info[n->op].name);
}

static tie_fn *const class_ties[] = {
    [OC_LEAF] = tie_leaf,        [OC_POINTWISE] = tie_pointwise,
    [OC_CAST] = tie_pointwise,   [OC_VIEW] = tie_view,
    [OC_JOIN] = tie_nothing,     [OC_REDUCE] = tie_reduce,
    [OC_SCAN] = tie_nothing,     [OC_INDEX] = tie_nothing,
    [OC_RANDOM] = tie_pointwise,
};

void
space_tie(struct space *s)
{
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node *n = graph_node(s->g, id);

        if (!s->f->node[id].live)
            continue;
        for (int d = 0; d < n->rank; d++)
            s->dim[id][d] =
                sym_is_one(n->dims[d]) ? NO_AXIS : class_new(s, n->dims[d]);
        if (s->view[id])
            tie_leaf(s, id, n);
        else
            class_ties[op_info[n->op].class](s, id, n);
    }
}

/* True when dimension classes of the node contain the class c, a root without
 * children. */
static bool
in_node(struct space *s, node_id id, int c)
{
    int leaf[MAX_AXES];

    for (int d = 0; d < graph_node(s->g, id)->rank; d++) {
        int n;

        if (s->dim[id][d] == NO_AXIS)
            continue;
        n = class_leaves(s, s->dim[id][d], leaf, MAX_AXES);
        for (int i = 0; i < MIN(n, MAX_AXES); i++)
            if (leaf[i] == c)
                return true;
    }
    return false;
}

/* True when two dimensions of one value would share an axis. */
static bool
would_clash(struct space *s, int a, int b)
{
    for (node_id id = 0; id < s->g->n_nodes; id++)
        if (s->f->node[id].live && in_node(s, id, a) && in_node(s, id, b))
            return true;
    return false;
}

static node_id
widest_node(struct space *s)
{
    node_id best = 0;
    int rank = -1;

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        int wide = 0, leaf[MAX_AXES];

        if (!s->f->node[id].live)
            continue;
        for (int d = 0; d < graph_node(s->g, id)->rank; d++)
            if (s->dim[id][d] != NO_AXIS)
                wide += class_leaves(s, s->dim[id][d], leaf, MAX_AXES);
        if (wide > rank) {
            rank = wide;
            best = id;
        }
    }
    return best;
}

static void
join_with(struct space *s, node_id widest, int c)
{
    int leaf[MAX_AXES];

    if (in_node(s, widest, c))
        return;
    for (int d = graph_node(s->g, widest)->rank - 1; d >= 0; d--) {
        int n = 0;

        if (s->dim[widest][d] != NO_AXIS)
            n = class_leaves(s, s->dim[widest][d], leaf, MAX_AXES);
        for (int i = MIN(n, MAX_AXES) - 1; i >= 0; i--) {
            if (sym_equal(s->cls.v[leaf[i]].extent, s->cls.v[c].extent) &&
                !would_clash(s, leaf[i], c)) {
                class_unite(s, leaf[i], c);
                return;
            }
        }
    }
    space_fail(s, "no value has all axes");
}

void
space_join(struct space *s)
{
    node_id widest = widest_node(s);
    int leaf[MAX_AXES];

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        if (!s->f->node[id].live)
            continue;
        for (int d = graph_node(s->g, id)->rank - 1; d >= 0; d--) {
            int n = 0;

            if (s->dim[id][d] != NO_AXIS)
                n = class_leaves(s, s->dim[id][d], leaf, MAX_AXES);
            for (int i = MIN(n, MAX_AXES) - 1; i >= 0; i--)
                join_with(s, widest, leaf[i]);
        }
    }
}
