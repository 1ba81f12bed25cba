/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline: text -> graphs -> simplified graphs -> facts -> plans -> kernels ->
 * CUDA text -> PTX, and what is printed of each.
 *
 * A stage runs only when something asked for needs it: CUDA text, plans and
 * graphs never load a compiler. */
#include "support/base.h"

#include "driver/pipeline.h"

#include "codegen/codegen.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"

#include <errno.h>

static const struct span nowhere = {0};

static bool
wants(const struct pipeline *p, enum artifact kind)
{
    return p->options->emit[kind];
}

/* Whether anything from KIND on, in the order of the stages, is asked for. */
static bool
wants_plans(const struct pipeline *p)
{
    return p->options->explain || p->options->candidates ||
           wants(p, ART_PLAN) || wants(p, ART_KERNEL) || wants(p, ART_CU) ||
           wants(p, ART_JSON) || wants(p, ART_CUBIN) || wants(p, ART_PTX);
}

static bool
wants_kernels(const struct pipeline *p)
{
    return wants(p, ART_KERNEL) || wants(p, ART_CU) || wants(p, ART_JSON) ||
           wants(p, ART_CUBIN) || wants(p, ART_PTX);
}

/* --- text to graphs ------------------------------------------------------ */

static bool
is_stdin(const struct pipeline *p)
{
    return strcmp(p->options->input, "-") == 0;
}

static bool
cannot_read(const struct pipeline *p)
{
    diag_report(p->diag, DIAG_CANNOT_READ, nowhere,
                is_stdin(p) ? "standard input" : p->options->input,
                strerror(errno));
    return false;
}

/* Standard input can be read but once, whoever wants its text. */
static bool
read_stdin(struct pipeline *p)
{
    if (p->text || !is_stdin(p))
        return true;
    p->text = io_read_stdin(p->arena, &p->len);
    return p->text || cannot_read(p);
}

static bool
print_ast(struct pipeline *p)
{
    struct front_text text = {p->options->input, p->text, p->len};
    struct buf b;

    if (!text.text)
        text.text = io_read(p->arena, text.name, &text.len);
    if (!text.text)
        return cannot_read(p);
    buf_init(&b, p->arena);
    if (!front_print_ast(p->arena, p->diag, &text, &b))
        return false;
    outputs_put(&p->outputs, ART_AST, buf_str(&b), b.len);
    return true;
}

static bool
only_ast(const struct pipeline *p)
{
    for (int i = 0; i < ART_COUNT; i++) {
        if (i != ART_AST && p->options->emit[i])
            return false;
    }
    return wants(p, ART_AST) && !p->options->explain && !p->options->candidates;
}

/* Every -D must have found something. */
static bool
check_bindings(const struct pipeline *p, const struct front_options *opt)
{
    bool ok = true;

    for (uint32_t i = 0; i < opt->n_bindings; i++) {
        if (opt->bindings[i].used)
            continue;
        diag_report(p->diag, DIAG_UNKNOWN_BINDING, nowhere,
                    opt->bindings[i].name, p->options->input);
        ok = false;
    }
    return ok;
}

static bool
load(struct pipeline *p)
{
    struct front_options opt = {
        .bindings = p->options->bindings.v,
        .n_bindings = p->options->bindings.n,
        .include_dirs = p->options->include_dirs.v,
        .n_include_dirs = p->options->include_dirs.n,
    };

    p->module = p->text
                    ? front_load_text(p->arena, p->diag, p->options->input,
                                      p->text, p->len, &opt)
                    : front_load(p->arena, p->diag, p->options->input, &opt);
    if (!p->module) {
        if (!diag_errors(p->diag))
            BUG("'%s' was refused without a message", p->options->input);
        return false;
    }
    if (!check_bindings(p, &opt) || diag_errors(p->diag))
        return false;
    p->n_units = p->module->n_graphs;
    p->units = NEW_ARRAY(p->arena, struct unit, p->n_units);
    for (uint32_t i = 0; i < p->n_units; i++)
        p->units[i].resolved = p->module->graphs[i];
    return true;
}

static void
verify(struct pipeline *p, const struct graph *g)
{
    struct buf why;

    buf_init(&why, p->arena);
    if (!graph_verify(g, &why))
        BUG("graph of '%s': %s", g->name, buf_str(&why));
}

static void
simplify(struct pipeline *p)
{
    for (uint32_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];

        verify(p, u->resolved);
        u->facts = facts_prepare(p->arena, u->resolved);
        u->simple = u->facts->g;
        verify(p, u->simple);
    }
}

static void
print_graphs(struct pipeline *p, enum artifact kind, bool simplified,
             void (*print)(struct buf *, const struct graph *))
{
    struct buf b;

    if (!wants(p, kind))
        return;
    buf_init(&b, p->arena);
    for (uint32_t i = 0; i < p->n_units; i++) {
        if (i)
            buf_putc(&b, '\n');
        print(&b, simplified ? p->units[i].simple : p->units[i].resolved);
    }
    outputs_put(&p->outputs, kind, buf_str(&b), b.len);
}

/* --- plans --------------------------------------------------------------- */

/* Operations that the language has and this version has no kernel for. */
static bool
check_kernels_exist(struct pipeline *p)
{
    bool ok = true;

    for (uint32_t i = 0; i < p->n_units; i++) {
        const struct graph *g = p->units[i].simple;

        for (uint32_t n = 0; n < g->n_nodes; n++) {
            const struct node *node = graph_node(g, n);

            if (!(op_info[node->op].flags & OPF_NO_KERNEL))
                continue;
            diag_report(p->diag, DIAG_NOT_IMPLEMENTED_YET, node->span,
                        op_info[node->op].name);
            ok = false;
        }
    }
    return ok;
}

static bool
choose(struct pipeline *p)
{
    struct select_options opt = {
        .device = p->device.device,
        .hints = p->options->hints.v,
        .n_hints = p->options->hints.n,
        .sets = p->options->sets.v,
        .n_sets = p->options->sets.n,
        .n_candidates = p->options->candidates,
        .device_name = p->device.name,
    };

    if (p->options->tuned && !(opt.tuned = read_tuned(p)))
        return false;
    if (!p->options->untuned)
        opt.measured = read_measured(p);
    for (uint32_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];

        u->selection = select_plans(p->arena, u->facts, &opt, p->diag);
        if (!u->selection)
            return false;
        u->plan = selection_plan(p->arena, u->selection);
        u->tries = NEW_ARRAY(p->arena, uint32_t, u->selection->n_slots + 1);
    }
    return diag_errors(p->diag) == 0;
}

static bool
make_plans(struct pipeline *p)
{
    if (!check_kernels_exist(p))
        return false;
    return p->options->plan ? force_plans(p) : choose(p);
}

/* --- what is printed ----------------------------------------------------- */

static const char *
plan_text(struct pipeline *p)
{
    const struct fusion_plan **plans =
        NEW_ARRAY(p->arena, const struct fusion_plan *, p->n_units);
    struct buf b;

    for (uint32_t i = 0; i < p->n_units; i++)
        plans[i] = p->units[i].plan;
    buf_init(&b, p->arena);
    plan_print(&b, plans, p->n_units);
    return buf_str(&b);
}

static const char *
program_text(struct pipeline *p)
{
    struct buf b;

    buf_init(&b, p->arena);
    for (uint32_t i = 0; i < p->n_units; i++) {
        if (i)
            buf_putc(&b, '\n');
        graph_print_fusion(&b, p->units[i].resolved);
    }
    return buf_str(&b);
}

static void
print_kernels(struct pipeline *p)
{
    struct buf b;

    buf_init(&b, p->arena);
    for (uint32_t i = 0; i < p->n_units; i++) {
        const struct lowered *l = p->units[i].lowered;

        for (uint32_t v = 0; v < l->variants.n; v++) {
            const struct lowered_variant *x = &l->variants.v[v];

            for (uint32_t k = 0; k < x->launches.n; k++)
                kernel_print(&b, x->launches.v[k].kernel);
        }
    }
    outputs_put(&p->outputs, ART_KERNEL, buf_str(&b), b.len);
}

static const char *
manifest_text(struct pipeline *p)
{
    struct manifest_toolchain toolchain = {
        .result = &p->result,
        .report = &p->report,
        .rejected = p->rejected.v,
        .n_rejected = p->rejected.n,
        .fast_math = p->options->fast_math,
        .no_fmad = p->options->no_fmad,
    };
    struct manifest_fusion *fusions =
        NEW_ARRAY(p->arena, struct manifest_fusion, p->n_units);
    struct manifest m = {
        .version = FUSEC_VERSION,
        .device_name = p->device.name,
        .device = p->device.device,
        .cuda = p->cuda,
        .program = p->options->no_embed_program ? NULL : program_text(p),
        .plan = plan_text(p),
        .fusions = fusions,
        .n_fusions = p->n_units,
        .toolchain = p->compiled ? &toolchain : NULL,
    };

    for (uint32_t i = 0; i < p->n_units; i++)
        fusions[i] =
            (struct manifest_fusion){p->units[i].facts, p->units[i].lowered};
    return manifest_print(p->arena, &m);
}

static void
put_text(struct pipeline *p, enum artifact kind, const char *text)
{
    outputs_put(&p->outputs, kind, text, strlen(text));
}

static void
print_products(struct pipeline *p)
{
    if (wants(p, ART_PLAN))
        put_text(p, ART_PLAN, plan_text(p));
    if (wants(p, ART_KERNEL))
        print_kernels(p);
    if (wants(p, ART_CU))
        put_text(p, ART_CU, p->cuda);
    if (wants(p, ART_JSON))
        put_text(p, ART_JSON, manifest_text(p));
    if (wants(p, ART_CUBIN))
        outputs_put(&p->outputs, ART_CUBIN, p->result.cubin,
                    p->result.cubin_len);
    if (wants(p, ART_PTX))
        outputs_put(&p->outputs, ART_PTX, p->result.ptx, p->result.ptx_len);
}

/* The texts of the program, then the plan or the tuning file. */
static void
make_depfile(struct pipeline *p)
{
    const struct module *m = p->module;
    const char **files = NEW_ARRAY(p->arena, const char *, m->n_files + 2);
    uint32_t n = m->n_files;

    memcpy(files, m->files, n * sizeof(*files));
    if (p->options->plan)
        files[n++] = p->options->plan;
    if (p->options->tuned)
        files[n++] = p->options->tuned;
    outputs_make_depfile(&p->outputs, files, n);
}

/* --- the order ----------------------------------------------------------- */

static bool
run_stages(struct pipeline *p, struct buf *to_stdout)
{
    if (!read_stdin(p))
        return false;
    if (wants(p, ART_AST) && !print_ast(p))
        return false;
    if (only_ast(p) && !p->options->depfile)
        return true;
    if (!load(p))
        return false;
    if (p->options->depfile)
        make_depfile(p);
    print_graphs(p, ART_FUSION, false, graph_print_fusion);
    if (!wants(p, ART_GRAPH) && !wants(p, ART_DOT) && !wants_plans(p))
        return true;
    simplify(p);
    print_graphs(p, ART_GRAPH, true, graph_print);
    print_graphs(p, ART_DOT, true, graph_print_dot);
    if (!wants_plans(p))
        return true;
    if (!make_plans(p) || (wants_kernels(p) && !accept_plans(p)))
        return false;
    if (p->options->explain || p->options->candidates)
        explain_choice(p, to_stdout);
    print_products(p);
    return true;
}

bool
pipeline_make(struct pipeline *p, struct buf *to_stdout)
{
    return choose_device(p->arena, p->diag, p->options, &p->device) &&
           outputs_init(&p->outputs, p->arena, p->diag, p->options) &&
           run_stages(p, to_stdout) && !diag_errors(p->diag);
}

bool
pipeline_run(struct pipeline *p, struct buf *to_stdout)
{
    if (!pipeline_make(p, to_stdout))
        return false;
    if (p->options->check)
        return outputs_check(&p->outputs, to_stdout);
    return outputs_write(&p->outputs);
}
