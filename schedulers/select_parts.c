/* SPDX-License-Identifier: Apache-2.0 */
/* Where a fusion is cut, and what its parts cost together.
 *
 * A reduction whose result is used along what it was reduced over, or reduced
 * again, ends a part: its result waits in workspace. Reductions of one kind and
 * depth share a part, so that they read their operands once, those that nothing
 * follows too. The others that nothing follows go with the last part, which
 * computes the results, as long as they are of one kind. Pointwise results of
 * several shapes are parts too. Each part is a fusion that the strategies know.
 */
#include "support/base.h"

#include "schedulers/select_parts.h"

#include "sched/parts.h"
#include "support/arena.h"
#include "support/buf.h"

#include <limits.h>

/* More parts than MAX_PARTS would read the inputs as often as fallback does. Of
 * each part TRIES plans are combined with the best of the others. */
enum { MAX_PARTS = 8, TRIES = 3 };

/* --- where to cut --------------------------------------------------------- */

struct cutter {
    const struct facts *f;
    struct arena *a;
    int *depth;  /* by node: reductions on the longest way to it */
    bool *again; /* by node: stretched or reduced further on */
    struct {
        node_id first; /* the others reduce the same axes at the same depth */
        VEC(node_id) writes;
    } part[MAX_PARTS];
    uint32_t n;
};

static bool
stretches(const struct node *n)
{
    if (n->op != OP_BROADCAST)
        return false;
    for (int d = 0; d < n->rank; d++)
        if (n->map[d] == NO_DIM)
            return true;
    return false;
}

static void
find_uses(struct cutter *c)
{
    const struct graph *g = c->f->g;

    c->depth = NEW_ARRAY(c->a, int, g->n_nodes + 1);
    c->again = NEW_ARRAY(c->a, bool, g->n_nodes + 1);
    for (node_id n = 0; n < g->n_nodes; n++) {
        const struct node *nd = graph_node(g, n);

        for (uint32_t i = 0; i < nd->n_args; i++)
            c->depth[n] = MAX(c->depth[n], c->depth[nd->args[i]]);
        c->depth[n] += facts_is_reduction(c->f, n);
    }
    for (node_id n = g->n_nodes; n-- > 0;) {
        const struct node *nd = graph_node(g, n);
        bool again =
            c->again[n] || facts_is_reduction(c->f, n) || stretches(nd);

        for (uint32_t i = 0; c->f->node[n].live && i < nd->n_args; i++)
            c->again[nd->args[i]] |= again;
    }
}

/* Reductions of the same dimensions of the same shape. */
static bool
is_same_kind(const struct graph *g, node_id x, node_id y)
{
    const struct node *ax = graph_node(g, graph_node(g, x)->args[0]);
    const struct node *ay = graph_node(g, graph_node(g, y)->args[0]);

    if (ax->rank != ay->rank)
        return false;
    for (int d = 0; d < ax->rank; d++)
        if (graph_node(g, x)->flag[d] != graph_node(g, y)->flag[d] ||
            !sym_equal(ax->dims[d], ay->dims[d]))
            return false;
    return true;
}

/* Into the part of its kind and depth; false when there are too many. */
static bool
cut_at(struct cutter *c, node_id n)
{
    uint32_t i = 0, k;

    while (i < c->n && (c->depth[c->part[i].first] < c->depth[n] ||
                        (c->depth[c->part[i].first] == c->depth[n] &&
                         !is_same_kind(c->f->g, c->part[i].first, n))))
        i++;
    if (i == c->n || c->depth[c->part[i].first] != c->depth[n]) {
        if (c->n == MAX_PARTS - 1)
            return false;
        for (k = c->n++; k > i; k--)
            c->part[k] = c->part[k - 1];
        memset(&c->part[i], 0, sizeof(c->part[i]));
        c->part[i].first = n;
    }
    VEC_PUSH(c->a, &c->part[i].writes, n);
    return true;
}

/* Nothing follows it but what has its own axes. */
static bool
ends(const struct cutter *c, node_id n)
{
    return c->f->node[n].live && facts_is_reduction(c->f, n) && !c->again[n];
}

static bool
has_part(const struct cutter *c, node_id n)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->depth[c->part[i].first] == c->depth[n] &&
            is_same_kind(c->f->g, c->part[i].first, n))
            return true;
    return false;
}

/* Of the reductions that nothing follows, those that a part before the last can
 * take along, and those unlike the last one. */
static bool
cut_other_ends(struct cutter *c)
{
    const struct graph *g = c->f->g;
    node_id last = g->n_nodes;

    for (node_id n = g->n_nodes; n-- > 0;) {
        if (!ends(c, n))
            continue;
        if (last == g->n_nodes && !has_part(c, n))
            last = n;
        if (last != n && (has_part(c, n) || !is_same_kind(g, last, n)) &&
            !cut_at(c, n))
            return false;
    }
    return true;
}

static bool
find_cuts(struct cutter *c)
{
    find_uses(c);
    for (node_id n = 0; n < c->f->g->n_nodes; n++)
        if (c->f->node[n].live && facts_is_reduction(c->f, n) && c->again[n] &&
            !cut_at(c, n))
            return false;
    return cut_other_ends(c) && c->n > 0;
}

/* --- pointwise results of several shapes ---------------------------------- */

static bool
same_axes(const struct facts *f, uint32_t i, uint32_t k)
{
    return f->stores[i].axes == f->stores[k].axes;
}

/* The result whose like the last kernel writes: one in the buffer of an input,
 * else the first with the most axes. n_results: two of the former differ. */
static uint32_t
last_result(const struct facts *f)
{
    const struct graph *g = f->g;
    uint32_t best = 0;

    for (uint32_t i = 1; i < g->n_results; i++) {
        bool kept = g->results[best].inplace >= 0;
        axis_mask more = f->stores[i].axes & ~f->stores[best].axes;

        if (g->results[i].inplace >= 0 && kept && !same_axes(f, i, best))
            return g->n_results;
        if (g->results[i].inplace >= 0 ? !kept : !kept && more)
            best = i;
    }
    return best;
}

static bool
has_write(const struct cutter *c, uint32_t k, node_id n)
{
    for (uint32_t w = 0; w < c->part[k].writes.n; w++)
        if (c->part[k].writes.v[w] == n)
            return true;
    return false;
}

/* A kernel for the results of each shape; false where one only passes on what
 * is at hand. */
static bool
cut_results(struct cutter *c)
{
    const struct facts *f = c->f;
    uint32_t last = last_result(f);

    for (uint32_t i = 0; last < f->g->n_results && i < f->g->n_results; i++) {
        node_id n = f->g->results[i].node;
        uint32_t k = 0;

        if (same_axes(f, i, last))
            continue;
        if (op_info[graph_node(f->g, n)->op].class == OC_LEAF ||
            c->n == MAX_PARTS - 1)
            return false;
        while (k < c->n && f->node[c->part[k].first].axes != f->node[n].axes)
            k++;
        c->n = MAX(c->n, k + 1);
        c->part[k].first = n;
        if (!has_write(c, k, n))
            VEC_PUSH(c->a, &c->part[k].writes, n);
    }
    return c->n > 0;
}

struct parts
select_parts(const struct problem *p)
{
    struct cutter c = {.f = p->f, .a = p->arena};
    struct parts parts = {.cut = {.guard = ""}};
    bool pointwise = p->f->axes_ok && p->f->kind == GK_POINTWISE;

    if (pointwise ? !cut_results(&c) : !find_cuts(&c))
        return parts;
    parts.cut.n_kernels = c.n + 1;
    parts.cut.kernels = NEW_ARRAY(p->arena, struct kernel_plan, c.n + 1);
    for (uint32_t i = 0; i < c.n; i++) {
        parts.cut.kernels[i].writes = c.part[i].writes.v;
        parts.cut.kernels[i].n_writes = c.part[i].writes.n;
    }
    parts.problems = NEW_ARRAY(p->arena, struct problem, c.n + 1);
    for (uint32_t k = 0; k <= c.n; k++) {
        problem_init(p->arena, part_facts(p->arena, p->f, &parts.cut, k),
                     p->dev, p->hints, p->n_hints, &parts.problems[k]);
        parts.problems[k].per_summary = p->per_summary;
    }
    return parts;
}

/* --- what they cost together ---------------------------------------------- */

/* Times and bytes add up; the rest is that of the longest part. */
static struct plan_cost
add_costs(const struct plan_cost *c, uint32_t n)
{
    struct plan_cost all = c[0];

    for (uint32_t k = 1; k < n; k++)
        if (c[k].total_ns > all.total_ns)
            all = c[k];
    all.dram_bytes = all.l2_bytes = all.smem_bytes = all.issue_slots = 0;
    all.memory_ns = all.issue_ns = all.latency_ns = all.finish_ns = 0;
    all.launch_ns = all.finish_wait_ns = all.finish_fold_ns = all.total_ns = 0;
    memset(all.term, 0, sizeof(all.term));
    for (uint32_t k = 0; k < n; k++) {
        all.dram_bytes += c[k].dram_bytes;
        all.l2_bytes += c[k].l2_bytes;
        all.smem_bytes += c[k].smem_bytes;
        all.issue_slots += c[k].issue_slots;
        all.memory_ns += c[k].memory_ns;
        all.issue_ns += c[k].issue_ns;
        all.latency_ns += c[k].latency_ns;
        all.finish_ns += c[k].finish_ns;
        all.finish_wait_ns += c[k].finish_wait_ns;
        all.finish_fold_ns += c[k].finish_fold_ns;
        all.launch_ns += c[k].launch_ns;
        all.total_ns += c[k].total_ns;
        for (int t = 0; t < CT_COUNT; t++)
            all.term[t] += c[k].term[t];
        all.regs = MAX(all.regs, c[k].regs);
        all.smem = MAX(all.smem, c[k].smem);
    }
    return all;
}

/* The problem that kernel k of a plan solves. */
static struct problem
part_problem(const struct problem *p, const struct variant_plan *v, uint32_t k)
{
    struct problem part;

    if (v->n_kernels == 1)
        return *p;
    problem_init(p->arena, part_facts(p->arena, p->f, v, k), p->dev, p->hints,
                 p->n_hints, &part);
    return part;
}

/* The columns that a part is counted with, where the whole is with n. */
static int64_t
part_columns(const struct problem *p, const struct problem *part, int64_t n)
{
    return sym_equal(p->n_sym, part->n_sym) ? n : part->n;
}

const char *
select_cost(const struct problem *p, int64_t n, struct variant_plan *v)
{
    struct plan_cost *c = NEW_ARRAY(p->arena, struct plan_cost, v->n_kernels);

    for (uint32_t k = 0; k < v->n_kernels; k++) {
        const struct kernel_plan *own = &v->kernels[k];
        const char *why = part_refuse(p->arena, p->f, v, k);
        struct problem part;

        if (why)
            return why;
        part = part_problem(p, v, k);
        why = schedulers[own->scheduler]->refuse(&part);
        if (!why)
            why = schedulers[own->scheduler]->cost(
                &part, own, part_columns(p, &part, n), &c[k]);
        if (why) {
            v->cost = c[k];
            return why;
        }
    }
    v->cost = add_costs(c, v->n_kernels);
    v->part_costs = v->n_kernels > 1 ? c : NULL;
    return NULL;
}

const char *
select_guard(const struct problem *p, const struct variant_plan *v)
{
    const char *guard = "";

    for (uint32_t k = 0; k < v->n_kernels; k++)
        guard = guard_and(p->arena, guard,
                          plan_required_guard(p->arena,
                                              part_facts(p->arena, p->f, v, k),
                                              &v->kernels[k]));
    return guard;
}

int
select_room(const struct candidate *c, const struct device *dev)
{
    int least = INT_MAX;

    for (uint32_t k = 0; k < c->plan.n_kernels; k++) {
        const int64_t *key = c->plan.kernels[k].key;
        int regs =
            c->plan.part_costs ? c->plan.part_costs[k].regs : c->plan.cost.regs;
        int cap = device_register_cap(dev, (int)key[PK_THREADS],
                                      (int)MAX(key[PK_BLOCKS_PER_SM], 1));

        least = MIN(least, cap - regs);
    }
    return least;
}

/* --- plans ---------------------------------------------------------------- */

bool
select_have_vectors(const struct parts *parts)
{
    for (uint32_t k = 0; k < parts->cut.n_kernels; k++)
        if (select_vector(&parts->problems[k]) > 1)
            return true;
    return false;
}

double
select_parts_floor(const struct problem *p, const struct parts *parts,
                   int64_t n)
{
    double bytes = 0, in, out;

    for (uint32_t k = 0; k < parts->cut.n_kernels; k++) {
        const struct problem *part = &parts->problems[k];

        in = part->bytes_in;
        out = part->bytes_out;
        if (part->f->axes_ok)
            problem_bytes(part, part_columns(p, part, n), &in, &out);
        bytes += in + out;
    }
    return p->dev->copy_fixed_ns * parts->cut.n_kernels +
           bytes / p->dev->dram_bytes_per_ns;
}

/* A few plans of one part that no launch is refused for. */
static candidate_vec
propose_part(const struct problem *part, bool vectors, int64_t n,
             const char **ret_guard)
{
    bool rows = part->f->kind == GK_INNER || part->f->kind == GK_INNER_OUTER;
    struct slot_shape s = {.vector = vectors ? select_vector(part) : 1,
                           .bound = rows && part->n_static ? MAX(part->n, 1)
                                                           : ANY_EXTENT,
                           .n = n};
    const char *guard =
        part->f->axes_ok ? problem_guard(part, s.vector, s.bound) : "";
    candidate_vec all = select_propose(part, &s, guard), few = {0};

    for (uint32_t i = 0; i < all.n && few.n < TRIES; i++)
        if (!all.v[i]->refused &&
            all.v[i]->plan.kernels->key[PK_FINISH] != FINISH_GRID)
            VEC_PUSH(part->arena, &few, all.v[i]);
    assert(few.n > 0);
    *ret_guard = guard_and(part->arena, *ret_guard, guard);
    return few;
}

static const char *
summary(struct arena *a, const struct variant_plan *v)
{
    struct buf b;

    buf_init(&b, a);
    buf_printf(&b, "%u parts: ", v->n_kernels);
    for (uint32_t k = 0; k < v->n_kernels; k++)
        buf_printf(&b, "%s%s", k ? ", then " : "",
                   scheduler_name[v->kernels[k].scheduler]);
    return buf_str(&b);
}

/* Plan `which` of part `odd`, the best ones of the others. */
static struct candidate *
combine(const struct problem *p, const struct parts *parts,
        const candidate_vec *few, uint32_t odd, uint32_t which)
{
    struct candidate *c = NEW(p->arena, struct candidate);
    uint32_t n = parts->cut.n_kernels;
    struct plan_cost *costs = NEW_ARRAY(p->arena, struct plan_cost, n);

    c->plan = parts->cut;
    c->plan.kernels = NEW_ARRAY(p->arena, struct kernel_plan, n);
    for (uint32_t k = 0; k < n; k++) {
        const struct candidate *own = few[k].v[k == odd ? which : 0];

        c->plan.kernels[k] = *own->plan.kernels;
        c->plan.kernels[k].writes = parts->cut.kernels[k].writes;
        c->plan.kernels[k].n_writes = parts->cut.kernels[k].n_writes;
        costs[k] = own->plan.cost;
    }
    c->plan.part_costs = costs;
    c->plan.cost = add_costs(costs, n);
    c->summary = summary(p->arena, &c->plan);
    return c;
}

candidate_vec
select_part_plans(const struct problem *p, const struct parts *parts,
                  bool vectors, int64_t columns, const char **ret_guard)
{
    uint32_t n = parts->cut.n_kernels;
    candidate_vec few[MAX_PARTS], all = {0};

    *ret_guard = "";
    for (uint32_t k = 0; k < n; k++)
        few[k] = propose_part(&parts->problems[k], vectors,
                              part_columns(p, &parts->problems[k], columns),
                              ret_guard);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = k ? 1 : 0; i < few[k].n; i++)
            VEC_PUSH(p->arena, &all, combine(p, parts, few, k, i));
    for (uint32_t i = all.n; i-- > 0;) {
        all.v[i]->plan.guard = *ret_guard;
        if (!variant_is_fallback(&all.v[i]->plan))
            continue;
        memmove(&all.v[i], &all.v[i + 1], (all.n - i - 1) * sizeof(*all.v));
        all.n--;
    }
    select_rank(p->arena, p->f->g, &all);
    return all;
}
