/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of each part, cut out of the fusion's. */
#include "support/base.h"

#include "sched/parts.h"

#include "support/arena.h"

/* The name of a value that waits: unique, as plan_node_name is; "%7" has none
 * of its own. */
static const char *
waiting_name(struct arena *a, const struct graph *g, node_id n)
{
    const char *name = plan_node_name(a, g, n);

    return arena_printf(a, "part_%s", name + (*name == '%'));
}

static void
copy_shape(const struct node *n, int *rank, const struct sym **dims)
{
    *rank = n->rank;
    memcpy(dims, n->dims, sizeof(n->dims));
}

/* Node N of G is read from workspace. */
static void
make_input(struct graph *part, const struct graph *g, node_id n)
{
    const struct node *was = graph_node(g, n);
    struct param p = {.kind = PARAM_TENSOR,
                      .name = waiting_name(part->arena, g, n),
                      .dtype = dtype_compute(was->dtype),
                      .align = WORKSPACE_ALIGN,
                      .is_workspace = true,
                      .span = was->span};
    struct node input = {.op = OP_INPUT,
                         .dtype = p.dtype,
                         .name = was->name,
                         .span = was->span,
                         .param = part->n_params};

    copy_shape(was, &p.rank, p.dims);
    copy_shape(was, &input.rank, input.dims);
    part->nodes[n] = input;
    part->params[part->n_params++] = p;
}

/* Views of what waits are read as it waits: in the type of the computation. */
static void
retype_views(struct graph *part)
{
    for (node_id n = 0; n < part->n_nodes; n++) {
        struct node *nd = &part->nodes[n];

        if (op_info[nd->op].class == OC_VIEW)
            nd->dtype = part->nodes[nd->args[0]].dtype;
    }
}

static struct result
make_result(struct graph *part, const struct graph *g, node_id n)
{
    const struct node *was = graph_node(g, n);
    struct result r = {.name = waiting_name(part->arena, g, n),
                       .node = n,
                       .dtype = dtype_compute(was->dtype),
                       .align = WORKSPACE_ALIGN,
                       .inplace = -1,
                       .is_workspace = true,
                       .span = was->span};

    copy_shape(was, &r.rank, r.dims);
    return r;
}

/* A copy whose nodes, parameters and results may be changed. */
static struct graph *
copy_graph(struct arena *a, const struct graph *g, uint32_t more_params)
{
    struct graph *c = NEW(a, struct graph);

    *c = *g;
    c->arena = a;
    c->nodes = NEW_ARRAY(a, struct node, g->n_nodes + 1);
    memcpy(c->nodes, g->nodes, g->n_nodes * sizeof(*g->nodes));
    c->cap_nodes = g->n_nodes + 1;
    c->params = NEW_ARRAY(a, struct param, g->n_params + more_params + 1);
    memcpy(c->params, g->params, g->n_params * sizeof(*g->params));
    return c;
}

/* --- which kernel writes a result ----------------------------------------- */

/* Both have the same extents but those of 1. */
static bool
same_extents(int rx, const struct sym *const *x, int ry,
             const struct sym *const *y)
{
    int i = 0, k = 0;

    for (;; i++, k++) {
        while (i < rx && sym_is_one(x[i]))
            i++;
        while (k < ry && sym_is_one(y[k]))
            k++;
        if (i == rx || k == ry)
            return i == rx && k == ry;
        if (!sym_equal(x[i], y[k]))
            return false;
    }
}

/* What a variant says of the nodes and results of a graph. */
struct cut {
    const struct graph *g;
    uint32_t kernels;
    uint32_t *writer;    /* by node: the kernel that writes it to workspace */
    uint32_t *result_of; /* by result: the kernel that writes it */
};

/* For each node, whether the first kernels' writes, and pointwise work, are all
 * it takes. */
static bool *
followers(struct arena *a, const struct cut *c, uint32_t kernels)
{
    const struct graph *g = c->g;
    bool *given = NEW_ARRAY(a, bool, g->n_nodes + 1);
    bool *any = NEW_ARRAY(a, bool, g->n_nodes + 1);

    for (node_id n = 0; n < g->n_nodes; n++) {
        const struct node *nd = graph_node(g, n);

        given[n] = op_info[nd->op].class != OC_REDUCE;
        for (uint32_t i = 0; i < nd->n_args; i++) {
            given[n] = given[n] && given[nd->args[i]];
            any[n] = any[n] || any[nd->args[i]];
        }
        if (c->writer[n] < kernels)
            given[n] = any[n] = true;
    }
    for (node_id n = 0; n < g->n_nodes; n++)
        given[n] = given[n] && any[n];
    return given;
}

/* A result with the extents of what a kernel reduces to goes with that kernel,
 * unless it may share the buffer of an input: later kernels read that. */
static void
give_results(struct arena *a, struct cut *c, const struct variant_plan *v,
             uint32_t k)
{
    const struct kernel_plan *own = &v->kernels[k];
    const struct node *w =
        own->n_writes ? graph_node(c->g, own->writes[0]) : NULL;
    const bool *given = followers(a, c, k + 1);

    for (uint32_t i = 0; w && i < c->g->n_results; i++) {
        const struct result *r = &c->g->results[i];

        if (c->result_of[i] > k && r->inplace < 0 && given[r->node] &&
            same_extents(r->rank, r->dims, w->rank, w->dims))
            c->result_of[i] = k;
    }
}

static struct cut
cut_of(struct arena *a, const struct graph *g, const struct variant_plan *v)
{
    struct cut c = {.g = g, .kernels = v->n_kernels};

    c.writer = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
    c.result_of = NEW_ARRAY(a, uint32_t, g->n_results + 1);
    for (node_id n = 0; n < g->n_nodes; n++)
        c.writer[n] = v->n_kernels;
    for (uint32_t k = v->n_kernels; k-- > 0;)
        for (uint32_t w = 0; w < v->kernels[k].n_writes; w++)
            c.writer[v->kernels[k].writes[w]] = k;
    for (uint32_t i = 0; i < g->n_results; i++)
        c.result_of[i] = v->n_kernels - 1;
    for (uint32_t k = 0; k + 1 < v->n_kernels; k++)
        give_results(a, &c, v, k);
    return c;
}

/* By node, whether some kernel behind k computes with it. */
static bool *
read_later(struct arena *a, const struct cut *c, uint32_t k)
{
    const struct graph *g = c->g;
    bool *need = NEW_ARRAY(a, bool, g->n_nodes + 1);

    for (node_id n = 0; n < g->n_nodes; n++)
        need[n] = c->writer[n] > k && c->writer[n] < c->kernels;
    for (uint32_t i = 0; i < g->n_results; i++)
        if (c->result_of[i] > k)
            need[g->results[i].node] = true;
    for (node_id n = g->n_nodes; n-- > 0;) {
        const struct node *nd = graph_node(g, n);

        for (uint32_t i = 0; need[n] && c->writer[n] > k && i < nd->n_args; i++)
            need[nd->args[i]] = true;
    }
    return need;
}

const struct graph *
part_graph(struct arena *a, const struct graph *g, const struct variant_plan *v,
           uint32_t k)
{
    const struct kernel_plan *own = &v->kernels[k];
    uint32_t earlier = 0;
    struct graph *part;
    struct cut c;
    bool *need;

    if (v->n_kernels == 1)
        return g;
    c = cut_of(a, g, v);
    need = read_later(a, &c, k);
    for (uint32_t i = 0; i < k; i++)
        earlier += v->kernels[i].n_writes;
    part = copy_graph(a, g, earlier);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t w = 0; w < v->kernels[i].n_writes; w++)
            make_input(part, g, v->kernels[i].writes[w]);
    retype_views(part);
    part->results =
        NEW_ARRAY(a, struct result, own->n_writes + g->n_results + 1);
    part->n_results = 0;
    for (uint32_t w = 0; w < own->n_writes; w++)
        if (need[own->writes[w]])
            part->results[part->n_results++] =
                make_result(part, g, own->writes[w]);
    for (uint32_t i = 0; i < g->n_results; i++)
        if (c.result_of[i] == k)
            part->results[part->n_results++] = g->results[i];
    return part;
}

const struct facts *
part_facts(struct arena *a, const struct facts *whole,
           const struct variant_plan *v, uint32_t k)
{
    return v->n_kernels == 1 ? whole
                             : facts_analyse(a, part_graph(a, whole->g, v, k));
}

static bool
is_result(const struct cut *c, uint32_t k, node_id n)
{
    for (uint32_t i = 0; i < c->g->n_results; i++)
        if (c->g->results[i].node == n && c->result_of[i] == k)
            return true;
    return false;
}

static const char *
bad_write(const struct facts *whole, const struct cut *c,
          const struct variant_plan *v, uint32_t k, uint32_t w)
{
    node_id n = v->kernels[k].writes[w];

    if (op_info[graph_node(whole->g, n)->op].class == OC_LEAF)
        return "it is at hand for every kernel";
    if (!whole->node[n].live)
        return "no result needs it";
    if (c->writer[n] != k)
        return "it has been written before";
    for (uint32_t i = 0; i < w; i++)
        if (v->kernels[k].writes[i] == n)
            return "it has been written before";
    return NULL;
}

static const char *
bad_writes(struct arena *a, const struct facts *whole,
           const struct variant_plan *v, uint32_t k)
{
    const struct kernel_plan *own = &v->kernels[k];
    struct cut c = cut_of(a, whole->g, v);
    const bool *need = read_later(a, &c, k);

    for (uint32_t w = 0; w < own->n_writes; w++) {
        node_id n = own->writes[w];
        const char *why = bad_write(whole, &c, v, k, w);

        if (!why && !need[n] && !is_result(&c, k, n))
            why = "no kernel behind this one reads it";
        if (why)
            return arena_printf(a, "'%s' in workspace: %s",
                                plan_node_name(a, whole->g, n), why);
    }
    return NULL;
}

const char *
part_refuse(struct arena *a, const struct facts *whole,
            const struct variant_plan *v, uint32_t k)
{
    const struct kernel_plan *own = &v->kernels[k];

    if (v->n_kernels > MAX_KERNELS)
        return arena_printf(a, "a variant has at most %d kernels", MAX_KERNELS);
    if (k + 1 == v->n_kernels && own->n_writes)
        return "no kernel behind it reads what it writes to workspace";
    if (k + 1 == v->n_kernels)
        return part_graph(a, whole->g, v, k)->n_results
                   ? NULL
                   : "it has nothing left to compute";
    if (!own->n_writes)
        return "it writes nothing to workspace for the kernels behind it";
    return bad_writes(a, whole, v, k);
}

bool
variant_is_fallback(const struct variant_plan *v)
{
    for (uint32_t k = 0; k < v->n_kernels; k++)
        if (v->kernels[k].scheduler != SCHED_FALLBACK)
            return false;
    return true;
}
