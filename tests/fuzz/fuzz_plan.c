/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan: any bytes as a plan for a few programs. A first digit chooses the
 * program, and the text that follows stands behind the head of its plan, so
 * that the corpus outlives changes of graph hashes; any other text is the whole
 * file. A text that begins with 't' is a tuning file, whose entries are then
 * made to fit each program. A plan that is accepted makes kernels that verify.
 */
#include "support/base.h"

#include "harness.h"

#include "driver/pipeline.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sched/plan.h"
#include "sched/tuned.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

static const char *const programs[] = {
    "fusion f(x: f16[M, N], w: f16[N]) -> (y: f16[M, N]) {"
    " y = softmax(f32(x)) * w; }",
    "fusion f(x: bf16[M, N], dy: bf16[M, N], w: bf16[N])"
    " -> (dx: bf16[M, N], dw: f32[N]) {"
    " s = sum(f32(x) * dy * w, axis=-1, keepdim=true);"
    " dx = dy * w - x * s; dw = sum(f32(x) * dy, axis=0); }",
    "fusion f(x: f32[M, N], y: f32[N]) -> (z: f32[M, N], b: bool[M, N]) {"
    " z = exp(x) + y; b = z > 0; }",
    "fusion f(x: f32[B, M, N]) -> (y: f32[B, N]) { y = sum(x, axis=1); }"
    " fusion g(x: f32[M, N]) -> (y: f32[N, M]) {"
    " y = softmax(transpose(x * 2, 0, 1)); }",
};

enum { N_PROGRAMS = ARRAY_LEN(programs) };

static struct {
    struct pipeline pipeline;
    struct options options;
    const char *head; /* "plan 1 graph 0123456789abcdef " */
} ready[N_PROGRAMS];

static void
make_ready(void)
{
    static char *words[] = {NULL, NULL, NULL};
    struct arena *a = arena_new(); /* for good */

    words[0] = words[1] = arena_strdup(a, "fuzz.fusion");
    for (int i = 0; i < N_PROGRAMS; i++) {
        struct pipeline *p = &ready[i].pipeline;
        const char *plan;
        struct buf out;

        buf_init(&out, a);
        *p = (struct pipeline){.arena = a,
                               .diag = diag_new(a),
                               .options = &ready[i].options,
                               .text = programs[i],
                               .len = strlen(programs[i])};
        if (!options_parse(a, p->diag, 2, words, p->options))
            BUG("no options");
        memset(p->options->emit, 0, sizeof(p->options->emit));
        p->options->emit[ART_PLAN] = true;
        p->options->output = "-";
        if (!pipeline_make(p, &out)) {
            diag_flush(p->diag, stderr, &(struct diag_style){.tool = "fuzz"});
            BUG("program %d is refused", i);
        }
        plan = p->outputs.art[ART_PLAN].data;
        ready[i].head = arena_printf(
            a, "%.*s ", (int)(strstr(plan, "fusion") - plan), plan);
    }
}

/* The kernels of what the pipeline has chosen. */
static void
check_plans(struct pipeline *p)
{
    for (uint32_t i = 0; i < p->n_units; i++)
        p->units[i].lowered = NULL;
    accept_plans(p);
    for (uint32_t i = 0; i < p->n_units; i++)
        fuzz_check_kernels(p->arena, p->units[i].lowered);
}

/* A pipeline of one input's, with the program's graphs and facts. */
static struct pipeline
copy_ready(struct arena *a, int which)
{
    struct pipeline p = ready[which].pipeline;

    p.arena = a;
    p.diag = diag_new(a);
    p.units = NEW_ARRAY(a, struct unit, p.n_units);
    memcpy(p.units, ready[which].pipeline.units, p.n_units * sizeof(*p.units));
    return p;
}

static void
apply_tuned(struct arena *a, const struct tuned_file *f, int which)
{
    struct pipeline p = copy_ready(a, which);
    struct select_options opt = {
        .device = p.device.device, .device_name = "h200", .tuned = f};

    for (uint32_t i = 0; i < p.n_units; i++) {
        for (uint32_t k = 0; k < f->n_entries; k++) {
            struct tuned_entry *e = &f->entries[k];

            graph_signature(p.units[i].simple, e->signature);
            e->device = "h200";
            e->rows[0] = e->columns[0] = 0;
            e->rows[1] = e->columns[1] = INT64_MAX;
        }
        p.units[i].selection = select_plans(a, p.units[i].facts, &opt, p.diag);
        p.units[i].plan = selection_plan(a, p.units[i].selection);
    }
    check_plans(&p);
    fuzz_flush(p.diag);
}

static void
fuzz_tuned(struct arena *a, const char *text, size_t len)
{
    struct diag *d = diag_new(a);
    const struct tuned_file *f =
        tuned_parse(a, d, source_new(a, "fuzz.txt", text, len));

    if (!f && diag_errors(d) == 0)
        BUG("a tuning file was refused without a message");
    fuzz_flush(d);
    for (int i = 0; f && f->n_entries && i < N_PROGRAMS; i++)
        apply_tuned(a, f, i);
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    int which = len && text[0] >= '0' && text[0] < '0' + N_PROGRAMS
                    ? text[0] - '0'
                    : -1;
    struct pipeline p;
    bool ok;

    if (!ready[0].head)
        make_ready();
    if (len && text[0] == 't') {
        fuzz_tuned(a, text, len);
        return;
    }
    p = copy_ready(a, MAX(which, 0));
    if (which >= 0) {
        struct buf b;

        buf_init(&b, a);
        buf_puts(&b, ready[which].head);
        buf_write(&b, text + 1, len - 1);
        ok = force_plan_text(&p, "fuzz.plan", buf_str(&b), b.len);
    } else {
        ok = force_plan_text(&p, "fuzz.plan", text, len);
    }
    if (!ok && diag_errors(p.diag) == 0)
        BUG("a plan was refused without a message");
    if (ok)
        check_plans(&p);
    fuzz_flush(p.diag);
}
