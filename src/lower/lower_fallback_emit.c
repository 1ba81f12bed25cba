/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fallback_emit: the values of one kernel, written in straight line.
 *
 * A value is a node at an index under a guard. The walk from a result to what
 * it needs keeps its own stack, since a program may be 100,000 statements deep.
 * All arithmetic is harmless on any operand; only loads touch memory, so where
 * a join chooses between operands, the loads of the one not chosen are guarded
 * and the choice is made among values. */
#include "support/base.h"

#include "lower/lower_fallback.h"

#include "support/arena.h"
#include "support/buf.h"

void
fb_scope_init(struct fb_scope *s, struct fb *fb, struct lowered_kernel *lk,
              struct kbuild b, node_id root)
{
    *s = (struct fb_scope){.fb = fb,
                           .lk = lk,
                           .b = b,
                           .number = ++fb->scopes,
                           .limit = FB_MAX_INSTANCES,
                           .root = root,
                           .bent = FB_NO_NODE};
    if (fb->limit && fb->raised == root)
        s->limit = fb->limit;
}

/* --- indices as kernel expressions ---------------------------------------- */

const struct sym *
fb_variable(struct fb *fb, const char *name)
{
    return sym_name(fb->syms, arena_printf(fb->a, "$%s", name));
}

static const struct sym *
as_argument(void *data, const char *name)
{
    struct fb_scope *s = data;
    const struct kexpr *e;

    if (name[0] == '$')
        return NULL;
    e = lower_sym(s->fb->ctx, s->lk, sym_name(s->fb->syms, name));
    assert(e->kind == KE_VAR);
    return fb_variable(s->fb, e->name);
}

const struct kexpr *
fb_sym(struct fb_scope *s, const struct sym *x)
{
    const struct sym *in_kernel = sym_subst(s->fb->syms, x, as_argument, s);

    assert(in_kernel);
    return ke_sym(s->fb->a, in_kernel);
}

void
fb_split(struct fb_scope *s, const struct kexpr *linear, const char *prefix,
         int rank, const struct sym *const *dims, const struct sym **idx)
{
    struct arena *a = s->fb->a;
    int first = 0;
    int64_t v;

    while (first < rank && sym_is_int(dims[first], &v) && v == 1)
        first++;
    for (int d = rank; d-- > 0;) {
        const char *name = arena_printf(a, "%s%d", prefix, d);
        const struct kexpr *e;

        idx[d] = sym_int(s->fb->syms, 0);
        if (sym_is_int(dims[d], &v) && v <= 1)
            continue;
        idx[d] = fb_variable(s->fb, name);
        if (d == first) {
            kb_let(&s->b, "fu_i64", name, linear);
            continue;
        }
        e = fb_sym(s, dims[d]);
        kb_let(&s->b, "fu_i64", name, ke_bin(a, "%", linear, e));
        linear = kb_let(&s->b, "fu_i64", arena_printf(a, "%s%dq", prefix, d),
                        ke_bin(a, "/", linear, e));
    }
}

const struct sym *
fb_offset(struct fb *fb, int rank, const struct sym *const *dims,
          const struct sym *const *strides, const struct sym *const *idx)
{
    const struct sym *row_major[MAX_RANK];
    const struct sym *at = sym_int(fb->syms, 0);

    graph_row_major(fb->syms, rank, dims, row_major);
    for (int d = 0; d < rank; d++)
        at = sym_add(
            fb->syms, at,
            sym_mul(fb->syms, idx[d], strides ? strides[d] : row_major[d]));
    return at;
}

/* --- workspace ------------------------------------------------------------ */

enum dtype
fb_cut_type(const struct fb *fb, node_id n)
{
    const struct node *nd = graph_node(fb->g, n);

    if (op_info[nd->op].class != OC_REDUCE)
        return dtype_compute(nd->dtype);
    if (op_info[nd->op].flags & OPF_ARG_INDEX)
        return DT_I64;
    return lower_accumulator(fb->g, n);
}

const struct kexpr *
fb_workspace(struct fb *fb, struct lowered_kernel *lk, node_id n, bool writes)
{
    const struct node *nd = graph_node(fb->g, n);
    enum dtype t = fb_cut_type(fb, n);
    const struct sym *bytes =
        sym_mul(fb->syms, lower_elements(fb->ctx, nd->rank, nd->dims),
                sym_int(fb->syms, dtype_info[t].bytes));

    return lower_workspace(fb->ctx, lk,
                           arena_printf(fb->a, "%s_cut_%s", fb->ctx->prefix,
                                        lower_node_name(fb->ctx, n)),
                           t, bytes, writes);
}

/* --- guards --------------------------------------------------------------- */

static bool
holds_cond(const struct fb_guard *g, const struct sym *e)
{
    for (uint32_t i = 0; g && i < g->conds.n; i++)
        if (g->conds.v[i] == e)
            return true;
    return false;
}

static bool
same_conds(const struct fb_guard *x, const struct fb_guard *y)
{
    if (x->conds.n != y->conds.n)
        return false;
    for (uint32_t i = 0; i < x->conds.n; i++)
        if (!holds_cond(y, x->conds.v[i]))
            return false;
    return true;
}

static void
add_cond(struct fb *fb, struct fb_guard *g, const struct sym *e)
{
    int64_t least;

    if (sym_lower_bound(fb->syms, e, &least) && least >= 0)
        return;
    if (!holds_cond(g, e))
        VEC_PUSH(fb->a, &g->conds, e);
}

static const struct kexpr *
guard_expr(struct fb_scope *s, const struct fb_guard *g)
{
    struct arena *a = s->fb->a;
    uint32_t known = g->parent ? g->parent->conds.n : 0;
    const struct kexpr *all = g->parent ? g->parent->var : NULL;

    for (uint32_t i = known; i < g->conds.n; i++) {
        const struct kexpr *c =
            ke_bin(a, ">=", fb_sym(s, g->conds.v[i]), ke_int(a, 0));

        all = all ? ke_bin(a, "&&", all, c) : c;
    }
    return all;
}

/* The guard that also demands `from <= i < to`, declared when new. */
static const struct fb_guard *
guard_within(struct fb_scope *s, const struct fb_guard *parent,
             struct fb_guard *g)
{
    struct fb *fb = s->fb;

    if (g->conds.n == (parent ? parent->conds.n : 0))
        return parent;
    for (uint32_t i = 0; i < s->guards.n; i++)
        if (same_conds(s->guards.v[i], g))
            return s->guards.v[i];
    g->var = kb_let(&s->b, "bool", arena_printf(fb->a, "g%u", s->guards.n),
                    guard_expr(s, g));
    VEC_PUSH(fb->a, &s->guards, g);
    return g;
}

static struct fb_guard *
guard_start(struct fb *fb, const struct fb_guard *parent)
{
    struct fb_guard *g = NEW(fb->a, struct fb_guard);

    g->parent = parent;
    for (uint32_t i = 0; parent && i < parent->conds.n; i++)
        VEC_PUSH(fb->a, &g->conds, parent->conds.v[i]);
    return g;
}

static void
guard_range(struct fb *fb, struct fb_guard *g, const struct sym *i,
            const struct sym *extent)
{
    add_cond(fb, g, i);
    add_cond(
        fb, g,
        sym_sub(fb->syms, sym_sub(fb->syms, extent, sym_int(fb->syms, 1)), i));
}

/* --- instances ------------------------------------------------------------ */

/* Where an instance is, or would be: indices are interned and compare by
 * address. What the slots' order is shows nowhere. */
static struct fb_instance **
find(const struct fb_scope *s, const struct fb_instance *i)
{
    int rank = graph_node(s->fb->g, i->node)->rank;
    uint64_t h = i->node + (uint64_t)(uintptr_t)i->guard;

    for (int d = 0; d < rank; d++)
        h = (h ^ (uint64_t)(uintptr_t)i->idx[d]) * 0x9e3779b97f4a7c15u;
    for (uint32_t k = (uint32_t)(h >> 32);; k++) {
        struct fb_instance **at = &s->slots[k & (s->n_slots - 1)];

        if (!*at || ((*at)->node == i->node && (*at)->guard == i->guard &&
                     !memcmp((*at)->idx, i->idx, sizeof(i->idx))))
            return at;
    }
}

/* Twice as many slots as instances, at least. */
static void
make_room(struct fb_scope *s)
{
    if (2 * (s->all.n + 1) <= s->n_slots)
        return;
    s->n_slots = s->n_slots ? 2 * s->n_slots : 64;
    s->slots = NEW_ARRAY(s->fb->a, struct fb_instance *, s->n_slots);
    for (uint32_t i = 0; i < s->all.n; i++)
        *find(s, s->all.v[i]) = s->all.v[i];
}

static struct fb_instance *
instance(struct fb_scope *s, node_id n, const struct sym *const *idx,
         const struct fb_guard *guard)
{
    struct fb_instance want = {
        .node = n, .guard = guard, .counted_for = FB_NO_NODE};
    int rank = graph_node(s->fb->g, n)->rank;
    struct fb_met *met = &s->fb->met[n];
    struct fb_instance **at;

    assert(idx || rank == 0);
    for (int d = 0; d < rank; d++) {
        assert(idx[d]);
        want.idx[d] = idx[d];
    }
    make_room(s);
    at = find(s, &want);
    if (*at)
        return *at;
    want.number = met->scope == s->number ? met->n : 0;
    *met = (struct fb_met){.scope = s->number, .n = want.number + 1};
    *at = NEW(s->fb->a, struct fb_instance);
    **at = want;
    VEC_PUSH(s->fb->a, &s->all, *at);
    s->too_large |= s->all.n > s->limit;
    return *at;
}

/* Of its variable. */
static const char *
name_of(const struct fb_scope *s, const struct fb_instance *i)
{
    const char *node = lower_node_name(s->fb->ctx, i->node);

    return i->number ? arena_printf(s->fb->a, "v%u_%s", i->number, node)
                     : arena_printf(s->fb->a, "v_%s", node);
}

bool
fb_is_at_hand(const struct fb_scope *s, const struct fb_instance *i)
{
    const struct node *n = graph_node(s->fb->g, i->node);

    return op_info[n->op].class == OC_LEAF ||
           (s->fb->cut[i->node] && i->node != s->root);
}

static void
set_deps(struct fb_scope *s, struct fb_instance *i, uint32_t n)
{
    i->n_deps = n;
    i->deps = NEW_ARRAY(s->fb->a, struct fb_instance *, n);
    i->chosen = NEW_ARRAY(s->fb->a, const struct kexpr *, n);
}

/* Reshapes that don't undo each other nest quotients in quotients; the longer
 * such an index, the better the value is computed once and read back. */
static bool
is_long(struct fb_scope *s, const struct sym *index)
{
    struct buf text;

    buf_init(&text, s->fb->a);
    sym_print(&text, index);
    return text.len > FB_MAX_INDEX;
}

static void
check_index(struct fb_scope *s, const struct fb_instance *i,
            const struct sym *const *idx)
{
    const struct node *n = graph_node(s->fb->g, i->node);

    if (n->op != OP_RESHAPE || i->node == s->root)
        return;
    for (int d = 0; d < graph_node(s->fb->g, n->args[0])->rank; d++)
        if (is_long(s, idx[d])) {
            s->too_large = true;
            s->bent = i->node;
        }
}

static void
expand_view(struct fb_scope *s, struct fb_instance *i)
{
    const struct node *n = graph_node(s->fb->g, i->node);
    const struct sym *idx[MAX_RANK], *by = n->start[0];
    bool dynamic = n->op == OP_SELECT_INDEX && n->n_args > 1;

    set_deps(s, i, dynamic ? 2 : 1);
    if (dynamic) {
        i->deps[1] = instance(s, n->args[1], NULL, i->guard);
        by = fb_variable(s->fb, name_of(s, i->deps[1]));
    }
    fb_view_index(s->fb, i->node, i->idx, by, idx);
    check_index(s, i, idx);
    i->deps[0] = instance(s, n->args[0], idx, i->guard);
}

static void
expand_pad(struct fb_scope *s, struct fb_instance *i)
{
    const struct node *n = graph_node(s->fb->g, i->node);
    const struct node *arg = graph_node(s->fb->g, n->args[0]);
    struct fb_guard *g = guard_start(s->fb, i->guard);
    const struct sym *idx[MAX_RANK] = {NULL};
    const struct fb_guard *inside;

    assert(arg->rank == n->rank && graph_node(s->fb->g, n->args[1])->rank == 0);
    for (int d = 0; d < n->rank; d++) {
        idx[d] = sym_sub(s->fb->syms, i->idx[d], n->start[d]);
        if (idx[d] != i->idx[d] || !sym_equal(n->dims[d], arg->dims[d]))
            guard_range(s->fb, g, idx[d], arg->dims[d]);
    }
    inside = guard_within(s, i->guard, g);
    set_deps(s, i, 2);
    i->deps[0] = instance(s, n->args[0], idx, inside);
    i->deps[1] = instance(s, n->args[1], NULL, i->guard);
    i->chosen[0] = inside ? inside->var : ke_const_int(s->fb->a, DT_BOOL, 1);
}

static void
expand_cat(struct fb_scope *s, struct fb_instance *i)
{
    struct fb *fb = s->fb;
    const struct node *n = graph_node(fb->g, i->node);
    const struct sym *idx[MAX_RANK], *start = sym_int(fb->syms, 0);

    set_deps(s, i, n->n_args);
    memcpy(idx, i->idx, sizeof(idx));
    for (uint32_t k = 0; k < n->n_args; k++) {
        const struct sym *extent = graph_node(fb->g, n->args[k])->dims[n->dim];
        struct fb_guard *g = guard_start(fb, i->guard);
        const struct fb_guard *inside;

        idx[n->dim] = sym_sub(fb->syms, i->idx[n->dim], start);
        guard_range(fb, g, idx[n->dim], extent);
        inside = guard_within(s, i->guard, g);
        i->deps[k] = instance(s, n->args[k], idx, inside);
        i->chosen[k] = inside ? inside->var : ke_const_int(fb->a, DT_BOOL, 1);
        start = sym_add(fb->syms, start, extent);
    }
}

static void
expand_pointwise(struct fb_scope *s, struct fb_instance *i)
{
    const struct node *n = graph_node(s->fb->g, i->node);

    set_deps(s, i, n->n_args);
    for (uint32_t k = 0; k < n->n_args; k++)
        i->deps[k] = instance(s, n->args[k], i->idx, i->guard);
}

static void
expand(struct fb_scope *s, struct fb_instance *i)
{
    const struct node *n = graph_node(s->fb->g, i->node);
    enum op_class class = op_info[n->op].class;

    if (fb_is_at_hand(s, i))
        return;
    if (class == OC_VIEW)
        expand_view(s, i);
    else if (class == OC_JOIN && n->op == OP_PAD)
        expand_pad(s, i);
    else if (class == OC_JOIN)
        expand_cat(s, i);
    else if (class == OC_POINTWISE || class == OC_CAST)
        expand_pointwise(s, i);
    else
        BUG("fallback can't write '%s'", op_info[n->op].name);
}

/* --- writing -------------------------------------------------------------- */

static const struct kexpr *
zero_value(struct fb *fb, enum dtype t)
{
    return dtype_is_float(t) ? ke_const_float(fb->a, t, 0)
                             : ke_const_int(fb->a, t, 0);
}

/* p[offset], or 0 where the guard doesn't hold. */
static const struct kexpr *
write_load(struct fb_scope *s, const struct fb_instance *i, enum dtype t,
           const struct kexpr *p, const struct sym *offset)
{
    struct fb *fb = s->fb;
    const struct kexpr *x = ke_call(fb->a, "fu_load", NULL, 2, p,
                                    fb_sym(s, offset)),
                       *v;
    struct kbuild in;

    if (!i->guard)
        return kb_let(&s->b, dtype_info[t].reg, name_of(s, i), x);
    v = kb_var(&s->b, dtype_info[t].reg, name_of(s, i), zero_value(fb, t));
    in = kb_if(&s->b, i->guard->var);
    kb_assign(&in, v, x);
    return v;
}

static const struct kexpr *
write_input(struct fb_scope *s, const struct fb_instance *i)
{
    struct fb *fb = s->fb;
    const struct node *n = graph_node(fb->g, i->node);
    const struct param *p = &fb->g->params[n->param];
    struct fb_load load = {
        (int)n->param, fb_offset(fb, p->rank, p->dims,
                                 p->has_strides ? p->strides : NULL, i->idx)};

    VEC_PUSH(fb->a, &s->loads, load);
    return write_load(s, i, n->dtype, lower_input(fb->ctx, s->lk, load.param),
                      load.offset);
}

static const struct kexpr *
write_cut(struct fb_scope *s, const struct fb_instance *i)
{
    struct fb *fb = s->fb;
    const struct node *n = graph_node(fb->g, i->node);
    enum dtype t = fb_cut_type(fb, i->node);
    const struct kexpr *x =
        write_load(s, i, t, fb_workspace(fb, s->lk, i->node, false),
                   fb_offset(fb, n->rank, n->dims, NULL, i->idx));

    return lower_convert(fb->ctx, t, n->dtype, x);
}

static const struct kexpr *
write_leaf(struct fb_scope *s, const struct fb_instance *i)
{
    struct fb *fb = s->fb;
    const struct node *n = graph_node(fb->g, i->node);

    if (n->op == OP_INPUT)
        return write_input(s, i);
    if (n->op == OP_IOTA)
        return kb_let(&s->b, dtype_info[n->dtype].reg, name_of(s, i),
                      lower_convert(fb->ctx, DT_I64, n->dtype,
                                    lower_wide(fb->ctx, fb_sym(s, i->idx[0]))));
    if (n->op == OP_CONST && dtype_is_float(n->dtype))
        return lower_node_expr(fb->ctx, s->lk, i->node, NULL);
    return kb_let(&s->b, dtype_info[n->dtype].reg, name_of(s, i),
                  lower_node_expr(fb->ctx, s->lk, i->node, NULL));
}

/* The last dep that is chosen by none else, then each that is chosen. */
static const struct kexpr *
write_join(struct fb_scope *s, const struct fb_instance *i)
{
    struct fb *fb = s->fb;
    enum dtype t = graph_node(fb->g, i->node)->dtype;
    const struct kexpr *v = NULL;

    for (uint32_t k = i->n_deps; k-- > 0;) {
        const struct kexpr *x =
            lower_convert(fb->ctx, graph_node(fb->g, i->deps[k]->node)->dtype,
                          t, i->deps[k]->value);
        struct kbuild in;

        if (!v) {
            v = kb_var(&s->b, dtype_info[t].reg, name_of(s, i), x);
            continue;
        }
        in = kb_if(&s->b, i->chosen[k]);
        kb_assign(&in, v, x);
    }
    return v;
}

static const struct kexpr *
write_value(struct fb_scope *s, const struct fb_instance *i)
{
    struct fb *fb = s->fb;
    const struct node *n = graph_node(fb->g, i->node);
    const struct kexpr *args[4];

    if (op_info[n->op].class == OC_LEAF)
        return write_leaf(s, i);
    if (fb_is_at_hand(s, i))
        return write_cut(s, i);
    if (op_info[n->op].class == OC_VIEW && n->rank > 0)
        return i->deps[0]->value;
    if (op_info[n->op].class == OC_VIEW) /* it may be an index by its name */
        return kb_let(&s->b, dtype_info[n->dtype].reg, name_of(s, i),
                      i->deps[0]->value);
    if (op_info[n->op].class == OC_JOIN)
        return write_join(s, i);
    assert(i->n_deps <= ARRAY_LEN(args));
    for (uint32_t k = 0; k < i->n_deps; k++)
        args[k] = i->deps[k]->value;
    return kb_let(&s->b, dtype_info[n->dtype].reg, name_of(s, i),
                  lower_node_expr(fb->ctx, s->lk, i->node, args));
}

const struct kexpr *
fb_value(struct fb_scope *s, node_id node, const struct sym *const *idx)
{
    struct fb_instance *root = instance(s, node, idx, NULL);

    s->stack.n = 0;
    VEC_PUSH(s->fb->a, &s->stack, root);
    while (s->stack.n && !s->too_large) {
        struct fb_instance *i = s->stack.v[s->stack.n - 1];

        if (i->value) {
            s->stack.n--;
        } else if (!i->open) {
            i->open = true;
            expand(s, i);
            for (uint32_t k = 0; k < i->n_deps; k++)
                if (!i->deps[k]->value)
                    VEC_PUSH(s->fb->a, &s->stack, i->deps[k]);
        } else {
            i->value = write_value(s, i);
            s->stack.n--;
        }
    }
    return s->too_large ? NULL : root->value;
}
