/* SPDX-License-Identifier: Apache-2.0 */
/* exec_run: memory, launches and the comparison. */
#include "support/base.h"

#include "exec.h"

#include "ir/check.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/expr.h"

#include <stdio.h>
#include <stdlib.h>

enum { POISON = 0xff, ALIGN = 256, GUARD = 4096 };

/* --- sizes ---------------------------------------------------------------- */

static const char *
setting(const struct run *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_settings; i++)
        if (strcmp(r->settings[i].name, name) == 0)
            return r->settings[i].value;
    return NULL;
}

static bool
dim_value(void *data, const char *name, int64_t *ret)
{
    const char *text = setting(data, name);

    if (!text)
        return false;
    *ret = strtoll(text, NULL, 10);
    return true;
}

static int64_t
size_of(struct run *r, const struct sym *s)
{
    int64_t v;

    if (!sym_eval(s, dim_value, r, &v)) {
        fprintf(stderr, "a dimension has no value\n");
        exit(EXIT_USAGE);
    }
    return v;
}

/* --- memory --------------------------------------------------------------- */

static void *
memory(struct run *r, int64_t bytes)
{
    char *p = arena_alloc(r->arena, (size_t)bytes + 2 * GUARD + ALIGN);

    p += GUARD;
    p += ALIGN - (uintptr_t)p % ALIGN;
    memset(p, POISON, (size_t)bytes);
    return p;
}

/* `x.shift=3` on the line: x starts 3 elements behind an aligned address. */
static int64_t
shift_of(struct run *r, const char *name)
{
    const char *text = setting(r, arena_printf(r->arena, "%s.shift", name));

    return text ? strtoll(text, NULL, 10) : 0;
}

static void
place_tensor(struct run *r, struct tensor *t, const char *name)
{
    int64_t bytes = dtype_info[t->dtype].bytes, shift = shift_of(r, name);
    int64_t extent;

    if (!tensor_extent(t, &extent))
        BUG("a tensor that is too large");
    t->data = (char *)memory(r, (extent + shift) * bytes) + shift * bytes;
}

static void
shape_tensor(struct run *r, struct tensor *t, enum dtype dtype, int rank,
             const struct sym *const *dims, const struct sym *const *strides)
{
    *t = (struct tensor){.dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++)
        t->shape[d] = size_of(r, dims[d]);
    if (strides)
        for (int d = 0; d < rank; d++)
            t->strides[d] = size_of(r, strides[d]);
    else
        tensor_row_major(t);
}

static void
set_scalar(struct run *r, uint32_t i)
{
    const struct param *p = &r->resolved->params[i];
    const char *text = setting(r, p->name);

    if (p->bound)
        return;
    if (!text && !p->has_default) {
        fprintf(stderr, "'%s' has no value\n", p->name);
        exit(EXIT_USAGE);
    }
    if (dtype_is_float(p->dtype))
        num_store_long(p->dtype, &r->scalars[i], 0,
                       text ? strtold(text, NULL) : p->value.f);
    else
        num_store_int(p->dtype, &r->scalars[i], 0,
                      text ? strtoll(text, NULL, 10) : p->value.i);
    eval_bind_scalar(r->eval, i, &r->scalars[i]);
}

/* What a tensor is filled with: integers as the line says, integers when all
 * are, whatever else the line says, or what its type usually gets. */
static struct input_spec
spec_of(struct run *r, const struct param *p, const struct input_spec *all)
{
    const char *text = setting(r, p->name);
    struct input_spec own;

    if (text && !input_spec_parse(text, &own)) {
        fprintf(stderr, "'%s' is no kind of input\n", text);
        exit(EXIT_USAGE);
    }
    if (text && (!all || own.kind == INPUT_INTS))
        return own;
    return all && p->dtype != DT_BOOL ? *all : input_spec_default(p->dtype);
}

static void
set_param(struct run *r, uint32_t i, const struct input_spec *all)
{
    const struct param *p = &r->resolved->params[i];
    struct input_spec spec;

    if (p->kind == PARAM_DIM) {
        r->scalars[i] = (uint64_t)strtoll(setting(r, p->name), NULL, 10);
        eval_bind_scalar(r->eval, i, &r->scalars[i]);
    } else if (p->kind == PARAM_SCALAR) {
        set_scalar(r, i);
    } else {
        shape_tensor(r, &r->inputs[i], p->dtype, p->rank, p->dims,
                     p->has_strides ? p->strides : NULL);
        place_tensor(r, &r->inputs[i], p->name);
        spec = spec_of(r, p, all);
        input_fill(&spec, &r->inputs[i], 1, input_stream(p->name), 1);
        exec_place(r, p->name, &r->inputs[i]);
        eval_bind_tensor(r->eval, i, &r->inputs[i]);
    }
}

bool
exec_prepare(struct run *r, const struct input_spec *spec)
{
    const struct graph *g = r->resolved;
    struct buf why;

    buf_init(&why, r->arena);
    r->inputs = NEW_ARRAY(r->arena, struct tensor, g->n_params + 1);
    r->scalars = NEW_ARRAY(r->arena, uint64_t, g->n_params + 1);
    r->outputs = NEW_ARRAY(r->arena, struct tensor, g->n_results + 1);
    r->eval = eval_new(r->arena, g, 1);
    for (uint32_t i = 0; i < g->n_params; i++)
        set_param(r, i, spec);
    for (uint32_t i = 0; i < g->n_results; i++) {
        const struct result *x = &g->results[i];

        shape_tensor(r, &r->outputs[i], x->dtype, x->rank, x->dims,
                     x->has_strides ? x->strides : NULL);
        place_tensor(r, &r->outputs[i], x->name);
    }
    if (!eval_run(r->eval, &why)) {
        fprintf(stderr, "interpreter: %s\n", buf_str(&why));
        return false;
    }
    return true;
}

/* --- expressions of the launch -------------------------------------------- */

static struct tensor *
find_tensor(struct run *r, const char *name)
{
    for (uint32_t i = 0; i < r->resolved->n_params; i++)
        if (strcmp(r->resolved->params[i].name, name) == 0)
            return &r->inputs[i];
    for (uint32_t i = 0; i < r->resolved->n_results; i++)
        if (strcmp(r->resolved->results[i].name, name) == 0)
            return &r->outputs[i];
    return NULL;
}

/* The largest power of two, up to ALIGN, that divides the address. */
static int64_t
alignment(const void *p)
{
    int64_t v = ALIGN;

    while ((uintptr_t)p % (uintptr_t)v)
        v /= 2;
    return v;
}

/* What an expression names, as its value: expr_var's index is into these. */
struct names {
    struct run *r;
    int64_t value[64];
    uint32_t n;
};

static bool
resolve(void *data, const char *name, const char *member, uint32_t dim,
        struct expr_var *ret)
{
    struct names *n = data;
    struct tensor *t = find_tensor(n->r, name);
    int64_t v;

    if (!member && strcmp(name, "sms") == 0)
        v = n->r->sms;
    else if (!member && !dim_value(n->r, name, &v))
        return false;
    if (member && !t)
        return false;
    if (member && strcmp(member, "shape") == 0)
        v = t->shape[dim];
    else if (member && strcmp(member, "stride") == 0)
        v = t->strides[dim];
    else if (member)
        v = alignment(t->data);
    assert(n->n < ARRAY_LEN(n->value));
    *ret = (struct expr_var){.kind = EV_DIM, .index = n->n};
    n->value[n->n++] = v;
    return true;
}

static bool
value_of(const void *data, const struct expr_var *v, int64_t *ret)
{
    *ret = ((const struct names *)data)->value[v->index];
    return true;
}

static int64_t
evaluate(struct run *r, const char *text)
{
    struct names names = {.r = r};
    struct expr e;
    const char *why;
    int64_t v;

    if (!expr_parse(text, resolve, &names, &e, &why)) {
        fprintf(stderr, "'%s': %s\n", text, why);
        exit(EXIT_INPUT);
    }
    if (!expr_eval(&e, value_of, &names, &v)) {
        fprintf(stderr, "'%s' has no value\n", text);
        exit(EXIT_INPUT);
    }
    expr_free(&e);
    return v;
}

bool
exec_legal(struct run *r)
{
    bool ok = true;

    for (uint32_t i = 0; i < r->resolved->n_guards && ok; i++)
        ok = evaluate(r, r->resolved->guards[i]) != 0;
    return ok;
}

/* --- launching ------------------------------------------------------------ */

static void *
workspace_of(struct run *r, const char *name)
{
    for (uint32_t i = 0; i < r->low->workspace.n; i++)
        if (strcmp(r->low->workspace.v[i].name, name) == 0)
            return r->workspace[i];
    BUG("no workspace '%s'", name);
}

static uint64_t
argument(struct run *r, const struct launch_arg *arg)
{
    uint64_t v = 0;
    void *p = NULL;

    if (arg->kind == ARG_DIM)
        return (uint64_t)evaluate(r, arg->name);
    if (arg->kind == ARG_SCALAR) {
        for (uint32_t i = 0; i < r->resolved->n_params; i++)
            if (strcmp(r->resolved->params[i].name, arg->name) == 0)
                return r->scalars[i];
        BUG("no scalar '%s'", arg->name);
    }
    p = arg->kind == ARG_TENSOR ? find_tensor(r, arg->name)->data
                                : workspace_of(r, arg->name);
    memcpy(&v, &p, sizeof(p));
    return v;
}

static bool
launch(struct run *r, const struct launch *l)
{
    uint64_t *values = NEW_ARRAY(r->arena, uint64_t, l->args.n + 1);
    void **args = NEW_ARRAY(r->arena, void *, l->args.n + 1);
    struct fu_emu_launch_info info = {
        .symbol = l->kernel->symbol,
        .block = (unsigned)l->block,
        .smem = (size_t)evaluate(r, l->smem),
        .cluster = (unsigned)l->cluster,
        .cooperative = l->cooperative,
        .pdl = l->pdl,
        .sms = r->sms,
    };
    struct buf why;

    buf_init(&why, r->arena);
    for (uint32_t i = 0; i < l->args.n; i++) {
        values[i] = argument(r, &l->args.v[i]);
        args[i] = &values[i];
    }
    for (int i = 0; i < 3; i++)
        info.grid[i] = (unsigned)evaluate(r, l->grid[i]);
    info.blocks_per_sm = emulation_blocks_per_sm(info.block, info.smem);
    if (emulation_launch(r->emu, &info, args, &why))
        return true;
    fprintf(stderr, "report: %s\n", buf_str(&why));
    return false;
}

static bool
finish(struct run *r)
{
    struct buf why;

    buf_init(&why, r->arena);
    if (emulation_finish(r->emu, &why))
        return true;
    fprintf(stderr, "report: %s\n", buf_str(&why));
    return false;
}

static void
declare(struct run *r, const char *name, const struct tensor *t,
        enum fu_emu_role role)
{
    struct fu_emu_buffer b = {.name = name,
                              .base = t->data,
                              .role = role,
                              .element = (unsigned)dtype_info[t->dtype].bytes,
                              .rank = t->rank,
                              .shape = t->shape,
                              .strides = t->strides};
    int64_t extent;

    if (!t->data || !tensor_extent(t, &extent))
        return;
    b.bytes = (size_t)extent * b.element;
    r->emu->declare(&b);
}

/* Does a result stand in this input now? */
static bool
is_shared(const struct run *r, uint32_t input)
{
    for (uint32_t i = 0; r->share && i < r->resolved->n_results; i++)
        if (r->resolved->results[i].inplace == (int)input)
            return true;
    return false;
}

static void
declare_tensors(struct run *r)
{
    const struct graph *g = r->resolved;

    for (uint32_t i = 0; i < g->n_params; i++)
        if (g->params[i].kind == PARAM_TENSOR)
            declare(r, g->params[i].name, &r->inputs[i],
                    is_shared(r, i) ? FU_EMU_IN_PLACE : FU_EMU_INPUT);
    for (uint32_t i = 0; i < g->n_results; i++)
        if (!r->share || g->results[i].inplace < 0)
            declare(r, g->results[i].name, &r->outputs[i], FU_EMU_OUTPUT);
}

static bool
is_used(const struct lowered_variant *lv, const char *workspace)
{
    for (uint32_t k = 0; k < lv->launches.n; k++) {
        const struct launch *l = &lv->launches.v[k];

        for (uint32_t i = 0; i < l->args.n; i++)
            if (l->args.v[i].kind == ARG_WORKSPACE &&
                strcmp(l->args.v[i].name, workspace) == 0)
                return true;
    }
    return false;
}

static void
declare_all(struct run *r, const struct lowered_variant *lv)
{
    r->emu->forget_all();
    declare_tensors(r);
    r->workspace = NEW_ARRAY(r->arena, void *, r->low->workspace.n + 1);
    for (uint32_t i = 0; i < r->low->workspace.n; i++) {
        const struct workspace *w = &r->low->workspace.v[i];
        struct fu_emu_buffer b = {.name = w->name,
                                  .bytes = (size_t)evaluate(r, w->bytes),
                                  .role = w->zero ? FU_EMU_ZEROED
                                                  : FU_EMU_WORKSPACE,
                                  .element = 4};

        if (!is_used(lv, w->name))
            continue;
        b.base = r->workspace[i] = memory(r, (int64_t)b.bytes);
        if (w->zero)
            memset(b.base, 0, b.bytes);
        r->emu->declare(&b);
    }
}

/* --- one variant ---------------------------------------------------------- */

/* A bool result called must... is true everywhere: what a case asks for beyond
 * the interpreter's bounds. */
static bool
check_must(struct run *r, uint32_t v, uint32_t i)
{
    const struct tensor *t = &r->outputs[i];
    const char *name = r->resolved->results[i].name;

    if (t->dtype != DT_BOOL || strncmp(name, "must", 4) != 0)
        return true;
    for (int64_t k = 0; k < tensor_count(t); k++) {
        if (num_load_int(t->dtype, t->data, tensor_offset(t, k)))
            continue;
        fprintf(stderr, "variant %u (%s): '%s' is false at %" PRId64 "\n", v,
                scheduler_name[r->low->variants.v[v].launches.v[0].scheduler],
                name, k);
        return false;
    }
    return true;
}

static bool
check(struct run *r, uint32_t v, uint32_t i)
{
    struct eval_values ref = eval_result(r->eval, i, NULL, 0);
    struct check_report c = check_output(&ref, &r->outputs[i], r->exact);

    r->checks++;
    r->hollow += c.wrong == 0 && !check_passed(&c);
    r->elements += c.count;
    r->undecided += c.undecided;
    if (!check_must(r, v, i))
        return false;
    if (check_passed(&c) || (c.wrong == 0 && c.undecided > 0))
        return true;
    fprintf(stderr,
            "mismatch: variant %u (%s), '%s'%s%s: %" PRId64 " of %" PRId64
            " wrong; at %" PRId64 " %.9g, not %.9g (bound %.3g)\n",
            v, scheduler_name[r->low->variants.v[v].launches.v[0].scheduler],
            r->resolved->results[i].name, r->exact ? ", integers" : "",
            r->share ? ", in place" : "", c.wrong, c.count, c.worst, c.got,
            c.want, c.bound);
    return false;
}

static void
poison(struct run *r, uint32_t i)
{
    struct tensor *t = &r->outputs[i];
    int64_t extent;

    if (tensor_extent(t, &extent))
        memset(t->data, POISON, (size_t)extent * dtype_info[t->dtype].bytes);
}

/* The result's memory is its input's; what that held is kept in saved. */
static void
share(struct run *r, uint32_t i, void **saved)
{
    int input = r->resolved->results[i].inplace;
    struct tensor *t;
    int64_t extent;

    saved[i] = NULL;
    if (input < 0 || !r->share)
        return;
    t = &r->inputs[input];
    if (!tensor_extent(t, &extent))
        BUG("a tensor that is too large");
    extent *= (int64_t)dtype_info[t->dtype].bytes;
    saved[i] = memory(r, extent);
    memcpy(saved[i], t->data, (size_t)extent);
    r->outputs[i].data = t->data;
}

/* The result to memory of its own, the input's values back. */
static void
part(struct run *r, uint32_t i, void **saved)
{
    struct tensor *t = &r->outputs[i];
    int64_t extent;
    void *own;

    if (!saved[i] || !tensor_extent(t, &extent))
        return;
    extent *= (int64_t)dtype_info[t->dtype].bytes;
    own = memory(r, extent);
    memcpy(own, t->data, (size_t)extent);
    memcpy(t->data, saved[i], (size_t)extent);
    t->data = own;
}

/* The values computed by the last launches, in one order of the threads. */
static bool
run_once(struct run *r, uint32_t v, int order)
{
    const struct lowered_variant *lv = &r->low->variants.v[v];
    uint32_t n = r->resolved->n_results;
    void **saved = NEW_ARRAY(r->arena, void *, n + 1);
    bool ok = true;

    for (uint32_t i = 0; i < n; i++) {
        poison(r, i);
        share(r, i, saved);
    }
    declare_all(r, lv);
    r->emu->set_order(order);
    for (uint32_t i = 0; i < lv->launches.n && ok; i++)
        ok = launch(r, &lv->launches.v[i]);
    ok = ok && finish(r);
    for (uint32_t i = 0; i < n; i++)
        part(r, i, saved);
    for (uint32_t i = 0; i < n && ok; i++)
        ok &= check(r, v, i);
    return ok;
}

static size_t
output_bytes(const struct tensor *t)
{
    int64_t extent;

    if (!tensor_extent(t, &extent))
        BUG("a tensor that is too large");
    return (size_t)extent * dtype_info[t->dtype].bytes;
}

/* The same bits, gaps included, in the other order of the threads. */
static bool
run_reversed(struct run *r, uint32_t v)
{
    uint32_t n = r->resolved->n_results;
    char **before = NEW_ARRAY(r->arena, char *, n + 1);
    bool ok;

    for (uint32_t i = 0; i < n; i++) {
        before[i] = arena_alloc(r->arena, output_bytes(&r->outputs[i]) + 1);
        memcpy(before[i], r->outputs[i].data, output_bytes(&r->outputs[i]));
    }
    ok = run_once(r, v, 1);
    for (uint32_t i = 0; i < n && ok; i++) {
        ok = memcmp(before[i], r->outputs[i].data,
                    output_bytes(&r->outputs[i])) == 0;
        if (!ok)
            fprintf(stderr, "mismatch: variant %u, '%s': two runs differ\n", v,
                    r->resolved->results[i].name);
    }
    return ok;
}

/* The guard, asked with the results where they will stand. */
static bool
admits(struct run *r, const char *guard)
{
    const struct graph *g = r->resolved;
    void **own = NEW_ARRAY(r->arena, void *, g->n_results + 1);
    bool ok;

    for (uint32_t i = 0; i < g->n_results; i++) {
        own[i] = r->outputs[i].data;
        if (r->share && g->results[i].inplace >= 0)
            r->outputs[i].data = r->inputs[g->results[i].inplace].data;
    }
    ok = guard[0] == '\0' || evaluate(r, guard) != 0;
    for (uint32_t i = 0; i < g->n_results; i++)
        r->outputs[i].data = own[i];
    return ok;
}

bool
exec_variant(struct run *r, uint32_t v, bool *ret_admitted)
{
    const struct lowered_variant *lv = &r->low->variants.v[v];

    *ret_admitted = admits(r, lv->guard);
    if (!*ret_admitted)
        return true;
    return run_once(r, v, 0) && run_reversed(r, v);
}

bool
exec_shares(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_results; i++)
        if (g->results[i].inplace >= 0)
            return true;
    return false;
}
