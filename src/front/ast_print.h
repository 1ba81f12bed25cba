/* SPDX-License-Identifier: Apache-2.0 */
/* ast_print: the syntax tree as an indented S-expression (--emit=ast). It holds
 * nothing of white space, comments, redundant parentheses or places. */
#ifndef FUSEC_FRONT_AST_PRINT_H
#define FUSEC_FRONT_AST_PRINT_H

#include "front/ast.h"

struct arena;
struct buf;

void ast_print(struct arena *a, const struct ast_file *file, struct buf *out);

#endif
