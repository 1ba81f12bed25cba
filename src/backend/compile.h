/* SPDX-License-Identifier: Apache-2.0 */
/* compile: what the driver asks of a CUDA compiler, whichever it is. */
#ifndef FUSEC_BACKEND_COMPILE_H
#define FUSEC_BACKEND_COMPILE_H

#include "support/base.h"

struct arena;

struct cuda_request {
    const char *text; /* the CUDA source, NUL-terminated */
    const char *name; /* what the compiler calls it: a base name */
    int arch;         /* 90 for sm_90 */
    bool fast_math, no_fmad, lineinfo;
};

struct cuda_result {
    bool ok;         /* false: the compiler refused; see log */
    const char *ptx; /* NUL-terminated; the NUL isn't counted */
    size_t ptx_len;
    const char *cubin;
    size_t cubin_len;
    const char *log;      /* of the compiler and of ptxas -v */
    const char *compiler; /* "nvrtc" or "nvcc" */
    const char *version;  /* "13.0.88" */
};

#endif
