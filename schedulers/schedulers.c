/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies in the order of schedulers.def. */
#include "support/base.h"

#include "schedulers/strategies.h"

const struct scheduler *const schedulers[SCHED_COUNT] = {
    [SCHED_POINTWISE] = &sched_pointwise,
    [SCHED_REDUCTION] = &sched_reduction,
    [SCHED_INNER_PERSISTENT] = &sched_inner_persistent,
    [SCHED_INNER_OUTER_PERSISTENT] = &sched_inner_outer_persistent,
    [SCHED_FALLBACK] = &sched_fallback,
};
