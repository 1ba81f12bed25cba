/* SPDX-License-Identifier: Apache-2.0 */
/* options: the command line as data. */
#ifndef FUSEC_DRIVER_OPTIONS_H
#define FUSEC_DRIVER_OPTIONS_H

#include "front/front.h"
#include "sched/select.h"
#include "support/vec.h"

struct diag;

/* What can be written, in the order in which it is: readers of an output may
 * rely on those before it. */
enum artifact {
    ART_AST,
    ART_GRAPH,
    ART_DOT,
    ART_FUSION,
    ART_PLAN,
    ART_KERNEL,
    ART_CU,
    ART_JSON,
    ART_CUBIN,
    ART_PTX,
    ART_COUNT,
    ART_NONE = ART_COUNT
};
extern const char *const artifact_suffix[ART_COUNT]; /* "ast", "graph" ... */

/* What to do: compile, or print something about ourselves. */
enum action {
    DO_COMPILE,
    DO_PRINT_NVRTC,
    DO_LIST_DEVICES,
    DO_LIST_OPS,
    DO_LIST_SCHEDULERS,
    DO_LIST_PLAN_KEYS,
    DO_EXPLAIN_ERROR,
    DO_VERSION,
    DO_HELP,
};

enum explain { EXPLAIN_NONE, EXPLAIN_TEXT, EXPLAIN_ALL, EXPLAIN_JSON };
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct options {
    enum action action;
    const char *error_id; /* --explain-error */

    const char *input;
    const char *output;   /* -o, or NULL */
    bool emit[ART_COUNT]; /* what to make: --emit, or by -o */
    bool emit_given;
    const char *device, *arch;
    VEC(struct binding) bindings;
    VEC(struct hint) hints;
    VEC(const char *) include_dirs;
    VEC(const char *) sets;
    const char *plan, *tuned;
    bool untuned;
    uint32_t candidates; /* how many to print; 0: none */
    enum explain explain;

    bool depfile, dep_phony;
    const char *dep_file, *dep_target;
    bool check, restat;
    bool check_listed, check_cuda, check_manifest;

    bool use_nvcc;
    const char *nvrtc;
    const char *max_ptx; /* "8.5", or NULL */
    bool fast_math, no_fmad, lineinfo, no_embed_program;
    bool json_diagnostics;
    enum color color;
};

/* False after a usage error, which is in D. Warning options act on D at once.
 */
bool options_parse(struct arena *a, struct diag *d, int argc, char **argv,
                   struct options *ret);
void options_help(struct buf *b);
/* The artifact a file name's suffix stands for, or ART_NONE. */
enum artifact artifact_of(const char *path);

#endif
