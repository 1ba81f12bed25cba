/* SPDX-License-Identifier: Apache-2.0 */
/* source: the text of one input file, and places in it. */
#ifndef FUSEC_SUPPORT_SOURCE_H
#define FUSEC_SUPPORT_SOURCE_H

#include "support/base.h"

struct arena;
struct buf;

struct source {
    const char *name; /* as the user wrote it, for messages */
    const char *text; /* NUL-terminated; NULs inside are possible */
    size_t len;
    const uint32_t *line_start; /* byte offset of each line */
    uint32_t lines;
};

/* Bytes [begin, end) of src. A span with src == NULL has no place. */
struct span {
    const struct source *src;
    uint32_t begin, end;
};

struct position {
    uint32_t line;   /* from 1 */
    uint32_t column; /* from 1, in display cells (tab = 1, escapes as shown) */
    uint32_t byte;   /* from 0, offset in the file */
};

struct source *source_new(struct arena *a, const char *name, const char *text,
                          size_t len);
struct position source_position(const struct source *src, uint32_t offset);
/* The text of a line (1-based) without its line end. */
const char *source_line(const struct source *src, uint32_t line, size_t *ret_n);
/* Display cells that n bytes of UTF-8 take. */
uint32_t source_cells(const char *s, size_t n);

/* How one character of a source line is shown. */
struct glyph {
    char text[8];   /* itself, a blank for a tab, or an escape */
    uint32_t cells; /* 0 for a combining mark, 2 for a wide one */
};
/* Takes one character of the N >= 1 bytes at S; returns its length. */
size_t source_glyph(const char *s, size_t n, struct glyph *ret);
/* A text from outside as it may reach a terminal: glyph by glyph. */
void source_show(struct buf *b, const char *s);
struct span span_join(struct span a, struct span b);

#endif
