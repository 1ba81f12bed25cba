/* SPDX-License-Identifier: Apache-2.0 */
/* Views of inputs are addresses. A chain of slices, permutations, flips,
 * broadcasts and reshapes over an input is one linear function from indices to
 * an offset: every step either renames, scales or drops a stride, or moves the
 * base. Only a reshape can leave that form: joining two dimensions that are not
 * contiguous needs a quotient and a remainder. There the joined dimension keeps
 * both factors and the class of the dimension is split instead. */
#include "support/base.h"

#include "analysis/analysis_impl.h"

#include "support/arena.h"

typedef bool view_step(struct space *s, const struct node *n,
                       const struct view *from, struct view *to);

static void
set_dim(struct view_dim *d, const struct sym *extent, const struct sym *stride)
{
    d->n = sym_is_one(extent) ? 0 : 1;
    d->extent[0] = extent;
    d->stride[0] = stride;
}

static bool
step_map(struct space *s, const struct node *n, const struct view *from,
         struct view *to)
{
    *to = (struct view){.base = from->base};
    for (int d = 0; d < n->rank; d++) {
        if (n->map[d] == NO_DIM)
            set_dim(&to->dim[d], n->dims[d], sym_int(s->syms, 0));
        else
            to->dim[d] = from->dim[n->map[d]];
    }
    return true;
}

static const struct sym *
moved(struct space *s, const struct sym *base, const struct sym *by,
      const struct sym *stride)
{
    return sym_add(s->syms, base, sym_mul(s->syms, by, stride));
}

static bool
step_slice(struct space *s, const struct node *n, const struct view *from,
           struct view *to)
{
    const struct node *arg = graph_node(s->g, n->args[0]);

    *to = *from;
    for (int d = 0; d < n->rank; d++) {
        int64_t first;
        bool whole = sym_is_int(n->start[d], &first) && first == 0 &&
                     n->step[d] == 1 && sym_equal(n->dims[d], arg->dims[d]);

        if (whole || from->dim[d].n == 0)
            continue;
        if (from->dim[d].n > 1)
            return false;
        to->base = moved(s, to->base, n->start[d], from->dim[d].stride[0]);
        set_dim(&to->dim[d], n->dims[d],
                sym_mul(s->syms, from->dim[d].stride[0],
                        sym_int(s->syms, n->step[d])));
    }
    return true;
}

static bool
step_select(struct space *s, const struct node *n, const struct view *from,
            struct view *to)
{
    if (n->n_args > 1 || from->dim[n->dim].n > 1)
        return false;
    *to = (struct view){.base = from->base};
    if (from->dim[n->dim].n == 1)
        to->base = moved(s, to->base, n->start[0], from->dim[n->dim].stride[0]);
    for (int d = 0; d < n->rank; d++)
        to->dim[d] = from->dim[d < n->dim ? d : d + 1];
    return true;
}

static bool
step_flip(struct space *s, const struct node *n, const struct view *from,
          struct view *to)
{
    *to = *from;
    for (int d = 0; d < n->rank; d++) {
        if (!n->flag[d])
            continue;
        for (int i = 0; i < from->dim[d].n; i++) {
            const struct sym *last =
                sym_sub(s->syms, from->dim[d].extent[i], sym_int(s->syms, 1));

            to->base = moved(s, to->base, last, from->dim[d].stride[i]);
            to->dim[d].stride[i] =
                sym_sub(s->syms, sym_int(s->syms, 0), from->dim[d].stride[i]);
        }
    }
    return true;
}

static const struct sym *
product(struct sym_ctx *c, const struct sym *const *e, int n)
{
    const struct sym *p = sym_int(c, 1);

    for (int i = 0; i < n; i++)
        p = sym_mul(c, p, e[i]);
    return p;
}

/* The smallest group that starts at r->a and r->b; sets its lengths. */
static bool
next_group(struct sym_ctx *c, struct extents a, struct extents b,
           struct reshape_group *r)
{
    int na = a.n - r->a, nb = b.n - r->b;

    for (int total = 2; total <= na + nb; total++) {
        for (int i = 1; i < total; i++) {
            if (i > na || total - i > nb)
                continue;
            if (sym_equal(product(c, a.e + r->a, i),
                          product(c, b.e + r->b, total - i))) {
                r->na = i;
                r->nb = total - i;
                return true;
            }
        }
    }
    return false;
}

bool
reshape_groups(struct sym_ctx *c, struct extents a, struct extents b,
               struct reshape_group *ret, int *ret_n)
{
    struct reshape_group at = {0};
    int n = 0;

    while (at.a < a.n && at.b < b.n) {
        if (!next_group(c, a, b, &at))
            return false;
        ret[n++] = at;
        at.a += at.na;
        at.b += at.nb;
    }
    *ret_n = n;
    return at.a == a.n && at.b == b.n;
}

/* All factors of all dimensions. */
static void
flatten(const struct view *v, int rank, struct view_dim *flat)
{
    flat->n = 0;
    for (int d = 0; d < rank; d++) {
        for (int i = 0; i < v->dim[d].n; i++) {
            assert(flat->n < MAX_RANK);
            flat->extent[flat->n] = v->dim[d].extent[i];
            flat->stride[flat->n++] = v->dim[d].stride[i];
        }
    }
}

static bool
contiguous(struct space *s, const struct view_dim *f, int from, int n)
{
    for (int i = from; i + 1 < from + n; i++) {
        const struct sym *step =
            sym_mul(s->syms, f->extent[i + 1], f->stride[i + 1]);

        if (!sym_equal(f->stride[i], step))
            return false;
    }
    return true;
}

/* Factors [r->a, + r->na) become the dimensions r->b.. of the result; to_dim
 * says which ones those are. */
static bool
regroup(struct space *s, const struct view_dim *flat,
        const struct reshape_group *r, const int *to_dim,
        const struct sym *const *e, struct view *to)
{
    const struct sym *stride = flat->stride[r->a + r->na - 1];

    if (contiguous(s, flat, r->a, r->na)) {
        for (int i = r->b + r->nb - 1; i >= r->b; i--) {
            set_dim(&to->dim[to_dim[i]], e[i], stride);
            stride = sym_mul(s->syms, stride, e[i]);
        }
        return true;
    }
    if (r->nb != 1)
        return false;
    to->dim[to_dim[r->b]].n = r->na;
    for (int i = 0; i < r->na; i++) {
        to->dim[to_dim[r->b]].extent[i] = flat->extent[r->a + i];
        to->dim[to_dim[r->b]].stride[i] = flat->stride[r->a + i];
    }
    return true;
}

static bool
step_reshape(struct space *s, const struct node *n, const struct view *from,
             struct view *to)
{
    const struct node *arg = graph_node(s->g, n->args[0]);
    struct reshape_group groups[MAX_RANK];
    const struct sym *e[MAX_RANK];
    struct view_dim flat;
    int to_dim[MAX_RANK], n_to = 0, n_groups;

    for (int d = 0, total = 0; d < arg->rank; d++) {
        total += from->dim[d].n;
        if (total > MAX_RANK)
            return false;
    }
    flatten(from, arg->rank, &flat);
    *to = (struct view){.base = from->base};
    for (int d = 0; d < n->rank; d++) {
        if (sym_is_one(n->dims[d]))
            continue;
        e[n_to] = n->dims[d];
        to_dim[n_to++] = d;
    }
    if (!reshape_groups(s->syms, (struct extents){flat.extent, flat.n},
                        (struct extents){e, n_to}, groups, &n_groups))
        return false;
    for (int i = 0; i < n_groups; i++)
        if (!regroup(s, &flat, &groups[i], to_dim, e, to))
            return false;
    return true;
}

static view_step *const steps[OP_COUNT] = {
    [OP_BROADCAST] = step_map,   [OP_PERMUTE] = step_map,
    [OP_SQUEEZE] = step_map,     [OP_UNSQUEEZE] = step_map,
    [OP_SLICE] = step_slice,     [OP_SELECT_INDEX] = step_select,
    [OP_RESHAPE] = step_reshape, [OP_FLIP] = step_flip,
};

static struct view *
view_of_input(struct space *s, const struct node *n)
{
    const struct param *p = &s->g->params[n->param];
    const struct sym *row_major[MAX_RANK];
    struct view *v = NEW(s->arena, struct view);

    graph_row_major(s->syms, p->rank, p->dims, row_major);
    v->base = sym_int(s->syms, 0);
    for (int d = 0; d < n->rank; d++)
        set_dim(&v->dim[d], n->dims[d],
                p->has_strides ? p->strides[d] : row_major[d]);
    return v;
}

struct view *
view_of(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    struct view *v;

    if (n->op == OP_INPUT)
        return view_of_input(s, n);
    if (op_info[n->op].class != OC_VIEW || !s->view[n->args[0]])
        return NULL;
    assert(steps[n->op]);
    v = NEW(s->arena, struct view);
    return steps[n->op](s, n, s->view[n->args[0]], v) ? v : NULL;
}
