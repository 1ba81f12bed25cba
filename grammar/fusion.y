/* SPDX-License-Identifier: Apache-2.0 */
/* fusion.y: the shape of the language.
 *
 * It names no operation and no type. An action is one call to
 * front/ast_build.h; front/parse_error.c words the messages.
 *
 * Recovery. The scanner's caller puts a MISSING token where a ';' is certainly
 * absent: before '}', a declaration, or a line that begins with `name =`. So
 * `error semi` always ends at the end of the statement that is wrong. A wrong
 * value keeps the names it was meant for, with a poisoned expression. */

%require "3.8"
%code requires {
#include "support/base.h"

#include "front/ast_build.h"
#include "support/source.h"
}

%define api.pure full
%define api.prefix {fusion_}
%define api.token.prefix {FUSION_}
%define api.location.type {struct span}
%define api.value.type union
%define parse.error custom
%define parse.lac full
%define lr.default-reduction consistent
%locations
%expect 0
%param {struct parser *p}

%code provides {
/* The next token; front/parse.c. */
int fusion_lex(FUSION_STYPE *value, struct span *where, struct parser *p);
/* The scanner below it; grammar/fusion.l. */
void *fusion_scan_open(struct parser *p);
int fusion_scan(FUSION_STYPE *value, struct span *where, void *scanner);
}

%code {
#include "front/parse.h"

#define NAME_OF(text, where) ((struct ast_name){(text), (where)})
#define HEAD(text, where, params, first, last)                                \
    ((struct ast_head){NAME_OF(text, where), (params),                        \
                       span_join((first), (last))})
#define BOUNDS(lo, hi, step) ((struct ast_bounds){(lo), (hi), (step)})

/* The stack holds 256 levels of the deepest rule several times over; it never
 * grows on the heap, and an input that fills it is nested too deep. */
#define YYINITDEPTH 12000
#define YYMAXDEPTH 12000

#define YYLLOC_DEFAULT(cur, rhs, n)                                           \
    do {                                                                      \
        if (n) {                                                              \
            (cur).src = YYRHSLOC(rhs, 1).src;                                 \
            (cur).begin = YYRHSLOC(rhs, 1).begin;                             \
            (cur).end = YYRHSLOC(rhs, n).end;                                 \
        } else {                                                              \
            (cur).src = YYRHSLOC(rhs, 0).src;                                 \
            (cur).begin = (cur).end = YYRHSLOC(rhs, 0).end;                   \
        }                                                                     \
    } while (0)

static void fusion_error(const struct span *where, struct parser *p,
                         const char *text);
}

%initial-action { @$ = parse_start(p); }

/* Single-character tokens stand for themselves. Names without quotes or an
 * article are never printed. */
%token YYEOF 0 "the end of the file"
%token INVALID "invalid"
%token FUSION "'fusion'" IMPORT "'import'" CONST "'const'" TYPE "'type'"
%token DEF "'def'" RETURN "'return'" REQUIRES "'requires'" NONE "'None'"
%token TRUE "'true'" FALSE "'false'" INF "'inf'" NAN "'nan'" PI "'pi'"
%token ARROW "'->'" ELLIPSIS "'...'" POW "'**'" FLOORDIV "'//'"
%token SHL "'<<'" SHR "'>>'" EQ "'=='" NE "'!='" LE "'<='" GE "'>='"
%token AND "'&&'" OR "'||'"
%token <const char *> NAME "a name" INT "an integer" FLOAT "a number"
%token <const char *> STRING "a string"
%token BAD "bad"
%token MISSING "missing"

%nterm <struct expr *> rhs expr or and not comparison bitor bitxor bitand shift
%nterm <struct expr *> sum product unary power postfix primary value list step
%nterm <struct ast_list *> names exprs dims values args arg_list indices
%nterm <struct ast_list *> params param_list results layouts requires stmts
%nterm <struct ast_list *> defpars defpar_list returns body
%nterm <struct ast_arg *> arg
%nterm <struct ast_index *> index
%nterm <struct ast_layout *> layout
%nterm <struct ast_param *> param tensor
%nterm <struct ast_result *> result
%nterm <struct ast_defpar *> defpar
%nterm <struct ast_stmt *> stmt
%nterm <enum ast_op> compare

/* A missing '}' only where no other reading is left. */
%precedence CLOSE
%precedence error

%%

file:
    %empty
|   file item
;

item:
    IMPORT STRING semi              { ast_import(p, $STRING, @STRING); }
|   IMPORT error semi               { ast_lost(p); yyerrok; }
|   CONST NAME '=' rhs semi         { ast_const(p, NAME_OF($NAME, @NAME), $rhs,
                                                @$); yyerrok; }
|   CONST error semi                { ast_lost(p); yyerrok; }
|   TYPE NAME '=' NAME[of] semi     { ast_type(p, NAME_OF($2, @2),
                                               NAME_OF($of, @of), @$); }
|   TYPE error semi                 { ast_lost(p); yyerrok; }
|   def
|   fusion
|   error top                       { ast_lost(p);
                                      if (parse_outside(p))
                                          yyerrok; }
;

top: ';' | '}' | MISSING ;

semi:
    ';'
|   MISSING                         { parse_missing_semicolon(p, @$,
                                                         YYRECOVERING()); }
;

fusion:
    FUSION NAME '(' params ')' ARROW '(' results comma ')'[end] requires body
                                    { ast_fusion(p, HEAD($NAME, @NAME, $params,
                                                       @FUSION, @end),
                                          $results, $requires, $body, @body); }
|   FUSION error body               { ast_lost(p); }
|   FUSION error                    { ast_lost(p); }
;

comma: %empty | ',' ;

requires:
    %empty                          { $$ = ast_list(p); }
|   REQUIRES exprs                  { $$ = $exprs; }
;

body:
    open stmts close                { $$ = $stmts; }
;

open: '{'                           { parse_open_body(p, @$); yyerrok; } ;

close:
    '}'
|   %empty %prec CLOSE              { parse_missing_brace(p, @$); }
;

def:
    DEF NAME '(' defpars ')' '=' rhs semi
                                    { ast_def(p, HEAD($NAME, @NAME, $defpars,
                                                      @DEF, @5),
                                              NULL, ast_list_of(p, $rhs));
                                      yyerrok; }
|   DEF NAME '(' defpars ')' open stmts RETURN returns semi close
                                    { ast_def(p, HEAD($NAME, @NAME, $defpars,
                                                      @DEF, @5),
                                              $stmts, $returns); }
|   DEF NAME '(' defpars ')' open stmts RETURN returns semi error '}'
                                    { ast_lost(p); yyerrok; }
|   DEF NAME '(' defpars ')' open stmts close
                                    { parse_missing_return(p, $NAME, @close);
                                      ast_lost(p); }
|   DEF error open stmts RETURN returns semi close
                                    { ast_lost(p); }
|   DEF error open stmts close      { ast_lost(p); }
|   DEF error semi                  { ast_lost(p); yyerrok; }
;

returns:
    exprs
|   error                           { $$ = ast_list_of(p, ast_poison(p, @$)); }
;

defpars:
    %empty                          { $$ = ast_list(p); }
|   defpar_list comma               { $$ = $1; }
;

defpar_list:
    defpar                          { $$ = ast_list_of(p, $1); }
|   defpar_list ',' defpar          { $$ = ast_list_add(p, $1, $3); }
;

defpar:
    NAME                            { $$ = ast_defpar(p, NAME_OF($1, @1),
                                                      NULL); }
|   NAME '=' value                  { $$ = ast_defpar(p, NAME_OF($1, @1), $3); }
;

params:
    %empty                          { $$ = ast_list(p); }
|   param_list comma                { $$ = $1; }
;

param_list:
    param                           { $$ = ast_list_of(p, $1); }
|   param_list ',' param            { $$ = ast_list_add(p, $1, $3); }
;

param:
    NAME ':' NAME[of]               { $$ = ast_scalar(p, NAME_OF($1, @1),
                                               NAME_OF($of, @of), NULL, @$); }
|   NAME ':' NAME[of] '=' expr      { $$ = ast_scalar(p, NAME_OF($1, @1),
                                               NAME_OF($of, @of), $expr, @$); }
|   tensor
;

tensor:
    NAME ':' NAME[of] '[' dims ']' layouts
                                    { struct ast_param head = {
                                          .name = NAME_OF($1, @1),
                                          .type = NAME_OF($of, @of),
                                          .dims_span = span_join(@4, @6),
                                          .span = @$,
                                      };
                                      $$ = ast_tensor(p, head, $dims,
                                                      $layouts); }
;

results:
    result                          { $$ = ast_list_of(p, $1); }
|   results ',' result              { $$ = ast_list_add(p, $1, $3); }
;

result:
    tensor                          { $$ = ast_result(p, $1, ast_no_name(),
                                                      ast_no_name(), @$); }
|   tensor '=' NAME[how] '(' NAME[of] ')'
                                    { $$ = ast_result(p, $1,
                                               NAME_OF($how, @how),
                                               NAME_OF($of, @of), @$); }
;

dims:
    %empty                          { $$ = ast_list(p); }
|   exprs
;

layouts:
    %empty                          { $$ = ast_list(p); }
|   layouts layout                  { $$ = ast_list_add(p, $1, $2); }
;

layout:
    NAME '(' exprs ')'              { $$ = ast_layout(p, NAME_OF($1, @1),
                                                      $exprs, @$); }
;

stmts:
    %empty                          { $$ = ast_list(p); }
|   stmts stmt                      { $$ = ast_list_add(p, $1, $2); }
|   stmts error semi                { ast_lost(p); yyerrok; $$ = $1; }
;

stmt:
    names '=' rhs semi              { $$ = ast_stmt(p, $names, $rhs,
                                                    span_join(@1, @3));
                                      yyerrok; }
;

names:
    NAME                            { $$ = ast_list_of(p,
                                          ast_name(p, NAME_OF($1, @1))); }
|   names ',' NAME                  { $$ = ast_list_add(p, $1,
                                          ast_name(p, NAME_OF($3, @3))); }
;

rhs:
    expr
|   error                           { $$ = ast_poison(p, @$); }
;

exprs:
    expr                            { $$ = ast_list_of(p, $1); }
|   exprs ',' expr                  { $$ = ast_list_add(p, $1, $3); }
;

/* Expressions, loosest first; the precedence of Python. */

expr:
    or
|   or '?' expr ':' expr            { $$ = ast_select(p, $1, $3, $5); }
;

or:
    and
|   or OR and                       { $$ = ast_binary(p, AST_OR, @2, $1, $3); }
;

and:
    not
|   and AND not                     { $$ = ast_binary(p, AST_AND, @2, $1, $3); }
;

not:
    comparison
|   '!' not                         { $$ = ast_unary(p, AST_NOT, @1, $2); }
;

comparison:
    bitor
|   comparison compare bitor        { $$ = ast_compare(p, $2, @2, $1, $3); }
;

compare:
    EQ                              { $$ = AST_EQ; }
|   NE                              { $$ = AST_NE; }
|   '<'                             { $$ = AST_LT; }
|   LE                              { $$ = AST_LE; }
|   '>'                             { $$ = AST_GT; }
|   GE                              { $$ = AST_GE; }
;

bitor:
    bitxor
|   bitor '|' bitxor                { $$ = ast_binary(p, AST_BITOR, @2, $1,
                                                      $3); }
;

bitxor:
    bitand
|   bitxor '^' bitand               { $$ = ast_binary(p, AST_BITXOR, @2, $1,
                                                      $3); }
;

bitand:
    shift
|   bitand '&' shift                { $$ = ast_binary(p, AST_BITAND, @2, $1,
                                                      $3); }
;

shift:
    sum
|   shift SHL sum                   { $$ = ast_binary(p, AST_SHL, @2, $1, $3); }
|   shift SHR sum                   { $$ = ast_binary(p, AST_SHR, @2, $1, $3); }
;

sum:
    product
|   sum '+' product                 { $$ = ast_binary(p, AST_ADD, @2, $1, $3); }
|   sum '-' product                 { $$ = ast_binary(p, AST_SUB, @2, $1, $3); }
;

product:
    unary
|   product '*' unary               { $$ = ast_binary(p, AST_MUL, @2, $1, $3); }
|   product '/' unary               { $$ = ast_binary(p, AST_DIV, @2, $1, $3); }
|   product FLOORDIV unary          { $$ = ast_binary(p, AST_FLOORDIV, @2, $1,
                                                      $3); }
|   product '%' unary               { $$ = ast_binary(p, AST_MOD, @2, $1, $3); }
;

unary:
    power
|   '-' unary                       { $$ = ast_unary(p, AST_NEG, @1, $2); }
|   '~' unary                       { $$ = ast_unary(p, AST_INV, @1, $2); }
;

power:
    postfix
|   postfix POW unary               { $$ = ast_pow(p, @2, $1, $3); }
;

postfix:
    primary
|   postfix '[' indices ']'         { $$ = ast_subscript(p, $1, $indices,
                                                         span_join(@2, @4)); }
;

primary:
    NAME                            { $$ = ast_name_expr(p, NAME_OF($1, @1)); }
|   NAME '(' args ')'               { $$ = ast_call(p, NAME_OF($1, @1), $args,
                                                    @$); }
|   INT                             { $$ = ast_int(p, $1, @1); }
|   FLOAT                           { $$ = ast_float(p, $1, @1); }
|   TRUE                            { $$ = ast_bool(p, true, @1); }
|   FALSE                           { $$ = ast_bool(p, false, @1); }
|   INF                             { $$ = ast_leaf(p, EXPR_INF, @1); }
|   NAN                             { $$ = ast_leaf(p, EXPR_NAN, @1); }
|   PI                              { $$ = ast_leaf(p, EXPR_PI, @1); }
|   BAD                             { $$ = ast_poison(p, @1); }
|   '(' expr ')'                    { $$ = ast_parens(p, $2, @$); }
;

args:
    %empty                          { $$ = ast_list(p); }
|   arg_list comma                  { $$ = $1; }
;

arg_list:
    arg                             { $$ = ast_list_of(p, $1); }
|   arg_list ',' arg                { $$ = ast_list_add(p, $1, $3); }
;

arg:
    value                           { $$ = ast_arg(p, ast_no_name(), $1, @$); }
|   NAME '=' value                  { $$ = ast_arg(p, NAME_OF($1, @1), $3,
                                                   @$); }
;

value: expr | list ;

list:
    '[' ']'                         { $$ = ast_list_expr(p, ast_list(p), @$); }
|   '[' values ']'                  { $$ = ast_list_expr(p, $2, @$); }
;

values:
    value                           { $$ = ast_list_of(p, $1); }
|   values ',' value                { $$ = ast_list_add(p, $1, $3); }
;

indices:
    index                           { $$ = ast_list_of(p, $1); }
|   indices ',' index               { $$ = ast_list_add(p, $1, $3); }
;

index:
    ':'                             { $$ = ast_index(p, INDEX_ALL, NULL, @$); }
|   ELLIPSIS                        { $$ = ast_index(p, INDEX_ELLIPSIS, NULL,
                                                     @$); }
|   NONE                            { $$ = ast_index(p, INDEX_NEW, NULL, @$); }
|   expr                            { $$ = ast_index(p, INDEX_EXPR, $1, @$); }
|   expr ':'                        { $$ = ast_slice(p, BOUNDS($1, NULL, NULL), @$); }
|   expr ':' step                   { $$ = ast_slice(p, BOUNDS($1, NULL, $3), @$); }
|   expr ':' expr                   { $$ = ast_slice(p, BOUNDS($1, $3, NULL), @$); }
|   expr ':' expr step              { $$ = ast_slice(p, BOUNDS($1, $3, $4), @$); }
|   ':' step                        { $$ = ast_slice(p, BOUNDS(NULL, NULL, $2), @$); }
|   ':' expr                        { $$ = ast_slice(p, BOUNDS(NULL, $2, NULL), @$); }
|   ':' expr step                   { $$ = ast_slice(p, BOUNDS(NULL, $2, $3), @$); }
;

step:
    ':' INT                         { $$ = ast_step(p, ast_int(p, $2, @2), @2); }
|   ':' '-' INT                     { $$ = ast_step(p, NULL, span_join(@2, @3)); }
;

%%

static int
yyreport_syntax_error(const yypcontext_t *ctx, struct parser *p)
{
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *expected[YYNTOKENS];
    int n = yypcontext_expected_tokens(ctx, kinds, YYNTOKENS);

    for (int i = 0; i < n; i++)
        expected[i] = yysymbol_name(kinds[i]);
    parse_syntax_error(p, yysymbol_name(yypcontext_token(ctx)),
                       *yypcontext_location(ctx), expected, (unsigned)n);
    return 0;
}

/* Bison calls this for one thing only here: the stack is full. */
static void
fusion_error(const struct span *where, struct parser *p, const char *text)
{
    (void)text;
    parse_too_deep(p, *where);
}
