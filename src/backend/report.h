/* SPDX-License-Identifier: Apache-2.0 */
/* report: what the assembler says about the kernels: registers, stack, spills,
 * shared memory, and the occupancy that follows on a device. */
#ifndef FUSEC_BACKEND_REPORT_H
#define FUSEC_BACKEND_REPORT_H

#include "support/vec.h"

struct kernel_report {
    const char *symbol;
    bool is_entry; /* false: a device function that wasn't inlined */
    unsigned registers;
    unsigned stack_bytes, spill_store_bytes, spill_load_bytes;
    unsigned smem_bytes; /* static */
};

struct report {
    VEC(struct kernel_report) kernels; /* sorted by symbol */
};

/* Reads a `ptxas -v` log. False when it isn't understood: a kernel without
 * registers or without function properties. */
bool report_parse(struct arena *a, const char *log, struct report *ret);
const struct kernel_report *report_find(const struct report *r,
                                        const char *symbol);
/* Stack frame, spill stores and spill loads in all. */
unsigned report_local_bytes(const struct kernel_report *k);
/* Of a launch's shared memory; -1 when it isn't a plain number. */
long report_dynamic_smem(const char *expression);

/* "13.0.88", from the header of the PTX; else "13.0". */
const char *report_version(struct arena *a, const char *ptx, size_t len,
                           int major, int minor);
/* The number after .version, "9.0". */
const char *report_ptx_isa(struct arena *a, const char *ptx, size_t len);
/* The least Linux driver branch that takes this PTX, "580"; NULL: unknown. */
const char *report_min_driver(const char *ptx_isa);

#endif
