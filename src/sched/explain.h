/* SPDX-License-Identifier: Apache-2.0 */
/* explain: why the plans of a file were chosen, for --explain: as text for
 * readers, as JSON for programs. */
#ifndef FUSEC_SCHED_EXPLAIN_H
#define FUSEC_SCHED_EXPLAIN_H

#include "sched/select.h"

/* What the assembler says of a kernel that is launched. */
struct compiled_kernel {
    const char *symbol;
    int threads, registers;
    int smem; /* of a block; -1: known at launch */
    int local_bytes;
};
/* A plan that was compiled and not taken. */
struct given_up {
    uint32_t candidate; /* from 1 */
    unsigned local_bytes;
};
struct compiled_slot {
    const struct compiled_kernel *kernels;
    uint32_t n_kernels;
    const struct given_up *given_up;
    uint32_t n_given_up;
};
struct explained { /* one fusion */
    const struct selection *selection;
    const struct compiled_slot *slots; /* NULL: nothing was compiled */
};

/* In full is the chosen plan of each variant, or, with ALL, each candidate; the
 * best of the others have a line each. */
void explain_text(struct buf *b, const struct explained *e, uint32_t n,
                  bool all);
void explain_json(struct buf *b, const struct explained *e, uint32_t n);

#endif
