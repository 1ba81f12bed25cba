/* SPDX-License-Identifier: Apache-2.0 */
/* Gives back a manifest, whole or as far as it was read. */
#include "support/base.h"

#include "tools/launch/manifest.h"

#include <jansson.h>
#include <stdlib.h>

static void
free_launch(struct m_launch *l)
{
    for (uint32_t i = 0; l->args && i < l->n_args; i++)
        expr_free(&l->args[i].expr);
    free(l->args);
    for (int i = 0; i < 3; i++)
        expr_free(&l->grid[i]);
    expr_free(&l->dynamic_smem);
}

static void
free_fusion(struct fusec_fusion *f)
{
    for (uint32_t v = 0; v < f->n_variants; v++) {
        for (uint32_t k = 0; k < f->variants[v].n_launches; k++)
            free_launch(&f->variants[v].launches[k]);
        free(f->variants[v].launches);
        expr_free(&f->variants[v].guard);
    }
    for (uint32_t i = 0; i < f->n_params; i++)
        for (int d = 0; d < M_MAX_RANK; d++) {
            expr_free(&f->params[i].shape[d]);
            expr_free(&f->params[i].strides[d]);
        }
    for (uint32_t i = 0; i < f->n_guards; i++)
        expr_free(&f->guards[i]);
    for (uint32_t i = 0; i < f->n_workspace; i++)
        expr_free(&f->workspace[i].bytes);
    expr_free(&f->bytes_read);
    expr_free(&f->bytes_written);
    free(f->variants);
    free(f->params);
    free(f->guards);
    free(f->workspace);
    free(f->dims);
}

void
manifest_free(struct manifest *m)
{
    for (uint32_t i = 0; i < m->n_fusions; i++)
        free_fusion(&m->fusions[i]);
    free(m->fusions);
    free(m->kernels);
    json_decref(m->json);
    *m = (struct manifest){0};
}
