/* SPDX-License-Identifier: Apache-2.0 */
/* manifest: a tree of jansson values, built in the order of the schema and
 * printed once.
 *
 * Whatever may depend on the arguments of a launch is an expression, hence a
 * string, even where it is a plain number; what can't is a number. The block
 * "toolchain" alone depends on the CUDA toolkit. */
#include "support/base.h"

#include "backend/manifest.h"

#include "device/device.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/sha256.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { WORKSPACE_ALIGN = 256 };

/* --- memory -------------------------------------------------------------- */

/* A tree lacks nothing afterwards: jansson never sees memory fail. */
static void
use_own_memory(void)
{
    json_set_alloc_funcs(memory_take, memory_return);
}

/* --- small makers -------------------------------------------------------- */

static void
put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        BUG("cannot put '%s' into the manifest", key);
}

static void
append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        BUG("cannot extend the manifest");
}

static void
put_string(json_t *object, const char *key, const char *s)
{
    put(object, key, json_string(s));
}

static void
put_count(json_t *object, const char *key, int64_t n)
{
    put(object, key, json_integer(n));
}

static void
put_sha256(json_t *object, const char *key, const char *data, size_t len)
{
    char hex[65];

    sha256_hex(data, len, hex);
    put_string(object, key, hex);
}

static json_t *
expression(struct arena *a, const struct sym *s)
{
    struct buf b;

    assert(s);
    buf_init(&b, a);
    sym_print(&b, s);
    return json_string(buf_str(&b));
}

static json_t *
expressions(struct arena *a, int n, const struct sym *const *s)
{
    json_t *array = json_array();

    for (int i = 0; i < n; i++)
        append(array, expression(a, s[i]));
    return array;
}

/* --- toolchain ----------------------------------------------------------- */

/* The launch that runs a kernel. */
static const struct launch *
find_launch(const struct manifest *m, const char *symbol)
{
    for (uint32_t i = 0; i < m->n_fusions; i++) {
        const struct lowered *l = m->fusions[i].lowered;

        for (uint32_t v = 0; v < l->variants.n; v++) {
            for (uint32_t k = 0; k < l->variants.v[v].launches.n; k++) {
                const struct launch *x = &l->variants.v[v].launches.v[k];

                if (strcmp(x->kernel->symbol, symbol) == 0)
                    return x;
            }
        }
    }
    return NULL;
}

static void
put_occupancy(json_t *o, const struct manifest *m,
              const struct kernel_report *k)
{
    const struct launch *l = find_launch(m, k->symbol);
    const struct device *dev = m->device;
    long smem = l ? report_dynamic_smem(l->smem) : -1;
    int blocks;

    if (smem < 0) {
        put(o, "dynamic_smem", json_null());
        put(o, "blocks_per_sm", json_null());
        put(o, "occupancy_percent", json_null());
        return;
    }
    blocks = device_occupancy(dev, l->block, (int)k->registers,
                              (int)smem + (int)k->smem_bytes);
    put_count(o, "dynamic_smem", smem);
    put_count(o, "blocks_per_sm", blocks);
    put_count(o, "occupancy_percent",
              100 * (int64_t)blocks * l->block / dev->threads_per_sm);
}

static json_t *
kernel_resources(const struct manifest *m, const struct kernel_report *k)
{
    json_t *o = json_object();

    put_string(o, "symbol", k->symbol);
    put_count(o, "registers", k->registers);
    put_count(o, "stack_bytes", k->stack_bytes);
    put_count(o, "spill_store_bytes", k->spill_store_bytes);
    put_count(o, "spill_load_bytes", k->spill_load_bytes);
    put_count(o, "static_smem", k->smem_bytes);
    put_occupancy(o, m, k);
    return o;
}

static json_t *
rejected_plans(const struct manifest_toolchain *t)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < t->n_rejected; i++) {
        const struct rejected_plan *r = &t->rejected[i];
        json_t *o = json_object();

        put_string(o, "fusion", r->fusion);
        put_count(o, "variant", r->variant);
        put_count(o, "candidate", r->candidate);
        put_count(o, "local_bytes", r->local_bytes);
        append(array, o);
    }
    return array;
}

/* Those that were given of the options that change results. */
static json_t *
result_options(const struct manifest_toolchain *t)
{
    json_t *array = json_array();

    if (t->fast_math)
        append(array, json_string("--fast-math"));
    if (t->no_fmad)
        append(array, json_string("--fmad=false"));
    return array;
}

static json_t *
toolchain(struct arena *a, const struct manifest *m)
{
    const struct manifest_toolchain *t = m->toolchain;
    json_t *o, *kernels = json_array();
    const char *isa, *driver;

    o = json_object();
    put_string(o, "compiler", t->result->compiler);
    put_string(o, "version", t->result->version);
    if (t->fast_math || t->no_fmad)
        put(o, "options", result_options(t));
    isa = report_ptx_isa(a, t->result->ptx, t->result->ptx_len);
    driver = report_min_driver(isa);
    put_string(o, "ptx_isa", isa);
    put(o, "min_driver", driver ? json_string(driver) : json_null());
    put_sha256(o, "ptx_sha256", t->result->ptx, t->result->ptx_len);
    put_sha256(o, "cubin_sha256", t->result->cubin, t->result->cubin_len);
    for (uint32_t i = 0; i < t->report->kernels.n; i++) {
        if (t->report->kernels.v[i].is_entry)
            append(kernels, kernel_resources(m, &t->report->kernels.v[i]));
    }
    put(o, "kernels", kernels);
    put(o, "rejected", rejected_plans(t));
    return o;
}

/* --- fusions ------------------------------------------------------------- */

static json_t *
dim_read(struct arena *a, const struct graph *g, const struct dim_symbol *d)
{
    const struct param *p;

    if (d->param < 0)
        return json_null();
    p = &g->params[d->param];
    if (d->is_arg)
        return json_string(p->name);
    return json_string(arena_printf(
        a, "%s.%s[%d]", p->name, d->from_stride ? "stride" : "shape", d->dim));
}

static json_t *
dims(struct arena *a, const struct graph *g)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < g->n_dims; i++) {
        const struct dim_symbol *d = &g->dims[i];
        json_t *o = json_object();
        int64_t bound;

        put_string(o, "name", d->name);
        put(o, "read", dim_read(a, g, d));
        put_count(o, "divisor", MAX(d->divisor, 1));
        if (d->bound && sym_is_int(d->bound, &bound))
            put_count(o, "bound", bound);
        else
            put(o, "bound", json_null());
        append(array, o);
    }
    return array;
}

static json_t *
guards(const struct graph *g)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < g->n_guards; i++)
        append(array, json_string(g->guards[i]));
    return array;
}

static json_t *
default_value(const struct param *p)
{
    if (!p->has_default)
        return json_null();
    if (p->dtype == DT_BOOL)
        return json_boolean(p->value.i != 0);
    if (!dtype_is_float(p->dtype))
        return json_integer(p->value.i);
    if (isnan(p->value.f))
        return json_string("nan");
    if (isinf(p->value.f))
        return json_string(p->value.f < 0 ? "-inf" : "inf");
    return json_real(p->value.f);
}

/* Shape, strides (row-major unless given) and alignment. */
static void
put_layout(struct arena *a, json_t *o, const struct graph *g, int rank,
           const struct sym *const *shape, const struct sym *const *strides)
{
    const struct sym *row_major[MAX_RANK];

    if (!strides) {
        graph_row_major(g->syms, rank, shape, row_major);
        strides = row_major;
    }
    put(o, "shape", expressions(a, rank, shape));
    put(o, "strides", expressions(a, rank, strides));
}

static json_t *
input(struct arena *a, const struct graph *g, const struct param *p)
{
    static const char *const role[] = {[PARAM_TENSOR] = "input",
                                       [PARAM_SCALAR] = "scalar",
                                       [PARAM_DIM] = "dim"};
    json_t *o = json_object();

    put_string(o, "name", p->name);
    put_string(o, "role", role[p->kind]);
    put_string(o, "dtype",
               p->kind == PARAM_DIM ? "i64" : dtype_info[p->dtype].name);
    if (p->kind == PARAM_TENSOR) {
        put_layout(a, o, g, p->rank, p->dims,
                   p->has_strides ? p->strides : NULL);
        put_count(o, "align", MAX(p->align, 1));
    } else {
        put(o, "default", default_value(p));
    }
    return o;
}

static json_t *
output(struct arena *a, const struct graph *g, const struct result *r)
{
    json_t *o = json_object();

    put_string(o, "name", r->name);
    put_string(o, "role", "output");
    put_string(o, "dtype", dtype_info[r->dtype].name);
    put_layout(a, o, g, r->rank, r->dims, r->has_strides ? r->strides : NULL);
    put_count(o, "align", MAX(r->align, 1));
    put(o, "inplace",
        r->inplace >= 0 ? json_string(g->params[r->inplace].name)
                        : json_null());
    return o;
}

/* A scalar bound by -D is no argument any more. */
static json_t *
params(struct arena *a, const struct graph *g)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < g->n_params; i++) {
        const struct param *p = &g->params[i];

        if (p->kind != PARAM_SCALAR || !p->bound)
            append(array, input(a, g, p));
    }
    for (uint32_t i = 0; i < g->n_results; i++)
        append(array, output(a, g, &g->results[i]));
    return array;
}

static json_t *
workspace(const struct lowered *l)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < l->workspace.n; i++) {
        const struct workspace *w = &l->workspace.v[i];
        json_t *o = json_object();

        put_string(o, "name", w->name);
        put_string(o, "bytes", w->bytes);
        put_count(o, "align", WORKSPACE_ALIGN);
        put(o, "zero", json_boolean(w->zero));
        append(array, o);
    }
    return array;
}

/* --- variants ------------------------------------------------------------ */

static json_t *
launch_args(const struct launch *l)
{
    static const char *const kind[] = {
        [ARG_TENSOR] = "tensor",
        [ARG_WORKSPACE] = "workspace",
        [ARG_DIM] = "i64",
        [ARG_SCALAR] = "scalar",
    };
    json_t *array = json_array();

    for (uint32_t i = 0; i < l->args.n; i++) {
        json_t *o = json_object();

        put_string(o, "kind", kind[l->args.v[i].kind]);
        put_string(o, "value", l->args.v[i].name);
        append(array, o);
    }
    return array;
}

static json_t *
launch(const struct launch *l)
{
    json_t *o = json_object(), *grid = json_array();

    for (int i = 0; i < 3; i++)
        append(grid, json_string(l->grid[i] ? l->grid[i] : "1"));
    put_string(o, "kernel", l->kernel->symbol);
    put_string(o, "scheduler", scheduler_name[l->scheduler]);
    put(o, "grid", grid);
    put(o, "block", json_pack("[i,i,i]", l->block, 1, 1));
    put(o, "cluster", json_pack("[i,i,i]", MAX(l->cluster, 1), 1, 1));
    put_string(o, "dynamic_smem", l->smem && *l->smem ? l->smem : "0");
    put(o, "cooperative", json_boolean(l->cooperative));
    put(o, "pdl", json_boolean(l->pdl));
    put(o, "args", launch_args(l));
    return o;
}

/* Bytes of a whole value in its own type. */
static json_t *
node_bytes(struct arena *a, const struct graph *g, const struct node *n)
{
    const struct sym *bytes = sym_int(g->syms, dtype_info[n->dtype].bytes);

    for (int i = 0; i < n->rank; i++)
        bytes = sym_mul(g->syms, bytes, n->dims[i]);
    return bytes ? expression(a, bytes) : json_string("0");
}

/* The word of an enumerated plan key. */
static const char *
key_word(struct arena *a, const char *words, int64_t value)
{
    for (; value > 0; value--) {
        words += strcspn(words, " ");
        words += *words == ' ';
    }
    return arena_strndup(a, words, strcspn(words, " "));
}

static const char *
buffer_word(struct arena *a, const struct buffer_plan *b, enum buffer_key key)
{
    static const char *const words[BK_COUNT] = {
#define BUFFER_KEY(id, name, lo, hi, key_words, doc) [BK_##id] = key_words,
#include "sched/plan_keys.def"
#undef BUFFER_KEY
    };

    return key_word(a, words[key], b->key[key]);
}

static void
append_buffer(struct arena *a, json_t *array, const struct graph *g,
              const struct buffer_plan *b, uint32_t kernel)
{
    json_t *o = json_object();

    put_count(o, "kernel", kernel);
    put_string(o, "buffer", plan_node_name(a, g, b->node));
    put(o, "bytes", node_bytes(a, g, graph_node(g, b->node)));
    put_string(o, "store", buffer_word(a, b, BK_STORE));
    put_string(o, "reuse", buffer_word(a, b, BK_REUSE));
    put_string(o, "reason", b->reason ? b->reason : "");
    append(array, o);
}

static void
append_buffers(struct arena *a, json_t *array, const struct graph *g,
               const struct kernel_plan *k, uint32_t index)
{
    for (uint32_t i = 0; i < k->n_buffers; i++)
        append_buffer(a, array, g, &k->buffers[i], index);
    for (uint32_t i = 0; i < k->n_writes; i++) {
        struct buffer_plan b = plan_write(k->writes[i]);

        append_buffer(a, array, g, &b, index);
    }
}

static json_t *
variant(struct arena *a, const struct lowered *l, uint32_t index)
{
    const struct lowered_variant *v = &l->variants.v[index];
    const struct variant_plan *plan = &l->plan->variants[index];
    json_t *o = json_object(), *launches = json_array(),
           *buffers = json_array();

    assert(l->variants.n == l->plan->n_variants);
    put_string(o, "guard", v->guard ? v->guard : "");
    put_count(o, "estimated_ns", (int64_t)(plan->cost.total_ns + 0.5));
    for (uint32_t i = 0; i < v->launches.n; i++)
        append(launches, launch(&v->launches.v[i]));
    put(o, "launches", launches);
    for (uint32_t i = 0; i < plan->n_kernels; i++)
        append_buffers(a, buffers, l->plan->g, &plan->kernels[i], i);
    put(o, "buffers", buffers);
    return o;
}

static json_t *
fusion(struct arena *a, const struct manifest_fusion *f)
{
    const struct graph *g = f->lowered->g;
    json_t *o = json_object(), *variants = json_array();

    put_string(o, "name", g->name);
    put(o, "dims", dims(a, g));
    put(o, "guards", guards(g));
    put(o, "params", params(a, g));
    put(o, "workspace", workspace(f->lowered));
    put(o, "bytes_read", expression(a, f->facts->bytes_in));
    put(o, "bytes_written", expression(a, f->facts->bytes_out));
    for (uint32_t i = 0; i < f->lowered->variants.n; i++)
        append(variants, variant(a, f->lowered, i));
    put(o, "variants", variants);
    return o;
}

/* --- printing ------------------------------------------------------------ */

/* Digits after which every real number of the manifest reads back the same. */
static size_t
real_digits(const struct manifest *m)
{
    size_t digits = 1;

    for (uint32_t i = 0; i < m->n_fusions; i++) {
        const struct graph *g = m->fusions[i].lowered->g;

        for (uint32_t p = 0; p < g->n_params; p++) {
            char text[40];
            double x = g->params[p].value.f;

            if (!g->params[p].has_default ||
                !dtype_is_float(g->params[p].dtype) || !isfinite(x))
                continue;
            while (digits < 17 &&
                   (snprintf(text, sizeof(text), "%.*g", (int)digits, x),
                    strtod(text, NULL) != x))
                digits++;
        }
    }
    return digits;
}

static int
append_text(const char *text, size_t n, void *to)
{
    buf_write(to, text, n);
    return 0;
}

/* Prints and releases. */
static const char *
dump(struct arena *a, json_t *root, size_t digits)
{
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(digits);
    struct buf b;

    buf_init(&b, a);
    if (json_dump_callback(root, append_text, &b, flags) != 0)
        BUG("cannot print the manifest");
    buf_putc(&b, '\n');
    json_decref(root);
    return buf_str(&b);
}

const char *
manifest_print(struct arena *a, const struct manifest *m)
{
    json_t *root, *fusions;

    use_own_memory();
    root = json_object();
    fusions = json_array();
    put_count(root, "manifest_version", 1);
    put_string(root, "fusec", m->version);
    put_string(root, "device", m->device_name);
    put_string(root, "arch", arena_printf(a, "sm_%d", m->device->arch));
    put_sha256(root, "cuda_sha256", m->cuda, strlen(m->cuda));
    if (m->program)
        put_string(root, "program", m->program);
    put(root, "toolchain", m->toolchain ? toolchain(a, m) : json_null());
    for (uint32_t i = 0; i < m->n_fusions; i++)
        append(fusions, fusion(a, &m->fusions[i]));
    put(root, "fusions", fusions);
    put_string(root, "plan", m->plan);
    return dump(a, root, real_digits(m));
}

static json_t *
load(struct arena *a, const char *text, size_t len, const char **ret_why)
{
    json_error_t error;
    json_t *root;

    use_own_memory();
    root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        *ret_why = arena_printf(a, "line %d: %s", error.line, error.text);
        return NULL;
    }
    if (json_integer_value(json_object_get(root, "manifest_version")) != 1) {
        *ret_why = "no manifest of version 1";
        json_decref(root);
        return NULL;
    }
    return root;
}

const char *
manifest_without_toolchain(struct arena *a, const char *text, size_t len,
                           const char **ret_why)
{
    json_t *root = load(a, text, len, ret_why);

    if (!root)
        return NULL;
    put(root, "toolchain", json_null());
    return dump(a, root, 17);
}

const char *
manifest_plan(struct arena *a, const char *text, size_t len,
              const char **ret_why)
{
    json_t *root = load(a, text, len, ret_why);
    const char *plan;

    if (!root)
        return NULL;
    plan = json_string_value(json_object_get(root, "plan"));
    if (plan)
        plan = arena_strdup(a, plan);
    else
        *ret_why = "the manifest has no plan";
    json_decref(root);
    return plan;
}
