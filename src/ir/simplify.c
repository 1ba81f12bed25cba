/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: the graph that schedulers see. Every rewrite gives the same bits,
 * contraction aside: no sum is reordered, no rounding is dropped.
 *
 * The graph is rebuilt front to back. Each node meets simple operands, goes
 * through the rules below, and is then looked up among the nodes made so far,
 * so that equal values become one. What nothing refers to any more is left out
 * when the result is copied at the end. */
#include "support/base.h"

#include "ir/graph.h"

#include "ir/print_impl.h"
#include "ir/simplify_impl.h"
#include "support/arena.h"

/* In this order; a rule that changes a node in place starts no other over.
 *   operands  needs simple operands; gives operands without lossless widening
 *   view      gives one view where there were two, none where it is the whole
 *   cast      gives one cast where a lossless one came first
 *   fold      gives a constant for exact operations on constants
 *   identity  gives the operand where an operation returns it unchanged */
static simplify_rule *const rules[] = {
    simplify_operands, simplify_view,     simplify_cast,
    simplify_fold,     simplify_identity,
};

/* --- equal values become one ---------------------------------------------- */

static uint64_t
mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 31);
}

/* Over what equal nodes surely share; operands in no order. */
static uint64_t
hash_node(const struct node *n)
{
    uint64_t h = mix(mix(n->op, n->dtype), (uint64_t)n->rank), args = 0;

    for (uint32_t i = 0; i < n->n_args; i++)
        args += mix(11, n->args[i]);
    h = mix(mix(h, args), n->param);
    return mix(h, (uint64_t)n->value.i);
}

static bool
same_operands(const struct node *a, const struct node *b)
{
    if (a->n_args != b->n_args)
        return false;
    if (a->n_args == 2 && op_info[a->op].class == OC_POINTWISE &&
        (op_info[a->op].flags & OPF_COMMUTES) && a->args[0] == b->args[1] &&
        a->args[1] == b->args[0])
        return true;
    for (uint32_t i = 0; i < a->n_args; i++) {
        if (a->args[i] != b->args[i])
            return false;
    }
    return true;
}

/* The union holds 8 bytes of either kind, and i covers them all: equal bits are
 * equal values. */
static bool
same_value(const struct node *a, const struct node *b)
{
    if (a->op != b->op || a->dtype != b->dtype || a->rank != b->rank ||
        a->param != b->param || a->extent != b->extent || a->dim != b->dim ||
        a->keepdim != b->keepdim || a->draw != b->draw ||
        a->value.i != b->value.i)
        return false;
    for (int d = 0; d < MAX_RANK; d++) {
        if ((d < a->rank && a->dims[d] != b->dims[d]) ||
            a->map[d] != b->map[d] || a->start[d] != b->start[d] ||
            a->step[d] != b->step[d] || a->flag[d] != b->flag[d])
            return false;
    }
    return same_operands(a, b);
}

static void
grow_table(struct simplify *s)
{
    uint32_t old = s->n_buckets;

    s->n_buckets = old ? 2 * old : 256;
    s->buckets = NEW_ARRAY(s->to->arena, node_id, s->n_buckets);
    for (node_id id = 0; id < s->to->n_nodes; id++) {
        uint32_t at = (uint32_t)hash_node(&s->to->nodes[id]);

        while (s->buckets[at & (s->n_buckets - 1)] != 0)
            at++;
        s->buckets[at & (s->n_buckets - 1)] = id + 1;
    }
}

static node_id
intern(struct simplify *s, const struct node *n)
{
    if (2 * s->to->n_nodes >= s->n_buckets)
        grow_table(s);

    uint32_t at = (uint32_t)hash_node(n) & (s->n_buckets - 1);
    for (; s->buckets[at] != 0; at = (at + 1) & (s->n_buckets - 1)) {
        struct node *old = &s->to->nodes[s->buckets[at] - 1];

        if (!same_value(old, n))
            continue;
        if (old->name == NULL)
            old->name = n->name;
        return s->buckets[at] - 1;
    }
    s->buckets[at] = graph_add(s->to, n) + 1;
    return s->buckets[at] - 1;
}

node_id
simplify_emit(struct simplify *s, const struct node *n)
{
    struct node copy = *n;
    node_id found;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (!rules[i](s, &copy, &found))
            continue;
        if (s->to->nodes[found].name == NULL &&
            op_info[s->to->nodes[found].op].class != OC_LEAF)
            s->to->nodes[found].name = n->name;
        return found;
    }
    return intern(s, &copy);
}

/* --- the graph -------------------------------------------------------------
 */

static struct graph *
empty_like(const struct graph *g)
{
    struct graph *to = graph_new(g->arena, g->syms, g->name);

    to->params = g->params;
    to->n_params = g->n_params;
    to->dims = g->dims;
    to->n_dims = g->n_dims;
    to->results = NEW_ARRAY(g->arena, struct result, g->n_results);
    to->n_results = g->n_results;
    for (uint32_t i = 0; i < g->n_results; i++)
        to->results[i] = g->results[i];
    for (uint32_t i = 0; i < g->n_guards; i++) {
        if (g->guard_derived[i])
            graph_add_derived_guard(to, g->guards[i]);
        else
            graph_add_guard(to, g->guards[i]);
    }
    return to;
}

/* live[id]: some result depends on the node. */
static bool *
live_nodes(const struct graph *g)
{
    bool *live = NEW_ARRAY(g->arena, bool, g->n_nodes + 1);

    for (uint32_t i = 0; i < g->n_results; i++)
        live[g->results[i].node] = true;
    for (uint32_t id = g->n_nodes; id-- > 0;) {
        for (uint32_t i = 0; live[id] && i < g->nodes[id].n_args; i++)
            live[g->nodes[id].args[i]] = true;
    }
    return live;
}

typedef node_id emit_fn(struct simplify *s, const struct node *n);

static node_id
emit_unchanged(struct simplify *s, const struct node *n)
{
    return graph_add(s->to, n);
}

/* Needs: nothing. Gives: the live nodes of g, each through emit. */
static struct graph *
rebuild(const struct graph *g, emit_fn *emit)
{
    struct simplify s = {.to = empty_like(g)};
    bool *live = live_nodes(g);
    node_id *map = NEW_ARRAY(g->arena, node_id, g->n_nodes + 1);

    for (uint32_t id = 0; id < g->n_nodes; id++) {
        struct node n = g->nodes[id];
        node_id *args = NEW_ARRAY(g->arena, node_id, n.n_args);

        if (!live[id])
            continue;
        for (uint32_t i = 0; i < n.n_args; i++)
            args[i] = map[n.args[i]];
        n.args = args;
        if (n.name != NULL && listing_is_generated(n.name))
            n.name = NULL;
        map[id] = emit(&s, &n);
    }
    for (uint32_t i = 0; i < g->n_results; i++)
        s.to->results[i].node = map[g->results[i].node];
    return s.to;
}

/* Needs: a verified graph. Gives: a verified graph of the same values. */
struct graph *
graph_simplify(const struct graph *g)
{
    return rebuild(rebuild(g, simplify_emit), emit_unchanged);
}
