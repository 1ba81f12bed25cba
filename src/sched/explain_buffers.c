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

const char *
explain_what(const struct facts *f, node_id n)
{
    const struct node *nd = graph_node(f->g, n);

    if (nd->op == OP_INPUT && f->g->params[nd->param].is_workspace)
        return "workspace";
    if (f->node[n].is_leaf)
        return "input";
    return facts_is_outer(f, n) ? "column sum" : "computed";
}

const struct facts *
explain_part(const struct selection *s, const struct candidate *c,
             uint32_t kernel)
{
    return part_facts(s->problem->arena, s->facts, &c->plan, kernel);
}

/* The columns that a part is counted with. */
static int64_t
columns_of(const struct selection *s, const struct variant_slot *slot,
           const struct facts *part)
{
    int64_t n;

    if (part != s->facts && part->column != NO_AXIS &&
        sym_is_int(part->axes[part->column].extent, &n))
        return n;
    return slot->columns;
}

const struct buffer_wait *
explain_waits(const struct selection *s, const struct variant_slot *slot,
              const struct candidate *c, uint32_t kernel)
{
    const struct kernel_plan *k = &c->plan.kernels[kernel];
    struct arena *a = s->problem->arena;
    const struct facts *part;
    struct buffer_wait *w;

    if (!schedulers[k->scheduler]->waits || !k->n_buffers)
        return NULL;
    part = explain_part(s, c, kernel);
    w = NEW_ARRAY(a, struct buffer_wait, k->n_buffers);
    schedulers[k->scheduler]->waits(a, part, k, columns_of(s, slot, part), w);
    return w;
}

/* --- other stores --------------------------------------------------------- */

/* Where a kernel that reads an input again in each phase has no buffer for it.
 */
static bool
reads_again(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    return f->node[n].is_leaf && (k->key[PK_LOOPED] || !node_has_rows(f, n));
}

/* Where the plan has the value, STORE_NONE where nowhere; false when that is no
 * answer: a kernel for each reduction keeps everything in workspace. */
static bool
store_in(const struct facts *f, const struct variant_plan *v, node_id n,
         enum store *ret)
{
    *ret = STORE_NONE;
    for (uint32_t k = 0; k < v->n_kernels; k++) {
        const struct kernel_plan *x = &v->kernels[k];

        if (x->scheduler == SCHED_FALLBACK)
            return false;
        for (uint32_t i = 0; i < x->n_buffers; i++)
            if (x->buffers[i].node == n)
                *ret = (enum store)x->buffers[i].key[BK_STORE];
        if (*ret == STORE_NONE && reads_again(f, x, n))
            *ret = STORE_RELOAD;
    }
    return *ret != STORE_NONE || !facts_is_outer(f, n);
}

uint32_t
explain_alternatives(const struct selection *s, const struct variant_slot *slot,
                     const struct buffer_plan *b,
                     struct alternative ret[STORE_COUNT])
{
    double now = slot->candidates[slot->chosen].plan.cost.total_ns;
    bool seen[STORE_COUNT] = {false};
    uint32_t n = 0;

    seen[b->key[BK_STORE]] = true;
    for (uint32_t i = 0; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];
        enum store store;

        if (!store_in(s->facts, &c->plan, b->node, &store) || seen[store])
            continue;
        seen[store] = true;
        ret[n++] = (struct alternative){
            .store = store,
            .plan = i + 1,
            .refused = c->refused,
            .more_ns =
                explain_whole(c->plan.cost.total_ns) - explain_whole(now),
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
print_alternatives(struct buf *b, const struct selection *s,
                   const struct variant_slot *slot, const struct buffer_plan *p,
                   int indent)
{
    struct alternative x[STORE_COUNT];
    uint32_t n = explain_alternatives(s, slot, p, x);

    if (n)
        buf_printf(b, "%*sinstead: ", indent, "");
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "%s%s ", i ? "; " : "",
                   store_words(b->arena, s->facts, p->node, x[i].store));
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
name_width(struct arena *a, const struct graph *g, const struct kernel_plan *k)
{
    size_t width = 0;

    for (uint32_t i = 0; i < k->n_buffers; i++)
        width = MAX(width, strlen(plan_node_name(a, g, k->buffers[i].node)));
    return (int)MIN(width, 24u);
}

static void
print_buffer(struct buf *b, const char *name, const char *what,
             const struct buffer_plan *p, const struct buffer_wait *w,
             int width)
{
    size_t len;
    const char *reuse =
        key_word(&buffer_key_info[BK_REUSE], p->key[BK_REUSE], &len);

    buf_printf(b, "          %-*s  %-10s  %-15s  reuse %-4.*s", width, name,
               what, explain_store(b->arena, p->key[BK_STORE]), (int)len,
               reuse);
    if (w)
        buf_printf(b, "  %6" PRId64 " bytes  %-10s", w->bytes,
                   phase_words(b->arena, w));
    buf_printf(b, "  (%s)\n", p->reason ? p->reason : "");
}

/* For the kernels behind it. */
static void
print_writes(struct buf *b, const struct graph *g, const struct kernel_plan *k,
             uint32_t kernel)
{
    for (uint32_t i = 0; i < k->n_writes; i++) {
        if (i)
            buf_puts(b, ", ");
        else
            buf_printf(b, "        kernel %u writes to workspace ", kernel);
        buf_puts(b, plan_node_name(b->arena, g, k->writes[i]));
    }
    buf_puts(b, k->n_writes ? "\n" : "");
}

static void
print_title(struct buf *b, const struct candidate *c, uint32_t kernel,
            bool others)
{
    if (c->plan.n_kernels > 1)
        buf_printf(b, "        buffers of kernel %u, bytes of a row\n", kernel);
    else
        buf_printf(b, "        buffers, bytes of a row%s\n",
                   others ? ", and the best plan with another store" : "");
}

void
explain_buffers(struct buf *b, const struct selection *s,
                const struct variant_slot *slot, const struct candidate *c,
                uint32_t kernel)
{
    const struct kernel_plan *k = &c->plan.kernels[kernel];
    const struct buffer_wait *w = explain_waits(s, slot, c, kernel);
    const struct facts *f = explain_part(s, c, kernel);
    const struct graph *g = s->facts->g;
    int width = name_width(b->arena, g, k);
    bool alone = c == &slot->candidates[slot->chosen] && c->plan.n_kernels == 1;

    if (k->n_buffers)
        print_title(b, c, kernel, alone);
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *p = &k->buffers[i];

        print_buffer(b, plan_node_name(b->arena, g, p->node),
                     explain_what(f, p->node), p, w ? &w[i] : NULL, width);
        if (alone)
            print_alternatives(b, s, slot, p, 12 + width);
    }
    print_writes(b, g, k, kernel);
}
