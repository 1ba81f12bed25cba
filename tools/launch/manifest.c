/* SPDX-License-Identifier: Apache-2.0 */
/* Each reader fills one struct from one JSON value and reports the first thing
 * that is wrong with the path to it, "fusions[0].params[2].align". */
#include "support/base.h"

#include "tools/launch/manifest.h"

#include "tools/launch/match.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
    char *message;
    size_t size;
    char path[512]; /* of the value being read */
    struct manifest *m;
    struct fusec_fusion *f;
};

static bool fail(struct reader *r, const char *fmt, ...) ATTR_PRINTF(2, 3);

static bool
fail(struct reader *r, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (r->size == 0)
        return false;
    n = snprintf(r->message, r->size, "%s: ", r->path);
    if (n < 0 || (size_t)n >= r->size)
        return false;
    va_start(ap, fmt);
    vsnprintf(r->message + n, r->size - (size_t)n, fmt, ap);
    va_end(ap);
    message_clean(r->message, false);
    return false;
}

/* Extends the path; the old length is given back to path_pop. */
static size_t path_push(struct reader *r, const char *fmt, ...)
    ATTR_PRINTF(2, 3);

static size_t
path_push(struct reader *r, const char *fmt, ...)
{
    size_t n = strlen(r->path);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->path + n, sizeof(r->path) - n, fmt, ap);
    va_end(ap);
    return n;
}

static void
path_pop(struct reader *r, size_t n)
{
    r->path[n] = '\0';
}

/* --- Plain values --------------------------------------------------------- */

static bool
get_string(struct reader *r, const json_t *o, const char *key, const char **ret)
{
    const json_t *v = json_object_get(o, key);
    const char *text = json_string_value(v);

    *ret = text;
    if (!text)
        fail(r, "'%s' is not a string", key);
    else if (strlen(text) == json_string_length(v))
        return true;
    else
        fail(r, "'%s' holds a NUL", key);
    return false;
}

static bool
is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");

    return n > 0 && n <= 255 && s[n] == '\0' && !(s[0] >= '0' && s[0] <= '9');
}

static bool
get_name(struct reader *r, const json_t *o, const char *key, const char **ret)
{
    if (!get_string(r, o, key, ret))
        return false;
    return is_name(*ret) || fail(r, "'%s' is not a name", key);
}

static bool
get_bool(struct reader *r, const json_t *o, const char *key, bool *ret)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_boolean(v))
        return fail(r, "'%s' is not a bool", key);
    *ret = json_is_true(v);
    return true;
}

static bool
get_int(struct reader *r, const json_t *o, const char *key, int64_t lo,
        int64_t hi, int64_t *ret)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_integer(v))
        return fail(r, "'%s' is not an integer", key);
    *ret = json_integer_value(v);
    if (*ret < lo || *ret > hi)
        return fail(r, "'%s' is out of range", key);
    return true;
}

static bool
get_array(struct reader *r, const json_t *o, const char *key, size_t most,
          const json_t **ret)
{
    *ret = json_object_get(o, key);
    if (!json_is_array(*ret))
        return fail(r, "'%s' is not an array", key);
    if (json_array_size(*ret) > most)
        return fail(r, "'%s' has too many elements", key);
    return true;
}

static bool
allocate(struct reader *r, size_t n, size_t each, void *ret)
{
    void *p = calloc(n ? n : 1, each);

    memcpy(ret, &p, sizeof(p));
    return p || fail(r, "out of memory");
}

/* --- Expressions ---------------------------------------------------------- */

static bool
resolve_member(const struct m_param *p, const char *member, uint32_t dim,
               struct expr_var *ret)
{
    if (p->pub.role != FUSEC_INPUT && p->pub.role != FUSEC_OUTPUT)
        return false;
    ret->dim = dim;
    ret->kind = EV_ALIGN;
    if (strcmp(member, "align") == 0)
        return true;
    ret->kind = strcmp(member, "shape") == 0 ? EV_SHAPE : EV_STRIDE;
    if (ret->kind == EV_STRIDE && strcmp(member, "stride") != 0)
        return false;
    return dim < (uint32_t)p->pub.ndim;
}

static bool
is_whole(int dtype)
{
    return dtype <= FUSEC_U8;
}

static bool
resolve(void *data, const char *name, const char *member, uint32_t dim,
        struct expr_var *ret)
{
    const struct fusec_fusion *f = ((const struct reader *)data)->f;

    *ret = (struct expr_var){.kind = EV_SMS};
    for (uint32_t i = 0; !member && i < f->n_dims; i++)
        if (strcmp(f->dims[i].name, name) == 0) {
            *ret = (struct expr_var){.kind = EV_DIM, .index = i};
            return true;
        }
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct m_param *p = &f->params[i];
        if (strcmp(p->pub.name, name) != 0)
            continue;
        ret->index = i;
        if (member)
            return resolve_member(p, member, dim, ret);
        ret->kind = EV_SCALAR;
        return (p->pub.role == FUSEC_SCALAR || p->pub.role == FUSEC_DIM) &&
               is_whole(p->pub.dtype);
    }
    return !member && strcmp(name, "sms") == 0;
}

static bool
read_expr(struct reader *r, const json_t *v, const char *key, struct expr *ret)
{
    const char *why;

    if (!json_is_string(v) ||
        strlen(json_string_value(v)) != json_string_length(v))
        return fail(r, "'%s' is not an expression", key);
    if (!expr_parse(json_string_value(v), resolve, r, ret, &why))
        return fail(r, "'%s' = \"%.100s\": %s", key, json_string_value(v), why);
    return true;
}

static bool
get_expr(struct reader *r, const json_t *o, const char *key, struct expr *ret)
{
    return read_expr(r, json_object_get(o, key), key, ret);
}

/* --- Parameters ----------------------------------------------------------- */

static bool
get_word(struct reader *r, const json_t *o, const char *key,
         const char *const *words, int n, int *ret)
{
    const char *s = NULL;

    if (!get_string(r, o, key, &s))
        return false;
    for (*ret = 0; *ret < n; ++*ret)
        if (strcmp(words[*ret], s) == 0)
            return true;
    return fail(r, "'%s' is \"%.40s\", which is none of the known ones", key,
                s);
}

static bool
get_dtype(struct reader *r, const json_t *o, int *ret)
{
    static const char *const names[] = {"bool",   "i8",     "i16", "i32",
                                        "i64",    "u8",     "f16", "bf16",
                                        "f8e4m3", "f8e5m2", "f32", "f64"};

    return get_word(r, o, "dtype", names, ARRAY_LEN(names), ret);
}

static bool
float_default(const json_t *v, double *ret)
{
    const char *s = json_string_value(v);

    if (json_is_number(v)) {
        *ret = json_number_value(v);
        return true;
    }
    if (!s)
        return false;
    if (strcmp(s, "inf") == 0)
        *ret = (double)INFINITY;
    else if (strcmp(s, "-inf") == 0)
        *ret = -(double)INFINITY;
    else if (strcmp(s, "nan") == 0)
        *ret = (double)NAN;
    else
        return false;
    return true;
}

static bool
read_default(struct reader *r, const json_t *o, struct m_param *p)
{
    const json_t *v = json_object_get(o, "default");
    int64_t i = json_is_true(v) ? 1 : json_integer_value(v);
    int32_t i32 = (int32_t)i;
    double d;
    float f;

    if (!v || json_is_null(v))
        return true;
    p->has_default = true;
    if (p->pub.dtype == FUSEC_F32 || p->pub.dtype == FUSEC_F64) {
        if (!float_default(v, &d))
            return fail(r, "'default' is not a number");
        f = (float)d;
        memcpy(p->value, p->pub.dtype == FUSEC_F32 ? (void *)&f : (void *)&d,
               p->pub.dtype == FUSEC_F32 ? sizeof(f) : sizeof(d));
        return true;
    }
    if (p->pub.dtype == FUSEC_BOOL ? !json_is_boolean(v) : !json_is_integer(v))
        return fail(r, "'default' is not of the parameter's type");
    if (p->pub.dtype == FUSEC_I32 && i32 != i)
        return fail(r, "'default' is out of range");
    memcpy(p->value, &i, sizeof(i)); /* little-endian: the low bytes first */
    return true;
}

/* Name, role, type and rank, which expressions need; first pass. */
static bool
read_param_head(struct reader *r, const json_t *o, struct m_param *p)
{
    static const char *const roles[] = {"input", "output", "scalar", "dim"};
    const json_t *shape;
    int64_t align = 1;
    int role;

    if (!get_name(r, o, "name", &p->pub.name) ||
        !get_word(r, o, "role", roles, ARRAY_LEN(roles), &role) ||
        !get_dtype(r, o, &p->pub.dtype))
        return false;
    p->pub.role = (enum fusec_role)role;
    p->pub.align = 1;
    p->inplace = -1;
    if (role == FUSEC_SCALAR || role == FUSEC_DIM) {
        if (p->pub.dtype != FUSEC_BOOL && p->pub.dtype != FUSEC_I32 &&
            p->pub.dtype != FUSEC_I64 && p->pub.dtype != FUSEC_F32 &&
            p->pub.dtype != FUSEC_F64)
            return fail(r, "a scalar of this type is not allowed");
        if (role == FUSEC_DIM && p->pub.dtype != FUSEC_I64)
            return fail(r, "a dim is not an i64");
        return read_default(r, o, p);
    }
    if (!get_array(r, o, "shape", M_MAX_RANK, &shape) ||
        !get_int(r, o, "align", 1, 1 << 30, &align))
        return false;
    if (align & (align - 1))
        return fail(r, "'align' is not a power of two");
    p->pub.align = (unsigned)align;
    p->pub.ndim = (int)json_array_size(shape);
    return true;
}

static int
find_param(const struct fusec_fusion *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_params; i++)
        if (strcmp(f->params[i].pub.name, name) == 0)
            return (int)i;
    return -1;
}

static bool
read_inplace(struct reader *r, const json_t *o, struct m_param *p)
{
    const json_t *v = json_object_get(o, "inplace");

    if (p->pub.role != FUSEC_OUTPUT || !v || json_is_null(v))
        return true;
    if (!get_string(r, o, "inplace", &p->pub.inplace))
        return false;
    p->inplace = find_param(r->f, p->pub.inplace);
    if (p->inplace < 0 || r->f->params[p->inplace].pub.role != FUSEC_INPUT)
        return fail(r, "'inplace' names no input");
    return true;
}

/* Shape and strides; second pass. */
static bool
read_param_layout(struct reader *r, const json_t *o, struct m_param *p)
{
    const json_t *shape, *strides;

    if (p->pub.role != FUSEC_INPUT && p->pub.role != FUSEC_OUTPUT)
        return true;
    if (!get_array(r, o, "shape", M_MAX_RANK, &shape) ||
        !get_array(r, o, "strides", M_MAX_RANK, &strides))
        return false;
    if (json_array_size(strides) != json_array_size(shape))
        return fail(r, "'strides' has another length than 'shape'");
    for (int d = 0; d < p->pub.ndim; d++)
        if (!read_expr(r, json_array_get(shape, (size_t)d), "shape",
                       &p->shape[d]) ||
            !read_expr(r, json_array_get(strides, (size_t)d), "strides",
                       &p->strides[d]))
            return false;
    return read_inplace(r, o, p);
}

/* --- Dimensions ----------------------------------------------------------- */

/* "x.shape[1]", "x.stride[0]" or the name of a dim parameter. */
static bool
read_source(struct reader *r, const char *text, struct m_dim *d)
{
    struct expr e = {0};
    struct expr_var v;
    const char *why;
    uint32_t n_dims = r->f->n_dims;
    bool ok;
    int p = find_param(r->f, text);

    if (p >= 0) {
        d->read = READ_ARG;
        d->param = (uint32_t)p;
        return r->f->params[p].pub.role == FUSEC_DIM ||
               fail(r, "'read' names a parameter that is no dim");
    }
    r->f->n_dims = 0; /* no dimension is read from another one */
    ok = expr_parse(text, resolve, r, &e, &why) && e.n == 1;
    r->f->n_dims = n_dims;
    v = ok ? e.steps[0].var : (struct expr_var){0};
    expr_free(&e);
    if (!ok || (v.kind != EV_SHAPE && v.kind != EV_STRIDE) ||
        r->f->params[v.index].pub.role != FUSEC_INPUT)
        return fail(r, "'read' is no extent or stride of an input");
    d->read = v.kind == EV_SHAPE ? READ_SHAPE : READ_STRIDE;
    d->param = v.index;
    d->index = v.dim;
    return true;
}

static bool
read_dim(struct reader *r, const json_t *o, struct m_dim *d)
{
    const json_t *read = json_object_get(o, "read");
    const json_t *bound = json_object_get(o, "bound");
    const char *text;

    if (!get_int(r, o, "divisor", 1, INT64_MAX, &d->divisor))
        return false;
    if (!json_is_null(bound)) {
        d->has_bound = true;
        if (!get_int(r, o, "bound", INT64_MIN, INT64_MAX, &d->bound))
            return false;
    }
    if (!json_is_null(read))
        return get_string(r, o, "read", &text) && read_source(r, text, d);
    return d->has_bound || fail(r, "neither read nor bound");
}

/* --- Launches ------------------------------------------------------------- */

static bool
read_triple(struct reader *r, const json_t *o, const char *key, int most,
            int *ret)
{
    const json_t *v;
    int64_t product = 1;

    if (!get_array(r, o, key, 3, &v))
        return false;
    if (json_array_size(v) != 3)
        return fail(r, "'%s' has not 3 elements", key);
    for (size_t i = 0; i < 3; i++) {
        json_int_t n = json_integer_value(json_array_get(v, i));
        if (n < 1 || n > most)
            return fail(r, "'%s' is out of range", key);
        ret[i] = (int)n;
        product *= n;
    }
    return product <= most || fail(r, "'%s' is out of range", key);
}

static bool
read_arg(struct reader *r, const json_t *o, struct m_arg *a)
{
    static const char *const kinds[] = {"tensor", "workspace", "i64", "scalar"};
    const char *name = NULL;
    int kind, p;

    if (!get_word(r, o, "kind", kinds, ARRAY_LEN(kinds), &kind))
        return false;
    a->kind = (enum m_arg_kind)kind;
    if (a->kind == MA_I64)
        return get_expr(r, o, "value", &a->expr);
    if (!get_string(r, o, "value", &name))
        return false;
    if (a->kind == MA_WORKSPACE) {
        for (a->index = 0; a->index < r->f->n_workspace; a->index++)
            if (strcmp(r->f->workspace[a->index].name, name) == 0)
                return true;
        return fail(r, "'value' names no workspace buffer");
    }
    p = find_param(r->f, name);
    if (p < 0)
        return fail(r, "'value' names no parameter");
    a->index = (uint32_t)p;
    if ((r->f->params[p].pub.role <= FUSEC_OUTPUT) != (a->kind == MA_TENSOR))
        return fail(r, "'value' names a parameter of another kind");
    return true;
}

static bool
read_args(struct reader *r, const json_t *o, struct m_launch *l)
{
    const json_t *args;

    if (!get_array(r, o, "args", M_MAX_ARGS, &args) ||
        !allocate(r, json_array_size(args), sizeof(*l->args), &l->args))
        return false;
    l->n_args = (uint32_t)json_array_size(args);
    for (uint32_t i = 0; i < l->n_args; i++) {
        size_t at = path_push(r, ".args[%u]", i);
        if (!read_arg(r, json_array_get(args, i), &l->args[i]))
            return false;
        path_pop(r, at);
    }
    return true;
}

static bool
read_launch(struct reader *r, const json_t *o, struct m_launch *l)
{
    const json_t *grid;

    if (!get_name(r, o, "kernel", &l->symbol) ||
        !get_array(r, o, "grid", 3, &grid))
        return false;
    if (json_array_size(grid) != 3)
        return fail(r, "'grid' has not 3 elements");
    for (size_t i = 0; i < 3; i++)
        if (!read_expr(r, json_array_get(grid, i), "grid", &l->grid[i]))
            return false;
    if (r->m->n_kernels == M_MAX_KERNELS)
        return fail(r, "too many launches");
    l->kernel = r->m->n_kernels++;
    return read_triple(r, o, "block", 1024, l->block) &&
           (l->block[2] <= 64 || fail(r, "'block' is out of range")) &&
           read_triple(r, o, "cluster", 16, l->cluster) &&
           get_expr(r, o, "dynamic_smem", &l->dynamic_smem) &&
           get_bool(r, o, "cooperative", &l->cooperative) &&
           get_bool(r, o, "pdl", &l->pdl) && read_args(r, o, l);
}

static bool
read_variant(struct reader *r, const json_t *o, struct m_variant *v)
{
    const json_t *launches;
    const char *guard;

    if (!get_string(r, o, "guard", &guard))
        return false;
    v->always = guard[0] == '\0';
    if (!v->always && !get_expr(r, o, "guard", &v->guard))
        return false;
    if (!get_array(r, o, "launches", M_MAX_KERNELS, &launches) ||
        !allocate(r, json_array_size(launches), sizeof(*v->launches),
                  &v->launches))
        return false;
    v->n_launches = (uint32_t)json_array_size(launches);
    for (uint32_t i = 0; i < v->n_launches; i++) {
        size_t at = path_push(r, ".launches[%u]", i);
        if (!read_launch(r, json_array_get(launches, i), &v->launches[i]))
            return false;
        path_pop(r, at);
    }
    return true;
}

/* --- Fusions -------------------------------------------------------------- */

static bool
read_workspace(struct reader *r, const json_t *o, struct m_workspace *w)
{
    if (!get_name(r, o, "name", &w->name) ||
        !get_expr(r, o, "bytes", &w->bytes) ||
        !get_int(r, o, "align", 1, 4096, &w->align) ||
        !get_bool(r, o, "zero", &w->zero))
        return false;
    return (w->align & (w->align - 1)) == 0 ||
           fail(r, "'align' is not a power of two");
}

typedef bool read_fn(struct reader *r, const json_t *o, void *element);

struct list {
    const char *key;
    size_t most, each;
    read_fn *read;
};

/* Reads every element of an allocated array. */
static bool
read_elements(struct reader *r, const json_t *o, const struct list *l, void *to)
{
    const json_t *a = json_object_get(o, l->key);
    char *element = to;

    for (size_t i = 0; i < json_array_size(a); i++, element += l->each) {
        size_t at = path_push(r, ".%s[%zu]", l->key, i);
        if (!l->read(r, json_array_get(a, i), element))
            return false;
        path_pop(r, at);
    }
    return true;
}

static bool
make_list(struct reader *r, const json_t *o, const struct list *l, void *ret,
          uint32_t *ret_n)
{
    const json_t *a;

    if (!get_array(r, o, l->key, l->most, &a) ||
        !allocate(r, json_array_size(a), l->each, ret))
        return false;
    *ret_n = (uint32_t)json_array_size(a);
    return true;
}

static bool
element_param_head(struct reader *r, const json_t *o, void *p)
{
    const struct m_param *new = p;

    if (!read_param_head(r, o, p))
        return false;
    for (const struct m_param *q = r->f->params; q < new; q++) {
        if (strcmp(q->pub.name, new->pub.name) == 0)
            return fail(r, "a second parameter '%s'", new->pub.name);
    }
    return true;
}

static bool
element_param_layout(struct reader *r, const json_t *o, void *p)
{
    return read_param_layout(r, o, p);
}

static bool
element_dim_name(struct reader *r, const json_t *o, void *p)
{
    struct m_dim *new = p;

    if (!get_name(r, o, "name", &new->name))
        return false;
    for (const struct m_dim *d = r->f->dims; d < new; d++) {
        if (strcmp(d->name, new->name) == 0)
            return fail(r, "a second dimension '%s'", new->name);
    }
    return true;
}

static bool
element_dim(struct reader *r, const json_t *o, void *p)
{
    return read_dim(r, o, p);
}

static bool
element_guard(struct reader *r, const json_t *o, void *p)
{
    return read_expr(r, o, "guard", p);
}

static bool
element_workspace(struct reader *r, const json_t *o, void *p)
{
    return read_workspace(r, o, p);
}

static bool
element_variant(struct reader *r, const json_t *o, void *p)
{
    return read_variant(r, o, p);
}

/* Names first, since expressions may use any of them. */
static bool
read_fusion(struct reader *r, const json_t *o, struct fusec_fusion *f)
{
    struct list params = {"params", M_MAX_PARAMS, sizeof(*f->params),
                          element_param_head};
    struct list dims = {"dims", M_MAX_DIMS, sizeof(*f->dims), element_dim_name};
    struct list guards = {"guards", 65536, sizeof(*f->guards), element_guard};
    struct list space = {"workspace", M_MAX_WORKSPACE, sizeof(*f->workspace),
                         element_workspace};
    struct list variants = {"variants", 256, sizeof(*f->variants),
                            element_variant};

    r->f = f;
    if (!get_name(r, o, "name", &f->name) ||
        !make_list(r, o, &params, &f->params, &f->n_params) ||
        !read_elements(r, o, &params, f->params) ||
        !make_list(r, o, &dims, &f->dims, &f->n_dims) ||
        !read_elements(r, o, &dims, f->dims))
        return false;
    params.read = element_param_layout;
    dims.read = element_dim;
    return read_elements(r, o, &params, f->params) &&
           read_elements(r, o, &dims, f->dims) &&
           make_list(r, o, &guards, &f->guards, &f->n_guards) &&
           read_elements(r, o, &guards, f->guards) &&
           make_list(r, o, &space, &f->workspace, &f->n_workspace) &&
           read_elements(r, o, &space, f->workspace) &&
           get_expr(r, o, "bytes_read", &f->bytes_read) &&
           get_expr(r, o, "bytes_written", &f->bytes_written) &&
           make_list(r, o, &variants, &f->variants, &f->n_variants) &&
           read_elements(r, o, &variants, f->variants);
}

static bool
is_sha256(const char *s)
{
    return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static bool
get_sha256(struct reader *r, const json_t *o, const char *key, const char **ret)
{
    if (!get_string(r, o, key, ret))
        return false;
    return is_sha256(*ret) || fail(r, "'%s' is not a SHA-256", key);
}

static bool
read_toolchain(struct reader *r, const json_t *o)
{
    size_t at = path_push(r, ".toolchain");

    if (!o || json_is_null(o)) {
        path_pop(r, at);
        return true;
    }
    if (!get_sha256(r, o, "ptx_sha256", &r->m->ptx_sha256) ||
        !get_sha256(r, o, "cubin_sha256", &r->m->cubin_sha256))
        return false;
    path_pop(r, at);
    return true;
}

static void
collect_kernels(struct manifest *m)
{
    for (uint32_t i = 0; i < m->n_fusions; i++)
        for (uint32_t v = 0; v < m->fusions[i].n_variants; v++) {
            const struct m_variant *x = &m->fusions[i].variants[v];
            for (uint32_t k = 0; k < x->n_launches; k++)
                m->kernels[x->launches[k].kernel] = x->launches[k].symbol;
        }
}

static bool
read_top(struct reader *r, const json_t *o)
{
    struct manifest *m = r->m;
    const json_t *fusions;
    int64_t version = 0;

    if (!json_is_object(o))
        return fail(r, "not an object");
    if (!get_int(r, o, "manifest_version", 1, INT32_MAX, &version))
        return false;
    if (version != 1)
        return fail(r, "version %" PRId64 " is newer than this reader",
                    version);
    if (!get_string(r, o, "device", &m->device) ||
        !get_string(r, o, "arch", &m->arch) ||
        !get_sha256(r, o, "cuda_sha256", &m->cuda_sha256) ||
        !read_toolchain(r, json_object_get(o, "toolchain")))
        return false;
    if (json_object_get(o, "program") &&
        !get_string(r, o, "program", &m->program))
        return false;
    if (!get_array(r, o, "fusions", 4096, &fusions) ||
        !allocate(r, json_array_size(fusions), sizeof(*m->fusions),
                  &m->fusions))
        return false;
    m->n_fusions = (uint32_t)json_array_size(fusions);
    for (uint32_t i = 0; i < m->n_fusions; i++) {
        size_t at = path_push(r, ".fusions[%u]", i);
        if (!read_fusion(r, json_array_get(fusions, i), &m->fusions[i]))
            return false;
        path_pop(r, at);
    }
    if (!allocate(r, m->n_kernels, sizeof(*m->kernels), &m->kernels))
        return false;
    collect_kernels(m);
    return true;
}

bool
manifest_parse(const char *text, size_t len, struct manifest *ret,
               char *message, size_t size)
{
    struct reader r = {
        .message = message, .size = size, .path = "manifest", .m = ret};
    json_error_t error;

    *ret = (struct manifest){0};
    ret->json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (!ret->json)
        return fail(&r, "line %d: %s", error.line, error.text);
    if (read_top(&r, ret->json))
        return true;
    manifest_free(ret);
    return false;
}
