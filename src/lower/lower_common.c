/* SPDX-License-Identifier: Apache-2.0 */
/* lower_common: kernels under construction, their arguments and names. */
#include "support/base.h"

#include "lower/lower_common.h"

#include "ir/op_ref.h"
#include "sched/sums.h"
#include "support/arena.h"
#include "support/buf.h"

#include <stdlib.h>

/* --- names ---------------------------------------------------------------- */

struct named {
    const char *name;
    node_id node;
};

static int
compare_names(const void *x, const void *y)
{
    const struct named *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* A number comes first where the name alone won't do: names don't begin with a
 * digit, so the result can't be another node's. */
static void
name_nodes(struct lower *ctx)
{
    uint32_t n = 0, all = ctx->g->n_nodes;
    struct named *v = NEW_ARRAY(ctx->arena, struct named, all + 1);

    ctx->names = NEW_ARRAY(ctx->arena, const char *, all + 1);
    for (node_id i = 0; i < all; i++) {
        if (ctx->g->nodes[i].name)
            v[n++] = (struct named){ctx->g->nodes[i].name, i};
        else
            ctx->names[i] = arena_printf(ctx->arena, "%u", i);
    }
    qsort(v, n, sizeof(*v), compare_names);
    for (uint32_t i = 0; i < n; i++) {
        bool shared = (i > 0 && strcmp(v[i].name, v[i - 1].name) == 0) ||
                      (i + 1 < n && strcmp(v[i].name, v[i + 1].name) == 0);

        ctx->names[v[i].node] =
            shared ? arena_printf(ctx->arena, "%u_%s", v[i].node, v[i].name)
                   : v[i].name;
    }
}

const char *
lower_node_name(struct lower *ctx, node_id n)
{
    assert(n < ctx->g->n_nodes);
    if (!ctx->names)
        name_nodes(ctx);
    return ctx->names[n];
}

/* --- kernels -------------------------------------------------------------- */

struct lowered_kernel
lower_kernel_begin(struct lower *ctx, const struct lowered_variant *out,
                   const struct kernel_plan *kp, int threads,
                   const char *comment)
{
    struct lowered_kernel lk = {.kernel = NEW(ctx->arena, struct kernel)};

    lk.kernel->symbol = arena_printf(ctx->arena, "fu_%s_v%u_k%u", ctx->g->name,
                                     ctx->variant, out->launches.n);
    lk.kernel->comment =
        ctx->n_parts > 1 ? arena_printf(ctx->arena, "Part %u of %u. %s",
                                        ctx->part + 1, ctx->n_parts, comment)
                         : comment;
    lk.kernel->threads = threads;
    lk.kernel->min_blocks = 1;
    lk.kernel->cluster = 1;
    lk.launch = (struct launch){
        .kernel = lk.kernel,
        .scheduler = kp->scheduler,
        .grid = {"1", "1", "1"},
        .block = threads,
        .cluster = 1,
        .smem = "0",
    };
    return lk;
}

/* --- the order of arguments ----------------------------------------------- */

/* Inputs, results, scalars as the program declares them; then dimensions and
 * workspace by name. Arguments join a kernel in the order in which expressions
 * ask for them, and C leaves the order of a call's operands to the compiler. */
static uint32_t
declared_place(const struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_params; i++)
        if (strcmp(g->params[i].name, name) == 0)
            return i;
    for (uint32_t i = 0; i < g->n_results; i++)
        if (strcmp(g->results[i].name, name) == 0)
            return g->n_params + i;
    BUG("no tensor or scalar '%s'", name);
}

static bool
goes_before(const struct graph *g, const struct launch_arg *x,
            const struct launch_arg *y)
{
    static const int rank[] = {
        [ARG_TENSOR] = 0, [ARG_SCALAR] = 1, [ARG_DIM] = 2, [ARG_WORKSPACE] = 3};

    if (rank[x->kind] != rank[y->kind])
        return rank[x->kind] < rank[y->kind];
    if (x->kind == ARG_TENSOR || x->kind == ARG_SCALAR)
        return declared_place(g, x->name) < declared_place(g, y->name);
    return strcmp(x->name, y->name) < 0;
}

static void
order_arguments(struct lower *ctx, struct lowered_kernel *lk)
{
    struct launch_arg *args = lk->launch.args.v;
    struct kparam *params = lk->kernel->params.v;

    for (uint32_t i = 1; i < lk->launch.args.n; i++)
        for (uint32_t j = i;
             j > 0 && goes_before(ctx->g, &args[j], &args[j - 1]); j--) {
            struct launch_arg arg = args[j];
            struct kparam param = params[j];

            args[j] = args[j - 1];
            params[j] = params[j - 1];
            args[j - 1] = arg;
            params[j - 1] = param;
        }
}

void
lower_kernel_end(struct lower *ctx, struct lowered_kernel *lk,
                 struct lowered_variant *out)
{
    struct buf why;

    buf_init(&why, ctx->arena);
    if (!kernel_verify(lk->kernel, &why))
        BUG("kernel %s: %s", lk->kernel->symbol, buf_str(&why));
    assert(lk->launch.args.n == lk->kernel->params.n);
    order_arguments(ctx, lk);
    VEC_PUSH(ctx->arena, &out->launches, lk->launch);
}

static const char *
manifest_text(struct lower *ctx, const struct sym *s)
{
    struct buf b;

    assert(s);
    buf_init(&b, ctx->arena);
    sym_print(&b, s);
    return buf_str(&b);
}

void
lower_set_grid(struct lower *ctx, struct lowered_kernel *lk,
               const struct sym *x, const struct sym *y)
{
    lk->launch.grid[0] = manifest_text(ctx, x);
    lk->launch.grid[1] = manifest_text(ctx, y);
}

/* --- arguments ------------------------------------------------------------ */

static const struct kexpr *
argument(struct lower *ctx, struct lowered_kernel *lk, struct launch_arg arg,
         struct kparam param)
{
    for (uint32_t i = 0; i < lk->launch.args.n; i++) {
        const struct launch_arg *have = &lk->launch.args.v[i];

        if (have->kind == arg.kind && strcmp(have->name, arg.name) == 0)
            return ke_var(ctx->arena, lk->kernel->params.v[i].name);
    }
    VEC_PUSH(ctx->arena, &lk->launch.args, arg);
    VEC_PUSH(ctx->arena, &lk->kernel->params, param);
    return ke_var(ctx->arena, param.name);
}

const struct kexpr *
lower_sym(struct lower *ctx, struct lowered_kernel *lk, const struct sym *s)
{
    struct launch_arg arg = {ARG_DIM, NULL};
    struct kparam param = {"const fu_i64", NULL};
    const char *name;
    int64_t v;

    assert(s);
    if (sym_is_int(s, &v))
        return ke_int(ctx->arena, v);
    arg.name = manifest_text(ctx, s);
    if (sym_is_name(s, &name))
        param.name = arena_printf(ctx->arena, "d_%s", name);
    else
        param.name = arena_printf(ctx->arena, "m_%u", lk->launch.args.n);
    return argument(ctx, lk, arg, param);
}

/* True when a result may be given this parameter's buffer. */
static bool
may_be_overwritten(const struct graph *g, int param)
{
    for (uint32_t i = 0; i < g->n_results; i++)
        if (g->results[i].inplace == param)
            return true;
    return false;
}

/* What one kernel of a variant writes and others read. */
static const struct kexpr *
waiting(struct lower *ctx, struct lowered_kernel *lk, const char *name,
        enum dtype t, const struct sym *elements, bool writes)
{
    return lower_workspace(
        ctx, lk, arena_printf(ctx->arena, "v%u_%s", ctx->variant, name), t,
        sym_mul(ctx->syms, elements, sym_int(ctx->syms, dtype_info[t].bytes)),
        writes);
}

const struct sym *
lower_elements(struct lower *ctx, int rank, const struct sym *const *dims)
{
    const struct sym *n = sym_int(ctx->syms, 1);

    for (int d = 0; d < rank; d++)
        n = sym_mul(ctx->syms, n, dims[d]);
    return n;
}

const struct kexpr *
lower_input(struct lower *ctx, struct lowered_kernel *lk, int param)
{
    const struct param *p = &ctx->g->params[param];
    const char *t = dtype_info[p->dtype].mem;
    const char *ctype =
        may_be_overwritten(ctx->g, param)
            ? arena_printf(ctx->arena, "%s *", t)
            : arena_printf(ctx->arena, "const %s *FU_RESTRICT", t);

    assert(p->kind == PARAM_TENSOR);
    if (p->is_workspace)
        return waiting(ctx, lk, p->name, p->dtype,
                       lower_elements(ctx, p->rank, p->dims), false);
    return argument(
        ctx, lk, (struct launch_arg){ARG_TENSOR, p->name},
        (struct kparam){ctype, arena_printf(ctx->arena, "p_%s", p->name)});
}

const struct kexpr *
lower_output(struct lower *ctx, struct lowered_kernel *lk, int result)
{
    const struct result *r = &ctx->g->results[result];
    const char *t = dtype_info[r->dtype].mem;
    const char *ctype = arena_printf(
        ctx->arena, r->inplace >= 0 ? "%s *" : "%s *FU_RESTRICT", t);

    if (r->is_workspace)
        return waiting(ctx, lk, r->name, r->dtype,
                       lower_elements(ctx, r->rank, r->dims), true);
    return argument(
        ctx, lk, (struct launch_arg){ARG_TENSOR, r->name},
        (struct kparam){ctype, arena_printf(ctx->arena, "p_%s", r->name)});
}

const struct kexpr *
lower_param_pointer(struct lower *ctx, struct lowered_kernel *lk,
                    const struct access *acc)
{
    assert((acc->param >= 0) != (acc->result >= 0));
    return acc->param >= 0 ? lower_input(ctx, lk, acc->param)
                           : lower_output(ctx, lk, acc->result);
}

/* True when the fusion has a buffer of the name. */
static bool
is_known(const struct lowered *out, const char *name)
{
    for (uint32_t i = 0; i < out->workspace.n; i++)
        if (strcmp(out->workspace.v[i].name, name) == 0)
            return true;
    return false;
}

const struct kexpr *
lower_workspace(struct lower *ctx, struct lowered_kernel *lk, const char *name,
                enum dtype t, const struct sym *bytes, bool writes)
{
    struct lowered *out = ctx->out;
    const char *ctype = arena_printf(ctx->arena, "%s *%s", dtype_info[t].mem,
                                     writes ? "FU_RESTRICT" : "");

    if (!is_known(out, name)) {
        struct workspace w = {name, manifest_text(ctx, bytes), false};

        VEC_PUSH(ctx->arena, &out->workspace, w);
    }
    return argument(
        ctx, lk, (struct launch_arg){ARG_WORKSPACE, name},
        (struct kparam){ctype, arena_printf(ctx->arena, "w_%s", name)});
}

const struct kexpr *
lower_counters(struct lower *ctx, struct lowered_kernel *lk, const char *name,
               const struct sym *words)
{
    const struct sym *bytes = sym_mul(
        ctx->syms, words, sym_int(ctx->syms, (int64_t)sizeof(uint32_t)));
    struct workspace w = {name, manifest_text(ctx, bytes), true};

    assert(!is_known(ctx->out, name));
    VEC_PUSH(ctx->arena, &ctx->out->workspace, w);
    return argument(
        ctx, lk, (struct launch_arg){ARG_WORKSPACE, name},
        (struct kparam){"fu_u32 *", arena_printf(ctx->arena, "w_%s", name)});
}

static const struct kexpr *
scalar_argument(struct lower *ctx, struct lowered_kernel *lk,
                const struct param *p)
{
    if (p->bound && dtype_is_float(p->dtype))
        return ke_const_float(ctx->arena, p->dtype, p->value.f);
    if (p->bound)
        return ke_const_int(ctx->arena, p->dtype, p->value.i);
    return argument(ctx, lk, (struct launch_arg){ARG_SCALAR, p->name},
                    (struct kparam){arena_printf(ctx->arena, "const %s",
                                                 dtype_info[p->dtype].reg),
                                    arena_printf(ctx->arena, "c_%s", p->name)});
}

/* --- the arithmetic of a node --------------------------------------------- */

static enum dtype
promoted(const struct graph *g, const struct node *n)
{
    enum dtype t = graph_node(g, n->args[0])->dtype;

    for (uint32_t i = 1; i < n->n_args; i++)
        t = dtype_promote(t, graph_node(g, n->args[i])->dtype);
    return dtype_compute(t);
}

enum dtype
lower_compute_type(const struct graph *g, node_id id)
{
    const struct node *n = graph_node(g, id);

    assert(n->n_args > 0);
    switch (op_info[n->op].type) {
    case OT_NONE:
    case OT_KEEP:
    case OT_SELECT:
        return dtype_compute(n->dtype);
    case OT_FLOAT:
        return dtype_is_float(promoted(g, n)) ? promoted(g, n) : DT_F32;
    case OT_LOGIC:
        return DT_BOOL;
    case OT_SHIFT:
        return graph_node(g, n->args[0])->dtype;
    case OT_ARITH:
        if (promoted(g, n) == DT_BOOL)
            return dtype_compute(n->dtype);
        return promoted(g, n);
    case OT_ROUND:
    case OT_BOOL:
    case OT_BITS:
        return promoted(g, n);
    case OT_EXTREME:
    case OT_SUM:
    case OT_INDEX:
        return lower_accumulator(g, id);
    }
    BUG("operation without a type rule");
}

const struct kexpr *
lower_convert(struct lower *ctx, enum dtype from, enum dtype to,
              const struct kexpr *x)
{
    from = dtype_compute(from);
    to = dtype_compute(to);
    return from == to ? x : ke_cast(ctx->arena, from, to, x);
}

/* Which operands keep their own type: the condition of a select, the count of
 * a shift. */
static enum dtype
operand_type(const struct graph *g, node_id id, uint32_t i, enum dtype compute)
{
    const struct node *n = graph_node(g, id);
    enum op_type rule = op_info[n->op].type;

    if (rule == OT_SELECT && i == 0)
        return DT_BOOL;
    if (rule == OT_SHIFT && i == 1)
        return graph_node(g, n->args[1])->dtype;
    return compute;
}

static const struct kexpr *
operation(struct lower *ctx, node_id id, const struct kexpr *const *args)
{
    const struct node *n = graph_node(ctx->g, id);
    enum dtype t = lower_compute_type(ctx->g, id), value = t;
    const struct kexpr *x[4];

    assert(n->n_args <= ARRAY_LEN(x));
    for (uint32_t i = 0; i < n->n_args; i++)
        x[i] = lower_convert(ctx, graph_node(ctx->g, n->args[i])->dtype,
                             operand_type(ctx->g, id, i, t), args[i]);
    if (op_info[n->op].type == OT_BOOL)
        value = DT_BOOL;
    return lower_convert(ctx, value, n->dtype,
                         ke_op(ctx->arena, n->op, t, n->n_args, x));
}

static const struct kexpr *
constant(struct lower *ctx, const struct node *n)
{
    if (dtype_is_float(n->dtype))
        return ke_const_float(ctx->arena, n->dtype, n->value.f);
    return ke_const_int(ctx->arena, n->dtype, n->value.i);
}

static const struct kexpr *
extent(struct lower *ctx, struct lowered_kernel *lk, const struct node *n)
{
    int64_t v;

    if (sym_is_int(n->extent, &v))
        return ke_const_int(ctx->arena, DT_I64, v);
    return lower_sym(ctx, lk, n->extent);
}

const struct kexpr *
lower_node_expr(struct lower *ctx, struct lowered_kernel *lk, node_id id,
                const struct kexpr *const *args)
{
    const struct node *n = graph_node(ctx->g, id);

    if (op_info[n->op].class == OC_CAST)
        return ke_cast(ctx->arena,
                       dtype_compute(graph_node(ctx->g, n->args[0])->dtype),
                       n->dtype, args[0]);
    if (op_info[n->op].class == OC_POINTWISE)
        return operation(ctx, id, args);
    assert(op_info[n->op].class == OC_LEAF);
    if (n->op == OP_CONST)
        return constant(ctx, n);
    if (n->op == OP_SCALAR)
        return scalar_argument(ctx, lk, &ctx->g->params[n->param]);
    if (n->op == OP_DIM)
        return extent(ctx, lk, n);
    BUG("'%s' has no value without an index", op_info[n->op].name);
}

const struct kexpr *
lower_store_value(struct lower *ctx, enum dtype from, enum dtype to,
                  const struct kexpr *x)
{
    if (dtype_compute(from) == dtype_compute(to))
        return x;
    return ke_cast(ctx->arena, dtype_compute(from), to, x);
}

/* --- reductions ----------------------------------------------------------- */

enum dtype
lower_accumulator(const struct graph *g, node_id n)
{
    return sums_type(g, n);
}

const struct kexpr *
lower_identity(struct lower *ctx, enum op op, enum dtype t)
{
    if (dtype_is_float(t))
        return ke_const_float(ctx->arena, t, op_identity(op));
    return ke_const_int(ctx->arena, t, op_identity_int(op, t));
}

const struct kexpr *
lower_wide(struct lower *ctx, const struct kexpr *x)
{
    return ke_call(ctx->arena, "fu_i64", NULL, 1, x);
}
