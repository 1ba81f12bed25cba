/* SPDX-License-Identifier: Apache-2.0 */
/* What a row kernel takes: time, registers, shared memory. What it moves and
 * issues is counted in rowwise_traffic.c. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "sched/ring.h"
#include "sched/sums.h"
#include "schedulers/cost.h"
#include "schedulers/rowwise_shape.h"
#include "support/arena.h"

enum {
    WARP = 32,
    NAMED_BARRIERS = 15,
    FOLD_BYTES = 16,    /* of a thread that folds partial rows */
    EXCHANGE_BYTES = 8, /* of one value of one warp */
    CLUSTER_REGISTERS = 6,
    RING_REGISTERS = 6,
    EXPENSIVE_REGISTERS = 4,
    MANY_ELEMENTS = 24,
    FEW_REGISTERS = 4,
    SAFE_REGISTERS = 16,
};

/* A block that isn't persistent has loads in flight for a part of its life
 * only: four blocks of 16 KiB reached copy speed on an H200, three did not.
 * Fitted. */
static const double ONE_SHOT_DUTY = 0.65;

/* Where hardly a register is left the assembler may order loads behind each
 * other: of two plans alike the one with room is taken. With fewer registers
 * than it wants it surely does; few such plans have been measured. None has
 * that leaves less than 16 over the least, and one in ten of those has local
 * memory after all: they are for those who ask for them. */
static const double TIGHT_LOSS = 1.01, SHORT_LOSS = 1.03, SQUEEZED_LOSS = 1.2;

/* Bulk copies into a ring beside as many bytes of stores reach 0.93 to 0.945 of
 * the copy rate, with half as many stores 0.975, alone all of it (an H200, with
 * 48 KiB in flight); no forward norm or softmax by a ring was faster. */
static const double STORE_LOSS = 0.06;

/* Of a slot that is read in later phases too, how long it holds the row in work
 * and none on its way. A slot whose row leaves for registers at once waits for
 * the first exchange and some of the row's arithmetic; an exchange takes so
 * much more for each block of a cluster, seen by a slot: clusters of 4 and 8
 * with two slots were 6 and 13 % slower than with three (layer norm backward in
 * bf16 at N = 32768 and 65536, H200). */
static const double SLOT_IN_USE = 0.5, FREED_AFTER = 0.5;
static const double SLOT_HOP_NS = 35;

/* Inputs that are used as they are read: the assembler has fewer of their loads
 * on their way than it has registers for. RMS norm backward in f32 took 1.29
 * times what it takes with packed inputs at 16384 x 1536, 1.03 to 1.1 times at
 * N = 1024 and 4096 (H200). */
static const double UNBUFFERED_DUTY = 0.5;

/* Rows of a persistent grid that read something again, if only from L2: RMS
 * norm backward in bf16 at N = 1024 lost 17 % by its weight (H200). */
static const double RELOAD_LOSS = 1.04;

static struct row_shape
shape_of(const struct facts *f, const struct kernel_plan *k)
{
    const int64_t *key = k->key;
    struct row_shape s = {
        .threads = (int)key[PK_THREADS],
        .tpr = (int)key[PK_THREADS_PER_ROW],
        .vec = (int)key[PK_VECTOR],
        .vpt = (int)key[PK_VECTORS_PER_THREAD],
        .steps = (int)key[PK_ROWS_PER_STEP],
        .looped = key[PK_LOOPED] != 0,
        .persistent = key[PK_PERSISTENT] != 0,
        .prefetch = key[PK_PREFETCH] != 0,
        .tiles = key[PK_COLUMN_TILES] != 0 && !row_is_split(k),
        .sharing = row_is_split(k) ? (int)key[PK_GRID_ROWS] : 1,
        .cluster = row_cluster(k),
    };

    s.groups = s.tpr ? s.threads / s.tpr : 0;
    s.ept = s.vec * s.vpt;
    s.span = (int64_t)s.tpr * s.ept;
    s.reach = s.span * s.cluster;
    ring_of(f, k, &s.ring);
    return s;
}

static bool
is_power_of_two(int64_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static const char *
bad_threads(const struct row_shape *s)
{
    if (s->threads % WARP)
        return "threads must be a multiple of 32";
    if (s->tpr <= WARP ? !is_power_of_two(s->tpr) : s->tpr % WARP != 0)
        return "threads_per_row must be a power of two up to 32, or a multiple "
               "of 32";
    if (s->threads % s->tpr)
        return "threads must be a multiple of threads_per_row";
    if (s->tpr > WARP && s->groups > 1 && s->groups > NAMED_BARRIERS)
        return "more than 15 row groups of several warps need more barriers "
               "than there are";
    if (!is_power_of_two(s->vec))
        return "vector must be a power of two";
    return NULL;
}

static const char *
bad_shape(const struct problem *p, const struct kernel_plan *k,
          const struct row_shape *s, int64_t n)
{
    const struct facts *f = p->f;
    bool outer = row_outer_count(f) > 0;
    int64_t bound = p->n_static ? p->n : k->key[PK_BOUND];

    if (s->looped && outer)
        return "a looped row cannot carry column sums";
    if (s->tiles && f->levels > 0)
        return "column tiles cannot share a row's reduction";
    if (outer && (!s->persistent || k->key[PK_GRID_ROWS] < 1))
        return "column sums need a persistent grid with grid_rows";
    if (s->prefetch && (!s->persistent || s->steps > 1))
        return "prefetch needs a persistent grid and one row a step";
    if (!s->looped && !s->tiles && bound == ANY_EXTENT)
        return "a row of any length needs looped or column_tiles";
    if (!s->looped && !s->tiles && s->reach < MAX(bound, n))
        return arena_printf(p->arena,
                            "a row of %" PRId64 " columns, %" PRId64
                            " fit its threads",
                            MAX(bound, n), s->reach);
    if (s->vec > 1 && p->n_static && p->n % s->vec)
        return "vector does not divide the columns";
    return NULL;
}

static const char *
bad_ring(const struct problem *p, const struct kernel_plan *k,
         const struct row_shape *s)
{
    const char *why = ring_wrong(p->arena, p->f, k);
    int vector;

    if (why || !s->ring.stages)
        return why;
    if (s->ring.pieces && !p->dev->has_cp_async)
        return "the device has no asynchronous copies to fill a ring by pieces";
    if (!s->ring.pieces && !p->dev->has_bulk_copy)
        return "the device has no bulk copies to fill a ring";
    /* A power of two, as the widest vector of all accesses is. */
    vector = ring_vector(p->f, k);
    if (vector > p->max_vector || (p->n_static && p->n % vector))
        return arena_printf(p->arena,
                            "a ring copies multiples of %d bytes, and rows of "
                            "%d elements are not known to be",
                            RING_PIECE, vector);
    return NULL;
}

int
row_compute_words(enum dtype t)
{
    int bytes = (int)dtype_info[dtype_compute(t)].bytes;

    return MAX(bytes, 4) / 4;
}

static int
kept_registers(const struct row_use *u, const struct row_shape *s, node_id n)
{
    const struct facts *f = u->p->f;
    enum dtype t = graph_node(f->g, n)->dtype;
    enum store st = u->store[n];

    if (s->looped || st == STORE_NONE || st == STORE_RELOAD ||
        st == STORE_SHARED || st == STORE_RING)
        return 0;
    if (st == STORE_REGISTER_PACKED || (f->node[n].is_leaf && !u->over_rows[n]))
        return row_packed_registers(s, t);
    /* An input that waits converted is loaded a vector at a time. */
    return s->ept * row_compute_words(t) + (f->node[n].is_leaf ? s->vpt : 0);
}

/* Registers that live through all rows: accumulators and kept invariants. */
static int
lasting_registers(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int regs = 0;

    for (uint32_t i = 0; i < f->n_reductions; i++) {
        node_id n = f->reductions[i];
        enum dtype t = dtype_accumulator(graph_node(f->g, n)->dtype);

        if (facts_is_outer(f, n) && !row_shares_sum(u, n))
            regs += s->ept * row_compute_words(t);
    }
    for (uint32_t i = 0; s->persistent && i < f->n_leaves; i++)
        if (u->over_rows[f->leaves[i]] && node_has_column(f, f->leaves[i]))
            regs += kept_registers(u, s, f->leaves[i]);
    return regs;
}

/* Registers of the row that live at the start of a phase, which is the end of
 * the one before; inputs from the row's start on. */
static int
row_registers(const struct row_use *u, const struct row_shape *s, int phase)
{
    const struct facts *f = u->p->f;
    int regs = 0, first, last;

    for (uint32_t i = 0; i < u->k->n_buffers; i++) {
        node_id n = u->k->buffers[i].node;
        bool is_leaf = f->node[n].is_leaf;

        if (!row_span(u, n, &first, &last) || facts_is_outer(f, n) ||
            (u->over_rows[n] && s->persistent))
            continue;
        if ((is_leaf || first < phase) && last >= phase)
            regs += kept_registers(u, s, n) * (is_leaf ? s->steps : 1);
    }
    return regs;
}

static int
next_row_registers(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int regs = 0;

    for (uint32_t i = 0; s->prefetch && i < f->n_leaves; i++)
        if (row_is_input(f, f->leaves[i]))
            regs += kept_registers(u, s, f->leaves[i]);
    return regs;
}

/* Addresses, loop counters, the vector in work and its temporaries; where
 * several groups walk over rows, which is this one's and whether there is one.
 */
static int
overhead_registers(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    bool loop = s->groups > 1 && s->persistent && f->levels > 0;
    int regs = loop ? 21 : 18;
    bool again = s->vec == 1 && s->persistent && row_has_packed(u->p, u->k);

    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];
        int bytes = (int)dtype_info[graph_node(f->g, n)->dtype].bytes;

        regs += node_has_column(f, n) ? 2 : 1;
        if (node_has_column(f, n) && kept_registers(u, s, n) == 0)
            regs += (s->vec * bytes + 3) / 4 *
                    (again && !node_has_rows(f, n) ? s->vpt : 1);
    }
    for (uint32_t i = 0; i < f->n_reductions; i++)
        regs += facts_is_inner(f, f->reductions[i]) ? 2 : 0;
    if (f->expensive)
        regs += EXPENSIVE_REGISTERS;
    if (s->ring.stages)
        regs += RING_REGISTERS;
    return regs + 2 * (int)f->g->n_results;
}

/* Where the last vectors may lie outside the row, each has its own predicate
 * and a place that must be zero, the next row's too. Beside sums in shared
 * memory the guard compares with a constant where the columns are known. */
static int
guard_registers(const struct problem *p, const struct kernel_plan *k,
                const struct row_shape *s)
{
    bool exact = p->n_static && p->n == s->reach;

    if (exact || s->tiles || (p->n_static && sums_bytes(p->f, k)))
        return 0;
    if (s->looped)
        return 4;
    /* Rows of long lists of vectors, read where they are used. */
    if (!s->persistent && s->threads > 512 && s->vpt >= 8)
        return 4 * s->vpt;
    return 2 * s->vpt + (s->prefetch ? s->vpt + 2 : 0);
}

/* Many narrow elements of a thread beside column sums: the assembler has some
 * of them unpacked ahead, half a register each. */
static int
unpacked_registers(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;

    if (!row_outer_count(f) || s->ept < MANY_ELEMENTS)
        return 0;
    for (uint32_t i = 0; i < f->n_leaves; i++) {
        node_id n = f->leaves[i];

        if (row_is_input(f, n) && kept_registers(u, s, n) > 0 &&
            dtype_info[graph_node(f->g, n)->dtype].bytes == 2)
            return s->ept / 2;
    }
    return 0;
}

/* Rows of one step that have values of their own: each of these with what its
 * address takes, and the offset of the row. */
static int
step_registers(const struct problem *p, const struct row_shape *s)
{
    const struct facts *f = p->f;
    int scalars = 0;

    if (!s->tiles || s->steps == 1)
        return 0;
    for (uint32_t i = 0; i < f->n_leaves; i++)
        scalars +=
            node_has_rows(f, f->leaves[i]) && !node_has_column(f, f->leaves[i]);
    if (!scalars)
        return 0;
    return s->steps * (2 * scalars + (s->vec == 1 ? 3 : 1));
}

static int
estimate_registers(const struct row_use *u, const struct row_shape *s)
{
    int row = 0;

    for (int phase = 0; phase < u->phases; phase++)
        row = MAX(row, row_registers(u, s, phase));
    if (s->cluster > 1)
        row += CLUSTER_REGISTERS;
    row += unpacked_registers(u, s) + row_sums_registers(u);
    return overhead_registers(u, s) + row + lasting_registers(u, s) +
           next_row_registers(u, s) + guard_registers(u->p, u->k, s) +
           step_registers(u->p, s);
}

/* Column sums of the chunks of rows so far, with what rounding lost. */
static int64_t
long_sums(const struct problem *p, const struct row_shape *s)
{
    const struct facts *f = p->f;
    int64_t bytes = 0;

    if (f->levels > 0 || !s->persistent)
        return 0;
    for (uint32_t i = 0; i < f->n_reductions; i++) {
        const struct node *nd = graph_node(f->g, f->reductions[i]);
        enum dtype t = dtype_accumulator(nd->dtype);

        if (facts_is_outer(f, f->reductions[i]) && nd->op == OP_SUM &&
            dtype_is_float(t))
            bytes += s->ept * dtype_info[t].bytes;
    }
    return bytes > LONG_SUM_BYTES ? 0 : 2 * s->threads * bytes;
}

/* Partials of the row's reductions, one a warp, in slots that take turns. */
static int64_t
exchange_smem(const struct problem *p, const struct kernel_plan *k,
              const struct row_shape *s)
{
    const struct facts *f = p->f;
    int64_t warps = (s->tpr + WARP - 1) / WARP * s->groups;
    int most = 4, phases = 0;

    if (s->cluster > 1)
        return row_cluster_smem(p, k);
    if (s->tpr <= WARP || f->levels == 0)
        return 0;
    for (int phase = 0; phase < f->levels; phase++) {
        int values = 0;

        for (uint32_t i = 0; i < f->n_reductions; i++)
            values += facts_is_inner(f, f->reductions[i]) &&
                      row_reduction_phase(f, f->reductions[i]) == phase;
        most = MAX(most, values);
        phases += values > 0;
    }
    return EXCHANGE_BYTES * most * warps * MAX(phases * s->steps, 2);
}

/* Column sums of all groups, where the block adds them. */
static int64_t
fold_smem(const struct row_use *u, const struct row_shape *s)
{
    const struct facts *f = u->p->f;
    int64_t bytes =
        row_folds_inside(u->k) ? FOLD_BYTES * (int64_t)s->threads : 0;

    for (uint32_t i = 0; s->groups > 1 && i < f->n_reductions; i++) {
        node_id n = f->reductions[i];
        enum dtype t = dtype_accumulator(graph_node(f->g, n)->dtype);

        if (facts_is_outer(f, n) && !row_shares_sum(u, n))
            bytes =
                MAX(bytes, s->groups * s->span * (int64_t)dtype_info[t].bytes);
    }
    return bytes;
}

/* Operands that wait over all rows, one copy a block, behind the rest. */
static int64_t
shared_operands(const struct problem *p, const struct kernel_plan *k,
                const struct row_shape *s)
{
    int64_t bytes = 0;

    for (uint32_t i = 0; i < k->n_buffers; i++) {
        const struct buffer_plan *b = &k->buffers[i];
        enum dtype t = graph_node(p->f->g, b->node)->dtype;

        if (b->key[BK_STORE] == STORE_SHARED && b->key[BK_REUSE] == 2 &&
            !facts_is_outer(p->f, b->node))
            bytes += (s->span * dtype_info[t].bytes + RING_ALIGN - 1) /
                     RING_ALIGN * RING_ALIGN;
    }
    return bytes;
}

/* The fold comes after the rows and may take the place of the ring's slots, but
 * not that of its mbarriers. */
static int
estimate_smem(const struct row_use *u, const struct row_shape *s)
{
    const struct problem *p = u->p;
    const struct kernel_plan *k = u->k;
    int64_t bytes = MAX(long_sums(p, s), exchange_smem(p, k, s));

    bytes = (bytes + RING_LINE - 1) / RING_LINE * RING_LINE + s->ring.bytes;
    bytes = MAX(bytes, fold_smem(u, s)) + s->ring.barrier_bytes;
    bytes = (bytes + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN +
            shared_operands(p, k, s) + sums_bytes(p->f, k);
    return (int)MIN(bytes, INT32_MAX);
}

static double
tiles_of(const struct row_shape *s, int64_t n)
{
    int64_t tiles = (n + s->span - 1) / s->span;

    return s->tiles ? (double)tiles : 1;
}

static void
set_steps(const struct problem *p, const struct kernel_plan *k,
          const struct row_shape *s, int64_t n, struct work *w,
          struct plan_cost *c)
{
    double m = (double)MAX(p->m, 1), per_step = (double)s->groups * s->steps;
    double rows = (double)(int64_t)((m + per_step - 1) / per_step);
    double slots = (double)row_usable_sms(p, k) * MAX(c->blocks_per_sm, 1);

    if (s->persistent && k->key[PK_GRID_ROWS] > 0) {
        double grid = (double)k->key[PK_GRID_ROWS];

        w->rounds = (double)(int64_t)((rows + grid - 1) / grid);
        w->blocks = MIN(rows, grid) * tiles_of(s, n) * s->cluster;
        c->quantisation = w->rounds * MIN(rows, grid) * per_step / m;
        c->quantisation = MAX(c->quantisation, 1.0);
        /* Rows of a grid that isn't full run beside each other. */
        if (w->blocks > slots)
            w->rounds *= w->blocks / slots;
        return;
    }
    w->blocks = rows * tiles_of(s, n) * s->cluster * s->sharing;
    w->rounds = MAX(w->blocks / slots, 1.0);
    c->quantisation = 1 + (w->blocks > slots ? 0.25 * slots / w->blocks : 0);
}

/* The last phase that reads a slot of the ring. */
static int
last_look(const struct row_use *u)
{
    int phase = 0;

    for (uint32_t i = 0; i < u->k->n_buffers; i++) {
        node_id n = u->k->buffers[i].node;

        if ((u->store[n] == STORE_RING || u->store[n] == STORE_SHARED) &&
            !u->over_rows[n])
            phase = MAX(phase, u->last[n]);
    }
    return phase;
}

/* Slots of a ring that have a row on its way. */
static double
slots_on_their_way(const struct row_use *u, const struct row_shape *s)
{
    bool stays = s->persistent && last_look(u) > 0;

    return s->ring.stages - (stays ? SLOT_IN_USE : 0);
}

static void
set_inflight(const struct row_use *u, const struct row_shape *s,
             const struct row_traffic *t, const struct work *w, int64_t columns,
             struct plan_cost *c)
{
    double resident = MIN((double)MAX(c->blocks_per_sm, 1),
                          MAX(w->blocks / u->p->dev->sms, 1.0));
    double share = columns > s->span ? (double)s->span / (double)columns : 1;
    double loads = t->loads - (1 - UNBUFFERED_DUTY) * t->unbuffered;

    c->inflight_bytes = resident * s->groups * s->steps * loads * share *
                        (s->persistent || s->sharing > 1 ? 1 : ONE_SHOT_DUTY);
    if (s->ring.stages)
        c->inflight_bytes *= slots_on_their_way(u, s);
    /* Slots of a cluster wait for its exchanges, and few are on their way. */
    if (s->ring.stages && s->cluster > 1)
        c->inflight_bytes =
            MIN(c->inflight_bytes, (double)u->p->dev->inflight_bytes);
}

/* A slot is full again after the memory's latency, its share of the transfer,
 * and, before that, what had to happen until it was free: the first exchange
 * where the row has left it for registers, else all of the row's work. */
static void
set_cycle(const struct problem *p, const struct row_use *u,
          const struct row_shape *s, const struct plan_cost *c, struct work *w)
{
    double rate = p->dev->dram_bytes_per_ns / row_usable_sms(p, u->k), hop;
    int phases = last_look(u);

    if (!s->ring.stages || !s->persistent)
        return;
    hop = s->cluster > 1 ? SLOT_HOP_NS * s->cluster : 0;
    w->slots = s->ring.stages;
    w->cycle_ns = DRAM_LATENCY_NS + (double)s->ring.slot_bytes * s->groups *
                                        MAX(c->blocks_per_sm, 1) / rate;
    w->cycle_ns += MIN(phases + 1, p->f->levels) *
                   (row_exchange_ns(s) + row_cluster_ns(u->k) + hop);
    w->cycle_issue = (phases + FREED_AFTER) / (p->f->levels + 1);
}

/* Of the copy rate, what a ring's copies reach beside the stores. */
static double
ring_reach(const struct row_shape *s, const struct row_traffic *t)
{
    if (!s->ring.stages || !s->persistent)
        return 1;
    return 1 - STORE_LOSS * MIN(t->stores / MAX(t->dram, 1), 1.0);
}

static void
set_bytes(const struct problem *p, const struct row_shape *s,
          const struct row_traffic *t, double issue_scale, struct plan_cost *c)
{
    double m = (double)MAX(p->m, 1);

    c->bytes_held = t->held;
    c->bytes_per_step = (t->dram + t->l2 + t->l1 + t->stores) * s->groups *
                        s->steps / s->cluster;
    c->dram_bytes = (t->dram + t->stores) * m;
    c->l2_bytes = t->l2 * m;
    c->smem_bytes = t->l1 * m;
    c->issue_slots = t->issue * m * issue_scale;
}

/* The rows that are read again, all that run at once, are more than L2 keeps
 * beside what streams through it. */
static bool
outgrows_l2(const struct problem *p, const struct row_shape *s,
            const struct row_traffic *t, const struct plan_cost *c)
{
    double rows = (double)p->dev->sms * MAX(c->blocks_per_sm, 1) * s->groups *
                  s->steps / s->cluster;

    return s->looped && s->sharing == 1 &&
           MIN(rows, (double)MAX(p->m, 1)) * t->dram > p->dev->l2_bytes / 2.0;
}

/* Lanes without a column still issue. */
static double
lane_waste(const struct row_shape *s, int64_t n)
{
    int64_t passes = (MAX(n, 1) + s->reach - 1) / s->reach;

    return (double)(passes * s->reach) / (double)MAX(n, 1);
}

/* By what a kernel is slower that has so many registers to spare, of what it
 * wants and of the least. */
static double
tight_loss(const struct row_shape *s, int spare, int least)
{
    if (spare < 0)
        return least < SAFE_REGISTERS ? SQUEEZED_LOSS : SHORT_LOSS;
    return s->persistent && spare < FEW_REGISTERS ? TIGHT_LOSS : 1;
}

const char *
rowwise_cost(const struct problem *p, const struct kernel_plan *k, int64_t n,
             struct plan_cost *c)
{
    struct row_shape s = shape_of(p->f, k);
    const char *why = bad_threads(&s);
    struct row_use u;
    struct row_traffic t;
    struct work w = {.warps = (double)s.threads / WARP, .chained = true};
    int cap, least;

    if (!why)
        why = bad_shape(p, k, &s, n);
    if (!why)
        why = row_bad_cluster(p, k);
    if (!why)
        why = row_bad_split(p, k);
    if (!why)
        why = row_bad_buffers(p, k);
    if (!why)
        why = bad_ring(p, k, &s);
    if (why)
        return why;
    u = row_use(p, k);
    t = row_traffic(&u, &s, MAX(n, 1));
    c->regs = estimate_registers(&u, &s);
    /* Where N isn't known the compiler keeps more than the least, unevenly. */
    least = p->n_static ? MIN(c->regs, row_least_registers(&u, &s)) : c->regs;
    c->smem = estimate_smem(&u, &s);
    cap = device_register_cap(p->dev, s.threads, (int)k->key[PK_BLOCKS_PER_SM]);
    c->blocks_per_sm =
        device_occupancy(p->dev, s.threads, MIN(c->regs, cap), c->smem);
    if (s.persistent || s.cluster > 1)
        c->blocks_per_sm = MIN(c->blocks_per_sm, (int)k->key[PK_BLOCKS_PER_SM]);
    set_steps(p, k, &s, MAX(n, 1), &w, c);
    w.loss = row_cluster_loss(k, c->blocks_per_sm);
    w.reach = ring_reach(&s, &t);
    if (s.persistent && t.reload_phases > 0)
        w.again = RELOAD_LOSS;
    set_inflight(&u, &s, &t, &w, MAX(n, 1), c);
    set_bytes(p, &s, &t, lane_waste(&s, n), c);
    if (outgrows_l2(p, &s, &t, c))
        c->dram_bytes += t.l2 * (double)MAX(p->m, 1);
    w.stall_ns = row_stall_ns(&u, &s, &t, c, cap - c->regs);
    set_cycle(p, &u, &s, c, &w);
    row_finish_cost(p, k, MAX(n, 1), c);
    cost_finish(p, &w, c);
    c->term[CT_TIGHT] =
        c->total_ns * (tight_loss(&s, cap - c->regs, cap - least) - 1);
    c->total_ns += c->term[CT_TIGHT];
    if (least > cap)
        return arena_printf(p->arena, "needs %d registers a thread, %d allowed",
                            least, cap);
    if (c->smem > p->dev->smem_per_block)
        return arena_printf(p->arena,
                            "needs %d bytes of shared memory, %d allowed",
                            c->smem, p->dev->smem_per_block);
    if (c->blocks_per_sm < 1)
        return "not one block fits a multiprocessor";
    return row_finish_refuse(p, k, c->blocks_per_sm);
}
