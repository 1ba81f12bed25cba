/* SPDX-License-Identifier: Apache-2.0 */
/* What is chosen for a program, in an arena that goes with the test. */
#ifndef FUSEC_TESTS_UNIT_SELECT_FIXTURE_H
#define FUSEC_TESTS_UNIT_SELECT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/facts.h"
#include "front/front.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/diag.h"

static struct arena *arena;
static struct diag *diag; /* of selection */

static inline int
setup(void **state)
{
    (void)state;
    arena = arena_new();
    diag = diag_new(arena);
    return 0;
}

static inline int
teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static inline struct facts *
facts_of(const char *text)
{
    struct front_options o = {0};
    struct module *m =
        front_load_text(arena, diag_new(arena), "test", text, strlen(text), &o);

    if (!m) {
        fail_msg("the program is wrong: %s", text);
        return NULL;
    }
    return facts_analyse(arena, m->graphs[0]);
}

static inline struct selection *
select_on(const char *text, const struct device *dev)
{
    struct select_options opt = {.device = dev};
    struct selection *s = select_plans(arena, facts_of(text), &opt, diag);

    assert_non_null(s);
    return s;
}

static inline const struct candidate *
chosen(const struct selection *s, uint32_t slot)
{
    return &s->slots[slot].candidates[s->slots[slot].chosen];
}

#endif
