/* SPDX-License-Identifier: Apache-2.0 */
/* codegen: the whole text: what made it and from which plan, the primitives,
 * the kernels, and the list of kernels that a host needs to run them. */
#include "support/base.h"

#include "codegen/codegen.h"

#include "codegen/codegen_impl.h"
#include "support/arena.h"

/* The plan as comment lines; the reader finds each decision by its name. */
static void
plan_comment(struct buf *b, const char *plan)
{
    while (*plan) {
        const char *end = strchr(plan, '\n');
        size_t n = end ? (size_t)(end - plan) : strlen(plan);

        buf_puts(b, n ? "// " : "//");
        cuda_comment_text(b, arena_strndup(b->arena, plan, n));
        buf_putc(b, '\n');
        plan += n + (plan[n] == '\n');
    }
}

static void
header(struct buf *b, const struct lowered *const *fusions, uint32_t n,
       const struct codegen_options *opt)
{
    const struct fusion_plan **plans =
        NEW_ARRAY(b->arena, const struct fusion_plan *, n);
    struct buf text;

    for (uint32_t i = 0; i < n; i++)
        plans[i] = fusions[i]->plan;
    buf_init(&text, b->arena);
    plan_print(&text, plans, n);
    buf_puts(b, "// Written by fusec ");
    cuda_comment_text(b, opt->version);
    buf_puts(b, "; do not edit. The plan:\n//\n");
    plan_comment(b, buf_str(&text));
    buf_putc(b, '\n');
}

typedef void visit_fn(struct buf *b, const struct kernel *k);

static void
each_kernel(struct buf *b, const struct lowered *f, visit_fn *visit)
{
    for (uint32_t v = 0; v < f->variants.n; v++)
        for (uint32_t i = 0; i < f->variants.v[v].launches.n; i++)
            visit(b, f->variants.v[v].launches.v[i].kernel);
}

static void
list_kernel(struct buf *b, const struct kernel *k)
{
    buf_printf(b, "FU_KERNEL(%s)\n", k->symbol);
}

const char *
codegen_cuda(struct arena *a, const struct lowered *const *fusions, uint32_t n,
             const struct codegen_options *opt)
{
    struct buf kernels, b;

    buf_init(&kernels, a);
    for (uint32_t i = 0; i < n; i++)
        each_kernel(&kernels, fusions[i], cuda_kernel);
    buf_init(&b, a);
    header(&b, fusions, n, opt);
    buf_puts(&b, "#ifndef FU_EMULATE\n");
    cuda_prelude(a, &b, buf_str(&kernels));
    buf_puts(&b, "#else\n#include \"fu_emulate.h\"\n#endif\n");
    buf_puts(&b, buf_str(&kernels));
    buf_puts(&b, "\n#ifdef FU_EMULATE\n");
    for (uint32_t i = 0; i < n; i++)
        each_kernel(&b, fusions[i], list_kernel);
    buf_puts(&b, "#endif\n");
    return buf_str(&b);
}
