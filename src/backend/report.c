/* SPDX-License-Identifier: Apache-2.0 */
/* report: reads the log of `ptxas -v`.
 *
 *     ptxas info    : Compiling entry function 'k' for 'sm_90'
 *     ptxas info    : Function properties for k
 *     ptxas         .     0 bytes stack frame, 0 bytes spill stores, ...
 *     ptxas info    : Used 26 registers, used 1 barriers, 512 bytes smem
 *
 * Only the words are relied upon, not the prefixes, which differ between nvcc
 * and NVRTC and between versions. */
#include "support/base.h"

#include "backend/report.h"

#include "support/arena.h"
#include "support/vec.h"

#include <stdlib.h>

struct parser {
    struct arena *arena;
    struct report *report;
    int compiling; /* the entry being compiled, or -1 */
    int function;  /* the function whose properties follow, or -1 */
    bool has_properties;
};

/* The number before the word WHAT in the line, or NULL. */
static bool
number_before(const char *line, const char *what, unsigned *ret)
{
    const char *at = strstr(line, what);

    if (!at || at == line || at[-1] != ' ')
        return false;
    at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    *ret = (unsigned)strtoul(at, NULL, 10);
    return true;
}

/* The index of the kernel or function of that name. */
static int
get_kernel(struct parser *p, const char *name, size_t n)
{
    struct report *r = p->report;
    struct kernel_report k = {0};

    for (uint32_t i = 0; i < r->kernels.n; i++) {
        const char *have = r->kernels.v[i].symbol;

        if (strncmp(have, name, n) == 0 && !have[n])
            return (int)i;
    }
    k.symbol = arena_strndup(p->arena, name, n);
    VEC_PUSH(p->arena, &r->kernels, k);
    return (int)r->kernels.n - 1;
}

static void
take_properties(struct parser *p, const char *line)
{
    struct kernel_report *k = &p->report->kernels.v[p->function];

    number_before(line, "bytes stack frame", &k->stack_bytes);
    number_before(line, "bytes spill stores", &k->spill_store_bytes);
    number_before(line, "bytes spill loads", &k->spill_load_bytes);
    p->has_properties = true;
}

static void
take_usage(struct parser *p, const char *line)
{
    struct kernel_report *k = &p->report->kernels.v[p->compiling];

    number_before(line, "registers", &k->registers);
    number_before(line, "bytes smem", &k->smem_bytes);
}

static void
take_line(struct parser *p, const char *line)
{
    static const char entry[] = "Compiling entry function '";
    static const char properties[] = "Function properties for ";
    const char *at;

    if ((at = strstr(line, entry)) != NULL) {
        at += sizeof(entry) - 1;
        p->compiling = get_kernel(p, at, strcspn(at, "'"));
        p->report->kernels.v[p->compiling].is_entry = true;
    } else if ((at = strstr(line, properties)) != NULL) {
        at += sizeof(properties) - 1;
        p->function = get_kernel(p, at, strcspn(at, " \r"));
    } else if (p->function >= 0 && strstr(line, "bytes stack frame")) {
        take_properties(p, line);
    } else if (p->compiling >= 0 && strstr(line, " registers")) {
        take_usage(p, line);
    }
}

static int
compare(const void *pa, const void *pb)
{
    const struct kernel_report *a = pa, *b = pb;

    return strcmp(a->symbol, b->symbol);
}

bool
report_parse(struct arena *a, const char *log, struct report *ret)
{
    struct parser p = {
        .arena = a, .report = ret, .compiling = -1, .function = -1};

    *ret = (struct report){0};
    while (*log) {
        size_t n = strcspn(log, "\n");

        take_line(&p, arena_strndup(a, log, n));
        log += n + (log[n] == '\n');
    }
    if (!ret->kernels.n || !p.has_properties)
        return false;
    for (uint32_t i = 0; i < ret->kernels.n; i++) {
        if (ret->kernels.v[i].is_entry && !ret->kernels.v[i].registers)
            return false;
    }
    qsort(ret->kernels.v, ret->kernels.n, sizeof(*ret->kernels.v), compare);
    return true;
}

const struct kernel_report *
report_find(const struct report *r, const char *symbol)
{
    for (uint32_t i = 0; i < r->kernels.n; i++) {
        if (strcmp(r->kernels.v[i].symbol, symbol) == 0)
            return &r->kernels.v[i];
    }
    return NULL;
}

unsigned
report_local_bytes(const struct kernel_report *k)
{
    return k->stack_bytes + k->spill_store_bytes + k->spill_load_bytes;
}

/* The text between BEFORE and one of the characters END. */
static const char *
text_after(struct arena *a, const char *text, const char *before,
           const char *end)
{
    const char *at = text ? strstr(text, before) : NULL;

    if (!at)
        return NULL;
    at += strlen(before);
    return arena_strndup(a, at, strcspn(at, end));
}

const char *
report_version(struct arena *a, const char *ptx, size_t len, int major,
               int minor)
{
    const char *release = len ? text_after(a, ptx, "release ", "\n") : NULL;

    release = release ? strstr(release, ", V") : NULL;
    if (release)
        return release + 3;
    return arena_printf(a, "%d.%d", major, minor);
}

const char *
report_ptx_isa(struct arena *a, const char *ptx, size_t len)
{
    const char *isa = len ? text_after(a, ptx, "\n.version ", " \r\n") : NULL;

    return isa ? isa : "";
}

const char *
report_min_driver(const char *ptx_isa)
{
    static const struct {
        const char *isa, *driver;
    } rows[] = {
        {"7.8", "520"}, {"8.0", "525"}, {"8.1", "530"}, {"8.2", "535"},
        {"8.3", "545"}, {"8.4", "550"}, {"8.5", "555"}, {"8.6", "565"},
        {"8.7", "570"}, {"8.8", "575"}, {"9.0", "580"}, {"9.1", "590"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].isa, ptx_isa) == 0)
            return rows[i].driver;
    }
    return NULL;
}

long
report_dynamic_smem(const char *expression)
{
    char *end;
    long n;

    if (!expression || !*expression)
        return 0;
    n = strtol(expression, &end, 10);
    return !*end && n >= 0 ? n : -1;
}
