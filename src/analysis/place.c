/* SPDX-License-Identifier: Apache-2.0 */
/* From classes to axes. Each class without children becomes an axis; views of
 * inputs and stores become accesses over axes. Then two axes merge when no
 * access, reduction or random number can tell them from one: then LayerNorm
 * over [B, S, H] is the same problem as [M, N]. */
#include "support/base.h"

#include "analysis/analysis_impl.h"

#include "support/arena.h"

static double
rough_name(void *data, const char *name)
{
    (void)data;
    (void)name;
    return 1024;
}

double
rough(const struct sym *s)
{
    return sym_estimate(s, rough_name, NULL);
}

static void
make_axes(struct space *s)
{
    int leaf[MAX_AXES];

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        if (!s->f->node[id].live)
            continue;
        for (int d = 0; d < graph_node(s->g, id)->rank; d++) {
            int n = 0;

            if (s->dim[id][d] != NO_AXIS)
                n = class_leaves(s, s->dim[id][d], leaf, MAX_AXES);
            for (int i = 0; i < MIN(n, MAX_AXES); i++) {
                struct axis_class *c = &s->cls.v[leaf[i]];

                if (c->axis != NO_AXIS)
                    continue;
                if (s->f->n_axes == MAX_AXES) {
                    space_fail(s, "more than %d axes", MAX_AXES);
                    return;
                }
                c->axis = s->f->n_axes;
                s->f->axes[s->f->n_axes++].extent = c->extent;
            }
        }
    }
}

/* The axes of a class, outer to inner. */
static int
class_axes(struct space *s, int c, int *ret)
{
    int n;

    if (c == NO_AXIS)
        return 0;
    n = class_leaves(s, c, ret, MAX_AXES);
    assert(n <= MAX_AXES);
    for (int i = 0; i < n; i++)
        ret[i] = s->cls.v[ret[i]].axis;
    return n;
}

static void
add_stride(struct space *s, struct access *a, int axis,
           const struct sym *stride)
{
    int64_t v;

    if (!stride) {
        space_fail(s, "an address leaves 64 bits");
        return;
    }
    if (a->stride[axis])
        stride = sym_add(s->syms, a->stride[axis], stride);
    if (sym_is_int(stride, &v) && v == 0)
        stride = NULL;
    a->stride[axis] = stride;
    a->axes &= ~(1u << axis);
    if (stride)
        a->axes |= 1u << axis;
}

/* One dimension of class c walks by `stride`. */
static void
add_dim(struct space *s, struct access *a, int c, const struct sym *stride)
{
    int axis[MAX_AXES];
    int n = class_axes(s, c, axis);

    for (int i = n - 1; i >= 0; i--) {
        add_stride(s, a, axis[i], stride);
        stride = sym_mul(s->syms, stride, s->f->axes[axis[i]].extent);
    }
}

static void
add_leaf(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    const struct view *v = s->view[id];
    struct access a = {.param = -1, .result = -1, .base = v->base};
    node_id input = id;

    while (graph_node(s->g, input)->op != OP_INPUT)
        input = graph_node(s->g, input)->args[0];
    a.param = (int)graph_node(s->g, input)->param;
    if (!a.base)
        space_fail(s, "an address leaves 64 bits");
    for (int d = 0; d < n->rank; d++) {
        int axis[MAX_AXES];
        int k = class_axes(s, s->dim[id][d], axis);

        if (v->dim[d].n <= 1) {
            if (v->dim[d].n == 1)
                add_dim(s, &a, s->dim[id][d], v->dim[d].stride[0]);
            continue;
        }
        if (k != v->dim[d].n) {
            space_fail(s, "a dimension is split in two different ways");
            continue;
        }
        for (int i = 0; i < k; i++)
            add_stride(s, &a, axis[i], v->dim[d].stride[i]);
    }
    s->f->node[id].access = s->accesses.n;
    VEC_PUSH(s->arena, &s->accesses, a);
}

static struct access
row_major_access(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    struct access a = {.param = -1, .result = -1};
    const struct sym *stride[MAX_RANK];

    a.base = sym_int(s->syms, 0);
    graph_row_major(s->syms, n->rank, n->dims, stride);
    for (int d = 0; d < n->rank; d++)
        add_dim(s, &a, s->dim[id][d], stride[d]);
    return a;
}

static void
make_stores(struct space *s)
{
    s->f->stores = NEW_ARRAY(s->arena, struct access, s->g->n_results);
    for (uint32_t i = 0; i < s->g->n_results; i++) {
        const struct result *r = &s->g->results[i];
        struct access a = row_major_access(s, r->node);

        a.result = (int)i;
        for (int d = 0; d < r->rank && r->has_strides; d++) {
            if (d == 0) {
                memset(a.stride, 0, sizeof(a.stride));
                a.axes = 0;
            }
            add_dim(s, &a, s->dim[r->node][d], r->strides[d]);
        }
        s->f->stores[i] = a;
    }
}

static void
make_accesses(struct space *s)
{
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node *n = graph_node(s->g, id);
        struct node_facts *f = &s->f->node[id];

        if (!f->live)
            continue;
        if (f->is_leaf) {
            add_leaf(s, id);
        } else if (n->op == OP_IOTA || op_info[n->op].class == OC_RANDOM) {
            struct access a = row_major_access(s, id);

            f->has_index = true;
            f->access = s->accesses.n;
            VEC_PUSH(s->arena, &s->accesses, a);
        }
    }
    make_stores(s);
}

static axis_mask
reduced_axes(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    const struct node *arg = graph_node(s->g, n->args[0]);
    axis_mask m = 0;

    for (int d = 0; d < arg->rank; d++) {
        int axis[MAX_AXES];
        int k = n->flag[d] ? class_axes(s, s->dim[n->args[0]][d], axis) : 0;

        for (int i = 0; i < k; i++)
            s->over[id][d] |= 1u << axis[i];
        m |= s->over[id][d];
    }
    return m;
}

/* Two dimensions of one value on one axis: x + transpose(x). */
static void
check_distinct(struct space *s, node_id id)
{
    axis_mask seen = 0;

    for (int d = 0; d < graph_node(s->g, id)->rank; d++) {
        int axis[MAX_AXES];
        int n = class_axes(s, s->dim[id][d], axis);

        for (int i = 0; i < n; i++) {
            if (seen & 1u << axis[i])
                space_fail(s, "a value meets itself with axes exchanged");
            seen |= 1u << axis[i];
        }
    }
}

static void
same_leaf(struct space *s, node_id id)
{
    struct node_facts *f = &s->f->node[id];
    const struct access *a = &s->accesses.v[f->access];

    for (node_id k = 0; k < id; k++) {
        const struct node_facts *fk = &s->f->node[k];
        const struct access *b;

        if (!fk->live || !fk->is_leaf || fk->is_alias)
            continue;
        b = &s->accesses.v[fk->access];
        if (a->param != b->param || a->axes != b->axes || a->base != b->base ||
            memcmp(a->stride, b->stride, sizeof(a->stride)) != 0)
            continue;
        f->is_alias = true;
        f->is_leaf = false;
        f->value = k;
        return;
    }
}

static void
set_axes(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    struct node_facts *f = &s->f->node[id];
    enum op_class class = op_info[n->op].class;

    if (f->is_leaf) {
        same_leaf(s, id);
        f->axes = s->accesses.v[f->access].axes;
    } else if (f->has_index) {
        f->axes = s->accesses.v[f->access].axes;
    } else if (class == OC_VIEW) {
        f->is_alias = true;
        f->value = facts_value(s->f, n->args[0]);
        f->axes = s->f->node[f->value].axes;
    } else {
        for (uint32_t i = 0; i < n->n_args; i++)
            f->axes |= s->f->node[n->args[i]].axes;
    }
    if (class == OC_REDUCE) {
        f->reduced = reduced_axes(s, id);
        f->axes &= ~f->reduced;
    }
}

/* True when the access can't tell outer, inner from one axis. */
static bool
access_merges(struct space *s, const struct access *a, int outer, int inner)
{
    const struct sym *step;

    if (!a->stride[outer] && !a->stride[inner])
        return true;
    if (!a->stride[outer] || !a->stride[inner])
        return false;
    step = sym_mul(s->syms, a->stride[inner], s->f->axes[inner].extent);
    return sym_equal(a->stride[outer], step);
}

static bool
both_or_none(axis_mask m, int a, int b)
{
    return (m >> a & 1) == (m >> b & 1);
}

static bool
axes_merge(struct space *s, int outer, int inner)
{
    for (uint32_t i = 0; i < s->accesses.n; i++)
        if (!access_merges(s, &s->accesses.v[i], outer, inner))
            return false;
    for (uint32_t i = 0; i < s->g->n_results; i++)
        if (!access_merges(s, &s->f->stores[i], outer, inner))
            return false;
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node_facts *f = &s->f->node[id];

        if (f->live && !(both_or_none(f->axes, outer, inner) &&
                         both_or_none(f->reduced, outer, inner)))
            return false;
    }
    return true;
}

/* Bit i of the result is bit from[i] of m. */
static axis_mask
permute_mask(axis_mask m, const int *from, int n)
{
    axis_mask r = 0;

    for (int i = 0; i < n; i++)
        r |= (m >> from[i] & 1) << i;
    return r;
}

static void
permute_access(struct access *a, const int *from, int n)
{
    const struct sym *stride[MAX_AXES] = {0};

    for (int i = 0; i < n; i++)
        stride[i] = a->stride[from[i]];
    memcpy(a->stride, stride, sizeof(stride));
    a->axes = permute_mask(a->axes, from, n);
}

/* New axis i is old axis from[i]; axes not named are dropped. */
static void
renumber(struct space *s, const int *from, int n)
{
    struct axis axes[MAX_AXES] = {0};

    for (int i = 0; i < n; i++)
        axes[i] = s->f->axes[from[i]];
    memcpy(s->f->axes, axes, sizeof(axes));
    s->f->n_axes = n;
    for (uint32_t i = 0; i < s->accesses.n; i++)
        permute_access(&s->accesses.v[i], from, n);
    for (uint32_t i = 0; i < s->g->n_results; i++)
        permute_access(&s->f->stores[i], from, n);
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        struct node_facts *f = &s->f->node[id];

        f->axes = permute_mask(f->axes, from, n);
        f->reduced = permute_mask(f->reduced, from, n);
        for (int d = 0; f->reduced && d < MAX_RANK; d++)
            s->over[id][d] = permute_mask(s->over[id][d], from, n);
    }
}

/* What lies on axis a will lie on b. */
static void
join_dims(struct space *s, int a, int b)
{
    for (node_id id = 0; id < s->g->n_nodes; id++)
        for (int d = 0; s->f->node[id].reduced && d < MAX_RANK; d++)
            s->over[id][d] |= (s->over[id][d] >> a & 1) << b;
}

static bool
merge_one(struct space *s)
{
    int from[MAX_AXES], n = 0;

    for (int a = 0; a < s->f->n_axes; a++) {
        for (int b = 0; b < s->f->n_axes; b++) {
            if (a == b || !axes_merge(s, a, b))
                continue;
            s->f->axes[b].extent =
                sym_mul(s->syms, s->f->axes[a].extent, s->f->axes[b].extent);
            if (!s->f->axes[b].extent)
                space_fail(s, "a merged extent leaves 64 bits");
            for (int i = 0; i < s->f->n_axes; i++)
                if (i != a)
                    from[n++] = i;
            join_dims(s, a, b);
            renumber(s, from, n);
            return true;
        }
    }
    return false;
}

/* The stride along an axis in the widest access that has it: where it stands in
 * the nest. */
static double
depth(struct space *s, int axis)
{
    double best = -1, stride = 0;
    const struct access *all[2] = {s->f->stores, s->accesses.v};
    uint32_t count[2] = {s->g->n_results, s->accesses.n};

    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < count[k]; i++) {
            double size = 1;

            if (!all[k][i].stride[axis])
                continue;
            for (int x = 0; x < s->f->n_axes; x++)
                if (all[k][i].stride[x])
                    size *= rough(s->f->axes[x].extent);
            if (size > best) {
                best = size;
                stride = rough(all[k][i].stride[axis]);
                stride = MAX(stride, -stride);
            }
        }
    }
    return stride;
}

static void
order_axes(struct space *s)
{
    int from[MAX_AXES], column;
    double key[MAX_AXES];

    column = choose_column(s);
    for (int i = 0; i < s->f->n_axes; i++)
        key[i] = i == column ? -1 : depth(s, i);
    for (int i = 0; i < s->f->n_axes; i++) {
        int at = i;

        while (at > 0 && key[from[at - 1]] < key[i]) {
            from[at] = from[at - 1];
            at--;
        }
        from[at] = i;
    }
    renumber(s, from, s->f->n_axes);
    s->f->column = column == NO_AXIS ? NO_AXIS : s->f->n_axes - 1;
}

static bool
name_taken(struct space *s, const char *name, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(s->f->axes[i].name, name))
            return true;
    return false;
}

static bool
symbol_taken(struct space *s, const char *name)
{
    for (uint32_t i = 0; i < s->g->n_dims; i++)
        if (!strcmp(s->g->dims[i].name, name))
            return true;
    return false;
}

static void
name_axes(struct space *s)
{
    for (int i = 0; i < s->f->n_axes; i++) {
        const char *name;
        int k = i;

        if (sym_is_name(s->f->axes[i].extent, &name) &&
            !name_taken(s, name, i)) {
            s->f->axes[i].name = name;
            continue;
        }
        do
            name = arena_printf(s->arena, "a%d", k++);
        while (name_taken(s, name, i) || symbol_taken(s, name));
        s->f->axes[i].name = name;
    }
}

void
space_place(struct space *s)
{
    make_axes(s);
    if (!s->f->axes_ok)
        return;
    make_accesses(s);
    s->over = arena_array(s->arena, s->g->n_nodes, sizeof(*s->over));
    for (node_id id = 0; id < s->g->n_nodes && s->f->axes_ok; id++) {
        if (!s->f->node[id].live)
            continue;
        if (!s->f->node[id].is_leaf)
            check_distinct(s, id);
        set_axes(s, id);
    }
    if (!s->f->axes_ok)
        return;
    while (s->f->axes_ok && merge_one(s))
        continue;
    order_axes(s);
    name_axes(s);
    s->f->accesses = s->accesses.v;
    s->f->n_accesses = s->accesses.n;
}
