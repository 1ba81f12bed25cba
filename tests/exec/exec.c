/* SPDX-License-Identifier: Apache-2.0 */
/* exec: reads the cases, compiles, runs, reports as TAP.
 *
 *     exec CASE.fusion... -- COMPILER [OPTION...]
 *
 * COMPILER makes a shared library of a C++ text; "-o OUT IN" is appended. */
#include "support/base.h"

#include "exec.h"

#include "codegen/codegen.h"
#include "device/device.h"
#include "front/front.h"
#include "sched/select.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

/* What is compiled stays loaded until the file is done: lines that bind nothing
 * share their libraries. */
struct library {
    const char *text;
    struct emulation emu;
};

struct libraries {
    struct arena *arena;
    const char *const *compiler;
    VEC(struct library *) all;
};

struct test_case {
    struct arena *arena;
    const char *path;
    struct libraries *libraries;
    struct setting settings[MAX_SETTINGS];
    uint32_t n_settings;
    struct binding bindings[MAX_SETTINGS];
    uint32_t n_bindings;
    uint32_t variants; /* that ran */
};

static const char prefix[] = "# EXEC:";

static void
read_word(struct test_case *t, const char *word, size_t n)
{
    bool bind = n > 2 && word[0] == '-' && word[1] == 'D';
    char *name = arena_strndup(t->arena, word + 2 * bind, n - 2 * bind);
    char *equals = strchr(name, '=');

    if (!equals || t->n_settings == MAX_SETTINGS) {
        fprintf(stderr, "%s: bad word '%s'\n", t->path, name);
        exit(EXIT_USAGE);
    }
    *equals = '\0';
    t->settings[t->n_settings++] = (struct setting){name, equals + 1};
    if (bind)
        t->bindings[t->n_bindings++] =
            (struct binding){name, equals + 1, false};
}

static void
read_line(struct test_case *t, const char *line, size_t n)
{
    t->n_settings = t->n_bindings = t->variants = 0;
    for (size_t i = 0; i < n;) {
        size_t len = strcspn(line + i, " \n");

        len = MIN(len, n - i);
        if (len)
            read_word(t, line + i, len);
        i += len + 1;
    }
}

static struct module *
load(struct test_case *t)
{
    struct front_options opt = {.bindings = t->bindings,
                                .n_bindings = t->n_bindings};
    struct diag *d = diag_new(t->arena);
    struct module *m = front_load(t->arena, d, t->path, &opt);
    struct diag_style style = {.tool = "exec"};

    diag_flush(d, stderr, &style);
    return m && !diag_errors(d) ? m : NULL;
}

static bool
run_variants(struct test_case *t, struct run *r)
{
    bool ok = true;

    for (uint32_t v = 0; v < r->low->variants.n; v++) {
        bool admitted = false;

        ok &= exec_variant(r, v, &admitted);
        t->variants += admitted;
    }
    return ok;
}

/* Random inputs, or those that the line asks for; then small integers, for
 * which f32 is exact. */
static bool
run_all(struct test_case *t, struct run *r)
{
    struct input_spec ints;
    bool ok;

    if (!input_spec_parse("ints(-3,3)", &ints))
        BUG("the form of inputs has changed");
    if (!exec_prepare(r, NULL))
        return false;
    ok = run_variants(t, r);
    if (exec_shares(r->resolved)) {
        r->share = true;
        ok = exec_prepare(r, NULL) && run_variants(t, r) && ok;
        r->share = false;
    }
    r->exact = true;
    return exec_prepare(r, &ints) && run_variants(t, r) && ok;
}

/* The library of this text, which is made when it is new; NULL after a message.
 */
static const struct emulation *
library_of(struct libraries *l, const char *text)
{
    struct library *lib;

    for (uint32_t i = 0; i < l->all.n; i++)
        if (strcmp(l->all.v[i]->text, text) == 0)
            return &l->all.v[i]->emu;
    lib = NEW(l->arena, struct library);
    lib->text = arena_strdup(l->arena, text);
    if (!exec_build(l->arena, l->compiler, text, &lib->emu))
        return NULL;
    VEC_PUSH(l->arena, &l->all, lib);
    return &lib->emu;
}

static const char *
word(const struct test_case *t, const char *name, const char *otherwise)
{
    for (uint32_t i = 0; i < t->n_settings; i++)
        if (strcmp(t->settings[i].name, name) == 0)
            return t->settings[i].value;
    return otherwise;
}

/* `device=a100,sms=6` on the line, or the device that all is measured on with
 * so few multiprocessors that a persistent block takes several rows. */
static const struct device *
device_of(struct test_case *t)
{
    const char *text = word(t, "device", "h200,sms=5"), *why = NULL;
    const char *comma = strchr(text, ',');
    const struct device *dev;

    dev = device_find(
        comma ? arena_strndup(t->arena, text, (size_t)(comma - text)) : text);
    if (dev && comma)
        dev = device_override(t->arena, dev, comma + 1, &why);
    if (!dev) {
        fprintf(stderr, "%s: bad device '%s'\n", t->path, text);
        exit(EXIT_USAGE);
    }
    return dev;
}

static const struct lowered *
lower(struct test_case *t, const struct graph *g)
{
    struct facts *f = facts_prepare(t->arena, g);
    uint32_t per_slot = (uint32_t)strtoul(word(t, "plans", "6"), NULL, 10);
    const struct device *dev = device_of(t);
    const char *sums = word(t, "sums", "");
    struct fusion_plan *plan;

    if (*word(t, "rings", ""))
        plan = exec_rings(t->arena, f, dev, per_slot);
    else if (*word(t, "parts", ""))
        plan = exec_parts(t->arena, f, dev, per_slot);
    else if (*word(t, "kinds", ""))
        plan = exec_kinds(t->arena, f, dev);
    else
        plan = exec_plans(t->arena, f, dev, per_slot);
    if (*sums)
        plan = exec_sums(t->arena, f, dev, plan, strcmp(sums, "mixed") == 0);
    plan = exec_forced(t->arena, f, dev, plan, t->settings, t->n_settings);
    return lower_fusion(t->arena, f, plan);
}

/* All fusions of the file make one library: its engine is compiled once. */
static bool
run_line(struct test_case *t)
{
    struct codegen_options opt = {.version = "test"};
    struct module *m = load(t);
    const struct lowered **all;
    const struct emulation *emu;
    bool ok = true;

    if (!m)
        return false;
    all = NEW_ARRAY(t->arena, const struct lowered *, m->n_graphs + 1);
    for (uint32_t i = 0; i < m->n_graphs; i++)
        all[i] = lower(t, m->graphs[i]);
    emu = library_of(t->libraries,
                     codegen_cuda(t->arena, all, m->n_graphs, &opt));
    for (uint32_t i = 0; i < m->n_graphs && emu && ok; i++) {
        struct run r = {.arena = t->arena,
                        .resolved = m->graphs[i],
                        .low = all[i],
                        .emu = emu,
                        .sms = (unsigned)device_of(t)->sms,
                        .settings = t->settings,
                        .n_settings = t->n_settings};

        ok = run_all(t, &r);
    }
    return emu && ok && t->variants > 0;
}

static unsigned
run_file(const char *path, const char *const *compiler, unsigned *number)
{
    struct arena *a = arena_new();
    struct libraries libraries = {.arena = a, .compiler = compiler};
    unsigned failed = 0;
    size_t len;
    const char *text = io_read(a, path, &len), *base = strrchr(path, '/');

    if (!text) {
        fprintf(stderr, "cannot read '%s'\n", path);
        exit(EXIT_ENVIRONMENT);
    }
    for (const char *at = text; (at = strstr(at, prefix)) != NULL;) {
        struct test_case t = {.path = path, .libraries = &libraries};
        size_t n;
        bool ok;

        at += sizeof(prefix) - 1;
        n = strcspn(at, "\n");
        t.arena = arena_new();
        read_line(&t, at, n);
        ok = run_line(&t);
        failed += !ok;
        printf("%s %u - %s:%.*s (%u runs)\n", ok ? "ok" : "not ok", ++*number,
               base ? base + 1 : path, (int)n, at, t.variants);
        fflush(stdout);
        arena_free(t.arena);
    }
    for (uint32_t i = 0; i < libraries.all.n; i++)
        emulation_close(&libraries.all.v[i]->emu);
    arena_free(a);
    return failed;
}

int
main(int argc, char **argv)
{
    unsigned number = 0, failed = 0;
    int split = 1;

    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split + 1 >= argc) {
        fprintf(stderr, "usage: exec CASE.fusion... -- COMPILER [OPTION...]\n");
        return EXIT_USAGE;
    }
    for (int i = 1; i < split; i++)
        failed +=
            run_file(argv[i], (const char *const *)argv + split + 1, &number);
    printf("1..%u\n", number);
    return failed || !number ? EXIT_INPUT : EXIT_OK;
}
