/* SPDX-License-Identifier: Apache-2.0 */
/* Binding, shapes, threads and results of the interpreter. */
#include "support/base.h"

#include "ir/eval.h"

#include <pthread.h>
#include <stdlib.h>

#include "ir/eval_impl.h"
#include "support/buf.h"

/* Tiles nest as deep as the graph does. */
enum { STACK_BYTES = 1 << 29, MAX_THREADS = 64 };

struct eval *
eval_new(struct arena *a, const struct graph *g, unsigned threads)
{
    struct eval *e = NEW(a, struct eval);

    e->arena = a;
    e->g = g;
    e->threads = MAX(1, MIN(threads, (unsigned)MAX_THREADS));
    e->tensors = NEW_ARRAY(a, struct tensor, g->n_params);
    e->scalars = NEW_ARRAY(a, const void *, g->n_params);
    e->dim_values = NEW_ARRAY(a, int64_t, g->n_dims);
    e->shape = arena_array(a, g->n_nodes, sizeof(*e->shape));
    e->arrays = NEW_ARRAY(a, struct array *, g->n_nodes);
    e->needed = NEW_ARRAY(a, bool, g->n_nodes);
    return e;
}

void
eval_bind_tensor(struct eval *e, uint32_t param, const struct tensor *t)
{
    assert(param < e->g->n_params);
    assert(t->dtype == e->g->params[param].dtype);
    e->tensors[param] = *t;
}

void
eval_bind_scalar(struct eval *e, uint32_t param, const void *value)
{
    assert(param < e->g->n_params);
    e->scalars[param] = value;
}

/* --- Threads -------------------------------------------------------------- */

static void *
run_worker(void *data)
{
    struct job *job = data;
    struct worker w;
    int64_t unit;

    worker_init(&w, job->e);
    while ((unit = atomic_fetch_add(&job->next, 1)) < job->n)
        job->fn(&w, job->data, unit);
    worker_done(&w);
    return NULL;
}

void
eval_parallel(const struct eval *e, int64_t n,
              void (*fn)(struct worker *w, void *data, int64_t unit),
              void *data)
{
    struct job job = {.e = e, .fn = fn, .data = data, .n = n};
    pthread_t threads[MAX_THREADS];
    pthread_attr_t attr;
    unsigned want = (unsigned)MIN((int64_t)e->threads, n), started = 0;

    atomic_init(&job.next, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (started < want &&
           pthread_create(&threads[started], &attr, run_worker, &job) == 0)
        started++;
    if (started == 0)
        run_worker(&job);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attr);
}

/* --- Dimensions and shapes ------------------------------------------------ */

static bool
dim_lookup(void *data, const char *name, int64_t *ret)
{
    const struct eval *e = data;

    for (uint32_t i = 0; i < e->g->n_dims; i++)
        if (strcmp(e->g->dims[i].name, name) == 0) {
            *ret = e->dim_values[i];
            return true;
        }
    return false;
}

bool
eval_sym(const struct eval *e, const struct sym *s, int64_t *ret)
{
    return sym_eval(s, dim_lookup, (void *)(uintptr_t)e, ret);
}

static bool
read_dim(struct eval *e, const struct dim_symbol *d, int64_t *ret)
{
    const struct tensor *t;

    if (d->bound)
        return sym_is_int(d->bound, ret);
    if (d->is_arg) {
        if (!e->scalars[d->param])
            return false;
        *ret =
            num_load_int(e->g->params[d->param].dtype, e->scalars[d->param], 0);
        return true;
    }
    t = &e->tensors[d->param];
    if (d->dim >= t->rank)
        return false;
    *ret = d->from_stride ? t->strides[d->dim] : t->shape[d->dim];
    if (d->divisor > 1 && *ret % d->divisor != 0)
        return false;
    *ret /= MAX(d->divisor, 1);
    return true;
}

static bool
bound_all(const struct eval *e, struct buf *why)
{
    for (uint32_t p = 0; p < e->g->n_params; p++) {
        const struct param *q = &e->g->params[p];
        if (q->kind == PARAM_TENSOR && e->tensors[p].rank == q->rank &&
            (e->tensors[p].data || tensor_count(&e->tensors[p]) == 0))
            continue;
        if (q->kind != PARAM_TENSOR && (e->scalars[p] || q->bound))
            continue;
        buf_printf(why, "'%s' has no value", q->name);
        return false;
    }
    return true;
}

/* A scalar bound by -D or left to its default is one element in the arena. */
static void
default_scalars(struct eval *e)
{
    for (uint32_t p = 0; p < e->g->n_params; p++) {
        const struct param *q = &e->g->params[p];
        void *cell;
        if (q->kind == PARAM_TENSOR || (!q->bound && !q->has_default) ||
            (e->scalars[p] && !q->bound))
            continue;
        cell = arena_alloc(e->arena, sizeof(int64_t));
        if (dtype_is_float(q->dtype))
            num_store(q->dtype, cell, 0, q->value.f);
        else
            num_store_int(q->dtype, cell, 0, q->value.i);
        e->scalars[p] = cell;
    }
}

static bool
dims_known(struct eval *e, struct buf *why)
{
    for (uint32_t i = 0; i < e->g->n_dims; i++)
        if (!read_dim(e, &e->g->dims[i], &e->dim_values[i])) {
            buf_printf(why, "dimension '%s' cannot be read from the arguments",
                       e->g->dims[i].name);
            return false;
        }
    return true;
}

static bool
node_shape(struct eval *e, node_id id, struct buf *why)
{
    const struct node *n = graph_node(e->g, id);
    int64_t count = 1;

    for (int d = 0; d < n->rank; d++) {
        int64_t v;
        if (!eval_sym(e, n->dims[d], &v) || v < 0 ||
            (v > 0 && __builtin_mul_overflow(count, v, &count))) {
            buf_printf(why, "an extent of '%s' is negative or too large",
                       n->name ? n->name : op_info[n->op].name);
            return false;
        }
        e->shape[id][d] = v;
    }
    return true;
}

static bool
same_shape(const struct eval *e, node_id id, const struct tensor *t,
           struct buf *why)
{
    const struct node *n = graph_node(e->g, id);

    for (int d = 0; d < n->rank; d++)
        if (t->shape[d] != e->shape[id][d]) {
            buf_printf(why,
                       "'%s' has extent %" PRId64 " in dimension %d, not "
                       "%" PRId64,
                       e->g->params[n->param].name, t->shape[d], d,
                       e->shape[id][d]);
            return false;
        }
    return true;
}

/* A slice must lie inside; a reshape must keep the number of elements. */
static bool
view_fits(const struct eval *e, node_id id, struct buf *why)
{
    const struct node *n = graph_node(e->g, id);
    const int64_t *from = e->shape[n->args[0]], *to = e->shape[id];
    int64_t have = 1, want = 1;
    bool fits = true;

    if (n->op == OP_RESHAPE) {
        for (int d = 0; d < n->rank; d++)
            want *= to[d];
        for (int d = 0; d < graph_node(e->g, n->args[0])->rank; d++)
            have *= from[d];
        fits = have == want;
    }
    for (int d = 0; n->op == OP_SLICE && d < n->rank; d++) {
        int64_t start = 0;
        fits &= (!n->start[d] || eval_sym(e, n->start[d], &start)) &&
                start >= 0 &&
                (to[d] == 0 || start + (to[d] - 1) * n->step[d] < from[d]);
    }
    if (!fits)
        buf_printf(why, "a view of '%s' lies outside its operand",
                   n->name ? n->name : op_info[n->op].name);
    return fits;
}

static bool
shapes_known(struct eval *e, struct buf *why)
{
    for (node_id id = 0; id < e->g->n_nodes; id++) {
        const struct node *n = graph_node(e->g, id);
        if (!e->needed[id])
            continue;
        if (!node_shape(e, id, why))
            return false;
        if (n->op == OP_INPUT && !same_shape(e, id, &e->tensors[n->param], why))
            return false;
        if (op_info[n->op].class == OC_VIEW && !view_fits(e, id, why))
            return false;
    }
    return true;
}

static bool
has_reference(const struct node *n)
{
    enum op_class c = op_info[n->op].class;

    return c != OC_SCAN && c != OC_INDEX && c != OC_RANDOM;
}

static bool
mark_needed(struct eval *e, struct buf *why)
{
    for (uint32_t r = 0; r < e->g->n_results; r++)
        e->needed[e->g->results[r].node] = true;
    for (node_id id = e->g->n_nodes; id-- > 0;) {
        const struct node *n = graph_node(e->g, id);
        if (!e->needed[id])
            continue;
        if (!has_reference(n)) {
            buf_printf(why, "operation '%s' is not implemented yet",
                       op_info[n->op].name);
            return false;
        }
        for (uint32_t a = 0; a < n->n_args; a++)
            e->needed[n->args[a]] = true;
    }
    return true;
}

/* How many reductions stand one after another up to each node. */
static uint32_t *
reduction_levels(struct eval *e)
{
    uint32_t *level = NEW_ARRAY(e->arena, uint32_t, e->g->n_nodes);

    for (node_id id = 0; id < e->g->n_nodes; id++) {
        const struct node *n = graph_node(e->g, id);
        for (uint32_t a = 0; a < n->n_args; a++)
            level[id] = MAX(level[id], level[n->args[a]]);
        level[id] += op_info[n->op].class == OC_REDUCE;
    }
    return level;
}

struct waiting {
    uint32_t level;
    node_id id;
};

static int
by_level(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;

    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static struct waiting *
waiting_reductions(struct eval *e, uint32_t *ret_n)
{
    const uint32_t *level = reduction_levels(e);
    struct waiting *r = NEW_ARRAY(e->arena, struct waiting, e->g->n_nodes);

    *ret_n = 0;
    for (node_id id = 0; id < e->g->n_nodes; id++)
        if (e->needed[id] &&
            op_info[graph_node(e->g, id)->op].class == OC_REDUCE)
            r[(*ret_n)++] = (struct waiting){level[id], id};
    if (*ret_n)
        qsort(r, *ret_n, sizeof(*r), by_level);
    return r;
}

/* Level by level, each reduction with those near it that can share its pass. */
static void
run_reductions(struct eval *e)
{
    enum { NEAR = 64 };
    uint32_t n;
    const struct waiting *w = waiting_reductions(e, &n);

    for (uint32_t i = 0; i < n; i++) {
        node_id group[EVAL_GROUP];
        uint32_t members = 0;
        if (e->arrays[w[i].id])
            continue;
        for (uint32_t k = i; k < MIN(n, i + NEAR) && members < EVAL_GROUP; k++)
            if (w[k].level == w[i].level && !e->arrays[w[k].id] &&
                eval_reduce_together(e, w[i].id, w[k].id))
                group[members++] = w[k].id;
        eval_reduce(e, group, members);
    }
}

bool
eval_run(struct eval *e, struct buf *why)
{
    default_scalars(e);
    if (!bound_all(e, why) || !dims_known(e, why) || !mark_needed(e, why) ||
        !shapes_known(e, why))
        return false;
    run_reductions(e);
    return true;
}

/* --- Results -------------------------------------------------------------- */

struct job_result {
    struct eval *e;
    const struct result *result;
    const int64_t *shape;
    struct eval_values *v;
    int64_t batch; /* rows of a unit */
    double *f;
    long double *l;
    int64_t *i;
    double *err;
};

static void
copy_tile(struct job_result *j, const struct tile *t, int n, int64_t at)
{
    for (int k = 0; k < n; k++) {
        int from = k * t->step;
        if (t->rep == REP_F)
            j->f[at + k] = t->f[from];
        else if (t->rep == REP_L)
            j->l[at + k] = t->l[from];
        else
            j->i[at + k] = t->i[from];
        j->err[at + k] = t->err ? t->err[from] : 0;
    }
}

static void
result_range(struct job_result *j, struct worker *w, int64_t first, int n,
             int64_t at)
{
    const struct node *node = graph_node(j->e->g, j->result->node);
    bool over[MAX_RANK];
    struct coords c = {.rank = node->rank};
    const struct tile *t;

    memset(over, 1, sizeof(over));
    worker_reset(w);
    coords_range(w, &c, j->shape, over, first, n);
    t = tile_eval(w, j->result->node, coords_intern(w, &c));
    /* Also when the types agree: an f32 value is rounded to f32 here. */
    t = tile_convert(w, t, node->dtype, j->result->dtype, n);
    copy_tile(j, t, n, at);
}

static void
result_unit(struct worker *w, void *data, int64_t unit)
{
    struct job_result *j = data;
    int64_t first = unit * j->batch, len = j->v->row_len;
    int64_t end = MIN(first + j->batch, j->v->n_rows);
    bool over[MAX_RANK];

    memset(over, 1, sizeof(over));
    for (int64_t at = first * len; at < end * len;) {
        int64_t row = at / len, src = j->v->rows ? j->v->rows[row] : row;
        int64_t stop = j->v->rows ? (row + 1) * len : end * len;
        int64_t from = src * len + at % len;
        int n = coords_chunk(j->shape, j->result->rank, over, from,
                             from + (stop - at));
        result_range(j, w, from, n, at);
        at += n;
    }
}

void
eval_result_shape(const struct eval *e, uint32_t result,
                  int64_t ret_shape[MAX_RANK])
{
    const struct result *r = &e->g->results[result];

    for (int d = 0; d < r->rank; d++)
        ret_shape[d] = e->shape[r->node][d];
}

static void
allocate_values(struct job_result *j, int64_t n)
{
    struct arena *a = j->e->arena;
    enum rep rep = num_rep(j->v->dtype);

    if (rep == REP_F)
        j->v->f = j->f = NEW_ARRAY(a, double, n);
    else if (rep == REP_L)
        j->v->l = j->l = NEW_ARRAY(a, long double, n);
    else
        j->v->i = j->i = NEW_ARRAY(a, int64_t, n);
    j->v->err = j->err = NEW_ARRAY(a, double, n);
}

struct eval_values
eval_result(struct eval *e, uint32_t result, const int64_t *rows,
            int64_t n_rows)
{
    const struct result *r = &e->g->results[result];
    struct eval_values v = {.dtype = r->dtype, .rows = rows};
    struct job_result j = {.e = e, .result = r, .v = &v};
    int64_t count = 1;

    j.shape = e->shape[r->node];
    for (int d = 0; d < r->rank; d++)
        count *= j.shape[d];
    v.row_len = r->rank > 0 ? j.shape[r->rank - 1] : 1;
    v.n_rows = rows ? n_rows : v.row_len ? count / v.row_len : 0;
    allocate_values(&j, v.n_rows * v.row_len);
    if (v.n_rows * v.row_len > 0) {
        j.batch = MAX(1, 16384 / v.row_len);
        eval_parallel(e, (v.n_rows + j.batch - 1) / j.batch, result_unit, &j);
    }
    return v;
}
