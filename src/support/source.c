/* SPDX-License-Identifier: Apache-2.0 */
/* source: a line table, and columns counted in what a terminal shows.
 *
 * A character that must not reach a terminal is shown escaped (`\x1b`,
 * `\u202e`), and counts as wide as its escape: the caret and the column agree
 * with what the user sees. */
#include "support/base.h"

#include "support/source.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/utf8.h"
#include "support/vec.h"

#include <stdio.h>

struct source *
source_new(struct arena *a, const char *name, const char *text, size_t len)
{
    struct source *src = NEW(a, struct source);
    VEC(uint32_t) starts = {0};

    assert(len < UINT32_MAX);
    VEC_PUSH(a, &starts, 0);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' && i + 1 < len)
            VEC_PUSH(a, &starts, (uint32_t)i + 1);
    }
    src->name = arena_strdup(a, name);
    src->text = text;
    src->len = len;
    src->line_start = starts.v;
    src->lines = starts.n;
    return src;
}

/* The index of the last line that starts at or before OFFSET. */
static uint32_t
find_line(const struct source *src, uint32_t offset)
{
    uint32_t lo = 0, hi = src->lines;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (src->line_start[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

struct position
source_position(const struct source *src, uint32_t offset)
{
    uint32_t at = MIN(offset, (uint32_t)src->len);
    uint32_t line = find_line(src, at), start = src->line_start[line];

    return (struct position){
        .line = line + 1,
        .column = 1 + source_cells(src->text + start, at - start),
        .byte = at,
    };
}

const char *
source_line(const struct source *src, uint32_t line, size_t *ret_n)
{
    size_t begin, end;

    assert(line >= 1 && line <= src->lines);
    begin = src->line_start[line - 1];
    end = line < src->lines ? src->line_start[line] : src->len;
    if (end > begin && src->text[end - 1] == '\n')
        end--;
    if (end > begin && src->text[end - 1] == '\r')
        end--;
    *ret_n = end - begin;
    return src->text + begin;
}

size_t
source_glyph(const char *s, size_t n, struct glyph *ret)
{
    uint32_t code;
    size_t len = utf8_decode(s, n, &code);

    if (!len) {
        snprintf(ret->text, sizeof(ret->text), "\\x%02x",
                 (unsigned)(unsigned char)*s);
        ret->cells = 4;
        return 1;
    }
    if (code == '\t') {
        strcpy(ret->text, " ");
        ret->cells = 1;
    } else if (utf8_is_control(code)) {
        snprintf(ret->text, sizeof(ret->text),
                 code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        ret->cells = (uint32_t)strlen(ret->text);
    } else {
        memcpy(ret->text, s, len);
        ret->text[len] = '\0';
        ret->cells = utf8_width(code);
    }
    return len;
}

void
source_show(struct buf *b, const char *s)
{
    struct glyph g;

    for (size_t i = 0, n = strlen(s); i < n;) {
        i += source_glyph(s + i, n - i, &g);
        buf_puts(b, g.text);
    }
}

uint32_t
source_cells(const char *s, size_t n)
{
    uint32_t cells = 0;

    for (size_t i = 0; i < n;) {
        struct glyph g;

        i += source_glyph(s + i, n - i, &g);
        cells += g.cells;
    }
    return cells;
}

struct span
span_join(struct span a, struct span b)
{
    if (!a.src)
        return b;
    if (b.src != a.src)
        return a;
    return (struct span){a.src, MIN(a.begin, b.begin), MAX(a.end, b.end)};
}
