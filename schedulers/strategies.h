/* SPDX-License-Identifier: Apache-2.0 */
/* strategies: one per row of schedulers.def. */
#ifndef FUSEC_SCHEDULERS_STRATEGIES_H
#define FUSEC_SCHEDULERS_STRATEGIES_H

#include "sched/scheduler.h"

extern const struct scheduler sched_pointwise, sched_reduction,
    sched_inner_persistent, sched_inner_outer_persistent, sched_fallback;

#endif
