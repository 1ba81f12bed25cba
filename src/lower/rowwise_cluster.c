/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_cluster: which columns of a row are a block's own, and how the blocks
 * of a cluster that share a row combine its reductions.
 *
 * Block r of a cluster of C owns the r-th part of the columns, whole vectors.
 * An exchange is one hop: a warp's partial results go as messages to a slot of
 * their own in every block of the cluster, lane i to block i, and complete on
 * the mbarrier of that block, which counts the bytes of all C * warps messages.
 * Then each warp folds all slots in the same order, so that every block has the
 * same bits.
 *
 * Two sets of slots and two mbarriers serve by turns. A block sends for
 * exchange k + 1 only after all of exchange k has come to it, and for k + 2
 * after it has heard k + 1 from every warp: by then each of them has read its
 * slots of k. So nobody asks whether a slot is free, and the bytes of k + 2 can
 * be expected as soon as k is complete. The last thing a block waits for is the
 * last message that is sent to it, so it may end. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { WARP = 32, MOST_BYTES = 16, BARRIER_BYTES = 8, TURNS = 2 };

/* --- columns -------------------------------------------------------------- */

/* Columns of a block of the cluster: whole vectors. */
static const struct sym *
share(const struct rw *w)
{
    struct sym_ctx *c = w->ctx->syms;
    const struct sym *vec = sym_int(c, w->vec);

    return sym_mul(
        c, sym_ceil_div(c, w->n, sym_mul(c, vec, sym_int(c, w->cluster))), vec);
}

/* How many of N columns block `rank` has, each block `share`. As a number less
 * for the last block where that is all: then the CUDA compiler knows which
 * vectors every block has whole, and guards only the others. */
static const struct kexpr *
share_of_block(struct rw *w, const struct kexpr *rank, const struct kexpr *n)
{
    struct arena *a = w->a;
    const struct kexpr *left = ke_bin(a, "-", w->nv, w->first), *is_last;
    int64_t all, each, less;

    if (sym_is_int(w->n, &all) && sym_is_int(share(w), &each) &&
        (less = each * w->cluster - all) < each) {
        is_last = ke_bin(a, "==", rank, ke_int(a, w->cluster - 1));
        is_last = ke_call(a, "fu_i32", NULL, 1, is_last);
        return ke_bin(a, "-", n, ke_bin(a, "*", is_last, ke_int(a, less)));
    }
    left = ke_call(a, "fu_max_i64", NULL, 2, left, ke_int(a, 0));
    return ke_call(a, "fu_i32", NULL, 1,
                   ke_call(a, "fu_min_i64", NULL, 2, n, left));
}

/* A column is 64 bits wide then, made of the block's first and a number that is
 * known but for the thread; as one int the CUDA compiler has an address in
 * registers for each vector. Where the loop over rows doesn't know N, it has
 * the sums instead, and the int is better. */
bool
rw_counts_own(const struct rw *w)
{
    int64_t n;

    return w->cluster > 1 && !w->looped &&
           (!w->persistent || sym_is_int(w->n, &n));
}

static void
declare_share(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const char *type = w->wide_columns ? "fu_i64" : "int";
    const struct kexpr *rank, *n = lower_sym(w->ctx, &w->lk, share(w)), *end;

    rank = kb_let(b, "int", "rank", ke_call(a, "fu_cluster_rank", NULL, 0));
    if (rw_counts_own(w)) {
        w->first = kb_let(b, type, "first",
                          ke_bin(a, "*", lower_wide(w->ctx, rank), n));
        w->mine =
            w->exact ? n : kb_let(b, "int", "mine", share_of_block(w, rank, n));
        return;
    }
    w->first = kb_let(b, type, "first", ke_bin(a, "*", rank, n));
    end = ke_bin(a, "+", w->first, n);
    w->end =
        kb_let(b, type, "end", ke_call(a, "fu_min_i64", NULL, 2, end, w->nv));
}

void
rw_declare_columns(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *tile;

    w->end = w->nv;
    if (w->cluster > 1)
        declare_share(w, b);
    if (!w->tiles)
        return;
    tile = lower_wide(w->ctx, ke_call(a, "fu_bid_x", NULL, 0));
    w->first = kb_let(
        b, "fu_i64", "tile",
        ke_bin(a, "*", tile, ke_int(a, (int64_t)w->tpr * w->vec * w->vpt)));
}

void
rw_hide_columns(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *n = w->mine ? lower_wide(w->ctx, w->mine) : w->end;

    n = ke_call(a, "fu_again", NULL, 1, n);
    if (w->mine)
        w->mine = kb_let(b, "int", "columns", ke_call(a, "fu_i32", NULL, 1, n));
    else
        w->end = kb_let(b, "fu_i64", "columns", n);
}

const struct kexpr *
rw_column(const struct rw *w, const struct kexpr *own)
{
    return w->first ? ke_bin(w->a, "+", w->first, own) : own;
}

const struct kexpr *
rw_own_column(const struct rw *w, const struct kexpr *column)
{
    if (w->mine)
        return w->own;
    return w->first ? ke_bin(w->a, "-", column, w->first) : column;
}

const struct kexpr *
rw_is_first_block(const struct rw *w)
{
    if (w->cluster > 1)
        return ke_bin(w->a, "==", ke_var(w->a, "rank"), ke_int(w->a, 0));
    if (w->split && !w->split_met)
        return ke_bin(w->a, "==", ke_call(w->a, "fu_bid_x", NULL, 0),
                      ke_int(w->a, 0));
    return w->tiles ? ke_bin(w->a, "==", w->first, ke_int(w->a, 0)) : NULL;
}

/* --- messages ------------------------------------------------------------- */

struct message { /* values of one type that travel together */
    enum dtype type;
    int count, at; /* values; the byte in the slot of their warp */
    node_id node[MOST_BYTES / 4];
};

struct parcel { /* what a warp sends in one exchange */
    struct message *message;
    int n, bytes, align;
};

/* Messages are made of 32-bit words. */
static enum dtype
sent_type(const struct rw *w, node_id n)
{
    enum dtype t = rw_acc_dtype(w, n);

    return dtype_info[t].bytes < 4 ? DT_I32 : t;
}

static bool
is_left(const struct rw *w, node_id n, int phase, enum dtype t,
        const bool *packed)
{
    return !packed[n] && rw_is_inner(w, n) && rw_phase_of(w, n) == phase &&
           sent_type(w, n) == t;
}

/* Appends messages of that size while there are values to fill them. */
static void
pack_values(const struct rw *w, struct parcel *p, int phase, enum dtype t,
            int size, bool *packed)
{
    const int per = size / (int)dtype_info[t].bytes;
    node_id found[MOST_BYTES / 4];
    int k = 0;

    for (node_id n = 0; per > 0 && n < w->g->n_nodes; n++) {
        struct message *m = &p->message[p->n];

        if (!is_left(w, n, phase, t, packed))
            continue;
        found[k++] = n;
        if (k < per)
            continue;
        *m = (struct message){.type = t, .count = k, .at = p->bytes};
        for (int i = 0; i < k; i++) {
            m->node[i] = found[i];
            packed[found[i]] = true;
        }
        p->n++;
        p->bytes += size;
        p->align = MAX(p->align, size);
        k = 0;
    }
}

/* The largest messages first, so that each is aligned to its size. */
static struct parcel
parcel_of(const struct rw *w, int phase)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_I64};
    struct parcel p = {
        .message = NEW_ARRAY(w->a, struct message, w->g->n_nodes),
        .align = BARRIER_BYTES,
    };
    bool *packed = NEW_ARRAY(w->a, bool, w->g->n_nodes);

    for (int size = MOST_BYTES; size >= 4; size /= 2)
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            pack_values(w, &p, phase, types[i], size, packed);
    return p;
}

static int
warps(const struct rw *w)
{
    return (w->tpr + WARP - 1) / WARP;
}

/* Bytes of a warp's slot: of the largest exchange, and aligned. */
static int
slot_bytes(const struct rw *w)
{
    int most = 0, align = 1;

    for (int phase = 0; phase < w->f->levels; phase++) {
        struct parcel p = parcel_of(w, phase);

        most = MAX(most, p.bytes);
        align = MAX(align, p.align);
    }
    return (most + align - 1) / align * align;
}

static int
slots_bytes(const struct rw *w)
{
    return w->cluster * warps(w) * slot_bytes(w);
}

int64_t
rw_cluster_bytes(const struct rw *w)
{
    return (int64_t)TURNS * (slots_bytes(w) + BARRIER_BYTES);
}

/* Bytes that exchange X of a row, counted through all its steps, brings to a
 * block. */
static int
expected_bytes(const struct rw *w, int x)
{
    int per_step = w->exchanges_total / w->steps, k = 0;

    for (int p = 0; p < w->f->levels; p++) {
        int bytes = parcel_of(w, p).bytes;

        if (bytes && k++ == x % per_step)
            return w->cluster * warps(w) * bytes;
    }
    BUG("no exchange %d", x);
}

/* --- turns ---------------------------------------------------------------- */

static bool
has_clusters(const struct rw *w)
{
    return w->cluster > 1 && w->exchanges_total > 0;
}

/* Which set of slots serves, and the parity of its mbarrier's phase: the turn
 * counts 0 to 3, at run time where rows follow each other. */
static const struct kexpr *
slot_turn(const struct rw *w)
{
    if (!w->persistent)
        return ke_int(w->a, w->exchanges % TURNS);
    return ke_bin(w->a, "&", ke_var(w->a, "turn"), ke_int(w->a, 1));
}

static const struct kexpr *
phase_parity(const struct rw *w)
{
    if (!w->persistent)
        return ke_int(w->a, w->exchanges / TURNS % 2);
    return ke_bin(w->a, ">>", ke_var(w->a, "turn"), ke_int(w->a, 1));
}

static const struct kexpr *
barrier_at(const struct rw *w, const struct kexpr *turn)
{
    return ke_bin(w->a, "+",
                  ke_bin(w->a, "*", turn, ke_int(w->a, BARRIER_BYTES)),
                  ke_int(w->a, (int64_t)TURNS * slots_bytes(w)));
}

static void
expect(const struct rw *w, struct kbuild *b, const struct kexpr *bar, int x)
{
    kb_eval(b, ke_call(w->a, "fu_mbarrier_expect", NULL, 2, bar,
                       ke_int(w->a, expected_bytes(w, x))));
}

/* Exchange X of a row will take place, of this or of a later one. */
static bool
will_be(const struct rw *w, int x)
{
    return w->persistent || x < w->exchanges_total;
}

void
rw_cluster_open(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in;

    if (!has_clusters(w))
        return;
    kb_comment(b, "The blocks of the cluster share a row.");
    in = kb_if(b, ke_bin(a, "==", w->tid, ke_int(a, 0)));
    for (int x = 0; x < TURNS; x++)
        kb_eval(&in, ke_call(a, "fu_mbarrier_init", NULL, 2,
                             barrier_at(w, ke_int(a, x)), ke_int(a, 1)));
    kb_eval(&in, ke_call(a, "fu_mbarrier_fence", NULL, 0));
    for (int x = 0; x < TURNS && will_be(w, x); x++)
        expect(w, &in, barrier_at(w, ke_int(a, x)), x);
    kb_eval(b, ke_call(a, "fu_cluster_arrive", NULL, 0));
    if (w->persistent)
        kb_var(b, "int", "turn", ke_int(a, 0));
}

void
rw_cluster_join(struct rw *w, struct kbuild *b)
{
    if (!has_clusters(w) || w->joined)
        return;
    w->joined = true;
    kb_eval(b, ke_call(w->a, "fu_cluster_wait", NULL, 0));
}

/* When all blocks are here nobody waits or sends any more: the mbarriers are
 * ordinary memory again. */
void
rw_cluster_close(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    struct kbuild in;

    if (!has_clusters(w))
        return;
    kb_eval(b, ke_call(a, "fu_cluster_arrive", NULL, 0));
    kb_eval(b, ke_call(a, "fu_cluster_wait", NULL, 0));
    in = kb_if(b, ke_bin(a, "==", w->tid, ke_int(a, 0)));
    for (int x = 0; x < TURNS; x++)
        kb_eval(&in, ke_call(a, "fu_mbarrier_inval", NULL, 1,
                             barrier_at(w, ke_int(a, x))));
}

/* --- an exchange ---------------------------------------------------------- */

/* The byte of message m in slot ENTRY = rank * warps + warp. */
static const struct kexpr *
place(const struct rw *w, const struct message *m, const struct kexpr *entry)
{
    struct arena *a = w->a;
    const struct kexpr *x = ke_bin(a, "*", entry, ke_int(a, slot_bytes(w)));

    x = ke_bin(a, "+", ke_bin(a, "*", slot_turn(w), ke_int(a, slots_bytes(w))),
               x);
    return m->at ? ke_bin(a, "+", x, ke_int(a, m->at)) : x;
}

static const char *
message_type(const struct rw *w, const struct message *m)
{
    if (m->count == 1)
        return dtype_info[m->type].reg;
    return arena_printf(w->a, "fu_vec<%s, %d>", dtype_info[m->type].mem,
                        m->count);
}

static const char *
message_name(const struct rw *w, const char *prefix, const struct message *m)
{
    return arena_printf(w->a, "%s%d_%d", prefix, w->exchanges, m->at);
}

static const struct kexpr *
cast(const struct rw *w, enum dtype from, enum dtype to, const struct kexpr *x)
{
    return from == to ? x : ke_cast(w->a, from, to, x);
}

static const struct kexpr *
message_value(const struct rw *w, struct kbuild *b, const struct message *m)
{
    const struct kexpr *x =
        kb_var(b, message_type(w, m), message_name(w, "s", m), NULL);

    for (int i = 0; i < m->count; i++) {
        node_id n = m->node[i];
        const struct kexpr *v =
            cast(w, rw_acc_dtype(w, n), m->type, w->node[n].acc);

        if (m->count == 1)
            kb_assign(b, x, v);
        else
            kb_eval(b, ke_call(w->a, "fu_set", NULL, 3, x, ke_int(w->a, i), v));
    }
    return x;
}

static void
send(struct rw *w, struct kbuild *b, const struct parcel *p)
{
    struct arena *a = w->a;
    const struct kexpr *lane = ke_var(a, "lane"), *entry;
    struct kbuild in = kb_if(b, ke_bin(a, "<", lane, ke_int(a, w->cluster)));

    entry =
        ke_bin(a, "+", ke_bin(a, "*", ke_var(a, "rank"), ke_int(a, warps(w))),
               ke_var(a, "warp"));
    for (int i = 0; i < p->n; i++) {
        const struct message *m = &p->message[i];
        const struct kexpr *x = message_value(w, &in, m);

        kb_eval(&in, ke_call(a, "fu_remote_send", NULL, 3,
                             ke_call(a, "fu_remote_at", NULL, 2,
                                     place(w, m, entry), lane),
                             x,
                             ke_call(a, "fu_remote_at", NULL, 2,
                                     barrier_at(w, slot_turn(w)), lane)));
    }
}

/* acc = what slot ENTRY holds, or what was and that. */
static void
take(struct rw *w, struct kbuild *b, const struct message *m,
     const struct kexpr *entry, bool first)
{
    struct arena *a = w->a;
    const struct kexpr *x = kb_let(
        b, message_type(w, m), message_name(w, first ? "m" : "q", m),
        ke_call(a, "fu_sload", message_type(w, m), 1, place(w, m, entry)));

    for (int i = 0; i < m->count; i++) {
        const struct kexpr *acc = w->node[m->node[i]].acc, *v = x;

        if (m->count > 1)
            v = ke_call(a, "fu_get", NULL, 2, x, ke_int(a, i));
        v = cast(w, m->type, rw_acc_dtype(w, m->node[i]), v);
        kb_assign(b, acc, first ? v : rw_combine(w, m->node[i], acc, v));
    }
}

/* Each lane takes the slots lane, lane + 32 ...; a lane without one holds the
 * identity. A power of two of slots is taken by several lanes each. */
static void
fold(struct rw *w, struct kbuild *b, const struct message *m)
{
    struct arena *a = w->a;
    const int entries = w->cluster * warps(w);
    const bool wraps = entries < WARP && (entries & (entries - 1)) == 0;
    const struct kexpr *lane = ke_var(a, "lane"), *next;
    struct kbuild in = *b;

    if (wraps)
        lane = ke_bin(a, "&", lane, ke_int(a, entries - 1));
    if (entries < WARP && !wraps) {
        for (int i = 0; i < m->count; i++)
            kb_assign(b, w->node[m->node[i]].acc, rw_identity(w, m->node[i]));
        in = kb_if(b, ke_bin(a, "<", lane, ke_int(a, entries)));
    }
    take(w, &in, m, lane, true);
    if (entries > WARP) {
        in = kb_unroll(b, "q", ke_int(a, WARP), ke_int(a, entries),
                       ke_int(a, WARP));
        next = ke_bin(a, "+", lane, ke_var(a, "q"));
        if (entries % WARP)
            in = kb_if(&in, ke_bin(a, "<", next, ke_int(a, entries)));
        take(w, &in, m, next, false);
    }
    for (int i = 0; i < m->count; i++)
        rw_butterfly(w, b, m->node[i], wraps ? entries : WARP);
}

void
rw_cluster_exchange(struct rw *w, struct kbuild *b, int phase)
{
    struct arena *a = w->a;
    const struct parcel p = parcel_of(w, phase);
    const int next = w->exchanges + TURNS;
    struct kbuild in;

    rw_cluster_join(w, b);
    send(w, b, &p);
    kb_eval(b, ke_call(a, "fu_mbarrier_wait_cluster", NULL, 2,
                       barrier_at(w, slot_turn(w)), phase_parity(w)));
    if (will_be(w, next)) {
        in = kb_if(b, ke_bin(a, "==", w->tid, ke_int(a, 0)));
        expect(w, &in, barrier_at(w, slot_turn(w)), next % w->exchanges_total);
    }
    for (int i = 0; i < p.n; i++)
        fold(w, b, &p.message[i]);
    if (w->persistent)
        kb_assign(b, ke_var(a, "turn"),
                  ke_bin(a, "&",
                         ke_bin(a, "+", ke_var(a, "turn"), ke_int(a, 1)),
                         ke_int(a, 2 * TURNS - 1)));
}
