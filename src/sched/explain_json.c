/* SPDX-License-Identifier: Apache-2.0 */
/* --explain=json: the same facts as the text, one object a fusion, for
 * programs. Times are whole nanoseconds. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

static void
put_string(struct buf *b, const char *key, const char *s)
{
    buf_printf(b, "\"%s\": ", key);
    buf_json_string(b, s, strlen(s));
}

static void
put_int(struct buf *b, const char *key, double v)
{
    buf_printf(b, "\"%s\": %" PRId64, key, explain_whole(v));
}

static void
put_cost(struct buf *b, const struct plan_cost *c)
{
    const struct {
        const char *key;
        double v;
    } rows[] = {
        {"dram_bytes", c->dram_bytes},
        {"l2_bytes", c->l2_bytes},
        {"smem_bytes", c->smem_bytes},
        {"issue_slots", c->issue_slots},
        {"bytes_held", c->bytes_held},
        {"bytes_per_step", c->bytes_per_step},
        {"inflight_bytes", c->inflight_bytes},
        {"registers", c->regs},
        {"shared_memory", c->smem},
        {"blocks_per_sm", c->blocks_per_sm},
        {"waves_percent", 100 * c->waves},
        {"quantisation_percent", 100 * c->quantisation},
        {"memory_ns", c->memory_ns},
        {"issue_ns", c->issue_ns},
        {"latency_ns", c->latency_ns},
        {"finish_ns", c->finish_ns},
        {"finish_wait_ns", c->finish_wait_ns},
        {"finish_fold_ns", c->finish_fold_ns},
        {"launch_ns", c->launch_ns},
        {"total_ns", c->total_ns},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_puts(b, ", ");
        put_int(b, rows[i].key, rows[i].v);
    }
}

static void
put_keys(struct buf *b, const struct key_info *table, int n,
         const int64_t *keys)
{
    for (int i = 0; i < n; i++) {
        size_t len;
        const char *w = key_word(&table[i], keys[i], &len);

        buf_puts(b, i ? ", " : "");
        if (table[i].words && w)
            put_string(b, table[i].name, arena_strndup(b->arena, w, len));
        else
            buf_printf(b, "\"%s\": %" PRId64, table[i].name, keys[i]);
    }
}

/* Exact, as its terms add up to it; nothing of a plan that broke a limit before
 * it had a cost. */
static void
put_terms(struct buf *b, const struct selection *s,
          const struct variant_slot *slot, const struct plan_cost *c)
{
    struct time_line t[TIME_LINES];

    explain_time(s->problem->dev, slot, c, t);
    buf_puts(b, ", \"terms\": {");
    for (int i = 0; i < TIME_LINES; i++)
        buf_printf(b, "%s\"%s\": %" PRId64, i ? ", " : "", t[i].key, t[i].ns);
    buf_putc(b, '}');
}

/* Reductions of a kind whose operand is known in that phase. */
static int
count_reductions(const struct facts *f, int phase,
                 bool (*is_kind)(const struct facts *f, node_id n))
{
    int k = 0;

    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (f->node[n].live && is_kind(f, n))
            k += f->node[facts_value(f, graph_node(f->g, n)->args[0])].level ==
                 phase;
    return k;
}

static void
put_written(struct buf *b, const struct facts *f, int phase)
{
    const char *sep = "";

    buf_puts(b, "\"writes\": [");
    for (uint32_t i = 0; i < f->g->n_results; i++) {
        node_id v = facts_value(f, f->g->results[i].node);
        const char *name = f->g->results[i].name;

        if (f->node[v].level != phase || f->node[v].after_outer ||
            facts_is_outer(f, v))
            continue;
        buf_puts(b, sep);
        buf_json_string(b, name, strlen(name));
        sep = ", ";
    }
    buf_putc(b, ']');
}

/* What ends each phase of a row, and what it writes. */
static void
put_phases(struct buf *b, const struct facts *f)
{
    buf_puts(b, "\"phases\": [");
    for (int phase = 0; f->axes_ok && phase <= f->levels; phase++) {
        buf_puts(b, phase ? ", {" : "{");
        put_int(b, "inner_reductions",
                count_reductions(f, phase, facts_is_inner));
        buf_puts(b, ", ");
        put_int(b, "outer_reductions",
                count_reductions(f, phase, facts_is_outer));
        buf_puts(b, ", ");
        put_written(b, f, phase);
        buf_putc(b, '}');
    }
    buf_puts(b, "], ");
}

static void
put_alternatives(struct buf *b, const struct explained_kernel *k,
                 const struct buffer_plan *p)
{
    struct alternative x[STORE_COUNT];
    uint32_t n = explain_alternatives(k, p, x);

    buf_puts(b, ", \"alternatives\": [");
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(b, i ? ", {" : "{");
        put_string(b, "store", explain_store(b->arena, x[i].store));
        buf_printf(b, ", \"candidate\": %u, ", x[i].plan);
        if (x[i].refused)
            put_string(b, "refused", x[i].refused);
        else
            buf_printf(b, "\"more_ns\": %" PRId64, x[i].more_ns);
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void
put_buffer(struct buf *b, const struct explained_kernel *k,
           const struct explained_buffer *v)
{
    const struct buffer_plan *p = &v->plan;

    put_string(b, "buffer",
               plan_node_name(b->arena, k->selection->facts->g, p->node));
    buf_puts(b, ", ");
    put_string(b, "what", explain_what(k->facts, p->node));
    buf_puts(b, ", ");
    put_keys(b, buffer_key_info, BK_COUNT, p->key);
    if (v->has_wait)
        buf_printf(b,
                   ", \"bytes\": %" PRId64
                   ", \"first_phase\": %d, \"last_phase\": %d",
                   v->wait.bytes, v->wait.first, v->wait.last);
    buf_puts(b, ", ");
    put_string(b, "reason", p->reason ? p->reason : "");
}

static void
put_buffers(struct buf *b, const struct explained_kernel *k)
{
    struct explained_buffer *v;
    uint32_t n = explain_list_buffers(k, &v);
    bool chosen = k->candidate == &k->slot->candidates[k->slot->chosen];

    buf_puts(b, ", \"buffers\": [");
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(b, i ? ", {" : "{");
        put_buffer(b, k, &v[i]);
        if (chosen && !v[i].written)
            put_alternatives(b, k, &v[i].plan);
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void
put_occupancy(struct buf *b, const struct explained_kernel *k)
{
    const struct device *dev = k->selection->problem->dev;
    double blocks = k->cost->blocks_per_sm;

    buf_printf(b, ", \"occupancy_percent\": %d, ",
               explain_percent(blocks * (double)k->plan->key[PK_THREADS],
                               dev->threads_per_sm));
    put_string(b, "limit", explain_limit(b->arena, dev, k->plan, k->cost));
}

static void
put_kernel(struct buf *b, const struct explained_kernel *k)
{
    bool part = k->candidate->plan.n_kernels > 1;

    put_string(b, "scheduler", scheduler_name[k->plan->scheduler]);
    buf_puts(b, ", ");
    if (part)
        put_phases(b, k->facts);
    buf_puts(b, "\"keys\": {");
    put_keys(b, plan_key_info, PK_COUNT, k->plan->key);
    buf_putc(b, '}');
    if (part && k->cost)
        put_cost(b, k->cost);
    if (k->cost && k->cost->blocks_per_sm &&
        k->plan->scheduler != SCHED_FALLBACK)
        put_occupancy(b, k);
    put_buffers(b, k);
}

static void
put_kernels(struct buf *b, const struct selection *s,
            const struct variant_slot *slot, const struct candidate *c)
{
    buf_puts(b, ", \"kernels\": [");
    for (uint32_t i = 0; i < c->plan.n_kernels; i++) {
        struct explained_kernel k = explain_kernel(s, slot, c, i);

        buf_puts(b, i ? ", {" : "{");
        put_kernel(b, &k);
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void
put_candidate(struct buf *b, const struct selection *s,
              const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];

    buf_puts(b, i ? ",\n      {" : "\n      {");
    put_string(b, "summary", c->summary);
    buf_printf(b, ", \"chosen\": %s, ", i == slot->chosen ? "true" : "false");
    if (c->refused)
        put_string(b, "refused", c->refused);
    else
        put_int(b, "roofline_percent",
                100 * slot->floor_ns / MAX(c->plan.cost.total_ns, 1));
    if (c->plan.cost.total_ns > 0) {
        put_cost(b, &c->plan.cost);
        put_terms(b, s, slot, &c->plan.cost);
    }
    put_kernels(b, s, slot, c);
    buf_putc(b, '}');
}

static void
put_compiled(struct buf *b, const struct compiled_slot *s)
{
    buf_puts(b, ", \"compiled\": [");
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        const struct compiled_kernel *k = &s->kernels[i];

        buf_puts(b, i ? ", {" : "{");
        put_string(b, "symbol", k->symbol);
        buf_printf(b,
                   ", \"registers\": %d, \"local_bytes\": %d, "
                   "\"shared_memory\": ",
                   k->registers, k->local_bytes);
        if (k->smem < 0)
            buf_puts(b, "null}");
        else
            buf_printf(b, "%d}", k->smem);
    }
    buf_puts(b, "], \"given_up\": [");
    for (uint32_t i = 0; i < s->n_given_up; i++)
        buf_printf(b, "%s{\"candidate\": %u, \"local_bytes\": %u}",
                   i ? ", " : "", s->given_up[i].candidate,
                   s->given_up[i].local_bytes);
    buf_putc(b, ']');
}

static void
put_slot(struct buf *b, const struct explained *e, uint32_t index)
{
    const struct selection *s = e->selection;
    const struct variant_slot *slot = &s->slots[index];

    buf_puts(b, index ? ",\n    {" : "\n    {");
    put_string(b, "guard", slot->guard);
    buf_printf(b, ", \"columns\": %" PRId64 ", ", slot->columns);
    put_int(b, "floor_ns", slot->floor_ns);
    if (e->slots)
        put_compiled(b, &e->slots[index]);
    buf_puts(b, ", \"candidates\": [");
    for (uint32_t i = 0; i < slot->n_candidates; i++)
        put_candidate(b, s, slot, i);
    buf_puts(b, "]}");
}

/* What candidates hold and the source has no name for. */
static void
put_values(struct buf *b, const struct selection *s)
{
    const bool *held = explain_unnamed(s);
    const struct graph *g = s->facts->g;
    const char *sep = "";

    buf_puts(b, "\"values\": [");
    for (node_id n = 0; n < g->n_nodes; n++) {
        if (!held[n])
            continue;
        buf_printf(b, "%s{\"name\": \"%%%u\", ", sep, n);
        put_string(b, "is", explain_words(b->arena, g, n));
        buf_putc(b, '}');
        sep = ", ";
    }
    buf_puts(b, "],\n  ");
}

static void
put_reasons(struct buf *b, const char *key, const struct refusal *r, uint32_t n)
{
    buf_printf(b, "\"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(b, i ? ", {" : "{");
        put_string(b, "scheduler", scheduler_name[r[i].scheduler]);
        buf_puts(b, ", ");
        put_string(b, "why", r[i].why);
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void
put_fusion(struct buf *b, const struct explained *e)
{
    const struct selection *s = e->selection;

    buf_putc(b, '{');
    put_string(b, "fusion", s->facts->g->name);
    buf_puts(b, ", ");
    put_string(b, "device", s->problem->dev->name);
    buf_puts(b, ", ");
    buf_printf(b, "\"rows\": %" PRId64 ",\n  ", s->rows);
    put_phases(b, s->facts);
    buf_puts(b, "\n  ");
    put_values(b, s);
    put_reasons(b, "refusals", s->refusals, s->n_refusals);
    buf_puts(b, ",\n  ");
    put_reasons(b, "notes", s->notes, s->n_notes);
    buf_puts(b, ",\n  \"variants\": [");
    for (uint32_t i = 0; i < s->n_slots; i++)
        put_slot(b, e, i);
    buf_puts(b, "]}");
}

void
explain_json(struct buf *b, const struct explained *e, uint32_t n)
{
    buf_putc(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(b, i ? ",\n" : "");
        put_fusion(b, &e[i]);
    }
    buf_puts(b, "]\n");
}
