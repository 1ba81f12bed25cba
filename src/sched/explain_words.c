/* SPDX-License-Identifier: Apache-2.0 */
/* explain_words: what a value without a name is: an expression over values that
 * have one. Views that only rename dimensions are left out. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "support/arena.h"
#include "support/buf.h"

enum { DEPTH = 4 };

struct words {
    struct buf *b;
    const struct graph *g;
};

static void print(struct words *w, node_id n, int depth, bool inside);

static bool
is_renaming(enum op op)
{
    return op == OP_BROADCAST || op == OP_PERMUTE || op == OP_SQUEEZE ||
           op == OP_UNSQUEEZE || op == OP_RESHAPE;
}

static void
print_leaf(struct words *w, const struct node *n)
{
    if (n->op == OP_INPUT || n->op == OP_SCALAR)
        buf_puts(w->b, w->g->params[n->param].name);
    else if (n->op == OP_DIM)
        sym_print_fusion(w->b, n->extent);
    else if (n->op == OP_CONST && dtype_is_float(n->dtype))
        buf_double(w->b, n->value.f);
    else if (n->op == OP_CONST)
        buf_printf(w->b, "%" PRId64, n->value.i);
    else
        buf_puts(w->b, op_info[n->op].name);
}

static void
print_operator(struct words *w, const struct node *n, int depth, bool inside)
{
    const char *name = op_info[n->op].name;

    buf_puts(w->b, inside ? "(" : "");
    if (n->n_args == 2) {
        print(w, n->args[0], depth, true);
        buf_printf(w->b, " %s ", name);
    } else {
        buf_puts(w->b, name);
    }
    print(w, n->args[n->n_args - 1], depth, true);
    buf_puts(w->b, inside ? ")" : "");
}

static void
print_call(struct words *w, const struct node *n, int depth)
{
    const char *name =
        n->op == OP_CAST ? dtype_info[n->dtype].name : op_info[n->op].name;

    buf_printf(w->b, "%s(", name);
    for (uint32_t i = 0; i < n->n_args; i++) {
        buf_puts(w->b, i ? ", " : "");
        print(w, n->args[i], depth, false);
    }
    buf_putc(w->b, ')');
}

static void
print(struct words *w, node_id id, int depth, bool inside)
{
    const struct node *n = graph_node(w->g, id);

    while (is_renaming(n->op) && (!n->name || depth == DEPTH))
        n = graph_node(w->g, n->args[0]);
    if (n->name && depth < DEPTH)
        buf_puts(w->b, n->name);
    else if (op_info[n->op].class == OC_LEAF)
        print_leaf(w, n);
    else if (depth == 0)
        buf_puts(w->b, "...");
    else if (op_info[n->op].flags & OPF_OPERATOR)
        print_operator(w, n, depth - 1, inside);
    else
        print_call(w, n, depth - 1);
}

const char *
explain_words(struct arena *a, const struct graph *g, node_id n)
{
    struct buf b;
    struct words w = {&b, g};

    buf_init(&b, a);
    print(&w, n, DEPTH, false);
    return buf_str(&b);
}

static void
mark_held(const struct variant_plan *v, bool *held)
{
    for (uint32_t k = 0; k < v->n_kernels; k++) {
        for (uint32_t i = 0; i < v->kernels[k].n_buffers; i++)
            held[v->kernels[k].buffers[i].node] = true;
        for (uint32_t i = 0; i < v->kernels[k].n_writes; i++)
            held[v->kernels[k].writes[i]] = true;
    }
}

const bool *
explain_unnamed(const struct selection *s)
{
    struct arena *a = s->problem->arena;
    const struct graph *g = s->facts->g;
    bool *held = NEW_ARRAY(a, bool, g->n_nodes + 1);

    for (uint32_t i = 0; i < s->n_slots; i++)
        for (uint32_t c = 0; c < s->slots[i].n_candidates; c++)
            mark_held(&s->slots[i].candidates[c].plan, held);
    for (node_id n = 0; n < g->n_nodes; n++)
        held[n] = held[n] && *plan_node_name(a, g, n) == '%';
    return held;
}
