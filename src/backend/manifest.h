/* SPDX-License-Identifier: Apache-2.0 */
/* manifest: the JSON that lets a program launch the kernels without knowing the
 * .fusion file. docs/manifest.schema.json is its contract; keys stand in the
 * order of the schema. */
#ifndef FUSEC_BACKEND_MANIFEST_H
#define FUSEC_BACKEND_MANIFEST_H

#include "analysis/facts.h"
#include "backend/compile.h"
#include "backend/report.h"
#include "lower/lower.h"

struct device;

/* A plan that was compiled and not taken. */
struct rejected_plan {
    const char *fusion;
    uint32_t variant, candidate; /* candidate from 1, as --explain numbers */
    unsigned local_bytes;
};

struct manifest_toolchain {
    const struct cuda_result *result;
    const struct report *report;
    const struct rejected_plan *rejected;
    uint32_t n_rejected;
    bool fast_math, no_fmad; /* options that change results */
};

struct manifest_fusion {
    const struct facts *facts;
    const struct lowered *lowered;
};

struct manifest {
    const char *version;     /* of fusec */
    const char *device_name; /* with its overrides */
    const struct device *device;
    const char *cuda;    /* the text, for its hash */
    const char *program; /* NULL: not embedded */
    const char *plan;
    const struct manifest_fusion *fusions;
    uint32_t n_fusions;
    const struct manifest_toolchain *toolchain; /* NULL: nothing compiled */
};

/* NUL-terminated, with a final line end. */
const char *manifest_print(struct arena *a, const struct manifest *m);
/* The same text with toolchain null; NULL with *ret_why when TEXT isn't a
 * manifest. For --check=manifest. */
const char *manifest_without_toolchain(struct arena *a, const char *text,
                                       size_t len, const char **ret_why);
/* The plan inside a manifest, for --plan; NULL with *ret_why likewise. */
const char *manifest_plan(struct arena *a, const char *text, size_t len,
                          const char **ret_why);

#endif
