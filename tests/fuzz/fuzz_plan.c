/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan: any bytes as a plan for a few programs. A first digit chooses the
 * program, and the text that follows stands behind the head of its plan, so
 * that the corpus outlives changes of graph hashes; any other text is the whole
 * file. A plan that is accepted makes kernels that verify. */
#include "support/base.h"

#include "harness.h"

#include "driver/pipeline.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sched/plan.h"
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
    p = ready[MAX(which, 0)].pipeline;
    p.arena = a;
    p.diag = diag_new(a);
    p.units = NEW_ARRAY(a, struct unit, p.n_units);
    memcpy(p.units, ready[MAX(which, 0)].pipeline.units,
           p.n_units * sizeof(*p.units));
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
    if (ok) {
        for (uint32_t i = 0; i < p.n_units; i++)
            p.units[i].lowered = NULL;
        accept_plans(&p);
        for (uint32_t i = 0; i < p.n_units; i++)
            fuzz_check_kernels(a, p.units[i].lowered);
    }
    fuzz_flush(p.diag);
}
