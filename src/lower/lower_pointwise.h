/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pointwise: no reduction. Each thread handles several vectors along the
 * column axis; the other axes come from the number of the row. */
#ifndef FUSEC_LOWER_LOWER_POINTWISE_H
#define FUSEC_LOWER_LOWER_POINTWISE_H

#include "lower/lower_common.h"

void lower_pointwise(struct lower *ctx, const struct kernel_plan *kp,
                     struct lowered_variant *out);

#endif
