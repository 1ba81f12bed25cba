/* SPDX-License-Identifier: Apache-2.0 */
/* random_test: programs, each with every plan that the schedulers offer, in one
 * library, run on the CPU and compared with the interpreter.
 *
 *     random_test PROGRAM.fusion... [-- COMPILER [OPTION...]]
 *     random_test PROGRAM.fusion... -- nvrtc [WHERE]
 *
 * The second form runs them on the first GPU, both times in the same order.
 * Without a compiler the programs are planned and lowered, but not run.
 * A program is a file with one fusion, of a name of its own, and lines
 * `# EXEC: M=3 N=17`, as in tests/exec. One line of JSON a program on standard
 * output, at its end; messages on standard error after a line `== PROGRAM`. */
#include "support/base.h"

#include "random_gpu.h"
#include "tests/exec/exec.h"

#include "codegen/codegen.h"
#include "front/front.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LINES = 8, PLANS_OF_SLOT = 64, PLANS_OF_GUARD = 2 };

/* The settings of one EXEC line. */
struct sizes {
    struct setting settings[MAX_SETTINGS];
    uint32_t n;
};

/* One scheduler, or several kernels. */
enum { SEVERAL = SCHED_COUNT, KINDS };

struct program {
    struct arena *arena;
    const char *path;
    struct sizes lines[MAX_LINES];
    uint32_t n_lines;
    const struct graph *graph;
    const struct selection *selection;
    const struct lowered *low;
    const char *status;                    /* "ok", or what went wrong first */
    uint32_t variants[KINDS], runs[KINDS]; /* by kind_of */
    struct run total;                      /* its counters */
};

static const char prefix[] = "# EXEC:";

/* --- reading -------------------------------------------------------------- */

static bool
read_line(struct program *p, const char *line, size_t n)
{
    struct sizes *s = &p->lines[p->n_lines++];

    for (size_t i = 0; i < n;) {
        size_t len = MIN(strcspn(line + i, " \n"), n - i);
        char *word = arena_strndup(p->arena, line + i, len);
        char *equals = strchr(word, '=');

        i += len + 1;
        if (!len)
            continue;
        if (!equals || s->n == MAX_SETTINGS)
            return false;
        *equals = '\0';
        s->settings[s->n++] = (struct setting){word, equals + 1};
    }
    return true;
}

static bool
read_lines(struct program *p)
{
    size_t len;
    const char *at = io_read(p->arena, p->path, &len);

    while (at && (at = strstr(at, prefix)) != NULL) {
        at += sizeof(prefix) - 1;
        if (p->n_lines == MAX_LINES || !read_line(p, at, strcspn(at, "\n")))
            return false;
    }
    return p->n_lines > 0;
}

static bool
load(struct program *p)
{
    struct front_options opt = {0};
    struct diag *d = diag_new(p->arena);
    struct module *m = front_load(p->arena, d, p->path, &opt);
    struct diag_style style = {.tool = "random_test"};

    diag_flush(d, stderr, &style);
    if (!m || diag_errors(d) || m->n_graphs != 1)
        return false;
    p->graph = m->graphs[0];
    return true;
}

static int
kind_of(const struct variant_plan *v)
{
    return v->n_kernels > 1 ? (int)SEVERAL : (int)v->kernels[0].scheduler;
}

static const char *
kind_name(int kind)
{
    return kind == SEVERAL ? "several kernels" : scheduler_name[kind];
}

static uint32_t
same_guard(const struct fusion_plan *f, uint32_t from)
{
    uint32_t to = from;

    while (to < f->n_variants &&
           !strcmp(f->variants[to].guard, f->variants[from].guard))
        to++;
    return to - from;
}

/* Of two or five multiprocessors, by the program's name: a persistent block
 * takes several rows. */
static const struct device *
device_of(const struct program *p)
{
    bool few = input_stream(p->graph->name) & 1;
    const char *why;

    return device_override(p->arena, device_find("h200"),
                           few ? "sms=2" : "sms=5", &why);
}

/* The plans with each row shared by the blocks of a cluster, where that can be.
 */
static void
share_rows(struct program *p, const struct facts *f, struct fusion_plan *all)
{
    int cluster = 2 << (input_stream(p->graph->name) >> 6 & 1);
    struct plan_cost cost;

    for (uint32_t i = 1; i < all->n_variants; i++) {
        struct kernel_plan *k = NEW(p->arena, struct kernel_plan);
        int64_t *key = k->key;

        if (all->variants[i].n_kernels > 1)
            continue;
        *k = *all->variants[i].kernels;
        key[PK_CLUSTER] = cluster;
        key[PK_THREADS_PER_ROW] =
            (key[PK_THREADS_PER_ROW] + 32 * cluster - 1) / (32 * cluster) * 32;
        key[PK_THREADS] = key[PK_THREADS_PER_ROW];
        if (key[PK_FINISH] != FINISH_GRID &&
            !plan_infeasible(p->arena, f, k, device_find("h200"), &cost))
            all->variants[i].kernels = k;
    }
}

/* Fallback, which comes first, and of the plans for one guard a few, others for
 * other programs: compiling them is what takes the time. */
static struct fusion_plan *
some_plans(struct program *p, struct facts *f)
{
    struct fusion_plan *all =
        exec_all(p->arena, f, device_of(p), PLANS_OF_SLOT);
    uint32_t kept = 1, shift = (uint32_t)input_stream(p->graph->name);

    for (uint32_t i = 1, n; i < all->n_variants; i += n) {
        n = same_guard(all, i);
        for (uint32_t k = 0; k < n; k++)
            if ((k + shift) % n < PLANS_OF_GUARD)
                all->variants[kept++] = all->variants[i + k];
    }
    all->n_variants = kept;
    if (shift >> 4 & 1)
        share_rows(p, f, all);
    return all;
}

static void
plan(struct program *p)
{
    struct select_options opt = {.device = device_of(p)};
    struct facts *f = facts_prepare(p->arena, p->graph);
    const struct fusion_plan *all = some_plans(p, f);

    p->selection = select_plans(p->arena, f, &opt, diag_new(p->arena));
    p->low = lower_fusion(p->arena, f, all);
    for (uint32_t v = 0; v < all->n_variants; v++)
        p->variants[kind_of(&all->variants[v])]++;
}

/* --- running -------------------------------------------------------------- */

static bool
run_variants(struct program *p, struct run *r)
{
    for (uint32_t v = 0; v < r->low->variants.n; v++) {
        bool admitted = false, ok = exec_variant(r, v, &admitted);
        int kind = kind_of(&r->low->plan->variants[v]);

        p->runs[kind] += admitted;
        if (!ok) {
            fprintf(stderr, "in variant %u (%s)\n", v, kind_name(kind));
            p->status = "failed";
            return false;
        }
    }
    return true;
}

/* Random inputs, in place where the program allows it, then small integers. */
static void
run_sizes(struct program *p, const struct sizes *s, const struct emulation *emu)
{
    struct run r = p->total;
    struct input_spec ints = {INPUT_INTS, -3, 3};
    bool ok;

    r.arena = arena_new();
    r.resolved = p->graph;
    r.low = p->low;
    r.emu = emu;
    r.sms = (unsigned)device_of(p)->sms;
    r.settings = s->settings;
    r.n_settings = s->n;
    if (!exec_prepare(&r, NULL) || !exec_legal(&r)) {
        fprintf(stderr, "not legal at these sizes\n");
        p->status = "illegal";
    } else {
        ok = run_variants(p, &r);
        r.share = true;
        if (ok && exec_shares(p->graph))
            ok = exec_prepare(&r, NULL) && run_variants(p, &r);
        r.share = false;
        r.exact = true;
        if (ok && exec_prepare(&r, &ints))
            run_variants(p, &r);
        r.exact = false;
    }
    arena_free(r.arena);
    p->total = r;
}

/* --- reporting ------------------------------------------------------------ */

static void
print_counts(const char *name, const uint32_t *counts)
{
    const char *comma = "";

    printf(", \"%s\": {", name);
    for (int i = 0; i < KINDS; i++)
        if (counts[i]) {
            printf("%s\"%s\": %" PRIu32, comma, kind_name(i), counts[i]);
            comma = ", ";
        }
    printf("}");
}

static void
print_refusals(const struct selection *s)
{
    printf(", \"refusals\": {");
    for (uint32_t i = 0; s && i < s->n_refusals; i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "",
               scheduler_name[s->refusals[i].scheduler], s->refusals[i].why);
    printf("}");
}

static void
print_program(const struct program *p)
{
    printf("{\"file\": \"%s\", \"status\": \"%s\"", p->path, p->status);
    print_counts("variants", p->variants);
    print_counts("runs", p->runs);
    print_refusals(p->selection);
    printf(", \"checks\": %" PRIu32 ", \"hollow\": %" PRIu32
           ", \"elements\": %" PRId64 ", \"undecided\": %" PRId64 "}\n",
           p->total.checks, p->total.hollow, p->total.elements,
           p->total.undecided);
    fflush(stdout);
}

/* --- all ------------------------------------------------------------------ */

static void
open_program(struct program *p, const char *path)
{
    *p = (struct program){.path = path, .status = "ok", .arena = arena_new()};
    fprintf(stderr, "== %s\n", path);
    if (!read_lines(p))
        p->status = "no lines";
    else if (!load(p))
        p->status = "rejected";
    else
        plan(p);
}

static const char *
text_of(struct arena *a, const struct program *p, int n)
{
    struct codegen_options opt = {.version = "test"};
    const struct lowered **all = NEW_ARRAY(a, const struct lowered *, n + 1);
    uint32_t k = 0;

    for (int i = 0; i < n; i++)
        if (p[i].low)
            all[k++] = p[i].low;
    return k ? codegen_cuda(a, all, k, &opt) : NULL;
}

static bool
run_all(struct program *p, int n, const char *const *compiler)
{
    struct arena *a = arena_new();
    const char *text = *compiler ? text_of(a, p, n) : NULL;
    bool gpu = text && !strcmp(*compiler, "nvrtc"), ok = true;
    struct emulation emu;

    fprintf(stderr, "== all\n");
    if (text && !(gpu ? gpu_build(a, compiler[1], text, &emu)
                      : exec_build(a, compiler, text, &emu))) {
        fprintf(stderr, "the text does not compile\n");
        return false;
    }
    /* What went wrong on a GPU may have harmed it for the programs after. */
    for (int i = 0; i < n && (ok || !gpu); i++) {
        fprintf(stderr, "== %s\n", p[i].path);
        for (uint32_t k = 0; text && p[i].low && k < p[i].n_lines; k++)
            if (!strcmp(p[i].status, "ok"))
                run_sizes(&p[i], &p[i].lines[k], &emu);
        ok &= !strcmp(p[i].status, "ok");
        print_program(&p[i]);
        arena_free(p[i].arena);
    }
    if (gpu)
        gpu_close();
    else if (text)
        emulation_close(&emu);
    arena_free(a);
    return ok;
}

int
main(int argc, char **argv)
{
    const char *const *compiler = (const char *const *)argv;
    struct program *all;
    int split = 1;
    bool ok;

    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split == 1) {
        fprintf(stderr, "usage: random_test PROGRAM.fusion... [-- COMPILER "
                        "[OPTION...]]\n");
        return EXIT_USAGE;
    }
    compiler += MIN(split + 1, argc);
    all = calloc((size_t)split, sizeof(*all));
    if (!all)
        return EXIT_ENVIRONMENT;
    for (int i = 1; i < split; i++)
        open_program(&all[i - 1], argv[i]);
    ok = run_all(all, split - 1, compiler);
    free(all);
    return ok ? EXIT_OK : EXIT_INPUT;
}
