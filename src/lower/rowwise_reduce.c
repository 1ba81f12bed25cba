/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_reduce: how partial results of a row meet.
 *
 * Within a group: a butterfly over the lanes of a warp; when the group has
 * several warps, each writes its partial to shared memory, one barrier, then
 * every warp reads all partials, one a lane, and combines them by a butterfly.
 * The order is the same in every run. Consecutive exchanges use different
 * slots, so one barrier an exchange is enough: a slot is written again only
 * after another barrier that all its readers have passed. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

enum { WARP = 32, SLOT_BYTES = 8, MOST_NUMBERED = 8 };

bool
rw_is_inner(const struct rw *w, node_id n)
{
    return w->f->node[n].live && facts_is_reduction(w->f, n) &&
           facts_is_inner(w->f, n);
}

bool
rw_is_outer(const struct rw *w, node_id n)
{
    return w->f->node[n].live && facts_is_reduction(w->f, n) &&
           facts_is_outer(w->f, n);
}

enum dtype
rw_acc_dtype(const struct rw *w, node_id n)
{
    return lower_accumulator(w->g, n);
}

const struct kexpr *
rw_identity(const struct rw *w, node_id n)
{
    return lower_identity(w->ctx, graph_node(w->g, n)->op, rw_acc_dtype(w, n));
}

const struct kexpr *
rw_combine(const struct rw *w, node_id n, const struct kexpr *x,
           const struct kexpr *y)
{
    const struct kexpr *args[2] = {x, y};

    return ke_op(w->a, graph_node(w->g, n)->op, rw_acc_dtype(w, n), 2, args);
}

const struct kexpr *
rw_contribution(const struct rw *w, node_id n)
{
    node_id arg = graph_node(w->g, n)->args[0];
    enum dtype from = dtype_compute(graph_node(w->g, arg)->dtype);
    enum dtype to = rw_acc_dtype(w, n);
    const struct kexpr *x = rw_value(w, arg);

    return from == to ? x : ke_cast(w->a, from, to, x);
}

int
rw_phase_of(const struct rw *w, node_id reduction)
{
    node_id arg = facts_value(w->f, graph_node(w->g, reduction)->args[0]);

    return w->f->node[arg].level;
}

static bool
is_inner_of(const struct rw *w, node_id n, int phase)
{
    return w->f->node[n].live && rw_is_inner(w, n) &&
           rw_phase_of(w, n) == phase;
}

/* The result of a reduction as its node's type wants it. */
static const struct kexpr *
as_node_value(const struct rw *w, node_id n, const struct kexpr *x)
{
    enum dtype from = rw_acc_dtype(w, n);
    enum dtype to = dtype_compute(graph_node(w->g, n)->dtype);

    return from == to ? x : ke_cast(w->a, from, to, x);
}

void
rw_inner_declare(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_inner_of(w, n, phase))
            w->node[n].acc = kb_var(b, dtype_info[rw_acc_dtype(w, n)].reg,
                                    rw_name(w, "r", n), rw_identity(w, n));
}

void
rw_butterfly(struct rw *w, struct kbuild *b, node_id n, int lanes)
{
    const struct kexpr *x = w->node[n].acc;

    for (int o = lanes / 2; o >= 1; o /= 2)
        kb_assign(b, x,
                  rw_combine(w, n, x,
                             ke_call(w->a, "fu_shfl_xor", NULL, 2, x,
                                     ke_int(w->a, o))));
}

static int
warps_per_group(const struct rw *w)
{
    return (w->tpr + WARP - 1) / WARP;
}

static int
inner_count(const struct rw *w, int phase)
{
    int k = 0;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        k += is_inner_of(w, n, phase);
    return k;
}

/* Bytes of shared memory that one exchange uses at most. */
static int64_t
exchange_bytes(const struct rw *w)
{
    int most = 0;

    for (int p = 0; p < w->f->levels; p++)
        most = MAX(most, inner_count(w, p));
    return (int64_t)most * w->groups * warps_per_group(w) * SLOT_BYTES;
}

/* Byte address of warp `at` of value `i` in this exchange. */
static const struct kexpr *
slot_address(const struct rw *w, int i, const struct kexpr *at)
{
    struct arena *a = w->a;
    int warps = warps_per_group(w);
    const struct kexpr *x = ke_bin(a, "*", at, ke_int(a, SLOT_BYTES));
    int64_t base = (int64_t)i * w->groups * warps * SLOT_BYTES;

    if (w->groups > 1)
        x = ke_bin(a, "+",
                   ke_bin(a, "*", w->group, ke_int(a, warps * SLOT_BYTES)), x);
    if (!w->parity)
        base += exchange_bytes(w) * w->exchanges;
    if (base)
        x = ke_bin(a, "+", x, ke_int(a, base));
    if (w->parity)
        x = ke_bin(a, "+", x,
                   ke_bin(a, "*", w->parity, ke_int(a, exchange_bytes(w))));
    return x;
}

bool
rw_has_exchange(const struct rw *w, int phase)
{
    return phase >= 0 && w->tpr > WARP && inner_count(w, phase) > 0;
}

/* Of few groups each has its barrier's number in the instruction: numbers in
 * registers take all 16 barriers of a block, and four such blocks are all that
 * a multiprocessor has barriers for. */
void
rw_group_barrier(struct rw *w, struct kbuild *b)
{
    if (w->groups == 1)
        kb_eval(b, ke_call(w->a, "fu_barrier", NULL, 0));
    else if (w->groups <= MOST_NUMBERED)
        kb_eval(b, ke_call(w->a, "fu_row_barrier",
                           arena_printf(w->a, "%d, %d", w->groups, w->tpr), 1,
                           w->group));
    else
        kb_eval(b, ke_call(w->a, "fu_group_barrier", NULL, 2,
                           ke_bin(w->a, "+", w->group, ke_int(w->a, 1)),
                           ke_int(w->a, w->tpr)));
}

static void
publish(struct rw *w, struct kbuild *b, int phase)
{
    struct arena *a = w->a;
    const struct kexpr *lane = ke_var(a, "lane");
    struct kbuild in = kb_if(b, ke_bin(a, "==", lane, ke_int(a, 0)));
    int i = 0;

    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_inner_of(w, n, phase))
            kb_eval(&in,
                    ke_call(a, "fu_sstore", dtype_info[rw_acc_dtype(w, n)].reg,
                            2, slot_address(w, i++, ke_var(a, "warp")),
                            w->node[n].acc));
}

/* acc = the partial of warp `lane`. With a power of two of warps the lanes
 * wrap around; otherwise lanes beyond the last warp hold the identity. Either
 * way a butterfly leaves the result in every lane. */
static void
collect(struct rw *w, struct kbuild *b, int phase)
{
    struct arena *a = w->a;
    int warps = warps_per_group(w), i = 0;
    bool wraps = (warps & (warps - 1)) == 0;
    const struct kexpr *lane = ke_var(a, "lane");

    if (wraps)
        lane = ke_bin(a, "&", lane, ke_int(a, warps - 1));
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct kbuild in = *b;

        if (!is_inner_of(w, n, phase))
            continue;
        if (!wraps) {
            kb_assign(b, w->node[n].acc, rw_identity(w, n));
            in = kb_if(b, ke_bin(a, "<", lane, ke_int(a, warps)));
        }
        kb_assign(&in, w->node[n].acc,
                  ke_call(a, "fu_sload", dtype_info[rw_acc_dtype(w, n)].reg, 1,
                          slot_address(w, i++, lane)));
    }
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_inner_of(w, n, phase))
            rw_butterfly(w, b, n, wraps ? warps : WARP);
}

void
rw_exchange(struct rw *w, struct kbuild *b, int phase)
{
    if (!inner_count(w, phase))
        return;
    kb_comment(b, "Combine over the threads of the row.");
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_inner_of(w, n, phase))
            rw_butterfly(w, b, n, MIN(w->tpr, WARP));
    if (w->cluster > 1) {
        rw_cluster_exchange(w, b, phase);
        w->exchanges++;
    } else if (w->tpr > WARP) {
        publish(w, b, phase);
        rw_group_barrier(w, b);
        collect(w, b, phase);
        w->exchanges++;
        if (w->parity)
            kb_assign(b, w->parity,
                      ke_bin(w->a, "-", ke_int(w->a, 1), w->parity));
    }
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (is_inner_of(w, n, phase))
            w->node[n].row = as_node_value(w, n, w->node[n].acc);
}

/* --- shared memory -------------------------------------------------------- */

int64_t
rw_loop_bytes(const struct rw *w)
{
    int64_t bytes = 0;

    if (rw_columns_are_long(w))
        bytes = rw_columns_bytes(w);
    if (w->cluster > 1)
        bytes = MAX(bytes, rw_cluster_bytes(w));
    else if (w->tpr > WARP)
        bytes = MAX(bytes, exchange_bytes(w) * MAX(w->exchanges_total, 2));
    return bytes;
}

int64_t
rw_smem_bytes(const struct rw *w)
{
    int64_t bytes = MAX(rw_loop_bytes(w), rw_after_bytes(w));

    if (w->ring.stages)
        bytes = MAX(bytes, rw_ring_end(w));
    return bytes;
}
