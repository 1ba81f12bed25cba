/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to what waits between the phases of a row: the plain ones and the
 * cheapest cuts, each with every place where operands without a row axis may
 * wait. Answers that come out as the same plan are proposed once. */
#include "support/base.h"

#include "schedulers/rowwise_cut.h"

#include "support/arena.h"

enum { LOOK_BACK = 400 };

/* Some operand without a row axis is read as vectors; `narrow`: in a storage
 * type. */
static bool
has_invariants(const struct facts *f, bool narrow)
{
    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (f->node[n].live && f->node[n].is_leaf && node_has_column(f, n) &&
            !node_has_rows(f, n) && row_is_packable(f, n) &&
            (!narrow || dtype_is_storage(graph_node(f->g, n)->dtype)))
            return true;
    return false;
}

static void
add_answer(const struct problem *p, row_answer_vec *v, enum row_keep how,
           enum row_invariants i, const bool *cut)
{
    struct row_answer r = {.how = how, .invariants = i, .cut = cut};

    VEC_PUSH(p->arena, v, r);
}

static void
add_cuts(const struct problem *p, row_answer_vec *v, enum row_invariants i)
{
    const bool *cut[MAX_CUTS];
    uint32_t n = row_cuts(p, i, cut);

    for (uint32_t k = 0; k < n; k++)
        add_answer(p, v, KEEP_CUT, i, cut[k]);
}

/* Every answer with the invariants in one place. */
static void
add_all(const struct problem *p, row_answer_vec *v, enum row_invariants i)
{
    add_answer(p, v, i == INVARIANTS_READ ? KEEP_RELOAD : KEEP_LEAVES, i, NULL);
    add_answer(p, v, KEEP_COMPUTED, i, NULL);
    add_answer(p, v, KEEP_NARROW, i, NULL);
    add_answer(p, v, KEEP_NOTHING, i, NULL);
    add_cuts(p, v, i);
}

static void
add_persistent(const struct problem *p, row_answer_vec *v)
{
    if (has_invariants(p->f, false)) {
        add_all(p, v, INVARIANTS_PACKED);
        add_all(p, v, INVARIANTS_SHARED);
    }
    if (has_invariants(p->f, true))
        add_all(p, v, INVARIANTS_F32);
    add_all(p, v, INVARIANTS_READ);
}

static void
add_one_step(const struct problem *p, row_answer_vec *v)
{
    for (int how = 0; how < KEEP_CUT; how++)
        if (how != KEEP_RELOAD)
            add_answer(p, v, (enum row_keep)how, INVARIANTS_READ, NULL);
    add_cuts(p, v, INVARIANTS_READ);
}

/* --- which are the same --------------------------------------------------- */

static bool
has_buffer(const struct kernel_plan *k, const struct buffer_plan *b)
{
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (k->buffers[i].node == b->node)
            return !memcmp(k->buffers[i].key, b->key, sizeof(b->key));
    return false;
}

static bool
is_same(const struct kernel_plan *x, const struct kernel_plan *y)
{
    if (x->n_buffers != y->n_buffers)
        return false;
    for (uint32_t i = 0; i < x->n_buffers; i++)
        if (!has_buffer(y, &x->buffers[i]))
            return false;
    return true;
}

static bool
is_among(const candidate_vec *seen, const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < seen->n; i++)
        if (is_same(seen->v[i].plan.kernels, k))
            return true;
    return false;
}

/* The buffers follow from the answer and two keys; the geometry has no part. */
static void
skip_repeated(const struct problem *p, row_answer_vec *v, bool persistent,
              bool prefetch)
{
    candidate_vec seen = {0};

    for (uint32_t i = 0; i < v->n; i++) {
        struct candidate c = {.plan = {.n_kernels = 1}};

        c.plan.kernels = NEW(p->arena, struct kernel_plan);
        c.plan.kernels->key[PK_PERSISTENT] = persistent;
        c.plan.kernels->key[PK_PREFETCH] = prefetch;
        v->v[i].skip[prefetch] = !row_keep_answer(p, &c, &v->v[i]) ||
                                 is_among(&seen, c.plan.kernels);
        VEC_PUSH(p->arena, &seen, c);
    }
}

row_answer_vec
row_answers(const struct problem *p, bool persistent)
{
    row_answer_vec v = {0};

    if (persistent)
        add_persistent(p, &v);
    else
        add_one_step(p, &v);
    skip_repeated(p, &v, persistent, false);
    skip_repeated(p, &v, persistent, true);
    return v;
}

/* Those of one geometry stand beside each other. */
bool
row_is_repeated(const candidate_vec *v)
{
    const struct kernel_plan *last = v->v[v->n - 1].plan.kernels;
    uint32_t from = v->n > LOOK_BACK ? v->n - LOOK_BACK : 0;

    for (uint32_t i = from; i + 1 < v->n; i++) {
        const struct kernel_plan *k = v->v[i].plan.kernels;

        if (k->scheduler == last->scheduler &&
            !memcmp(k->key, last->key, sizeof(k->key)) && is_same(k, last))
            return true;
    }
    return false;
}

/* What waits between the phases, invariants aside, by the name that
 * --set keep=NAME asks for. */
const char *
row_kind(const struct problem *p, const struct kernel_plan *k)
{
    struct row_use u = row_use(p, k);
    bool inputs = false, computed = false;
    int first, last;

    for (uint32_t i = 0; i < k->n_buffers && !k->key[PK_LOOPED]; i++) {
        const struct buffer_plan *b = &k->buffers[i];

        if (b->key[BK_STORE] == STORE_NONE ||
            b->key[BK_STORE] == STORE_RELOAD || b->key[BK_REUSE] == 2 ||
            !row_span(&u, b->node, &first, &last) || first == last)
            continue;
        if (!p->f->node[b->node].is_leaf)
            computed = true;
        else if (node_has_rows(p->f, b->node))
            inputs = true;
    }
    if (inputs)
        return computed ? "mixed" : "projection";
    return computed ? "no_projection" : "nothing";
}
