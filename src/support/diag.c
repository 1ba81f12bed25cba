/* SPDX-License-Identifier: Apache-2.0 */
/* diag: collects. Every stage reports what it finds, in the order it finds it;
 * the order of printing is the order of the text, so that two stages never
 * interleave their messages by accident. */
#include "support/base.h"

#include "support/diag.h"

#include "support/arena.h"
#include "support/diag_impl.h"

#include <stdarg.h>

const struct diag_info diag_info[DIAG_COUNT] = {
#define DIAG(id, text_id, sev, format, explanation)                            \
    [DIAG_##id] = {text_id, sev, format, explanation},
#include "support/diags.def"
#undef DIAG
};

struct diag *
diag_new(struct arena *a)
{
    struct diag *d = NEW(a, struct diag);

    d->arena = a;
    return d;
}

enum { MAX_TEXT = 2000, TEXT_HEAD = 1200, TEXT_TAIL = 600 };

/* A message may quote a name or a number of megabytes: its middle is left out,
 * between two characters. */
static const char *
shorten(struct arena *a, const char *text)
{
    size_t n = strlen(text), head = TEXT_HEAD, tail = n - TEXT_TAIL;

    if (n <= MAX_TEXT)
        return text;
    while (head && (text[head] & 0xC0) == 0x80)
        head--;
    while (tail < n && (text[tail] & 0xC0) == 0x80)
        tail++;
    return arena_printf(a, "%.*s [...] %s", (int)head, text, text + tail);
}

static uint32_t
file_rank(struct diag *d, const struct source *src)
{
    if (!src)
        return UINT32_MAX;
    for (uint32_t i = 0; i < d->sources.n; i++) {
        if (d->sources.v[i] == src)
            return i;
    }
    VEC_PUSH(d->arena, &d->sources, src);
    return d->sources.n - 1;
}

void
diag_report(struct diag *d, enum diag_id id, struct span where, ...)
{
    const struct diag_info *info = &diag_info[id];
    struct message *m;
    va_list ap;

    assert(id < DIAG_COUNT);
    if (d->off[id]) {
        d->muted = (struct message){0};
        d->last = &d->muted;
        return;
    }
    m = NEW(d->arena, struct message);
    m->id = id;
    m->severity = info->severity;
    if (d->werror && m->severity == SEV_WARNING)
        m->severity = SEV_ERROR;
    m->where = where;
    m->file = file_rank(d, where.src);
    m->order = d->messages.n;
    va_start(ap, where);
    m->text = shorten(d->arena, arena_vprintf(d->arena, info->format, ap));
    va_end(ap);
    VEC_PUSH(d->arena, &d->messages, m);
    d->last = m;
    if (m->severity >= SEV_ERROR)
        d->errors++;
}

void
diag_secondary(struct diag *d, struct span where)
{
    assert(d->last);
    VEC_PUSH(d->arena, &d->last->secondary, where);
}

static void
add_remark(struct diag *d, bool is_help, struct span where, const char *text)
{
    struct remark r = {is_help, where, shorten(d->arena, text)};

    assert(d->last);
    VEC_PUSH(d->arena, &d->last->remarks, r);
}

void
diag_note(struct diag *d, struct span where, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_remark(d, false, where, arena_vprintf(d->arena, fmt, ap));
    va_end(ap);
}

void
diag_help(struct diag *d, struct span where, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_remark(d, true, where, arena_vprintf(d->arena, fmt, ap));
    va_end(ap);
}

unsigned
diag_errors(const struct diag *d)
{
    return d->errors;
}

bool
diag_full(const struct diag *d)
{
    return d->errors >= MAX_ERRORS;
}

/* What a fatal message says about the cause. */
static int
fatal_status(enum diag_id id)
{
    if (id == DIAG_USAGE || id == DIAG_UNKNOWN_BINDING)
        return EXIT_USAGE;
    return id == DIAG_COMPILER_REJECTED ? EXIT_REJECTED : EXIT_ENVIRONMENT;
}

int
diag_exit_status(const struct diag *d)
{
    for (uint32_t i = 0; i < d->messages.n; i++) {
        if (d->messages.v[i]->severity == SEV_FATAL)
            return fatal_status(d->messages.v[i]->id);
    }
    return d->errors ? EXIT_INPUT : EXIT_OK;
}

const struct diag_info *
diag_find(const char *id)
{
    for (size_t i = 0; i < DIAG_COUNT; i++) {
        if (strcmp(diag_info[i].id, id) == 0)
            return &diag_info[i];
    }
    return NULL;
}

bool
diag_set_enabled(struct diag *d, const char *id, bool on)
{
    const struct diag_info *info = diag_find(id);

    if (!info || info->severity > SEV_WARNING)
        return false;
    d->off[info - diag_info] = !on;
    return true;
}

void
diag_set_all_warnings(struct diag *d, bool on)
{
    for (size_t i = 0; i < DIAG_COUNT; i++) {
        if (diag_info[i].severity == SEV_WARNING)
            d->off[i] = !on;
    }
}

void
diag_set_werror(struct diag *d, bool on)
{
    d->werror = on;
}
