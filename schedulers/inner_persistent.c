/* SPDX-License-Identifier: Apache-2.0 */
/* inner_persistent: a row stays in registers from its load to its last use.
 *
 * Softmax, layer norm, RMS norm: the row is read once, reduced by the threads
 * that hold it, and used again. One step a block, the hardware balances; short
 * rows share a block. About four vectors a thread is best, so that several
 * blocks fit a multiprocessor and one reduces while others load. A row that
 * doesn't fit is walked in chunks once per phase and comes from L2 after the
 * first. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "schedulers/rowwise_cut.h"
#include "schedulers/strategies.h"
#include "support/arena.h"

static const char *
refuse(const struct problem *p)
{
    const char *why = rowwise_refuse(p);

    if (why)
        return why;
    if (p->f->kind != GK_INNER)
        return "something is reduced over the rows";
    if (row_reads_once(p))
        return "no row is used after its reduction";
    return NULL;
}

const struct scheduler sched_inner_persistent = {
    .id = SCHED_INNER_PERSISTENT,
    .refuse = refuse,
    .note = row_cuts_refuse,
    .propose = row_propose_inner,
    .cost = rowwise_cost,
    .waits = rowwise_waits,
};
