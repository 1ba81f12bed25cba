/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_cluster: which columns of a row are a block's own. All of them, those
 * of its tile, or its part where the blocks of a cluster share a row. */

#include "support/base.h"

#include "lower/lower_rowwise.h"

#include "support/arena.h"

void
rw_declare_columns(struct rw *w, struct kbuild *b)
{
    struct arena *a = w->a;
    const struct kexpr *tile;

    w->end = w->nv;
    if (!w->tiles)
        return;
    tile = lower_wide(w->ctx, ke_call(a, "fu_bid_x", NULL, 0));
    w->first = kb_let(
        b, "fu_i64", "tile",
        ke_bin(a, "*", tile, ke_int(a, (int64_t)w->tpr * w->vec * w->vpt)));
}

const struct kexpr *
rw_column(const struct rw *w, const struct kexpr *own)
{
    return w->first ? ke_bin(w->a, "+", w->first, own) : own;
}

const struct kexpr *
rw_own_column(const struct rw *w, const struct kexpr *column)
{
    return w->first ? ke_bin(w->a, "-", column, w->first) : column;
}

const struct kexpr *
rw_is_first_block(const struct rw *w)
{
    return w->tiles ? ke_bin(w->a, "==", w->first, ke_int(w->a, 0)) : NULL;
}
