/* SPDX-License-Identifier: Apache-2.0 */
/* utf8: one code point at a time, and how wide it is on a terminal. */
#ifndef FUSEC_SUPPORT_UTF8_H
#define FUSEC_SUPPORT_UTF8_H

#include "support/base.h"

/* Bytes of the well-formed sequence at S (1 to 4), 0 when it is ill-formed:
 * truncated, overlong, a surrogate, or above U+10FFFF. N is at least 1. */
size_t utf8_decode(const char *s, size_t n, uint32_t *ret_code);
/* 0 for combining marks, 2 for wide East Asian and emoji, else 1. */
unsigned utf8_width(uint32_t code);
/* Controls, invisible direction marks: what must never reach a terminal. */
bool utf8_is_control(uint32_t code);

#endif
