/* SPDX-License-Identifier: Apache-2.0 */
/* accept: the compiler checks its own plans against the assembler.
 *
 * The text is compiled, the report read, and every variant whose kernels use
 * local memory gives way to its next candidate; after MAX_TRIES to the one that
 * leaves most registers free, then to fallback.
 * Then all is compiled again. Where nothing is left, or the plan was forced, a
 * warning says what remains. Without PTX or cubin to make, the first candidates
 * are printed and no compiler runs. */
#include "support/base.h"

#include "driver/pipeline.h"

#include "backend/nvcc.h"
#include "backend/nvrtc.h"
#include "codegen/codegen.h"
#include "lower/lower.h"
#include "sched/parts.h"
#include "support/arena.h"
#include "support/diag.h"

#include <stdlib.h>

/* What the range reduction of sin, cos and tan may keep on the stack. */
enum { MAX_TRIES = 4, RANGE_REDUCTION_BYTES = 64, MAX_LOG_LINES = 60 };

static const struct span nowhere = {0};

static void
generate(struct pipeline *p)
{
    const struct lowered **all =
        NEW_ARRAY(p->arena, const struct lowered *, p->n_units);
    struct codegen_options opt = {.version = FUSEC_VERSION};

    for (uint32_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];

        if (!u->lowered)
            u->lowered = lower_fusion(p->arena, u->facts, u->plan);
        all[i] = u->lowered;
    }
    p->cuda = codegen_cuda(p->arena, all, p->n_units, &opt);
}

/* --- compiling ----------------------------------------------------------- */

static const char *
compiler_name(const struct pipeline *p)
{
    return arena_printf(p->arena, "%s %s",
                        p->options->use_nvcc ? "nvcc" : "NVRTC",
                        p->result.version);
}

static bool
run_nvrtc(struct pipeline *p, const struct cuda_request *req,
          struct nvrtc **library, const char **ret_why)
{
    const char *why;

    if (!*library)
        *library = nvrtc_load(p->arena, p->options->nvrtc, &why);
    if (!*library) {
        diag_report(p->diag, DIAG_NO_NVRTC, nowhere, why);
        *ret_why = NULL;
        return false;
    }
    return nvrtc_compile(p->arena, *library, req, &p->result, ret_why);
}

/* The compiler's words, a note a line. */
static void
note_log(struct pipeline *p)
{
    const char *log = p->result.log;

    for (int i = 0; i < MAX_LOG_LINES && *log; i++) {
        size_t n = strcspn(log, "\n");

        if (n)
            diag_note(p->diag, nowhere, "%.*s", (int)n, log);
        log += n + (log[n] == '\n');
    }
}

static bool
refused(struct pipeline *p)
{
    const char *kept = outputs_keep_rejected(&p->outputs, p->cuda);

    diag_report(p->diag, DIAG_COMPILER_REJECTED, nowhere,
                kept ? kept : "(nowhere: it could not be written)");
    note_log(p);
    return false;
}

/* True when version A, "8.10", comes after B, "8.9". */
static bool
is_newer(const char *a, const char *b)
{
    char *a_end, *b_end;
    unsigned long a_major = strtoul(a, &a_end, 10);
    unsigned long b_major = strtoul(b, &b_end, 10);

    if (a_major != b_major)
        return a_major > b_major;
    return *a_end && *b_end &&
           strtoul(a_end + 1, NULL, 10) > strtoul(b_end + 1, NULL, 10);
}

static bool
check_ptx_version(const struct pipeline *p)
{
    const char *most = p->options->max_ptx, *isa;

    if (!most || !p->options->emit[ART_PTX])
        return true;
    isa = report_ptx_isa(p->arena, p->result.ptx, p->result.ptx_len);
    if (!is_newer(isa, most))
        return true;
    diag_report(p->diag, DIAG_PTX_TOO_NEW, nowhere, compiler_name(p), isa,
                most);
    return false;
}

static bool
compile(struct pipeline *p, struct nvrtc **library)
{
    const struct options *o = p->options;
    struct cuda_request req = {
        .text = p->cuda,
        .name = outputs_cuda_name(&p->outputs),
        .arch = p->device.device->arch,
        .fast_math = o->fast_math,
        .no_fmad = o->no_fmad,
        .lineinfo = o->lineinfo,
    };
    const char *why = NULL;
    bool done;

    if (o->use_nvcc)
        done = nvcc_compile(p->arena, &req, &p->result, &why);
    else
        done = run_nvrtc(p, &req, library, &why);
    if (!done) {
        if (why)
            diag_report(p->diag, DIAG_COMPILER_FAILED, nowhere, why);
        return false;
    }
    if (!p->result.ok)
        return refused(p);
    p->compiled = true;
    if (!report_parse(p->arena, p->result.log, &p->report))
        p->report = (struct report){0}; /* judge says so */
    return check_ptx_version(p);
}

/* --- judging ------------------------------------------------------------- */

static bool
may_use_stack(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        if (op_info[graph_node(g, i)->op].flags & OPF_LOCAL_MEMORY)
            return true;
    }
    return false;
}

/* Bytes of device functions that were not inlined: every kernel may call
 * them. */
static unsigned
shared_bytes(const struct report *r)
{
    unsigned bytes = 0;

    for (uint32_t i = 0; i < r->kernels.n; i++) {
        if (!r->kernels.v[i].is_entry)
            bytes += report_local_bytes(&r->kernels.v[i]);
    }
    return bytes;
}

/* Local memory of a variant's worst kernel, 0 when it is allowed. */
static unsigned
variant_bytes(const struct pipeline *p, const struct unit *u, uint32_t v)
{
    const struct lowered_variant *x = &u->lowered->variants.v[v];
    bool stack = may_use_stack(u->simple);
    unsigned worst = 0;

    for (uint32_t i = 0; i < x->launches.n; i++) {
        const char *symbol = x->launches.v[i].kernel->symbol;
        const struct kernel_report *k = report_find(&p->report, symbol);
        unsigned bytes;

        if (!k) {
            diag_report(p->diag, DIAG_NO_REPORT, nowhere, compiler_name(p),
                        symbol);
            continue;
        }
        bytes = report_local_bytes(k) + shared_bytes(&p->report);
        if (stack && bytes == k->stack_bytes && bytes <= RANGE_REDUCTION_BYTES)
            bytes = 0;
        worst = MAX(worst, bytes);
    }
    return worst;
}

/* The slot's fallback candidate. */
static bool
take_fallback(struct variant_slot *slot)
{
    for (uint32_t i = slot->chosen + 1; i < slot->n_candidates; i++) {
        const struct candidate *c = &slot->candidates[i];

        if (!c->refused && variant_is_fallback(&c->plan)) {
            slot->chosen = i;
            return true;
        }
    }
    return false;
}

/* The next candidate of a slot: the next ones by time, then the one with room,
 * at last fallback; false when none is left. */
static bool
advance(struct pipeline *p, struct unit *u, uint32_t slot)
{
    struct variant_slot *s = &u->selection->slots[slot];

    if (++u->tries[slot] < MAX_TRIES)
        return selection_next(u->selection, slot, p->device.device);
    if (u->tries[slot] == MAX_TRIES &&
        selection_roomiest(u->selection, slot, p->device.device))
        return true;
    return u->tries[slot] <= MAX_TRIES + 1 && take_fallback(s);
}

/* True when another plan was taken. */
static bool
reject(struct pipeline *p, struct unit *u, uint32_t v, unsigned bytes)
{
    struct rejected_plan r = {u->simple->name, v, 0, bytes};
    struct variant_slot *slot;

    if (u->selection && v < u->selection->n_slots) {
        slot = &u->selection->slots[v];
        r.candidate = slot->chosen + 1;
        if (advance(p, u, v)) {
            VEC_PUSH(p->arena, &p->rejected, r);
            diag_report(p->diag, DIAG_PLAN_REJECTED, nowhere, (int)r.candidate,
                        bytes, compiler_name(p), (int)slot->chosen + 1);
            diag_note(p->diag, nowhere, "in variant %u of '%s'", v,
                      u->simple->name);
            return true;
        }
    }
    diag_report(p->diag, DIAG_PLAN_LOCAL_MEMORY, nowhere, v, u->simple->name,
                bytes);
    return false;
}

/* True when some plan was replaced: everything is to be compiled again. */
static bool
judge(struct pipeline *p)
{
    bool again = false;

    for (uint32_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];
        bool changed = false;

        for (uint32_t v = 0; v < u->lowered->variants.n; v++) {
            unsigned bytes = variant_bytes(p, u, v);

            if (bytes)
                changed = reject(p, u, v, bytes) || changed;
        }
        if (changed) {
            u->plan = selection_plan(p->arena, u->selection);
            u->lowered = NULL;
            again = true;
        }
    }
    return again;
}

bool
accept_plans(struct pipeline *p)
{
    const struct options *o = p->options;
    struct nvrtc *library = NULL;

    do {
        generate(p);
        if (!o->emit[ART_PTX] && !o->emit[ART_CUBIN])
            return true;
        if (!compile(p, &library))
            return false;
    } while (judge(p));
    return true;
}
