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

static bool
is_one(const struct sym *s)
{
    int64_t v;

    return sym_is_int(s, &v) && v == 1;
}

/* Both have the same extents but those of 1. */
static bool
same_extents(int rx, const struct sym *const *x, int ry,
             const struct sym *const *y)
{
    int i = 0, k = 0;

    for (;; i++, k++) {
        while (i < rx && is_one(x[i]))
            i++;
        while (k < ry && is_one(y[k]))
            k++;
        if (i == rx || k == ry)
            return i == rx && k == ry;
        if (!sym_equal(x[i], y[k]))
            return false;
    }
}

static bool
is_written(const struct variant_plan *v, uint32_t kernels, node_id n)
{
    for (uint32_t i = 0; i < kernels; i++)
        for (uint32_t w = 0; w < v->kernels[i].n_writes; w++)
            if (v->kernels[i].writes[w] == n)
                return true;
    return false;
}

/* Pointwise work on what the first kernels write is all it takes. */
static bool
follows(struct arena *a, const struct graph *g, const struct variant_plan *v,
        uint32_t kernels, node_id root)
{
    bool *need = NEW_ARRAY(a, bool, root + 1), any = false;

    need[root] = true;
    for (node_id n = root + 1; n-- > 0;) {
        const struct node *nd = graph_node(g, n);

        if (!need[n])
            continue;
        if (is_written(v, kernels, n)) {
            any = true;
            continue;
        }
        if (op_info[nd->op].class == OC_REDUCE)
            return false;
        for (uint32_t i = 0; i < nd->n_args; i++)
            need[nd->args[i]] = true;
    }
    return any;
}

/* A result with the extents of what a kernel reduces to goes with that kernel,
 * unless it may share the buffer of an input: later kernels read that. */
static uint32_t
writer_of(struct arena *a, const struct graph *g, const struct variant_plan *v,
          const struct result *r)
{
    for (uint32_t k = 0; r->inplace < 0 && k + 1 < v->n_kernels; k++) {
        const struct kernel_plan *own = &v->kernels[k];
        const struct node *w =
            own->n_writes ? graph_node(g, own->writes[0]) : NULL;

        if (w && same_extents(r->rank, r->dims, w->rank, w->dims) &&
            follows(a, g, v, k + 1, r->node))
            return k;
    }
    return v->n_kernels - 1;
}

/* Some kernel behind k computes with what is node N for it. */
static bool
is_read_later(struct arena *a, const struct graph *g,
              const struct variant_plan *v, uint32_t k, node_id n)
{
    bool *need = NEW_ARRAY(a, bool, g->n_nodes + 1);

    for (uint32_t i = k + 1; i < v->n_kernels; i++)
        for (uint32_t w = 0; w < v->kernels[i].n_writes; w++)
            need[v->kernels[i].writes[w]] = true;
    for (uint32_t i = 0; i < g->n_results; i++)
        if (writer_of(a, g, v, &g->results[i]) > k)
            need[g->results[i].node] = true;
    for (node_id id = g->n_nodes; id-- > n + 1;) {
        const struct node *nd = graph_node(g, id);

        for (uint32_t i = 0; need[id] && i < nd->n_args; i++)
            need[nd->args[i]] |= !is_written(v, k + 1, id);
    }
    return need[n];
}

const struct graph *
part_graph(struct arena *a, const struct graph *g, const struct variant_plan *v,
           uint32_t k)
{
    const struct kernel_plan *own = &v->kernels[k];
    uint32_t earlier = 0;
    struct graph *part;

    if (v->n_kernels == 1)
        return g;
    for (uint32_t i = 0; i < k; i++)
        earlier += v->kernels[i].n_writes;
    part = copy_graph(a, g, earlier);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t w = 0; w < v->kernels[i].n_writes; w++)
            make_input(part, g, v->kernels[i].writes[w]);
    part->results =
        NEW_ARRAY(a, struct result, own->n_writes + g->n_results + 1);
    part->n_results = 0;
    for (uint32_t w = 0; w < own->n_writes; w++)
        if (is_read_later(a, g, v, k, own->writes[w]))
            part->results[part->n_results++] =
                make_result(part, g, own->writes[w]);
    for (uint32_t i = 0; i < g->n_results; i++)
        if (writer_of(a, g, v, &g->results[i]) == k)
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
is_written_before(const struct variant_plan *v, uint32_t k, uint32_t w)
{
    node_id n = v->kernels[k].writes[w];

    for (uint32_t j = 0; j < w; j++)
        if (v->kernels[k].writes[j] == n)
            return true;
    return is_written(v, k, n);
}

static bool
is_result(struct arena *a, const struct graph *g, const struct variant_plan *v,
          uint32_t k, node_id n)
{
    for (uint32_t i = 0; i < g->n_results; i++)
        if (g->results[i].node == n && writer_of(a, g, v, &g->results[i]) == k)
            return true;
    return false;
}

static const char *
bad_write(struct arena *a, const struct facts *whole,
          const struct variant_plan *v, uint32_t k, uint32_t w)
{
    node_id n = v->kernels[k].writes[w];

    if (op_info[graph_node(whole->g, n)->op].class == OC_LEAF)
        return "it is at hand for every kernel";
    if (!whole->node[n].live)
        return "no result needs it";
    if (is_written_before(v, k, w))
        return "it has been written before";
    if (!is_read_later(a, whole->g, v, k, n) &&
        !is_result(a, whole->g, v, k, n))
        return "no kernel behind this one reads it";
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
    for (uint32_t w = 0; w < own->n_writes; w++) {
        const char *why = bad_write(a, whole, v, k, w);

        if (why)
            return arena_printf(a, "'%s' in workspace: %s",
                                plan_node_name(a, whole->g, own->writes[w]),
                                why);
    }
    return NULL;
}

bool
variant_is_fallback(const struct variant_plan *v)
{
    for (uint32_t k = 0; k < v->n_kernels; k++)
        if (v->kernels[k].scheduler != SCHED_FALLBACK)
            return false;
    return true;
}
