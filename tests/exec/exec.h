/* SPDX-License-Identifier: Apache-2.0 */
/* exec: generated CUDA, run on the CPU and compared with the interpreter.
 *
 * A case is a .fusion file with lines `# EXEC: M=3 N=17 -DK=8 x=normal(2,1)`:
 * values of its dimensions and scalars, bindings, what tensors are filled with,
 * (x.shift=1) how many elements behind an aligned address they start, and
 * (device=a100,sms=2) the device that is planned for and emulated, an h200 of
 * 5 multiprocessors if none is named. For each line the file is
 * compiled with the plans that the schedulers offer, the best 6 (plans=1: 1)
 * for each range of sizes, and with `fallback`; every variant whose guard holds
 * is run and checked. A line with `set.KEY=VALUE` changes that key of each
 * plan, leaves out what the device can't run then, and `fallback`.
 *
 * What fails says so on stderr in lines that begin with its kind:
 *
 *     mismatch: ...                     not the interpreter's values
 *     report: FILE.cu:LINE: KIND: ...   the emulation found KIND
 *     compile-failure: ...              the C++ compiler refused the text
 */
#ifndef FUSEC_TESTS_EXEC_H
#define FUSEC_TESTS_EXEC_H

#include "ir/eval.h"
#include "ir/inputs.h"
#include "lower/lower.h"
#include "tools/emulate/emulate.h"

struct device;

enum { MAX_SETTINGS = 32, EXEC_PLANS = 6 /* usually, for a range */ };

struct setting {
    const char *name, *value;
};

/* One fusion at one set of sizes, with memory for all it touches. */
struct run {
    struct arena *arena;
    const struct graph *resolved; /* for the interpreter */
    const struct lowered *low;
    const struct emulation *emu;
    const struct setting *settings;
    uint32_t n_settings;
    struct tensor *inputs;  /* by parameter */
    uint64_t *scalars;      /* by parameter: the bytes of its value */
    struct tensor *outputs; /* by result */
    void **workspace;       /* by index into low->workspace */
    struct eval *eval;
    unsigned sms; /* of the emulated device */
    bool exact;   /* integer-valued inputs */
    bool share;   /* results in the place of their inputs */

    /* What was compared so far; a hollow check has too many undecided elements
     * to show anything. */
    uint32_t checks, hollow;
    int64_t elements, undecided;
};

/* exec_plans.c: a plan of the first candidates for each range of sizes, as
 * variants, and of fallback; with `rings`, of what those are when their rows
 * arrive through rings of all kinds, instead. */
struct fusion_plan *exec_plans(struct arena *a, const struct facts *f,
                               const struct device *dev, uint32_t per_slot);
struct fusion_plan *exec_rings(struct arena *a, const struct facts *f,
                               const struct device *dev, uint32_t per_slot);
/* In several kernels; and exec_plans, where none of these is, with one such
 * plan of vectors, one of scalars. */
struct fusion_plan *exec_parts(struct arena *a, const struct facts *f,
                               const struct device *dev, uint32_t per_slot);
struct fusion_plan *exec_all(struct arena *a, const struct facts *f,
                             const struct device *dev, uint32_t per_slot);
/* The best of each slot that keep the same values in the same places. */
struct fusion_plan *exec_kinds(struct arena *a, const struct facts *f,
                               const struct device *dev);
/* Of the same plans those that take their column sums in shared memory, with
 * all of them there, or every other one. */
struct fusion_plan *exec_sums(struct arena *a, const struct facts *f,
                              const struct device *dev, struct fusion_plan *all,
                              bool mixed);
/* The same plans with the keys that the settings change. */
struct fusion_plan *exec_forced(struct arena *a, const struct facts *f,
                                const struct device *dev,
                                struct fusion_plan *all,
                                const struct setting *settings, uint32_t n);

/* exec_load.c */
bool exec_build(struct arena *a, const char *const *compiler, const char *text,
                struct emulation *ret);

/* exec_place.c: elements that the line sets one by one. */
void exec_place(const struct run *r, const char *param, const struct tensor *t);

/* exec_run.c; false after a message on stderr. */
bool exec_prepare(struct run *r, const struct input_spec *spec);
/* What the program requires of a launch, after exec_prepare. */
bool exec_legal(struct run *r);
/* True when a result may stand in the place of an input. */
bool exec_shares(const struct graph *g);
bool exec_variant(struct run *r, uint32_t v, bool *ret_admitted);

#endif
