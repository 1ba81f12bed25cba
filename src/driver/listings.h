/* SPDX-License-Identifier: Apache-2.0 */
/* listings: what fusec says about itself. */
#ifndef FUSEC_DRIVER_LISTINGS_H
#define FUSEC_DRIVER_LISTINGS_H

#include "support/base.h"

struct buf;

void list_devices(struct buf *b);
void list_ops(struct buf *b);
void list_schedulers(struct buf *b);
/* False when there is no such diagnostic. */
bool explain_error(struct buf *b, const char *id);

#endif
