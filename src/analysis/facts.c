/* SPDX-License-Identifier: Apache-2.0 */
/* What is live, which values are read from memory, and the order of the steps
 * that turn a graph into axes and accesses (analysis_impl.h). */
#include "support/base.h"

#include "analysis/facts.h"

#include "analysis/analysis_impl.h"
#include "support/arena.h"

void
space_fail(struct space *s, const char *fmt, ...)
{
    va_list ap;

    if (!s->f->axes_ok)
        return;
    s->f->axes_ok = false;
    va_start(ap, fmt);
    s->f->why = arena_vprintf(s->arena, fmt, ap);
    va_end(ap);
}

static void
mark_views(struct space *s)
{
    for (node_id id = 0; id < s->g->n_nodes; id++) {
        s->view[id] = view_of(s, id);
        s->f->node[id].is_leaf = s->view[id] != NULL;
        s->f->node[id].value = id;
    }
}

/* A view of an input reads memory itself; what it is a view of is not needed.
 */
static void
mark_live(struct space *s)
{
    for (uint32_t i = 0; i < s->g->n_results; i++)
        s->f->node[s->g->results[i].node].live = true;
    for (node_id id = s->g->n_nodes; id-- > 0;) {
        const struct node *n = graph_node(s->g, id);

        if (!s->f->node[id].live || s->view[id])
            continue;
        for (uint32_t i = 0; i < n->n_args; i++)
            s->f->node[n->args[i]].live = true;
    }
}

struct facts *
facts_analyse(struct arena *a, const struct graph *g)
{
    struct facts *f = NEW(a, struct facts);
    struct space s = {.arena = a, .syms = g->syms, .g = g, .f = f};

    f->g = g;
    f->axes_ok = true;
    f->column = NO_AXIS;
    f->kind = GK_OTHER;
    f->node = NEW_ARRAY(a, struct node_facts, g->n_nodes);
    s.dim = arena_array(a, g->n_nodes, sizeof(*s.dim));
    s.view = NEW_ARRAY(a, struct view *, g->n_nodes);
    mark_views(&s);
    mark_live(&s);
    space_tie(&s);
    if (f->axes_ok)
        space_join(&s);
    if (f->axes_ok)
        space_place(&s);
    if (f->axes_ok)
        space_classify(&s);
    else
        f->kind_why = f->why;
    space_traffic(&s);
    return f;
}

bool
facts_is_reduction(const struct facts *f, node_id n)
{
    return op_info[graph_node(f->g, n)->op].class == OC_REDUCE;
}

axis_mask
facts_all_axes(const struct facts *f)
{
    return (1u << f->n_axes) - 1;
}

const struct sym *
facts_extent(const struct facts *f, axis_mask axes)
{
    const struct sym *e = sym_int(f->g->syms, 1);

    for (int i = 0; i < f->n_axes; i++)
        if (axes >> i & 1)
            e = sym_mul(f->g->syms, e, f->axes[i].extent);
    return e;
}
