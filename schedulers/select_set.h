/* SPDX-License-Identifier: Apache-2.0 */
/* select_set: --tuned put before the candidates, --set applied to the chosen
 * ones. */
#ifndef FUSEC_SCHEDULERS_SELECT_SET_H
#define FUSEC_SCHEDULERS_SELECT_SET_H

#include "sched/scheduler.h"

/* Puts the measured plan that fits a slot before its candidates, the user's
 * before ours; warns of the user's that can't run. */
void select_tuned(const struct problem *p, struct selection *sel,
                  const struct select_options *opt, struct diag *d);
/* False after an error was reported: a bad path, key or value. */
bool select_set(const struct problem *p, struct selection *sel,
                const struct select_options *opt, const char *text,
                struct diag *d);
/* Costs the changed plans again; false after reporting one that can't run. A
 * guard that a change made necessary joins the slot's. */
bool select_check_sets(const struct problem *p, struct selection *sel,
                       const struct select_options *opt, struct diag *d);

#endif
