/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline: the stages in their order, over one file. */
#ifndef FUSEC_DRIVER_PIPELINE_H
#define FUSEC_DRIVER_PIPELINE_H

#include "backend/compile.h"
#include "backend/manifest.h"
#include "backend/report.h"
#include "driver/device_choice.h"
#include "driver/options.h"
#include "driver/outputs.h"

/* What is known of one fusion; filled from top to bottom. */
struct unit {
    const struct graph *resolved, *simple;
    struct facts *facts;
    struct selection *selection; /* NULL when the plan is forced */
    struct selection *given;     /* a forced plan that is to be explained */
    struct fusion_plan *plan;
    struct lowered *lowered;
    uint32_t *tries; /* by slot: plans that were compiled and not taken */
};

struct pipeline {
    struct arena *arena;
    struct diag *diag;
    struct options *options;
    const char *text; /* of the input; NULL: still to be read */
    size_t len;
    struct chosen_device device;
    struct outputs outputs;

    struct module *module;
    struct unit *units;
    uint32_t n_units;

    const char *cuda;
    bool compiled;
    struct cuda_result result;
    struct report report;
    VEC(struct rejected_plan) rejected;
};

struct tuned_file;

/* Runs all stages that the options ask for and writes or compares the outputs.
 * What goes to standard output beside them is appended to TO_STDOUT. False
 * after an error, which is in the diag, or after a difference that --check
 * found. */
bool pipeline_run(struct pipeline *p, struct buf *to_stdout);
/* The same without the last step: what was made stays in p->outputs. */
bool pipeline_make(struct pipeline *p, struct buf *to_stdout);

/* forced.c: the plans of --plan, costed and checked. */
bool force_plans(struct pipeline *p);
/* The same from a text in memory: a plan, or a manifest with one inside. */
bool force_plan_text(struct pipeline *p, const char *name, const char *text,
                     size_t len);

/* The tuning file of --tuned; NULL after an error. */
const struct tuned_file *read_tuned(struct pipeline *p);
/* The measured plans that come with fusec for these fusions; NULL when it has
 * none for the device. */
const struct tuned_file *read_measured(struct pipeline *p);

/* accept.c: the kernels as CUDA text, then compiled and the report read, with
 * the next candidate for every plan that uses local memory. */
bool accept_plans(struct pipeline *p);

/* explained.c: the answers to --explain and --candidates. */
void explain_choice(const struct pipeline *p, struct buf *to);

#endif
