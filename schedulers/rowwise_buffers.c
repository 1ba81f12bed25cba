/* SPDX-License-Identifier: Apache-2.0 */
/* What can wait where: the limits of a plan's buffers, whatever its geometry.
 */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "sched/sums.h"
#include "support/arena.h"

/* Why a value can't wait as the plan says. What waits is a value along the
 * columns that the row kernel has: neither a view of one, nor what only the
 * kernel after the column sums computes. */
static const char *
bad_buffer(const struct problem *p, const struct buffer_plan *b)
{
    const struct facts *f = p->f;
    const struct node_facts *nf = &f->node[b->node];
    int64_t store = b->key[BK_STORE];
    bool over_rows = b->key[BK_REUSE] == 2, sum = facts_is_outer(f, b->node);

    if (store == STORE_CLUSTER)
        return "this strategy has no cluster";
    if (sum && (store == STORE_REGISTER_PACKED || store == STORE_RING))
        return "a column sum waits in register_f32 or in shared";
    if (store == STORE_RELOAD && !nf->is_leaf)
        return "only inputs can be read again";
    if (!nf->live)
        return "no result needs it";
    if (nf->is_alias)
        return arena_printf(
            p->arena, "it is a view of '%s'",
            plan_node_name(p->arena, f->g, facts_value(f, b->node)));
    if (nf->after_outer && !sum && store != STORE_NONE)
        return "it follows a column sum, which ends after the rows";
    if (over_rows && !nf->is_leaf && !sum)
        return "only inputs and column sums wait over the rows";
    if (over_rows && nf->is_leaf && node_has_rows(f, b->node))
        return "it differs from row to row and cannot wait over the rows";
    return NULL;
}

/* Why an operand or a column sum can't wait in shared memory over all rows. */
static const char *
bad_shared(const struct problem *p, const struct kernel_plan *k,
           const struct buffer_plan *b)
{
    const struct facts *f = p->f;
    int64_t bytes = dtype_info[graph_node(f->g, b->node)->dtype].bytes;

    if (sums_are_shared(f, k, b->node))
        return sums_wrong(f, k, b->node);
    if (b->key[BK_STORE] != STORE_SHARED || b->key[BK_REUSE] != 2)
        return NULL;
    if (!f->node[b->node].is_leaf || !node_has_column(f, b->node) ||
        !row_is_packable(f, b->node))
        return "only inputs that are contiguous along the columns wait in "
               "shared memory over the rows";
    if (!k->key[PK_PERSISTENT] || k->key[PK_LOOPED] || k->key[PK_COLUMN_TILES])
        return "to wait over the rows takes a persistent grid of whole rows";
    if (bytes * k->key[PK_VECTOR] % 4)
        return "its vectors are no multiple of 4 bytes";
    return NULL;
}

const char *
row_bad_buffers(const struct problem *p, const struct kernel_plan *k)
{
    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *b = &k->buffers[i];
        const char *why = bad_buffer(p, b);

        if (!why)
            why = bad_shared(p, k, b);
        for (uint32_t j = 0; !why && j < i; j++)
            if (k->buffers[j].node == b->node)
                why = "it has one before";
        if (why)
            return arena_printf(p->arena, "buffer '%s': %s",
                                plan_node_name(p->arena, p->f->g, b->node),
                                why);
    }
    return NULL;
}
