/* SPDX-License-Identifier: Apache-2.0 */
/* device_choice: --device and --arch to one device row. */
#ifndef FUSEC_DRIVER_DEVICE_CHOICE_H
#define FUSEC_DRIVER_DEVICE_CHOICE_H

#include "driver/options.h"

struct chosen_device {
    const struct device *device;
    const char *name; /* "h200", "h200,sms=66" */
};

/* False after an error, which is in D. */
bool choose_device(struct arena *a, struct diag *d, const struct options *o,
                   struct chosen_device *ret);

#endif
