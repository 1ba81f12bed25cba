/* SPDX-License-Identifier: Apache-2.0 */
/* depfile: `target: main imported...`, one file a line, with the characters
 * that make treats specially escaped. */
#include "support/base.h"

#include "backend/depfile.h"

#include "support/buf.h"

/* Blanks, `#` and `:` take a backslash, the backslashes before a blank are
 * doubled, `$` is doubled. */
static void
put_name(struct buf *b, const char *name)
{
    size_t slashes = 0;

    for (const char *p = name; *p; p++) {
        if (*p == ' ' || *p == '\t') {
            for (size_t i = 0; i < slashes; i++)
                buf_putc(b, '\\');
            buf_putc(b, '\\');
        } else if (*p == '#' || *p == ':') {
            buf_putc(b, '\\');
        } else if (*p == '$') {
            buf_putc(b, '$');
        }
        buf_putc(b, *p);
        slashes = *p == '\\' ? slashes + 1 : 0;
    }
}

void
depfile_print(struct buf *b, const struct depfile *d)
{
    if (d->verbatim)
        buf_puts(b, d->target);
    else
        put_name(b, d->target);
    buf_putc(b, ':');
    for (uint32_t i = 0; i < d->n_files; i++) {
        buf_puts(b, i ? " \\\n  " : " ");
        put_name(b, d->files[i]);
    }
    buf_putc(b, '\n');
    for (uint32_t i = 1; d->phony && i < d->n_files; i++) {
        buf_putc(b, '\n');
        put_name(b, d->files[i]);
        buf_puts(b, ":\n");
    }
}
