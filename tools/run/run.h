/* SPDX-License-Identifier: Apache-2.0 */
/* run: what the files of fusec-run share.
 *
 * A session is one fusion with its sizes fixed and its arguments in host
 * memory. A machine is where kernels run: a GPU, or this CPU through the
 * emulation. */
#ifndef FUSEC_TOOLS_RUN_RUN_H
#define FUSEC_TOOLS_RUN_RUN_H

#include "ir/eval.h"
#include "ir/inputs.h"
#include "tools/launch/match.h"

struct arena;
struct buf;

struct assignment {
    const char *name, *value;
    bool used;
};

struct options {
    const char *manifest; /* the first of manifests */
    const char **manifests;
    const char *fusion, *save_dir, *cxx, *cache;
    struct assignment *shapes, *inputs, *time_shapes;
    uint32_t n_manifests, n_shapes, n_inputs, n_time_shapes;
    unsigned warm_ups, replays; /* of --bench */
    bool repeat_inputs;         /* large inputs repeat their first part */
    uint64_t seed;
    unsigned threads;
    int device, sms;
    bool no_cache, check, bench, emulate, reference, help, version;
};
/* False with a message in why. */
bool options_parse(struct options *o, struct arena *a, int argc, char **argv,
                   struct buf *why);
const char *options_help(void);

/* What a status of the launch library means to the shell. */
int run_exit_status(int status);
/* Prints a message of several lines; returns the status. */
int run_complain(struct arena *a, const char *text, int status);
/* A file that cannot be read is missing; one that is no manifest is wrong. */
int run_read_manifest(const char *path, struct manifest *ret,
                      const struct message *msg);

struct session {
    struct arena *arena;
    const struct options *o;
    struct manifest *manifest;
    const struct fusec_fusion *f;
    const struct graph *g;     /* NULL: the manifest has no program */
    struct fusec_tensor *args; /* by parameter, in host memory */
    struct tensor *tensors;    /* the same for the interpreter */
    size_t *bytes;             /* of each parameter's memory */
    struct match match;        /* with the dimensions filled in */
};

/* Fixes sizes, allocates host memory and fills the inputs. */
int session_open(struct session *s, struct buf *why);
/* The sizes, arguments and values of FIRST for another plan of its program. */
int session_share(struct session *s, const struct session *first,
                  struct buf *why);
/* Fills all inputs that were not given as files: with the generator asked for,
 * or with small integers. */
void session_fill(struct session *s, bool integers);
void session_poison_outputs(struct session *s);
bool session_is_output(const struct session *s, uint32_t param);
/* Elements of strided outputs that the launch must have left alone: the name of
 * a parameter where it didn't, else NULL. */
const char *session_gap_written(const struct session *s);

struct placed;

struct machine {
    struct backend backend;
    void *data;
    void *(*alloc)(struct machine *m, size_t bytes); /* 256-byte aligned */
    void (*release)(struct machine *m);              /* all of it */
    int (*put)(struct machine *m, void *to, const void *from, size_t n,
               const struct message *msg);
    int (*get)(struct machine *m, void *to, const void *from, size_t n,
               const struct message *msg);
    int (*wait)(struct machine *m, const struct message *msg);
    /* Around the launches of a run that is checked; may be NULL. */
    int (*begin)(struct machine *m, const struct session *s,
                 const struct placed *p, const struct message *msg);
    int (*end)(struct machine *m, const struct message *msg);
    void (*close)(struct machine *m);
    const char *name;
};
int machine_open_gpu(struct machine *m, struct session *s,
                     const struct message *msg);
int machine_open_cpu(struct machine *m, struct session *s,
                     const struct message *msg);
struct emulation;
/* The library of the .cu beside the manifest, from the cache or compiled. */
int cpu_build(struct session *s, struct emulation *ret,
              const struct message *msg);
/* What has been emulated and checked, in one line. */
void machine_cpu_print(struct machine *m);
/* Emulation: run the threads of a block in descending order. */
void machine_cpu_reverse(struct machine *m, bool on);

/* The arguments in the machine's memory, with a workspace. */
struct placed {
    struct machine *m;
    struct fusec_tensor *args;
    bool in_place; /* outputs stand in the inputs that they may overwrite */
    void *workspace;
    size_t workspace_bytes;
    struct match match;
};
int placed_open(struct placed *p, struct session *s, struct machine *m,
                const struct message *msg);
/* The arguments of OF for another plan, with a workspace of its own. */
int placed_share(struct placed *p, const struct placed *of, struct session *s,
                 struct machine *m, const struct message *msg);
/* Lets every output that may be in place be so. */
void placed_alias(struct placed *p, struct session *s);
/* Copies all arguments there, launches, waits, and copies the outputs back. */
int placed_run(struct placed *p, struct session *s, int *ret_variant,
               const struct message *msg);
int placed_launch(struct placed *p, void *stream, int *ret_variant,
                  const struct message *msg);

/* The reference's values of every output, or NULL with a message. */
struct eval *reference_run(struct session *s, struct arena *a, struct buf *why);
/* Writes the reference's outputs into the session's memory. */
int reference_store(struct session *s, struct buf *why);
/* Runs, compares, prints one line an output. EXIT_*. */
int check_run(struct session *s, struct machine *m);
/* The same of several plans against one evaluation of the reference, with few
 * words: what is wrong, and then a line a plan. Stops at a launch that fails.
 */
int check_plans(struct session *const *s, struct machine *const *m, uint32_t n,
                bool *ret_wrong);
/* Times the plans and a copy, which take turns. With COMPARE their results are
 * compared with each other first. */
int bench_run(struct session *const *s, struct machine *const *m, uint32_t n,
              bool compare);
/* All that the options ask of several plans of one program. */
int plans_run(struct arena *a, struct options *o);
int save_outputs(const struct session *s, struct buf *why);
/* "y bf16[128, 512]" */
const char *describe(const struct session *s, uint32_t param);

#endif
