/* SPDX-License-Identifier: Apache-2.0 */
/* machine_gpu: what --bench needs of the GPU beyond struct machine. */
#ifndef FUSEC_TOOLS_RUN_MACHINE_GPU_H
#define FUSEC_TOOLS_RUN_MACHINE_GPU_H

#include "support/vec.h"
#include "tools/launch/module.h"
#include "tools/run/run.h"

struct gpu {
    struct arena *arena;
    struct driver own;
    const struct driver *driver;
    struct fusec_module *module;
    char name[64];
    VEC(cu_ptr) blocks;
};

#endif
