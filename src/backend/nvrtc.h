/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc: NVIDIA's run-time compiler, loaded when first needed. Nothing of the
 * CUDA Toolkit is needed to build fusec. */
#ifndef FUSEC_BACKEND_NVRTC_H
#define FUSEC_BACKEND_NVRTC_H

#include "backend/compile.h"

struct buf;
struct nvrtc;

/* Searches, in this order: WHERE (--nvrtc: the library or a folder that holds
 * it), $FUSEC_NVRTC (likewise), $CUDA_HOME, the toolkit of the nvcc on $PATH,
 * the loader's own path, $VIRTUAL_ENV, and .venv here or in a folder above. The
 * first two, when given, must hold it. NULL when there is none: *ret_why says
 * where it was looked for. */
struct nvrtc *nvrtc_load(struct arena *a, const char *where,
                         const char **ret_why);
/* The file that was loaded, its version and the architectures it knows, a line
 * each, for --print-nvrtc. */
void nvrtc_describe(const struct nvrtc *n, struct buf *b);
/* False when NVRTC itself fails: *ret_why. A refused text is ret->ok == false.
 */
bool nvrtc_compile(struct arena *a, const struct nvrtc *n,
                   const struct cuda_request *req, struct cuda_result *ret,
                   const char **ret_why);

#endif
