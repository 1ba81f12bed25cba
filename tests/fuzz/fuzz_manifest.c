/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest: any bytes as a manifest. Every fusion of one that is accepted
 * is launched with arguments that fit it and with some that don't, on a machine
 * that only looks: grids, blocks, clusters and shared memory within the limits
 * of CUDA, arguments that can be read, clearing within the workspace. */
#include "support/base.h"

#include "harness.h"
#include "readers.h"

#include "support/arena.h"
#include "tools/launch/match.h"

#include <stdlib.h>

enum { MAX_FUSIONS = 4, ROUNDS = 4, MAX_SHARED = 1 << 20 };

struct looker {
    struct fusec_space space;
    uint64_t rng;
};

static uint32_t
draw(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* --- the machine ---------------------------------------------------------- */

static void
look_at_sizes(const struct call *c)
{
    const struct m_launch *l = c->l;
    int64_t threads = 1, blocks = 1;

    for (int i = 0; i < 3; i++) {
        threads *= l->block[i];
        blocks *= l->cluster[i];
        if (l->block[i] < 1 || l->cluster[i] < 1 || c->grid[i] < 1 ||
            c->grid[i] > (i ? 65535u : 2147483647u))
            BUG("a launch with a size out of range");
        if (c->grid[i] % (unsigned)l->cluster[i] != 0)
            BUG("a grid that is no multiple of its cluster");
    }
    if (threads > 1024 || l->block[2] > 64 || blocks > 16 ||
        c->smem_bytes > MAX_SHARED)
        BUG("a launch beyond the limits");
}

static int
look_launch(void *data, const struct call *c, void *stream,
            const struct message *msg)
{
    volatile unsigned char sum = 0;

    (void)data;
    (void)stream;
    (void)msg;
    look_at_sizes(c);
    for (uint32_t i = 0; i < c->l->n_args; i++)
        sum = (unsigned char)(sum + *(const unsigned char *)c->args[i]);
    return FUSEC_OK;
}

static bool
look_resident(void *data, const struct call *c)
{
    struct looker *k = data;

    look_at_sizes(c);
    return draw(&k->rng, 2);
}

static int
look_clear(void *data, void *memory, size_t bytes, void *stream,
           const struct message *msg)
{
    const struct looker *k = data;
    uintptr_t p = (uintptr_t)memory, s = (uintptr_t)k->space.data;

    (void)stream;
    (void)msg;
    if (p < s || bytes > k->space.bytes || p - s > k->space.bytes - bytes)
        BUG("clearing outside of the workspace");
    return FUSEC_OK;
}

/* --- arguments ------------------------------------------------------------ */

static int64_t
draw_extent(uint64_t *rng)
{
    static const int64_t extents[] = {
        0,  1,   1,   2,    3,     8,      17,          64,        128,
        -1, 100, 255, 4096, 65536, 100000, 2147483648L, INT64_MAX, INT64_MIN};

    return extents[draw(rng, ARRAY_LEN(extents))];
}

struct tensor_memory {
    int64_t shape[M_MAX_RANK], strides[M_MAX_RANK], scalar;
};

/* Dimensions are drawn and shapes follow; sometimes they don't. */
static void
make_args(struct arena *a, struct match *m, struct fusec_tensor *args,
          uint64_t *rng)
{
    const struct fusec_fusion *f = m->f;

    for (uint32_t i = 0; i < f->n_dims; i++)
        m->dims[i] = f->dims[i].has_bound ? f->dims[i].bound : draw_extent(rng);
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct m_param *p = &f->params[i];
        struct tensor_memory *t = NEW(a, struct tensor_memory);

        args[i] = (struct fusec_tensor){
            .dtype = p->pub.dtype, .ndim = p->pub.ndim, .shape = t->shape};
        if (draw(rng, 8))
            args[i].strides = t->strides;
        t->scalar = draw_extent(rng);
        args[i].data = draw(rng, 4) ? (void *)&t->scalar : NULL;
        if (p->pub.role == FUSEC_DIM)
            for (uint32_t d = 0; d < f->n_dims; d++)
                if (f->dims[d].read == READ_ARG && f->dims[d].param == i)
                    t->scalar = m->dims[d];
        if (p->pub.role == FUSEC_INPUT || p->pub.role == FUSEC_OUTPUT)
            args[i].data = (void *)((uintptr_t)(i + 1) << 40);
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        struct tensor_memory *t =
            (struct tensor_memory *)((uintptr_t)args[i].shape);

        for (int d = 0; d < args[i].ndim; d++) {
            if (!match_eval(m, &f->params[i].shape[d], &t->shape[d]) ||
                draw(rng, 64) == 0)
                t->shape[d] = draw_extent(rng);
            if (!match_eval(m, &f->params[i].strides[d], &t->strides[d]) ||
                draw(rng, 64) == 0)
                t->strides[d] = draw_extent(rng);
        }
    }
}

static void
launch(struct arena *a, const struct fusec_fusion *f, uint64_t *rng)
{
    struct looker k = {.rng = *rng};
    struct backend b = {.data = &k,
                        .sms = 1 + (int)draw(rng, 200),
                        .launch = look_launch,
                        .resident = look_resident,
                        .clear = look_clear};
    struct fusec_tensor *args = NEW_ARRAY(a, struct fusec_tensor, f->n_params);
    struct match *m = NEW(a, struct match);
    char text[256];
    struct message msg = {text, sizeof(text)};
    int variant;

    m->f = f;
    m->args = args;
    m->sms = b.sms;
    make_args(a, m, args, rng);
    if (match_args(m, args, f->n_params, true, &msg) ||
        match_workspace(m, NULL, &k.space.bytes, &msg))
        return;
    k.space.data = (void *)((uintptr_t)1 << 62);
    k.space.bytes -= k.space.bytes > 0 && draw(rng, 16) == 0;
    match_clear(m, &b, &k.space, &msg);
    variant = match_variant(m, &b, &msg);
    if (variant >= 0)
        match_launch(m, &b, variant, &k.space, &msg);
}

void
fuzz_one(struct arena *a, const char *text, size_t len)
{
    struct manifest m;
    char why[256] = "";
    uint64_t rng = len;

    for (size_t i = 0; i < len; i++)
        rng = (rng ^ (unsigned char)text[i]) * 0x100000001b3u;
    fuzz_read_own(a, text, len);
    if (!manifest_parse(text, len, &m, why, sizeof(why))) {
        if (!*why)
            BUG("a manifest was refused without a message");
        return;
    }
    for (uint32_t i = 0; i < m.n_fusions && i < MAX_FUSIONS; i++) {
        for (int round = 0; round < ROUNDS; round++)
            launch(a, &m.fusions[i], &rng);
    }
    manifest_free(&m);
}
