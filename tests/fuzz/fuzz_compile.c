/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_compile: any bytes through every stage up to CUDA text and manifest.
 *
 * A first line `#: OPTIONS` gives the command line. What must hold of a program
 * that is accepted: its kernels verify, its plan reads back as itself, and the
 * launch library reads its manifest. */
#include "support/base.h"

#include "harness.h"
#include "readers.h"

#include "driver/pipeline.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sched/plan.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

enum { MAX_WORDS = 24 };

/* The words after "#:" as a command line for FILE. */
static char **
split_options(struct arena *a, const char *text, size_t len, int *ret_n)
{
    char **words = NEW_ARRAY(a, char *, MAX_WORDS + 3);
    int n = 0;
    size_t end;
    char *line;

    words[n++] = arena_strdup(a, "fuzz");
    words[n++] = arena_strdup(a, "fuzz.fusion");
    *ret_n = n;
    if (len < 2 || text[0] != '#' || text[1] != ':')
        return words;
    for (end = 2; end < len && text[end] != '\n';)
        end++;
    line = arena_strndup(a, text + 2, end - 2);
    while (n < MAX_WORDS + 2) {
        line += strspn(line, " ");
        if (!*line)
            break;
        words[n++] = line;
        line += strcspn(line, " ");
        if (*line)
            *line++ = '\0';
    }
    *ret_n = n;
    return words;
}

/* What would reach outside, or is another target's, is left out. */
static void
confine(struct options *o)
{
    o->input = "fuzz.fusion";
    o->output = "-";
    o->plan = NULL;
    o->include_dirs.n = 0;
    o->depfile = false;
    o->check = o->restat = false;
    if (o->device && strncmp(o->device, "native", 6) == 0)
        o->device = NULL;
    o->emit[ART_AST] = o->emit[ART_CUBIN] = o->emit[ART_PTX] = false;
    o->emit[ART_PLAN] = o->emit[ART_CU] = o->emit[ART_JSON] = true;
}

static void
check_plan(struct pipeline *p)
{
    const char *text = p->outputs.art[ART_PLAN].data;
    const struct graph **graphs =
        NEW_ARRAY(p->arena, const struct graph *, p->n_units);
    struct diag *d = diag_new(p->arena);
    struct fusion_plan **plans;
    struct buf b;

    for (uint32_t i = 0; i < p->n_units; i++)
        graphs[i] = p->units[i].simple;
    if (!plan_parse(p->arena, d,
                    source_new(p->arena, "plan", text, strlen(text)), graphs,
                    p->n_units, &plans)) {
        diag_flush(d, stderr, &(struct diag_style){.tool = "fuzz"});
        BUG("a printed plan is refused:\n%s", text);
    }
    buf_init(&b, p->arena);
    plan_print(&b, (const struct fusion_plan *const *)plans, p->n_units);
    if (strcmp(buf_str(&b), text) != 0)
        BUG("a printed plan prints differently:\n%s\n%s", text, buf_str(&b));
}

static void
check_manifest(struct pipeline *p)
{
    const char *text = p->outputs.art[ART_JSON].data;
    char why[256];

    if (!fuzz_launch_reads(text, why, sizeof(why)))
        BUG("a manifest is refused: %s\n%s", why, text);
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    struct diag *d = diag_new(a);
    struct options o;
    struct pipeline p = {
        .arena = a, .diag = d, .options = &o, .text = text, .len = len};
    struct buf out;
    int n;
    char **words = split_options(a, text, len, &n);

    buf_init(&out, a);
    if (options_parse(a, d, n, words, &o) && o.action == DO_COMPILE) {
        confine(&o);
        if (pipeline_make(&p, &out)) {
            for (uint32_t i = 0; i < p.n_units; i++)
                fuzz_check_kernels(a, p.units[i].lowered);
            check_plan(&p);
            check_manifest(&p);
        } else if (diag_errors(d) == 0) {
            BUG("a program was refused without a message");
        }
    }
    fuzz_flush(d);
}
