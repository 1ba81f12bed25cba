/* SPDX-License-Identifier: Apache-2.0 */
/* vec: a typed growable array over an arena.
 *
 *     VEC(struct node *) nodes = {0};
 *     VEC_PUSH(a, &nodes, n);
 *     for (uint32_t i = 0; i < nodes.n; i++) use(nodes.v[i]); */
#ifndef FUSEC_SUPPORT_VEC_H
#define FUSEC_SUPPORT_VEC_H

#include "support/arena.h"

#define VEC(T)                                                                 \
    struct {                                                                   \
        T *v;                                                                  \
        uint32_t n, cap;                                                       \
    }

#define VEC_PUSH(a, vec, x)                                                    \
    do {                                                                       \
        if ((vec)->n == (vec)->cap) {                                          \
            uint32_t cap_ = (vec)->cap ? 2 * (vec)->cap : 8;                   \
            (vec)->v =                                                         \
                arena_grow((a), (vec)->v, (vec)->n, cap_, sizeof(*(vec)->v));  \
            (vec)->cap = cap_;                                                 \
        }                                                                      \
        (vec)->v[(vec)->n++] = (x);                                            \
    } while (0)

#endif
