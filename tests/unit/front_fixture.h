/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a test become graphs, in an arena that goes with the test. */
#ifndef FUSEC_TESTS_UNIT_FRONT_FIXTURE_H
#define FUSEC_TESTS_UNIT_FRONT_FIXTURE_H

#include "support/base.h"

#include "front/front.h"
#include "ir/graph.h"
#include "support/arena.h"
#include "support/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct arena *a;
    struct diag *d; /* of the last program */
    struct binding bindings[8];
    struct front_options opt;
};

static inline int
setup(void **state)
{
    struct arena *a = arena_new();
    struct fixture *f = NEW(a, struct fixture);

    f->a = a;
    f->opt.bindings = f->bindings;
    *state = f;
    return 0;
}

static inline int
teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->a);
    return 0;
}

static inline void
bind(struct fixture *f, const char *name, const char *value)
{
    assert(f->opt.n_bindings < ARRAY_LEN(f->bindings));
    f->bindings[f->opt.n_bindings++] = (struct binding){name, value, false};
}

static inline struct module *
load(struct fixture *f, const char *text)
{
    f->d = diag_new(f->a);
    return front_load_text(f->a, f->d, "t.fusion", text, strlen(text), &f->opt);
}

static inline struct graph *
graph_of(struct fixture *f, const char *text)
{
    struct module *m = load(f, text);

    if (!m) {
        diag_flush(f->d, stderr, &(struct diag_style){.tool = "test"});
        fail_msg("the program is wrong: %s", text);
        return NULL;
    }
    assert_int_equal(m->n_graphs, 1);
    return m->graphs[0];
}

#endif
