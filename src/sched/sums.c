/* SPDX-License-Identifier: Apache-2.0 */
/* sums: which column sums wait in shared memory, where, and what forbids it. */
#include "support/base.h"

#include "sched/sums.h"

#include "sched/scheduler.h"

enum { PIECE_BYTES = 16, LEAST_BYTES = 4, OVER_ROWS = 2 };

enum dtype
sums_type(const struct graph *g, node_id n)
{
    const struct node *nd = graph_node(g, n);
    enum dtype arg = graph_node(g, nd->args[0])->dtype;

    if (op_info[nd->op].type == OT_SUM)
        return dtype_accumulator(arg);
    if (op_info[nd->op].type == OT_LOGIC)
        return DT_BOOL;
    return dtype_compute(arg);
}

bool
sums_are_shared(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    if (!f->node[n].live || !facts_is_outer(f, n))
        return false;
    for (uint32_t i = 0; k && i < k->n_buffers; i++)
        if (k->buffers[i].node == n)
            return k->buffers[i].key[BK_STORE] == STORE_SHARED;
    return false;
}

static int
size_of(const struct facts *f, node_id n)
{
    return (int)dtype_info[sums_type(f->g, n)].bytes;
}

int
sums_piece(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    return (int)MIN(k->key[PK_VECTOR], PIECE_BYTES / size_of(f, n));
}

int
sums_piece_bytes(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    return sums_piece(f, k, n) * size_of(f, n);
}

static int64_t
bytes_of(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    return k->key[PK_THREADS] * k->key[PK_VECTOR] *
           k->key[PK_VECTORS_PER_THREAD] * size_of(f, n);
}

int64_t
sums_place(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    int64_t at = 0;

    for (uint32_t i = 0; i < f->n_reductions && f->reductions[i] < n; i++)
        if (sums_are_shared(f, k, f->reductions[i]))
            at += bytes_of(f, k, f->reductions[i]);
    return at;
}

int64_t
sums_bytes(const struct facts *f, const struct kernel_plan *k)
{
    return sums_place(f, k, f->g->n_nodes);
}

const char *
sums_wrong(const struct facts *f, const struct kernel_plan *k, node_id n)
{
    if (!node_has_column(f, n))
        return "it has no columns";
    if (f->levels == 0)
        return "only beside reductions of the row do column sums wait in "
               "shared memory";
    if (size_of(f, n) < LEAST_BYTES)
        return "its sums take less than 4 bytes each";
    if (!k->key[PK_PERSISTENT] || k->key[PK_LOOPED] || k->key[PK_COLUMN_TILES])
        return "to wait over the rows takes a persistent grid of whole rows";
    for (uint32_t i = 0; i < k->n_buffers; i++)
        if (k->buffers[i].node == n && k->buffers[i].key[BK_REUSE] != OVER_ROWS)
            return "in shared memory it waits over the rows: reuse rows";
    return NULL;
}
