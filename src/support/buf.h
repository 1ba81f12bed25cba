/* SPDX-License-Identifier: Apache-2.0 */
/* buf: a growing text, always NUL-terminated, in an arena. Numbers are printed
 * in the C locale. */
#ifndef FUSEC_SUPPORT_BUF_H
#define FUSEC_SUPPORT_BUF_H

#include <stdarg.h>

#include "support/base.h"

struct arena;

struct buf {
    struct arena *arena;
    char *data; /* NULL until the first write; use buf_str */
    size_t len, cap;
};

void buf_init(struct buf *b, struct arena *a);
void buf_putc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_write(struct buf *b, const char *s, size_t n);
void buf_int(struct buf *b, int64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) ATTR_PRINTF(2, 0);
/* A JSON string with quotes, everything outside printable ASCII escaped or
 * passed through as valid UTF-8. */
void buf_json_string(struct buf *b, const char *s, size_t n);
/* The shortest decimal that reads back as the same double ("0.1", "1e+30",
 * "inf", "-inf", "nan"); has a '.' or an exponent when finite. */
void buf_double(struct buf *b, double x);
const char *buf_str(const struct buf *b); /* "" when nothing was written */

#endif
