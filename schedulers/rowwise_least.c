/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_least: the fewest registers with which a plan's kernel has no local
 * memory, for rows of a known length. What the plan holds is known; what comes
 * to it is what the assembler took over 583 kernels of norms and softmax for
 * four architectures, each compiled with ever fewer registers
 * (tests/walk/registers.py looks again).
 *
 * With more registers the assembler takes more, to have more in flight: that is
 * what the times are counted with (rowwise_cost). */
#include "support/base.h"

#include "schedulers/rowwise_shape.h"

/* Threads, addresses, counters, what is in work. */
enum {
    ALWAYS = 16,
    ROW_LOOP = 4,  /* the next row */
    ROW_GROUP = 8, /* which row is this group's, and whether there is one */
    NEXT_ROW = 4,  /* its addresses, beside the row's */
    SCALARS = 8,   /* a row loop over single elements: more of each */
    MANY_ELEMENTS = 24,
};

static bool
lasts(const struct row_use *u, const struct row_shape *s, node_id n)
{
    return u->over_rows[n] && s->persistent;
}

/* Of a value that waits in registers. */
static int
held(const struct row_use *u, const struct row_shape *s, node_id n)
{
    const struct facts *f = u->p->f;
    enum dtype t = graph_node(f->g, n)->dtype;
    enum store st = u->store[n];

    if (s->looped || (st != STORE_REGISTER_PACKED && st != STORE_REGISTER_F32))
        return 0;
    if (st == STORE_REGISTER_PACKED || (f->node[n].is_leaf && !lasts(u, s, n)))
        return row_packed_registers(s, t);
    return s->ept * row_compute_words(t);
}

/* Column sums and operands that wait over all rows, and with prefetch the next
 * row's inputs. */
static int
held_over_rows(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int regs = 0;

    for (uint32_t i = 0; i < f->n_reductions; i++) {
        node_id n = f->reductions[i];
        enum dtype t = graph_node(f->g, n)->dtype;

        if (facts_is_outer(f, n) && u->store[n] != STORE_SHARED)
            regs += s->ept * row_compute_words(dtype_accumulator(t));
    }
    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];

        if (node_has_column(f, n) &&
            (lasts(u, s, n) || (s->prefetch && node_has_rows(f, n))))
            regs += held(u, s, n);
    }
    return regs;
}

/* Of the row, at the start of a phase, which is the end of the one before. */
static int
held_in_row(const struct row_use *u, const struct row_shape *s, int phase)
{
    const struct facts *f = u->p->f;
    int regs = 0, first, last;

    for (uint32_t i = 0; i < u->k->n_buffers; i++) {
        node_id n = u->k->buffers[i].node;
        bool is_leaf = f->node[n].is_leaf;

        if (!row_span(u, n, &first, &last) || facts_is_outer(f, n) ||
            lasts(u, s, n))
            continue;
        if ((is_leaf || first < phase) && last >= phase)
            regs += held(u, s, n) * (is_leaf ? s->steps : 1);
    }
    return regs;
}

/* What a phase reads where it uses it, of one vector. */
static int
vector_words(const struct row_use *u, const struct row_shape *s, int phase)
{
    const struct facts *f = u->p->f;
    int regs = 0;

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        int bytes = (int)dtype_info[graph_node(f->g, n)->dtype].bytes;

        if (row_needs(u, phase, n) && !held(u, s, n))
            regs += (s->vec * bytes + 3) / 4;
    }
    return regs;
}

/* Where no row follows, the assembler reads vectors of a phase ahead: most of
 * them, fewer where some have a guard. */
static int
in_flight(const struct row_use *u, const struct row_shape *s, int held,
          int vector)
{
    bool exact = u->p->n == s->reach;

    if (s->persistent || s->looped || s->ring.stages)
        return 0;
    return (held + vector * s->vpt) * (exact ? 3 : 2) / 4;
}

static int
held_at_most(const struct row_use *u, const struct row_shape *s)
{
    int most = 0;

    for (int phase = 0; phase < u->phases; phase++) {
        int before = held_in_row(u, s, phase);
        int vector = vector_words(u, s, phase);

        most = MAX(most, before + vector);
        most = MAX(most, in_flight(u, s, before, vector));
    }
    return most;
}

/* The next row's inputs arrive while this one's make way for what is computed
 * of them: for a while there are all three. */
static int
held_in_between(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int regs = 0, first, last;

    for (uint32_t i = 0; s->prefetch && i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        bool narrow = dtype_info[graph_node(f->g, n)->dtype].bytes < 4;

        if (!node_has_rows(f, n) || !row_span(u, n, &first, &last) ||
            !held(u, s, n))
            continue;
        if (last > 0)
            return 0;
        regs += held(u, s, n) / (narrow ? 2 : 1);
    }
    return regs;
}

/* Many narrow elements beside column sums, and no guard between them: the
 * assembler has some of them unpacked ahead, half a register each. */
static int
unpacked_ahead(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;

    if (!row_outer_count(f) || s->ept < MANY_ELEMENTS || s->vec == 1 ||
        s->prefetch || u->p->n != s->reach)
        return 0;
    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];

        if (node_has_rows(f, n) && node_has_column(f, n) && held(u, s, n) > 0 &&
            dtype_info[graph_node(f->g, n)->dtype].bytes < 4)
            return s->ept / 2;
    }
    return 0;
}

/* Single elements that may lie outside the row: the assembler keeps what says
 * so, more where blocks have shares of it. */
static int
guards(const struct row_use *u, const struct row_shape *s)
{
    if (s->vec > 1 || s->looped || u->p->n == s->reach)
        return 0;
    return s->vpt * (s->cluster > 1 && !s->prefetch ? 2 : 1);
}

int
row_least_registers(const struct row_use *u, const struct row_shape *s)
{
    int regs = ALWAYS + held_over_rows(u, s) + held_at_most(u, s) +
               held_in_between(u, s) + unpacked_ahead(u, s);

    if (s->persistent)
        regs += ROW_LOOP + (s->vec == 1 ? SCALARS : 0);
    if (s->groups > 1)
        regs += ROW_GROUP;
    if (s->prefetch)
        regs += NEXT_ROW;
    return regs + guards(u, s) + row_sums_registers(u);
}
