/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions in two steps.
 *
 * A reduction over the column and over other axes that can't be one with it,
 * such as a channel's mean over images and pixels, is none that a strategy
 * does. The same over the column first, and then of what that leaves over the
 * rest, is two that they do: the first reads everything along contiguous
 * memory, the second has little to read. A sum is added up in another order
 * for it, which no program can rely on; what keeps an index stays whole. */
#include "support/base.h"

#include "analysis/analysis_impl.h"

#include "support/arena.h"

static bool
takes_two_steps(const struct facts *f, node_id n)
{
    const struct node_facts *nf = &f->node[n];
    axis_mask column = f->column == NO_AXIS ? 0 : 1u << f->column;

    return nf->live && facts_is_reduction(f, n) && nf->column_dims &&
           (nf->reduced & ~column) &&
           !(op_info[graph_node(f->g, n)->op].flags & OPF_ARG_INDEX);
}

/* Over the column: what it reduces keeps its dimensions, of extent 1. */
static struct node
first_step(const struct facts *f, node_id n)
{
    const struct graph *g = f->g;
    struct node first = *graph_node(g, n);
    const struct node *arg = graph_node(g, first.args[0]);

    first.name = NULL;
    first.keepdim = true;
    first.rank = arg->rank;
    for (int d = 0; d < arg->rank; d++) {
        first.flag[d] = f->node[n].column_dims >> d & 1;
        first.dims[d] = first.flag[d] ? sym_int(g->syms, 1) : arg->dims[d];
    }
    return first;
}

static struct graph *
empty_copy(struct arena *a, const struct graph *g)
{
    struct graph *to = NEW(a, struct graph);

    *to = *g;
    to->nodes = NULL;
    to->n_nodes = to->cap_nodes = 0;
    to->results = NEW_ARRAY(a, struct result, g->n_results + 1);
    return to;
}

/* The node, its operands renumbered; of a reduction in two steps the second,
 * which reduces what is left of all its dimensions. */
static node_id
copy_node(struct graph *to, const struct facts *f, const node_id *map,
          node_id id)
{
    struct node n = *graph_node(f->g, id);
    node_id *args = NEW_ARRAY(to->arena, node_id, n.n_args + 1);

    for (uint32_t i = 0; i < n.n_args; i++)
        args[i] = map[n.args[i]];
    n.args = args;
    if (takes_two_steps(f, id)) {
        struct node first = first_step(f, id);

        first.args = args;
        args[0] = graph_add(to, &first);
    }
    return graph_add(to, &n);
}

const struct graph *
two_steps(struct arena *a, const struct facts *f)
{
    const struct graph *g = f->g;
    node_id *map;
    struct graph *to;
    bool any = false;

    for (node_id n = 0; n < g->n_nodes; n++)
        any |= takes_two_steps(f, n);
    if (!any)
        return NULL;
    map = NEW_ARRAY(a, node_id, g->n_nodes + 1);
    to = empty_copy(a, g);
    for (node_id n = 0; n < g->n_nodes; n++)
        map[n] = copy_node(to, f, map, n);
    for (uint32_t i = 0; i < g->n_results; i++) {
        to->results[i] = g->results[i];
        to->results[i].node = map[g->results[i].node];
    }
    return to;
}

struct facts *
facts_prepare(struct arena *a, const struct graph *resolved)
{
    struct facts *f = facts_analyse(a, graph_simplify(resolved));
    const struct graph *g =
        f->axes_ok && f->kind == GK_OTHER ? two_steps(a, f) : NULL;

    /* Once more, as two first steps may be equal. */
    return g ? facts_analyse(a, graph_simplify(g)) : f;
}
