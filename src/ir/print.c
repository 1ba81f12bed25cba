/* SPDX-License-Identifier: Apache-2.0 */
/* print: the listing of a graph. After the head, one line per operation:
 *
 *     %3 = sum %2 [1] keepdim : f32[M, 1] # total
 *
 * is node 3, the reduction over dimension 1 of node 2, once named total. */
#include "support/base.h"

#include "ir/graph.h"

#include "ir/print_impl.h"
#include "support/buf.h"

/* --- attributes, by what the operation needs ------------------------------ */

static void
print_map(struct buf *b, const int *map, int rank)
{
    buf_puts(b, " [");
    for (int d = 0; d < rank; d++) {
        buf_puts(b, d > 0 ? ", " : "");
        if (map[d] == NO_DIM)
            buf_putc(b, '_');
        else
            buf_printf(b, "%d", map[d]);
    }
    buf_putc(b, ']');
}

static void
print_flags(struct buf *b, const struct graph *g, const struct node *n)
{
    const char *comma = "";

    buf_puts(b, " [");
    for (int d = 0; d < graph_node(g, n->args[0])->rank; d++) {
        if (n->flag[d])
            buf_printf(b, "%s%d", comma, d);
        comma = n->flag[d] ? ", " : comma;
    }
    buf_printf(b, "]%s", n->keepdim ? " keepdim" : "");
}

/* start or start:step per dimension. */
static void
print_starts(struct buf *b, const struct node *n, bool steps)
{
    buf_puts(b, " [");
    for (int d = 0; d < n->rank; d++) {
        buf_puts(b, d > 0 ? ", " : "");
        sym_print_fusion(b, n->start[d]);
        if (steps)
            buf_printf(b, ":%" PRId64, n->step[d]);
    }
    buf_putc(b, ']');
}

static void
print_select(struct buf *b, const struct node *n)
{
    buf_printf(b, " axis=%d", n->dim);
    if (n->n_args == 1) {
        buf_puts(b, " at ");
        sym_print_fusion(b, n->start[0]);
    }
}

static void
print_attributes(struct buf *b, const struct graph *g, const struct node *n)
{
    enum op op = n->op;
    enum op_class class = op_info[op].class;

    if (class == OC_REDUCE || op == OP_FLIP)
        print_flags(b, g, n);
    else if (op == OP_PERMUTE || op == OP_SQUEEZE || op == OP_UNSQUEEZE)
        print_map(b, n->map, n->rank);
    else if (op == OP_SLICE || op == OP_PAD)
        print_starts(b, n, op == OP_SLICE);
    else if (op == OP_SELECT_INDEX)
        print_select(b, n);
    else if (class == OC_SCAN || op == OP_CAT ||
             (class == OC_INDEX && op != OP_ONE_HOT))
        buf_printf(b, " axis=%d", n->dim);
}

/* --- lines ---------------------------------------------------------------- */

static void
print_reference(struct buf *b, const struct listing *l, node_id id)
{
    const struct node *n = graph_node(l->g, id);

    if (listing_is_leaf(n))
        listing_leaf(b, l->g, n);
    else
        buf_printf(b, "%%%" PRIu32, l->numbers[id]);
}

static void
print_line(struct buf *b, const struct listing *l, node_id id)
{
    const struct node *n = graph_node(l->g, id);
    struct expansion e;

    buf_printf(b, "  %%%" PRIu32 " = %s", l->numbers[id], op_info[n->op].name);
    if (n->op == OP_BROADCAST) {
        listing_expansion(l->g, n, &e);
        buf_putc(b, ' ');
        print_reference(b, l, e.source);
        print_map(b, e.map, n->rank);
    }
    for (uint32_t i = 0; n->op != OP_BROADCAST && i < n->n_args; i++) {
        buf_putc(b, ' ');
        print_reference(b, l, n->args[i]);
    }
    print_attributes(b, l->g, n);
    buf_printf(b, " : %s", dtype_info[n->dtype].name);
    print_extents(b, n->rank, n->dims);
    if (l->names[id] != NULL)
        buf_printf(b, " # %s", l->names[id]);
    buf_putc(b, '\n');
}

static void
print_layout(struct buf *b, int rank, const struct sym *const *strides,
             bool has_strides, int64_t align)
{
    if (has_strides) {
        buf_puts(b, " strides");
        print_extents(b, rank, strides);
    }
    if (align != 16)
        buf_printf(b, " align(%" PRId64 ")", align);
}

static void
print_param(struct buf *b, const struct param *p)
{
    buf_printf(b, "  %s: ", p->name);
    if (p->kind == PARAM_DIM) {
        buf_puts(b, "dim");
    } else if (p->kind == PARAM_SCALAR) {
        buf_puts(b, dtype_info[p->dtype].name);
    } else {
        buf_puts(b, dtype_info[p->dtype].name);
        print_extents(b, p->rank, p->dims);
        print_layout(b, p->rank, p->strides, p->has_strides, p->align);
    }
    if (p->has_default) {
        buf_puts(b, " = ");
        print_constant(b, p->dtype, p->value.i, p->value.f);
    }
    buf_putc(b, '\n');
}

static void
print_result(struct buf *b, const struct listing *l, const struct result *r)
{
    buf_printf(b, "  %s: %s", r->name, dtype_info[r->dtype].name);
    print_extents(b, r->rank, r->dims);
    print_layout(b, r->rank, r->strides, r->has_strides, r->align);
    if (r->inplace >= 0)
        buf_printf(b, " inplace(%s)", l->g->params[r->inplace].name);
    buf_puts(b, " = ");
    print_reference(b, l, r->node);
    buf_putc(b, '\n');
}

/* Those that a text writes as conditions, which are met first there; then the
 * rest. */
static void
print_guards(struct buf *b, const struct graph *g, bool conditions)
{
    for (uint32_t i = 0; i < g->n_guards; i++) {
        if (listing_is_condition(g, g->guards[i]) == conditions)
            buf_printf(b, "  requires %s\n", g->guards[i]);
    }
}

void
graph_print(struct buf *b, const struct graph *g)
{
    struct listing l;

    listing_init(&l, g);
    buf_printf(b, "fusion %s\n", g->name);
    for (uint32_t i = 0; i < g->n_params; i++) {
        if (!g->params[i].bound)
            print_param(b, &g->params[i]);
    }
    print_guards(b, g, true);
    print_guards(b, g, false);
    for (uint32_t id = 0; id < g->n_nodes; id++) {
        if (listing_has_line(&l, id))
            print_line(b, &l, id);
    }
    for (uint32_t i = 0; i < g->n_results; i++)
        print_result(b, &l, &g->results[i]);
}
