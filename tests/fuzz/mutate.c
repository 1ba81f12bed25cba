/* SPDX-License-Identifier: Apache-2.0 */
/* mutate: a text is cut into tokens, a few pieces of it are replaced by other
 * pieces, by words of the dictionary or by nothing, and the result is written.
 *
 * A piece is a token, a run of tokens, or a statement: what stands between two
 * of `; { } ,`. Everything is a replacement of [begin, end) by a text. */
#include "support/base.h"

#include "mutate.h"

#include "harness.h"

#include <stdlib.h>

enum { MAX_TOKENS = 1 << 14 };

enum kind { T_BLANK, T_NAME, T_NUMBER, T_STRING, T_SIGN };

struct token {
    uint32_t begin, end;
    enum kind kind;
};

struct list {
    struct mutate_text text;
    struct token *v;
    uint32_t n;
};

/* --- chance --------------------------------------------------------------- */

static uint32_t
draw(uint64_t *state, uint32_t n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return n ? (uint32_t)((z ^ (z >> 31)) % n) : 0;
}

/* --- tokens --------------------------------------------------------------- */

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t
string_end(struct mutate_text t, size_t at)
{
    for (at++; at < t.n && t.p[at] != '"' && t.p[at] != '\n'; at++) {
        if (t.p[at] == '\\' && at + 1 < t.n)
            at++;
    }
    return at < t.n ? at + 1 : t.n;
}

static size_t
sign_end(struct mutate_text t, size_t at)
{
    static const char doubles[] = "->//**==!=<=>=&&||<<>>";

    if (t.n - at >= 3 && memcmp(t.p + at, "...", 3) == 0)
        return at + 3;
    for (size_t i = 0; t.n - at >= 2 && i + 1 < sizeof(doubles); i += 2) {
        if (memcmp(t.p + at, doubles + i, 2) == 0)
            return at + 2;
    }
    return at + 1;
}

static struct token
next_token(struct mutate_text t, size_t at)
{
    struct token k = {(uint32_t)at, 0, T_SIGN};
    char c = t.p[at];
    size_t end = at + 1;

    if (is_letter(c) || is_digit(c)) {
        k.kind = is_letter(c) ? T_NAME : T_NUMBER;
        while (end < t.n && (is_letter(t.p[end]) || is_digit(t.p[end]) ||
                             (k.kind == T_NUMBER && t.p[end] == '.')))
            end++;
    } else if (c == '"') {
        k.kind = T_STRING;
        end = string_end(t, at);
    } else if (c == ' ' || c == '\n' || c == '\t') {
        k.kind = T_BLANK;
        while (end < t.n && strchr(" \n\t", t.p[end]) && t.p[end])
            end++;
    } else {
        end = sign_end(t, at);
    }
    k.end = (uint32_t)end;
    return k;
}

/* Texts beyond the last token that fits stay as they are. */
static void
tokenize(struct mutate_text t, struct list *l)
{
    l->text = t;
    l->n = 0;
    for (size_t at = 0; at < t.n && l->n < MAX_TOKENS; l->n++) {
        l->v[l->n] = next_token(t, at);
        at = l->v[l->n].end;
    }
}

/* --- pieces --------------------------------------------------------------- */

static struct mutate_text
piece(const struct list *l, uint32_t begin, uint32_t end)
{
    uint32_t from, to;

    if (begin >= end)
        return (struct mutate_text){"", 0};
    from = l->v[begin].begin;
    to = l->v[end - 1].end;
    return (struct mutate_text){l->text.p + from, to - from};
}

static bool
ends_statement(const struct list *l, uint32_t i)
{
    return l->v[i].kind == T_SIGN && strchr(";{},", l->text.p[l->v[i].begin]);
}

struct range {
    uint32_t begin, end; /* tokens */
};

static struct range
run_of(const struct list *l, uint64_t *s)
{
    static const uint8_t lengths[] = {1, 1, 1, 2, 3, 5, 10, 40};
    struct range r = {draw(s, l->n), 0};
    uint32_t n = lengths[draw(s, ARRAY_LEN(lengths))];

    r.end = MIN(l->n, r.begin + n);
    return r;
}

static struct range
statement_of(const struct list *l, uint64_t *s)
{
    uint32_t at = draw(s, l->n);
    struct range r = {at, at};

    while (r.begin > 0 && !ends_statement(l, r.begin - 1))
        r.begin--;
    while (r.end < l->n && !ends_statement(l, r.end))
        r.end++;
    r.end = MIN(l->n, r.end + 1);
    return r;
}

/* A token of the kind of token AT, AT itself when there is no other. */
static uint32_t
like(const struct list *l, uint32_t at, uint64_t *s)
{
    uint32_t start = draw(s, l->n);

    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t k = (start + i) % l->n;

        if (k != at && l->v[k].kind == l->v[at].kind)
            return k;
    }
    return at;
}

static uint32_t
find_kind(const struct list *l, enum kind kind, uint64_t *s)
{
    uint32_t start = draw(s, l->n);

    for (uint32_t i = 0; i < l->n; i++) {
        if (l->v[(start + i) % l->n].kind == kind)
            return (start + i) % l->n;
    }
    return start;
}

static struct mutate_text
word(uint64_t *s)
{
    const char *w = fuzz_words[draw(s, fuzz_n_words)];

    return (struct mutate_text){w, strlen(w)};
}

static struct mutate_text
number(uint64_t *s)
{
    static const char *const numbers[] = {
        "0",     "1",          "2",          "3",
        "7",     "8",          "31",         "32",
        "64",    "255",        "256",        "1023",
        "1024",  "4096",       "65536",      "2147483647",
        "0.5",   "2147483648", "4294967296", "9223372036854775807",
        "1e308", "1e-45",      "1e39",       "9223372036854775808",
    };
    const char *w = numbers[draw(s, ARRAY_LEN(numbers))];

    return (struct mutate_text){w, strlen(w)};
}

/* --- changes -------------------------------------------------------------- */

struct change {
    struct range old;
    struct mutate_text with;
    struct mutate_text before, after; /* put around WITH */
};

/* WITH where a token stands, wrapped: x becomes f(x, or -x. */
static void
wrap(const struct list *l, uint64_t *s, struct change *c)
{
    static const char *const around[][2] = {
        {"(", ")"},     {"-", ""},           {"sum(", ", axis=0)"},
        {"", "[None]"}, {"", "[:, None]"},   {"max(", ", axis=-1)"},
        {"f32(", ")"},  {"exp(", ")"},       {"(", " + 1)"},
        {"", "[0]"},    {"", "[::2]"},       {"transpose(", ", 0, 1)"},
        {"", "[1:]"},   {"cat([", "], 0)"},  {"where(a > 0, ", ", 0)"},
        {"mean(", ")"}, {"cumsum(", ", 0)"}, {"flip(", ", axis=0)"},
    };
    uint32_t at = find_kind(l, T_NAME, s), i = draw(s, ARRAY_LEN(around));

    c->old = (struct range){at, at + 1};
    c->with = piece(l, at, at + 1);
    c->before = (struct mutate_text){around[i][0], strlen(around[i][0])};
    c->after = (struct mutate_text){around[i][1], strlen(around[i][1])};
}

static void
change_statement(const struct list *l, uint64_t *s, struct change *c)
{
    struct range from = statement_of(l, s), to = statement_of(l, s);

    c->old = to;
    if (draw(s, 3) == 0)
        return; /* deleted */
    c->with = piece(l, from.begin, from.end);
    if (draw(s, 2) == 0)
        c->old.end = c->old.begin; /* inserted */
}

static struct change
choose(const struct list *l, uint64_t *s)
{
    struct change c = {0};
    struct range r = run_of(l, s);

    c.old = r;
    switch (draw(s, 9)) {
    case 0:
        break; /* deleted */
    case 1:
        c.with = piece(l, r.begin, r.end);
        c.old.end = r.begin; /* doubled */
        break;
    case 2:
        c.old.end = r.begin + 1;
        c.with = word(s);
        break;
    case 3:
        c.old.end = r.begin;
        c.with = word(s);
        c.before = (struct mutate_text){" ", 1};
        c.after = (struct mutate_text){" ", 1};
        break;
    case 4:
        r.begin = find_kind(l, T_NUMBER, s);
        c.old = (struct range){r.begin, r.begin + 1};
        c.with = number(s);
        break;
    case 5:
        wrap(l, s, &c);
        break;
    case 6:
        change_statement(l, s, &c);
        break;
    default:
        r.end = like(l, r.begin, s);
        c.old.end = r.begin + 1;
        c.with = piece(l, r.end, r.end + 1);
    }
    return c;
}

static size_t
append(char *out, size_t at, size_t max, struct mutate_text t)
{
    size_t n = MIN(t.n, max - at);

    if (n)
        memcpy(out + at, t.p, n);
    return at + n;
}

static size_t
write_changed(const struct list *l, const struct change *c, char *out,
              size_t max)
{
    uint32_t from = c->old.begin < l->n ? l->v[c->old.begin].begin : 0;
    uint32_t to = c->old.end > c->old.begin ? l->v[c->old.end - 1].end : from;
    struct mutate_text tail = {l->text.p + to, l->text.n - to};
    size_t at = append(out, 0, max, (struct mutate_text){l->text.p, from});

    at = append(out, at, max, c->before);
    at = append(out, at, max, c->with);
    at = append(out, at, max, c->after);
    return append(out, at, max, tail);
}

static void *
must(void *p)
{
    if (!p)
        abort();
    return p;
}

size_t
mutate_text(char *data, size_t size, size_t max, uint64_t seed)
{
    struct list l = {.v = must(malloc(MAX_TOKENS * sizeof(*l.v)))};
    char *out = must(malloc(max + 1));
    uint64_t s = seed;
    uint32_t times = 1 + draw(&s, 2) * draw(&s, 4);

    for (uint32_t i = 0; i < times; i++) {
        struct change c;

        tokenize((struct mutate_text){data, size}, &l);
        if (l.n == 0) {
            size = append(data, 0, max, word(&s));
            continue;
        }
        c = choose(&l, &s);
        size = write_changed(&l, &c, out, max);
        memcpy(data, out, size);
    }
    free(out);
    free(l.v);
    return size;
}

size_t
mutate_cross(char *data, size_t size, size_t max, struct mutate_text y,
             uint64_t seed)
{
    struct list l = {.v = must(malloc(MAX_TOKENS * sizeof(*l.v)))};
    struct list m = {.v = must(malloc(MAX_TOKENS * sizeof(*m.v)))};
    char *out = must(malloc(max + 1));
    struct change c = {0};
    uint64_t s = seed;

    tokenize((struct mutate_text){data, size}, &l);
    tokenize(y, &m);
    if (m.n) {
        struct range r = draw(&s, 3) ? statement_of(&m, &s) : run_of(&m, &s);

        c.with = piece(&m, r.begin, r.end);
    }
    if (l.n) {
        c.old = statement_of(&l, &s);
        if (draw(&s, 2))
            c.old.end = c.old.begin;
    }
    size = write_changed(&l, &c, out, max);
    memcpy(data, out, size);
    free(out);
    free(l.v);
    free(m.v);
    return size;
}
