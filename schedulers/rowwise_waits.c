/* SPDX-License-Identifier: Apache-2.0 */
/* From which phase of a row to which the buffers of a plan wait, and the bytes
 * of each: what pictures of a plan are drawn from. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "sched/sums.h"

/* In compute type, or as the value lies in memory; nothing is held of what is
 * read again. */
static int64_t
waiting_bytes(const struct facts *f, const struct buffer_plan *b, int64_t n)
{
    int64_t store = b->key[BK_STORE];
    enum dtype type = graph_node(f->g, b->node)->dtype;
    int64_t each = dtype_info[type].bytes;

    if (facts_is_outer(f, b->node))
        each = dtype_info[sums_type(f->g, b->node)].bytes;
    if (store == STORE_NONE || store == STORE_RELOAD)
        return 0;
    if (store == STORE_REGISTER_F32)
        each = MAX(each, 4);
    return node_has_column(f, b->node) ? each * n : each;
}

/* A sum of columns is added to in one phase; what nothing needs stands where
 * it could be had. */
static void
place_wait(const struct row_use *u, node_id n, struct buffer_wait *w)
{
    const struct facts *f = u->p->f;

    w->first = w->last = f->node[n].level;
    if (facts_is_reduction(f, n))
        w->first = w->last = row_reduction_phase(f, n);
    else
        row_span(u, n, &w->first, &w->last);
}

void
rowwise_waits(struct arena *a, const struct facts *f,
              const struct kernel_plan *k, int64_t n, struct buffer_wait *ret)
{
    struct problem p = {.arena = a, .f = f};
    struct row_use u = row_use(&p, k);

    for (uint32_t i = 0; i < k->n_buffers; i++) {
        place_wait(&u, k->buffers[i].node, &ret[i]);
        ret[i].bytes = waiting_bytes(f, &k->buffers[i], n);
    }
}
