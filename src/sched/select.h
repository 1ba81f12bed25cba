/* SPDX-License-Identifier: Apache-2.0 */
/* select: proposes plans for a fusion, ranks them by cost, and explains. */
#ifndef FUSEC_SCHED_SELECT_H
#define FUSEC_SCHED_SELECT_H

#include "analysis/facts.h"
#include "device/device.h"
#include "sched/plan.h"

struct problem;
struct tuned_file;

struct hint { /* --hint NAME=VALUE */
    const char *name;
    int64_t value;
};

struct select_options {
    const struct device *device;
    const struct hint *hints;
    uint32_t n_hints;
    /* --set [fusion.][vN.][kN.][buffer.]key=value, applied to the chosen plan;
     * keep=WORD chooses the best candidate of that kind */
    const char *const *sets;
    uint32_t n_sets;
    /* Names of the file's fusions: a --set of another one is passed over. */
    const char *const *fusions;
    uint32_t n_fusions;
    /* Of one kind as many candidates are kept; 0: the two best. */
    uint32_t n_candidates;
    const struct tuned_file *tuned;    /* the user's, or NULL */
    const struct tuned_file *measured; /* those that come with us, or NULL */
    const char *device_name;           /* as a tuning file has it */
};

/* One proposal for one variant slot, cheapest first. */
struct candidate {
    struct variant_plan plan;
    const char *summary; /* "projection: keeps x, dy" */
    const char *keep;    /* the word of --set keep= that takes it; or NULL */
    const char *refused; /* infeasible: the limit it breaks; else NULL */
};
struct variant_slot {
    const char *guard;
    int64_t columns;              /* the cost model counts with */
    double floor_ns;              /* a copy of the bytes that must move */
    struct candidate *candidates; /* ranked; feasible ones first */
    uint32_t n_candidates;
    uint32_t chosen;
};
struct refusal {
    enum scheduler_id scheduler;
    const char *why;
};
struct selection {
    const struct facts *facts;
    const struct problem *problem; /* what the strategies were told */
    int64_t rows, columns;         /* the cost model counts with */
    struct variant_slot *slots;    /* the last one is unguarded */
    uint32_t n_slots;
    struct refusal *refusals;
    uint32_t n_refusals;
    struct refusal *notes; /* what a strategy that takes it doesn't look for */
    uint32_t n_notes;
};

struct selection *select_plans(struct arena *a, const struct facts *f,
                               const struct select_options *opt,
                               struct diag *d);
/* A plan that was given instead: one candidate a slot, for --explain. */
struct selection *select_given(struct arena *a, const struct facts *f,
                               const struct select_options *opt,
                               const struct fusion_plan *plan);
/* The plan made of each slot's chosen candidate. */
struct fusion_plan *selection_plan(struct arena *a, const struct selection *s);
/* After a spill report: takes slot's next feasible candidate (at last
 * fallback), past those that hold as much in as few registers; false when there
 * is none. Or the one behind that leaves most registers free, but fallback. */
bool selection_next(struct selection *s, uint32_t slot,
                    const struct device *dev);
bool selection_roomiest(struct selection *s, uint32_t slot,
                        const struct device *dev);
/* NULL when the device can run it, else the limit it breaks ("needs 140
 * registers a thread, 128 allowed"). The one feasibility function. */
const char *plan_infeasible(struct arena *a, const struct facts *f,
                            const struct kernel_plan *k,
                            const struct device *dev, struct plan_cost *ret);
/* What must hold at launch for the kernel's vectors and bound, as a manifest
 * expression; "" when nothing. A slot's guard implies that of its candidates.
 */
const char *plan_required_guard(struct arena *a, const struct facts *f,
                                const struct kernel_plan *k);
/* MOST plans of the slot that launches of the counted size take, a JSON object
 * a line, by predicted time: half of them the best, half the best of each kind
 * in turn. */
void candidates_print(struct buf *b, const struct selection *const *s,
                      uint32_t n, const char *device, uint32_t most);

#endif
