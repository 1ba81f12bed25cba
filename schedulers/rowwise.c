/* SPDX-License-Identifier: Apache-2.0 */
/* Which values each phase of a row needs, and the answers to what should wait
 * between phases: the inputs (projection), what was computed from them, or of
 * that what has been rounded to a storage type, which is smaller. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "support/arena.h"
#include "support/buf.h"

/* Each phase may compute again what those before it did. */
enum { WARP = 32, MAX_LEVELS = 16 };

int
row_outer_count(const struct facts *f)
{
    int k = 0;

    for (uint32_t i = 0; i < f->n_reductions; i++)
        k += facts_is_outer(f, f->reductions[i]);
    return k;
}

static bool
is_reduction(const struct facts *f, node_id n)
{
    return f->node[n].live && (facts_is_inner(f, n) || facts_is_outer(f, n));
}

/* --- what each phase needs ------------------------------------------------ */

static uint32_t
phase_bit(int phase)
{
    return 1u << phase;
}

/* The phases that compute a node: those that need it, but for the ones behind
 * that in which it is kept. What is kept is computed as soon as it can be. */
static uint32_t
computing_phases(struct row_use *u, node_id n)
{
    int level = u->p->f->node[n].level;
    uint32_t later = ~0u << level << 1;

    if (u->store[n] == STORE_NONE)
        return u->needed[n];
    u->needed[n] |= phase_bit(level);
    return u->store[n] == STORE_RELOAD ? u->needed[n] : u->needed[n] & ~later;
}

/* A reduction needs its operand in one phase; other nodes theirs in the phases
 * that compute the node itself. */
static void
need_args(struct row_use *u, node_id n)
{
    const struct facts *f = u->p->f;
    const struct node *nd = graph_node(f->g, n);
    uint32_t phases = is_reduction(f, n) ? phase_bit(row_reduction_phase(f, n))
                                         : computing_phases(u, n);

    for (uint32_t i = 0; phases && i < nd->n_args; i++)
        u->needed[facts_value(f, nd->args[i])] |= phases;
}

static void
set_span(struct row_use *u, node_id n)
{
    for (int phase = 0; u->needed[n] >> phase; phase++) {
        if (!row_needs(u, phase, n))
            continue;
        if (u->first[n] < 0)
            u->first[n] = (int16_t)phase;
        u->last[n] = (int16_t)phase;
    }
}

/* Users stand behind their operands: one pass from the last node on. In the end
 * only values along the columns count. */
static void
find_needs(struct row_use *u)
{
    const struct facts *f = u->p->f;

    for (uint32_t i = 0; i < f->g->n_results; i++) {
        node_id v = facts_value(f, f->g->results[i].node);

        if (!f->node[v].after_outer)
            u->needed[v] |= phase_bit(f->node[v].level);
    }
    for (node_id n = f->g->n_nodes; n-- > 0;) {
        if (!f->node[n].is_leaf)
            need_args(u, n);
        if (!node_has_column(f, n))
            u->needed[n] = 0;
        u->first[n] = u->last[n] = -1;
        set_span(u, n);
    }
}

struct row_use
row_use(const struct problem *p, const struct kernel_plan *k)
{
    struct row_use u = {.p = p, .k = k, .phases = p->f->levels + 1};
    uint32_t nodes = p->f->g->n_nodes;

    assert(p->f->levels <= MAX_LEVELS);
    u.store = NEW_ARRAY(p->arena, uint8_t, nodes + 1);
    u.over_rows = NEW_ARRAY(p->arena, bool, nodes + 1);
    u.needed = NEW_ARRAY(p->arena, uint32_t, nodes + 1);
    u.first = NEW_ARRAY(p->arena, int16_t, nodes + 1);
    u.last = NEW_ARRAY(p->arena, int16_t, nodes + 1);
    for (uint32_t i = k ? k->n_buffers : 0; i-- > 0;) {
        const struct buffer_plan *b = &k->buffers[i];

        u.store[b->node] = (uint8_t)b->key[BK_STORE];
        u.over_rows[b->node] = b->key[BK_REUSE] == REUSE_ROWS;
    }
    find_needs(&u);
    return u;
}

/* A result without some row axes is written by the first row along them, which
 * must exist. What follows a column sum is written by the kernel after. */
static bool
may_lack_writer(const struct facts *f, uint32_t result)
{
    node_id v = facts_value(f, f->g->results[result].node);
    axis_mask missing = f->rows & ~f->stores[result].axes;
    int64_t least;

    if (!missing || f->node[v].after_outer || facts_is_outer(f, v))
        return false;
    return !sym_lower_bound(f->g->syms, facts_extent(f, missing), &least) ||
           least < 1;
}

const char *
rowwise_refuse(const struct problem *p)
{
    const struct facts *f = p->f;

    if (!f->axes_ok)
        return f->why;
    if (f->kind == GK_OTHER)
        return f->kind_why;
    if (f->kind == GK_POINTWISE)
        return "nothing is reduced";
    if (f->levels > MAX_LEVELS)
        return arena_printf(p->arena,
                            "%d reductions of a row follow one another, %d at "
                            "most in a kernel",
                            f->levels, MAX_LEVELS);
    for (uint32_t i = 0; i < f->g->n_results; i++) {
        node_id v = facts_value(f, f->g->results[i].node);

        if (f->node[v].level > 0 && (f->stores[i].axes & f->rows) != f->rows)
            return arena_printf(p->arena,
                                "result '%s' follows an inner reduction and "
                                "lacks row axes",
                                f->g->results[i].name);
        if (may_lack_writer(f, i))
            return arena_printf(p->arena,
                                "result '%s' lacks row axes, which may be "
                                "empty",
                                f->g->results[i].name);
    }
    return NULL;
}

static bool
is_invariant_leaf(const struct facts *f, node_id n)
{
    return f->node[n].live && f->node[n].is_leaf && node_has_column(f, n) &&
           !node_has_rows(f, n);
}

bool
row_is_packable(const struct facts *f, node_id n)
{
    return access_is_vector(f, &f->accesses[f->node[n].access]);
}

static void
keep_invariant(const struct problem *p, struct candidate *c, node_id n,
               const struct row_answer *r)
{
    static const struct {
        enum store store;
        int reuse;
        const char *reason;
    } rows[] = {
        [INVARIANTS_READ] = {STORE_RELOAD, 1,
                             "not held: read from L2 for each row"},
        [INVARIANTS_PACKED] = {STORE_REGISTER_PACKED, 2,
                               "the same for every row: loaded once a block"},
        [INVARIANTS_F32] = {STORE_REGISTER_F32, 2,
                            "the same for every row: loaded and "
                            "converted once a block"},
        [INVARIANTS_SHARED] = {STORE_SHARED, 2,
                               "the same for every row: loaded once a "
                               "block, into shared memory"},
    };
    bool persistent = c->plan.kernels->key[PK_PERSISTENT] != 0;
    enum row_invariants i = r->invariants;

    if (!persistent)
        candidate_keep(p, c, n, STORE_RELOAD, 1,
                       "read from L2 where it is used: a block makes one step");
    else if (!row_is_packable(p->f, n))
        candidate_keep(
            p, c, n, STORE_RELOAD, 1,
            "not contiguous along the columns: read where it is used");
    else
        candidate_keep(p, c, n, rows[i].store, rows[i].reuse, rows[i].reason);
}

/* With computed values kept, most inputs are needed in one phase only. */
static bool
is_used_once(const struct problem *p, const struct candidate *c, node_id n)
{
    struct row_use u = row_use(p, c->plan.kernels);
    int first, last;

    return !row_span(&u, n, &first, &last) || first == last;
}

/* Must be loaded with the row: for the next one, or because a cut says so. */
static bool
is_loaded_with_row(const struct candidate *c, node_id n,
                   const struct row_answer *r)
{
    return c->plan.kernels->key[PK_PREFETCH] ||
           (r->how == KEEP_CUT && r->cut[n]);
}

static void
keep_row_leaf(const struct problem *p, struct candidate *c, node_id n,
              const struct row_answer *r)
{
    bool choosy =
        r->how == KEEP_COMPUTED || r->how == KEEP_NARROW || r->how == KEEP_CUT;

    if (choosy && !is_loaded_with_row(c, n, r) && is_used_once(p, c, n))
        candidate_keep(p, c, n, STORE_NONE, 1,
                       "needed in one phase only: used as it is read");
    else if (r->how == KEEP_NOTHING ||
             (r->how == KEEP_CUT && !is_loaded_with_row(c, n, r)))
        candidate_keep(p, c, n, STORE_RELOAD, 1,
                       "not held: read again in each phase");
    else if (!row_is_packable(p->f, n))
        candidate_keep(
            p, c, n, STORE_RELOAD, 1,
            "not contiguous along the columns: read where it is used");
    else
        candidate_keep(p, c, n, STORE_REGISTER_PACKED, 1,
                       "loaded once, with its row, in its storage type");
}

static bool
depends_on_random(const struct facts *f, node_id n)
{
    return op_info[graph_node(f->g, n)->op].class == OC_RANDOM;
}

/* Computed in one phase, needed in a later one, and used there by something
 * that isn't itself carried over. */
static bool
crosses(const struct row_use *u, node_id n)
{
    const struct facts *f = u->p->f;
    int first, last, f2, l2;

    if (f->node[n].is_leaf || !f->node[n].live || f->node[n].is_alias ||
        op_info[graph_node(f->g, n)->op].class == OC_LEAF ||
        is_reduction(f, n) || !row_span(u, n, &first, &last) || first == last ||
        first != f->node[n].level)
        return false;
    for (uint32_t i = 0; i < f->g->n_results; i++)
        if (facts_value(f, f->g->results[i].node) == n)
            return true;
    for (node_id user = n + 1; user < f->g->n_nodes; user++) {
        const struct node *nd = graph_node(f->g, user);

        for (uint32_t i = 0; f->node[user].live && i < nd->n_args; i++) {
            if (facts_value(f, nd->args[i]) != n || f->node[user].is_alias)
                continue;
            if (f->node[user].level > first)
                return true;
            if (row_span(u, user, &f2, &l2) && f2 > first)
                return true;
        }
    }
    return false;
}

/* What the kept values make unnecessary after its first phase needn't wait. */
static bool
keep_computed(const struct problem *p, struct candidate *c)
{
    const struct facts *f = p->f;
    struct row_use u = row_use(p, NULL);
    bool any = false;

    for (node_id n = 0; n < f->g->n_nodes; n++) {
        if (!crosses(&u, n))
            continue;
        any = true;
        candidate_keep(p, c, n, STORE_REGISTER_F32, 1,
                       "computed once a row, waits for the reductions");
    }
    return any;
}

static bool
is_narrow(const struct facts *f, node_id n)
{
    return f->node[n].live && !f->node[n].is_leaf && !f->node[n].is_alias &&
           !is_reduction(f, n) &&
           dtype_is_storage(graph_node(f->g, n)->dtype) &&
           op_info[graph_node(f->g, n)->op].class != OC_LEAF;
}

/* Of a chain of roundings the last one waits: it makes the others unnecessary
 * after their first phase. */
static bool
keep_narrow(const struct problem *p, struct candidate *c)
{
    const struct facts *f = p->f;
    bool any = false;
    int first, last;

    for (node_id n = f->g->n_nodes; n-- > 0;) {
        struct row_use u;

        if (!is_narrow(f, n))
            continue;
        u = row_use(p, c->plan.kernels);
        if (!row_span(&u, n, &first, &last) || first == last ||
            first != f->node[n].level)
            continue;
        any = true;
        candidate_keep(p, c, n, STORE_REGISTER_PACKED, 1,
                       "computed once a row, waits in its storage type");
    }
    return any;
}

static void
keep_random(const struct problem *p, struct candidate *c)
{
    const struct facts *f = p->f;
    struct row_use u = row_use(p, NULL);
    int first, last;

    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (f->node[n].live && depends_on_random(f, n) &&
            row_span(&u, n, &first, &last) && first != last)
            candidate_keep(p, c, n, STORE_REGISTER_F32, 1,
                           "a random number is never drawn twice");
}

static void
add_cut_value(const struct problem *p, struct candidate *c, node_id n)
{
    bool narrow = is_narrow(p->f, n);

    candidate_keep(p, c, n, narrow ? STORE_REGISTER_PACKED : STORE_REGISTER_F32,
                   1,
                   narrow ? "computed once a row, waits in its storage type"
                          : "computed once a row, waits for the reductions");
}

/* The computed values of a cut; cuts of several ends of phases may keep what
 * their union makes unnecessary. */
static void
keep_cut(const struct problem *p, struct candidate *c, const bool *cut)
{
    const struct facts *f = p->f;
    struct kernel_plan *k = c->plan.kernels;
    struct row_use u;
    int first, last;

    assert(cut);
    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (cut[n] && !f->node[n].is_leaf)
            add_cut_value(p, c, n);
    u = row_use(p, k);
    k->n_buffers = 0;
    for (node_id n = 0; n < f->g->n_nodes; n++)
        if (cut[n] && !f->node[n].is_leaf && row_span(&u, n, &first, &last) &&
            first != last)
            add_cut_value(p, c, n);
}

static bool
keep_values(const struct problem *p, struct candidate *c,
            const struct row_answer *r)
{
    if (r->how == KEEP_COMPUTED)
        return keep_computed(p, c);
    if (r->how == KEEP_NARROW && !keep_narrow(p, c))
        return false;
    if (r->how == KEEP_CUT)
        keep_cut(p, c, r->cut);
    else
        keep_random(p, c);
    return true;
}

bool
row_keep_answer(const struct problem *p, struct candidate *c,
                const struct row_answer *r)
{
    const struct facts *f = p->f;

    if (!keep_values(p, c, r))
        return false;
    for (node_id n = 0; n < f->g->n_nodes; n++) {
        if (row_is_input(f, n))
            keep_row_leaf(p, c, n, r);
        else if (is_invariant_leaf(f, n))
            keep_invariant(p, c, n, r);
    }
    row_keep_sums(p, c, r->shared_sums);
    return true;
}

bool
row_keep(const struct problem *p, struct candidate *c, enum row_keep how,
         bool persistent)
{
    struct row_answer r = {.how = how};

    if (persistent && (how == KEEP_LEAVES || how == KEEP_NARROW))
        r.invariants = INVARIANTS_PACKED;
    return row_keep_answer(p, c, &r);
}

static const char *
kind_words(const char *kind)
{
    if (!strcmp(kind, "no_projection"))
        return "no projection";
    return !strcmp(kind, "nothing") ? "nothing kept" : kind;
}

/* Where a value waits, where that isn't a register in its own type. */
static const char *
place(const struct problem *p, const struct buffer_plan *b)
{
    if (b->key[BK_STORE] == STORE_SHARED)
        return " (shared memory)";
    if (b->key[BK_STORE] == STORE_REGISTER_F32 && p->f->node[b->node].is_leaf)
        return " (f32)";
    return "";
}

const char *
row_summary(const struct row_use *u, const char *kind)
{
    const struct problem *p = u->p;
    const char *sep = ": keeps ";
    struct buf b;

    buf_init(&b, p->arena);
    buf_puts(&b, kind_words(kind));
    for (uint32_t i = 0; i < u->k->n_buffers; i++) {
        const struct buffer_plan *bp = &u->k->buffers[i];
        int first, last;

        if (bp->key[BK_STORE] == STORE_RELOAD ||
            facts_is_outer(p->f, bp->node) ||
            !row_span(u, bp->node, &first, &last) ||
            (first == last && !u->over_rows[bp->node]))
            continue;
        buf_puts(&b, sep);
        buf_puts(&b, plan_node_name(p->arena, p->f->g, bp->node));
        buf_puts(&b, place(p, bp));
        sep = ", ";
    }
    return buf_str(&b);
}

void
row_set(struct kernel_plan *k, const struct row_geometry *g, int64_t bound)
{
    k->key[PK_THREADS] = g->threads;
    k->key[PK_THREADS_PER_ROW] = g->threads_per_row;
    k->key[PK_VECTOR] = g->vector;
    k->key[PK_VECTORS_PER_THREAD] = g->vectors;
    k->key[PK_LOOPED] = g->looped;
    k->key[PK_ROWS_PER_STEP] = MAX(g->steps, 1);
    k->key[PK_PREFETCH] = g->prefetch;
    k->key[PK_PERSISTENT] = g->persistent;
    k->key[PK_GRID_ROWS] = g->grid_rows;
    k->key[PK_BLOCKS_PER_SM] = MAX(g->blocks_per_sm, 1);
    k->key[PK_COLUMN_TILES] = g->tiles;
    k->key[PK_CLUSTER] = MAX(g->cluster, 1);
    k->key[PK_BOUND] = bound;
}

int
row_threads(int64_t vectors, int64_t each)
{
    int64_t t = (MAX(vectors, 1) + each - 1) / each;
    int p = 1;

    if (t > WARP)
        return (int)MIN((t + WARP - 1) / WARP * WARP, INT32_MAX / 2);
    while (p < t)
        p *= 2;
    return p;
}
