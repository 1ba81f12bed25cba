/* SPDX-License-Identifier: Apache-2.0 */
/* native: the GPU of this machine, for --device native. */
#ifndef FUSEC_BACKEND_NATIVE_H
#define FUSEC_BACKEND_NATIVE_H

#include "support/base.h"

struct arena;

struct native_device {
    const char *name; /* as the driver says it, "NVIDIA H200" */
    int arch;         /* 90 */
    int sms;
};

/* Asks the CUDA driver for its first device; false with *ret_why when there is
 * no driver or no device. */
bool native_query(struct arena *a, struct native_device *ret,
                  const char **ret_why);

#endif
