/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_compile: any bytes through every stage up to CUDA text.
 *
 * What must hold of a program that is accepted: its graphs verify before and
 * after simplify, it prints as a program that prints itself, some scheduler
 * takes it, and its kernels verify. */
#include "support/base.h"

#include "harness.h"

#include "analysis/facts.h"
#include "codegen/codegen.h"
#include "front/front.h"
#include "ir/graph.h"
#include "ir/op.h"
#include "kernel/kernel.h"
#include "lower/lower.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdio.h>

enum { MAX_NODES = 3000 }; /* above, only the front end is run */

static const struct diag_style style = {.tool = "fuzz"};

static void
verify_graph(struct arena *a, const struct graph *g)
{
    struct buf why;

    buf_init(&why, a);
    if (!graph_verify(g, &why))
        BUG("graph of '%s': %s", g->name, buf_str(&why));
}

static const char *
print_module(struct arena *a, const struct module *m)
{
    struct buf b;

    buf_init(&b, a);
    for (uint32_t i = 0; i < m->n_graphs; i++)
        graph_print_fusion(&b, m->graphs[i]);
    return buf_str(&b);
}

static struct module *
load(struct arena *a, const char *text, size_t len)
{
    struct diag *d = diag_new(a);
    struct front_options opt = {0};
    struct module *m = front_load_text(a, d, "fuzz.fusion", text, len, &opt);

    if (!m && diag_errors(d) == 0)
        BUG("a program was refused without a message");
    if (m && diag_errors(d) > 0)
        BUG("a program with errors was accepted");
    diag_flush(d, stderr, &style);
    return m;
}

static void
check_round_trip(struct arena *a, const struct module *m)
{
    const char *once = print_module(a, m), *twice;
    struct module *again = load(a, once, strlen(once));

    if (!again)
        BUG("a printed program is refused:\n%s", once);
    twice = print_module(a, again);
    if (strcmp(once, twice) != 0)
        BUG("a printed program prints differently:\n%s\n%s", once, twice);
}

static bool
has_kernels(const struct graph *g)
{
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        if (op_info[graph_node(g, n)->op].flags & OPF_NO_KERNEL)
            return false;
    }
    return true;
}

static void
check_kernels(struct arena *a, const struct lowered *l)
{
    struct buf why;

    buf_init(&why, a);
    for (uint32_t v = 0; v < l->variants.n; v++) {
        for (uint32_t k = 0; k < l->variants.v[v].launches.n; k++) {
            if (!kernel_verify(l->variants.v[v].launches.v[k].kernel, &why))
                BUG("kernel of '%s': %s", l->g->name, buf_str(&why));
        }
    }
}

static void
compile(struct arena *a, const struct graph *resolved)
{
    static const struct codegen_options cuda = {.version = "fuzz"};
    const struct graph *g;
    const struct facts *f;
    struct select_options opt = {.device = device_find("h200")};
    struct diag *d = diag_new(a);
    struct selection *s;
    struct lowered *l;

    verify_graph(a, resolved);
    if (resolved->n_nodes > MAX_NODES)
        return;
    g = graph_simplify(resolved);
    verify_graph(a, g);
    if (!has_kernels(g))
        return;
    f = facts_analyse(a, g);
    s = select_plans(a, f, &opt, d);
    diag_flush(d, stderr, &style);
    if (!s)
        BUG("no scheduler takes '%s'", g->name);
    l = lower_fusion(a, f, selection_plan(a, s));
    check_kernels(a, l);
    if (!*codegen_cuda(a, (const struct lowered *const *)&l, 1, &cuda))
        BUG("no text for '%s'", g->name);
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    struct module *m = load(a, text, len);

    if (!m)
        return;
    check_round_trip(a, m);
    for (uint32_t i = 0; i < m->n_graphs; i++)
        compile(a, m->graphs[i]);
}
