/* SPDX-License-Identifier: Apache-2.0 */
/* dot: a graph for Graphviz. Ovals are inputs, boxes operations, double boxes
 * results; reductions are drawn bold, because they end what can be fused. */
#include "support/base.h"

#include "ir/graph.h"

#include "ir/print_impl.h"
#include "support/buf.h"

static void
print_label(struct buf *b, const struct graph *g, const struct node *n)
{
    struct buf text;

    buf_init(&text, g->arena);
    if (listing_is_leaf(n))
        listing_leaf(&text, g, n);
    else
        buf_puts(&text, op_info[n->op].name);
    buf_printf(&text, "\n%s", dtype_info[n->dtype].name);
    print_extents(&text, n->rank, n->dims);
    buf_json_string(b, buf_str(&text), text.len);
}

static void
print_node(struct buf *b, const struct graph *g, node_id id)
{
    const struct node *n = graph_node(g, id);

    buf_printf(b, "  n%" PRIu32 " [label=", id);
    print_label(b, g, n);
    if (listing_is_leaf(n))
        buf_puts(b, ", shape=oval");
    else if (op_info[n->op].class == OC_REDUCE)
        buf_puts(b, ", style=bold");
    buf_puts(b, "];\n");
    for (uint32_t i = 0; i < n->n_args; i++)
        buf_printf(b, "  n%" PRIu32 " -> n%" PRIu32 ";\n", n->args[i], id);
}

void
graph_print_dot(struct buf *b, const struct graph *g)
{
    buf_printf(b, "digraph \"%s\" {\n  node [shape=box];\n", g->name);
    for (uint32_t id = 0; id < g->n_nodes; id++)
        print_node(b, g, id);
    for (uint32_t i = 0; i < g->n_results; i++) {
        buf_printf(b, "  r%" PRIu32 " [label=\"%s\", peripheries=2];\n", i,
                   g->results[i].name);
        buf_printf(b, "  n%" PRIu32 " -> r%" PRIu32 ";\n", g->results[i].node,
                   i);
    }
    buf_puts(b, "}\n");
}
