/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_cut: the cheapest cuts of a fusion between the phases of a row. */
#ifndef FUSEC_SCHEDULERS_ROWWISE_CUT_H
#define FUSEC_SCHEDULERS_ROWWISE_CUT_H

#include "schedulers/rowwise.h"

enum { MAX_CUTS = 8 };

/* NULL, or why none are searched. */
const char *row_cuts_refuse(const struct problem *p);
/* Cuts from least held to least computed again, each the values kept, by node.
 * Returns their number. */
uint32_t row_cuts(const struct problem *p, enum row_invariants invariants,
                  const bool *ret[MAX_CUTS]);

#endif
