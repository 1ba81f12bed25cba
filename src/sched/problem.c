/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and guards of a fusion: how many rows and columns the cost model
 * counts with, and what must hold at launch for vector accesses. */
#include "support/base.h"

#include "sched/scheduler.h"

#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"

enum { DEFAULT_EXTENT = 8192, VECTOR_BYTES = 16, MAX_VECTOR_BYTES = 32 };

struct hints {
    const struct hint *v;
    uint32_t n;
};

static bool
lookup_hint(void *data, const char *name, int64_t *ret)
{
    const struct hints *h = data;

    for (uint32_t i = h->n; i-- > 0;) {
        if (strcmp(h->v[i].name, name) != 0)
            continue;
        *ret = h->v[i].value;
        return true;
    }
    return false;
}

static double
guess_symbol(void *data, const char *name)
{
    int64_t v;

    return lookup_hint(data, name, &v) ? (double)v : DEFAULT_EXTENT;
}

/* Exact when constant or hinted; else `guess`, within the provable range. */
static int64_t
guess_extent(const struct problem *p, const struct sym *s, struct hints *h,
             int64_t guess)
{
    struct sym_ctx *c = p->f->g->syms;
    int64_t v;

    if (sym_eval(s, lookup_hint, h, &v))
        return v;
    if (sym_upper_bound(c, s, &v))
        guess = MIN(guess, v);
    if (sym_lower_bound(c, s, &v))
        guess = MAX(guess, v);
    return guess;
}

bool
access_is_vector(const struct facts *f, const struct access *a)
{
    int64_t s;

    return f->column != NO_AXIS && a->stride[f->column] &&
           sym_is_int(a->stride[f->column], &s) && s == 1;
}

static enum dtype
access_dtype(const struct facts *f, const struct access *a)
{
    return a->param >= 0 ? f->g->params[a->param].dtype
                         : f->g->results[a->result].dtype;
}

typedef void access_fn(const struct facts *f, const struct access *a,
                       void *data);

/* Every vector access of the fusion: leaves, then stores. */
static void
each_vector_access(const struct facts *f, access_fn *fn, void *data)
{
    for (node_id n = 0; n < f->g->n_nodes; n++) {
        const struct node_facts *nf = &f->node[n];

        if (nf->live && nf->is_leaf &&
            access_is_vector(f, &f->accesses[nf->access]))
            fn(f, &f->accesses[nf->access], data);
    }
    for (uint32_t i = 0; i < f->g->n_results; i++)
        if (access_is_vector(f, &f->stores[i]))
            fn(f, &f->stores[i], data);
}

struct widths {
    int narrow, wide;
};

static void
note_width(const struct facts *f, const struct access *a, void *data)
{
    struct widths *w = data;
    int bytes = (int)dtype_info[access_dtype(f, a)].bytes;

    w->narrow = w->narrow ? MIN(w->narrow, bytes) : bytes;
    w->wide = MAX(w->wide, bytes);
}

/* 16 bytes of the narrowest type, unless the widest then takes more than two
 * accesses. */
static int
widest_vector(const struct facts *f)
{
    struct widths w = {0};

    each_vector_access(f, note_width, &w);
    if (!w.narrow)
        return 1;
    return MIN(VECTOR_BYTES / w.narrow, MAX_VECTOR_BYTES / w.wide);
}

/* Halves the vector until it divides what is known of the access: an offset
 * or a stride that is a number can't come true at launch. */
static void
bound_vector(const struct facts *f, const struct access *a, void *data)
{
    int *vector = data;
    int64_t v;

    while (*vector > 1 && sym_is_int(a->base, &v) && v % *vector)
        *vector /= 2;
    for (int i = 0; i < f->n_axes; i++)
        while (*vector > 1 && i != f->column && a->stride[i] &&
               sym_is_int(a->stride[i], &v) && v % *vector)
            *vector /= 2;
}

/* Elements of an access with n columns; row axes count m when all are there,
 * and a part of them its share of no more than m. */
static double
access_elements(const struct problem *p, const struct access *a, int64_t n)
{
    const struct facts *f = p->f;
    axis_mask rows = a->axes & f->rows;
    double e =
        f->column != NO_AXIS && (a->axes >> f->column & 1) ? (double)n : 1;
    int64_t v = 1;

    if (rows == f->rows)
        return e * (double)p->m;
    if (rows && !sym_is_int(facts_extent(f, rows), &v))
        v = p->m;
    return e * (double)MIN(v, p->m);
}

/* True when an earlier leaf of the same parameter has read as much. */
static bool
read_before(const struct facts *f, node_id n)
{
    const struct access *a = &f->accesses[f->node[n].access];

    for (node_id k = 0; k < n; k++) {
        const struct node_facts *nf = &f->node[k];

        if (nf->live && nf->is_leaf &&
            f->accesses[nf->access].param == a->param &&
            f->accesses[nf->access].axes == a->axes &&
            sym_equal(f->accesses[nf->access].base, a->base))
            return true;
    }
    return false;
}

void
problem_bytes(const struct problem *p, int64_t n, double *ret_in,
              double *ret_out)
{
    const struct facts *f = p->f;

    *ret_in = *ret_out = 0;
    for (node_id id = 0; id < f->g->n_nodes; id++) {
        const struct node_facts *nf = &f->node[id];

        if (nf->live && nf->is_leaf && !read_before(f, id))
            *ret_in += access_elements(p, &f->accesses[nf->access], n) *
                       dtype_info[graph_node(f->g, id)->dtype].bytes;
    }
    for (uint32_t i = 0; i < f->g->n_results; i++)
        *ret_out += access_elements(p, &f->stores[i], n) *
                    dtype_info[f->g->results[i].dtype].bytes;
}

static double
tensor_bytes(int rank, const struct sym *const *dims, enum dtype t,
             struct hints *h)
{
    double e = dtype_info[t].bytes;

    for (int d = 0; d < rank; d++)
        e *= sym_estimate(dims[d], guess_symbol, h);
    return e;
}

/* Without axes: whole tensors, every unknown extent at the default. */
static void
rough_bytes(struct problem *p, struct hints *h)
{
    const struct graph *g = p->f->g;

    for (uint32_t i = 0; i < g->n_params; i++)
        if (g->params[i].kind == PARAM_TENSOR)
            p->bytes_in += tensor_bytes(g->params[i].rank, g->params[i].dims,
                                        g->params[i].dtype, h);
    for (uint32_t i = 0; i < g->n_results; i++)
        p->bytes_out += tensor_bytes(g->results[i].rank, g->results[i].dims,
                                     g->results[i].dtype, h);
}

/* Without rows, the column may be several axes in one. */
static int64_t
guess_columns(const struct problem *p, struct hints *h)
{
    const int64_t whole = (int64_t)DEFAULT_EXTENT * DEFAULT_EXTENT;
    double by_name;

    if (p->f->rows)
        return DEFAULT_EXTENT;
    if (p->f->kind == GK_POINTWISE)
        return whole;
    by_name = sym_estimate(p->n_sym, guess_symbol, h);
    return (int64_t)MIN(MAX(by_name, (double)DEFAULT_EXTENT), (double)whole);
}

void
problem_init(struct arena *a, const struct facts *f, const struct device *dev,
             const struct hint *hints, uint32_t n_hints, struct problem *ret)
{
    struct hints h = {hints, n_hints};
    struct problem p = {.arena = a,
                        .f = f,
                        .dev = dev,
                        .max_vector = 1,
                        .hints = hints,
                        .n_hints = n_hints};

    p.n_sym = p.m_sym = sym_int(f->g->syms, 1);
    p.n = p.m = p.n_max = 1;
    p.n_static = p.m_static = true;
    if (f->axes_ok && f->column != NO_AXIS) {
        p.n_sym = f->axes[f->column].extent;
        p.m_sym = facts_extent(f, f->rows);
        p.n_static = sym_is_int(p.n_sym, &p.n);
        p.m_static = sym_is_int(p.m_sym, &p.m);
        if (!sym_upper_bound(f->g->syms, p.n_sym, &p.n_max))
            p.n_max = INT64_MAX;
        if (!p.n_static)
            p.n = guess_extent(&p, p.n_sym, &h, guess_columns(&p, &h));
        if (!p.m_static)
            p.m = guess_extent(&p, p.m_sym, &h, DEFAULT_EXTENT);
        p.max_vector = widest_vector(f);
        each_vector_access(f, bound_vector, &p.max_vector);
    }
    if (f->axes_ok)
        problem_bytes(&p, p.n, &p.bytes_in, &p.bytes_out);
    else
        rough_bytes(&p, &h);
    *ret = p;
}

struct guard {
    const struct problem *p;
    struct buf text;
    int vector;
};

static void
guard_part(struct guard *g, const char *part)
{
    const char *all = buf_str(&g->text), *at = strstr(all, part);

    /* The same part from two accesses stands once. */
    if (at && (at == all || at[-1] == ' ') &&
        (at[strlen(part)] == '\0' || at[strlen(part)] == ' '))
        return;
    if (*all)
        buf_puts(&g->text, " && ");
    buf_puts(&g->text, part);
}

/* s is a multiple of the vector when the column extent is. */
static bool
follows_column(const struct problem *p, const struct sym *s)
{
    const struct sym *coef, *rest;
    const char *name;
    int64_t v;

    return sym_is_name(p->n_sym, &name) &&
           sym_linear_in(p->f->g->syms, s, name, &coef, &rest) &&
           sym_is_int(rest, &v) && v == 0;
}

static void
guard_multiple(struct guard *g, const struct sym *s, bool is_column)
{
    struct buf b;

    if (sym_is_multiple(g->p->f->g->syms, s, g->vector) ||
        (!is_column && follows_column(g->p, s)))
        return;
    buf_init(&b, g->p->arena);
    if (sym_is_name(s, &(const char *){NULL}))
        sym_print(&b, s);
    else {
        buf_putc(&b, '(');
        sym_print(&b, s);
        buf_putc(&b, ')');
    }
    buf_printf(&b, " %% %d == 0", g->vector);
    guard_part(g, buf_str(&b));
}

static void
guard_access(const struct facts *f, const struct access *a, void *data)
{
    struct guard *g = data;
    const char *name;
    int64_t align;
    int bytes = g->vector * (int)dtype_info[access_dtype(f, a)].bytes;

    bytes = MIN(bytes, VECTOR_BYTES);
    if (a->param >= 0) {
        name = f->g->params[a->param].name;
        align = f->g->params[a->param].align;
    } else {
        name = f->g->results[a->result].name;
        align = f->g->results[a->result].align;
    }
    if (align < bytes)
        guard_part(g, arena_printf(g->p->arena, "%s.align >= %d", name, bytes));
    guard_multiple(g, a->base, false);
    for (int i = 0; i < f->n_axes; i++)
        if (i != f->column && a->stride[i])
            guard_multiple(g, a->stride[i], false);
}

const char *
problem_guard(const struct problem *p, int vector, int64_t bound)
{
    struct guard g = {.p = p, .vector = vector};

    buf_init(&g.text, p->arena);
    if (bound != ANY_EXTENT && bound < p->n_max) {
        struct buf b;

        buf_init(&b, p->arena);
        sym_print(&b, p->n_sym);
        buf_printf(&b, " <= %" PRId64, bound);
        guard_part(&g, buf_str(&b));
    }
    if (vector > 1) {
        guard_multiple(&g, p->n_sym, true);
        each_vector_access(p->f, guard_access, &g);
    }
    return arena_strdup(p->arena, buf_str(&g.text));
}

const char *
guard_and(struct arena *a, const char *x, const char *y)
{
    struct guard g = {0};

    buf_init(&g.text, a);
    buf_puts(&g.text, x);
    while (*y) {
        const char *end = strstr(y, " && ");
        size_t n = end ? (size_t)(end - y) : strlen(y);

        guard_part(&g, arena_strndup(a, y, n));
        y += end ? n + 4 : n;
    }
    return buf_str(&g.text);
}

struct candidate *
candidate_add(const struct problem *p, candidate_vec *out, enum scheduler_id id,
              const char *summary)
{
    struct candidate *c = NEW(p->arena, struct candidate);

    c->summary = summary;
    c->plan.kernels = NEW(p->arena, struct kernel_plan);
    c->plan.n_kernels = 1;
    c->plan.guard = "";
    c->plan.kernels->scheduler = id;
    for (int i = 0; i < PK_COUNT; i++)
        c->plan.kernels->key[i] = plan_key_info[i].lo;
    VEC_PUSH(p->arena, out, c);
    return c;
}

void
candidate_keep(const struct problem *p, struct candidate *c, node_id n,
               enum store store, int reuse, const char *reason)
{
    struct kernel_plan *k = c->plan.kernels;
    struct buffer_plan *b = arena_grow(p->arena, k->buffers, k->n_buffers,
                                       k->n_buffers + 1, sizeof(*b));

    b[k->n_buffers] = (struct buffer_plan){.node = n, .reason = reason};
    b[k->n_buffers].key[BK_STORE] = store;
    b[k->n_buffers].key[BK_REUSE] = reuse;
    k->buffers = b;
    k->n_buffers++;
}
