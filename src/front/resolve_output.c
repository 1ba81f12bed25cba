/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_output: what is stored, and whether it may be. */
#include "support/base.h"

#include "front/resolve.h"

#include "support/arena.h"

/* A store converts float to float, and an integer or bool to a float or a wider
 * integer. */
static bool
store_converts(enum dtype from, enum dtype to)
{
    unsigned a = dtype_info[from].bytes, b = dtype_info[to].bytes;

    if (from == to)
        return true;
    if (dtype_is_float(from))
        return dtype_is_float(to);
    if (dtype_is_float(to))
        return true;
    if (to == DT_BOOL)
        return false;
    if (from == DT_BOOL)
        return true;
    return a < b && dtype_info[to].class == DC_SIGNED;
}

static void
store_type(struct resolver *r, const struct value *v, const struct result *y)
{
    enum dtype t = build_type(&r->b, v);

    if (!build_fresh(&r->b, DIAG_STORE_TYPE, v->span))
        return;
    diag_report(r->diag, DIAG_STORE_TYPE, v->span, dtype_info[t].name, y->name,
                dtype_info[y->dtype].name);
    diag_note(r->diag, y->span, "'%s' declared here", y->name);
    if (y->dtype == DT_BOOL)
        diag_help(r->diag, v->span, "write a comparison, such as e != 0");
    else
        diag_help(r->diag, v->span, "write %s = %s(...)", y->name,
                  dtype_info[y->dtype].name);
}

/* The value as it is stored: uniform values take the output's type. */
static struct value
stored_value(struct resolver *r, const struct value *v, const struct result *y)
{
    bool adapts = v->kind == V_INT && !v->sized;

    if (adapts && (dtype_is_integer(y->dtype) || dtype_is_float(y->dtype)))
        return build_as(&r->b, v, y->dtype);
    if (!store_converts(build_type(&r->b, v), y->dtype)) {
        store_type(r, v, y);
        return build_poison(v->span);
    }
    if (!value_is_uniform(v))
        return *v;
    if (dtype_is_float(y->dtype) && dtype_is_float(build_type(&r->b, v)))
        return build_as(&r->b, v, y->dtype);
    return build_as(&r->b, v, build_type(&r->b, v));
}

static bool
same_shape(const struct shape *s, const struct result *y)
{
    if (s->rank != y->rank)
        return false;
    for (int d = 0; d < s->rank; d++) {
        if (!sym_equal(s->dims[d], y->dims[d]))
            return false;
    }
    return true;
}

static const char *
first_difference(struct resolver *r, const struct shape *s,
                 const struct result *y)
{
    for (int d = 0; d < s->rank && s->rank == y->rank; d++) {
        const char *a = build_sym_text(&r->b, s->dims[d]),
                   *b = build_sym_text(&r->b, y->dims[d]);

        if (!sym_equal(s->dims[d], y->dims[d]))
            return arena_printf(r->arena,
                                "if they are always equal, add: requires %s "
                                "== %s",
                                a, b);
    }
    return NULL;
}

static void
store_shape(struct resolver *r, const struct value *v, const struct shape *s,
            const struct result *y)
{
    struct shape want = {.rank = y->rank};
    const char *text, *same;

    memcpy(want.dims, y->dims, sizeof(want.dims));
    text = build_shape_text(&r->b, &want);
    if (!build_fresh(&r->b, DIAG_STORE_SHAPE, v->span))
        return;
    diag_report(r->diag, DIAG_STORE_SHAPE, v->span, build_shape_text(&r->b, s),
                y->name, text);
    diag_note(r->diag, y->span, "'%s' declared here", y->name);
    same = first_difference(r, s, y);
    if (s->rank < want.rank)
        diag_help(r->diag, v->span,
                  "a store never broadcasts; write broadcast_to(e, %s)", text);
    else if (same)
        diag_help(r->diag, v->span, "%s", same);
}

static void
resolve_output(struct resolver *r, const struct entity *e)
{
    struct result *y = &r->b.graph->results[e->index];
    struct value v;
    struct shape s;

    if (!e->assigned) {
        if (!r->limit)
            diag_report(r->diag, DIAG_UNASSIGNED_OUTPUT, e->span, e->name);
        return;
    }
    if (e->value.kind == V_POISON || y->rank < 0)
        return;
    s = build_shape(&r->b, &e->value);
    v = stored_value(r, &e->value, y);
    if (!same_shape(&s, y)) {
        if (v.kind != V_POISON || s.rank != y->rank)
            store_shape(r, &e->value, &s, y);
        return;
    }
    if (v.kind == V_POISON)
        return;
    y->node = v.node;
    if (!r->b.graph->nodes[v.node].name)
        r->b.graph->nodes[v.node].name = y->name;
}

void
resolve_outputs(struct resolver *r)
{
    for (uint32_t i = 0; i < r->scope->entities.n; i++) {
        if (r->scope->entities.v[i]->is_result)
            resolve_output(r, r->scope->entities.v[i]);
    }
}
