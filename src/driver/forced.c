/* SPDX-License-Identifier: Apache-2.0 */
/* forced: plans that come from a plan file or a manifest, and the tuning files
 * that a choice prefers: the user's, and the one that comes with fusec.
 *
 * They may have been edited, so they meet the limits that every candidate
 * meets, and each variant's guard takes in what its kernels rely on: a plan can
 * be slow, never wrong. */
#include "support/base.h"

#include "driver/pipeline.h"

#include "sched/parts.h"
#include "sched/plan_guard.h"
#include "sched/tuned.h"
#include "schedulers/measured.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"

#include <errno.h>

static const struct span nowhere = {0};

/* The text of a plan file, or the plan inside a manifest. */
static const struct source *
find_plan(struct pipeline *p, const char *name, const char *text, size_t len)
{
    const char *why;

    if (text[strspn(text, " \t\r\n")] == '{') {
        text = manifest_plan(p->arena, text, len, &why);
        if (!text) {
            diag_report(p->diag, DIAG_BAD_PLAN_FILE, nowhere, name, why);
            return NULL;
        }
        len = strlen(text);
    }
    return source_new(p->arena, name, text, len);
}

/* --- checking ------------------------------------------------------------ */

static bool
check_kernel(struct pipeline *p, const struct unit *u, uint32_t v, uint32_t k)
{
    struct variant_plan *plan = &u->plan->variants[v];
    const struct kernel_plan *kernel = &plan->kernels[k];
    const char *why = part_refuse(p->arena, u->facts, plan, k);
    const struct facts *part = u->facts;

    if (!why) {
        part = part_facts(p->arena, u->facts, plan, k);
        why = plan_infeasible(p->arena, part, kernel, p->device.device,
                              &plan->cost);
    }
    if (why) {
        diag_report(p->diag, DIAG_PLAN_INFEASIBLE, nowhere, u->simple->name, v,
                    k, why);
        return false;
    }
    plan->guard = plan_guard_join(p->arena, plan->guard ? plan->guard : "",
                                  plan_required_guard(p->arena, part, kernel));
    return true;
}

static bool
check_unit(struct pipeline *p, const struct unit *u)
{
    bool ok = true;

    for (uint32_t v = 0; v < u->plan->n_variants; v++) {
        struct variant_plan *plan = &u->plan->variants[v];
        double total_ns = 0;

        for (uint32_t k = 0; k < plan->n_kernels; k++) {
            ok = check_kernel(p, u, v, k) && ok;
            total_ns += plan->cost.total_ns;
        }
        plan->cost.total_ns = total_ns;
    }
    return ok;
}

bool
force_plan_text(struct pipeline *p, const char *name, const char *text,
                size_t len)
{
    const struct graph **graphs =
        NEW_ARRAY(p->arena, const struct graph *, p->n_units);
    const struct source *src = find_plan(p, name, text, len);
    struct fusion_plan **plans;
    bool ok = true;

    for (uint32_t i = 0; i < p->n_units; i++)
        graphs[i] = p->units[i].simple;
    if (!src || !plan_parse(p->arena, p->diag, src, graphs, p->n_units, &plans))
        return false;
    for (uint32_t i = 0; i < p->n_units; i++) {
        p->units[i].plan = plans[i];
        ok = check_unit(p, &p->units[i]) && ok;
    }
    return ok;
}

static const char *
read_or_complain(struct pipeline *p, const char *path, size_t *ret_len)
{
    const char *text = io_read(p->arena, path, ret_len);

    if (!text)
        diag_report(p->diag, DIAG_CANNOT_READ, nowhere, path, strerror(errno));
    return text;
}

static void
explain_given(struct pipeline *p)
{
    const struct select_options opt = {
        .device = p->device.device,
        .hints = p->options->hints.v,
        .n_hints = p->options->hints.n,
    };

    for (uint32_t i = 0; i < p->n_units; i++) {
        struct unit *u = &p->units[i];

        u->given = select_given(p->arena, u->facts, &opt, u->plan);
    }
}

bool
force_plans(struct pipeline *p)
{
    const char *path = p->options->plan;
    size_t len;
    const char *text = read_or_complain(p, path, &len);

    if (!text || !force_plan_text(p, path, text, len))
        return false;
    if (p->options->explain)
        explain_given(p);
    return true;
}

const struct tuned_file *
read_tuned(struct pipeline *p)
{
    const char *path = p->options->tuned;
    size_t len;
    const char *text = read_or_complain(p, path, &len);

    if (!text)
        return NULL;
    return tuned_parse(p->arena, p->diag,
                       source_new(p->arena, path, text, len));
}

/* "h200.txt" is the table of h200. */
static bool
is_table_of(const struct embedded *table, const char *device)
{
    size_t n = strlen(device);

    return !strncmp(table->name, device, n) && !strcmp(table->name + n, ".txt");
}

static const struct tuned_file *
measured_of(struct pipeline *p, const struct embedded *table)
{
    const struct graph **graphs =
        NEW_ARRAY(p->arena, const struct graph *, p->n_units);

    for (uint32_t i = 0; i < p->n_units; i++)
        graphs[i] = p->units[i].facts->g;
    return tuned_parse(
        p->arena, p->diag,
        tuned_extract(p->arena, table->name, table->text, graphs, p->n_units));
}

const struct tuned_file *
read_measured(struct pipeline *p)
{
    for (unsigned i = 0; i < measured_plans_count; i++)
        if (is_table_of(&measured_plans[i], p->device.name))
            return measured_of(p, &measured_plans[i]);
    return NULL;
}
