/* SPDX-License-Identifier: Apache-2.0 */
/* codegen_impl: the parts of codegen. */
#ifndef FUSEC_CODEGEN_CODEGEN_IMPL_H
#define FUSEC_CODEGEN_CODEGEN_IMPL_H

#include "codegen/codegen.h"
#include "support/buf.h"

/* One expression, parenthesised where it binds less tightly than outer. */
void cuda_expr(struct buf *b, const struct kexpr *e, int outer);
void cuda_kernel(struct buf *b, const struct kernel *k);
/* Text that is safe inside a comment of either kind. */
void cuda_comment_text(struct buf *b, const char *s);

/* The templates that `kernels` uses, and what those use, each once. */
void cuda_prelude(struct arena *a, struct buf *b, const char *kernels);

#endif
