/* SPDX-License-Identifier: Apache-2.0 */
/* print_names: which nodes a listing shows, and under which names. A node keeps
 * the name of its statement when that is free; names that were generated for a
 * text are not names, so that text and listing survive a round trip. */
#include "support/base.h"

#include "ir/print_impl.h"

#include "support/arena.h"
#include "support/buf.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool
listing_is_leaf(const struct node *n)
{
    return op_info[n->op].class == OC_LEAF && n->op != OP_IOTA;
}

bool
listing_has_line(const struct listing *l, node_id id)
{
    return l->numbers[id] != UINT32_MAX;
}

void
listing_expansion(const struct graph *g, const struct node *n,
                  struct expansion *ret)
{
    const struct node *from = graph_node(g, n->args[0]);
    bool fold = from->op == OP_UNSQUEEZE;

    assert(n->op == OP_BROADCAST);
    ret->source = fold ? from->args[0] : n->args[0];
    for (int d = 0; d < n->rank; d++) {
        ret->map[d] = n->map[d];
        if (fold && n->map[d] != NO_DIM)
            ret->map[d] = from->map[n->map[d]];
    }
}

/* --- lines --------------------------------------------------------------- */

/* Uses by anything but a BROADCAST; live[] and used[] are 0 before. */
static void
mark_live(const struct graph *g, bool *live, bool *used)
{
    for (uint32_t i = 0; i < g->n_results; i++)
        live[g->results[i].node] = used[g->results[i].node] = true;
    for (uint32_t id = g->n_nodes; id-- > 0;) {
        const struct node *n = &g->nodes[id];

        for (uint32_t i = 0; live[id] && i < n->n_args; i++) {
            live[n->args[i]] = true;
            used[n->args[i]] |= n->op != OP_BROADCAST;
        }
    }
}

static void
number_lines(struct listing *l)
{
    const struct graph *g = l->g;
    bool *live = NEW_ARRAY(g->arena, bool, g->n_nodes + 1);
    bool *used = NEW_ARRAY(g->arena, bool, g->n_nodes + 1);
    uint32_t next = 0;

    mark_live(g, live, used);
    for (uint32_t id = 0; id < g->n_nodes; id++) {
        const struct node *n = &g->nodes[id];
        bool folded = n->op == OP_UNSQUEEZE && !used[id];

        l->numbers[id] = UINT32_MAX;
        if (live[id] && !folded && !listing_is_leaf(n))
            l->numbers[id] = next++;
    }
}

/* --- names --------------------------------------------------------------- */

bool
listing_is_generated(const char *name)
{
    size_t n = strspn(name, "_");

    return n > 0 && name[n] != '\0' &&
           name[n + strspn(name + n, "0123456789")] == '\0';
}

struct name_set {
    const char **names;
    uint32_t n_buckets; /* a power of two, more than there are names */
};

static bool
insert(struct name_set *set, const char *name)
{
    uint32_t at = 5381;

    for (const char *s = name; *s != '\0'; s++)
        at = at * 33 + (unsigned char)*s;
    for (at &= set->n_buckets - 1; set->names[at] != NULL;
         at = (at + 1) & (set->n_buckets - 1)) {
        if (strcmp(set->names[at], name) == 0)
            return false;
    }
    set->names[at] = name;
    return true;
}

/* Takes a name that a node can't have; lengthens the prefix beyond it. */
static void
reserve(struct listing *l, struct name_set *set, const char *name)
{
    size_t n = strspn(name, "_");

    insert(set, name);
    if (listing_is_generated(name) && n >= strlen(l->prefix)) {
        char *prefix = arena_alloc(l->g->arena, n + 2);

        memset(prefix, '_', n + 1);
        l->prefix = prefix;
    }
}

/* Results first: theirs are the names of the nodes that they store, the first
 * of two results of one node. */
static void
name_results(struct listing *l)
{
    const struct graph *g = l->g;

    for (uint32_t i = 0; i < g->n_results; i++) {
        const struct node *n = graph_node(g, g->results[i].node);

        if (n->name != NULL && strcmp(n->name, g->results[i].name) == 0 &&
            listing_has_line(l, g->results[i].node))
            l->names[g->results[i].node] = n->name;
    }
}

static void
name_lines(struct listing *l)
{
    const struct graph *g = l->g;
    struct name_set set = {.n_buckets = 16};
    uint32_t n = g->n_nodes + g->n_params + g->n_results + g->n_dims;

    while (set.n_buckets < 2 * n)
        set.n_buckets *= 2;
    set.names = NEW_ARRAY(g->arena, const char *, set.n_buckets);
    for (uint32_t i = 0; i < g->n_params; i++)
        reserve(l, &set, g->params[i].name);
    for (uint32_t i = 0; i < g->n_dims; i++)
        reserve(l, &set, g->dims[i].name);
    for (uint32_t i = 0; i < g->n_results; i++)
        reserve(l, &set, g->results[i].name);
    name_results(l);
    for (uint32_t id = 0; id < g->n_nodes; id++) {
        const char *name = g->nodes[id].name;

        if (name != NULL && listing_has_line(l, id) &&
            !listing_is_generated(name) && l->names[id] == NULL &&
            insert(&set, name))
            l->names[id] = name;
    }
}

void
listing_init(struct listing *l, const struct graph *g)
{
    l->g = g;
    l->prefix = "_";
    l->names = NEW_ARRAY(g->arena, const char *, g->n_nodes + 1);
    l->numbers = NEW_ARRAY(g->arena, uint32_t, g->n_nodes + 1);
    number_lines(l);
    name_lines(l);
}

/* --- guards ------------------------------------------------------------------
 */

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool
mentions(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *s = text; (s = strstr(s, name)) != NULL; s += n) {
        if ((s == text || !is_word(s[-1])) && !is_word(s[n]))
            return true;
    }
    return false;
}

bool
listing_is_condition(const struct graph *g, const char *guard)
{
    if (strstr(guard, ".shape[") != NULL || strstr(guard, ".stride[") != NULL)
        return false;
    for (uint32_t i = 0; i < g->n_params; i++) {
        if (g->params[i].bound && mentions(guard, g->params[i].name))
            return false;
    }
    for (uint32_t i = 0; i < g->n_dims; i++) {
        if (g->dims[i].param < 0 && mentions(guard, g->dims[i].name))
            return false;
    }
    return true;
}

/* --- leaves -------------------------------------------------------------- */

/* The shortest decimal that is read as the same f32: to double, then once
 * more. False when none of nine digits is. */
static bool
print_f32(struct buf *b, double f)
{
    char text[32];

    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, f);
        if ((double)(float)strtod(text, NULL) != f)
            continue;
        buf_printf(b, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
        return true;
    }
    return false;
}

static void
print_float(struct buf *b, enum dtype t, double f)
{
    if (isnan(f)) {
        buf_puts(b, "nan");
    } else if (isinf(f)) {
        buf_puts(b, f < 0 ? "-inf" : "inf");
    } else if (f == 0) {
        buf_puts(b, signbit(f) ? "-0.0" : "0.0");
    } else if (t != DT_F32 || !print_f32(b, f)) {
        buf_double(b, f);
    }
}

void
print_constant(struct buf *b, enum dtype t, int64_t i, double f)
{
    if (dtype_is_float(t))
        print_float(b, t, f);
    else if (t == DT_BOOL)
        buf_puts(b, i ? "true" : "false");
    else if (i == INT64_MIN)
        buf_puts(b, "-9223372036854775807 - 1");
    else
        buf_printf(b, "%" PRId64, i);
}

/* A leaf as an expression with a type of its own. */
void
listing_leaf(struct buf *b, const struct graph *g, const struct node *n)
{
    assert(listing_is_leaf(n));
    if (n->op == OP_INPUT || n->op == OP_SCALAR) {
        buf_puts(b, g->params[n->param].name);
        return;
    }
    buf_printf(b, "%s(", dtype_info[n->dtype].name);
    if (n->op == OP_DIM)
        sym_print_fusion(b, n->extent);
    else
        print_constant(b, n->dtype, n->value.i, n->value.f);
    buf_putc(b, ')');
}

void
print_extents(struct buf *b, int rank, const struct sym *const *dims)
{
    buf_putc(b, '[');
    for (int d = 0; d < rank; d++) {
        if (d > 0)
            buf_puts(b, ", ");
        sym_print_fusion(b, dims[d]);
    }
    buf_putc(b, ']');
}
