/* SPDX-License-Identifier: Apache-2.0 */
/* Column sums in shared memory: what they cost, and which of them a candidate
 * has there.
 *
 * A vector of columns reads its sums and writes them back for each row: 8 bytes
 * of a f32 sum a column and row, of a pipe that a kernel bound by DRAM leaves
 * nearly idle, in place of a register a column for all rows. None of this has
 * been measured on a device; the terms count bytes, instructions and the
 * latency that is known of shared memory. */
#include "support/base.h"

#include "schedulers/rowwise_shape.h"

#include "sched/sums.h"
#include "support/arena.h"

/* From the address to the register, and to the first sum of a phase: about 30
 * clocks. What follows is hidden behind other vectors. */
static const double SHARED_LATENCY_NS = 20;

enum { ACCESSES = 2, PIECE_SLOTS = 2 }; /* an access and its address */

bool
row_shares_sum(const struct row_use *u, node_id n)
{
    return u->store[n] == STORE_SHARED && facts_is_outer(u->p->f, n) &&
           u->p->f->node[n].live;
}

/* Words of one vector's sums of the phase. */
static int
vector_words(const struct row_use *u, int phase)
{
    const struct facts *f = u->p->f;
    int words = 0;

    for (uint32_t i = 0; i < f->n_reductions; i++) {
        node_id n = f->reductions[i];

        if (row_shares_sum(u, n) && row_reduction_phase(f, n) == phase)
            words += (int)(u->k->key[PK_VECTOR] *
                           dtype_info[sums_type(f->g, n)].bytes / 4);
    }
    return words;
}

int
row_sums_registers(const struct row_use *u)
{
    int words = 0;

    for (int phase = 0; phase <= u->p->f->levels; phase++)
        words = MAX(words, vector_words(u, phase));
    return words ? words + 1 : 0;
}

void
row_count_sum(const struct problem *p, const struct kernel_plan *k, node_id n,
              int64_t columns, struct row_traffic *t)
{
    double bytes = (double)dtype_info[sums_type(p->f->g, n)].bytes;
    double pieces = (double)columns / sums_piece(p->f, k, n);

    t->l1 += ACCESSES * bytes * (double)columns;
    t->issue += ACCESSES * PIECE_SLOTS * pieces;
}

double
row_sums_ns(const struct row_use *u, const struct row_shape *s)
{
    double ns = 0;

    for (int phase = 0; phase <= u->p->f->levels; phase++)
        if (vector_words(u, phase) > 0)
            ns += SHARED_LATENCY_NS * s->steps;
    return ns;
}

/* --- candidates ----------------------------------------------------------- */

static bool
may_be_shared(const struct problem *p, const struct kernel_plan *k, node_id n)
{
    return p->f->node[n].live && facts_is_outer(p->f, n) &&
           !sums_wrong(p->f, k, n);
}

int
row_sums_most(const struct problem *p)
{
    struct kernel_plan k = {.key = {[PK_PERSISTENT] = 1}};
    int sums = 0;

    for (node_id n = 0; n < p->f->g->n_nodes; n++)
        sums += may_be_shared(p, &k, n);
    return sums;
}

/* The first so many sums wait in shared memory. */
void
row_keep_sums(const struct problem *p, struct candidate *c, int shared)
{
    const struct facts *f = p->f;

    for (node_id n = 0; n < f->g->n_nodes; n++) {
        if (!f->node[n].live || !facts_is_outer(f, n))
            continue;
        if (shared > 0 && may_be_shared(p, c->plan.kernels, n)) {
            shared--;
            candidate_keep(
                p, c, n, STORE_SHARED, 2,
                "each thread adds up its own columns over all rows, in "
                "shared memory: registers are short");
        } else {
            candidate_keep(p, c, n, STORE_REGISTER_F32, 2,
                           "each thread adds up its own columns over all rows");
        }
    }
}

const char *
row_sums_summary(const struct problem *p, const struct kernel_plan *k)
{
    const struct facts *f = p->f;
    const char *names = "";

    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (sums_are_shared(f, k, n))
            names = arena_printf(p->arena, "%s%s%s", names,
                                 *names ? ", " : "; sums in shared memory: ",
                                 plan_node_name(p->arena, f->g, n));
    return names;
}
