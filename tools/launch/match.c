/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here allocates: a launch works on the stack alone. */
#include "support/base.h"

#include "tools/launch/match.h"

#include <stdarg.h>
#include <stdio.h>

void
message_clean(char *text, bool lines)
{
    for (; *text; text++) {
        if (lines && *text == '\n')
            continue;
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

int
message_set(const struct message *m, int status, const char *fmt, ...)
{
    va_list ap;

    if (m->size == 0)
        return status;
    va_start(ap, fmt);
    vsnprintf(m->text, m->size, fmt, ap);
    va_end(ap);
    message_clean(m->text, true);
    return status;
}

size_t
match_dtype_bytes(int dtype)
{
    static const unsigned char bytes[] = {1, 1, 2, 4, 8, 1, 2, 2, 1, 1, 4, 8};

    assert(dtype >= 0 && dtype < (int)sizeof(bytes));
    return bytes[dtype];
}

/* --- Values of expressions ------------------------------------------------ */

static int64_t
stride_of(const struct fusec_tensor *t, uint32_t dim)
{
    int64_t s = 1;

    if (t->strides)
        return t->strides[dim];
    for (int d = t->ndim - 1; d > (int)dim; d--)
        if (__builtin_mul_overflow(s, t->shape[d], &s))
            return INT64_MAX;
    return s;
}

static int64_t
align_of(const struct fusec_tensor *t)
{
    uintptr_t a = (uintptr_t)t->data | 4096;

    return (int64_t)(a & (~a + 1));
}

static bool
scalar_value(const struct fusec_fusion *f, uint32_t p,
             const struct fusec_tensor *t, int64_t *ret)
{
    const struct m_param *q = &f->params[p];
    const void *from = t->data ? t->data : q->has_default ? q->value : NULL;
    int32_t i32;
    uint8_t u8;

    if (!from)
        return false;
    if (q->pub.dtype == FUSEC_I64) {
        memcpy(ret, from, sizeof(*ret));
    } else if (q->pub.dtype == FUSEC_I32) {
        memcpy(&i32, from, sizeof(i32));
        *ret = i32;
    } else {
        memcpy(&u8, from, sizeof(u8));
        *ret = u8 != 0;
    }
    return true;
}

static bool
variable(const void *data, const struct expr_var *v, int64_t *ret)
{
    const struct match *m = data;
    const struct fusec_tensor *t = &m->args[v->index];

    switch (v->kind) {
    case EV_DIM:
        *ret = m->dims[v->index];
        return true;
    case EV_SMS:
        *ret = m->sms;
        return true;
    case EV_SHAPE:
        *ret = t->shape[v->dim];
        return true;
    case EV_STRIDE:
        *ret = stride_of(t, v->dim);
        return true;
    case EV_ALIGN:
        *ret = align_of(t);
        return true;
    case EV_SCALAR:
        return scalar_value(m->f, v->index, t, ret);
    default:
        return false;
    }
}

bool
match_eval(const struct match *m, const struct expr *e, int64_t *ret)
{
    return expr_eval(e, variable, m, ret);
}

static int
eval_or_fail(const struct match *m, const struct expr *e, int64_t *ret,
             const struct message *msg)
{
    if (match_eval(m, e, ret))
        return FUSEC_OK;
    return message_set(msg, FUSEC_MISMATCH,
                       "'%s' overflows or divides by zero here", e->text);
}

/* --- Checks of arguments -------------------------------------------------- */

static const char *
dtype_name(int dtype)
{
    static const char *const names[] = {"bool",   "i8",     "i16", "i32",
                                        "i64",    "u8",     "f16", "bf16",
                                        "f8e4m3", "f8e5m2", "f32", "f64"};

    return dtype >= 0 && dtype < (int)ARRAY_LEN(names) ? names[dtype]
                                                       : "unknown";
}

/* Types, ranks and signs: what reading dimensions relies on. */
static int
check_form(const struct m_param *p, const struct fusec_tensor *t,
           const struct message *msg)
{
    if (t->dtype != p->pub.dtype)
        return message_set(msg, FUSEC_MISMATCH, "'%s': type is %s, not %s",
                           p->pub.name, dtype_name(t->dtype),
                           dtype_name(p->pub.dtype));
    if (t->ndim != p->pub.ndim)
        return message_set(msg, FUSEC_MISMATCH, "'%s': rank is %d, not %d",
                           p->pub.name, t->ndim, p->pub.ndim);
    if (p->pub.role == FUSEC_SCALAR || p->pub.role == FUSEC_DIM)
        return t->data || p->has_default
                   ? FUSEC_OK
                   : message_set(msg, FUSEC_MISMATCH,
                                 "'%s': no value and no default", p->pub.name);
    if (t->ndim > 0 && !t->shape)
        return message_set(msg, FUSEC_MISMATCH, "'%s': no shape", p->pub.name);
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] < 0 || stride_of(t, (uint32_t)d) < 0)
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s': dimension %d has a negative extent or "
                               "stride",
                               p->pub.name, d);
    return FUSEC_OK;
}

static int
read_dim(struct match *m, const struct m_dim *d, int64_t *ret,
         const struct message *msg)
{
    const struct fusec_tensor *t = &m->args[d->param];

    *ret = d->bound;
    if (d->read == READ_NONE)
        return FUSEC_OK;
    if (d->read == READ_ARG)
        scalar_value(m->f, d->param, t, ret);
    else if (d->read == READ_SHAPE)
        *ret = t->shape[d->index];
    else
        *ret = stride_of(t, d->index);
    if (*ret % d->divisor != 0)
        return message_set(
            msg, FUSEC_MISMATCH,
            "'%s': %" PRId64 " is no multiple of %" PRId64 " (dimension '%s')",
            m->f->params[d->param].pub.name, *ret, d->divisor, d->name);
    *ret /= d->divisor;
    if (d->has_bound && *ret != d->bound)
        return message_set(msg, FUSEC_MISMATCH,
                           "'%s' is %" PRId64 "; this was compiled for %s = "
                           "%" PRId64,
                           d->name, *ret, d->name, d->bound);
    return FUSEC_OK;
}

static int
check_layout(const struct match *m, uint32_t i, const struct message *msg)
{
    const struct m_param *p = &m->f->params[i];
    const struct fusec_tensor *t = &m->args[i];
    bool empty = false;
    int64_t want;
    int status;

    for (int d = 0; d < t->ndim; d++) {
        if ((status = eval_or_fail(m, &p->shape[d], &want, msg)))
            return status;
        if (t->shape[d] != want)
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s': extent of dimension %d is %" PRId64
                               ", not %s = %" PRId64,
                               p->pub.name, d, t->shape[d], p->shape[d].text,
                               want);
        empty |= want == 0;
    }
    for (int d = 0; d < t->ndim && !empty; d++) {
        if (t->shape[d] == 1)
            continue;
        if ((status = eval_or_fail(m, &p->strides[d], &want, msg)))
            return status;
        if (stride_of(t, (uint32_t)d) != want)
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s': stride of dimension %d is %" PRId64
                               ", not %s = %" PRId64,
                               p->pub.name, d, stride_of(t, (uint32_t)d),
                               p->strides[d].text, want);
    }
    return FUSEC_OK;
}

/* Bytes from the first element to past the last; false: too many. */
static bool
extent_bytes(const struct fusec_tensor *t, size_t *ret)
{
    int64_t last = 0, step;

    *ret = 0;
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] == 0)
            return true;
    for (int d = 0; d < t->ndim; d++)
        if (__builtin_mul_overflow(t->shape[d] - 1, stride_of(t, (uint32_t)d),
                                   &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    if (last >= INT64_MAX / 8)
        return false;
    *ret = (size_t)(last + 1) * match_dtype_bytes(t->dtype);
    return true;
}

static int
check_memory(const struct match *m, uint32_t i, const struct message *msg)
{
    const struct m_param *p = &m->f->params[i];
    const struct fusec_tensor *t = &m->args[i];
    size_t bytes;

    if (!extent_bytes(t, &bytes) ||
        (uintptr_t)t->data + bytes < (uintptr_t)t->data)
        return message_set(msg, FUSEC_MISMATCH, "'%s': too large", p->pub.name);
    if (!t->data && bytes > 0)
        return message_set(msg, FUSEC_MISMATCH, "'%s': no memory", p->pub.name);
    if (((uintptr_t)t->data & (p->pub.align - 1)) != 0 && bytes > 0)
        return message_set(msg, FUSEC_MISMATCH,
                           "'%s': base address %p is not %u-byte aligned",
                           p->pub.name, t->data, p->pub.align);
    return FUSEC_OK;
}

static bool
is_tensor(const struct m_param *p)
{
    return p->pub.role == FUSEC_INPUT || p->pub.role == FUSEC_OUTPUT;
}

static bool
same_buffer(const struct fusec_tensor *a, const struct fusec_tensor *b)
{
    if (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] ||
            (a->shape[d] != 1 &&
             stride_of(a, (uint32_t)d) != stride_of(b, (uint32_t)d)))
            return false;
    return true;
}

static bool
ranges_meet(const void *a, size_t n, const void *b, size_t k)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

    return n > 0 && k > 0 && x < y + k && y < x + n;
}

/* An output against everything else. Ranges of memory are compared, so two
 * interleaved tensors count as overlapping. */
static int
check_overlap(const struct match *m, uint32_t out, const struct message *msg)
{
    const struct m_param *p = &m->f->params[out];
    const struct fusec_tensor *t = &m->args[out];
    size_t bytes, other;

    extent_bytes(t, &bytes);
    for (uint32_t i = 0; i < m->f->n_params; i++) {
        const struct m_param *q = &m->f->params[i];
        if (!is_tensor(q) || i == out ||
            (q->pub.role == FUSEC_OUTPUT && i < out))
            continue;
        extent_bytes(&m->args[i], &other);
        if (!ranges_meet(t->data, bytes, m->args[i].data, other))
            continue;
        if (p->inplace == (int)i && same_buffer(t, &m->args[i]))
            continue;
        return message_set(msg, FUSEC_OVERLAP, "'%s' overlaps '%s'%s",
                           p->pub.name, q->pub.name,
                           p->inplace == (int)i ? ", and is not the same buffer"
                                                : "");
    }
    return FUSEC_OK;
}

static int
check_params(const struct match *m, bool memory, const struct message *msg)
{
    int status;

    for (uint32_t i = 0; i < m->f->n_params; i++) {
        if (!is_tensor(&m->f->params[i]))
            continue;
        if ((status = check_layout(m, i, msg)) ||
            (memory && (status = check_memory(m, i, msg))))
            return status;
    }
    for (uint32_t i = 0; memory && i < m->f->n_params; i++)
        if (m->f->params[i].pub.role == FUSEC_OUTPUT &&
            (status = check_overlap(m, i, msg)))
            return status;
    return FUSEC_OK;
}

int
match_args(struct match *m, const struct fusec_tensor *args, unsigned n,
           bool memory, const struct message *msg)
{
    const struct fusec_fusion *f = m->f;
    int64_t truth;
    int status;

    if (n != f->n_params)
        return message_set(msg, FUSEC_BAD_CALL,
                           "'%s' takes %u arguments, not %u", f->name,
                           f->n_params, n);
    m->args = args;
    for (uint32_t i = 0; i < n; i++)
        if ((status = check_form(&f->params[i], &args[i], msg)))
            return status;
    for (uint32_t i = 0; i < f->n_dims; i++)
        if ((status = read_dim(m, &f->dims[i], &m->dims[i], msg)))
            return status;
    if ((status = check_params(m, memory, msg)))
        return status;
    for (uint32_t i = 0; i < f->n_guards; i++) {
        if ((status = eval_or_fail(m, &f->guards[i], &truth, msg)))
            return status;
        if (!truth)
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s' requires %s, which does not hold here",
                               f->name, f->guards[i].text);
    }
    return FUSEC_OK;
}

/* --- Launches ------------------------------------------------------------- */

/* Grid and shared memory; *skip when a grid extent is 0. */
static int
size_call(const struct match *m, const struct m_launch *l, struct call *ret,
          bool *skip, const struct message *msg)
{
    static const int64_t most[3] = {INT32_MAX, 65535, 65535};
    int64_t v;
    int status;

    *skip = false;
    ret->l = l;
    for (int i = 0; i < 3; i++) {
        if ((status = eval_or_fail(m, &l->grid[i], &v, msg)))
            return status;
        if (v < 0 || v > most[i])
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s': grid %s = %" PRId64 " is out of range",
                               l->symbol, l->grid[i].text, v);
        if (v % l->cluster[i] != 0)
            return message_set(msg, FUSEC_MISMATCH,
                               "'%s': grid %s = %" PRId64
                               " is no multiple of the cluster",
                               l->symbol, l->grid[i].text, v);
        ret->grid[i] = (unsigned)v;
        *skip |= v == 0;
    }
    if ((status = eval_or_fail(m, &l->dynamic_smem, &v, msg)))
        return status;
    if (v < 0 || v > 1 << 20)
        return message_set(msg, FUSEC_MISMATCH,
                           "'%s': shared memory %s = %" PRId64
                           " is out of range",
                           l->symbol, l->dynamic_smem.text, v);
    ret->smem_bytes = (unsigned)v;
    return FUSEC_OK;
}

/* Does the device hold all blocks of each cooperative launch at once? */
static int
check_resident(const struct match *m, const struct backend *b,
               const struct m_variant *v, bool *ret, const struct message *msg)
{
    *ret = true;
    for (uint32_t k = 0; k < v->n_launches && *ret; k++) {
        struct call c = {0};
        bool skip;
        int status;
        if (!v->launches[k].cooperative)
            continue;
        if ((status = size_call(m, &v->launches[k], &c, &skip, msg)))
            return status;
        *ret = skip || b->resident(b->data, &c);
    }
    return FUSEC_OK;
}

int
match_variant(const struct match *m, const struct backend *b,
              const struct message *msg)
{
    const struct fusec_fusion *f = m->f;

    for (uint32_t i = 0; i < f->n_variants; i++) {
        const struct m_variant *v = &f->variants[i];
        int64_t truth = 1;
        bool fits;
        if (!v->always && eval_or_fail(m, &v->guard, &truth, msg))
            return -1;
        if (!truth)
            continue;
        if (check_resident(m, b, v, &fits, msg))
            return -1;
        if (fits)
            return (int)i;
    }
    message_set(msg, FUSEC_NO_VARIANT,
                "'%s': none of the %u variants admits these arguments", f->name,
                f->n_variants);
    return -1;
}

int
match_workspace(const struct match *m, size_t *ret_offsets, size_t *ret_bytes,
                const struct message *msg)
{
    size_t at = 0;

    for (uint32_t i = 0; i < m->f->n_workspace; i++) {
        const struct m_workspace *w = &m->f->workspace[i];
        int64_t bytes;
        int status = eval_or_fail(m, &w->bytes, &bytes, msg);
        if (status)
            return status;
        at = (at + (size_t)w->align - 1) & ~((size_t)w->align - 1);
        if (bytes < 0 || bytes > INT64_MAX / 2 - (int64_t)at)
            return message_set(msg, FUSEC_MISMATCH,
                               "workspace '%s': %s = %" PRId64
                               " is out of range",
                               w->name, w->bytes.text, bytes);
        if (ret_offsets)
            ret_offsets[i] = at;
        at += (size_t)bytes;
    }
    *ret_bytes = at;
    return FUSEC_OK;
}

static int
check_workspace(const struct match *m, const struct fusec_space *s, size_t need,
                const struct message *msg)
{
    size_t bytes;

    if (s->bytes < need)
        return message_set(msg, FUSEC_MISMATCH,
                           "workspace is %zu bytes; %zu are needed", s->bytes,
                           need);
    if (need == 0)
        return FUSEC_OK;
    if (!s->data || ((uintptr_t)s->data & 255) != 0)
        return message_set(msg, FUSEC_MISMATCH,
                           "workspace: base address %p is not 256-byte "
                           "aligned",
                           s->data);
    for (uint32_t i = 0; i < m->f->n_params; i++) {
        if (!is_tensor(&m->f->params[i]) || !m->args[i].data)
            continue;
        extent_bytes(&m->args[i], &bytes);
        if (ranges_meet(m->args[i].data, bytes, s->data, need))
            return message_set(msg, FUSEC_OVERLAP,
                               "'%s' overlaps the workspace",
                               m->f->params[i].pub.name);
    }
    return FUSEC_OK;
}

int
match_clear(const struct match *m, const struct backend *b,
            const struct fusec_space *s, const struct message *msg)
{
    size_t offsets[M_MAX_WORKSPACE], need;
    int status = match_workspace(m, offsets, &need, msg);

    if (!status)
        status = check_workspace(m, s, need, msg);
    for (uint32_t i = 0; !status && i < m->f->n_workspace; i++) {
        int64_t bytes = 0;
        if (!m->f->workspace[i].zero ||
            !match_eval(m, &m->f->workspace[i].bytes, &bytes) || bytes == 0)
            continue;
        status = b->clear(b->data, (char *)s->data + offsets[i], (size_t)bytes,
                          s->stream, msg);
    }
    return status;
}

/* What a launch keeps on the stack: where the workspace buffers begin, and one
 * value a kernel argument with a pointer to it. */
struct frame {
    char *workspace;
    size_t offsets[M_MAX_WORKSPACE];
    int64_t values[M_MAX_ARGS];
    void *pointers[M_MAX_ARGS];
    int64_t zero;
};

static int64_t
address(const void *p)
{
    return (int64_t)(uintptr_t)p;
}

static void
copy_scalar(const struct match *m, uint32_t p, int64_t *to)
{
    const struct m_param *q = &m->f->params[p];
    const void *given = m->args[p].data;

    memcpy(to, given ? given : q->value, match_dtype_bytes(q->pub.dtype));
}

static int
fill_args(const struct match *m, const struct m_launch *l, struct frame *f,
          const struct message *msg)
{
    /* A kernel that takes more than the manifest says finds zeros. */
    for (uint32_t i = l->n_args; i < M_MAX_ARGS; i++)
        f->pointers[i] = &f->zero;
    f->zero = 0;
    for (uint32_t i = 0; i < l->n_args; i++) {
        const struct m_arg *a = &l->args[i];
        int64_t *v = &f->values[i];
        int status;
        f->pointers[i] = v;
        if (a->kind == MA_TENSOR)
            *v = address(m->args[a->index].data);
        else if (a->kind == MA_WORKSPACE)
            *v = address(f->workspace + f->offsets[a->index]);
        else if (a->kind == MA_SCALAR)
            copy_scalar(m, a->index, v);
        else if ((status = eval_or_fail(m, &a->expr, v, msg)))
            return status;
    }
    return FUSEC_OK;
}

int
match_launch(const struct match *m, const struct backend *b, int variant,
             const struct fusec_space *s, const struct message *msg)
{
    const struct m_variant *v = &m->f->variants[variant];
    struct frame f;
    size_t need = 0;
    int status;

    f.workspace = s->data;
    if ((status = match_workspace(m, f.offsets, &need, msg)) ||
        (status = check_workspace(m, s, need, msg)))
        return status;
    for (uint32_t k = 0; k < v->n_launches; k++) {
        struct call c = {.args = f.pointers};
        bool skip;
        if ((status = size_call(m, &v->launches[k], &c, &skip, msg)))
            return status;
        if (skip)
            continue;
        if ((status = fill_args(m, &v->launches[k], &f, msg)) ||
            (status = b->launch(b->data, &c, s->stream, msg)))
            return status;
    }
    return FUSEC_OK;
}
