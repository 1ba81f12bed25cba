/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_sums: where column sums wait, and how they leave the block.
 *
 * A thread sees the same columns of every row. Its sums stay in registers over
 * all rows of the block, or in shared memory (sched/sums.h): there each vector
 * of columns brings its sums, adds to them and takes them back, which needs no
 * barrier, since nobody else looks at them. At the end the groups of the block
 * are added in order through shared memory, where sums that waited there are
 * already, and the block writes one partial row. */
#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { WARP = 32 };

uint32_t
rw_outer_count(const struct rw *w)
{
    uint32_t k = 0;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        k += w->f->node[n].live && rw_is_outer(w, n);
    return k;
}

/* --- in shared memory ----------------------------------------------------- */

bool
rw_is_shared_sum(const struct rw *w, node_id n)
{
    return sums_are_shared(w->f, w->kp, n);
}

int64_t
rw_sums_base(const struct rw *w)
{
    return rw_shared_base(w) + rw_shared_bytes(w);
}

int64_t
rw_sums_bytes(const struct rw *w)
{
    return sums_bytes(w->f, w->kp);
}

static const char *
piece_type(const struct rw *w, node_id n, const char *before,
           const char *behind)
{
    return arena_printf(w->a, "%s%s, %d%s", before,
                        dtype_info[rw_acc_dtype(w, n)].mem,
                        sums_piece(w->f, w->kp, n), behind);
}

static int
pieces_of_vector(const struct rw *w, node_id n)
{
    return (int)w->kp->key[PK_VECTOR] / sums_piece(w->f, w->kp, n);
}

/* The first piece of a thread, were there no other sums. */
static const struct kexpr *
first_piece(const struct rw *w, const struct kexpr *thread, node_id n)
{
    return ke_bin(w->a, "*", thread,
                  ke_int(w->a, sums_piece_bytes(w->f, w->kp, n)));
}

/* Piece I of sum n of the thread whose first piece is at FIRST. */
static const struct kexpr *
piece_address(const struct rw *w, const struct kexpr *first,
              const struct kexpr *i, node_id n)
{
    struct arena *a = w->a;
    int64_t each = (int64_t)w->threads * sums_piece_bytes(w->f, w->kp, n);
    int64_t base = rw_sums_base(w) + sums_place(w->f, w->kp, n);

    first = ke_bin(a, "+", first, ke_bin(a, "*", i, ke_int(a, each)));
    return ke_bin(a, "+", first, ke_int(a, base));
}

/* Piece H of vector V. */
static const struct kexpr *
piece_number(const struct rw *w, const struct kexpr *v, const struct kexpr *h,
             node_id n)
{
    return ke_bin(w->a, "+",
                  ke_bin(w->a, "*", v, ke_int(w->a, pieces_of_vector(w, n))),
                  h);
}

static const struct kexpr *
load_piece(const struct rw *w, node_id n, const struct kexpr *at)
{
    return ke_call(w->a, "fu_vsload", piece_type(w, n, "", ""), 1, at);
}

static void
clear_shared(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    int piece = sums_piece(w->f, w->kp, n);
    const struct kexpr *none =
        kb_var(b, piece_type(w, n, "fu_vec<", ">"), rw_name(w, "z", n), NULL);
    struct kbuild in;

    for (int e = 0; e < piece; e++)
        kb_eval(b, ke_call(a, "fu_set", NULL, 3, none, ke_int(a, e),
                           rw_identity(w, n)));
    in = kb_unroll(b, "i", ke_int(a, 0),
                   ke_int(a, (int64_t)w->vpt * pieces_of_vector(w, n)),
                   ke_int(a, 1));
    kb_eval(&in, ke_call(a, "fu_vsstore", NULL, 2,
                         piece_address(w, first_piece(w, w->tid, n),
                                       ke_var(a, "i"), n),
                         none));
}

static bool
is_shared_in(const struct rw *w, node_id n, int phase)
{
    return rw_is_shared_sum(w, n) && rw_phase_of(w, n) == phase;
}

/* Sums of pieces of one size begin at one place. */
static const struct kexpr *
pieces_before(const struct rw *w, node_id n, int phase)
{
    for (node_id i = 0; i < n; i++)
        if (is_shared_in(w, i, phase) && sums_piece_bytes(w->f, w->kp, i) ==
                                             sums_piece_bytes(w->f, w->kp, n))
            return w->node[i].pieces;
    return NULL;
}

/* The place is a new one for each vector: else the CUDA compiler might keep the
 * sums in registers over all rows, or load those of all vectors ahead, for
 * which the plan has no registers. */
static void
find_pieces(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!is_shared_in(w, n, phase))
            continue;
        w->node[n].pieces = pieces_before(w, n, phase);
        if (!w->node[n].pieces)
            w->node[n].pieces = kb_let(b, "int", rw_name(w, "at", n),
                                       ke_call(w->a, "fu_again_at", NULL, 1,
                                               first_piece(w, w->tid, n)));
    }
}

static struct kbuild
each_piece(const struct rw *w, struct kbuild *b, node_id n,
           const struct kexpr **ret_h)
{
    int pieces = pieces_of_vector(w, n);

    *ret_h = ke_int(w->a, 0);
    if (pieces == 1)
        return *b;
    *ret_h = ke_var(w->a, "h");
    return kb_unroll(b, "h", ke_int(w->a, 0), ke_int(w->a, pieces),
                     ke_int(w->a, 1));
}

void
rw_sums_load(struct rw *w, struct kbuild *b, int phase)
{
    find_pieces(w, b, phase);
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *h;
        struct kbuild in;

        if (!is_shared_in(w, n, phase))
            continue;
        w->node[n].acc =
            kb_array(b, piece_type(w, n, "fu_vec<", ">"), rw_name(w, "a", n),
                     pieces_of_vector(w, n), NULL);
        in = each_piece(w, b, n, &h);
        kb_assign(&in, ke_elem(w->a, w->node[n].acc, h),
                  load_piece(w, n,
                             piece_address(w, w->node[n].pieces,
                                           piece_number(w, w->v, h, n), n)));
    }
}

/* Where the current element is: its piece, its place in it. */
static void
split_element(const struct rw *w, node_id n, const struct kexpr *ret[2])
{
    const struct kexpr *e = w->e ? w->e : ke_int(w->a, 0);
    const struct kexpr *piece = ke_int(w->a, sums_piece(w->f, w->kp, n));
    bool one = pieces_of_vector(w, n) == 1;

    ret[0] = one ? ke_int(w->a, 0) : ke_bin(w->a, "/", e, piece);
    ret[1] = one ? e : ke_bin(w->a, "%", e, piece);
}

void
rw_sums_add(struct rw *w, struct kbuild *b, node_id n)
{
    const struct kexpr *at[2], *piece;

    split_element(w, n, at);
    piece = ke_elem(w->a, w->node[n].acc, at[0]);
    kb_eval(b, ke_call(w->a, "fu_set", NULL, 3, piece, at[1],
                       rw_combine(
                           w, n, ke_call(w->a, "fu_get", NULL, 2, piece, at[1]),
                           rw_contribution(w, n))));
}

void
rw_sums_store(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *h;
        struct kbuild in;

        if (!is_shared_in(w, n, phase))
            continue;
        in = each_piece(w, b, n, &h);
        kb_eval(&in, ke_call(w->a, "fu_vsstore", NULL, 2,
                             piece_address(w, w->node[n].pieces,
                                           piece_number(w, w->v, h, n), n),
                             ke_elem(w->a, w->node[n].acc, h)));
    }
}

static const struct kexpr *
load_element(const struct rw *w, node_id n, const struct kexpr *piece_at,
             const struct kexpr *e)
{
    enum dtype t = rw_acc_dtype(w, n);
    const struct kexpr *at =
        ke_bin(w->a, "+", piece_at,
               ke_bin(w->a, "*", e, ke_int(w->a, dtype_info[t].bytes)));

    return ke_call(w->a, "fu_sload", dtype_info[t].reg, 1, at);
}

const struct kexpr *
rw_sums_element(struct rw *w, struct kbuild *b, node_id n)
{
    const struct kexpr *at[2];

    split_element(w, n, at);
    return kb_let(
        b, dtype_info[rw_acc_dtype(w, n)].reg, rw_name(w, "a", n),
        load_element(w, n,
                     piece_address(w, first_piece(w, w->tid, n),
                                   piece_number(w, w->v, at[0], n), n),
                     at[1]));
}

/* Column K of group G of the block. */
static const struct kexpr *
column_of_group(const struct rw *w, node_id n, const struct kexpr *k, int g)
{
    struct arena *a = w->a;
    int64_t pass = (int64_t)w->tpr * w->vec;
    const struct kexpr *vec = ke_int(a, w->vec), *in_pass, *e, *thread;
    const struct kexpr *piece = ke_int(a, sums_piece(w->f, w->kp, n));

    in_pass = ke_bin(a, "%", k, ke_int(a, pass));
    e = ke_bin(a, "%", in_pass, vec);
    thread = ke_bin(a, "+", ke_bin(a, "/", in_pass, vec),
                    ke_int(a, (int64_t)g * w->tpr));
    k = piece_number(w, ke_bin(a, "/", k, ke_int(a, pass)),
                     ke_bin(a, "/", e, piece), n);
    return load_element(w, n, piece_address(w, first_piece(w, thread, n), k, n),
                        ke_bin(a, "%", e, piece));
}

/* --- before and after the rows -------------------------------------------- */

void
rw_outer_declare(struct rw *w, struct kbuild *b)
{
    if (!rw_outer_count(w))
        return;
    kb_comment(b, "Column sums of the rows this thread sees.");
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!w->f->node[n].live || !rw_is_outer(w, n))
            continue;
        if (rw_is_shared_sum(w, n))
            clear_shared(w, b, n);
        else
            w->node[n].acc =
                kb_array(b, dtype_info[rw_acc_dtype(w, n)].reg,
                         arena_printf(w->a, "a_%s", lower_node_name(w->ctx, n)),
                         (int64_t)w->vec * w->vpt, rw_identity(w, n));
    }
}

const struct kexpr *
rw_partials(struct rw *w, node_id n, bool writes)
{
    enum dtype t = rw_acc_dtype(w, n);
    const struct sym *rows = w->partials;
    const struct sym *bytes =
        sym_mul(w->ctx->syms, sym_mul(w->ctx->syms, rows, w->n),
                sym_int(w->ctx->syms, dtype_info[t].bytes));

    return lower_workspace(w->ctx, &w->lk,
                           arena_printf(w->a, "%s_%s_partials", w->ctx->prefix,
                                        lower_node_name(w->ctx, n)),
                           t, bytes, writes && !rw_finishes_inside(w));
}

static const struct kexpr *
partial_row(const struct rw *w)
{
    return ke_bin(w->a, "*", rw_block_row(w), w->nv);
}

/* One group: registers go straight to the partial row, 16 bytes at a time. */
static void
flush_registers(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    int k = MIN(w->vec, (int)(16 / dtype_info[t].bytes));
    struct kbuild in = rw_vector_loop(w, b, NULL, false), each;
    const struct kexpr *p = rw_partials(w, n, true), *h, *i, *at, *vec;
    const char *kt = arena_printf(a, "%d", k);

    h = ke_var(a, "h");
    each = kb_unroll(&in, "h", ke_int(a, 0), ke_int(a, w->vec), ke_int(a, k));
    vec = kb_var(&each, arena_printf(a, "fu_vec<%s, %d>", dtype_info[t].mem, k),
                 "s", NULL);
    for (int e = 0; e < k; e++) {
        i = ke_bin(a, "+", ke_bin(a, "*", w->v, ke_int(a, w->vec)),
                   ke_bin(a, "+", h, ke_int(a, e)));
        kb_eval(&each, ke_call(a, "fu_set", NULL, 3, vec, ke_int(a, e),
                               ke_elem(a, w->node[n].acc, i)));
    }
    at = ke_bin(a, "+", partial_row(w), ke_bin(a, "+", w->col, h));
    kb_eval(&each, ke_call(a, "fu_vstore", kt, 3, p, at, vec));
}

/* The same out of shared memory, where pieces are what is stored at once. */
static void
flush_pieces(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    int piece = sums_piece(w->f, w->kp, n);
    struct kbuild in = rw_vector_loop(w, b, NULL, false);
    const struct kexpr *p = rw_partials(w, n, true), *h, *at, *x;

    in = each_piece(w, &in, n, &h);
    at = ke_bin(a, "+", w->col, ke_bin(a, "*", h, ke_int(a, piece)));
    x = load_piece(w, n,
                   piece_address(w, first_piece(w, w->tid, n),
                                 piece_number(w, w->v, h, n), n));
    kb_eval(&in, ke_call(a, "fu_vstore", arena_printf(a, "%d", piece), 3, p,
                         ke_bin(a, "+", partial_row(w), at), x));
}

static int64_t
span(const struct rw *w)
{
    return (int64_t)w->tpr * w->vec * w->vpt;
}

/* Column k of group G, as they have laid them out for the fold. */
static const struct kexpr *
laid_out(const struct rw *w, node_id n, int g)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    const struct kexpr *at = ke_var(a, "k");

    at = g ? ke_bin(a, "+", at, ke_int(a, span(w) * g)) : at;
    at = ke_bin(a, "*", at, ke_int(a, dtype_info[t].bytes));
    return ke_call(a, "fu_sload", dtype_info[t].reg, 1, at);
}

/* Column k of all groups, in their order. */
static const struct kexpr *
fold_groups(struct rw *w, struct kbuild *b, node_id n)
{
    const char *reg = dtype_info[rw_acc_dtype(w, n)].reg;
    bool is_sum = rw_is_float_sum(w, n), shared = rw_is_shared_sum(w, n);
    const struct kexpr *s;

    s = is_sum ? rw_sum_open(w, b, n, 1)
               : kb_var(b, reg, "all", rw_identity(w, n));
    for (int g = 0; g < w->groups; g++) {
        const struct kexpr *x =
            shared ? column_of_group(w, n, ke_var(w->a, "k"), g)
                   : laid_out(w, n, g);

        if (is_sum)
            rw_sum_add(w, b, s, x);
        else
            kb_assign(b, s, rw_combine(w, n, s, x));
    }
    return is_sum ? rw_sum_value(w, s) : s;
}

/* Registers of all groups, column by column, where the fold finds them. */
static void
lay_out(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    enum dtype t = rw_acc_dtype(w, n);
    struct kbuild in = rw_vector_loop(w, b, NULL, false);
    const struct kexpr *own = rw_own_column(w, w->col), *at;

    for (int e = 0; e < w->vec; e++) {
        at = ke_bin(a, "+", ke_bin(a, "*", w->group, ke_int(a, span(w))),
                    ke_bin(a, "+", own, ke_int(a, e)));
        kb_eval(&in,
                ke_call(a, "fu_sstore", dtype_info[t].reg, 2,
                        ke_bin(a, "*", at, ke_int(a, dtype_info[t].bytes)),
                        ke_elem(a, w->node[n].acc,
                                ke_bin(a, "+",
                                       ke_bin(a, "*", w->v, ke_int(a, w->vec)),
                                       ke_int(a, e)))));
    }
}

/* Each thread adds the groups' sums of some columns, in the order of the
 * groups, and stores them. */
static void
store_folded(struct rw *w, struct kbuild *b, node_id n)
{
    struct arena *a = w->a;
    const struct kexpr *p = rw_partials(w, n, true), *at, *s;
    struct kbuild each;

    each = kb_for(b, "int", "k", w->tid, ke_int(a, span(w)),
                  ke_int(a, w->threads));
    at = rw_column(w, ke_var(a, "k"));
    each = kb_if(&each, ke_bin(a, "<", at, w->end));
    s = fold_groups(w, &each, n);
    kb_eval(&each, ke_call(a, "fu_store", NULL, 3, p,
                           ke_bin(a, "+", partial_row(w), at), s));
}

/* Where several groups stand. */
struct meeting {
    bool used; /* some may still look at what the fold is going to use */
    bool met;  /* all are behind their rows */
};

static void
meet(const struct rw *w, struct kbuild *b, struct meeting *m)
{
    kb_eval(b, ke_call(w->a, "fu_barrier", NULL, 0));
    *m = (struct meeting){.met = true};
}

/* Those with sums in registers lay them out first. */
static void
flush_groups(struct rw *w, struct kbuild *b, node_id n, struct meeting *m)
{
    bool shared = rw_is_shared_sum(w, n);

    if (!shared && m->used)
        meet(w, b, m);
    if (!shared)
        lay_out(w, b, n);
    if (!shared || !m->met)
        meet(w, b, m);
    store_folded(w, b, n);
    m->used |= !shared;
}

void
rw_outer_flush(struct rw *w, struct kbuild *b)
{
    struct meeting m = {.used = rw_columns_are_long(w) || w->ring.stages > 0 ||
                                (w->tpr > WARP && w->exchanges_total > 0)};

    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!w->f->node[n].live || !rw_is_outer(w, n))
            continue;
        kb_comment(b, "One partial row of %s.", lower_node_name(w->ctx, n));
        if (w->groups > 1)
            flush_groups(w, b, n, &m);
        else if (rw_is_shared_sum(w, n))
            flush_pieces(w, b, n);
        else
            flush_registers(w, b, n);
    }
}

int64_t
rw_after_bytes(const struct rw *w)
{
    int64_t bytes = rw_fold_bytes(w), columns = w->groups * span(w);

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->groups > 1 && w->f->node[n].live && rw_is_outer(w, n) &&
            !rw_is_shared_sum(w, n))
            bytes = MAX(
                bytes, columns * (int64_t)dtype_info[rw_acc_dtype(w, n)].bytes);
    return bytes;
}
