/* SPDX-License-Identifier: Apache-2.0 */
/* Three runs: two on the same inputs, which must give the same bits, judged
 * against the reference; and one on small integers, for which f32 is exact in
 * sums, where every element without a bound must be equal. */
#include "support/base.h"

#include "ir/check.h"

#include "tools/run/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/npy.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"

struct checker {
    struct session *s;
    struct machine *m;
    struct placed placed;
    struct arena *arena; /* of one comparison */
    char text[512];
    struct message msg;
    int variant;
    bool wrong;
    bool quiet; /* say what is wrong, not what is right */
};

static int32_t
param_of(const struct session *s, const char *name)
{
    for (uint32_t p = 0; p < s->f->n_params; p++)
        if (strcmp(s->f->params[p].pub.name, name) == 0)
            return (int32_t)p;
    return -1;
}

/* Shapes by the program and by the manifest, which may be of another one. */
static bool
same_shapes(const struct session *s, const struct eval *e, struct buf *why)
{
    for (uint32_t r = 0; r < s->g->n_results; r++) {
        const char *name = s->g->results[r].name;
        const struct tensor *t = &s->tensors[param_of(s, name)];
        int64_t shape[MAX_RANK];

        eval_result_shape(e, r, shape);
        for (int d = 0; d < t->rank; d++) {
            if (shape[d] == t->shape[d])
                continue;
            buf_printf(why,
                       "the program inside the manifest gives '%s' another "
                       "shape",
                       name);
            return false;
        }
    }
    return true;
}

struct eval *
reference_run(struct session *s, struct arena *a, struct buf *why)
{
    struct eval *e;

    if (!s->g) {
        buf_puts(why, "the manifest has no program (--no-embed-program): "
                      "there is nothing to compare with");
        return NULL;
    }
    e = eval_new(a, s->g, s->o->threads);
    for (uint32_t i = 0; i < s->g->n_params; i++) {
        int32_t p = param_of(s, s->g->params[i].name);
        if (p < 0)
            continue; /* bound by -D */
        if (s->g->params[i].kind == PARAM_TENSOR)
            eval_bind_tensor(e, i, &s->tensors[p]);
        else
            eval_bind_scalar(e, i, s->tensors[p].data);
    }
    return eval_run(e, why) && same_shapes(s, e, why) ? e : NULL;
}

static void
store_values(const struct eval_values *v, const struct tensor *t)
{
    for (int64_t i = 0; i < v->n_rows * v->row_len; i++) {
        int64_t at = tensor_offset(t, i);
        if (v->f)
            num_store(t->dtype, t->data, at, v->f[i]);
        else if (v->l)
            num_store_long(t->dtype, t->data, at, v->l[i]);
        else
            num_store_int(t->dtype, t->data, at, v->i[i]);
    }
}

int
reference_store(struct session *s, struct buf *why)
{
    struct eval *e = reference_run(s, s->arena, why);

    if (!e)
        return EXIT_INPUT;
    for (uint32_t r = 0; r < s->g->n_results; r++) {
        struct eval_values v = eval_result(e, r, NULL, 0);
        store_values(&v, &s->tensors[param_of(s, s->g->results[r].name)]);
    }
    return EXIT_OK;
}

static int
failed(const char *text)
{
    fprintf(stderr, "fusec-run: %s\n", text);
    return EXIT_INPUT;
}

/* --- One comparison ------------------------------------------------------- */

static void
print_report(struct checker *c, uint32_t p, const struct check_report *r,
             const struct eval_values *v, bool integers)
{
    bool ok = check_passed(r);

    if (ok && c->quiet)
        return;
    printf("  %s  %s  max error %.3g (%.2f of the bound)  rel L2 %.3g",
           describe(c->s, p), ok ? "ok" : "WRONG", r->max_error, r->max_units,
           r->rel_l2);
    if (r->undecided)
        printf("  undecided %" PRId64, r->undecided);
    if (integers)
        printf("  exact %" PRId64 " of %" PRId64, r->exact, r->count);
    if (v->rows)
        printf("  (%" PRId64 " rows)", v->n_rows);
    printf("\n");
    if (r->wrong)
        printf("    %" PRId64 " of %" PRId64
               " wrong; the worst is element %" PRId64
               ": %.9g, not %.9g (+- %.3g)\n",
               r->wrong, r->count, r->worst, r->got, r->want, r->bound);
    else if (!ok)
        printf("    too many undecided elements: this shows nothing\n");
}

static const struct tensor *
result_tensor(const struct session *s, uint32_t result)
{
    return &s->tensors[param_of(s, s->g->results[result].name)];
}

static void
judge(struct checker *c, const struct eval_values *v, uint32_t result,
      bool integers)
{
    const struct tensor *t = result_tensor(c->s, result);
    struct check_report r = check_output(v, t, integers);

    /* Integers may meet in comparisons by design; what is exact counts. */
    if (integers && r.wrong == 0 && r.undecided > 0)
        r.undecided = 0;
    c->wrong |= !check_passed(&r);
    print_report(c, (uint32_t)(t - c->s->tensors), &r, v, integers);
}

static int
compare(struct checker *c, bool integers)
{
    struct buf why;
    struct eval *e;

    c->arena = arena_new();
    buf_init(&why, c->arena);
    e = reference_run(c->s, c->arena, &why);
    if (!e) {
        failed(buf_str(&why));
        arena_free(c->arena);
        return EXIT_INPUT;
    }
    for (uint32_t r = 0; r < c->s->g->n_results; r++) {
        const struct tensor *t = result_tensor(c->s, r);
        int64_t n = 0;
        const int64_t *rows =
            check_rows(c->arena, t->rank, t->shape, c->s->o->seed, &n);
        struct eval_values v = eval_result(e, r, rows, n);

        judge(c, &v, r, integers);
    }
    arena_free(c->arena);
    return EXIT_OK;
}

/* --- Runs ----------------------------------------------------------------- */

static int
run_once(struct checker *c)
{
    const char *gap;
    int status;

    session_poison_outputs(c->s);
    status = placed_run(&c->placed, c->s, &c->variant, &c->msg);
    if (status) {
        failed(c->text);
        return run_exit_status(status);
    }
    gap = session_gap_written(c->s);
    if (gap) {
        printf("  %s: memory between its elements was written\n", gap);
        c->wrong = true;
    }
    return EXIT_OK;
}

/* The outputs' bytes, one after the other. */
static char *
copy_outputs(const struct session *s, struct arena *a)
{
    size_t n = 0;
    char *r, *at;

    for (uint32_t p = 0; p < s->f->n_params; p++)
        n += session_is_output(s, p) ? s->bytes[p] : 0;
    at = r = arena_alloc(a, n + 1);
    for (uint32_t p = 0; p < s->f->n_params; p++)
        if (session_is_output(s, p)) {
            memcpy(at, s->tensors[p].data, s->bytes[p]);
            at += s->bytes[p];
        }
    return r;
}

/* Gaps between elements are not part of the value. */
static bool
same_bits(const struct tensor *t, const char *before, size_t bytes)
{
    int64_t count = tensor_count(t);
    size_t each = dtype_info[t->dtype].bytes;

    if ((size_t)count * each == bytes)
        return memcmp(before, t->data, bytes) == 0;
    for (int64_t i = 0; i < count; i++) {
        size_t at = (size_t)tensor_offset(t, i) * each;
        if (memcmp(before + at, (const char *)t->data + at, each) != 0)
            return false;
    }
    return true;
}

static void
compare_bits(struct checker *c, const char *before, const char *what)
{
    const struct session *s = c->s;

    for (uint32_t p = 0; p < s->f->n_params; p++) {
        if (!session_is_output(s, p))
            continue;
        if (!same_bits(&s->tensors[p], before, s->bytes[p])) {
            printf("  %s: %s\n", s->f->params[p].pub.name, what);
            c->wrong = true;
        }
        before += s->bytes[p];
    }
}

/* The values are those of a launch with separate buffers. */
static int
run_in_place(struct checker *c, const char *before)
{
    struct placed again;
    bool any = false;
    int status;

    for (uint32_t p = 0; p < c->s->f->n_params; p++)
        any |= c->s->f->params[p].inplace >= 0;
    if (!any)
        return EXIT_OK;
    if (placed_open(&again, c->s, c->m, &c->msg))
        return failed(c->text);
    placed_alias(&again, c->s);
    session_poison_outputs(c->s);
    status = placed_run(&again, c->s, &c->variant, &c->msg);
    if (status) {
        failed(c->text);
        return run_exit_status(status);
    }
    compare_bits(c, before, "differs when it is in place");
    return EXIT_OK;
}

static int
run_twice(struct checker *c)
{
    struct arena *a = arena_new();
    char *before;
    int status = run_once(c);

    if (!status) {
        before = copy_outputs(c->s, a);
        if (c->s->o->emulate)
            machine_cpu_reverse(c->m, true);
        status = run_once(c);
        if (c->s->o->emulate)
            machine_cpu_reverse(c->m, false);
        if (!status)
            compare_bits(c, before, "two runs differ");
        if (!status)
            status = run_in_place(c, before);
    }
    arena_free(a);
    return status;
}

static bool
has_reduction(const struct graph *g)
{
    assert(g);
    for (node_id i = 0; i < g->n_nodes; i++)
        if (op_info[graph_node(g, i)->op].class == OC_REDUCE)
            return true;
    return false;
}

static void
print_head(const struct checker *c)
{
    const struct session *s = c->s;

    printf("%s", s->f->name);
    for (uint32_t i = 0; i < s->f->n_dims; i++)
        printf("%s%s=%" PRId64, i ? "," : "  ", s->f->dims[i].name,
               s->match.dims[i]);
    printf("  variant %d  %s\n", c->variant, c->m->name);
}

/* Does the number of SMs decide how many blocks the variant has? */
static bool
depends_on_sms(const struct m_variant *v)
{
    for (uint32_t k = 0; k < v->n_launches; k++)
        for (int i = 0; i < 3; i++) {
            const struct expr *e = &v->launches[k].grid[i];
            for (uint32_t j = 0; j < e->n; j++)
                if (e->steps[j].var.kind == EV_SMS)
                    return true;
        }
    return false;
}

/* Another device: another grid where it counts the SMs. */
static int
run_other_sms(struct checker *c)
{
    int status;

    if (!c->s->o->emulate || c->s->o->sms || c->variant < 0 ||
        !depends_on_sms(&c->s->f->variants[c->variant]))
        return EXIT_OK;
    c->m->backend.sms = 5;
    if ((status = placed_open(&c->placed, c->s, c->m, &c->msg))) {
        failed(c->text);
        return run_exit_status(status);
    }
    printf(" 5 SMs:\n");
    if ((status = run_once(c)))
        return status;
    return c->s->o->check ? compare(c, false) : EXIT_OK;
}

int
check_run(struct session *s, struct machine *m)
{
    struct checker *c = NEW(s->arena, struct checker);
    int status;

    c->s = s;
    c->m = m;
    c->msg = (struct message){c->text, sizeof(c->text)};
    if ((status = placed_open(&c->placed, s, m, &c->msg))) {
        failed(c->text);
        return run_exit_status(status);
    }
    if ((status = s->g ? run_twice(c) : run_once(c)))
        return status;
    print_head(c);
    if (s->o->check && (status = compare(c, false)))
        return status;
    if (s->o->check && has_reduction(s->g)) {
        session_fill(s, true);
        printf(" integers:\n");
        if ((status = run_once(c)) || (status = compare(c, true)))
            return status;
        session_fill(s, false);
        if (s->o->save_dir && (status = run_once(c)))
            return status;
    }
    if ((status = run_other_sms(c)))
        return status;
    if (s->o->emulate && !c->wrong)
        machine_cpu_print(m);
    m->release(m);
    return c->wrong ? EXIT_INPUT : EXIT_OK;
}

/* --- Several plans -------------------------------------------------------- */

/* Rows of a result that every plan is judged by: all of a small one, else some
 * at equal distances, and the last. */
static const int64_t *
few_rows(struct arena *a, const struct tensor *t, int64_t *ret_n)
{
    enum { FEW_ELEMENTS = 1 << 19, LEAST_ROWS = 8 };
    int64_t count = tensor_count(t), rows, n, *r;

    if (t->rank < 2 || count <= FEW_ELEMENTS)
        return NULL;
    rows = count / t->shape[t->rank - 1];
    n = MAX(LEAST_ROWS, FEW_ELEMENTS / t->shape[t->rank - 1]);
    if (n >= rows)
        return NULL;
    r = NEW_ARRAY(a, int64_t, n);
    for (int64_t i = 0; i < n; i++)
        r[i] = i * rows / n;
    r[n - 1] = rows - 1;
    *ret_n = n;
    return r;
}

static struct eval_values *
reference_values(struct session *s, struct arena *a)
{
    struct eval_values *v;
    struct eval *e;
    struct buf why;

    buf_init(&why, a);
    e = reference_run(s, a, &why);
    if (!e) {
        failed(buf_str(&why));
        return NULL;
    }
    v = NEW_ARRAY(a, struct eval_values, s->g->n_results + 1);
    for (uint32_t r = 0; r < s->g->n_results; r++) {
        int64_t n = 0;
        const int64_t *rows = few_rows(a, result_tensor(s, r), &n);

        v[r] = eval_result(e, r, rows, n);
    }
    return v;
}

static int
check_plan(struct session *s, struct machine *m, const struct eval_values *v,
           bool integers, bool *wrong)
{
    struct checker c = {.s = s, .m = m, .quiet = true};
    int status;

    c.msg = (struct message){c.text, sizeof(c.text)};
    if ((status = placed_open(&c.placed, s, m, &c.msg))) {
        failed(c.text);
        status = run_exit_status(status);
    } else {
        status = integers ? run_once(&c) : run_twice(&c);
    }
    if (status) {
        printf("plan %s  failed: %s\n", s->o->manifest, c.text);
        return status;
    }
    for (uint32_t r = 0; r < s->g->n_results; r++)
        judge(&c, &v[r], r, integers);
    m->release(m);
    *wrong |= c.wrong;
    return EXIT_OK;
}

int
check_plans(struct session *const *s, struct machine *const *m, uint32_t n,
            bool *ret_wrong)
{
    int status = EXIT_OK;

    for (int integers = 0; integers <= has_reduction(s[0]->g); integers++) {
        struct arena *a = arena_new();
        struct eval_values *v;

        session_fill(s[0], integers);
        v = reference_values(s[0], a);
        if (!v)
            status = EXIT_INPUT;
        for (uint32_t i = 0; i < n && !status; i++)
            status = check_plan(s[i], m[i], v, integers, &ret_wrong[i]);
        arena_free(a);
        if (status)
            return status;
    }
    session_fill(s[0], false);
    for (uint32_t i = 0; i < n; i++)
        printf("plan %s  %s\n", s[i]->o->manifest,
               ret_wrong[i] ? "WRONG" : "ok");
    return EXIT_OK;
}

int
save_outputs(const struct session *s, struct buf *why)
{
    for (uint32_t p = 0; p < s->f->n_params; p++) {
        struct io_output out = {0};
        struct buf b;
        if (!session_is_output(s, p))
            continue;
        buf_init(&b, s->arena);
        npy_write(&b, &s->tensors[p]);
        out.path = arena_printf(s->arena, "%s/%s.npy", s->o->save_dir,
                                s->f->params[p].pub.name);
        out.data = b.data;
        out.len = b.len;
        if (io_write_all(s->arena, &out, 1, false) >= 0) {
            buf_printf(why, "cannot write '%s'", out.path);
            return EXIT_ENVIRONMENT;
        }
    }
    return EXIT_OK;
}
