/* SPDX-License-Identifier: Apache-2.0 */
/* plan_guard: guards as text. A plan that comes from outside may say anything
 * in its `when`: it must be an expression of the manifest over this graph, and
 * what its kernels rely on is added as conditions of its own, whatever the
 * guard's shape. */
#include "support/base.h"

#include "sched/plan_guard.h"

#include "ir/graph.h"
#include "support/arena.h"
#include "support/expr.h"

/* --- reading ------------------------------------------------------------- */

static bool
find_member(int rank, const char *member, uint32_t dim, struct expr_var *ret)
{
    *ret = (struct expr_var){.kind = EV_ALIGN, .dim = dim};
    if (strcmp(member, "align") == 0)
        return true;
    ret->kind = strcmp(member, "shape") == 0 ? EV_SHAPE : EV_STRIDE;
    if (ret->kind == EV_STRIDE && strcmp(member, "stride") != 0)
        return false;
    return dim < (uint32_t)rank;
}

static bool
find_param(const struct graph *g, const char *name, const char *member,
           uint32_t dim, struct expr_var *ret)
{
    for (uint32_t i = 0; i < g->n_params; i++) {
        const struct param *p = &g->params[i];

        if (strcmp(p->name, name) != 0)
            continue;
        if (p->kind == PARAM_TENSOR)
            return member && find_member(p->rank, member, dim, ret);
        *ret = (struct expr_var){.kind = EV_SCALAR, .index = i};
        return !member && !p->bound && !dtype_is_float(p->dtype);
    }
    for (uint32_t i = 0; member && i < g->n_results; i++) {
        if (strcmp(g->results[i].name, name) == 0)
            return find_member(g->results[i].rank, member, dim, ret);
    }
    return false;
}

static bool
find_name(void *data, const char *name, const char *member, uint32_t dim,
          struct expr_var *ret)
{
    const struct graph *g = data;

    *ret = (struct expr_var){.kind = EV_DIM};
    for (uint32_t i = 0; !member && i < g->n_dims; i++) {
        if (strcmp(g->dims[i].name, name) == 0)
            return true;
    }
    if (find_param(g, name, member, dim, ret))
        return true;
    *ret = (struct expr_var){.kind = EV_SMS};
    return !member && strcmp(name, "sms") == 0;
}

const char *
plan_guard_wrong(const struct graph *g, const char *text)
{
    struct expr e = {0};
    const char *why = NULL;

    if (!*text)
        return NULL;
    if (!expr_parse(text, find_name, (void *)(uintptr_t)g, &e, &why))
        return why;
    expr_free(&e);
    return NULL;
}

/* --- joining ------------------------------------------------------------- */

/* The condition at *AT of a conjunction; *AT moves past it. What stands in
 * parentheses is one condition. */
static const char *
next_condition(struct arena *a, const char **at)
{
    const char *start = *at, *end = start;
    int depth = 0;

    while (*end && (depth > 0 || strncmp(end, " && ", 4) != 0)) {
        depth += (*end == '(') - (*end == ')');
        end++;
    }
    *at = *end ? end + 4 : end;
    return arena_strndup(a, start, (size_t)(end - start));
}

/* A conjunction through and through: no `||` outside of parentheses. */
static bool
is_conjunction(const char *guard)
{
    int depth = 0;

    for (; *guard; guard++) {
        depth += (*guard == '(') - (*guard == ')');
        if (depth == 0 && guard[0] == '|')
            return false;
    }
    return true;
}

static bool
has_condition(struct arena *a, const char *guard, const char *condition)
{
    while (*guard) {
        if (strcmp(next_condition(a, &guard), condition) == 0)
            return true;
    }
    return false;
}

const char *
plan_guard_join(struct arena *a, const char *guard, const char *required)
{
    if (!is_conjunction(guard) && *required)
        guard = arena_printf(a, "(%s)", guard);
    while (*required) {
        const char *condition = next_condition(a, &required);

        if (!has_condition(a, guard, condition))
            guard = *guard ? arena_printf(a, "%s && %s", guard, condition)
                           : condition;
    }
    return guard;
}
