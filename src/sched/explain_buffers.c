/* SPDX-License-Identifier: Apache-2.0 */
/* explain_buffers: where each value of a plan waits, why, and what another
 * store would cost: the best plan that has it there, which may differ in more.
 */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "sched/parts.h"
#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

const char *
explain_store(struct arena *a, int64_t store)
{
    size_t len;
    const char *w = key_word(&buffer_key_info[BK_STORE], store, &len);

    return arena_strndup(a, w, len);
}

struct explained_kernel
explain_kernel(const struct selection *s, const struct variant_slot *slot,
               const struct candidate *c, uint32_t index)
{
    const struct problem *p = s->problem;
    struct explained_kernel k = {.selection = s,
                                 .slot = slot,
                                 .candidate = c,
                                 .index = index,
                                 .plan = &c->plan.kernels[index],
                                 .cost = &c->plan.cost,
                                 .facts = s->facts,
                                 .columns = slot->columns};
    struct problem part;

    if (c->plan.n_kernels == 1)
        return k;
    k.facts = part_facts(p->arena, s->facts, &c->plan, index);
    problem_init(p->arena, k.facts, p->dev, p->hints, p->n_hints, &part);
    if (!sym_equal(p->n_sym, part.n_sym))
        k.columns = part.n;
    k.cost = c->plan.part_costs ? &c->plan.part_costs[index] : NULL;
    return k;
}

const char *
explain_what(const struct facts *f, node_id n)
{
    int param;

    if (f->node[n].is_leaf) {
        param = f->accesses[f->node[n].access].param;
        return param >= 0 && f->g->params[param].is_workspace ? "workspace"
                                                              : "input";
    }
    return facts_is_outer(f, n) ? "column sum" : "computed";
}

/* Of a value that waits for later kernels, as much as a row has of it. */
static struct explained_buffer
written_buffer(const struct explained_kernel *k, node_id n)
{
    struct explained_buffer w = {.plan = plan_write(n), .written = true};
    enum dtype t = dtype_compute(graph_node(k->facts->g, n)->dtype);

    w.has_wait = k->facts->axes_ok;
    w.wait.bytes = dtype_info[t].bytes;
    if (w.has_wait && node_has_column(k->facts, n))
        w.wait.bytes *= k->columns;
    w.wait.first = w.wait.last = k->facts->node[n].level;
    return w;
}

uint32_t
explain_list_buffers(const struct explained_kernel *k,
                     struct explained_buffer **ret)
{
    struct arena *a = k->selection->problem->arena;
    const struct kernel_plan *p = k->plan;
    const struct scheduler *s = schedulers[p->scheduler];
    uint32_t n = p->n_buffers + p->n_writes;
    struct explained_buffer *v = NEW_ARRAY(a, struct explained_buffer, n + 1);
    struct buffer_wait *w = NEW_ARRAY(a, struct buffer_wait, n + 1);

    if (s->waits)
        s->waits(a, k->facts, p, k->columns, w);
    for (uint32_t i = 0; i < p->n_buffers; i++)
        v[i] = (struct explained_buffer){
            .plan = p->buffers[i], .wait = w[i], .has_wait = s->waits != NULL};
    for (uint32_t i = 0; i < p->n_writes; i++)
        v[p->n_buffers + i] = written_buffer(k, p->writes[i]);
    *ret = v;
    return n;
}

/* --- other stores --------------------------------------------------------- */

/* Where a kernel that reads an input again in each phase has no buffer for it.
 */
static bool
reads_again(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    return f->node[n].is_leaf && (k->key[PK_LOOPED] || !node_has_rows(f, n));
}

/* Where the kernel has the value, STORE_NONE where nowhere; false when that is
 * no answer: fallback keeps everything in workspace. */
static bool
store_in(const struct facts *f, const struct kernel_plan *k, node_id n,
         enum store *ret)
{
    if (k->scheduler == SCHED_FALLBACK)
        return false;
    *ret = reads_again(f, k, n) ? STORE_RELOAD : STORE_NONE;
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (k->buffers[i].node == n)
            *ret = (enum store)k->buffers[i].key[BK_STORE];
    return *ret != STORE_NONE || !facts_is_outer(f, n);
}

uint32_t
explain_alternatives(const struct explained_kernel *k,
                     const struct buffer_plan *b,
                     struct alternative ret[STORE_COUNT])
{
    const struct variant_slot *slot = k->slot;
    int64_t now = explain_whole(k->candidate->plan.cost.total_ns);
    bool seen[STORE_COUNT] = {false};
    uint32_t n = 0;

    seen[b->key[BK_STORE]] = true;
    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];
        enum store store;

        if (c->plan.n_kernels != k->candidate->plan.n_kernels ||
            !store_in(k->facts, &c->plan.kernels[k->index], b->node, &store) ||
            seen[store])
            continue;
        seen[store] = true;
        ret[n++] = (struct alternative){
            .store = store,
            .plan = i + 1,
            .refused = c->refused,
            .more_ns = explain_whole(c->plan.cost.total_ns) - now,
        };
    }
    return n;
}

/* --- text ----------------------------------------------------------------- */

static const char *
store_words(struct arena *a, const struct facts *f, node_id n, enum store store)
{
    if (store == STORE_NONE)
        return f->node[n].is_leaf ? "not held" : "computed again";
    return explain_store(a, store);
}

static void
print_alternatives(struct buf *b, const struct explained_kernel *k,
                   const struct buffer_plan *p, int indent)
{
    struct alternative x[STORE_COUNT];
    uint32_t n = explain_alternatives(k, p, x);

    if (n)
        buf_printf(b, "%*sinstead: ", indent, "");
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "%s%s ", i ? "; " : "",
                   store_words(b->arena, k->facts, p->node, x[i].store));
        if (x[i].refused)
            buf_printf(b, "refused (plan %u: %s)", x[i].plan, x[i].refused);
        else
            buf_printf(b, "%+" PRId64 " ns (plan %u)", x[i].more_ns, x[i].plan);
    }
    buf_puts(b, n ? "\n" : "");
}

static const char *
phase_words(struct arena *a, const struct buffer_wait *w)
{
    if (w->first == w->last)
        return arena_printf(a, "phase %d", w->first);
    return arena_printf(a, "phases %d-%d", w->first, w->last);
}

static int
name_width(struct arena *a, const struct graph *g,
           const struct explained_buffer *v, uint32_t n)
{
    size_t width = 0;

    for (uint32_t i = 0; i < n; i++)
        width = MAX(width, strlen(plan_node_name(a, g, v[i].plan.node)));
    return (int)MIN(width, 24u);
}

static void
print_buffer(struct buf *b, const struct explained_kernel *k,
             const struct explained_buffer *v, int width)
{
    const struct buffer_plan *p = &v->plan;
    const char *name =
        plan_node_name(b->arena, k->selection->facts->g, p->node);
    size_t len;
    const char *reuse =
        key_word(&buffer_key_info[BK_REUSE], p->key[BK_REUSE], &len);

    buf_printf(b, "          %-*s  %-10s  %-15s  reuse %-7.*s", width, name,
               explain_what(k->facts, p->node),
               explain_store(b->arena, p->key[BK_STORE]), (int)len, reuse);
    if (v->has_wait)
        buf_printf(b, "  %6" PRId64 " bytes  %-10s", v->wait.bytes,
                   phase_words(b->arena, &v->wait));
    buf_printf(b, "  (%s)\n", p->reason ? p->reason : "");
}

void
explain_buffers(struct buf *b, const struct explained_kernel *k)
{
    struct explained_buffer *v;
    uint32_t n = explain_list_buffers(k, &v);
    int width = name_width(b->arena, k->selection->facts->g, v, n);
    bool chosen = k->candidate == &k->slot->candidates[k->slot->chosen];

    if (n)
        buf_printf(b, "        buffers, bytes of a row%s\n",
                   chosen && k->slot->n_candidates > 1
                       ? ", and the best plan with another store"
                       : "");
    for (uint32_t i = 0; i < n; i++) {
        print_buffer(b, k, &v[i], width);
        if (chosen && !v[i].written)
            print_alternatives(b, k, &v[i].plan, 12 + width);
    }
}
