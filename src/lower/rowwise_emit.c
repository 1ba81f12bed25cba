/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_emit: the arithmetic of one phase.
 *
 * A phase needs the operands of its reductions and of its results. From these
 * the need spreads to operands until it meets something that is at hand: a kept
 * value, a leaf in memory, a value of the row that an earlier phase computed.
 * What is needed is written in graph order, first the values of the row, then,
 * inside the loop over columns, those of an element. So what the plan doesn't
 * keep is computed again, and what it keeps is not. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "sched/scheduler.h"
#include "support/arena.h"

bool
rw_has_column(const struct rw *w, node_id n)
{
    return w->f->column != NO_AXIS &&
           (w->f->node[n].axes & (1u << w->f->column)) != 0;
}

/* A tensor that is read in one way only goes by its own name. */
static bool
is_only_view(const struct rw *w, node_id n)
{
    int param = w->f->accesses[w->f->node[n].access].param;

    for (node_id i = 0; i < w->g->n_nodes; i++)
        if (i != n && w->f->node[i].is_leaf && w->f->node[i].live &&
            w->f->accesses[w->f->node[i].access].param == param)
            return false;
    return true;
}

const char *
rw_label(const struct rw *w, node_id n)
{
    const char *tensor;

    if (graph_node(w->g, n)->name || !w->f->node[n].is_leaf)
        return lower_node_name(w->ctx, n);
    tensor = w->g->params[w->f->accesses[w->f->node[n].access].param].name;
    if (is_only_view(w, n))
        return tensor;
    return arena_printf(w->a, "%u_%s", n, tensor);
}

const char *
rw_name(const struct rw *w, const char *prefix, node_id n)
{
    if (w->steps > 1)
        return arena_printf(w->a, "%s_%s_%d", prefix, rw_label(w, n), w->step);
    return arena_printf(w->a, "%s_%s", prefix, rw_label(w, n));
}

const struct kexpr *
rw_value(const struct rw *w, node_id n)
{
    node_id v = facts_value(w->f, n);
    const struct rw_node *r = &w->node[v];

    if (rw_has_column(w, v)) {
        assert(r->elem);
        return r->elem;
    }
    assert(r->row);
    return r->row;
}

const struct kexpr *
rw_and(const struct rw *w, const struct kexpr *x, const struct kexpr *y)
{
    if (!x)
        return y;
    return y ? ke_bin(w->a, "&&", x, y) : x;
}

/* --- what a phase needs --------------------------------------------------- */

/* At hand without computing: the need stops here. */
static bool
is_source(const struct rw *w, node_id n, int phase)
{
    const struct node_facts *nf = &w->f->node[n];
    const struct rw_node *r = &w->node[n];

    if (nf->is_leaf || rw_is_inner(w, n) || rw_is_outer(w, n))
        return true;
    if (!rw_has_column(w, n))
        return r->row != NULL;
    return r->kept_from >= 0 && r->kept_from < phase;
}

void
rw_mark_args(struct rw *w, int phase)
{
    for (node_id n = w->g->n_nodes; n-- > 0;) {
        const struct node *nd = graph_node(w->g, n);

        if (!w->node[n].need || is_source(w, n, phase))
            continue;
        for (uint32_t i = 0; i < nd->n_args; i++)
            w->node[facts_value(w->f, nd->args[i])].need = true;
    }
}

static void
need(struct rw *w, node_id n)
{
    w->node[facts_value(w->f, n)].need = true;
}

void
rw_mark_phase(struct rw *w, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        w->node[n].need = false;
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!w->f->node[n].live || !(rw_is_inner(w, n) || rw_is_outer(w, n)))
            continue;
        if (rw_phase_of(w, n) == phase)
            need(w, graph_node(w->g, n)->args[0]);
    }
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (w->result[i].in_row_kernel && w->result[i].phase == phase)
            need(w, w->g->results[i].node);
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->node[n].kept_from == phase && !w->f->node[n].is_leaf)
            w->node[n].need = true;
    rw_mark_args(w, phase);
}

/* --- values --------------------------------------------------------------- */

/* Whether columns times STRIDE leave 32 bits: a column index of type int then
 * has to be widened first. A stride that is no constant is 64 bits wide. */
static bool
column_overflows(const struct rw *w, const struct sym *stride)
{
    const int64_t columns = (int64_t)w->tpr * w->vec * w->vpt;
    int64_t s;

    return !w->wide_columns && sym_is_int(stride, &s) &&
           (s > INT32_MAX / columns || s < -(INT32_MAX / columns));
}

/* COLUMN (first of the vector, plus an element) in elements of an operand. */
static const struct kexpr *
column_offset(struct rw *w, const struct access *acc,
              const struct kexpr *column)
{
    const struct sym *stride = acc->stride[w->f->column];

    if (column_overflows(w, stride))
        column = lower_wide(w->ctx, column);
    return ke_bin(w->a, "*", column, lower_sym(w->ctx, &w->lk, stride));
}

/* The element index that an IOTA node counts. */
static const struct kexpr *
element_index(struct rw *w, node_id n)
{
    const struct access *acc = &w->f->accesses[w->f->node[n].access];
    const struct kexpr *x = rw_offset(w, NULL, acc, NULL), *c;

    if (!rw_has_column(w, n))
        return x;
    c = w->e ? ke_bin(w->a, "+", w->col, w->e) : w->col;
    return ke_bin(w->a, "+", x, column_offset(w, acc, c));
}

static const struct kexpr *
computed(struct rw *w, node_id n)
{
    const struct node *nd = graph_node(w->g, n);
    const struct kexpr *args[4] = {0};

    if (w->f->node[n].has_index)
        return lower_wide(w->ctx, element_index(w, n));
    assert(nd->n_args <= ARRAY_LEN(args));
    for (uint32_t i = 0; i < nd->n_args; i++)
        args[i] = rw_value(w, nd->args[i]);
    if (w->node[n].divisor)
        return ke_call(w->a, "fu_quotient", NULL, 2, args[0],
                       w->node[n].divisor);
    return lower_node_expr(w->ctx, &w->lk, n, args);
}

/* Read before, and so planned to be read again. */
static bool
is_read_again(const struct rw *w, node_id n)
{
    bool before = node_has_rows(w->f, n) ? w->phase > 0 : w->persistent;

    return before && !w->looped && w->node[n].store == STORE_RELOAD;
}

static const struct kexpr *
plus(const struct rw *w, const struct kexpr *x, const struct kexpr *y)
{
    return x ? ke_bin(w->a, "+", x, y) : y;
}

/* Where a leaf's vector, or its element e, lies. Left to itself the CUDA
 * compiler keeps a first reading in registers that the plan doesn't have. In a
 * cluster only the block's first column is hidden from it: it would keep what
 * is added to it, too, a number a vector. */
static const struct kexpr *
leaf_place(struct rw *w, node_id n)
{
    const struct access *acc = &w->f->accesses[w->f->node[n].access];
    const struct kexpr *at, *base = w->node[n].offset;

    if (is_read_again(w, n) && w->mine) {
        at = w->e ? ke_bin(w->a, "+", w->own, w->e) : w->own;
        base = plus(w, base, column_offset(w, acc, w->first));
        return ke_bin(w->a, "+", ke_call(w->a, "fu_again", NULL, 1, base),
                      column_offset(w, acc, lower_wide(w->ctx, at)));
    }
    at = w->e ? ke_bin(w->a, "+", w->col, w->e) : w->col;
    at = plus(w, base, column_offset(w, acc, at));
    return is_read_again(w, n) ? ke_call(w->a, "fu_again", NULL, 1, at) : at;
}

static const struct kexpr *
kept_slot(const struct rw *w, node_id n)
{
    const struct rw_node *r = &w->node[n];
    const struct kexpr *i;

    if (r->store == STORE_REGISTER_PACKED)
        return ke_elem(w->a, r->array, w->v);
    i = ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec));
    if (w->e)
        i = ke_bin(w->a, "+", i, w->e);
    return ke_elem(w->a, r->array, w->vec == 1 ? w->v : i);
}

static const struct kexpr *
leaf_element(struct rw *w, node_id n)
{
    const struct rw_node *r = &w->node[n];
    const struct access *acc = &w->f->accesses[w->f->node[n].access];
    const struct kexpr *e = w->e ? w->e : ke_int(w->a, 0);

    if (r->array && r->store == STORE_REGISTER_F32)
        return kept_slot(w, n);
    if (r->array)
        return ke_call(w->a, "fu_get", NULL, 2, ke_elem(w->a, r->array, w->v),
                       e);
    if (r->vector)
        return ke_call(w->a, "fu_get", NULL, 2, r->vector, e);
    return ke_call(w->a, "fu_load", NULL, 2,
                   lower_param_pointer(w->ctx, &w->lk, acc), leaf_place(w, n));
}

static const struct kexpr *
kept_element(const struct rw *w, node_id n)
{
    const struct kexpr *slot = kept_slot(w, n);

    if (w->node[n].store != STORE_REGISTER_PACKED)
        return slot;
    return ke_call(w->a, "fu_get", NULL, 2, slot,
                   w->e ? w->e : ke_int(w->a, 0));
}

static void
keep_element(const struct rw *w, struct kbuild *b, node_id n)
{
    const struct kexpr *slot = kept_slot(w, n);

    if (w->node[n].store != STORE_REGISTER_PACKED) {
        kb_assign(b, slot, w->node[n].elem);
        return;
    }
    kb_eval(b, ke_call(w->a, "fu_set", NULL, 3, slot,
                       w->e ? w->e : ke_int(w->a, 0), w->node[n].elem));
}

static void
emit_element(struct rw *w, struct kbuild *b, node_id n, int phase)
{
    struct rw_node *r = &w->node[n];
    const char *ctype = dtype_info[graph_node(w->g, n)->dtype].reg;
    const struct kexpr *x;

    if (w->f->node[n].is_leaf)
        x = leaf_element(w, n);
    else if (r->kept_from >= 0 && r->kept_from < phase)
        x = kept_element(w, n);
    else
        x = computed(w, n);
    r->elem = kb_let(b, ctype, arena_printf(w->a, "v_%s", rw_label(w, n)), x);
    if (r->kept_from == phase && !w->f->node[n].is_leaf)
        keep_element(w, b, n);
}

static void
emit_row_value(struct rw *w, struct kbuild *b, node_id n)
{
    struct rw_node *r = &w->node[n];
    const struct node *nd = graph_node(w->g, n);

    if (r->row)
        return;
    assert(!w->f->node[n].is_leaf);
    if (op_info[nd->op].class == OC_LEAF && !w->f->node[n].has_index) {
        r->row = lower_node_expr(w->ctx, &w->lk, n, NULL);
        return;
    }
    r->row = kb_let(b, dtype_info[nd->dtype].reg, rw_name(w, "v", n),
                    computed(w, n));
}

void
rw_emit_marked(struct rw *w, struct kbuild *b, bool elements, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        if (!w->node[n].need || rw_has_column(w, n) != elements)
            continue;
        if (elements)
            emit_element(w, b, n, phase);
        else
            emit_row_value(w, b, n);
    }
}

/* --- results -------------------------------------------------------------- */

/* A result that lacks a row axis is written where that axis stands at 0. */
static const struct kexpr *
first_of_missing_axes(const struct rw *w, const struct access *acc)
{
    const struct kexpr *cond = NULL;

    for (int x = 0; x < w->f->n_axes; x++) {
        if (x == w->f->column || (acc->axes & (1u << x)) || !w->axis[x])
            continue;
        cond = rw_and(w, cond, ke_bin(w->a, "==", w->axis[x], ke_int(w->a, 0)));
    }
    return cond;
}

static const struct kexpr *
stored_value(struct rw *w, uint32_t i)
{
    const struct result *r = &w->g->results[i];

    return lower_store_value(w->ctx, graph_node(w->g, r->node)->dtype, r->dtype,
                             rw_value(w, r->node));
}

static void
store_row_result(struct rw *w, struct kbuild *b, uint32_t i)
{
    const struct access *acc = &w->f->stores[i];
    const struct kexpr *cond = ke_bin(w->a, "==", w->t, ke_int(w->a, 0));
    struct kbuild in;

    cond = rw_and(w, cond, w->active);
    cond = rw_and(w, cond, first_of_missing_axes(w, acc));
    cond = rw_and(w, cond, rw_is_first_block(w));
    in = kb_if(b, cond);
    kb_eval(&in, ke_call(w->a, "fu_store", NULL, 3,
                         lower_param_pointer(w->ctx, &w->lk, acc),
                         rw_offset(w, &in, acc, NULL), stored_value(w, i)));
}

bool
rw_is_row_result(const struct rw *w, uint32_t i)
{
    return !rw_has_column(w, facts_value(w->f, w->g->results[i].node)) &&
           (w->f->column == NO_AXIS ||
            !(w->f->stores[i].axes & (1u << w->f->column)));
}

void
rw_phase_rows(struct rw *w, struct kbuild *b, int phase)
{
    rw_mark_phase(w, phase);
    rw_emit_marked(w, b, false, phase);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (w->result[i].in_row_kernel && w->result[i].phase == phase &&
            rw_is_row_result(w, i))
            store_row_result(w, b, i);
}

/* --- the loop over columns ------------------------------------------------ */

static bool
is_vector_access(const struct rw *w, const struct access *acc)
{
    int64_t s;

    return w->vec > 1 && acc->stride[w->f->column] &&
           sym_is_int(acc->stride[w->f->column], &s) && s == 1;
}

static const struct kexpr *
column_address(const struct rw *w, const struct kexpr *offset)
{
    return offset ? ke_bin(w->a, "+", offset, w->col) : w->col;
}

static const struct kexpr *
load_again(struct rw *w, node_id n, const struct access *acc)
{
    return ke_call(w->a, "fu_vload", arena_printf(w->a, "%d", w->vec), 2,
                   lower_param_pointer(w->ctx, &w->lk, acc), leaf_place(w, n));
}

static void
reload_vectors(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct rw_node *r = &w->node[n];
        const struct access *acc;
        const char *t;

        if (!r->need || !w->f->node[n].is_leaf || !rw_has_column(w, n) ||
            r->array)
            continue;
        acc = &w->f->accesses[w->f->node[n].access];
        if (!is_vector_access(w, acc) && !rw_in_ring(w, n) &&
            !rw_is_shared(w, n))
            continue;
        t = dtype_info[graph_node(w->g, n)->dtype].mem;
        r->vector = kb_let(b, arena_printf(w->a, "fu_vec<%s, %d>", t, w->vec),
                           arena_printf(w->a, "l_%s", rw_label(w, n)),
                           rw_in_ring(w, n)     ? rw_ring_vector(w, n)
                           : rw_is_shared(w, n) ? rw_shared_vector(w, n)
                                                : load_again(w, n, acc));
    }
}

/* Values in a storage type that wait packed, from an earlier phase or row. Left
 * to itself the CUDA compiler unpacks them once and holds twice the registers
 * that the plan has for them. */
static void
stay_packed(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct rw_node *r = &w->node[n];
        bool waits = r->over_rows ||
                     (w->f->node[n].is_leaf ? phase > 0 : r->kept_from < phase);

        if (r->need && r->array && waits && r->store == STORE_REGISTER_PACKED &&
            dtype_is_storage(graph_node(w->g, n)->dtype))
            kb_eval(b, ke_call(w->a, "fu_stay_packed", NULL, 1,
                               ke_elem(w->a, r->array, w->v)));
    }
}

static bool
is_column_result(const struct rw *w, uint32_t i, int phase)
{
    return w->result[i].in_row_kernel && w->result[i].phase == phase &&
           !rw_is_row_result(w, i);
}

static void
declare_result_vectors(struct rw *w, struct kbuild *b, int phase)
{
    for (uint32_t i = 0; i < w->g->n_results; i++) {
        const struct result *r = &w->g->results[i];

        w->result[i].vector = NULL;
        if (!is_column_result(w, i, phase) ||
            !is_vector_access(w, &w->f->stores[i]))
            continue;
        w->result[i].vector =
            kb_var(b,
                   arena_printf(w->a, "fu_vec<%s, %d>",
                                dtype_info[r->dtype].mem, w->vec),
                   arena_printf(w->a, "s_%s", r->name), NULL);
    }
}

static void
set_result_element(struct rw *w, struct kbuild *b, uint32_t i)
{
    const struct access *acc = &w->f->stores[i];
    const struct kexpr *x = stored_value(w, i), *at, *cond;
    struct kbuild in = *b;

    if (w->result[i].vector) {
        kb_eval(b, ke_call(w->a, "fu_set", NULL, 3, w->result[i].vector,
                           w->e ? w->e : ke_int(w->a, 0), x));
        return;
    }
    at = w->e ? ke_bin(w->a, "+", w->col, w->e) : w->col;
    if (acc->stride[w->f->column])
        at = column_offset(w, acc, at);
    if (w->result[i].offset)
        at = ke_bin(w->a, "+", w->result[i].offset, at);
    cond = first_of_missing_axes(w, acc);
    if (cond)
        in = kb_if(b, cond);
    kb_eval(&in, ke_call(w->a, "fu_store", NULL, 3,
                         lower_param_pointer(w->ctx, &w->lk, acc), at, x));
}

static void
store_result_vectors(struct rw *w, struct kbuild *b)
{
    for (uint32_t i = 0; i < w->g->n_results; i++) {
        const struct access *acc = &w->f->stores[i];
        const struct kexpr *cond;
        struct kbuild in = *b;

        if (!w->result[i].vector)
            continue;
        cond = first_of_missing_axes(w, acc);
        if (cond)
            in = kb_if(b, cond);
        kb_eval(&in,
                ke_call(w->a, "fu_vstore", arena_printf(w->a, "%d", w->vec), 3,
                        lower_param_pointer(w->ctx, &w->lk, acc),
                        column_address(w, w->result[i].offset),
                        w->result[i].vector));
    }
}

static void
accumulate(struct rw *w, struct kbuild *b, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        const struct kexpr *acc = w->node[n].acc;

        if (!w->f->node[n].live || !(rw_is_inner(w, n) || rw_is_outer(w, n)) ||
            rw_phase_of(w, n) != phase)
            continue;
        if (rw_is_shared_sum(w, n)) {
            rw_sums_add(w, b, n);
            continue;
        }
        if (rw_is_outer(w, n)) {
            const struct kexpr *i =
                ke_bin(w->a, "*", w->v, ke_int(w->a, w->vec));

            acc = ke_elem(w->a, acc, w->e ? ke_bin(w->a, "+", i, w->e) : w->v);
        }
        kb_assign(b, acc, rw_combine(w, n, acc, rw_contribution(w, n)));
    }
}

static void
emit_elements(struct rw *w, struct kbuild *b, int phase)
{
    struct kbuild in = *b;

    w->e = NULL;
    if (w->vec > 1) {
        w->e = ke_var(w->a, "e");
        in = kb_unroll(b, "e", ke_int(w->a, 0), ke_int(w->a, w->vec),
                       ke_int(w->a, 1));
    }
    rw_emit_marked(w, &in, true, phase);
    accumulate(w, &in, phase);
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (is_column_result(w, i, phase))
            set_result_element(w, &in, i);
    w->e = NULL;
}

static bool
has_columns(const struct rw *w, int phase)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->f->node[n].live && (rw_is_inner(w, n) || rw_is_outer(w, n)) &&
            rw_phase_of(w, n) == phase)
            return true;
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (is_column_result(w, i, phase))
            return true;
    for (node_id n = 0; n < w->g->n_nodes; n++)
        if (w->node[n].need && w->node[n].kept_from == phase &&
            !w->f->node[n].is_leaf)
            return true;
    return false;
}

void
rw_phase_columns(struct rw *w, struct kbuild *b, int phase)
{
    const struct kexpr *chunk = NULL;
    struct kbuild outer = *b, in;

    if (!has_columns(w, phase))
        return;
    rw_divisors(w, b);
    if (w->looped) {
        rw_chunks_open(w, b, phase);
        chunk = ke_var(w->a, "c0");
        outer = rw_chunk_loop(w, b);
        rw_chunk_begin(w, &outer, phase);
    }
    w->phase = phase;
    in = rw_vector_loop(w, &outer, chunk, true);
    reload_vectors(w, &in);
    rw_sums_load(w, &in, phase);
    stay_packed(w, &in, phase);
    declare_result_vectors(w, &in, phase);
    emit_elements(w, &in, phase);
    rw_sums_store(w, &in, phase);
    store_result_vectors(w, &in);
    if (w->looped) {
        rw_chunk_end(w, &outer, phase);
        rw_chunks_close(w, b, phase);
    }
    for (node_id n = 0; n < w->g->n_nodes; n++)
        w->node[n].vector = NULL;
    rw_forget_divisors(w);
}

const struct kexpr *
rw_offset(struct rw *w, struct kbuild *b, const struct access *acc,
          const char *name)
{
    const struct kexpr *x = lower_sym(w->ctx, &w->lk, acc->base);

    for (int i = 0; i < w->f->n_axes; i++) {
        const struct kexpr *s;

        if (i == w->f->column || !(acc->axes & (1u << i)) || !acc->stride[i] ||
            !w->axis[i])
            continue;
        s = lower_sym(w->ctx, &w->lk, acc->stride[i]);
        s = ke_bin(w->a, "*", w->axis[i], s);
        x = x->kind == KE_INT && x->value.i == 0 ? s : ke_bin(w->a, "+", x, s);
    }
    return name ? kb_let(b, "fu_i64", name, x) : x;
}
