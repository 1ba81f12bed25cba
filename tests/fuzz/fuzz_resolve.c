/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_resolve: any bytes to graphs. What must hold of a program that is
 * accepted: its graphs verify, before and after simplify, and it prints as a
 * program that prints itself. */
#include "support/base.h"

#include "harness.h"

#include "front/front.h"
#include "ir/graph.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

static void
verify(struct arena *a, const struct graph *g)
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
    fuzz_flush(d);
    return m;
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    struct module *m = load(a, text, len), *again;
    const char *once, *twice;

    if (!m)
        return;
    for (uint32_t i = 0; i < m->n_graphs; i++) {
        verify(a, m->graphs[i]);
        verify(a, graph_simplify(m->graphs[i]));
    }
    once = print_module(a, m);
    again = load(a, once, strlen(once));
    if (!again)
        BUG("a printed program is refused:\n%s", once);
    twice = print_module(a, again);
    if (strcmp(once, twice) != 0)
        BUG("a printed program prints differently:\n%s\n%s", once, twice);
}
