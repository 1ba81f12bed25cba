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

/* Values that the kernel of n computes, beside those that wait; `seen` has the
 * number of the last n that met a value. Counts to `limit`, not farther. */
static uint32_t
count_cone(const struct fb *fb, node_id n, node_id *seen, node_id *todo,
           uint32_t limit)
{
    uint32_t count = 0, open = 0;

    todo[open++] = n;
    seen[n] = n;
    while (open && count < limit) {
        const struct node *nd = graph_node(fb->g, todo[--open]);

        count++;
        for (uint32_t i = 0; i < nd->n_args; i++) {
            node_id arg = nd->args[i];

            if (fb->cut[arg] || seen[arg] == n)
                continue;
            seen[arg] = n;
            todo[open++] = arg;
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
    node_id *seen = NEW_ARRAY(fb->a, node_id, nodes + 1);
    node_id *todo = NEW_ARRAY(fb->a, node_id, nodes + 1);

    for (node_id n = 0; n < nodes; n++) {
        seen[n] = FB_NO_NODE;
        live += fb->live[n];
    }
    for (node_id n = 0; n < nodes && total <= MAX_REPEATS * live; n++)
        if (fb->cut[n])
            total += count_cone(fb, n, seen, todo, live);
    if (total <= MAX_REPEATS * live)
        return;
    for (node_id n = 0; n < nodes; n++)
        if (fb->live[n] && !fb->cut[n] &&
            op_info[graph_node(fb->g, n)->op].class == OC_POINTWISE)
            fb->cut[n] = count_cone(fb, n, seen, todo, MAX_CONE) == MAX_CONE;
}

/* --- where to cut a kernel that grows too large --------------------------- */

static bool
may_cut(const struct fb_scope *s, node_id n)
{
    enum op_class c = op_info[graph_node(s->fb->g, n)->op].class;

    return c != OC_LEAF && c != OC_REDUCE && n != s->root && !s->fb->cut[n];
}

static uint32_t
instances_of(const struct fb_scope *s, node_id n)
{
    uint32_t k = 0;

    for (const struct fb_instance *i = s->by_node[n]; i; i = i->next)
        k++;
    return k;
}

/* The value met at the most indices; when none is met often, the one most of
 * the kernel lies above. */
static void
cut_somewhere(const struct fb_scope *s)
{
    node_id most = FB_NO_NODE, deep = FB_NO_NODE;
    uint32_t most_n = 0, seen = 0;

    for (node_id n = 0; n < s->fb->g->n_nodes; n++) {
        uint32_t k = may_cut(s, n) ? instances_of(s, n) : 0;

        if (k > most_n) {
            most = n;
            most_n = k;
        }
        seen += k;
        if (k && deep == FB_NO_NODE && seen > s->all.n / 16)
            deep = n;
    }
    if (s->bent != FB_NO_NODE)
        deep = s->bent;
    else if (most_n > 4 || deep == FB_NO_NODE)
        deep = most;
    if (deep == FB_NO_NODE)
        BUG("a kernel of %u values can't be cut", s->all.n);
    s->fb->cut[deep] = true;
}

/* --- kernels -------------------------------------------------------------- */

static struct lowered_kernel
begin(struct fb *fb, const char *comment)
{
    return lower_kernel_begin(fb->ctx, fb->variant, fb->out, fb->kp, FB_THREADS,
                              comment);
}

/* A loop over the elements of a shape, one a thread; idx: their indices. */
static void
loop_over_elements(struct fb_scope *s, int rank, const struct sym *const *dims,
                   const struct sym **idx)
{
    struct fb *fb = s->fb;
    struct arena *a = fb->a;
    struct sym_ctx *c = fb->syms;
    const struct sym *total = fb_total(fb, rank, dims);
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
        sym_mul(fb->syms, fb_total(fb, r->rank, r->dims),
                sym_int(fb->syms, dtype_info[r->dtype].bytes));

    return lower_workspace(
        fb->ctx, lk, arena_printf(fb->a, "v%u_result_%s", fb->variant, r->name),
        r->dtype, bytes, writes);
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

static bool
write_all(struct fb *fb)
{
    for (node_id n = 0; n < fb->g->n_nodes; n++)
        if (fb->cut[n] && !cut_kernel(fb, n))
            return false;
    return write_results(fb);
}

void
lower_fallback(struct lower *ctx, const struct kernel_plan *kp,
               uint32_t variant, struct lowered_variant *out)
{
    struct fb fb = {.ctx = ctx,
                    .a = ctx->arena,
                    .g = ctx->g,
                    .syms = ctx->syms,
                    .kp = kp,
                    .variant = variant,
                    .out = out};
    uint32_t launches = out->launches.n, buffers = ctx->out->workspace.n;

    fb.live = NEW_ARRAY(fb.a, bool, fb.g->n_nodes + 1);
    fb.cut = NEW_ARRAY(fb.a, bool, fb.g->n_nodes + 1);
    mark_live(&fb);
    cut_long_chains(&fb);
    /* Each failure cuts the graph at one more place. */
    while (!write_all(&fb)) {
        out->launches.n = launches;
        ctx->out->workspace.n = buffers;
    }
}
