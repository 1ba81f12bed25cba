/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes come from --shape and from the arrays given; what is left open is an
 * error that names it. */
#include "support/base.h"

#include "tools/run/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "front/front.h"
#include "ir/npy.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "tools/launch/module.h"

/* Every bit set is NaN in every float type, -1 in integers. */
enum { POISON = 0xff, BOOL_POISON = 0xab };

static int wrong(struct buf *why, const char *fmt, ...) ATTR_PRINTF(2, 3);

static int
wrong(struct buf *why, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(why, fmt, ap);
    va_end(ap);
    return EXIT_INPUT;
}

bool
session_is_output(const struct session *s, uint32_t param)
{
    return s->f->params[param].pub.role == FUSEC_OUTPUT;
}

static bool
is_tensor(const struct session *s, uint32_t param)
{
    return s->f->params[param].pub.role <= FUSEC_OUTPUT;
}

/* --- The fusion and its graph --------------------------------------------- */

static int
choose_fusion(struct session *s, struct buf *why)
{
    const struct manifest *m = s->manifest;

    if (!s->o->fusion && m->n_fusions == 1) {
        s->f = &m->fusions[0];
        return EXIT_OK;
    }
    for (uint32_t i = 0; s->o->fusion && i < m->n_fusions; i++)
        if (strcmp(m->fusions[i].name, s->o->fusion) == 0) {
            s->f = &m->fusions[i];
            return EXIT_OK;
        }
    if (s->o->fusion)
        wrong(why, "no fusion '%s'; there are", s->o->fusion);
    else
        buf_puts(why, "choose one with --fusion:");
    for (uint32_t i = 0; i < m->n_fusions; i++)
        buf_printf(why, " %s", m->fusions[i].name);
    return EXIT_INPUT;
}

/* The parameter of the manifest that a name of the program stands for. */
static const struct fusec_param *
find_param(const struct session *s, const char *name)
{
    for (uint32_t p = 0; p < s->f->n_params; p++)
        if (strcmp(s->f->params[p].pub.name, name) == 0)
            return &s->f->params[p].pub;
    return NULL;
}

static bool
same_tensor(const struct fusec_param *q, enum fusec_role role, enum dtype t,
            int rank)
{
    return q && q->role == role && q->dtype == (int)t && q->ndim == rank;
}

static bool
same_input(const struct fusec_param *q, const struct param *p)
{
    if (p->kind == PARAM_TENSOR)
        return same_tensor(q, FUSEC_INPUT, p->dtype, p->rank);
    if (!q)
        return p->bound;
    return (q->role == FUSEC_SCALAR || q->role == FUSEC_DIM) &&
           q->dtype == (int)p->dtype;
}

/* The program may be another one's: what the interpreter reads and writes must
 * be what the manifest says. */
static int
same_interface(const struct session *s, struct buf *why)
{
    const char *other = NULL;

    for (uint32_t i = 0; i < s->g->n_params; i++) {
        const struct param *p = &s->g->params[i];
        if (!same_input(find_param(s, p->name), p))
            other = p->name;
    }
    for (uint32_t i = 0; i < s->g->n_results; i++) {
        const struct result *r = &s->g->results[i];
        if (!same_tensor(find_param(s, r->name), FUSEC_OUTPUT, r->dtype,
                         r->rank))
            other = r->name;
    }
    return other ? wrong(why,
                         "the program inside the manifest has another "
                         "'%s'",
                         other)
                 : EXIT_OK;
}

static int
load_graph(struct session *s, struct buf *why)
{
    struct diag *d = diag_new(s->arena);
    struct front_options opt = {0};
    struct diag_style style = {.tool = "fusec-run"};
    struct module *m;

    if (!s->manifest->program)
        return EXIT_OK;
    m = front_load_text(s->arena, d, "program", s->manifest->program,
                        strlen(s->manifest->program), &opt);
    if (!m) {
        diag_flush(d, stderr, &style);
        return wrong(why, "the program inside the manifest is not valid");
    }
    for (uint32_t i = 0; i < m->n_graphs; i++)
        if (strcmp(m->graphs[i]->name, s->f->name) == 0)
            s->g = m->graphs[i];
    if (!s->g)
        return wrong(why, "the program inside the manifest has no '%s'",
                     s->f->name);
    return same_interface(s, why);
}

/* --- Sizes ---------------------------------------------------------------- */

static struct assignment *
find(struct assignment *list, uint32_t n, const char *name)
{
    struct assignment *r = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            r = &list[i];
    return r;
}

static bool
is_file(const char *value)
{
    size_t n = strlen(value);

    return n > 4 && strcmp(value + n - 4, ".npy") == 0;
}

/* The file of an input, or NULL when it is generated. */
static int
open_file(struct session *s, uint32_t p, struct npy *ret, bool *ret_given,
          struct buf *why)
{
    struct assignment *a =
        find(s->o->inputs, s->o->n_inputs, s->f->params[p].pub.name);
    const char *reason;
    size_t len;
    char *text;

    *ret_given = a && is_file(a->value);
    if (!*ret_given)
        return EXIT_OK;
    text = module_read_file(a->value, &len);
    if (!text) {
        wrong(why, "cannot read '%s': %s", a->value, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    if (!npy_parse(text, len, ret, &reason))
        return wrong(why, "'%s': %s", a->value, reason);
    if (ret->rank != s->f->params[p].pub.ndim)
        return wrong(why, "'%s' has rank %d; '%s' has %d", a->value, ret->rank,
                     a->name, s->f->params[p].pub.ndim);
    return EXIT_OK;
}

/* A dimension that the extents of a file give. */
static bool
dim_from_file(const struct m_dim *d, uint32_t param, const struct npy *file,
              int64_t *ret)
{
    if (d->read != READ_SHAPE || d->param != param ||
        file->shape[d->index] % d->divisor != 0)
        return false;
    *ret = file->shape[d->index] / d->divisor;
    return true;
}

static int
assigned_dims(struct session *s, bool *known, struct buf *why)
{
    for (uint32_t i = 0; i < s->f->n_dims; i++) {
        const struct m_dim *d = &s->f->dims[i];
        struct assignment *a = find(s->o->shapes, s->o->n_shapes, d->name);
        char *end = NULL;
        known[i] = d->has_bound;
        s->match.dims[i] = d->bound;
        if (!a)
            continue;
        a->used = known[i] = true;
        errno = 0;
        s->match.dims[i] = strtoll(a->value, &end, 10);
        if (*end || errno || s->match.dims[i] < 0)
            return wrong(why, "--shape %s=%s is no extent", a->name, a->value);
        if (d->has_bound && s->match.dims[i] != d->bound)
            return wrong(why, "'%s' was bound to %" PRId64 " by -D", d->name,
                         d->bound);
    }
    for (uint32_t i = 0; i < s->o->n_shapes; i++)
        if (!s->o->shapes[i].used)
            return wrong(why, "'%s' has no dimension '%s'", s->f->name,
                         s->o->shapes[i].name);
    return EXIT_OK;
}

static int
fix_dims(struct session *s, const struct npy *files, const bool *given,
         struct buf *why)
{
    bool *known = NEW_ARRAY(s->arena, bool, s->f->n_dims);
    int status = assigned_dims(s, known, why);

    for (uint32_t i = 0; i < s->f->n_dims && !status; i++) {
        for (uint32_t p = 0; p < s->f->n_params && !known[i]; p++)
            known[i] = given[p] && dim_from_file(&s->f->dims[i], p, &files[p],
                                                 &s->match.dims[i]);
        if (!known[i])
            status = wrong(why, "dimension '%s' is open: give --shape %s=...",
                           s->f->dims[i].name, s->f->dims[i].name);
    }
    return status;
}

static int
fix_shape(struct session *s, uint32_t p, struct buf *why)
{
    const struct m_param *q = &s->f->params[p];
    struct tensor *t = &s->tensors[p];
    int64_t extent;

    t->dtype = (enum dtype)q->pub.dtype;
    t->rank = q->pub.ndim;
    for (int d = 0; d < t->rank; d++)
        if (!match_eval(&s->match, &q->shape[d], &t->shape[d]) ||
            !match_eval(&s->match, &q->strides[d], &t->strides[d]))
            return wrong(why, "the shape of '%s' overflows", q->pub.name);
    if (!tensor_extent(t, &extent))
        return wrong(why, "the shape of '%s' is negative or too large",
                     q->pub.name);
    s->bytes[p] = (size_t)extent * match_dtype_bytes(q->pub.dtype);
    t->data = arena_alloc(s->arena, s->bytes[p] + 16);
    s->args[p] = (struct fusec_tensor){.data = t->data,
                                       .dtype = q->pub.dtype,
                                       .ndim = t->rank,
                                       .shape = t->shape,
                                       .strides = t->strides};
    return EXIT_OK;
}

/* Sizes that the file's guards forbid: the launcher would read others from the
 * tensors, whose shapes the guards have simplified. */
static int
check_guards(struct session *s, struct buf *why)
{
    for (uint32_t i = 0; i < s->f->n_guards; i++) {
        int64_t truth;

        if (!match_eval(&s->match, &s->f->guards[i], &truth) || !truth)
            return wrong(why, "'%s' needs %s", s->f->name,
                         s->f->guards[i].text);
    }
    return EXIT_OK;
}

/* --- Contents ------------------------------------------------------------- */

static bool
scalar_parse(enum dtype t, const char *text, void *cell)
{
    char *end;

    errno = 0;
    if (dtype_is_float(t)) {
        num_store(t, cell, 0, strtod(text, &end));
    } else if (t == DT_BOOL) {
        bool truth = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        num_store_int(t, cell, 0, truth);
        return truth || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    } else {
        int64_t v = strtoll(text, &end, 0);
        if (v < num_int_min(t) || v > num_int_max(t))
            return false;
        num_store_int(t, cell, 0, v);
    }
    return end != text && *end == '\0' && errno == 0;
}

/* A scalar's value: given, or its default, or a dimension that it passes. */
static int
fix_scalar(struct session *s, uint32_t p, struct buf *why)
{
    const struct m_param *q = &s->f->params[p];
    struct assignment *a = find(s->o->inputs, s->o->n_inputs, q->pub.name);
    struct tensor *t = &s->tensors[p];

    if (a && !scalar_parse(t->dtype, a->value, t->data))
        return wrong(why, "'%s' is no %s for '%s'", a->value,
                     dtype_info[t->dtype].name, a->name);
    if (a)
        return EXIT_OK;
    for (uint32_t i = 0; i < s->f->n_dims; i++)
        if (s->f->dims[i].read == READ_ARG && s->f->dims[i].param == p) {
            num_store_int(t->dtype, t->data, 0, s->match.dims[i]);
            return EXIT_OK;
        }
    if (!q->has_default)
        return wrong(why, "scalar '%s' has no default: give --input %s=...",
                     q->pub.name, q->pub.name);
    memcpy(t->data, q->value, match_dtype_bytes(q->pub.dtype));
    return EXIT_OK;
}

static int
fill_given(struct session *s, uint32_t p, const struct npy *file, bool given,
           struct buf *why)
{
    const char *name = s->f->params[p].pub.name, *reason;
    struct assignment *a = find(s->o->inputs, s->o->n_inputs, name);
    struct input_spec spec;

    if (!is_tensor(s, p))
        return fix_scalar(s, p, why);
    if (given && !npy_store(file, &s->tensors[p], &reason))
        return wrong(why, "'%s': %s", a->value, reason);
    if (a && !given && !input_spec_parse(a->value, &spec))
        return wrong(why, "'%s' is neither FILE.npy nor a generator", a->value);
    return EXIT_OK;
}

/* Fills the first elements and repeats them, where all of it would take long;
 * their number is odd, so that no two rows are the same for long. */
static void
fill_repeated(const struct input_spec *spec, struct tensor *t, uint64_t seed,
              const char *name, unsigned threads)
{
    enum { PART = (1 << 22) - 3 };
    size_t each = dtype_info[t->dtype].bytes, part = PART * each, all;
    struct tensor first = {.data = t->data,
                           .dtype = t->dtype,
                           .rank = 1,
                           .shape = {PART},
                           .strides = {1}};
    int64_t extent;

    if (!tensor_extent(t, &extent) || extent != tensor_count(t) ||
        extent <= PART) {
        input_fill(spec, t, seed, input_stream(name), threads);
        return;
    }
    input_fill(spec, &first, seed, input_stream(name), threads);
    all = (size_t)extent * each;
    for (size_t at = part; at < all; at += part)
        memcpy((char *)t->data + at, t->data, MIN(part, all - at));
}

void
session_fill(struct session *s, bool integers)
{
    struct input_spec whole = {INPUT_INTS, -2, 2};

    for (uint32_t p = 0; p < s->f->n_params; p++) {
        const struct fusec_param *q = &s->f->params[p].pub;
        struct assignment *a = find(s->o->inputs, s->o->n_inputs, q->name);
        struct input_spec spec = input_spec_default((enum dtype)q->dtype);
        if (q->role != FUSEC_INPUT || (a && is_file(a->value)))
            continue;
        if (a)
            input_spec_parse(a->value, &spec);
        if (integers && dtype_is_float((enum dtype)q->dtype))
            spec = whole;
        if (s->o->repeat_inputs)
            fill_repeated(&spec, &s->tensors[p], s->o->seed, q->name,
                          s->o->threads);
        else
            input_fill(&spec, &s->tensors[p], s->o->seed + integers,
                       input_stream(q->name), s->o->threads);
    }
}

static int
known_names(const struct session *s, struct buf *why)
{
    for (uint32_t i = 0; i < s->o->n_inputs; i++) {
        bool found = false;
        for (uint32_t p = 0; p < s->f->n_params; p++)
            found |=
                !session_is_output(s, p) &&
                strcmp(s->f->params[p].pub.name, s->o->inputs[i].name) == 0;
        if (!found)
            return wrong(why, "'%s' has no input '%s'", s->f->name,
                         s->o->inputs[i].name);
    }
    return EXIT_OK;
}

int
session_open(struct session *s, struct buf *why)
{
    struct npy *files;
    bool *given;
    int status;
    uint32_t n;

    if ((status = choose_fusion(s, why)) || (status = load_graph(s, why)) ||
        (status = known_names(s, why)))
        return status;
    n = s->f->n_params;
    files = NEW_ARRAY(s->arena, struct npy, n);
    given = NEW_ARRAY(s->arena, bool, n);
    s->tensors = NEW_ARRAY(s->arena, struct tensor, n);
    s->args = NEW_ARRAY(s->arena, struct fusec_tensor, n);
    s->bytes = NEW_ARRAY(s->arena, size_t, n);
    s->match.f = s->f;
    s->match.args = s->args;
    s->match.sms = 1;
    for (uint32_t p = 0; p < n && !status; p++)
        status = open_file(s, p, &files[p], &given[p], why);
    if (!status)
        status = fix_dims(s, files, given, why);
    for (uint32_t p = 0; p < n && !status; p++)
        status = fix_shape(s, p, why);
    if (!status)
        status = check_guards(s, why);
    for (uint32_t p = 0; p < n && !status; p++)
        status = fill_given(s, p, &files[p], given[p], why);
    if (!status)
        session_fill(s, false);
    return status;
}

static bool
same_program(const struct session *s, const struct session *t)
{
    const struct fusec_fusion *f = s->f, *g = t->f;

    if (!s->manifest->program || !t->manifest->program ||
        strcmp(s->manifest->program, t->manifest->program) != 0 ||
        f->n_params != g->n_params || f->n_dims != g->n_dims)
        return false;
    for (uint32_t i = 0; i < f->n_dims; i++)
        if (strcmp(f->dims[i].name, g->dims[i].name) != 0)
            return false;
    for (uint32_t p = 0; p < f->n_params; p++)
        if (strcmp(f->params[p].pub.name, g->params[p].pub.name) != 0 ||
            !same_tensor(&g->params[p].pub, f->params[p].pub.role,
                         (enum dtype)f->params[p].pub.dtype,
                         f->params[p].pub.ndim))
            return false;
    return true;
}

int
session_share(struct session *s, const struct session *first, struct buf *why)
{
    int status = choose_fusion(s, why);

    if (status)
        return status;
    if (!same_program(s, first))
        return wrong(why, "'%s' is of another program than '%s'",
                     s->o->manifest, first->o->manifest);
    s->g = first->g;
    s->args = first->args;
    s->tensors = first->tensors;
    s->bytes = first->bytes;
    s->match = first->match;
    s->match.f = s->f;
    return EXIT_OK;
}

void
session_poison_outputs(struct session *s)
{
    for (uint32_t p = 0; p < s->f->n_params; p++)
        if (session_is_output(s, p))
            memset(s->tensors[p].data,
                   s->tensors[p].dtype == DT_BOOL ? BOOL_POISON : POISON,
                   s->bytes[p]);
}

const char *
session_gap_written(const struct session *s)
{
    for (uint32_t p = 0; p < s->f->n_params; p++) {
        const struct tensor *t = &s->tensors[p];
        size_t each = dtype_info[t->dtype].bytes;
        int64_t count = tensor_count(t);
        unsigned char *seen,
            poison = t->dtype == DT_BOOL ? BOOL_POISON : POISON;
        bool written = false;
        if (!session_is_output(s, p) || (size_t)count * each == s->bytes[p])
            continue;
        seen = arena_alloc(s->arena, s->bytes[p]);
        for (int64_t i = 0; i < count; i++)
            memset(seen + (size_t)tensor_offset(t, i) * each, 1, each);
        for (size_t i = 0; i < s->bytes[p]; i++)
            written |= !seen[i] && ((unsigned char *)t->data)[i] != poison;
        if (written)
            return s->f->params[p].pub.name;
    }
    return NULL;
}

const char *
describe(const struct session *s, uint32_t param)
{
    const struct tensor *t = &s->tensors[param];
    struct buf b;

    buf_init(&b, s->arena);
    buf_printf(&b, "%s %s[", s->f->params[param].pub.name,
               dtype_info[t->dtype].name);
    for (int d = 0; d < t->rank; d++)
        buf_printf(&b, d ? ", %" PRId64 : "%" PRId64, t->shape[d]);
    buf_putc(&b, ']');
    return buf_str(&b);
}
