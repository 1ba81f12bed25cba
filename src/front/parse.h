/* SPDX-License-Identifier: Apache-2.0 */
/* parse: one text to one ast_file.
 *
 * The parser's state lives here because scanner, grammar and builders share it;
 * nobody outside the front includes it. Errors go to diag; the file is returned
 * whatever happened, as complete as recovery left it. */
#ifndef FUSEC_FRONT_PARSE_H
#define FUSEC_FRONT_PARSE_H

#include "front/ast.h"

struct arena;
struct ast_list;
struct diag;

enum { PARSE_MAX_BYTES = 1 << 30 };

struct parser {
    struct arena *arena;
    struct diag *diag;
    const struct source *src;
    struct ast_file *file;
    void *scanner;
    uint32_t offset; /* bytes that the scanner has taken */

    /* The last token and the one before it, for messages and for MISSING. */
    int last;
    uint32_t last_end, before_begin, before_end, last_begin;
    int pending; /* the token behind a MISSING, or -1 */
    const char *pending_text;
    struct span pending_where;

    struct span open[AST_MAX_DEPTH]; /* brackets of the expression */
    uint32_t n_open;
    uint32_t braces;   /* open bodies */
    struct span body;  /* the last '{' */
    bool too_deep;     /* reported for this statement */
    bool unterminated; /* the last string has no end */
    bool stop;         /* too many errors: act as if the file ended */

    struct ast_list *imports, *consts, *types, *defs, *fusions;
};

/* LEN is at most PARSE_MAX_BYTES. */
struct ast_file *parse_file(struct arena *a, struct diag *d,
                            const struct source *src);

/* For the scanner: judge the token at WHERE and report what is wrong. */
void parse_check_name(struct parser *p, struct span where);
/* True when the non-ASCII word may stand for a name. */
bool parse_non_ascii(struct parser *p, struct span where);
void parse_bad_number(struct parser *p, struct span where);
void parse_bad_byte(struct parser *p, struct span where);
void parse_unterminated(struct parser *p, struct span where);

/* For the grammar and the builders. */
struct span parse_start(struct parser *p);
/* No body is open: the next token should begin a declaration. */
bool parse_outside(const struct parser *p);
void parse_open_body(struct parser *p, struct span where);
void parse_missing_semicolon(struct parser *p, struct span where,
                             bool recovering);
void parse_missing_brace(struct parser *p, struct span where);
void parse_missing_return(struct parser *p, const char *name,
                          struct span where);
void parse_too_deep(struct parser *p, struct span where);
/* EXPECTED are names of tokens, as fusion.y declares them. */
void parse_syntax_error(struct parser *p, const char *unexpected,
                        struct span where, const char *const *expected,
                        unsigned n);

#endif
