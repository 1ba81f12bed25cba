/* SPDX-License-Identifier: Apache-2.0 */
/* One launch is the whole fusion. A CUDA graph holds at least 20 of them over
 * rotated sets of buffers of at least 300 MB in all, so that nothing of the
 * next launch is in L2; beside it stands a graph of as many copies that move
 * the same number of bytes. Plans and copy are replayed in turn: 3 times to
 * warm up, 10 timed ones; the figure is the median. */
#include "support/base.h"

#include "tools/run/bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/arena.h"

enum {
    LEAST_LAUNCHES = 20,
    MOST_SETS = 2000,
    ROTATED_BYTES = 300 * 1000 * 1000,
};

int
bench_try(const struct bench *b, cu_result r, const char *what)
{
    return driver_check(b->d, r, what, b->msg);
}

static int
total_bytes(struct bench *b)
{
    const struct session *s = b->v[0].s;
    int64_t in, out;

    if (!match_eval(&s->match, &s->f->bytes_read, &in) ||
        !match_eval(&s->match, &s->f->bytes_written, &out))
        return message_set(b->msg, FUSEC_MISMATCH, "the bytes overflow");
    b->bytes = in + out;
    b->n_sets =
        (unsigned)MAX(2, MIN(MOST_SETS, ROTATED_BYTES / MAX(b->bytes, 1) + 1));
    b->launches = MAX(b->n_sets, LEAST_LAUNCHES);
    return FUSEC_OK;
}

/* The inputs of set I: from the host for the first, from there for others. */
static int
put_inputs(struct bench *b, unsigned i)
{
    struct contender *c = &b->v[0];
    const struct session *s = c->s;
    int status = FUSEC_OK;

    for (uint32_t p = 0; p < s->f->n_params && !status; p++) {
        void *to = c->sets[i].args[p].data;

        if (s->f->params[p].pub.role != FUSEC_INPUT || !s->bytes[p])
            continue;
        if (i == 0)
            status = c->m->put(c->m, to, s->args[p].data, s->bytes[p], b->msg);
        else
            status = bench_try(b,
                               b->d->MemcpyDtoDAsync(
                                   (cu_ptr)(uintptr_t)to,
                                   (cu_ptr)(uintptr_t)c->sets[0].args[p].data,
                                   s->bytes[p], b->stream),
                               "copying the inputs");
    }
    return status;
}

/* Every plan works on the same buffers, in a workspace of its own. */
static int
place_set(struct bench *b, unsigned i)
{
    struct contender *first = &b->v[0];
    int status = placed_open(&first->sets[i], first->s, first->m, b->msg);

    for (uint32_t k = 1; k < b->n && !status; k++)
        status = placed_share(&b->v[k].sets[i], &first->sets[i], b->v[k].s,
                              b->v[k].m, b->msg);
    return status ? status : put_inputs(b, i);
}

static int
place_copies(struct bench *b)
{
    size_t half = (size_t)b->bytes / 2;
    struct machine *m = b->v[0].m;

    b->source = m->alloc(m, b->n_sets * half);
    b->target = m->alloc(m, b->n_sets * half);
    if (!b->source || !b->target)
        return message_set(b->msg, FUSEC_NO_MEMORY, "no memory for the copy");
    return bench_try(b,
                     b->d->MemsetD8Async((cu_ptr)(uintptr_t)b->source, 1,
                                         b->n_sets * half, b->stream),
                     "filling the copy's source");
}

static int
place_sets(struct bench *b)
{
    int status = FUSEC_OK;

    for (uint32_t k = 0; k < b->n; k++)
        b->v[k].sets = NEW_ARRAY(b->v[0].s->arena, struct placed, b->n_sets);
    for (unsigned i = 0; i < b->n_sets && !status; i++)
        status = place_set(b, i);
    return status ? status : place_copies(b);
}

static int
launch_one(struct bench *b, struct contender *c, unsigned i)
{
    size_t half = (size_t)b->bytes / 2, at = i % b->n_sets * half;
    int variant;

    if (c->s)
        return placed_launch(&c->sets[i % b->n_sets], b->stream, &variant,
                             b->msg);
    return bench_try(b,
                     b->d->MemcpyDtoDAsync((cu_ptr)(uintptr_t)(b->target + at),
                                           (cu_ptr)(uintptr_t)(b->source + at),
                                           half, b->stream),
                     "copying");
}

static int
record(struct bench *b, struct contender *c)
{
    cu_handle graph;
    size_t nodes = 0;
    int status =
        bench_try(b, b->d->StreamBeginCapture(b->stream, CU_CAPTURE_RELAXED),
                  "capturing");

    for (unsigned i = 0; i < b->launches && !status; i++)
        status = launch_one(b, c, i);
    if (status) {
        b->d->StreamEndCapture(b->stream, &graph);
        return status;
    }
    if ((status = bench_try(b, b->d->StreamEndCapture(b->stream, &graph),
                            "capturing")) ||
        (status = bench_try(b, b->d->GraphGetNodes(graph, NULL, &nodes),
                            "counting the nodes of a graph")))
        return status;
    if (nodes < b->launches)
        return message_set(b->msg, FUSEC_MISMATCH,
                           "the graph to time is empty: nothing is launched");
    status = bench_try(b, b->d->GraphInstantiate(&c->graph, graph, 0),
                       "making a graph");
    b->d->GraphDestroy(graph);
    return status;
}

/* A plan that can't be recorded is named: the others can. */
static int
record_right_one(struct bench *b, struct contender *c)
{
    int status = c->wrong ? FUSEC_OK : record(b, c);

    if (status && c->s && b->n > 1)
        printf("plan %s  failed: %s\n", c->s->o->manifest, b->msg->text);
    return status;
}

static int
replay(struct bench *b, struct contender *c, double *ret_us)
{
    float ms = 0;
    int status;

    if ((status =
             bench_try(b, b->d->EventRecord(b->from, b->stream), "timing")) ||
        (status = bench_try(b, b->d->GraphLaunch(c->graph, b->stream),
                            "replaying")) ||
        (status =
             bench_try(b, b->d->EventRecord(b->to, b->stream), "timing")) ||
        (status = bench_try(b, b->d->EventSynchronize(b->to), "replaying")) ||
        (status = bench_try(b, b->d->EventElapsedTime(&ms, b->from, b->to),
                            "timing")))
        return status;
    *ret_us = (double)ms * 1000 / b->launches;
    return FUSEC_OK;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *v, unsigned n)
{
    qsort(v, n, sizeof(*v), by_value);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static int
time_all(struct bench *b)
{
    const struct options *o = b->v[0].s->o;
    int warm_ups = (int)o->warm_ups, replays = (int)o->replays;
    int status = FUSEC_OK;

    for (int i = -warm_ups; i < replays; i++)
        for (uint32_t k = 0; k <= b->n; k++) {
            struct contender *c = &b->v[k];

            if (!c->wrong && (status = replay(b, c, &c->times[MAX(i, 0)])))
                return status;
        }
    for (uint32_t k = 0; k <= b->n; k++)
        b->v[k].us = median(b->v[k].times, o->replays);
    return FUSEC_OK;
}

static int
open_bench(struct bench *b, bool compare)
{
    int status;

    if ((status = bench_try(
             b, b->d->StreamCreate(&b->stream, CU_STREAM_NON_BLOCKING),
             "making a stream")) ||
        (status =
             bench_try(b, b->d->EventCreate(&b->from, 0), "making events")) ||
        (status =
             bench_try(b, b->d->EventCreate(&b->to, 0), "making events")) ||
        (status = total_bytes(b)) || (status = place_sets(b)) ||
        (status = b->v[0].m->wait(b->v[0].m, b->msg)))
        return status;
    b->n_right = compare ? 0 : b->n;
    if (compare && (status = bench_agree(b)))
        return status;
    for (uint32_t k = 0; b->n_right && k <= b->n && !status; k++)
        status = record_right_one(b, &b->v[k]);
    return status;
}

/* The name of a plan among several is its manifest's. */
static int
report(const struct bench *b, const struct contender *c)
{
    double copy_us = b->v[b->n].us;

    if (c->wrong)
        return EXIT_INPUT;
    printf("bench %s  bytes %" PRId64 "  time %.3f us  %.1f GB/s  copy %.3f us"
           "  %.1f%% of copy  (%u launches, %u sets)\n",
           b->n > 1 ? c->s->o->manifest : c->s->f->name, b->bytes, c->us,
           (double)b->bytes / c->us / 1000, copy_us, 100 * copy_us / c->us,
           b->launches, b->n_sets);
    if (b->bytes >= 128000000 && c->us < 0.9 * copy_us) {
        fprintf(stderr, "fusec-run: faster than a copy of the same bytes: "
                        "this was not measured right\n");
        return EXIT_INPUT;
    }
    return EXIT_OK;
}

static void
close_bench(struct bench *b)
{
    for (uint32_t k = 0; k <= b->n; k++)
        if (b->v[k].graph)
            b->d->GraphExecDestroy(b->v[k].graph);
    for (uint32_t k = 0; k < b->n; k++)
        b->v[k].m->release(b->v[k].m);
}

int
bench_run(struct session *const *s, struct machine *const *m, uint32_t n,
          bool compare)
{
    char text[512];
    struct message msg = {text, sizeof(text)};
    struct bench b = {.msg = &msg, .n = n};
    int status = EXIT_OK;

    b.d = ((struct gpu *)m[0]->data)->driver;
    b.v = NEW_ARRAY(s[0]->arena, struct contender, n + 1);
    for (uint32_t k = 0; k <= n; k++) {
        b.v[k].s = k < n ? s[k] : NULL;
        b.v[k].m = m[k < n ? k : 0];
        b.v[k].times = NEW_ARRAY(s[0]->arena, double, s[0]->o->replays);
    }
    if (open_bench(&b, compare) || (b.n_right && time_all(&b))) {
        fprintf(stderr, "fusec-run: %s\n", text);
        return EXIT_ENVIRONMENT;
    }
    for (uint32_t k = 0; k < n; k++) {
        int one = report(&b, &b.v[k]);

        status = MAX(status, one);
    }
    close_bench(&b);
    return status;
}
