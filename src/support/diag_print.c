/* SPDX-License-Identifier: Apache-2.0 */
/* diag_print: the one place where messages become text.
 *
 *     softmax.fusion:7:12: error: shapes do not broadcast [shape-mismatch]
 *         7 |     y = x * g;
 *           |         ^ ~
 *     softmax.fusion:2:24: note: 'g' declared here
 *
 * The caret line is drawn cell by cell under the line as it is shown, so that
 * tabs, wide characters and escapes keep it straight. A very long line is shown
 * as a window around the caret. The JSON form is one array, one message a line,
 * and has byte offsets too. */
#include "support/base.h"

#include "support/diag.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/diag_impl.h"

#include <stdlib.h>

enum { MAX_CELLS = 160, BEFORE_CARET = 60 };

static const char *const severity_name[] = {"note", "warning", "error",
                                            "error"};
static const char *const severity_color[] = {"36", "35", "31", "31"};

static int
compare(const void *pa, const void *pb)
{
    const struct message *a = *(struct message *const *)pa;
    const struct message *b = *(struct message *const *)pb;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->where.src && a->where.begin != b->where.begin)
        return a->where.begin < b->where.begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool
is_repeated(const struct message *a, const struct message *b)
{
    return a->id == b->id && a->where.src == b->where.src &&
           a->where.begin == b->where.begin && strcmp(a->text, b->text) == 0;
}

static void
set_color(struct buf *b, const struct diag_style *style, const char *code)
{
    if (style->color)
        buf_printf(b, "\033[%sm", code);
}

static void
print_place(struct buf *b, struct span where, const struct diag_style *style)
{
    struct position p;

    set_color(b, style, "1");
    if (where.src) {
        p = source_position(where.src, where.begin);
        source_show(b, where.src->name);
        buf_printf(b, ":%u:%u: ", p.line, p.column);
    } else {
        buf_printf(b, "%s: ", style->tool ? style->tool : "fusec");
    }
    set_color(b, style, "0");
}

static void
print_head(struct buf *b, const struct message *m,
           const struct diag_style *style)
{
    print_place(b, m->where, style);
    set_color(b, style, severity_color[m->severity]);
    buf_printf(b, "%s: ", severity_name[m->severity]);
    set_color(b, style, "0");
    source_show(b, m->text);
    buf_printf(b, " [%s]\n", diag_info[m->id].id);
}

/* One source line with its marks: MARKS has a character for each byte. */
struct excerpt {
    uint32_t line;
    const char *text;
    size_t n;
    char *marks; /* n + 1: the end of the line can be marked too */
};

static void
mark(struct excerpt *e, struct span where, char first, char rest)
{
    const char *base = where.src->text;
    size_t start = (size_t)(e->text - base);
    size_t from = where.begin > start ? where.begin - start : 0;
    size_t to = where.end > start ? where.end - start : 0;

    from = MIN(from, e->n);
    to = MIN(MAX(to, from + 1), e->n + 1);
    for (size_t i = from; i < to; i++) {
        if (e->marks[i] == ' ')
            e->marks[i] = i == from ? first : rest;
    }
}

static struct excerpt
excerpt_new(struct arena *a, const struct source *src, uint32_t line)
{
    struct excerpt e = {.line = line};

    e.text = source_line(src, line, &e.n);
    e.marks = arena_alloc(a, e.n + 2);
    memset(e.marks, ' ', e.n + 1);
    return e;
}

/* The byte where the shown window begins. */
static size_t
window_begin(const struct excerpt *e)
{
    const char *first = strpbrk(e->marks, "^~");
    size_t at = first ? (size_t)(first - e->marks) : 0;

    if (source_cells(e->text, e->n) <= MAX_CELLS || at <= BEFORE_CARET)
        return 0;
    at -= BEFORE_CARET;
    while (at && ((unsigned char)e->text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* The caret line: every byte's mark, repeated over the cells it takes. */
static void
put_marks(struct buf *b, char mark_char, uint32_t cells)
{
    for (uint32_t c = 0; c < cells; c++)
        buf_putc(b, mark_char == '^' && c ? '~' : mark_char);
}

static void
trim_blanks(struct buf *b)
{
    while (b->len && b->data[b->len - 1] == ' ')
        b->data[--b->len] = '\0';
}

static void
print_excerpt(struct buf *b, const struct excerpt *e,
              const struct diag_style *style)
{
    size_t begin = window_begin(e), i = begin;
    uint32_t cells = 0;
    struct buf text, marks;
    struct glyph g;

    buf_init(&text, b->arena);
    buf_init(&marks, b->arena);
    if (begin) {
        buf_puts(&text, "...");
        buf_puts(&marks, "   ");
    }
    while (i < e->n && cells < MAX_CELLS) {
        size_t len = source_glyph(e->text + i, e->n - i, &g);

        buf_puts(&text, g.text);
        put_marks(&marks, e->marks[i], g.cells);
        cells += g.cells;
        i += len;
    }
    if (i < e->n)
        buf_puts(&text, "...");
    else
        put_marks(&marks, e->marks[e->n], 1);
    trim_blanks(&text);
    trim_blanks(&marks);
    buf_printf(b, "%5u |%s%s\n", e->line, text.len ? " " : "", buf_str(&text));
    buf_puts(b, "      | ");
    set_color(b, style, "32");
    buf_puts(b, buf_str(&marks));
    set_color(b, style, "0");
    buf_putc(b, '\n');
}

static uint32_t
line_of(struct span where)
{
    return source_position(where.src, where.begin).line;
}

/* The line of the primary place, then those of secondary places elsewhere in
 * the same file. */
static void
print_excerpts(struct buf *b, const struct message *m,
               const struct diag_style *style)
{
    uint32_t line = line_of(m->where);
    struct excerpt e = excerpt_new(b->arena, m->where.src, line);

    mark(&e, m->where, '^', '~');
    for (uint32_t i = 0; i < m->secondary.n; i++) {
        struct span s = m->secondary.v[i];

        if (s.src == m->where.src && line_of(s) == line)
            mark(&e, s, '~', '~');
    }
    print_excerpt(b, &e, style);
    for (uint32_t i = 0; i < m->secondary.n; i++) {
        struct span s = m->secondary.v[i];

        if (s.src != m->where.src || line_of(s) == line)
            continue;
        e = excerpt_new(b->arena, s.src, line_of(s));
        mark(&e, s, '~', '~');
        print_excerpt(b, &e, style);
    }
}

static void
print_remark(struct buf *b, const struct remark *r,
             const struct diag_style *style)
{
    print_place(b, r->where, style);
    set_color(b, style, "36");
    buf_puts(b, r->is_help ? "help: " : "note: ");
    set_color(b, style, "0");
    source_show(b, r->text);
    buf_putc(b, '\n');
}

static void
print_text(struct buf *b, const struct message *m,
           const struct diag_style *style)
{
    print_head(b, m, style);
    if (m->where.src)
        print_excerpts(b, m, style);
    for (uint32_t i = 0; i < m->remarks.n; i++)
        print_remark(b, &m->remarks.v[i], style);
}

/* Members "file" to "byte_end", or nothing when there is no place. */
static void
json_place(struct buf *b, struct span where)
{
    struct position p;

    if (!where.src)
        return;
    p = source_position(where.src, where.begin);
    buf_puts(b, ", \"file\": ");
    buf_json_string(b, where.src->name, strlen(where.src->name));
    buf_printf(b, ", \"line\": %u, \"column\": %u", p.line, p.column);
    buf_printf(b, ", \"byte_begin\": %u, \"byte_end\": %u", where.begin,
               where.end);
}

static void
json_remark(struct buf *b, const struct remark *r)
{
    buf_printf(b, "{\"severity\": \"%s\", \"message\": ",
               r->is_help ? "help" : "note");
    buf_json_string(b, r->text, strlen(r->text));
    json_place(b, r->where);
    buf_putc(b, '}');
}

static void
print_json(struct buf *b, const struct message *m)
{
    buf_printf(b, "{\"id\": \"%s\", \"severity\": \"%s\", \"message\": ",
               diag_info[m->id].id, severity_name[m->severity]);
    buf_json_string(b, m->text, strlen(m->text));
    json_place(b, m->where);
    buf_puts(b, ", \"secondary\": [");
    for (uint32_t i = 0; i < m->secondary.n; i++) {
        struct span s = m->secondary.v[i];

        buf_printf(b, "%s{\"byte_begin\": %u, \"byte_end\": %u}", i ? ", " : "",
                   s.begin, s.end);
    }
    buf_puts(b, "], \"notes\": [");
    for (uint32_t i = 0; i < m->remarks.n; i++) {
        if (i)
            buf_puts(b, ", ");
        json_remark(b, &m->remarks.v[i]);
    }
    buf_puts(b, "]}");
}

/* All that is to be shown, in order, without repetitions; returns how many
 * errors were left out. */
static unsigned
print_all(struct buf *b, const struct diag *d, const struct diag_style *style)
{
    const struct message *before = NULL;
    unsigned errors = 0, left_out = 0, printed = 0;

    for (uint32_t i = 0; i < d->messages.n; i++) {
        const struct message *m = d->messages.v[i];

        if (before && is_repeated(before, m))
            continue;
        before = m;
        if (m->severity >= SEV_ERROR && errors++ >= MAX_ERRORS) {
            left_out++;
            continue;
        }
        if (style->json) {
            buf_puts(b, printed++ ? ",\n" : "\n");
            print_json(b, m);
        } else {
            print_text(b, m, style);
        }
    }
    return left_out;
}

void
diag_flush(struct diag *d, FILE *to, const struct diag_style *style)
{
    struct buf b;
    unsigned left_out;

    buf_init(&b, d->arena);
    if (d->messages.n)
        qsort(d->messages.v, d->messages.n, sizeof(*d->messages.v), compare);
    if (style->json)
        buf_putc(&b, '[');
    left_out = print_all(&b, d, style);
    if (style->json)
        buf_puts(&b, d->messages.n ? "\n]\n" : "]\n");
    else if (left_out)
        buf_printf(&b, "%s: note: %u more error%s not shown\n",
                   style->tool ? style->tool : "fusec", left_out,
                   left_out == 1 ? "" : "s");
    fwrite(buf_str(&b), 1, b.len, to);
    fflush(to);
    d->messages.n = 0;
}
