/* SPDX-License-Identifier: Apache-2.0 */
/* parse_error: words a syntax error.
 *
 * The parser knows every token that could stand here; for a reader that is too
 * much. All that may begin an expression becomes "an expression", all that may
 * continue one "an operator", and the rest is named. A help follows where the
 * text looks like a habit from another language. */
#include "support/base.h"

#include "front/parse.h"

#include "fusion.tab.h"
#include "support/buf.h"
#include "support/diag.h"

#include <stdio.h>

enum { MAX_SHOWN = 40, MAX_ALTERNATIVES = 4 };

struct problem {
    const char *unexpected; /* the token's name in fusion.y */
    struct span where;
    const char *const *expected;
    unsigned n;
    bool wants_expr, wants_operator;
};

static bool
expects(const struct problem *s, const char *token)
{
    for (unsigned i = 0; i < s->n; i++) {
        if (strcmp(s->expected[i], token) == 0)
            return true;
    }
    return false;
}

static bool
is_one_of(const char *token, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(token, *list) == 0)
            return true;
    }
    return false;
}

static bool
begins_expression(const char *token)
{
    static const char *const list[] = {
        "a name", "an integer", "a number", "'true'", "'false'",
        "'inf'",  "'nan'",      "'pi'",     "'('",    "'-'",
        "'~'",    "'!'",        "'['",      NULL};

    return is_one_of(token, list);
}

static bool
continues_expression(const char *token)
{
    static const char *const list[] = {
        "'+'",  "'-'",  "'*'", "'/'",  "'//'", "'%'",  "'**'", "'<<'",
        "'>>'", "'&'",  "'|'", "'^'",  "'=='", "'!='", "'<'",  "'<='",
        "'>'",  "'>='", "'?'", "'&&'", "'||'", "'['",  "'('",  NULL};

    return is_one_of(token, list);
}

static bool
begins_declaration(const char *token)
{
    static const char *const list[] = {"'fusion'", "'import'", "'const'",
                                       "'type'",   "'def'",    NULL};

    return is_one_of(token, list);
}

/* Does TOKEN add to what the message already says? */
static bool
is_news(const struct problem *s, const char *token)
{
    if (strcmp(token, "bad") == 0 || strcmp(token, "missing") == 0 ||
        strcmp(token, "invalid") == 0)
        return false;
    if (s->wants_expr && begins_expression(token))
        return false;
    if (s->wants_operator &&
        (continues_expression(token) || strcmp(token, "'='") == 0))
        return false;
    if (expects(s, "'}'") && (begins_declaration(token) ||
                              strcmp(token, "the end of the file") == 0))
        return false;
    return true;
}

static void
join(struct buf *b, const char *const *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const char *between = i + 1 == n ? " or " : ", ";

        buf_printf(b, "%s%s", i == 0 ? ", expected " : between, items[i]);
    }
}

static void
print_expected(struct buf *b, const struct problem *s)
{
    const char *items[MAX_ALTERNATIVES];
    unsigned n = 0;

    if (expects(s, "'fusion'") && !expects(s, "'}'")) {
        buf_puts(b, ", expected a declaration");
        return;
    }
    if (s->wants_expr)
        items[n++] = "an expression";
    if (s->wants_operator)
        items[n++] = "an operator";
    for (unsigned i = 0; i < s->n; i++) {
        if (!is_news(s, s->expected[i]))
            continue;
        if (n == MAX_ALTERNATIVES)
            return;
        items[n++] = s->expected[i];
    }
    join(b, items, n);
}

static void
print_unexpected(struct buf *b, const struct problem *s)
{
    const char *text = s->where.src->text + s->where.begin;
    size_t n = s->where.end - s->where.begin;

    if (n == 0) {
        buf_puts(b, "unexpected end of the file");
        return;
    }
    buf_puts(b, "unexpected ");
    if (strcmp(s->unexpected, "a name") == 0)
        buf_puts(b, "name ");
    buf_putc(b, '\'');
    buf_write(b, text, MIN(n, MAX_SHOWN));
    buf_puts(b, n > MAX_SHOWN ? "...'" : "'");
}

/* ---- helps ----------------------------------------------------------------
 */

static bool
is_text(const struct parser *p, uint32_t begin, uint32_t end, const char *word)
{
    return end - begin == strlen(word) &&
           memcmp(p->src->text + begin, word, end - begin) == 0;
}

/* The byte at AT, or 0 beyond the end. */
static char
byte_at(const struct parser *p, uint32_t at)
{
    return at < p->src->len ? p->src->text[at] : '\0';
}

static bool
is_reserved(const struct problem *s)
{
    char c = s->where.src->text[s->where.begin];

    return s->where.end > s->where.begin && s->unexpected[0] == '\'' &&
           ((c >= 'a' && c <= 'z') || c == 'N');
}

static const char *
help_for_word(const struct parser *p, const struct problem *s)
{
    static const struct {
        const char *word, *help;
    } words[] = {
        {"and", "write '&&'"},
        {"or", "write '||'"},
        {"not", "write '!'"},
        {"if", "a choice is written 'condition ? a : b'"},
        {"else", "a choice is written 'condition ? a : b'"},
        {"for", "there are no loops: a tensor is computed as a whole"},
        {"while", "there are no loops: a tensor is computed as a whole"},
        {"let", "a name is defined by 'name = value;'"},
        {"var", "a name is defined by 'name = value;'"},
        {"elif", "a choice is written 'condition ? a : b'"},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (is_text(p, s->where.begin, s->where.end, words[i].word) ||
            is_text(p, p->before_begin, p->before_end, words[i].word))
            return words[i].help;
    }
    return NULL;
}

static const char *
help_for_operator(const struct parser *p, const struct problem *s)
{
    uint32_t begin = s->where.begin;
    char c = byte_at(p, begin), next = byte_at(p, s->where.end);
    char before = begin > 0 ? byte_at(p, begin - 1) : '\0';

    if (strcmp(s->unexpected, "'//'") == 0 || (c == '/' && next == '*') ||
        (c == '*' && before == '/'))
        return "a comment begins with '#'";
    if (next == '=' && expects(s, "'='") && s->where.end == begin + 1)
        return c == ':' ? "write '='"
                        : "a name is defined once: there is no assignment "
                          "that changes a value";
    if (strcmp(s->unexpected, "'=='") == 0 && expects(s, "'='"))
        return "a definition is written with '='";
    if (strcmp(s->unexpected, "'='") == 0 && s->wants_operator)
        return "a comparison is written '=='";
    if (strcmp(s->unexpected, "'!'") == 0 && s->wants_expr)
        return "'!' binds less tightly than the operator before it: write (!x)";
    if (strcmp(s->unexpected, "'+'") == 0 && s->wants_expr)
        return "there is no unary '+'";
    return NULL;
}

static const char *
help_for_place(const struct problem *s)
{
    if (strcmp(s->unexpected, "'['") == 0 && s->wants_expr)
        return "a list stands only as an argument of a call";
    if (strcmp(s->unexpected, "'return'") == 0)
        return "the results of a fusion are defined by their names";
    if (expects(s, "'['") && !s->wants_operator && s->n == 1)
        return "a result is a tensor: a single value is 'T[]'";
    if (expects(s, "a string"))
        return "write import \"file.fusion\"";
    if (expects(s, "'}'") && strcmp(s->unexpected, "a name") == 0)
        return "'return' ends the body of a def";
    if (strcmp(s->unexpected, "a string") == 0)
        return "a string stands only after 'import'";
    if (is_reserved(s) && expects(s, "a name") &&
        !begins_declaration(s->unexpected))
        return "this word is reserved";
    return NULL;
}

static void
add_help(struct parser *p, const struct problem *s)
{
    const char *help = help_for_word(p, s);

    if (!help)
        help = help_for_operator(p, s);
    if (!help)
        help = help_for_place(s);
    if (help)
        diag_help(p->diag, s->where, "%s", help);
}

/* Where the bracket was opened that is still waiting for its end. */
static void
add_bracket_note(struct parser *p, const struct problem *s)
{
    struct span open;
    const char *close;

    if (p->n_open == 0)
        return;
    open = p->open[p->n_open - 1];
    close = byte_at(p, open.begin) == '(' ? "')'" : "']'";
    if (!expects(s, close) || source_position(p->src, open.begin).line ==
                                  source_position(p->src, s->where.begin).line)
        return;
    diag_note(p->diag, open, "the bracket was opened here");
}

void
parse_syntax_error(struct parser *p, const char *unexpected, struct span where,
                   const char *const *expected, unsigned n)
{
    struct problem s = {unexpected, where, expected, n, false, false};
    struct buf b;

    if (p->stop || strcmp(unexpected, "invalid") == 0 ||
        strcmp(unexpected, "bad") == 0 ||
        (strcmp(unexpected, "a string") == 0 && p->unterminated))
        return; /* whoever made the token has reported it */
    if (strcmp(unexpected, "missing") == 0) {
        s.unexpected = p->pending == FUSION_NAME ? "a name" : "'}'";
        s.where = p->pending_where;
    }
    s.wants_expr = expects(&s, "a number");
    s.wants_operator = expects(&s, "'*'");
    buf_init(&b, p->arena);
    print_unexpected(&b, &s);
    print_expected(&b, &s);
    diag_report(p->diag, DIAG_SYNTAX, s.where, buf_str(&b));
    add_help(p, &s);
    add_bracket_note(p, &s);
}
