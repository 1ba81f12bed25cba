/* SPDX-License-Identifier: Apache-2.0 */
/* The signature of a graph: what two programs share that differ only in the
 * names of things and in the extents of their dimensions. Nodes keep their
 * numbers, so that a text that speaks of "%7" means the same value in both.
 *
 * Every extent but 0 and 1 is written by the order in which it appears first,
 * and so is a constant that has the value of one, such as the divisor of a
 * mean. */
#include "support/base.h"

#include "ir/graph.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/sha256.h"
#include "support/vec.h"

struct writer {
    struct buf b;
    const struct graph *g;
    VEC(const struct sym *) extents;
};

static bool
is_small(const struct sym *s)
{
    int64_t v;

    return sym_is_int(s, &v) && v >= 0 && v <= 1;
}

static void
put_extent(struct writer *w, const struct sym *s)
{
    uint32_t i = 0;

    if (!s || is_small(s)) {
        buf_puts(&w->b, " ");
        if (s)
            sym_print(&w->b, s);
        return;
    }
    while (i < w->extents.n && !sym_equal(w->extents.v[i], s))
        i++;
    if (i == w->extents.n)
        VEC_PUSH(w->g->arena, &w->extents, s);
    buf_printf(&w->b, " d%u", i);
}

static void
put_extents(struct writer *w, int rank, const struct sym *const *dims)
{
    buf_puts(&w->b, " [");
    for (int d = 0; d < rank; d++)
        put_extent(w, dims[d]);
    buf_putc(&w->b, ']');
}

/* An offset is what it is; only a symbolic one has a name to leave out. */
static void
put_offset(struct writer *w, const struct sym *s)
{
    int64_t v;

    if (s && sym_is_int(s, &v))
        buf_printf(&w->b, " %" PRId64, v);
    else
        put_extent(w, s);
}

/* The bits of a value, or the extent that it is. */
static void
put_value(struct writer *w, enum dtype t, int64_t i, double f)
{
    double v = dtype_is_float(t) ? f : (double)i;
    uint64_t bits = (uint64_t)i;
    int64_t extent;

    for (uint32_t k = 0; k < w->extents.n; k++) {
        if (!sym_is_int(w->extents.v[k], &extent) || v != (double)extent)
            continue;
        buf_printf(&w->b, " =d%u", k);
        return;
    }
    if (dtype_is_float(t))
        memcpy(&bits, &f, sizeof(bits));
    buf_printf(&w->b, " =%016" PRIx64, bits);
}

static void
put_param(struct writer *w, const struct param *p)
{
    buf_printf(&w->b, "param %d %s align %" PRId64, (int)p->kind,
               dtype_info[p->dtype].name, p->align);
    put_extents(w, p->rank, p->dims);
    if (p->has_strides)
        put_extents(w, p->rank, p->strides);
    buf_putc(&w->b, '\n');
}

static void
put_attributes(struct writer *w, const struct node *n)
{
    buf_printf(&w->b, " param %u dim %d keep %d draw %d", n->param, n->dim,
               n->keepdim, (int)n->draw);
    for (int d = 0; d < MAX_RANK; d++) {
        buf_printf(&w->b, " %d:%" PRId64 ":%d", n->map[d], n->step[d],
                   n->flag[d]);
        put_offset(w, n->start[d]);
    }
}

static void
put_node(struct writer *w, const struct node *n)
{
    buf_printf(&w->b, "%s %s", op_info[n->op].name, dtype_info[n->dtype].name);
    put_extents(w, n->rank, n->dims);
    for (uint32_t i = 0; i < n->n_args; i++)
        buf_printf(&w->b, " %%%u", n->args[i]);
    put_attributes(w, n);
    put_extent(w, n->extent);
    put_value(w, n->dtype, n->value.i, n->value.f);
    buf_putc(&w->b, '\n');
}

static void
put_result(struct writer *w, const struct result *r)
{
    buf_printf(&w->b, "result %%%u %s align %" PRId64 " inplace %d", r->node,
               dtype_info[r->dtype].name, r->align, r->inplace);
    put_extents(w, r->rank, r->dims);
    if (r->has_strides)
        put_extents(w, r->rank, r->strides);
    buf_putc(&w->b, '\n');
}

void
graph_signature(const struct graph *g, char ret[17])
{
    struct writer w = {.g = g};
    char hex[65];

    buf_init(&w.b, g->arena);
    for (uint32_t i = 0; i < g->n_params; i++)
        put_param(&w, &g->params[i]);
    for (node_id i = 0; i < g->n_nodes; i++)
        put_node(&w, graph_node(g, i));
    for (uint32_t i = 0; i < g->n_results; i++)
        put_result(&w, &g->results[i]);
    sha256_hex(buf_str(&w.b), w.b.len, hex);
    memcpy(ret, hex, 16);
    ret[16] = '\0';
}
