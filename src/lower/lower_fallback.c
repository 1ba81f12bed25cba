/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fallback: which kernels there are, and in which order: one for each cut
 * value, from the leaves on; then the results, those of one shape together;
 * then copies of results that may share the buffer of an input. */
#include "support/base.h"

#include "lower/lower_fallback.h"

#include "support/arena.h"

#include <stdlib.h>

/* Results of one kernel; the rest goes to another. */
enum { MAX_TOGETHER = 16 };

/* Steps of a kernel, once all kernels together have this many times the values
 * of the program. */
enum { MAX_CONE = 64, MAX_REPEATS = 8 };

/* A value met at more indices than this, for which a kernel of its own would
 * take a moderate number of steps, is better stored than computed at each. */
enum { MET_OFTEN = 4, MIN_SHARED = 16, MAX_SHARED = FB_MAX_INSTANCES / 16 };

static void
mark_live(struct fb *fb)
{
    for (uint32_t i = 0; i < fb->g->n_results; i++)
        fb->live[fb->g->results[i].node] = true;
    for (node_id n = fb->g->n_nodes; n-- > 0;) {
        const struct node *nd = graph_node(fb->g, n);

        if (!fb->live[n])
            continue;
        fb->cut[n] = op_info[nd->op].class == OC_REDUCE;
        for (uint32_t i = 0; i < nd->n_args; i++)
            fb->live[nd->args[i]] = true;
    }
}

/* --- where to cut when many kernels share much ---------------------------- */

/* Values that the kernel of n computes, beside those that wait. Counts to
 * `limit`, not farther. */
static uint32_t
count_cone(struct fb *fb, node_id n, uint32_t limit)
{
    uint32_t count = 0, open = 0, stamp = ++fb->stamp;

    fb->todo[open++] = n;
    fb->seen[n] = stamp;
    while (open && count < limit) {
        const struct node *nd = graph_node(fb->g, fb->todo[--open]);

        count++;
        for (uint32_t i = 0; i < nd->n_args; i++) {
            node_id arg = nd->args[i];

            if (fb->cut[arg] || fb->seen[arg] == stamp)
                continue;
            fb->seen[arg] = stamp;
            fb->todo[open++] = arg;
        }
    }
    return count;
}

/* A chain of n reductions, each of a value computed from all before it, would
 * be n kernels of up to n steps. Where the kernels compute everything several
 * times over, values far from what waits are made to wait as well. */
static void
cut_long_chains(struct fb *fb)
{
    uint32_t nodes = fb->g->n_nodes, live = 0, total = 0;

    for (node_id n = 0; n < nodes; n++)
        live += fb->live[n];
    for (node_id n = 0; n < nodes && total <= MAX_REPEATS * live; n++)
        if (fb->cut[n])
            total += count_cone(fb, n, live);
    if (total <= MAX_REPEATS * live)
        return;
    for (node_id n = 0; n < nodes; n++)
        if (fb->live[n] && !fb->cut[n] &&
            op_info[graph_node(fb->g, n)->op].class == OC_POINTWISE)
            fb->cut[n] = count_cone(fb, n, MAX_CONE) == MAX_CONE;
}

/* --- where to cut a kernel that grows too large --------------------------- */

static bool
may_cut(const struct fb_scope *s, node_id n)
{
    enum op_class c = op_info[graph_node(s->fb->g, n)->op].class;

    return c != OC_LEAF && c != OC_REDUCE && n != s->root && !s->fb->cut[n];
}

static void
cut(const struct fb_scope *s, node_id n)
{
    s->fb->cut[n] = true;
    s->fb->first_new = MIN(s->fb->first_new, n);
}

static bool
is_view(const struct fb_scope *s, const struct fb_instance *i)
{
    return op_info[graph_node(s->fb->g, i->node)->op].class == OC_VIEW &&
           i->open && i->n_deps > 0;
}

/* Instances that i needs, itself included; `limit` when there are so many or
 * when some aren't known yet. */
static uint32_t
count_needed(const struct fb_scope *s, struct fb_instance *i,
             struct fb_instance **todo, uint32_t limit)
{
    node_id root = i->node;
    uint32_t count = 0, open = 0;

    i->counted_for = root;
    todo[open++] = i;
    while (open && count < limit) {
        i = todo[--open];
        count++;
        if (!i->open && !fb_is_at_hand(s, i))
            return limit;
        for (uint32_t k = 0; k < i->n_deps; k++) {
            if (i->deps[k]->counted_for == root)
                continue;
            i->deps[k]->counted_for = root;
            todo[open++] = i->deps[k];
        }
    }
    return open ? limit : count;
}

/* Marks what is better stored. No views: other views of the operand would
 * compute that again. */
static void
mark_shared(const struct fb_scope *s)
{
    struct fb_instance **todo =
        NEW_ARRAY(s->fb->a, struct fb_instance *, s->all.n + 1);

    for (uint32_t k = 0; k < s->all.n; k++) {
        struct fb_instance *i = s->all.v[k];
        uint32_t n;

        if (i->number > 0 || s->fb->met[i->node].n <= MET_OFTEN ||
            !may_cut(s, i->node) || is_view(s, i))
            continue;
        n = count_needed(s, i, todo, MAX_SHARED);
        s->fb->met[i->node].shared = n >= MIN_SHARED && n < MAX_SHARED;
    }
}

/* Cuts at those marked that something else than another marked one needs. */
static bool
cut_shared(const struct fb_scope *s)
{
    bool any = false;

    mark_shared(s);
    for (uint32_t k = 0; k < s->all.n; k++) {
        const struct fb_instance *i = s->all.v[k], *d;

        if (s->fb->met[i->node].shared || (is_view(s, i) && k > 0))
            continue;
        for (uint32_t n = 0; n < i->n_deps; n++) {
            for (d = i->deps[n]; is_view(s, d); d = d->deps[0])
                continue;
            if (!s->fb->met[d->node].shared || !may_cut(s, d->node))
                continue;
            cut(s, d->node);
            any = true;
        }
    }
    return any;
}

/* Cuts at the value nearest to what was written last that takes a kernel of
 * some size. */
static bool
cut_stack(const struct fb_scope *s)
{
    for (uint32_t k = s->stack.n; k-- > 0;) {
        node_id n = s->stack.v[k]->node;

        if (!may_cut(s, n) || count_cone(s->fb, n, MAX_SHARED) < MAX_SHARED)
            continue;
        cut(s, n);
        return true;
    }
    return false;
}

/* What can't be cut in a useful way may grow on. */
static void
cut_somewhere(const struct fb_scope *s)
{
    struct fb *fb = s->fb;

    if (s->bent != FB_NO_NODE) {
        cut(s, s->bent);
    } else if (!cut_shared(s) && !cut_stack(s)) {
        fb->raised = s->root;
        fb->limit = 2 * s->limit;
    }
}

/* --- kernels -------------------------------------------------------------- */

static struct lowered_kernel
begin(struct fb *fb, const char *comment)
{
    return lower_kernel_begin(fb->ctx, fb->out, fb->kp, FB_THREADS, comment);
}

/* A loop over the elements of a shape, one a thread; idx: their indices. */
static void
loop_over_elements(struct fb_scope *s, int rank, const struct sym *const *dims,
                   const struct sym **idx)
{
    struct fb *fb = s->fb;
    struct arena *a = fb->a;
    struct sym_ctx *c = fb->syms;
    const struct sym *total = lower_elements(fb->ctx, rank, dims);
    const struct kexpr *n = ke_int(a, FB_THREADS), *first;

    first =
        ke_bin(a, "*", lower_wide(fb->ctx, ke_call(a, "fu_bid_x", NULL, 0)), n);
    first = ke_bin(a, "+", first, ke_call(a, "fu_tid", NULL, 0));
    s->b = kb_for(&s->b, "fu_i64", "o", first, fb_sym(s, total),
                  ke_bin(a, "*",
                         lower_wide(fb->ctx, ke_call(a, "fu_grid_x", NULL, 0)),
                         n));
    fb_split(s, ke_var(a, "o"), "i", rank, dims, idx);
    lower_set_grid(fb->ctx, s->lk,
                   sym_min(c, sym_ceil_div(c, total, sym_int(c, FB_THREADS)),
                           sym_int(c, FB_MAX_BLOCKS)),
                   sym_int(c, 1));
}

/* A cut value that is no reduction. */
static bool
value_kernel(struct fb *fb, node_id id, struct fb_scope *s)
{
    const struct node *n = graph_node(fb->g, id);
    const struct sym *idx[MAX_RANK];
    const struct kexpr *x;

    loop_over_elements(s, n->rank, n->dims, idx);
    x = fb_value(s, id, idx);
    if (!x)
        return false;
    kb_eval(&s->b,
            ke_call(fb->a, "fu_store", NULL, 3,
                    fb_workspace(fb, s->lk, id, true), ke_var(fb->a, "o"), x));
    return true;
}

static bool
cut_kernel(struct fb *fb, node_id n)
{
    bool reduces = op_info[graph_node(fb->g, n)->op].class == OC_REDUCE;
    struct lowered_kernel lk =
        begin(fb, arena_printf(fb->a, "%s of value %s to workspace.",
                               reduces ? "Reduction" : "Elements",
                               lower_node_name(fb->ctx, n)));
    struct kbuild b = {fb->a, &lk.kernel->body};
    struct fb_scope s;

    fb_scope_init(&s, fb, &lk, b, n);
    if (reduces ? fb_reduce_kernel(fb, n, &s) : value_kernel(fb, n, &s)) {
        lower_kernel_end(fb->ctx, &lk, fb->out);
        return true;
    }
    cut_somewhere(&s);
    return false;
}

/* --- results -------------------------------------------------------------- */

static bool
same_shape(const struct result *x, const struct result *y)
{
    bool same = x->rank == y->rank;

    for (int d = 0; d < x->rank && same; d++)
        same = sym_equal(x->dims[d], y->dims[d]);
    return same;
}

static const struct sym *
result_offset(struct fb *fb, const struct result *r,
              const struct sym *const *idx)
{
    return fb_offset(fb, r->rank, r->dims, r->has_strides ? r->strides : NULL,
                     idx);
}

static const struct kexpr *
copy_buffer(struct fb *fb, struct lowered_kernel *lk, uint32_t i, bool writes)
{
    const struct result *r = &fb->g->results[i];
    const struct sym *bytes =
        sym_mul(fb->syms, lower_elements(fb->ctx, r->rank, r->dims),
                sym_int(fb->syms, dtype_info[r->dtype].bytes));

    return lower_workspace(
        fb->ctx, lk,
        arena_printf(fb->a, "%s_result_%s", fb->ctx->prefix, r->name), r->dtype,
        bytes, writes);
}

/* True when the kernel reads the input that the result may overwrite only
 * where it writes, and it is the only one. */
static bool
may_store_in_place(const struct fb_scope *s, const struct result *r,
                   const struct sym *offset, bool alone)
{
    for (uint32_t i = 0; i < s->loads.n; i++)
        if (s->loads.v[i].param == r->inplace && s->loads.v[i].offset != offset)
            return false;
    return alone;
}

/* Stores result i, to workspace when its place may still be read by others;
 * copy[i] says so. */
static void
store(struct fb_scope *s, uint32_t i, const struct kexpr *x,
      const struct sym *const *idx, bool alone, bool *copy)
{
    struct fb *fb = s->fb;
    const struct result *r = &fb->g->results[i];
    const struct sym *at = result_offset(fb, r, idx);
    const struct kexpr *p, *o;

    copy[i] = r->inplace >= 0 && !may_store_in_place(s, r, at, alone);
    p = copy[i] ? copy_buffer(fb, s->lk, i, true)
                : lower_output(fb->ctx, s->lk, (int)i);
    o = copy[i] ? ke_var(fb->a, "o") : fb_sym(s, at);
    x = lower_store_value(fb->ctx, graph_node(fb->g, r->node)->dtype, r->dtype,
                          x);
    kb_eval(&s->b, ke_call(fb->a, "fu_store", NULL, 3, p, o, x));
}

/* Results ids[0..n) of one shape; all values first, then all stores. */
static bool
results_kernel(struct fb *fb, uint32_t n, const uint32_t *ids, bool alone,
               bool *copy)
{
    const struct result *first = &fb->g->results[ids[0]];
    struct lowered_kernel lk = begin(fb, "Results, one element a thread.");
    struct kbuild b = {fb->a, &lk.kernel->body};
    const struct kexpr *x[MAX_TOGETHER];
    const struct sym *idx[MAX_RANK];
    struct fb_scope s;

    assert(n <= MAX_TOGETHER);
    fb_scope_init(&s, fb, &lk, b, FB_NO_NODE);
    loop_over_elements(&s, first->rank, first->dims, idx);
    for (uint32_t k = 0; k < n; k++) {
        x[k] = fb_value(&s, fb->g->results[ids[k]].node, idx);
        if (!x[k]) {
            cut_somewhere(&s);
            return false;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        store(&s, ids[k], x[k], idx, alone, copy);
    lower_kernel_end(fb->ctx, &lk, fb->out);
    return true;
}

static void
copy_kernel(struct fb *fb, uint32_t i)
{
    const struct result *r = &fb->g->results[i];
    struct lowered_kernel lk =
        begin(fb, arena_printf(fb->a, "Result %s to its place.", r->name));
    struct kbuild b = {fb->a, &lk.kernel->body};
    const struct sym *idx[MAX_RANK];
    const struct kexpr *x;
    struct fb_scope s;

    fb_scope_init(&s, fb, &lk, b, FB_NO_NODE);
    loop_over_elements(&s, r->rank, r->dims, idx);
    x = ke_call(fb->a, "fu_load", NULL, 2, copy_buffer(fb, &lk, i, false),
                ke_var(fb->a, "o"));
    kb_eval(&s.b, ke_call(fb->a, "fu_store", NULL, 3,
                          lower_output(fb->ctx, &lk, (int)i),
                          fb_sym(&s, result_offset(fb, r, idx)), x));
    lower_kernel_end(fb->ctx, &lk, fb->out);
}

/* The results that go with result i into one kernel: ids; marks them done. */
static uint32_t
gather(const struct fb *fb, uint32_t i, bool *done, uint32_t *ids)
{
    uint32_t n = 0;

    for (uint32_t k = i; k < fb->g->n_results && n < MAX_TOGETHER; k++) {
        if (done[k] || !same_shape(&fb->g->results[i], &fb->g->results[k]))
            continue;
        done[k] = true;
        ids[n++] = k;
    }
    return n;
}

static bool
write_results(struct fb *fb)
{
    uint32_t all = fb->g->n_results, ids[MAX_TOGETHER];
    bool *done = NEW_ARRAY(fb->a, bool, all + 1);
    bool *copy = NEW_ARRAY(fb->a, bool, all + 1);

    for (uint32_t i = 0; i < all; i++) {
        uint32_t n = done[i] ? 0 : gather(fb, i, done, ids);

        if (n && !results_kernel(fb, n, ids, n == all, copy))
            return false;
    }
    for (uint32_t i = 0; i < all; i++)
        if (copy[i])
            copy_kernel(fb, i);
    return true;
}

static void
mark(struct fb *fb, node_id n)
{
    struct fb_mark m = {n, fb->out->launches.n, fb->ctx->out->workspace.n};

    VEC_PUSH(fb->a, &fb->marks, m);
}

/* Drops the last kernel, which failed, and all that come after the first new
 * cut: the others compute nothing that needs it. */
static node_id
go_back(struct fb *fb)
{
    const struct fb_mark *m;

    do {
        m = &fb->marks.v[--fb->marks.n];
        fb->out->launches.n = m->launches;
        fb->ctx->out->workspace.n = m->buffers;
    } while (fb->marks.n && fb->marks.v[fb->marks.n - 1].node > fb->first_new);
    return MIN(m->node, fb->first_new);
}

/* The kernels of cut nodes from n on, and then the results. */
static bool
write_from(struct fb *fb, node_id n)
{
    for (; n < fb->g->n_nodes; n++) {
        if (!fb->cut[n])
            continue;
        mark(fb, n);
        if (!cut_kernel(fb, n))
            return false;
    }
    mark(fb, n);
    return write_results(fb);
}

void
lower_fallback(struct lower *ctx, const struct kernel_plan *kp,
               struct lowered_variant *out)
{
    struct fb fb = {.ctx = ctx,
                    .a = ctx->arena,
                    .g = ctx->g,
                    .syms = ctx->syms,
                    .kp = kp,
                    .out = out};
    node_id next = 0;

    fb.live = NEW_ARRAY(fb.a, bool, fb.g->n_nodes + 1);
    fb.cut = NEW_ARRAY(fb.a, bool, fb.g->n_nodes + 1);
    fb.met = NEW_ARRAY(fb.a, struct fb_met, fb.g->n_nodes + 1);
    fb.seen = NEW_ARRAY(fb.a, uint32_t, fb.g->n_nodes + 1);
    fb.todo = NEW_ARRAY(fb.a, node_id, fb.g->n_nodes + 1);
    mark_live(&fb);
    cut_long_chains(&fb);
    /* Each failure cuts the graph below what failed, or lets it grow. */
    for (fb.first_new = FB_NO_NODE; !write_from(&fb, next);
         fb.first_new = FB_NO_NODE)
        next = go_back(&fb);
}
