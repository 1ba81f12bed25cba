/* SPDX-License-Identifier: Apache-2.0 */
/* graph: building, and the identity of a graph as a hash of its listing. */
#include "support/base.h"

#include "ir/graph.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/sha256.h"

struct graph *
graph_new(struct arena *a, struct sym_ctx *syms, const char *name)
{
    struct graph *g = NEW(a, struct graph);

    g->arena = a;
    g->syms = syms;
    g->name = name;
    return g;
}

node_id
graph_add(struct graph *g, const struct node *n)
{
    assert((unsigned)n->op < OP_COUNT && (unsigned)n->dtype < DT_COUNT);
    assert(n->rank >= 0 && n->rank <= MAX_RANK);
    if (g->n_nodes == g->cap_nodes) {
        uint32_t cap = g->cap_nodes ? 2 * g->cap_nodes : 64;

        g->nodes =
            arena_grow(g->arena, g->nodes, g->n_nodes, cap, sizeof(*g->nodes));
        g->cap_nodes = cap;
    }

    struct node *ret = &g->nodes[g->n_nodes];
    *ret = *n;
    if (n->n_args > 0) {
        node_id *args = NEW_ARRAY(g->arena, node_id, n->n_args);

        for (uint32_t i = 0; i < n->n_args; i++) {
            assert(n->args[i] < g->n_nodes);
            args[i] = n->args[i];
        }
        ret->args = args;
    }
    return g->n_nodes++;
}

static void
add_guard(struct graph *g, const char *text, bool derived)
{
    for (uint32_t i = 0; i < g->n_guards; i++) {
        if (strcmp(g->guards[i], text) != 0)
            continue;
        g->guard_derived[i] = g->guard_derived[i] && derived;
        return;
    }
    if (g->n_guards == g->cap_guards) {
        uint32_t cap = g->cap_guards ? 2 * g->cap_guards : 8;

        g->guards = arena_grow(g->arena, g->guards, g->n_guards, cap,
                               sizeof(*g->guards));
        g->guard_derived = arena_grow(g->arena, g->guard_derived, g->n_guards,
                                      cap, sizeof(*g->guard_derived));
        g->cap_guards = cap;
    }
    g->guard_derived[g->n_guards] = derived;
    g->guards[g->n_guards++] = arena_strdup(g->arena, text);
}

void
graph_add_guard(struct graph *g, const char *text)
{
    add_guard(g, text, false);
}

void
graph_add_derived_guard(struct graph *g, const char *text)
{
    add_guard(g, text, true);
}

void
graph_hash(const struct graph *g, char ret[17])
{
    struct buf b;
    char hex[65];

    buf_init(&b, g->arena);
    graph_print(&b, g);
    sha256_hex(buf_str(&b), b.len, hex);
    memcpy(ret, hex, 16);
    ret[16] = '\0';
}

void
graph_row_major(struct sym_ctx *c, int rank, const struct sym *const *dims,
                const struct sym **ret_strides)
{
    const struct sym *stride = sym_int(c, 1);

    assert(rank >= 0 && rank <= MAX_RANK);
    for (int d = rank - 1; d >= 0; d--) {
        ret_strides[d] = stride;
        stride = sym_mul(c, stride, dims[d]);
    }
}
