/* SPDX-License-Identifier: Apache-2.0 */
/* random_gpu: a GPU behind the interface of the emulation. */
#ifndef FUSEC_TESTS_RANDOM_GPU_H
#define FUSEC_TESTS_RANDOM_GPU_H

#include "tools/emulate/emulate.h"

/* The text through NVRTC (which nvrtc_load finds, `where` may be NULL) onto the
 * first GPU; false after a message on stderr. One at a time. */
bool gpu_build(struct arena *a, const char *where, const char *text,
               struct emulation *ret);
void gpu_close(void);

#endif
