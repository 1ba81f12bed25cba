/* SPDX-License-Identifier: Apache-2.0 */
/* print_fusion: a graph as .fusion text, one statement per operation, that is
 * read as a graph with the same listing.
 *
 * Each operation is written so that the front end has nothing to choose: types
 * are explicit at every constant, shapes at every broadcast. Extents that are
 * read as a symbol are written as that symbol even where a condition gave it
 * another value, since the condition is written too. */
#include "support/base.h"

#include "ir/graph.h"

#include "ir/print_impl.h"
#include "support/arena.h"
#include "support/buf.h"

#include <ctype.h>

struct printer {
    struct buf *b;
    struct listing l;
};

static void
print_name(const struct printer *p, node_id id)
{
    if (p->l.names[id] != NULL)
        buf_puts(p->b, p->l.names[id]);
    else
        buf_printf(p->b, "%s%" PRIu32, p->l.prefix, p->l.numbers[id]);
}

static void
print_ref(const struct printer *p, node_id id)
{
    const struct node *n = graph_node(p->l.g, id);

    if (listing_is_leaf(n))
        listing_leaf(p->b, p->l.g, n);
    else
        print_name(p, id);
}

static void
print_refs(const struct printer *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        if (i > 0)
            buf_puts(p->b, ", ");
        print_ref(p, n->args[i]);
    }
}

/* A list of those dimensions below rank where chosen is set. */
static void
print_axes(const struct printer *p, const bool *chosen, int rank)
{
    const char *comma = "";

    buf_putc(p->b, '[');
    for (int d = 0; d < rank; d++) {
        if (chosen[d])
            buf_printf(p->b, "%s%d", comma, d);
        comma = chosen[d] ? ", " : comma;
    }
    buf_putc(p->b, ']');
}

/* --- views ---------------------------------------------------------------- */

/* Where new dimensions must come before numpy's alignment does what map says:
 * source dimensions are matched from the right, each that is not mapped with
 * the nearest result dimension that is new. Returns the new rank. */
static int
align_expansion(const struct node *n, const struct expansion *e, int from_rank,
                bool *fresh)
{
    int rank = 0, from = from_rank - 1;
    bool reverse[2 * MAX_RANK] = {0};

    for (int d = n->rank - 1; d >= 0 && from >= 0; d--) {
        bool take = e->map[d] == NO_DIM;

        /* An unmapped source dimension of extent 1 fills a new one. */
        for (int k = 0; take && k < n->rank; k++)
            take = e->map[k] != from;
        reverse[rank++] = !(take || e->map[d] == from);
        from -= take || e->map[d] == from;
    }
    assert(from < 0);
    for (int d = 0; d < rank; d++)
        fresh[d] = reverse[rank - 1 - d];
    return rank;
}

static void
print_broadcast(const struct printer *p, const struct node *n)
{
    struct expansion e;
    bool fresh[2 * MAX_RANK] = {0}, any = false;
    int rank;

    listing_expansion(p->l.g, n, &e);
    rank = align_expansion(n, &e, graph_node(p->l.g, e.source)->rank, fresh);
    for (int d = 0; d < rank; d++)
        any = any || fresh[d];
    buf_puts(p->b, any ? "broadcast_to(unsqueeze(" : "broadcast_to(");
    print_ref(p, e.source);
    if (any) {
        buf_puts(p->b, ", axis=");
        print_axes(p, fresh, rank);
        buf_putc(p->b, ')');
    }
    buf_puts(p->b, ", ");
    print_extents(p->b, n->rank, n->dims);
    buf_putc(p->b, ')');
}

static void
print_permute(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "permute(");
    print_refs(p, n);
    for (int d = 0; d < n->rank; d++)
        buf_printf(p->b, "%s%d", d == 0 ? ", [" : ", ", n->map[d]);
    buf_puts(p->b, "])");
}

/* squeeze: dimensions that the map lacks; unsqueeze: those without source. */
static void
print_squeeze(const struct printer *p, const struct node *n)
{
    int from_rank = graph_node(p->l.g, n->args[0])->rank;
    bool axes[MAX_RANK], grows = n->op == OP_UNSQUEEZE;

    for (int d = 0; d < MAX_RANK; d++)
        axes[d] = grows ? n->map[d] == NO_DIM : true;
    for (int d = 0; !grows && d < n->rank; d++)
        axes[n->map[d]] = false;
    buf_printf(p->b, "%s(", op_info[n->op].name);
    print_refs(p, n);
    buf_puts(p->b, ", axis=");
    print_axes(p, axes, grows ? n->rank : from_rank);
    buf_putc(p->b, ')');
}

/* lo:hi:step of one dimension; a bound at the end of it is left out. */
static void
print_range(const struct printer *p, const struct node *n, int d,
            const struct sym *whole)
{
    struct sym_ctx *c = p->l.g->syms;
    const struct sym *lo = n->start[d], *step = sym_int(c, n->step[d]);
    const struct sym *room = sym_sub(c, whole, lo), *hi, *last;

    if (!sym_equal(lo, sym_int(c, 0)))
        sym_print_fusion(p->b, lo);
    buf_putc(p->b, ':');
    if (!sym_equal(sym_ceil_div(c, room, step), n->dims[d])) {
        /* Behind the last element: any bound between makes this extent. */
        last = sym_mul(c, sym_sub(c, n->dims[d], sym_int(c, 1)), step);
        hi = sym_add(c, sym_add(c, lo, last), sym_int(c, 1));
        assert(hi != NULL);
        sym_print_fusion(p->b, hi);
    }
    if (n->step[d] != 1)
        buf_printf(p->b, ":%" PRId64, n->step[d]);
}

static void
print_slice(const struct printer *p, const struct node *n)
{
    const struct node *from = graph_node(p->l.g, n->args[0]);

    print_ref(p, n->args[0]);
    for (int d = 0; d < n->rank; d++) {
        buf_puts(p->b, d == 0 ? "[" : ", ");
        print_range(p, n, d, from->dims[d]);
    }
    buf_putc(p->b, ']');
}

/* The scalar argument that an index was converted from. */
static node_id
index_scalar(const struct graph *g, node_id id)
{
    const struct node *n = graph_node(g, id);

    return n->op == OP_CAST ? n->args[0] : id;
}

static void
print_select(const struct printer *p, const struct node *n)
{
    print_ref(p, n->args[0]);
    buf_putc(p->b, '[');
    for (int d = 0; d < n->dim; d++)
        buf_puts(p->b, ":, ");
    if (n->n_args == 1)
        sym_print_fusion(p->b, n->start[0]);
    else
        print_ref(p, index_scalar(p->l.g, n->args[1]));
    buf_putc(p->b, ']');
}

static void
print_reshape(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "reshape(");
    print_refs(p, n);
    buf_puts(p->b, ", ");
    print_extents(p->b, n->rank, n->dims);
    buf_putc(p->b, ')');
}

static void
print_flip(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "flip(");
    print_refs(p, n);
    buf_puts(p->b, ", axis=");
    print_axes(p, n->flag, n->rank);
    buf_putc(p->b, ')');
}

static void
print_pad(const struct printer *p, const struct node *n)
{
    const struct node *from = graph_node(p->l.g, n->args[0]);
    struct sym_ctx *c = p->l.g->syms;

    buf_puts(p->b, "pad(");
    print_ref(p, n->args[0]);
    buf_puts(p->b, ", [");
    for (int d = 0; d < n->rank; d++) {
        const struct sym *both[2] = {n->start[d], NULL};

        both[1] = sym_sub(c, sym_sub(c, n->dims[d], from->dims[d]), both[0]);
        buf_puts(p->b, d > 0 ? ", " : "");
        print_extents(p->b, 2, both);
    }
    buf_puts(p->b, "], value=");
    print_ref(p, n->args[1]);
    buf_putc(p->b, ')');
}

static void
print_cat(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "cat([");
    print_refs(p, n);
    buf_printf(p->b, "], axis=%d)", n->dim);
}

/* --- the rest ------------------------------------------------------------- */

static void
print_reduce(const struct printer *p, const struct node *n)
{
    int rank = graph_node(p->l.g, n->args[0])->rank, axes = 0;

    for (int d = 0; d < rank; d++)
        axes += n->flag[d];
    buf_printf(p->b, "%s(", op_info[n->op].name);
    print_refs(p, n);
    if (axes < rank) {
        buf_puts(p->b, ", axis=");
        print_axes(p, n->flag, rank);
    }
    buf_printf(p->b, "%s)", n->keepdim ? ", keepdim=true" : "");
}

static void
print_along(const struct printer *p, const struct node *n)
{
    buf_printf(p->b, "%s(", op_info[n->op].name);
    print_refs(p, n);
    buf_printf(p->b, ", axis=%d)", n->dim);
}

static void
print_scatter(const struct printer *p, const struct node *n)
{
    buf_printf(p->b, "%s(", op_info[n->op].name);
    print_extents(p->b, n->rank, n->dims);
    buf_puts(p->b, ", ");
    print_refs(p, n);
    buf_printf(p->b, ", axis=%d)", n->dim);
}

static void
print_one_hot(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "one_hot(");
    print_refs(p, n);
    buf_puts(p->b, ", ");
    sym_print_fusion(p->b, n->dims[n->rank - 1]);
    buf_putc(p->b, ')');
}

static void
print_iota(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "iota(");
    sym_print_fusion(p->b, n->dims[0]);
    buf_putc(p->b, ')');
}

static void
print_draw(const struct printer *p, const struct node *n)
{
    buf_printf(p->b, "%s(", op_info[n->op].name);
    print_extents(p->b, n->rank, n->dims);
    buf_puts(p->b, ", ");
    print_refs(p, n);
    if (n->dtype != DT_F32 && n->dtype != DT_BOOL)
        buf_printf(p->b, ", dtype=%s", dtype_info[n->dtype].name);
    buf_putc(p->b, ')');
}

/* The mask is the second result; of what value doesn't matter. */
static void
print_dropout(const struct printer *p, const struct node *n)
{
    buf_puts(p->b, "dropout(broadcast_to(f32(0.0), ");
    print_extents(p->b, n->rank, n->dims);
    buf_puts(p->b, "), ");
    print_refs(p, n);
    buf_putc(p->b, ')');
}

static void
print_cast(const struct printer *p, const struct node *n)
{
    buf_printf(p->b, "%s(", dtype_info[n->dtype].name);
    print_refs(p, n);
    buf_putc(p->b, ')');
}

static void
print_pointwise(const struct printer *p, const struct node *n)
{
    const char *name = op_info[n->op].name;

    if (!(op_info[n->op].flags & OPF_OPERATOR)) {
        buf_printf(p->b, "%s(", name);
        print_refs(p, n);
        buf_putc(p->b, ')');
        return;
    }
    if (n->n_args == 2) {
        print_ref(p, n->args[0]);
        buf_putc(p->b, ' ');
    }
    buf_printf(p->b, "%s%s", name, n->n_args == 2 ? " " : "");
    print_ref(p, n->args[n->n_args - 1]);
}

typedef void print_fn(const struct printer *p, const struct node *n);

/* By operation where one differs from its class, else by class. */
static print_fn *const by_op[OP_COUNT] = {
    [OP_IOTA] = print_iota,
    [OP_BROADCAST] = print_broadcast,
    [OP_PERMUTE] = print_permute,
    [OP_SQUEEZE] = print_squeeze,
    [OP_UNSQUEEZE] = print_squeeze,
    [OP_SLICE] = print_slice,
    [OP_RESHAPE] = print_reshape,
    [OP_SELECT_INDEX] = print_select,
    [OP_FLIP] = print_flip,
    [OP_PAD] = print_pad,
    [OP_CAT] = print_cat,
    [OP_ONE_HOT] = print_one_hot,
    [OP_SCATTER] = print_scatter,
    [OP_SCATTER_ADD] = print_scatter,
    [OP_DROPOUT_KEEP] = print_dropout,
};

static print_fn *const by_class[] = {
    [OC_POINTWISE] = print_pointwise, [OC_CAST] = print_cast,
    [OC_REDUCE] = print_reduce,       [OC_SCAN] = print_along,
    [OC_INDEX] = print_along,         [OC_RANDOM] = print_draw,
};

static void
print_statement(const struct printer *p, node_id id)
{
    const struct node *n = graph_node(p->l.g, id);
    print_fn *fn = by_op[n->op] ? by_op[n->op] : by_class[op_info[n->op].class];

    assert(fn != NULL);
    buf_puts(p->b, n->op == OP_DROPOUT_KEEP ? "    _, " : "    ");
    print_name(p, id);
    buf_puts(p->b, " = ");
    fn(p, n);
    buf_puts(p->b, ";\n");
}

/* --- the head ------------------------------------------------------------- */

/* The symbol that is read at this place, or NULL. */
static const struct dim_symbol *
symbol_at(const struct graph *g, uint32_t param, int dim, bool stride)
{
    for (uint32_t i = 0; i < g->n_dims; i++) {
        const struct dim_symbol *d = &g->dims[i];

        if (!d->is_arg && d->param == (int)param && d->dim == dim &&
            d->from_stride == stride)
            return d;
    }
    return NULL;
}

static void
print_places(const struct printer *p, uint32_t param, bool strides)
{
    const struct graph *g = p->l.g;
    const struct param *x = &g->params[param];

    for (int d = 0; d < x->rank; d++) {
        const struct dim_symbol *s = symbol_at(g, param, d, strides);

        buf_puts(p->b, d > 0 ? ", " : "");
        if (s == NULL)
            sym_print_fusion(p->b, strides ? x->strides[d] : x->dims[d]);
        else if (s->divisor != 1)
            buf_printf(p->b, "%" PRId64 " * %s", s->divisor, s->name);
        else
            buf_puts(p->b, s->name);
    }
}

static void
print_param(const struct printer *p, uint32_t i)
{
    const struct param *x = &p->l.g->params[i];

    buf_printf(p->b, "    %s: %s", x->name,
               x->kind == PARAM_DIM ? "dim" : dtype_info[x->dtype].name);
    if (x->kind == PARAM_TENSOR) {
        buf_putc(p->b, '[');
        print_places(p, i, false);
        buf_putc(p->b, ']');
        if (x->has_strides) {
            buf_puts(p->b, " strides(");
            print_places(p, i, true);
            buf_putc(p->b, ')');
        }
        if (x->align != 16)
            buf_printf(p->b, " align(%" PRId64 ")", x->align);
    }
    if (x->has_default) {
        buf_puts(p->b, " = ");
        print_constant(p->b, x->dtype, x->value.i, x->value.f);
    }
    buf_puts(p->b, ",\n");
}

static void
print_result(const struct printer *p, const struct result *r)
{
    buf_printf(p->b, "    %s: %s", r->name, dtype_info[r->dtype].name);
    print_extents(p->b, r->rank, r->dims);
    if (r->has_strides && r->rank > 0) {
        buf_puts(p->b, " strides(");
        for (int d = 0; d < r->rank; d++) {
            buf_puts(p->b, d > 0 ? ", " : "");
            sym_print_fusion(p->b, r->strides[d]);
        }
        buf_putc(p->b, ')');
    }
    if (r->align != 16)
        buf_printf(p->b, " align(%" PRId64 ")", r->align);
    if (r->inplace >= 0)
        buf_printf(p->b, " = inplace(%s)", p->l.g->params[r->inplace].name);
    buf_puts(p->b, ",\n");
}

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A guard in the language's spelling: floor division is "//". */
static void
print_condition(const struct printer *p, const char *guard)
{
    for (const char *s = guard; *s != '\0'; s++) {
        bool starts = s == guard || !is_word(s[-1]);

        if (starts &&
            (strncmp(s, "min(", 4) == 0 || strncmp(s, "max(", 4) == 0)) {
            buf_printf(p->b, "%.3simum", s);
            s += 2;
            continue;
        }
        buf_putc(p->b, *s);
        if (*s == '/')
            buf_putc(p->b, '/');
    }
}

static void
print_requires(const struct printer *p)
{
    const char *before = "requires ";

    for (uint32_t i = 0; i < p->l.g->n_guards; i++) {
        if (p->l.g->guard_derived[i] ||
            !listing_is_condition(p->l.g, p->l.g->guards[i]))
            continue;
        buf_puts(p->b, before);
        print_condition(p, p->l.g->guards[i]);
        before = ",\n         ";
    }
    if (before[0] == ',')
        buf_putc(p->b, '\n');
}

void
graph_print_fusion(struct buf *b, const struct graph *g)
{
    struct printer p = {.b = b};

    listing_init(&p.l, g);
    buf_printf(b, "fusion %s(\n", g->name);
    for (uint32_t i = 0; i < g->n_params; i++) {
        if (!g->params[i].bound)
            print_param(&p, i);
    }
    buf_puts(b, ") -> (\n");
    for (uint32_t i = 0; i < g->n_results; i++)
        print_result(&p, &g->results[i]);
    buf_puts(b, ")\n");
    print_requires(&p);
    buf_puts(b, "{\n");
    for (uint32_t id = 0; id < g->n_nodes; id++) {
        if (listing_has_line(&p.l, id))
            print_statement(&p, id);
    }
    for (uint32_t i = 0; i < g->n_results; i++) {
        const struct result *r = &g->results[i];
        const char *name = p.l.names[r->node];

        if (name != NULL && strcmp(name, r->name) == 0)
            continue;
        buf_printf(b, "    %s = ", r->name);
        print_ref(&p, r->node);
        buf_puts(b, ";\n");
    }
    buf_puts(b, "}\n");
}
