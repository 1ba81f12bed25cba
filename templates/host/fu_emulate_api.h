/* SPDX-License-Identifier: Apache-2.0 */
/* What a shared library made from a generated .cu exports: its kernels, run on
 * the CPU with every access checked. See README.md beside this file. All calls
 * from one thread. */
#ifndef FU_EMULATE_API_H
#define FU_EMULATE_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a launch returns and what a report is about: X(id, name, what it is). */
#define FU_EMU_KINDS(X)                                                        \
    X(OK, "ok", "nothing")                                                     \
    X(UNKNOWN_KERNEL, "unknown-kernel", "no kernel of that name")              \
    X(BAD_LAUNCH, "bad-launch", "a block, grid or cluster out of range")       \
    X(TOO_MANY_BLOCKS, "too-many-blocks",                                      \
      "a cooperative grid that the device can't hold")                         \
    X(OUT_OF_BOUNDS, "out-of-bounds", "global memory outside the buffers")     \
    X(MISALIGNED, "misaligned", "an access that isn't aligned")                \
    X(UNINITIALISED, "uninitialised", "global memory that nobody wrote")       \
    X(INPUT_WRITTEN, "input-written", "a store to an input")                   \
    X(ELSEWHERE, "elsewhere", "memory between the elements of a tensor")       \
    X(SHARED_RANGE, "shared-out-of-bounds", "shared memory out of range")      \
    X(SHARED_UNINITIALISED, "shared-uninitialised",                            \
      "shared memory that the block never wrote")                              \
    X(LOCAL_BOUNDS, "local-out-of-bounds", "an index outside a local array")   \
    X(SHARED_RACE, "shared-race", "two threads, one writes, nothing between")  \
    X(GLOBAL_RACE, "global-race", "the same in global memory")                 \
    X(PDL_ORDER, "pdl-order", "memory of a launch that may still run")         \
    X(DEADLOCK, "deadlock", "threads wait for what never comes")               \
    X(DIVERGENT, "divergent", "threads of a block at different barriers")      \
    X(BARRIER_MISMATCH, "barrier-mismatch", "a barrier used with two counts")  \
    X(IN_FLIGHT, "in-flight", "memory of a copy that isn't complete")          \
    X(BLOCK_LEFT, "block-left", "shared memory of a block that has ended")     \
    X(SYNC_MISUSE, "sync-misuse", "a barrier object or a copy used wrongly")   \
    X(NOT_WRITTEN, "not-written", "an output that isn't fully written")        \
    X(NOT_ZERO, "not-zero", "a counter that isn't left at zero")               \
    X(CRASH, "crash", "the host's processor refused an instruction")

#define FU_EMU_KIND_ID_(id, name, what) FU_EMU_##id,
enum fu_emu_kind { FU_EMU_KINDS(FU_EMU_KIND_ID_) FU_EMU_KIND_COUNT };

/* One launch. A grid with a 0 in it does nothing. */
struct fu_emu_launch_info {
    const char *symbol;
    unsigned grid[3];
    unsigned block;      /* threads */
    size_t smem;         /* bytes of dynamic shared memory */
    unsigned cluster;    /* blocks of a cluster, along x; 0 is 1 */
    int cooperative;     /* all blocks at once, or refused */
    int pdl;             /* may begin before the launch before it has ended */
    unsigned sms;        /* of the device */
    unsigned blocks_per_sm; /* of this kernel that fit; 0: not known */
    unsigned n_args; /* that the caller passes; 0: not known */
};

enum fu_emu_role {
    FU_EMU_INPUT,     /* initialised, never written */
    FU_EMU_OUTPUT,    /* uninitialised, written whole */
    FU_EMU_IN_PLACE,  /* an output that stands in its input */
    FU_EMU_WORKSPACE, /* uninitialised */
    FU_EMU_ZEROED,    /* zero before the first launch and after the last */
};

/* Memory that kernels may touch: a tensor (strides in elements, none negative),
 * or with rank 0 so many bytes of which all count, `element` then being a guess
 * at the smallest access. */
struct fu_emu_buffer {
    const char *name;
    void *base;
    size_t bytes;
    enum fu_emu_role role;
    unsigned element;
    int rank;
    const int64_t *shape, *strides;
};

/* What went wrong. "{1}" and "{2}" in the text stand for the lines at pc[0] and
 * pc[1]: addresses in the library, NULL where there is none. */
struct fu_emu_report {
    enum fu_emu_kind kind;
    const char *text;
    const void *pc[4];
};

/* What has been done since the library was loaded. */
struct fu_emu_counts {
    uint64_t launches, blocks, threads;
    uint64_t global_bytes, shared_bytes; /* checked */
};

/* Runs a grid; a fu_emu_kind. args[i] points to the value of the i-th
 * parameter, as for cuLaunchKernel. */
int fu_emu_launch(const struct fu_emu_launch_info *l, void **args);
/* Of the last call that didn't return FU_EMU_OK. */
const struct fu_emu_report *fu_emu_last_report(void);
/* A report of the last launch that holds only if its first two lines differ, or
 * NULL; the next one after fu_emu_harmless, which drops it for good. */
const struct fu_emu_report *fu_emu_suspect(void);
void fu_emu_harmless(const struct fu_emu_report *r);

/* Declares memory. As soon as any is declared, accesses outside all of it fail
 * the launch. Buffers don't overlap. */
void fu_emu_declare(const struct fu_emu_buffer *b);
void fu_emu_forget_all(void);
/* After the last launch: is every output whole, every counter at zero? */
int fu_emu_finish(void);

/* The order in which threads of a block run between barriers, and blocks of a
 * grid: 0 ascending, 1 descending. The results must not depend on it. */
void fu_emu_set_order(int order);

/* Names of the kernels, NULL beyond the last. */
const char *fu_emu_kernel(unsigned index);
const struct fu_emu_counts *fu_emu_count(void);

typedef int fu_emu_launch_fn(const struct fu_emu_launch_info *, void **);
typedef const struct fu_emu_report *fu_emu_last_report_fn(void);
typedef const struct fu_emu_report *fu_emu_suspect_fn(void);
typedef void fu_emu_harmless_fn(const struct fu_emu_report *);
typedef void fu_emu_declare_fn(const struct fu_emu_buffer *);
typedef void fu_emu_forget_all_fn(void);
typedef int fu_emu_finish_fn(void);
typedef void fu_emu_set_order_fn(int);
typedef const char *fu_emu_kernel_fn(unsigned);
typedef const struct fu_emu_counts *fu_emu_count_fn(void);

#ifdef __cplusplus
}
#endif

#endif
