/* SPDX-License-Identifier: Apache-2.0 */
/* measured: the tuning files that come with fusec, one a device, named as
 * --device names it, with .txt. A tuning file of the user's goes before them,
 * --untuned leaves them out. */
#ifndef FUSEC_SCHEDULERS_MEASURED_H
#define FUSEC_SCHEDULERS_MEASURED_H

#include "support/embedded.h"

extern const struct embedded measured_plans[];
extern const unsigned measured_plans_count;

#endif
