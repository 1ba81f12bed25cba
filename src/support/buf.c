/* SPDX-License-Identifier: Apache-2.0 */
/* buf: text that grows by doubling. No program of the project calls setlocale,
 * so printf and strtod speak the C locale and numbers come out the same
 * everywhere. */
#include "support/base.h"

#include "support/buf.h"

#include "support/arena.h"
#include "support/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void
buf_init(struct buf *b, struct arena *a)
{
    *b = (struct buf){.arena = a};
}

static void
grow(struct buf *b, size_t n)
{
    size_t cap = b->cap ? b->cap : 64;

    while (cap - b->len <= n)
        cap *= 2;
    b->data = arena_grow(b->arena, b->data, b->cap, cap, 1);
    b->cap = cap;
}

/* Room for N more bytes and the NUL. */
static void
reserve(struct buf *b, size_t n)
{
    if (b->cap - b->len <= n)
        grow(b, n);
}

void
buf_write(struct buf *b, const char *s, size_t n)
{
    reserve(b, n);
    if (n)
        memcpy(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void
buf_putc(struct buf *b, char c)
{
    reserve(b, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void
buf_puts(struct buf *b, const char *s)
{
    buf_write(b, s, strlen(s));
}

void
buf_int(struct buf *b, int64_t v)
{
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (v < 0)
        digits[--at] = '-';
    buf_write(b, digits + at, sizeof(digits) - at);
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    size_t room;
    int n;

    assert(fmt);
    reserve(b, 1);
    room = b->cap - b->len;
    va_copy(again, ap);
    n = vsnprintf(b->data + b->len, room, fmt, again);
    va_end(again);
    if (n < 0)
        BUG("cannot format '%s'", fmt);
    if ((size_t)n >= room) {
        reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    }
    b->len += (size_t)n;
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

/* One code point of a JSON string. */
static void
json_code(struct buf *b, uint32_t code, const char *s, size_t n)
{
    static const char names[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *at = code ? memchr(names, (int)code, 7) : NULL;

    if (code < 0x80 && at)
        buf_printf(b, "\\%c", letters[at - names]);
    else if (utf8_is_control(code) && code <= 0xFFFF)
        buf_printf(b, "\\u%04x", (unsigned)code);
    else
        buf_write(b, s, n);
}

void
buf_json_string(struct buf *b, const char *s, size_t n)
{
    buf_putc(b, '"');
    for (size_t i = 0, len; i < n; i += len) {
        uint32_t code;

        len = utf8_decode(s + i, n - i, &code);
        if (len) {
            json_code(b, code, s + i, len);
        } else {
            buf_puts(b, "\\ufffd");
            len = 1;
        }
    }
    buf_putc(b, '"');
}

void
buf_double(struct buf *b, double x)
{
    char text[40];

    if (isnan(x)) {
        buf_puts(b, "nan");
        return;
    }
    if (isinf(x)) {
        buf_puts(b, x < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    buf_puts(b, text);
    if (!strpbrk(text, ".e"))
        buf_puts(b, ".0");
}

const char *
buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}
