/* SPDX-License-Identifier: Apache-2.0 */
/* The cheapest cuts between the phases of a row.
 *
 * Behind the end of a phase some values along the columns are wanted that can
 * be known before it. Holding one costs the bytes of a register that an element
 * takes, at its narrow type; having it again costs the issue slots of its
 * operation, nothing for a cast to a wider type, or, for an input, what reading
 * it again from L2 takes of the time in which so many slots are issued. Random
 * numbers are never had again. Values without the column axis, such as what
 * earlier reductions gave, wait with every thread and are free. An operand that
 * is the same for every row costs nothing more once the plan keeps it over the
 * rows, and a read from shared memory or L2 when it doesn't.
 *
 * Each price of a slot in bytes gives one cut of each phase's end; going up
 * with the price gives a few plans, from least held to least computed again. */
#include "support/base.h"

#include "schedulers/rowwise_cut.h"

#include "schedulers/cut.h"
#include "support/arena.h"
#include "support/buf.h"

/* What a cut search sees of a fusion; more than that takes too long. */
enum { MAX_VALUES = 600, MAX_FRONT = 6, MAX_ENDS = 16, NO_VALUE = -1 };

static const int64_t LOAD_SLOTS = 2; /* an element's share of a vector load */

struct end { /* of a phase */
    const struct row_use *u;
    int phase;
    enum row_invariants invariants;
    node_id *node; /* by value */
    int *value;    /* by node, or NO_VALUE */
    struct cut_value *values;
    uint32_t n;
    struct cut front[MAX_FRONT];
    uint32_t n_front, at;
};

static bool
is_value(const struct facts *f, node_id n, int phase)
{
    const struct node_facts *nf = &f->node[n];

    return nf->live && !nf->is_alias && node_has_column(f, n) &&
           !facts_is_reduction(f, n) && nf->level <= phase;
}

/* Needed in a phase up to the last one before the end. */
static bool
is_needed_before(const struct row_use *u, node_id n, int phase)
{
    for (int k = 0; k <= phase; k++)
        if (row_needs(u, k, n))
            return true;
    return false;
}

/* Reading so many bytes at this rate. */
static int64_t
slots_of(const struct problem *p, double bytes, double rate)
{
    return LOAD_SLOTS + (int64_t)(bytes * p->dev->issue_per_ns / rate + 0.5);
}

static int64_t
leaf_again(const struct end *e, node_id n)
{
    const struct problem *p = e->u->p;
    double bytes = dtype_info[graph_node(p->f->g, n)->dtype].bytes;

    if (node_has_rows(p->f, n) && !is_needed_before(e->u, n, e->phase))
        return LOAD_SLOTS; /* the first read, only later */
    if (!node_has_rows(p->f, n) && e->invariants == INVARIANTS_SHARED)
        return slots_of(p, bytes, p->dev->smem_bytes_per_ns);
    return slots_of(p, bytes, p->dev->l2_bytes_per_ns);
}

static int64_t
leaf_hold(const struct end *e, node_id n)
{
    const struct facts *f = e->u->p->f;
    int64_t bytes = dtype_info[graph_node(f->g, n)->dtype].bytes;

    if (!row_is_packable(f, n))
        return CUT_NEVER;
    if (node_has_rows(f, n))
        return bytes;
    return e->invariants == INVARIANTS_PACKED || e->invariants == INVARIANTS_F32
               ? 0
               : CUT_NEVER;
}

static int64_t
computed_hold(enum dtype t)
{
    if (dtype_is_storage(t))
        return dtype_info[t].bytes;
    return MAX((int64_t)dtype_info[t].bytes, 4);
}

static bool
is_widening(const struct graph *g, const struct node *nd)
{
    enum dtype from, to = nd->dtype;

    if (nd->op != OP_CAST)
        return false;
    from = graph_node(g, nd->args[0])->dtype;
    return dtype_is_float(from) && dtype_is_float(to) &&
           dtype_info[from].bytes < dtype_info[to].bytes;
}

static int64_t
computed_again(const struct graph *g, node_id n)
{
    const struct node *nd = graph_node(g, n);

    if (op_info[nd->op].class == OC_RANDOM)
        return CUT_NEVER;
    return is_widening(g, nd) ? 0 : op_info[nd->op].cost;
}

/* Some node that is computed behind the end takes it. */
static bool
is_wanted(const struct end *e, node_id n)
{
    const struct facts *f = e->u->p->f;

    for (node_id user = n + 1; user < f->g->n_nodes; user++) {
        const struct node *nd = graph_node(f->g, user);

        if (!f->node[user].live || f->node[user].is_alias ||
            f->node[user].level <= e->phase || facts_is_reduction(f, user) ||
            !row_span(e->u, user, &(int){0}, &(int){0}))
            continue;
        for (uint32_t i = 0; i < nd->n_args; i++)
            if (facts_value(f, nd->args[i]) == n)
                return true;
    }
    return false;
}

static void
add_value(struct end *e, node_id n)
{
    const struct facts *f = e->u->p->f;
    const struct node *nd = graph_node(f->g, n);
    struct cut_value *v = &e->values[e->n];
    uint32_t *args = NEW_ARRAY(e->u->p->arena, uint32_t, nd->n_args + 1);
    bool leaf = f->node[n].is_leaf;

    v->hold = leaf ? leaf_hold(e, n) : computed_hold(nd->dtype);
    v->again = leaf ? leaf_again(e, n) : computed_again(f->g, n);
    v->wanted = is_wanted(e, n);
    v->args = args;
    for (uint32_t i = 0; !leaf && i < nd->n_args; i++) {
        int arg = e->value[facts_value(f, nd->args[i])];

        if (arg != NO_VALUE)
            args[v->n_args++] = (uint32_t)arg;
    }
    e->node[e->n] = n;
    e->value[n] = (int)e->n++;
}

/* The values before the end of a phase, and the front of its cuts. */
static void
solve(struct end *e)
{
    struct arena *a = e->u->p->arena;
    const struct facts *f = e->u->p->f;
    uint32_t nodes = f->g->n_nodes;

    e->node = NEW_ARRAY(a, node_id, nodes + 1);
    e->value = NEW_ARRAY(a, int, nodes + 1);
    e->values = NEW_ARRAY(a, struct cut_value, nodes + 1);
    for (node_id n = 0; n < nodes; n++) {
        e->value[n] = NO_VALUE;
        if (is_value(f, n, e->phase))
            add_value(e, n);
    }
    e->n_front = cut_front(a, e->values, e->n, e->front, MAX_FRONT);
}

/* True when the next cut of X follows at a lower price than that of Y. */
static bool
is_earlier(const struct end *x, const struct end *y)
{
    const struct cut *x0 = &x->front[x->at], *y0 = &y->front[y->at];
    int64_t dx = x0[1].hold - x0[0].hold, ax = x0[0].again - x0[1].again;
    int64_t dy = y0[1].hold - y0[0].hold, ay = y0[0].again - y0[1].again;

    return dx * ay < dy * ax;
}

/* To the cuts that a higher price gives; false at the highest. */
static bool
advance(struct end *ends, int n)
{
    const struct end *first = NULL;
    struct end was;

    for (int i = 0; i < n; i++)
        if (ends[i].at + 1 < ends[i].n_front &&
            (!first || is_earlier(&ends[i], first)))
            first = &ends[i];
    if (!first)
        return false;
    was = *first;
    for (int i = 0; i < n; i++)
        if (ends[i].at + 1 < ends[i].n_front && !is_earlier(&was, &ends[i]))
            ends[i].at++;
    return true;
}

static const bool *
joined(const struct problem *p, const struct end *ends, int n)
{
    bool *kept = NEW_ARRAY(p->arena, bool, p->f->g->n_nodes + 1);

    for (int i = 0; i < n; i++)
        for (uint32_t v = 0; v < ends[i].n; v++)
            if (ends[i].front[ends[i].at].held[v])
                kept[ends[i].node[v]] = true;
    return kept;
}

static uint32_t
count_values(const struct facts *f)
{
    uint32_t k = 0;

    for (node_id n = 0; n < f->g->n_nodes; n++)
        k += is_value(f, n, f->levels);
    return k;
}

const char *
row_cuts_refuse(const struct problem *p)
{
    uint32_t k = count_values(p->f);

    if (k <= MAX_VALUES)
        return NULL;
    return arena_printf(p->arena,
                        "%u values along the columns, cuts are searched among "
                        "%d at most",
                        k, MAX_VALUES);
}

uint32_t
row_cuts(const struct problem *p, enum row_invariants invariants,
         const bool *ret[MAX_CUTS])
{
    struct row_use u = row_use(p, NULL);
    struct end ends[MAX_ENDS] = {0};
    uint32_t found = 0;
    int n = p->f->levels;

    assert(n <= MAX_ENDS);
    if (row_cuts_refuse(p))
        return 0;
    for (int i = 0; i < n; i++) {
        ends[i].u = &u;
        ends[i].phase = i;
        ends[i].invariants = invariants;
        solve(&ends[i]);
        if (!ends[i].n_front)
            return 0;
    }
    do
        ret[found++] = joined(p, ends, n);
    while (found < MAX_CUTS && advance(ends, n));
    return found;
}
