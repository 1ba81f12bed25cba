/* SPDX-License-Identifier: Apache-2.0 */
/* Which axis is the column (reduced or vectorised within a row), what kind of
 * graph that makes, and what must move. */
#include "support/base.h"

#include "analysis/analysis_impl.h"

#include "support/arena.h"

static double
access_bytes(struct space *s, const struct access *a)
{
    enum dtype t = a->param >= 0 ? s->g->params[a->param].dtype
                                 : s->g->results[a->result].dtype;
    double size = dtype_info[t].bytes;

    for (int i = 0; i < s->f->n_axes; i++)
        if (a->stride[i])
            size *= rough(s->f->axes[i].extent);
    return size;
}

static bool
is_unit(const struct sym *stride)
{
    return stride && sym_is_one(stride);
}

/* Bytes of the accesses that run along the axis without gaps. */
static double
unit_traffic(struct space *s, int axis)
{
    double sum = 0;

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node_facts *f = &s->f->node[id];

        if (f->live && f->is_leaf &&
            is_unit(s->accesses.v[f->access].stride[axis]))
            sum += access_bytes(s, &s->accesses.v[f->access]);
    }
    for (uint32_t i = 0; i < s->g->n_results; i++)
        if (is_unit(s->f->stores[i].stride[axis]))
            sum += access_bytes(s, &s->f->stores[i]);
    return sum;
}

static bool
is_inner_only(struct space *s, int axis)
{
    for (node_id id = 0; id < s->g->n_nodes; id++)
        if (s->f->node[id].live && s->f->node[id].reduced == 1u << axis)
            return true;
    return false;
}

/* An axis that some reduction removes alone wins when it is also the one with
 * unit stride; without any, the axis of most unit-stride traffic. */
int
choose_column(struct space *s)
{
    int best = NO_AXIS;
    double best_traffic = -1;

    for (int i = 0; i < s->f->n_axes; i++) {
        double t = unit_traffic(s, i);

        if (t > best_traffic || (t == best_traffic && is_inner_only(s, i))) {
            best = i;
            best_traffic = t;
        }
    }
    return best;
}

/* What is asked of every node, over and over. */
static void
set_place(struct facts *f, struct node_facts *nf)
{
    axis_mask column = f->column == NO_AXIS ? 0 : 1u << f->column;

    nf->has_column = (nf->axes & column) != 0;
    nf->has_rows = (nf->axes & f->rows) != 0;
    nf->is_inner = column && nf->reduced == column;
    nf->is_outer = f->rows && nf->reduced == f->rows;
}

static void
list_nodes(struct space *s)
{
    struct facts *f = s->f;

    f->leaves = NEW_ARRAY(s->arena, node_id, s->g->n_nodes + 1);
    f->reductions = NEW_ARRAY(s->arena, node_id, s->g->n_nodes + 1);
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        if (f->node[id].live && f->node[id].is_leaf)
            f->leaves[f->n_leaves++] = id;
        if (f->node[id].live && facts_is_reduction(f, id))
            f->reductions[f->n_reductions++] = id;
    }
}

static const char *
other_reduction(struct space *s, node_id id)
{
    const struct facts *f = s->f;
    const struct node *n = graph_node(s->g, id);
    const struct node_facts *nf = &f->node[id];
    const struct node_facts *arg = &f->node[n->args[0]];
    const char *name = op_info[n->op].name;

    if (nf->reduced == 0)
        return arena_printf(s->arena, "'%s' reduces extents of 1 only", name);
    assert(f->column != NO_AXIS);
    if (op_info[n->op].flags & OPF_ARG_INDEX)
        return arena_printf(s->arena, "'%s' keeps an index", name);
    if (arg->after_outer)
        return arena_printf(s->arena,
                            "'%s' of the result of an outer "
                            "reduction",
                            name);
    if (nf->reduced == 1u << f->column)
        return NULL;
    if (nf->reduced & 1u << f->column)
        return arena_printf(s->arena,
                            "'%s' reduces row and column axes that "
                            "do not merge",
                            name);
    if (nf->reduced != f->rows)
        return arena_printf(s->arena, "'%s' reduces a part of the row axes",
                            name);
    if (!(arg->axes & 1u << f->column))
        return arena_printf(s->arena,
                            "'%s' over the rows of a value without "
                            "the column axis",
                            name);
    return NULL;
}

static void
set_levels(struct space *s, node_id id)
{
    const struct node *n = graph_node(s->g, id);
    struct node_facts *nf = &s->f->node[id];

    if (nf->is_leaf)
        return;
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct node_facts *a = &s->f->node[n->args[i]];

        if (!a->live)
            continue;
        nf->level = MAX(nf->level, a->level);
        nf->after_outer |= a->after_outer;
    }
    nf->level += facts_is_inner(s->f, id);
    nf->after_outer |= facts_is_outer(s->f, id);
    s->f->levels = MAX(s->f->levels, nf->level);
}

static const char *
misused_outer(struct space *s, node_id id)
{
    const struct node_facts *nf = &s->f->node[id];

    if (!nf->after_outer || !(nf->axes & s->f->rows))
        return NULL;
    return "the result of an outer reduction is used along the rows";
}

static void
set_column_dims(struct space *s, node_id id)
{
    for (int d = 0; d < MAX_RANK; d++)
        if (s->f->column != NO_AXIS && s->over[id][d] == 1u << s->f->column)
            s->f->node[id].column_dims |= 1u << d;
}

static void
set_kind(struct space *s)
{
    bool inner = false, outer = false;

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const char *why = NULL;

        if (!s->f->node[id].live)
            continue;
        set_levels(s, id);
        if (facts_is_reduction(s->f, id)) {
            set_column_dims(s, id);
            why = other_reduction(s, id);
        }
        if (!why)
            why = misused_outer(s, id);
        if (why && !s->f->kind_why)
            s->f->kind_why = why;
        inner |= facts_is_inner(s->f, id);
        outer |= facts_is_outer(s->f, id);
    }
    s->f->kind = s->f->kind_why   ? GK_OTHER
                 : inner && outer ? GK_INNER_OUTER
                 : inner          ? GK_INNER
                 : outer          ? GK_OUTER
                                  : GK_POINTWISE;
}

static const struct sym *
bytes_of(struct space *s, const struct sym *elements, enum dtype t)
{
    return sym_mul(s->syms, elements, sym_int(s->syms, dtype_info[t].bytes));
}

static const struct sym *
tensor_extent(struct space *s, int rank, const struct sym *const *dims)
{
    const struct sym *e = sym_int(s->syms, 1);

    for (int d = 0; d < rank; d++)
        e = sym_mul(s->syms, e, dims[d]);
    return e;
}

/* What must be read of one parameter: its accesses, but never more than the
 * whole tensor, which is all that is known without axes. */
static const struct sym *
param_elements(struct space *s, int param)
{
    const struct param *p = &s->g->params[param];
    const struct sym *whole = tensor_extent(s, p->rank, p->dims);
    const struct sym *sum = sym_int(s->syms, 0);

    if (!s->f->axes_ok)
        return whole;
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node_facts *f = &s->f->node[id];
        const struct access *a;
        const struct sym *e;

        if (!f->live || !f->is_leaf)
            continue;
        a = &s->accesses.v[f->access];
        if (a->param != param)
            continue;
        e = facts_extent(s->f, a->axes);
        if (sym_equal(e, whole))
            return whole;
        sum = sym_add(s->syms, sum, e);
    }
    return sum;
}

void
space_traffic(struct space *s)
{
    struct facts *f = s->f;

    f->bytes_in = sym_int(s->syms, 0);
    f->bytes_out = sym_int(s->syms, 0);
    for (uint32_t i = 0; i < s->g->n_params; i++)
        if (s->g->params[i].kind == PARAM_TENSOR)
            f->bytes_in = sym_add(
                s->syms, f->bytes_in,
                bytes_of(s, param_elements(s, (int)i), s->g->params[i].dtype));
    for (uint32_t i = 0; i < s->g->n_results; i++) {
        const struct result *r = &s->g->results[i];

        f->bytes_out =
            sym_add(s->syms, f->bytes_out,
                    bytes_of(s, tensor_extent(s, r->rank, r->dims), r->dtype));
    }
}

static void
set_flops(struct space *s)
{
    axis_mask all = facts_all_axes(s->f);

    for (node_id id = 0; id < s->g->n_nodes; id++) {
        const struct node_facts *f = &s->f->node[id];
        const struct node *n = graph_node(s->g, id);

        if (f->live && f->has_column && op_info[n->op].flags & OPF_EXPENSIVE)
            s->f->expensive = true;
        if (f->live && !f->is_leaf && !f->is_alias &&
            (f->axes | f->reduced) == all)
            s->f->flops_per_element += op_info[n->op].cost;
    }
}

void
space_classify(struct space *s)
{
    s->f->rows = facts_all_axes(s->f);
    if (s->f->column != NO_AXIS)
        s->f->rows &= ~(1u << s->f->column);
    for (node_id id = 0; id < s->g->n_nodes; id++)
        set_place(s->f, &s->f->node[id]);
    list_nodes(s);
    set_kind(s);
    set_flops(s);
}
