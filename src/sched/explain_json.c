/* SPDX-License-Identifier: Apache-2.0 */
/* --explain=json: the same facts as the text, one object a fusion, for
 * programs. Times are whole nanoseconds. */
#include "support/base.h"

#include "sched/select.h"

#include "sched/plan_impl.h"
#include "sched/scheduler.h"
#include "support/arena.h"
#include "support/buf.h"

static int64_t
whole(double x)
{
    return (int64_t)(MIN(x, 9e18) + 0.5);
}

static void
put_string(struct buf *b, const char *key, const char *s)
{
    buf_printf(b, "\"%s\": ", key);
    buf_json_string(b, s, strlen(s));
}

static void
put_int(struct buf *b, const char *key, double v)
{
    buf_printf(b, "\"%s\": %" PRId64, key, whole(v));
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

/* Of each buffer, or NULL where rows have no phases. */
static struct buffer_wait *
waits_of(struct arena *a, const struct selection *s,
         const struct kernel_plan *k, int64_t columns)
{
    struct buffer_wait *w;

    if (!schedulers[k->scheduler]->waits || !k->n_buffers)
        return NULL;
    w = NEW_ARRAY(a, struct buffer_wait, k->n_buffers);
    schedulers[k->scheduler]->waits(a, s->facts, k, columns, w);
    return w;
}

static void
put_buffers(struct buf *b, const struct selection *s,
            const struct kernel_plan *k, int64_t columns)
{
    const struct buffer_wait *w = waits_of(b->arena, s, k, columns);

    buf_puts(b, ", \"buffers\": [");
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *p = &k->buffers[i];

        buf_puts(b, i ? ", {" : "{");
        put_string(b, "buffer", plan_node_name(b->arena, s->facts->g, p->node));
        buf_puts(b, ", ");
        put_keys(b, buffer_key_info, BK_COUNT, p->key);
        if (w)
            buf_printf(b,
                       ", \"bytes\": %" PRId64
                       ", \"first_phase\": %d, \"last_phase\": %d",
                       w[i].bytes, w[i].first, w[i].last);
        buf_puts(b, ", ");
        put_string(b, "reason", p->reason ? p->reason : "");
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void
put_candidate(struct buf *b, const struct selection *s,
              const struct variant_slot *slot, uint32_t i)
{
    const struct candidate *c = &slot->candidates[i];
    const struct kernel_plan *k = &c->plan.kernels[0];

    buf_puts(b, i ? ",\n      {" : "\n      {");
    put_string(b, "scheduler", scheduler_name[k->scheduler]);
    buf_puts(b, ", ");
    put_string(b, "summary", c->summary);
    buf_printf(b, ", \"chosen\": %s, ", i == slot->chosen ? "true" : "false");
    if (c->refused) {
        put_string(b, "refused", c->refused);
        buf_puts(b, ", ");
    } else {
        put_int(b, "roofline_percent",
                100 * slot->floor_ns / MAX(c->plan.cost.total_ns, 1));
        buf_puts(b, ", ");
    }
    buf_puts(b, "\"keys\": {");
    put_keys(b, plan_key_info, PK_COUNT, k->key);
    buf_putc(b, '}');
    put_cost(b, &c->plan.cost);
    put_buffers(b, s, k, slot->columns);
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
    buf_puts(b, "],\n  ");
}

static void
put_slot(struct buf *b, const struct selection *s, uint32_t index)
{
    const struct variant_slot *slot = &s->slots[index];

    buf_puts(b, index ? ",\n    {" : "\n    {");
    put_string(b, "guard", slot->guard);
    buf_printf(b, ", \"columns\": %" PRId64 ", ", slot->columns);
    put_int(b, "floor_ns", slot->floor_ns);
    buf_puts(b, ", \"candidates\": [");
    for (uint32_t i = 0; i < slot->n_candidates; i++)
        put_candidate(b, s, slot, i);
    buf_puts(b, "]}");
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
put_selection(struct buf *b, const struct selection *s,
              const struct device *dev)
{
    buf_putc(b, '{');
    put_string(b, "fusion", s->facts->g->name);
    buf_puts(b, ", ");
    put_string(b, "device", dev->name);
    buf_puts(b, ", ");
    buf_printf(b, "\"rows\": %" PRId64 ",\n  ", s->rows);
    put_phases(b, s->facts);
    put_reasons(b, "refusals", s->refusals, s->n_refusals);
    buf_puts(b, ",\n  ");
    put_reasons(b, "notes", s->notes, s->n_notes);
    buf_puts(b, ",\n  \"variants\": [");
    for (uint32_t i = 0; i < s->n_slots; i++)
        put_slot(b, s, i);
    buf_puts(b, "]}");
}

void
explain_json(struct buf *b, const struct selection *const *s, uint32_t n,
             const struct device *dev)
{
    buf_putc(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(b, i ? ",\n" : "");
        put_selection(b, s[i], dev);
    }
    buf_puts(b, "]\n");
}
