/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc: the second compiler, for toolkits without NVRTC and for cross-checks.
 */
#ifndef FUSEC_BACKEND_NVCC_H
#define FUSEC_BACKEND_NVCC_H

#include "backend/compile.h"

/* Runs the nvcc of $CUDA_HOME, else of $PATH, in a temporary folder. False when
 * it can't be run or writes nothing: *ret_why. A refused text is
 * ret->ok == false. */
bool nvcc_compile(struct arena *a, const struct cuda_request *req,
                  struct cuda_result *ret, const char **ret_why);

#endif
