/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation: kernels of the generated .cu as a library of this CPU
 * (build_cpu.c). Buffers are declared with their roles, so that every access is
 * checked; a report is a wrong result, not a failure of the machine. */
#include "support/base.h"

#include "tools/run/run.h"

#include <stdio.h>

#include "support/arena.h"
#include "support/buf.h"
#include "support/vec.h"
#include "tools/emulate/emulate.h"

struct block {
    void *memory;
    size_t bytes;
};

struct cpu {
    struct arena *arena;
    struct machine *m;
    struct emulation emu;
    VEC(struct block) blocks;
};

/* --- The machine ---------------------------------------------------------- */

static struct fu_emu_launch_info
describe_call(const struct cpu *c, const struct call *call)
{
    const struct m_launch *l = call->l;
    struct fu_emu_launch_info r = {
        .symbol = l->symbol,
        .block = (unsigned)(l->block[0] * l->block[1] * l->block[2]),
        .smem = call->smem_bytes,
        .cluster = (unsigned)(l->cluster[0] * l->cluster[1] * l->cluster[2]),
        .cooperative = l->cooperative,
        .pdl = l->pdl,
        .sms = (unsigned)c->m->backend.sms,
        .n_args = l->n_args};

    memcpy(r.grid, call->grid, sizeof(r.grid));
    r.blocks_per_sm = emulation_blocks_per_sm(r.block, r.smem);
    return r;
}

static int
cpu_launch(void *data, const struct call *call, void *stream,
           const struct message *msg)
{
    struct cpu *c = data;
    struct fu_emu_launch_info info = describe_call(c, call);
    struct buf why;

    (void)stream;
    buf_init(&why, c->arena);
    if (emulation_launch(&c->emu, &info, call->args, &why))
        return FUSEC_OK;
    return message_set(msg, FUSEC_MISMATCH, "%s", buf_str(&why));
}

static bool
cpu_resident(void *data, const struct call *call)
{
    struct fu_emu_launch_info info = describe_call(data, call);

    return (uint64_t)info.grid[0] * info.grid[1] * info.grid[2] <=
           (uint64_t)info.sms * info.blocks_per_sm;
}

static int
cpu_clear(void *data, void *memory, size_t bytes, void *stream,
          const struct message *msg)
{
    (void)data;
    (void)stream;
    (void)msg;
    memset(memory, 0, bytes);
    return FUSEC_OK;
}

static void *
cpu_alloc(struct machine *m, size_t bytes)
{
    struct cpu *c = m->data;
    struct block b = {emulation_map(bytes), bytes};

    if (!b.memory)
        return NULL;
    memset(b.memory, 0xff, bytes);
    VEC_PUSH(c->arena, &c->blocks, b);
    return b.memory;
}

static void
cpu_release(struct machine *m)
{
    struct cpu *c = m->data;

    for (uint32_t i = 0; i < c->blocks.n; i++)
        emulation_unmap(c->blocks.v[i].memory, c->blocks.v[i].bytes);
    c->blocks.n = 0;
    c->emu.forget_all();
}

static void
declare(struct cpu *c, const struct session *s, const struct placed *p,
        uint32_t i)
{
    const struct m_param *q = &s->f->params[i];
    struct fu_emu_buffer b = {
        .name = q->pub.name,
        .base = p->args[i].data,
        .bytes = s->bytes[i],
        .role = session_is_output(s, i) ? FU_EMU_OUTPUT : FU_EMU_INPUT,
        .element = (unsigned)match_dtype_bytes(q->pub.dtype),
        .rank = q->pub.ndim,
        .shape = s->tensors[i].shape,
        .strides = s->tensors[i].strides};

    for (uint32_t k = 0; p->in_place && k < s->f->n_params; k++)
        if (s->f->params[k].inplace == (int)i)
            b.role = FU_EMU_IN_PLACE;
    if (q->pub.role <= FUSEC_OUTPUT && !(p->in_place && q->inplace >= 0))
        c->emu.declare(&b);
}

static int
declare_workspace(struct cpu *c, const struct session *s,
                  const struct placed *p, const struct message *msg)
{
    uint32_t n = s->f->n_workspace;
    size_t *offsets = NEW_ARRAY(c->arena, size_t, n + 1), need;
    int status = match_workspace(&p->match, offsets, &need, msg);

    for (uint32_t i = 0; i < n && !status; i++) {
        const struct m_workspace *w = &s->f->workspace[i];
        struct fu_emu_buffer b = {.name = w->name,
                                  .base = (char *)p->workspace + offsets[i],
                                  .role = w->zero ? FU_EMU_ZEROED
                                                  : FU_EMU_WORKSPACE,
                                  .element = 4};
        int64_t bytes;

        if (!match_eval(&p->match, &w->bytes, &bytes))
            return message_set(msg, FUSEC_MISMATCH, "'%s' has no size",
                               w->name);
        b.bytes = (size_t)bytes;
        c->emu.declare(&b);
    }
    return status;
}

/* Every run begins with buffers of which nothing is known. */
static int
cpu_begin(struct machine *m, const struct session *s, const struct placed *p,
          const struct message *msg)
{
    struct cpu *c = m->data;

    c->emu.forget_all();
    for (uint32_t i = 0; i < s->f->n_params; i++)
        declare(c, s, p, i);
    return declare_workspace(c, s, p, msg);
}

static int
cpu_end(struct machine *m, const struct message *msg)
{
    struct cpu *c = m->data;
    struct buf why;

    buf_init(&why, c->arena);
    if (emulation_finish(&c->emu, &why))
        return FUSEC_OK;
    return message_set(msg, FUSEC_MISMATCH, "%s", buf_str(&why));
}

static int
cpu_copy(struct machine *m, void *to, const void *from, size_t n,
         const struct message *msg)
{
    (void)m;
    (void)msg;
    memcpy(to, from, n);
    return FUSEC_OK;
}

static int
cpu_wait(struct machine *m, const struct message *msg)
{
    (void)m;
    (void)msg;
    return FUSEC_OK;
}

static void
cpu_close(struct machine *m)
{
    struct cpu *c = m->data;

    cpu_release(m);
    emulation_close(&c->emu);
}

void
machine_cpu_print(struct machine *m)
{
    struct cpu *c = m->data;
    const struct fu_emu_counts *n = c->emu.count();
    unsigned kernels = 0;

    while (c->emu.kernel(kernels))
        kernels++;
    printf("  emulated %u kernel%s: %" PRIu64 " launches, %" PRIu64
           " blocks, %" PRIu64 " threads; %" PRIu64
           " bytes of global and %" PRIu64
           " of shared memory checked, nothing to report\n",
           kernels, kernels == 1 ? "" : "s", n->launches, n->blocks, n->threads,
           n->global_bytes, n->shared_bytes);
}

void
machine_cpu_reverse(struct machine *m, bool on)
{
    struct cpu *c = m->data;

    c->emu.set_order(on);
}

int
machine_open_cpu(struct machine *m, struct session *s,
                 const struct message *msg)
{
    struct cpu *c = NEW(s->arena, struct cpu);
    int status;

    c->arena = s->arena;
    c->m = m;
    if ((status = cpu_build(s, &c->emu, msg)))
        return status;
    *m = (struct machine){
        .backend = {.data = c,
                    .sms = s->o->sms ? s->o->sms : 2,
                    .launch = cpu_launch,
                    .resident = cpu_resident,
                    .clear = cpu_clear},
        .data = c,
        .alloc = cpu_alloc,
        .release = cpu_release,
        .put = cpu_copy,
        .get = cpu_copy,
        .wait = cpu_wait,
        .begin = cpu_begin,
        .end = cpu_end,
        .close = cpu_close,
        .name = "emulation",
    };
    return FUSEC_OK;
}
