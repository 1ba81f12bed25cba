/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of facts: axes, accesses, then one line per live value. */
#include "support/base.h"

#include "analysis/facts.h"

#include "support/buf.h"

static const char *const kind_name[] = {
    [GK_POINTWISE] = "pointwise", [GK_INNER] = "inner",
    [GK_OUTER] = "outer",         [GK_INNER_OUTER] = "inner and outer",
    [GK_OTHER] = "other",
};

static void
print_mask(struct buf *b, const struct facts *f, axis_mask m)
{
    const char *sep = "";

    buf_putc(b, '{');
    for (int i = 0; i < f->n_axes; i++) {
        if (!(m >> i & 1))
            continue;
        buf_printf(b, "%s%s", sep, f->axes[i].name);
        sep = ", ";
    }
    buf_putc(b, '}');
}

static void
print_access(struct buf *b, const struct facts *f, const struct access *a)
{
    buf_putc(b, '[');
    sym_print(b, a->base);
    for (int i = 0; i < f->n_axes; i++) {
        if (!a->stride[i])
            continue;
        buf_printf(b, " + %s*(", f->axes[i].name);
        sym_print(b, a->stride[i]);
        buf_putc(b, ')');
    }
    buf_putc(b, ']');
}

static void
print_leaf(struct buf *b, const struct facts *f, const struct node_facts *nf)
{
    const struct access *a = &f->accesses[nf->access];

    buf_printf(b, " = %s",
               a->param >= 0 ? f->g->params[a->param].name : "index");
    print_access(b, f, a);
}

static void
print_node(struct buf *b, const struct facts *f, node_id id)
{
    const struct node *n = graph_node(f->g, id);
    const struct node_facts *nf = &f->node[id];

    buf_printf(b, "  %%%u %s", id, op_info[n->op].name);
    if (n->name)
        buf_printf(b, " '%s'", n->name);
    if (nf->is_alias) {
        buf_printf(b, " is %%%u\n", nf->value);
        return;
    }
    buf_putc(b, ' ');
    print_mask(b, f, nf->axes);
    if (nf->is_leaf || nf->has_index)
        print_leaf(b, f, nf);
    if (nf->reduced) {
        buf_puts(b, " over ");
        print_mask(b, f, nf->reduced);
    }
    if (nf->level)
        buf_printf(b, " level %d", nf->level);
    if (nf->after_outer)
        buf_puts(b, " after outer");
    buf_putc(b, '\n');
}

static void
print_space(struct buf *b, const struct facts *f)
{
    for (int i = 0; i < f->n_axes; i++) {
        buf_printf(b, "  %s %s: ", i == f->column ? "column" : "row",
                   f->axes[i].name);
        sym_print(b, f->axes[i].extent);
        buf_putc(b, '\n');
    }
    for (uint32_t i = 0; i < f->g->n_results; i++) {
        buf_printf(b, "  store %s", f->g->results[i].name);
        print_access(b, f, &f->stores[i]);
        buf_putc(b, '\n');
    }
}

void
facts_print(struct buf *b, const struct facts *f)
{
    buf_printf(b, "facts %s: %s", f->g->name, kind_name[f->kind]);
    if (f->kind_why)
        buf_printf(b, " (%s)", f->kind_why);
    buf_putc(b, '\n');
    if (!f->axes_ok)
        return;
    print_space(b, f);
    for (node_id id = 0; id < f->g->n_nodes; id++)
        if (f->node[id].live)
            print_node(b, f, id);
    buf_puts(b, "  bytes in ");
    sym_print(b, f->bytes_in);
    buf_puts(b, ", out ");
    sym_print(b, f->bytes_out);
    buf_putc(b, '\n');
}
