/* SPDX-License-Identifier: Apache-2.0 */
/* codegen: kernels in loop-level IR to one self-contained CUDA text: header
 * comment, the template primitives used (between #ifndef FU_EMULATE / #else
 * #include "fu_emulate.h" / #endif), then the kernels. */
#ifndef FUSEC_CODEGEN_CODEGEN_H
#define FUSEC_CODEGEN_CODEGEN_H

#include "lower/lower.h"

struct codegen_options {
    const char *version; /* of fusec, for the header comment */
};
/* NUL-terminated CUDA text of all fusions of a file. */
const char *codegen_cuda(struct arena *a, const struct lowered *const *fusions,
                         uint32_t n, const struct codegen_options *opt);

#endif
