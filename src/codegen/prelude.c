/* SPDX-License-Identifier: Apache-2.0 */
/* prelude: which templates a text needs, and their text.
 *
 * A template file says with `#include "other.cuh"` what it builds on; a kernel
 * needs a file when it uses a name that the file defines, which is a name that
 * begins with fu_ and stands at the beginning of a word followed by '(' in a
 * line that isn't indented. The includes are then left out of the text, and the
 * files stand in the order of their dependence. */
#include "support/base.h"

#include "codegen/codegen_impl.h"

#include "codegen/templates.h"
#include "support/arena.h"

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static size_t
word_length(const char *s)
{
    size_t n = 0;

    while (is_word(s[n]))
        n++;
    return n;
}

/* The name that a line of a template defines, or NULL. */
static const char *
defined_in_line(const char *line, size_t len, size_t *ret_len)
{
    if (len == 0 || line[0] == ' ' || line[0] == '/' || line[0] == '#')
        return NULL;
    for (size_t i = 0; i + 3 < len; i++) {
        size_t n;

        if (strncmp(line + i, "fu_", 3) != 0 || (i && is_word(line[i - 1])))
            continue;
        n = word_length(line + i);
        if (i + n < len && line[i + n] == '(') {
            *ret_len = n;
            return line + i;
        }
        i += n;
    }
    return NULL;
}

static bool
uses(const char *text, const char *name, size_t n)
{
    for (const char *at = text; (at = strstr(at, "fu_")) != NULL;) {
        size_t len = word_length(at);
        bool starts = at == text || !is_word(at[-1]);

        if (starts && len == n && memcmp(at, name, n) == 0)
            return true;
        at += len;
    }
    return false;
}

static size_t
line_length(const char *s)
{
    const char *end = strchr(s, '\n');

    return end ? (size_t)(end - s) : strlen(s);
}

static bool
defines_something_used(const struct embedded *t, const char *text)
{
    const char *line = t->text;

    while (*line) {
        size_t len = line_length(line), n;
        const char *name = defined_in_line(line, len, &n);

        if (name && uses(text, name, n))
            return true;
        line += len + (line[len] == '\n');
    }
    return false;
}

static unsigned
find(const char *name, size_t n)
{
    for (unsigned i = 0; i < cuda_templates_count; i++)
        if (strlen(cuda_templates[i].name) == n &&
            memcmp(cuda_templates[i].name, name, n) == 0)
            return i;
    BUG("template includes '%.*s', which does not exist", (int)n, name);
}

/* The file named by an include line, or NULL. */
static const char *
included(const char *line, size_t len, size_t *ret_len)
{
    static const char start[] = "#include \"";
    size_t n = sizeof(start) - 1;

    if (len < n + 1 || strncmp(line, start, n) != 0)
        return NULL;
    *ret_len = (size_t)(strchr(line + n, '"') - (line + n));
    return line + n;
}

static void
body(struct buf *b, const struct embedded *t)
{
    const char *line = t->text;

    buf_printf(b, "/* begin fu/%s */\n", t->name);
    while (*line) {
        size_t len = line_length(line), n;
        size_t whole = len + (line[len] == '\n');

        if (!included(line, len, &n) && strncmp(line, "#pragma once", 12) != 0)
            buf_write(b, line, whole);
        line += whole;
    }
    buf_printf(b, "/* end fu/%s */\n", t->name);
}

/* What it includes, then itself, each once. */
static void
write_file(struct buf *b, bool *written, unsigned i)
{
    const char *line = cuda_templates[i].text;

    if (written[i])
        return;
    written[i] = true;
    while (*line) {
        size_t len = line_length(line), n;
        const char *name = included(line, len, &n);

        if (name)
            write_file(b, written, find(name, n));
        line += len + (line[len] == '\n');
    }
    body(b, &cuda_templates[i]);
}

void
cuda_prelude(struct arena *a, struct buf *b, const char *kernels)
{
    bool *written = NEW_ARRAY(a, bool, cuda_templates_count);

    for (unsigned i = 0; i < cuda_templates_count; i++)
        if (defines_something_used(&cuda_templates[i], kernels))
            write_file(b, written, i);
}
