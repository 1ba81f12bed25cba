/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest cut is a minimum cut. Each value is an edge from its `in` to its
 * `out` as wide as holding it costs; the source has an edge to each `in` as
 * wide as having the value again costs; from the `out` of each argument to the
 * `in` of its user, and from what is wanted to the sink, edges cannot be cut.
 * An `in` on the sink's side is a value had again, an edge from `in` to `out`
 * that is cut a value held. The flow is the one of Edmonds and Karp: shortest
 * paths, found breadth first, in the order of the values. */
#include "support/base.h"

#include "schedulers/cut.h"

#include "support/arena.h"
#include "support/vec.h"

enum { SOURCE, SINK, FIRST, NO_EDGE = -1 };

struct edge {
    uint32_t to;
    int next; /* of the same start */
    int64_t room;
};

struct net {
    struct arena *arena;
    VEC(struct edge) edges; /* each followed by its reverse */
    int *first;             /* edge, by node */
    int *from;              /* edge by which a search came; NO_EDGE */
    uint32_t *queue;
    uint32_t nodes;
};

static uint32_t
in_of(uint32_t v)
{
    return FIRST + 2 * v;
}

static uint32_t
out_of(uint32_t v)
{
    return FIRST + 2 * v + 1;
}

static void
add_half(struct net *g, uint32_t from, uint32_t to, int64_t room)
{
    struct edge e = {to, g->first[from], room};

    g->first[from] = (int)g->edges.n;
    VEC_PUSH(g->arena, &g->edges, e);
}

static void
add_edge(struct net *g, uint32_t from, uint32_t to, int64_t room)
{
    add_half(g, from, to, room);
    add_half(g, to, from, 0);
}

static int64_t
price(int64_t cost, int64_t each)
{
    return cost >= CUT_NEVER ? CUT_NEVER : cost * each;
}

static struct net
net_of(struct arena *a, const struct cut_value *v, uint32_t n,
       int64_t hold_price, int64_t again_price)
{
    struct net g = {.arena = a, .nodes = FIRST + 2 * n};

    g.first = NEW_ARRAY(a, int, g.nodes);
    g.from = NEW_ARRAY(a, int, g.nodes);
    g.queue = NEW_ARRAY(a, uint32_t, g.nodes);
    for (uint32_t i = 0; i < g.nodes; i++)
        g.first[i] = NO_EDGE;
    for (uint32_t i = 0; i < n; i++) {
        add_edge(&g, SOURCE, in_of(i), price(v[i].again, again_price));
        add_edge(&g, in_of(i), out_of(i), price(v[i].hold, hold_price));
        for (uint32_t k = 0; k < v[i].n_args; k++) {
            assert(v[i].args[k] < i);
            add_edge(&g, out_of(v[i].args[k]), in_of(i), CUT_NEVER);
        }
        if (v[i].wanted)
            add_edge(&g, out_of(i), SINK, CUT_NEVER);
    }
    return g;
}

/* Breadth first over edges with room; true when the sink is reached. */
static bool
search(struct net *g)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t i = 0; i < g->nodes; i++)
        g->from[i] = NO_EDGE;
    g->from[SOURCE] = 0;
    g->queue[tail++] = SOURCE;
    while (head < tail) {
        uint32_t at = g->queue[head++];

        for (int e = g->first[at]; e != NO_EDGE; e = g->edges.v[e].next) {
            uint32_t to = g->edges.v[e].to;

            if (!g->edges.v[e].room || g->from[to] != NO_EDGE)
                continue;
            g->from[to] = e;
            if (to == SINK)
                return true;
            g->queue[tail++] = to;
        }
    }
    return false;
}

/* Sends what fits along the path found; false when that has no limit. */
static bool
send(struct net *g)
{
    int64_t room = CUT_NEVER;

    for (uint32_t at = SINK; at != SOURCE; at = g->edges.v[g->from[at] ^ 1].to)
        room = MIN(room, g->edges.v[g->from[at]].room);
    if (room >= CUT_NEVER)
        return false;
    for (uint32_t at = SINK; at != SOURCE;
         at = g->edges.v[g->from[at] ^ 1].to) {
        struct edge *e = &g->edges.v[g->from[at]];

        if (e->room < CUT_NEVER)
            e->room -= room;
        g->edges.v[g->from[at] ^ 1].room += room;
    }
    return true;
}

/* Follows the needs, and counts what they cost. */
static void
settle(struct arena *a, const struct cut_value *v, uint32_t n, struct cut *c)
{
    bool *needed = NEW_ARRAY(a, bool, n);

    c->hold = c->again = 0;
    for (uint32_t i = n; i-- > 0;) {
        needed[i] = needed[i] || v[i].wanted;
        c->held[i] = c->held[i] && needed[i];
        if (c->held[i])
            c->hold += v[i].hold;
        if (!needed[i] || c->held[i])
            continue;
        c->again += v[i].again;
        for (uint32_t k = 0; k < v[i].n_args; k++)
            needed[v[i].args[k]] = true;
    }
}

bool
cut_cheapest(struct arena *a, const struct cut_value *v, uint32_t n,
             int64_t hold_price, int64_t again_price, struct cut *ret)
{
    struct net g = net_of(a, v, n, hold_price, again_price);

    while (search(&g))
        if (!send(&g))
            return false;
    ret->held = NEW_ARRAY(a, bool, n);
    for (uint32_t i = 0; i < n; i++)
        ret->held[i] =
            g.from[in_of(i)] != NO_EDGE && g.from[out_of(i)] == NO_EDGE;
    settle(a, v, n, ret);
    return true;
}

/* More than all finite costs of a kind together. */
static int64_t
beyond(const struct cut_value *v, uint32_t n, bool again)
{
    int64_t sum = 1;

    for (uint32_t i = 0; i < n; i++) {
        int64_t x = again ? v[i].again : v[i].hold;

        sum += x < CUT_NEVER ? x : 0;
    }
    return sum;
}

static bool
is_same(const struct cut *x, const struct cut *y)
{
    return x->hold == y->hold && x->again == y->again;
}

/* The cuts between two neighbours of the front: the price at which both cost
 * the same makes one of them the cheapest, or there is none between. */
static uint32_t
between(struct arena *a, const struct cut_value *v, uint32_t n,
        const struct cut ends[2], struct cut *ret, uint32_t most)
{
    int64_t hold_price = ends[0].again - ends[1].again;
    int64_t again_price = ends[1].hold - ends[0].hold;
    struct cut c, halves[2];
    uint32_t found;

    if (!most || hold_price <= 0 || again_price <= 0 ||
        !cut_cheapest(a, v, n, hold_price, again_price, &c) ||
        c.hold * hold_price + c.again * again_price >=
            ends[0].hold * hold_price + ends[0].again * again_price)
        return 0;
    halves[0] = ends[0];
    halves[1] = c;
    found = between(a, v, n, halves, ret, most - 1);
    ret[found++] = c;
    halves[0] = c;
    halves[1] = ends[1];
    return found + between(a, v, n, halves, ret + found, most - found);
}

uint32_t
cut_front(struct arena *a, const struct cut_value *v, uint32_t n,
          struct cut *ret, uint32_t most)
{
    struct cut ends[2];
    uint32_t found = 1;

    if (most < 2 || !cut_cheapest(a, v, n, beyond(v, n, true), 1, &ends[0]) ||
        !cut_cheapest(a, v, n, 1, beyond(v, n, false), &ends[1]))
        return 0;
    ret[0] = ends[0];
    if (is_same(&ends[0], &ends[1]))
        return 1;
    found += between(a, v, n, ends, ret + 1, most - 2);
    ret[found++] = ends[1];
    return found;
}
