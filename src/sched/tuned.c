/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of tuning files, on the words of the plan reader. */
#include "support/base.h"

#include "sched/tuned.h"

#include "sched/plan_read.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/vec.h"

static bool
read_signature(struct reader *r, struct tuned_entry *e)
{
    if (!r->word || strlen(r->word) != 16 ||
        strspn(r->word, "0123456789abcdef") != 16)
        return reader_fail(r, "a signature of 16 hexadecimal digits");
    memcpy(e->signature, r->word, 17);
    reader_next(r);
    if (!r->word || strchr("{};\"", r->word[0]))
        return reader_fail(r, "the name of a device");
    e->device = r->word;
    reader_next(r);
    return reader_expect(r, "{");
}

static bool
read_number(struct reader *r, int64_t *ret)
{
    if (!reader_number(r->word, ret))
        return reader_fail(r, "a number");
    reader_next(r);
    return true;
}

static bool
read_range(struct reader *r, const char *key, int64_t ret[2])
{
    if (!reader_expect(r, key) || !read_number(r, &ret[0]) ||
        !read_number(r, &ret[1]))
        return false;
    if (ret[0] > ret[1])
        return reader_fail(r, "a range whose end is not before its start");
    return reader_expect(r, ";");
}

static bool
read_time(struct reader *r, const char *key, int64_t *ret)
{
    return reader_expect(r, key) && read_number(r, ret) &&
           reader_expect(r, ";");
}

/* 'entry' is the current word. */
static bool
read_entry(struct reader *r, struct tuned_entry *e)
{
    e->span = r->span;
    reader_next(r);
    return read_signature(r, e) && read_range(r, "rows", e->rows) &&
           read_range(r, "columns", e->columns) &&
           read_time(r, "measured_ns", &e->measured_ns) &&
           read_time(r, "model_ns", &e->model_ns) &&
           reader_kernels(r, NULL, &e->plan);
}

const struct tuned_file *
tuned_parse(struct arena *a, struct diag *d, const struct source *src)
{
    struct reader r = {.arena = a, .d = d, .src = src};
    struct tuned_file *f = NEW(a, struct tuned_file);
    VEC(struct tuned_entry) entries = {0};

    reader_next(&r);
    if (!reader_expect(&r, "tuned") || !reader_expect(&r, "1"))
        return NULL;
    while (r.word) {
        struct tuned_entry e = {.plan = {.guard = ""}};

        if (!reader_is(&r, "entry")) {
            reader_fail(&r, "'entry'");
            return NULL;
        }
        if (!read_entry(&r, &e))
            return NULL;
        VEC_PUSH(a, &entries, e);
    }
    f->entries = entries.v;
    f->n_entries = entries.n;
    return f;
}

static void
take_entries(struct buf *b, const char *text, const char *signature)
{
    static const char word[] = "\nentry ";
    const char *at = strstr(text, word), *next;

    for (; at; at = next) {
        next = strstr(at + 1, word);
        if (!strncmp(at + strlen(word), signature, strlen(signature)))
            buf_write(b, at, next ? (size_t)(next - at) : strlen(at));
    }
}

const struct source *
tuned_extract(struct arena *a, const char *name, const char *text,
              const struct graph *const *graphs, uint32_t n_graphs)
{
    struct buf b;

    buf_init(&b, a);
    buf_puts(&b, "tuned 1");
    for (uint32_t i = 0; i < n_graphs; i++) {
        char signature[17];

        graph_signature(graphs[i], signature);
        take_entries(&b, text, signature);
    }
    return source_new(a, name, b.data, b.len);
}

static bool
in_range(const int64_t range[2], int64_t v)
{
    return range[0] <= v && v <= range[1];
}

const struct tuned_entry *
tuned_find(const struct tuned_file *f, const struct graph *g,
           const char *device, const int64_t rows_columns[2], uint32_t *at)
{
    char signature[17];

    graph_signature(g, signature);
    while (*at < f->n_entries) {
        const struct tuned_entry *e = &f->entries[(*at)++];

        if (!strcmp(e->signature, signature) && !strcmp(e->device, device) &&
            in_range(e->rows, rows_columns[0]) &&
            in_range(e->columns, rows_columns[1]))
            return e;
    }
    return NULL;
}
