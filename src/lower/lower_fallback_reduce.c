/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fallback_reduce: one reduction, its results to workspace.
 *
 * Where the innermost dimension is reduced a block makes each result: the
 * threads share the elements between them and meet in a tree, in shared memory.
 * Otherwise a thread makes each result, neighbours side by side in memory. Sums
 * of floats carry along what rounding loses, so their error doesn't grow with
 * the number of terms; argmax and argmin carry the index. */
#include "support/base.h"

#include "lower/lower_fallback.h"

#include "support/arena.h"

enum { SLOT_BYTES = 16 };

enum acc_kind { ACC_PLAIN, ACC_SUM, ACC_ARG };

struct reduction {
    struct fb *fb;
    struct fb_scope *s;
    struct lowered_kernel *lk;
    node_id node;
    const struct node *n, *arg;
    enum acc_kind kind;
    enum dtype t;      /* of the terms */
    const char *ctype; /* of the accumulator */
    /* The operand's dimensions: those of the result and those reduced. */
    const struct sym *kept[MAX_RANK], *reduced[MAX_RANK];
    const struct sym *results, *terms;
};

static struct reduction
reduction_of(struct fb *fb, node_id id, struct fb_scope *s)
{
    const struct node *n = graph_node(fb->g, id);
    struct reduction r = {.fb = fb, .s = s, .lk = s->lk, .node = id, .n = n};
    const struct sym *one = sym_int(fb->syms, 1);

    r.arg = graph_node(fb->g, n->args[0]);
    r.t = lower_accumulator(fb->g, id);
    r.ctype = dtype_info[r.t].reg;
    if (op_info[n->op].flags & OPF_ARG_INDEX) {
        r.kind = ACC_ARG;
        r.ctype = arena_printf(fb->a, "fu_arg<%s>", dtype_info[r.t].reg);
    } else if (n->op == OP_SUM && dtype_is_float(r.t)) {
        r.kind = ACC_SUM;
        r.ctype = arena_printf(fb->a, "fu_sum<%s>", dtype_info[r.t].reg);
    }
    for (int d = 0; d < r.arg->rank; d++) {
        r.kept[d] = n->flag[d] ? one : r.arg->dims[d];
        r.reduced[d] = n->flag[d] ? r.arg->dims[d] : one;
    }
    r.results = lower_elements(fb->ctx, r.arg->rank, r.kept);
    r.terms = lower_elements(fb->ctx, r.arg->rank, r.reduced);
    return r;
}

/* --- accumulators --------------------------------------------------------- */

static const struct kexpr *
nothing(const struct reduction *r)
{
    const char *reg = dtype_info[r->t].reg;

    if (r->kind == ACC_SUM)
        return ke_call(r->fb->a, "fu_sum_none", reg, 0);
    if (r->kind == ACC_ARG)
        return ke_call(r->fb->a, "fu_arg_none", reg, 0);
    return lower_identity(r->fb->ctx, r->n->op, r->t);
}

static const struct kexpr *
combine(const struct reduction *r, const struct kexpr *x, const struct kexpr *y)
{
    const struct kexpr *args[2] = {x, y};

    if (r->kind == ACC_SUM)
        return ke_call(r->fb->a, "fu_sum_merge", NULL, 2, x, y);
    return ke_op(r->fb->a, r->n->op, r->t, 2, args);
}

static const struct kexpr *
with_term(const struct reduction *r, const struct kexpr *acc,
          const struct kexpr *x, const struct kexpr *at)
{
    x = lower_convert(r->fb->ctx, r->arg->dtype, r->t, x);
    if (r->kind == ACC_SUM)
        return ke_call(r->fb->a, "fu_sum_add", NULL, 2, acc, x);
    if (r->kind == ACC_ARG)
        x = ke_call(r->fb->a, "fu_arg_of", dtype_info[r->t].reg, 2, x, at);
    return combine(r, acc, x);
}

static const struct kexpr *
finished(const struct reduction *r, const struct kexpr *acc)
{
    if (r->kind == ACC_SUM)
        return ke_call(r->fb->a, "fu_sum_value", NULL, 1, acc);
    if (r->kind == ACC_ARG)
        return ke_call(r->fb->a, "fu_arg_index", NULL, 1, acc);
    return acc;
}

/* --- the loop over terms -------------------------------------------------- */

/* acc and a loop that adds terms first, first + step, ... ; false when the
 * term's value grew too large. */
static bool
add_terms(struct reduction *r, const struct kexpr *first,
          const struct kexpr *step, const struct sym *const *kept,
          const struct kexpr **ret_acc)
{
    struct fb_scope *s = r->s;
    struct arena *a = r->fb->a;
    struct kbuild outer = s->b;
    const struct sym *idx[MAX_RANK];
    const struct kexpr *x;

    *ret_acc = kb_var(&s->b, r->ctype, "acc", nothing(r));
    s->b = kb_for(&outer, "fu_i64", "r", first, fb_sym(s, r->terms), step);
    fb_split(s, ke_var(a, "r"), "r", r->arg->rank, r->reduced, idx);
    for (int d = 0; d < r->arg->rank; d++)
        if (!r->n->flag[d])
            idx[d] = kept[d];
    x = fb_value(s, r->n->args[0], idx);
    if (!x)
        return false;
    kb_assign(&s->b, *ret_acc, with_term(r, *ret_acc, x, ke_var(a, "r")));
    s->b = outer;
    return true;
}

static void
store_result(struct reduction *r, struct kbuild *b, const struct kexpr *acc)
{
    kb_eval(b, ke_call(r->fb->a, "fu_store", NULL, 3,
                       fb_workspace(r->fb, r->lk, r->node, true),
                       ke_var(r->fb->a, "o"), finished(r, acc)));
}

static struct kbuild
loop_over_results(struct reduction *r, struct kbuild *b, int64_t per_block)
{
    struct arena *a = r->fb->a;
    struct lower *ctx = r->fb->ctx;
    const struct kexpr *first, *step, *n = ke_int(a, per_block);

    first = ke_bin(a, "*", lower_wide(ctx, ke_call(a, "fu_bid_x", NULL, 0)), n);
    if (per_block > 1)
        first = ke_bin(a, "+", first, ke_call(a, "fu_tid", NULL, 0));
    step = ke_bin(a, "*", lower_wide(ctx, ke_call(a, "fu_grid_x", NULL, 0)), n);
    return per_block > 1
               ? kb_for(b, "fu_i64", "o", first, fb_sym(r->s, r->results), step)
               : kb_roll(b, "fu_i64", "o", first, fb_sym(r->s, r->results),
                         step);
}

static bool
thread_per_result(struct reduction *r)
{
    struct fb_scope *s = r->s;
    struct arena *a = r->fb->a;
    const struct sym *kept[MAX_RANK];
    const struct kexpr *acc;

    s->b = loop_over_results(r, &s->b, FB_THREADS);
    fb_split(s, ke_var(a, "o"), "i", r->arg->rank, r->kept, kept);
    if (!add_terms(r, ke_int(a, 0), ke_int(a, 1), kept, &acc))
        return false;
    store_result(r, &s->b, acc);
    return true;
}

static const struct kexpr *
slot(const struct reduction *r, int64_t ahead)
{
    struct arena *a = r->fb->a;
    const struct kexpr *at = ke_bin(a, "+", ke_var(a, "tid"), ke_int(a, ahead));

    return ke_bin(a, "*", at, ke_int(a, SLOT_BYTES));
}

/* The accumulators of all threads into that of thread 0. */
static void
tree(struct reduction *r, struct kbuild *b, const struct kexpr *acc)
{
    struct arena *a = r->fb->a;

    kb_comment(b, "The threads' shares, as a tree.");
    for (int half = FB_THREADS / 2; half >= 1; half /= 2) {
        struct kbuild in;

        kb_eval(b, ke_call(a, "fu_sstore", r->ctype, 2, slot(r, 0), acc));
        kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
        in = kb_if(b, ke_bin(a, "<", ke_var(a, "tid"), ke_int(a, half)));
        kb_assign(&in, acc,
                  combine(r, acc,
                          ke_call(a, "fu_sload", r->ctype, 1, slot(r, half))));
        kb_eval(b, ke_call(a, "fu_barrier", NULL, 0));
    }
}

static bool
block_per_result(struct reduction *r)
{
    struct fb_scope *s = r->s;
    struct arena *a = r->fb->a;
    const struct sym *kept[MAX_RANK];
    const struct kexpr *acc, *tid;
    struct kbuild in;

    tid = kb_let(&s->b, "int", "tid", ke_call(a, "fu_tid", NULL, 0));
    s->b = loop_over_results(r, &s->b, 1);
    fb_split(s, ke_var(a, "o"), "i", r->arg->rank, r->kept, kept);
    if (!add_terms(r, tid, ke_int(a, FB_THREADS), kept, &acc))
        return false;
    tree(r, &s->b, acc);
    in = kb_if(&s->b, ke_bin(a, "==", tid, ke_int(a, 0)));
    store_result(r, &in, acc);
    return true;
}

/* The innermost dimension that isn't of extent 1 is reduced. */
static bool
reduces_innermost(const struct reduction *r)
{
    for (int d = r->arg->rank; d-- > 0;) {
        int64_t v;

        if (!sym_is_int(r->arg->dims[d], &v) || v != 1)
            return r->n->flag[d];
    }
    return false;
}

bool
fb_reduce_kernel(struct fb *fb, node_id n, struct fb_scope *s)
{
    struct reduction r = reduction_of(fb, n, s);
    struct sym_ctx *c = fb->syms;
    const struct sym *most = sym_int(c, FB_MAX_BLOCKS), *blocks = r.results;

    if (reduces_innermost(&r)) {
        s->lk->launch.smem = arena_printf(fb->a, "%d", FB_THREADS * SLOT_BYTES);
        s->lk->kernel->uses_smem = true;
        if (!block_per_result(&r))
            return false;
    } else {
        if (!thread_per_result(&r))
            return false;
        blocks = sym_ceil_div(c, blocks, sym_int(c, FB_THREADS));
    }
    lower_set_grid(fb->ctx, s->lk, sym_min(c, blocks, most), sym_int(c, 1));
    return true;
}
