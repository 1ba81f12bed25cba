/* SPDX-License-Identifier: Apache-2.0 */
/* Do the plans agree at the sizes that are timed? There the reference would
 * take long: it has judged each plan at other sizes. What every plan writes
 * over poison is compared with what the first one writes, at pieces of each
 * output that lie at equal distances. */
#include "support/base.h"

#include "tools/run/bench.h"

#include <math.h>
#include <stdio.h>

#include "ir/eval_num.h"
#include "support/arena.h"

enum {
    PIECES = 64,
    PIECE_BYTES = 1 << 16,
    POISON = 0xff,
};

/* Of ||out - first|| / ||first||: sums in another order, and two roundings. */
static double
tolerance(enum dtype t)
{
    if (!dtype_is_float(t))
        return 0;
    if (dtype_info[t].bytes >= 4)
        return 1e-4;
    return dtype_info[t].bytes == 2 ? 2e-2 : 0.2;
}

struct piece {
    size_t at, bytes;
};

static struct piece
piece_of(size_t bytes, unsigned i)
{
    size_t step = bytes / PIECES / 16 * 16;

    if (bytes <= (size_t)PIECES * PIECE_BYTES)
        return (struct piece){0, i ? 0 : bytes};
    if (i == PIECES - 1)
        return (struct piece){bytes - PIECE_BYTES, PIECE_BYTES};
    return (struct piece){i * step, PIECE_BYTES};
}

static int
poison(struct bench *b, const struct contender *c)
{
    const struct session *s = c->s;
    int status = FUSEC_OK;

    for (uint32_t p = 0; p < s->f->n_params && !status; p++)
        if (session_is_output(s, p) && s->bytes[p])
            status = bench_try(
                b,
                b->d->MemsetD8Async((cu_ptr)(uintptr_t)c->sets[0].args[p].data,
                                    POISON, s->bytes[p], b->stream),
                "poisoning the outputs");
    return status;
}

static int
launch_over_poison(struct bench *b, struct contender *c)
{
    int variant, status = poison(b, c);

    if (!status)
        status = placed_launch(&c->sets[0], b->stream, &variant, b->msg);
    return status ? status : c->m->wait(c->m, b->msg);
}

struct norms {
    double off, all;
    bool same_nan, unwritten;
};

/* No conversion makes a NaN of these bits; -1 is a value of an integer. */
static bool
is_poison(enum dtype t, const char *at)
{
    static const unsigned char poison[8] = {POISON, POISON, POISON, POISON,
                                            POISON, POISON, POISON, POISON};

    return dtype_is_float(t) && dtype_info[t].bytes > 1 &&
           memcmp(at, poison, dtype_info[t].bytes) == 0;
}

static void
add_piece(struct norms *n, enum dtype t, const char *got, const char *want,
          size_t bytes)
{
    int64_t count = (int64_t)(bytes / dtype_info[t].bytes);

    for (int64_t i = 0; i < count; i++) {
        double x = dtype_is_float(t) ? num_load(t, got, i)
                                     : (double)num_load_int(t, got, i);
        double y = dtype_is_float(t) ? num_load(t, want, i)
                                     : (double)num_load_int(t, want, i);

        n->same_nan &= isnan(x) == isnan(y);
        n->unwritten |= is_poison(t, got + (size_t)i * dtype_info[t].bytes);
        if (!isfinite(x) || !isfinite(y))
            continue;
        n->off += (x - y) * (x - y);
        n->all += y * y;
    }
}

/* Fetches an output's pieces into TO; compares them with those in WANT, or
 * looks for poison alone. */
static int
fetch(struct bench *b, struct contender *c, uint32_t p, char *to,
      const char *want, struct norms *n)
{
    const struct session *s = c->s;
    const char *from = c->sets[0].args[p].data;
    enum dtype t = (enum dtype)s->f->params[p].pub.dtype;
    size_t at = 0;

    for (unsigned i = 0; i < PIECES; i++) {
        struct piece q = piece_of(s->bytes[p], i);
        int status = c->m->get(c->m, to, from + q.at, q.bytes, b->msg);

        if (status)
            return status;
        add_piece(n, t, to, want ? want + at : to, q.bytes);
        at += q.bytes;
        to += q.bytes;
    }
    return FUSEC_OK;
}

static void
judge(struct contender *c, uint32_t p, const struct norms *n)
{
    enum dtype t = (enum dtype)c->s->f->params[p].pub.dtype;
    double part = sqrt(n->off) / (sqrt(n->all) + 1e-30);

    if (n->same_nan && !n->unwritten && part <= tolerance(t))
        return;
    if (n->unwritten)
        printf("  %s  WRONG: elements are not written\n", describe(c->s, p));
    else
        printf("  %s  WRONG: differs from the first plan's by %.3g\n",
               describe(c->s, p), n->same_nan ? part : (double)NAN);
    c->wrong = true;
}

static int
compare_one(struct bench *b, struct contender *c, char **first)
{
    bool is_first = c == b->v;
    const struct session *s = c->s;
    char *to = arena_alloc(s->arena, (size_t)PIECES * PIECE_BYTES);
    int status = launch_over_poison(b, c);

    for (uint32_t p = 0; p < s->f->n_params && !status; p++) {
        struct norms n = {.same_nan = true};

        if (!session_is_output(s, p))
            continue;
        if (is_first)
            first[p] = arena_alloc(s->arena, (size_t)PIECES * PIECE_BYTES);
        status = fetch(b, c, p, is_first ? first[p] : to,
                       is_first ? NULL : first[p], &n);
        if (!status)
            judge(c, p, &n);
    }
    return status;
}

int
bench_agree(struct bench *b)
{
    const struct session *s = b->v[0].s;
    char **first = NEW_ARRAY(s->arena, char *, s->f->n_params);
    int status = FUSEC_OK;

    for (uint32_t i = 0; i < b->n && !status; i++) {
        status = compare_one(b, &b->v[i], first);
        if (b->v[i].wrong)
            printf("plan %s  WRONG\n", b->v[i].s->o->manifest);
        else
            b->n_right++;
    }
    return status;
}
