/* SPDX-License-Identifier: Apache-2.0 */
/* ast: the operators, one row each. Levels follow the grammar, and the grammar
 * follows Python. */
#include "support/base.h"

#include "front/ast.h"

static const struct {
    const char *text;
    int level;
} ops[AST_OP_COUNT] = {
    [AST_NEG] = {"-", 0},       [AST_NOT] = {"!", 0},
    [AST_INV] = {"~", 0},       [AST_OR] = {"||", 1},
    [AST_AND] = {"&&", 2},      [AST_EQ] = {"==", 3},
    [AST_NE] = {"!=", 3},       [AST_LT] = {"<", 3},
    [AST_LE] = {"<=", 3},       [AST_GT] = {">", 3},
    [AST_GE] = {">=", 3},       [AST_BITOR] = {"|", 4},
    [AST_BITXOR] = {"^", 5},    [AST_BITAND] = {"&", 6},
    [AST_SHL] = {"<<", 7},      [AST_SHR] = {">>", 7},
    [AST_ADD] = {"+", 8},       [AST_SUB] = {"-", 8},
    [AST_MUL] = {"*", 9},       [AST_DIV] = {"/", 9},
    [AST_FLOORDIV] = {"//", 9}, [AST_MOD] = {"%", 9},
    [AST_POW] = {"**", 10},
};

const char *
ast_op_text(enum ast_op op)
{
    assert(op < AST_OP_COUNT);
    return ops[op].text;
}

int
ast_op_level(enum ast_op op)
{
    assert(op < AST_OP_COUNT);
    return ops[op].level;
}

bool
ast_op_is_comparison(enum ast_op op)
{
    return ast_op_level(op) == ops[AST_EQ].level;
}
