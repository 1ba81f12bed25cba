/* SPDX-License-Identifier: Apache-2.0 */
/* rowwise_divide: `x / s` where s is one value a row and the quotient goes
 * nowhere but to a type of 16 bits or fewer. What can be had of 1 / s is worked
 * out once a row; an element then costs three instructions, not a division's
 * dozen (templates/divide.cuh). */
#include "support/base.h"

#include "lower/lower_rowwise.h"

static bool
is_narrow(enum dtype t)
{
    return dtype_is_float(t) && dtype_info[t].bytes <= 2;
}

/* Whether node `user` takes the value of n as an operand. */
static bool
takes(const struct rw *w, node_id user, node_id n)
{
    const struct node *nd = graph_node(w->g, user);

    for (uint32_t i = 0; w->f->node[user].live && i < nd->n_args; i++)
        if (facts_value(w->f, nd->args[i]) == n)
            return true;
    return false;
}

/* A view of the value passes it on; what it is rounded to comes after. */
static bool
is_only_rounded(const struct rw *w, node_id n)
{
    for (uint32_t i = 0; i < w->g->n_results; i++)
        if (facts_value(w->f, w->g->results[i].node) == n &&
            !is_narrow(w->g->results[i].dtype))
            return false;
    for (node_id user = n + 1; user < w->g->n_nodes; user++)
        if (takes(w, user, n) && !w->f->node[user].is_alias &&
            !(op_info[graph_node(w->g, user)->op].class == OC_CAST &&
              is_narrow(graph_node(w->g, user)->dtype)))
            return false;
    return true;
}

static bool
shares_divisor(const struct rw *w, node_id n)
{
    const struct node *nd = graph_node(w->g, n);

    return nd->op == OP_DIV && nd->dtype == DT_F32 && rw_has_column(w, n) &&
           graph_node(w->g, nd->args[0])->dtype == DT_F32 &&
           graph_node(w->g, nd->args[1])->dtype == DT_F32 &&
           !rw_has_column(w, facts_value(w->f, nd->args[1])) &&
           is_only_rounded(w, n);
}

void
rw_divisors(struct rw *w, struct kbuild *b)
{
    for (node_id n = 0; n < w->g->n_nodes; n++) {
        struct rw_node *r = &w->node[n];

        if (!r->need || r->kept_from >= 0 || !shares_divisor(w, n))
            continue;
        r->divisor = kb_let(b, "fu_divisor", rw_name(w, "d", n),
                            ke_call(w->a, "fu_divide_by", NULL, 1,
                                    rw_value(w, graph_node(w->g, n)->args[1])));
    }
}

void
rw_forget_divisors(struct rw *w)
{
    for (node_id n = 0; n < w->g->n_nodes; n++)
        w->node[n].divisor = NULL;
}
