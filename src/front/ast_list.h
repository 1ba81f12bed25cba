/* SPDX-License-Identifier: Apache-2.0 */
/* ast_list: the pointers that the grammar gathers. Only the builders look
 * inside. */
#ifndef FUSEC_FRONT_AST_LIST_H
#define FUSEC_FRONT_AST_LIST_H

#include "support/vec.h"

struct parser;

struct ast_list {
    void **v;
    uint32_t n, cap;
};

/* The structs pointed to, as an array. */
void *ast_list_flatten(struct parser *p, const struct ast_list *l, size_t size);

#define FLATTEN(p, l, T) ((T *)ast_list_flatten((p), (l), sizeof(T)))

#endif
