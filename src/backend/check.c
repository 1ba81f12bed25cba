/* SPDX-License-Identifier: Apache-2.0 */
/* check: the shortest edit script by Myers' greedy algorithm, printed in hunks
 * with three lines of context.
 *
 * Common lines at both ends are set aside first. The frontier of each step is
 * kept, to walk back along it. Beyond MAX_EDITS the texts have little in common
 * and the middle is shown as one replacement: still a right diff. */
#include "support/base.h"

#include "backend/check.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/vec.h"

enum { CONTEXT = 3, MAX_EDITS = 1500 };

struct line {
    const char *s;
    size_t n; /* with its line end, if it has one */
};

struct lines {
    VEC(struct line) all;
};

/* Runs of lines that are common, or deleted and inserted. */
struct edit {
    uint32_t a, b;       /* where it begins in both */
    uint32_t gone, come; /* lines deleted, lines inserted */
};

struct diff {
    struct arena *arena;
    const struct line *a, *b;
    uint32_t na, nb;
    bool *gone, *come; /* a mark for each line */
};

static void
split(struct arena *a, struct lines *l, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        const char *end = memchr(text + i, '\n', len - i);
        struct line line = {text + i, 0};

        line.n = end ? (size_t)(end - line.s) + 1 : len - i;
        VEC_PUSH(a, &l->all, line);
        i += line.n;
    }
}

static bool
same(const struct line *x, const struct line *y)
{
    assert(x && y);
    return x->n == y->n && memcmp(x->s, y->s, x->n) == 0;
}

/* The furthest x on diagonal k that step d reaches from step d - 1's row. */
static int
step_from(const int *row, int k, int d)
{
    if (k == -d || (k != d && row[k - 1] < row[k + 1]))
        return row[k + 1];
    return row[k - 1] + 1;
}

/* Walks back from the end and marks what differs; rows[d] is the frontier that
 * step d started from. */
static void
walk_back(struct diff *d, int *const *rows, int edits, uint32_t from)
{
    int x = (int)d->na - (int)from, y = (int)d->nb - (int)from;

    for (int e = edits; e > 0; e--) {
        const int *row = rows[e];
        int k = x - y;
        bool down = k == -e || (k != e && row[k - 1] < row[k + 1]);
        int before = down ? k + 1 : k - 1;

        x = row[before];
        y = x - before;
        if (down)
            d->come[from + (uint32_t)y] = true;
        else
            d->gone[from + (uint32_t)x] = true;
    }
}

static int
slide(const struct diff *d, uint32_t from, int x, int k)
{
    int na = (int)(d->na - from), nb = (int)(d->nb - from);

    while (x < na && x - k < nb &&
           same(&d->a[from + (uint32_t)x], &d->b[from + (uint32_t)(x - k)]))
        x++;
    return x;
}

/* Marks the difference of what lies beyond line FROM of both; false when it
 * takes too many edits. */
static bool
mark_edits(struct diff *d, uint32_t from)
{
    int na = (int)(d->na - from), nb = (int)(d->nb - from);
    int limit = MIN(na + nb, MAX_EDITS);
    int **rows = NEW_ARRAY(d->arena, int *, limit + 1);
    int *row = NEW_ARRAY(d->arena, int, 2 * limit + 3);

    row += limit + 1;
    for (int e = 0; e <= limit; e++) {
        rows[e] = NEW_ARRAY(d->arena, int, 2 * e + 3);
        rows[e] += e + 1;
        memcpy(rows[e] - e - 1, row - e - 1,
               (size_t)(2 * e + 3) * sizeof(*row));
        for (int k = -e; k <= e; k += 2) {
            row[k] = slide(d, from, step_from(rows[e], k, e), k);
            if (row[k] >= na && row[k] - k >= nb) {
                walk_back(d, rows, e, from);
                return true;
            }
        }
    }
    return false;
}

static void
mark_all(struct diff *d, uint32_t from)
{
    for (uint32_t i = from; i < d->na; i++)
        d->gone[i] = true;
    for (uint32_t i = from; i < d->nb; i++)
        d->come[i] = true;
}

static void
put_line(struct buf *b, char sign, const struct line *l)
{
    buf_putc(b, sign);
    buf_write(b, l->s, l->n);
    if (l->s[l->n - 1] != '\n')
        buf_puts(b, "\n\\ No newline at end of file\n");
}

static void
put_range(struct buf *b, uint32_t first, uint32_t n)
{
    if (n == 1)
        buf_printf(b, "%u", first + 1);
    else
        buf_printf(b, "%u,%u", n ? first + 1 : first, n);
}

/* The lines of a hunk: from a0, b0 up to a1, b1. */
static void
put_hunk(struct buf *b, const struct diff *d, const struct edit *h)
{
    uint32_t i = h->a, j = h->b;

    buf_puts(b, "@@ -");
    put_range(b, h->a, h->gone);
    buf_puts(b, " +");
    put_range(b, h->b, h->come);
    buf_puts(b, " @@\n");
    while (i < h->a + h->gone || j < h->b + h->come) {
        if (i < h->a + h->gone && d->gone[i])
            put_line(b, '-', &d->a[i++]);
        else if (j < h->b + h->come && d->come[j])
            put_line(b, '+', &d->b[j++]);
        else {
            put_line(b, ' ', &d->a[i]);
            i++;
            j++;
        }
    }
}

static bool
is_common(const struct diff *d, uint32_t i, uint32_t j)
{
    return i < d->na && j < d->nb && !d->gone[i] && !d->come[j];
}

/* Extends the hunk that begins at its first change until more than twice the
 * context is common, or the end. */
static void
grow_hunk(const struct diff *d, struct edit *h)
{
    uint32_t i = h->a + h->gone, j = h->b + h->come, common = 0;

    while (i < d->na || j < d->nb) {
        if (is_common(d, i, j)) {
            if (++common > 2 * CONTEXT)
                break;
            i++;
            j++;
            continue;
        }
        common = 0;
        while (i < d->na && d->gone[i])
            i++;
        while (j < d->nb && d->come[j])
            j++;
        h->gone = i - h->a;
        h->come = j - h->b;
    }
}

static void
put_hunks(struct buf *b, const struct diff *d)
{
    uint32_t i = 0, j = 0;

    while (i < d->na || j < d->nb) {
        struct edit h;
        uint32_t lead, tail;

        if (is_common(d, i, j)) {
            i++;
            j++;
            continue;
        }
        h = (struct edit){i, j, 0, 0};
        grow_hunk(d, &h);
        i = h.a + h.gone;
        j = h.b + h.come;
        lead = MIN(h.a, (uint32_t)CONTEXT);
        tail = MIN(d->na - i, (uint32_t)CONTEXT);
        h.a -= lead;
        h.b -= lead;
        h.gone += lead + tail;
        h.come += lead + tail;
        put_hunk(b, d, &h);
    }
}

bool
check_diff(struct buf *b, const struct check_text *before,
           const struct check_text *after)
{
    struct diff d = {.arena = b->arena};
    struct lines la = {0}, lb = {0};
    uint32_t from = 0;

    if (before->len == after->len &&
        (!before->len || memcmp(before->text, after->text, before->len) == 0))
        return true;
    split(b->arena, &la, before->text, before->len);
    split(b->arena, &lb, after->text, after->len);
    d.a = la.all.v;
    d.b = lb.all.v;
    d.na = la.all.n;
    d.nb = lb.all.n;
    d.gone = NEW_ARRAY(b->arena, bool, d.na + 1);
    d.come = NEW_ARRAY(b->arena, bool, d.nb + 1);
    while (from < d.na && from < d.nb && same(&d.a[from], &d.b[from]))
        from++;
    if (!mark_edits(&d, from))
        mark_all(&d, from);
    buf_printf(b, "--- %s\n+++ %s\n", before->name, after->name);
    put_hunks(b, &d);
    return false;
}
