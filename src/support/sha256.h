/* SPDX-License-Identifier: Apache-2.0 */
/* sha256: FIPS 180-4, for the hashes that tie outputs to their manifest. */
#ifndef FUSEC_SUPPORT_SHA256_H
#define FUSEC_SUPPORT_SHA256_H

#include "support/base.h"

/* 64 lower-case hex digits and a NUL. */
void sha256_hex(const void *data, size_t len, char ret_hex[65]);

#endif
