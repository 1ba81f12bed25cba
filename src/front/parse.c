/* SPDX-License-Identifier: Apache-2.0 */
/* parse: sets the scanner up, feeds the parser, and judges what the scanner
 * alone cannot.
 *
 * Between scanner and parser stands fusion_lex. It keeps the open brackets, so
 * that a message can say where one was opened and a depth limit holds, and it
 * inserts a MISSING token wherever a statement certainly ends without ';':
 * before '}' and the words that begin a declaration, and before a line that
 * begins with `name =` right after an operand or an operator. No legal text has
 * a MISSING. */
#include "support/base.h"

#include "front/parse.h"

#include "front/ast_build.h"
#include "front/ast_list.h"
#include "fusion.tab.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/utf8.h"

/* At most one report of each kind a line for bytes that are no text. */
static void
check_line(struct parser *p, const char *s, size_t n, uint32_t at)
{
    bool nul = false, ill = false;

    for (size_t i = 0; i < n;) {
        unsigned char byte = (unsigned char)s[i];
        uint32_t code, begin = at + (uint32_t)i;
        struct span where = {p->src, begin, begin + 1};
        size_t len = byte < 0x80 ? 1 : utf8_decode(s + i, n - i, &code);

        if (byte == 0 && !nul) {
            diag_report(p->diag, DIAG_NUL_BYTE, where);
            nul = true;
        }
        if (len == 0 && !ill) {
            diag_report(p->diag, DIAG_INVALID_UTF8, where, byte);
            ill = true;
        }
        i += MAX(len, 1);
    }
}

static void
check_text(struct parser *p)
{
    const struct source *src = p->src;

    for (uint32_t i = 0; i < src->lines && !diag_full(p->diag); i++) {
        uint32_t begin = src->line_start[i];
        uint32_t end =
            i + 1 < src->lines ? src->line_start[i + 1] : (uint32_t)src->len;

        check_line(p, src->text + begin, end - begin, begin);
    }
}

static bool
has_byte_order_mark(const struct source *src)
{
    return src->len >= 3 && memcmp(src->text, "\xef\xbb\xbf", 3) == 0;
}

static void
finish_file(struct parser *p)
{
    struct ast_file *file = p->file;

    file->imports = FLATTEN(p, p->imports, struct ast_import);
    file->n_imports = p->imports->n;
    file->consts = (struct ast_const **)p->consts->v;
    file->n_consts = p->consts->n;
    file->types = (struct ast_type **)p->types->v;
    file->n_types = p->types->n;
    file->defs = (struct ast_def **)p->defs->v;
    file->n_defs = p->defs->n;
    file->fusions = (struct ast_fusion **)p->fusions->v;
    file->n_fusions = p->fusions->n;
}

struct ast_file *
parse_file(struct arena *a, struct diag *d, const struct source *src)
{
    struct parser *p = NEW(a, struct parser);
    unsigned errors = diag_errors(d);

    assert(src->len <= PARSE_MAX_BYTES);
    p->arena = a;
    p->diag = d;
    p->src = src;
    p->pending = -1;
    p->offset = has_byte_order_mark(src) ? 3 : 0;
    p->last_end = p->before_end = p->offset;
    p->file = NEW(a, struct ast_file);
    p->file->source = src;
    p->file->complete = true;
    p->imports = ast_list(p);
    p->consts = ast_list(p);
    p->types = ast_list(p);
    p->defs = ast_list(p);
    p->fusions = ast_list(p);
    check_text(p);
    p->scanner = fusion_scan_open(p);
    if (fusion_parse(p) != 0 || p->stop)
        ast_lost(p);
    assert(p->file->complete || diag_errors(d) > errors);
    finish_file(p);
    return p->file;
}

/* ---- between scanner and parser ------------------------------------------ */

static bool
begins_declaration(int token)
{
    return token == FUSION_FUSION || token == FUSION_IMPORT ||
           token == FUSION_CONST || token == FUSION_TYPE || token == FUSION_DEF;
}

static bool
ends_operand(int token)
{
    return token == FUSION_NAME || token == FUSION_INT ||
           token == FUSION_FLOAT || token == FUSION_BAD ||
           token == FUSION_TRUE || token == FUSION_FALSE ||
           token == FUSION_INF || token == FUSION_NAN || token == FUSION_PI ||
           token == ')' || token == ']';
}

/* Operators: after them too, `name =` is never part of the same statement. */
static bool
wants_operand(int token)
{
    switch (token) {
    case FUSION_POW:
    case FUSION_FLOORDIV:
    case FUSION_SHL:
    case FUSION_SHR:
    case FUSION_EQ:
    case FUSION_NE:
    case FUSION_LE:
    case FUSION_GE:
    case FUSION_AND:
    case FUSION_OR:
        return true;
    default:
        return token > 0 && token < 128 && strchr("+-*/%&|^~!<>=?", token);
    }
}

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static const char *
skip_space(const char *s, const char *end)
{
    while (s < end && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n'))
        s++;
    return s;
}

/* Does `{, name} =` follow the name that ends at S? */
static bool
follows_definition(const char *s, const char *end)
{
    for (;;) {
        s = skip_space(s, end);
        if (s < end && *s == '=')
            return s + 1 == end || s[1] != '=';
        if (s == end || *s != ',')
            return false;
        s = skip_space(s + 1, end);
        if (s == end || !is_word(*s))
            return false;
        while (s < end && is_word(*s))
            s++;
    }
}

static bool
starts_statement(const struct parser *p, struct span where)
{
    const char *text = p->src->text;

    return memchr(text + p->last_end, '\n', where.begin - p->last_end) &&
           follows_definition(text + where.end, text + p->src->len);
}

static bool
needs_missing(const struct parser *p, int token, struct span where)
{
    if (p->last == 0 || p->last == ';' || p->last == '{' || p->last == '}')
        return false;
    if (token == '}' || token == FUSION_RETURN || token == FUSION_YYEOF)
        return true;
    if (begins_declaration(token))
        return true;
    if (p->unterminated && p->last == FUSION_STRING)
        return true;
    return token == FUSION_NAME &&
           (ends_operand(p->last) || wants_operand(p->last)) &&
           starts_statement(p, where);
}

/* Open brackets never outlive a statement. */
static int
track_brackets(struct parser *p, int token, struct span where)
{
    char open = token == ')' ? '(' : '[';

    if (token == '(' || token == '[') {
        if (p->n_open == AST_MAX_DEPTH) {
            parse_too_deep(p, where);
            return FUSION_INVALID;
        }
        p->open[p->n_open++] = where;
    } else if (token == ')' || token == ']') {
        if (p->n_open > 0 && p->src->text[p->open[p->n_open - 1].begin] == open)
            p->n_open--;
    } else if (token == ';' || token == '{' || token == '}' ||
               begins_declaration(token)) {
        p->unterminated = false;
        p->n_open = 0;
        p->too_deep = false;
        if (token == '{')
            p->braces++;
        else if (token == '}' && p->braces > 0)
            p->braces--;
        else if (token != ';')
            p->braces = 0; /* bodies do not nest declarations */
    }
    return token;
}

static int
take(struct parser *p, int token, struct span where)
{
    p->before_begin = p->last_begin;
    p->before_end = p->last_end;
    p->last = token;
    p->last_begin = where.begin;
    p->last_end = where.end;
    return track_brackets(p, token, where);
}

int
fusion_lex(FUSION_STYPE *value, struct span *where, struct parser *p)
{
    int token;

    if (p->pending >= 0) {
        token = p->pending;
        *where = p->pending_where;
        value->FUSION_NAME = p->pending_text;
        p->pending = -1;
        p->n_open = 0;
        p->too_deep = false;
        return take(p, token, *where);
    }
    token = fusion_scan(value, where, p->scanner);
    if (token == FUSION_YYEOF)
        *where =
            (struct span){p->src, (uint32_t)p->src->len, (uint32_t)p->src->len};
    if (diag_full(p->diag)) {
        p->stop = true;
        return FUSION_YYEOF;
    }
    if (!needs_missing(p, token, *where))
        return take(p, token, *where);
    p->pending = token;
    p->pending_where = *where;
    p->pending_text = token == FUSION_NAME ? value->FUSION_NAME : NULL;
    *where = (struct span){p->src, p->last_end, p->last_end};
    return FUSION_MISSING;
}

/* ---- for the scanner ------------------------------------------------------
 */

void
parse_check_name(struct parser *p, struct span where)
{
    uint32_t n = where.end - where.begin;

    if (n > AST_MAX_NAME)
        diag_report(p->diag, DIAG_NAME_TOO_LONG, where, n);
}

/* Blocks of Unicode that hold punctuation and symbols: no letter of a name. */
static bool
is_symbol(uint32_t code)
{
    return code < 0xc0 || code == 0xd7 || code == 0xf7 ||
           (code >= 0x2000 && code < 0x2c00) ||
           (code >= 0x3000 && code < 0x3040) || code >= 0xf000;
}

bool
parse_non_ascii(struct parser *p, struct span where)
{
    const char *s = p->src->text + where.begin;
    const char *end = p->src->text + where.end;
    struct span first = {NULL, 0, 0};
    bool symbols = false;
    uint32_t code;

    while (s < end) {
        size_t n = utf8_decode(s, (size_t)(end - s), &code);

        if (n == 0)
            return false; /* check_text has reported it */
        if (n > 1 && !first.src) {
            first.src = p->src;
            first.begin = (uint32_t)(s - p->src->text);
            first.end = first.begin + (uint32_t)n;
        }
        symbols |= n > 1 && is_symbol(code);
        s += n;
    }
    assert(first.src);
    diag_report(p->diag, DIAG_NON_ASCII, first,
                arena_strndup(p->arena, p->src->text + first.begin,
                              first.end - first.begin));
    if (!symbols)
        diag_help(p->diag, first, "a name has letters A-Z a-z, digits and '_'");
    return !symbols;
}

void
parse_bad_number(struct parser *p, struct span where)
{
    const char *s = p->src->text + where.begin;
    uint32_t n = where.end - where.begin, i = 0;
    bool hex = n > 1 && s[0] == '0' && (s[1] | 32) == 'x';
    const char *dot = memchr(s, '.', n), *help;

    while (i < n && ((s[i] >= '0' && s[i] <= '9') || s[i] == '.'))
        i++;
    if (hex && dot)
        help = "a hexadecimal float has an exponent: 0x1.8p0";
    else if (hex || (i < n && (s[i] | 32) == 'e' && !dot))
        help = "numbers are written 10, 0x1f, 0.5, 1e-5 or 0x1.8p3";
    else if (dot && (dot == s || dot[1] < '0' || dot[1] > '9'))
        help = "a number has a digit on each side of the point";
    else
        help = "numbers have no suffix; a cast gives a type: f32(0.1)";
    diag_report(p->diag, DIAG_BAD_NUMBER, where,
                arena_strndup(p->arena, s, MIN(n, 40)));
    diag_help(p->diag, where, "%s", help);
}

void
parse_bad_byte(struct parser *p, struct span where)
{
    unsigned char c = (unsigned char)p->src->text[where.begin];
    bool shown = c >= ' ' && c < 0x7f;

    if (c == 0)
        return; /* check_text has reported it */
    diag_report(p->diag, DIAG_UNEXPECTED_CHARACTER, where,
                shown ? arena_printf(p->arena, "%c", c)
                      : arena_printf(p->arena, "\\x%02x", c));
    if (c == '.')
        diag_help(p->diag, where, "there are no methods: write f(x), not x.f");
    if (c == '\'')
        diag_help(p->diag, where, "a string stands in double quotes");
    if (c == '@')
        diag_help(p->diag, where,
                  "there is no matrix product; sum(a * b, axis=...) is a dot "
                  "product");
}

void
parse_unterminated(struct parser *p, struct span where)
{
    diag_report(p->diag, DIAG_UNTERMINATED_STRING, where);
    p->unterminated = true; /* it has swallowed the ';' */
}

/* ---- for the grammar ------------------------------------------------------
 */

struct span
parse_start(struct parser *p)
{
    return (struct span){p->src, p->offset, p->offset};
}

bool
parse_outside(const struct parser *p)
{
    return p->braces == 0;
}

void
parse_open_body(struct parser *p, struct span where)
{
    p->body = where;
}

void
parse_missing_semicolon(struct parser *p, struct span where, bool recovering)
{
    bool swallowed = p->unterminated;

    p->unterminated = false;
    if (p->stop || recovering || swallowed)
        return;
    diag_report(p->diag, DIAG_MISSING_SEMICOLON, where);
    diag_help(p->diag, where, "put ';' here");
}

void
parse_missing_brace(struct parser *p, struct span where)
{
    ast_lost(p);
    if (p->stop)
        return;
    diag_report(p->diag, DIAG_MISSING_BRACE, where);
    diag_note(p->diag, p->body, "the body begins here");
}

void
parse_missing_return(struct parser *p, const char *name, struct span where)
{
    if (p->stop)
        return;
    diag_report(p->diag, DIAG_MISSING_RETURN, where, name);
    diag_help(p->diag, where, "end the body with 'return value;'");
}

void
parse_too_deep(struct parser *p, struct span where)
{
    if (p->too_deep || p->stop)
        return;
    p->too_deep = true;
    where.end = MIN(where.end, where.begin + 1);
    diag_report(p->diag, DIAG_NESTING_LIMIT, where);
    diag_help(p->diag, where, "give a part of the expression a name");
}
