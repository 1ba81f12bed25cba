/* SPDX-License-Identifier: Apache-2.0 */
/* What a shared library made from a generated .cu exports: its kernels, run on
 * the CPU. See README.md beside this file. All calls from one thread. */
#ifndef FU_EMULATE_API_H
#define FU_EMULATE_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fu_emu_status {
    FU_EMU_OK = 0,
    FU_EMU_UNKNOWN_KERNEL, /* no kernel of that name */
    FU_EMU_BAD_LAUNCH,     /* block or shared memory out of range */
    FU_EMU_DEADLOCK,       /* threads of a block wait for others that never come */
    FU_EMU_BAD_ACCESS,     /* outside all known memory, or not aligned */
};

/* Runs a grid. args[i] points to the value of the i-th parameter, as for
 * cuLaunchKernel. A grid with a 0 in it does nothing. */
int fu_emu_launch(const char *symbol, const unsigned grid[3], unsigned block,
                  size_t smem, void **args);
/* What went wrong in the last launch that didn't return FU_EMU_OK. */
const char *fu_emu_error(void);

/* Declares memory that kernels may touch. As soon as any is declared, accesses
 * outside all of it fail the launch. */
void fu_emu_allow(const void *base, size_t bytes);
void fu_emu_forget_all(void);

/* The order in which threads of a block run between barriers: 0 ascending,
 * 1 descending. A result that depends on it is a race. */
void fu_emu_set_order(int order);

/* Names of the kernels, NULL beyond the last. */
const char *fu_emu_kernel(unsigned index);

typedef int fu_emu_launch_fn(const char *, const unsigned *, unsigned, size_t,
                             void **);
typedef const char *fu_emu_error_fn(void);
typedef void fu_emu_allow_fn(const void *, size_t);
typedef void fu_emu_forget_all_fn(void);
typedef void fu_emu_set_order_fn(int);
typedef const char *fu_emu_kernel_fn(unsigned);

#ifdef __cplusplus
}
#endif

#endif
