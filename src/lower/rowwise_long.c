/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_long: sums of so many terms that a plain running sum would be wrong.
 *
 * The error of a running sum of n equal terms grows like n, since each addition
 * rounds the same way. So the terms of a chunk are added plainly, and a fu_sum,
 * which knows what rounding has lost, takes the sum of each chunk: of a row
 * that is read in chunks, each chunk; of columns, some 32 rows. Then only the
 * terms of a chunk and the number of threads matter. Column sums that share the
 * block with much else have no registers for that; their rows are few. */
#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { CHUNK_ROWS = 32 };

bool
rw_is_float_sum(const struct rw *w, node_id n)
{
    return graph_node(w->g, n)->op == OP_SUM &&
           dtype_is_float(rw_acc_dtype(w, n));
}

static const char *
reg_of(const struct rw *w, node_id n)
{
    return dtype_info[rw_acc_dtype(w, n)].reg;
}

static const char *
sum_type(const struct rw *w, node_id n)
{
    return arena_printf(w->a, "fu_sum<%s>", reg_of(w, n));
}

static const struct kexpr *
none(const struct rw *w, node_id n)
{
    return ke_call(w->a, "fu_sum_none", reg_of(w, n), 0);
}

const struct kexpr *
rw_sum_open(struct rw *w, struct kbuild *b, node_id n, int count)
{
    if (count > 1)
        return kb_array(b, sum_type(w, n), rw_name(w, "sum", n), count,
                        none(w, n));
    return kb_var(b, sum_type(w, n), rw_name(w, "sum", n), none(w, n));
}

void
rw_sum_clear(struct rw *w, struct kbuild *b, node_id n, const struct kexpr *sum)
{
    kb_assign(b, sum, none(w, n));
}

void
rw_sum_add(struct rw *w, struct kbuild *b, const struct kexpr *sum,
           const struct kexpr *x)
{
    kb_assign(b, sum, ke_call(w->a, "fu_sum_add", NULL, 2, sum, x));
}

const struct kexpr *
rw_sum_value(const struct rw *w, const struct kexpr *sum)
{
    return ke_call(w->a, "fu_sum_value", NULL, 1, sum);
}

/* --- a row in chunks ------------------------------------------------------ */

static bool
is_long_inner(const struct rw *w, node_id n, int phase)
{
    return w->looped && w->f->node[n].live && rw_is_inner(w, n) &&
           rw_phase_of(w, n) == phase && rw_is_float_sum(w, n);
}

void
rw_chunks_open(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_long_inner(w, n, phase))
            w->node[n].total = rw_sum_open(w, b, n, 1);
}

void
rw_chunk_begin(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_long_inner(w, n, phase))
            kb_assign(b, w->node[n].acc, rw_identity(w, n));
}

void
rw_chunk_end(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_long_inner(w, n, phase))
            rw_sum_add(w, b, w->node[n].total, w->node[n].acc);
}

void
rw_chunks_close(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_long_inner(w, n, phase))
            kb_assign(b, w->node[n].acc, rw_sum_value(w, w->node[n].total));
}

/* --- columns -------------------------------------------------------------- */

static bool
is_float_column(const struct rw *w, node_id n)
{
    return w->f->node[n].live && rw_is_outer(w, n) && rw_is_float_sum(w, n);
}

/* Of the plain sums of a thread. */
static int64_t
thread_bytes(const struct rw *w)
{
    int64_t bytes = 0;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_float_column(w, n))
            bytes +=
                (int64_t)w->vec * w->vpt * dtype_info[rw_acc_dtype(w, n)].bytes;
    return bytes;
}

bool
rw_columns_are_long(const struct rw *w)
{
    int64_t bytes = thread_bytes(w);

    return w->persistent && w->f->levels == 0 && bytes > 0 &&
           bytes <= LONG_SUM_BYTES;
}

int64_t
rw_columns_bytes(const struct rw *w)
{
    return 2 * thread_bytes(w) * w->threads;
}

/* Where this thread's sum i of reduction n stands; base is where those of the
 * reduction begin and moves behind them. */
static const struct kexpr *
place(const struct rw *w, node_id n, const struct kexpr *i, int64_t *base)
{
    struct arena *a = w->a;
    int64_t size = 2 * (int64_t)dtype_info[rw_acc_dtype(w, n)].bytes;
    const struct kexpr *x;

    x = ke_bin(a, "+", ke_bin(a, "*", i, ke_int(a, w->threads)), w->tid);
    x = ke_bin(a, "*", x, ke_int(a, size));
    if (*base)
        x = ke_bin(a, "+", x, ke_int(a, *base));
    *base += size * w->vec * w->vpt * w->threads;
    return x;
}

static struct kbuild
each_sum(const struct rw *w, struct kbuild *b)
{
    return kb_unroll(b, "i", ke_int(w->a, 0),
                     ke_int(w->a, (int64_t)w->vec * w->vpt), ke_int(w->a, 1));
}

static void
put(const struct rw *w, struct kbuild *b, node_id n, const struct kexpr *at,
    const struct kexpr *x)
{
    kb_eval(b, ke_call(w->a, "fu_sstore", sum_type(w, n), 2, at, x));
}

static const struct kexpr *
get(const struct rw *w, node_id n, const struct kexpr *at)
{
    return ke_call(w->a, "fu_sload", sum_type(w, n), 1, at);
}

/* There are rows behind the chunk that ends here. */
static const struct kexpr *
has_more(const struct rw *w, const struct kexpr *end)
{
    return ke_bin(w->a, "<", end, w->mv);
}

void
rw_columns_open(struct rw *w, struct kbuild *b, const struct kexpr *first,
                const struct kexpr *stride)
{
    struct arena *a = w->a;
    struct kbuild in;
    int64_t base = 0;

    kb_comment(b,
               "What the chunks of rows so far amount to: each thread's own.");
    w->span = kb_let(
        b, "fu_i64", "span",
        ke_bin(a, "*", stride, ke_int(a, MAX(CHUNK_ROWS / w->steps, 1))));
    w->more =
        kb_let(b, "bool", "more", has_more(w, ke_bin(a, "+", first, w->span)));
    in = kb_if(b, w->more);
    in = each_sum(w, &in);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_float_column(w, n))
            put(w, &in, n, place(w, n, ke_var(w->a, "i"), &base), none(w, n));
}

struct kbuild
rw_columns_chunk(struct rw *w, struct kbuild *b, const struct kexpr *first,
                 const struct kexpr *stride, struct kbuild *ret_rows)
{
    struct arena *a = w->a;
    const struct kexpr *from, *end;
    struct kbuild in;

    in = kb_roll(b, "fu_i64", "chunk0", first, w->mv, w->span);
    from = ke_var(a, "chunk0");
    end = kb_let(&in, "fu_i64", "chunk1",
                 ke_call(a, "fu_min_i64", NULL, 2,
                         ke_bin(a, "+", from, w->span), w->mv));
    *ret_rows = kb_roll(&in, "fu_i64", "row0", from, end, stride);
    return in;
}

/* Each chunk but the last, which rw_columns_close adds. */
void
rw_columns_carry(struct rw *w, struct kbuild *b)
{
    struct kbuild in = kb_if(b, has_more(w, ke_var(w->a, "chunk1")));
    const struct kexpr *i = ke_var(w->a, "i"), *at, *acc;
    int64_t base = 0;

    in = each_sum(w, &in);
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!is_float_column(w, n))
            continue;
        acc = ke_elem(w->a, w->node[n].acc, i);
        at = place(w, n, i, &base);
        put(w, &in, n, at,
            ke_call(w->a, "fu_sum_add", NULL, 2, get(w, n, at), acc));
        kb_assign(&in, acc, rw_identity(w, n));
    }
}

void
rw_columns_close(struct rw *w, struct kbuild *b)
{
    struct kbuild in = kb_if(b, w->more);
    const struct kexpr *i = ke_var(w->a, "i"), *acc, *sum;
    int64_t base = 0;

    in = each_sum(w, &in);
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!is_float_column(w, n))
            continue;
        acc = ke_elem(w->a, w->node[n].acc, i);
        sum = get(w, n, place(w, n, i, &base));
        sum = ke_call(w->a, "fu_sum_add", NULL, 2, sum, acc);
        kb_assign(&in, acc, rw_sum_value(w, sum));
    }
}
