/* SPDX-License-Identifier: Apache-2.0 */
/* prelude: of the templates, what a text uses and what that uses, so that the
 * reader of a kernel finds its primitives and little else before it.
 *
 * A template file is a list of pieces: a definition with the comment above it.
 * A piece is taken when a name that begins with fu_ (or FU_) and that it
 * defines is used. Of several definitions of one name (overloads,
 * specialisations) those are left out that speak of an element type, or of
 * double, that nothing else uses. What stands under `#ifdef FU_EMULATE` is for
 * the host and isn't looked at. The files are templates.h's; they say with
 * `#include "other.cuh"` what stands before. */
#include "support/base.h"

#include "codegen/codegen_impl.h"

#include "codegen/templates.h"
#include "support/arena.h"
#include "support/vec.h"

struct piece {
    unsigned file;
    const char *text;      /* with the comment above */
    const char *signature; /* up to its body */
    const char *name;
    bool is_type; /* a struct that is no template: fu_bf16 */
    bool shared;  /* other pieces define this name too */
    bool needed;
};

struct prelude {
    struct arena *arena;
    VEC(struct piece) pieces;
    const char **heads; /* by file: the comment it begins with */
    const char **words; /* a hash table of the names in use */
    uint32_t n_words, room;
};

/* --- words ---------------------------------------------------------------- */

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static bool
is_ours(const char *word, size_t n)
{
    if (n == 6 && strncmp(word, "double", 6) == 0)
        return true;
    return n > 3 &&
           (strncmp(word, "fu_", 3) == 0 || strncmp(word, "FU_", 3) == 0);
}

/* The next name of ours, or `double`, in s at or after *at; false at the end.
 */
static bool
next_word(const char *s, size_t *at, size_t *ret_n)
{
    size_t i = *at, n;

    for (; s[i]; i += n) {
        for (n = 0; is_word(s[i + n]); n++)
            ;
        if (is_ours(s + i, n)) {
            *at = i;
            *ret_n = n;
            return true;
        }
        n = MAX(n, 1);
    }
    return false;
}

static uint32_t
slot_of(const struct prelude *p, const char *word, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)word[i]) * 16777619u;
    for (h &= p->room - 1; p->words[h]; h = (h + 1) & (p->room - 1))
        if (strlen(p->words[h]) == n && memcmp(p->words[h], word, n) == 0)
            break;
    return h;
}

static bool
is_used(const struct prelude *p, const char *word, size_t n)
{
    return p->words[slot_of(p, word, n)] != NULL;
}

static void
add_word(struct prelude *p, const char *word, size_t n)
{
    uint32_t h = slot_of(p, word, n);

    if (p->words[h])
        return;
    p->words[h] = arena_strndup(p->arena, word, n);
    p->n_words++;
    if (2 * p->n_words < p->room)
        return;
    {
        const char **old = p->words;
        uint32_t room = p->room;

        p->room *= 2;
        p->words = NEW_ARRAY(p->arena, const char *, p->room);
        for (uint32_t i = 0; i < room; i++)
            if (old[i])
                p->words[slot_of(p, old[i], strlen(old[i]))] = old[i];
    }
}

static void
add_words(struct prelude *p, const char *text)
{
    for (size_t i = 0, n; next_word(text, &i, &n); i += n)
        add_word(p, text + i, n);
}

/* --- pieces --------------------------------------------------------------- */

/* The name a definition gives: what follows `struct`, `#define`; else the last
 * of our names before the first '(' that follows one; else the last of all. */
static const char *
defined_name(struct arena *a, const char *s, bool *ret_is_type)
{
    const char *by = strstr(s, "struct "), *last = NULL;
    size_t last_n = 0;
    bool is_define = strncmp(s, "#define ", 8) == 0;

    *ret_is_type = strncmp(s, "struct ", 7) == 0;
    if (by && (by == s || strncmp(s, "template <", 10) == 0) &&
        !memchr(s, '(', (size_t)(by - s)))
        s = by;
    else
        by = NULL;
    for (size_t i = 0, n; next_word(s, &i, &n); i += n) {
        if (s[i] == 'd')
            continue;
        last = s + i;
        last_n = n;
        if (by || is_define || s[i + n] == '(')
            break;
    }
    return last ? arena_strndup(a, last, last_n) : NULL;
}

struct reader {
    struct prelude *p;
    unsigned file;
    struct buf text, code; /* of the piece being read, without comments */
    int depth;             /* of braces */
    int conditions;        /* open conditionals that stay in the text */
    bool hidden[16];       /* open FU_EMULATE conditionals, kept or not */
    bool ours[16];
    int n_open;
};

static void
end_piece(struct reader *r)
{
    struct piece piece = {.file = r->file};
    const char *code = buf_str(&r->code), *brace = strchr(code, '{');

    piece.text = arena_strdup(r->p->arena, buf_str(&r->text));
    piece.signature = arena_strndup(
        r->p->arena, code, brace ? (size_t)(brace - code) : strlen(code));
    piece.name = defined_name(r->p->arena, piece.signature, &piece.is_type);
    if (piece.name)
        VEC_PUSH(r->p->arena, &r->p->pieces, piece);
    buf_init(&r->text, r->p->arena);
    buf_init(&r->code, r->p->arena);
}

static bool
is_hidden(const struct reader *r)
{
    for (int i = 0; i < r->n_open; i++)
        if (r->ours[i] && r->hidden[i])
            return true;
    return false;
}

static bool
starts(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Conditionals; true when the line is one that isn't to be kept. */
static bool
read_condition(struct reader *r, const char *line)
{
    bool emulate = starts(line, "#ifdef FU_EMULATE");
    bool other = starts(line, "#ifndef FU_EMULATE");

    if (starts(line, "#if")) {
        assert(r->n_open < (int)ARRAY_LEN(r->ours));
        r->ours[r->n_open] = emulate || other;
        r->hidden[r->n_open++] = emulate;
        r->conditions += !(emulate || other);
        return emulate || other;
    }
    if (starts(line, "#else") && r->ours[r->n_open - 1]) {
        r->hidden[r->n_open - 1] ^= true;
        return true;
    }
    if (!starts(line, "#endif"))
        return false;
    assert(r->n_open > 0);
    r->n_open--;
    r->conditions -= !r->ours[r->n_open];
    return r->ours[r->n_open];
}

static void
read_code(struct reader *r, const char *line, size_t n)
{
    buf_write(&r->text, line, n);
    buf_putc(&r->text, '\n');
    buf_write(&r->code, line, n);
    buf_putc(&r->code, '\n');
    for (size_t i = 0; i < n; i++)
        r->depth += (line[i] == '{') - (line[i] == '}');
    if (r->depth == 0 && r->conditions == 0 &&
        (line[n - 1] == '}' || line[n - 1] == ';' ||
         (line[n - 1] != '\\' && starts(buf_str(&r->code), "#define"))))
        end_piece(r);
}

static void
read_line(struct reader *r, const char *line, size_t n)
{
    bool between = r->depth == 0 && !r->code.len;

    if (starts(line, "#pragma once")) {
        r->p->heads[r->file] = arena_strdup(r->p->arena, buf_str(&r->text));
        buf_init(&r->text, r->p->arena);
        return;
    }
    if (read_condition(r, line) || is_hidden(r) || starts(line, "#include"))
        return;
    if (n == 0 && between) /* a comment that stands alone isn't kept */
        buf_init(&r->text, r->p->arena);
    else if (n == 0 || (between && starts(line, "//")))
        buf_printf(&r->text, "%.*s\n", (int)n, line);
    else
        read_code(r, line, n);
}

static void
read_file(struct prelude *p, unsigned file)
{
    struct reader r = {.p = p, .file = file};
    const char *line = cuda_templates[file].text;

    buf_init(&r.text, p->arena);
    buf_init(&r.code, p->arena);
    while (*line) {
        size_t n = strcspn(line, "\n");

        read_line(&r, line, n);
        line += n + (line[n] == '\n');
    }
    if (r.depth || r.n_open || r.code.len)
        BUG("template '%s' ends in the middle", cuda_templates[file].name);
}

/* --- what is needed ------------------------------------------------------- */

static void
mark_shared(struct prelude *p)
{
    for (uint32_t i = 0; i < p->pieces.n; i++)
        for (uint32_t k = 0; k < p->pieces.n; k++)
            if (i != k && strcmp(p->pieces.v[i].name, p->pieces.v[k].name) == 0)
                p->pieces.v[i].shared = true;
}

static bool
is_type(const struct prelude *p, const char *word, size_t n)
{
    if (word[0] == 'd')
        return true;
    for (uint32_t i = 0; i < p->pieces.n; i++)
        if (p->pieces.v[i].is_type && strlen(p->pieces.v[i].name) == n &&
            memcmp(p->pieces.v[i].name, word, n) == 0)
            return true;
    return false;
}

/* False for one of several that is for an element type not in use. */
static bool
is_wanted(const struct prelude *p, const struct piece *x)
{
    if (!is_used(p, x->name, strlen(x->name)))
        return false;
    if (!x->shared)
        return true;
    for (size_t i = 0, n; next_word(x->signature, &i, &n); i += n)
        if (is_type(p, x->signature + i, n) && !is_used(p, x->signature + i, n))
            return false;
    return true;
}

/* Comments don't use what they speak of. */
static void
add_code_words(struct prelude *p, const char *text)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");

        if (line[strspn(line, " ")] != '/')
            add_words(p, arena_strndup(p->arena, line, n));
        line += n + (line[n] == '\n');
    }
}

static void
mark_needed(struct prelude *p, const char *kernels)
{
    bool more = true;

    add_words(p, kernels);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < p->pieces.n; i++) {
            struct piece *x = &p->pieces.v[i];

            if (x->needed || !is_wanted(p, x))
                continue;
            x->needed = more = true;
            add_code_words(p, x->text);
        }
    }
}

/* --- writing -------------------------------------------------------------- */

static unsigned
find(const char *name, size_t n)
{
    for (unsigned i = 0; i < cuda_templates_count; i++)
        if (strlen(cuda_templates[i].name) == n &&
            memcmp(cuda_templates[i].name, name, n) == 0)
            return i;
    BUG("template includes '%.*s', which does not exist", (int)n, name);
}

static void
write_pieces(const struct prelude *p, struct buf *b, unsigned file)
{
    bool begun = false;

    for (uint32_t i = 0; i < p->pieces.n; i++) {
        const struct piece *x = &p->pieces.v[i];

        if (!x->needed || x->file != file)
            continue;
        if (!begun)
            buf_printf(b, "/* begin fu/%s */\n%s", cuda_templates[file].name,
                       p->heads[file] ? p->heads[file] : "");
        begun = true;
        /* One-line definitions stand together. */
        if (strchr(x->text, '\n') + 1 != x->text + strlen(x->text))
            buf_putc(b, '\n');
        buf_puts(b, x->text);
    }
    if (begun)
        buf_printf(b, "/* end fu/%s */\n", cuda_templates[file].name);
}

/* What it includes, then itself, each once. */
static void
write_file(const struct prelude *p, struct buf *b, bool *written, unsigned file)
{
    static const char start[] = "#include \"";
    const char *at = cuda_templates[file].text;

    if (written[file])
        return;
    written[file] = true;
    while ((at = strstr(at, start)) != NULL) {
        size_t n;

        at += sizeof(start) - 1;
        n = strcspn(at, "\"");
        write_file(p, b, written, find(at, n));
    }
    write_pieces(p, b, file);
}

void
cuda_prelude(struct arena *a, struct buf *b, const char *kernels)
{
    struct prelude p = {.arena = a, .room = 512};
    bool *written = NEW_ARRAY(a, bool, cuda_templates_count);

    p.words = NEW_ARRAY(a, const char *, p.room);
    p.heads = NEW_ARRAY(a, const char *, cuda_templates_count);
    for (unsigned i = 0; i < cuda_templates_count; i++)
        read_file(&p, i);
    mark_shared(&p);
    mark_needed(&p, kernels);
    for (unsigned i = 0; i < cuda_templates_count; i++)
        write_file(&p, b, written, i);
}
