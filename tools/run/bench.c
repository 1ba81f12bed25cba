/* SPDX-License-Identifier: Apache-2.0 */
/* One launch is the whole fusion. A CUDA graph holds at least 20 of them over
 * rotated sets of buffers of at least 300 MB in all, so that nothing of the
 * next launch is in L2; beside it stands a graph of as many copies that move
 * the same number of bytes. The two are replayed in turn: 3 times to warm up,
 * 10 timed ones; the figure is the median. */
#include "support/base.h"

#include "tools/run/machine_gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/arena.h"

enum {
    LEAST_LAUNCHES = 20,
    MOST_SETS = 2000,
    WARM_UPS = 3,
    REPLAYS = 10,
    ROTATED_BYTES = 300 * 1000 * 1000,
};

struct bench {
    struct session *s;
    struct machine *m;
    const struct driver *d;
    const struct message *msg;
    cu_handle stream, from, to;
    struct placed *sets;
    unsigned n_sets, launches;
    int64_t bytes;
    char *source, *target; /* of the copies: n_sets halves each */
    cu_handle ours, copy;  /* executable graphs */
};

static int
try(const struct bench *b, cu_result r, const char *what)
{
    return driver_check(b->d, r, what, b->msg);
}

static int
total_bytes(struct bench *b)
{
    int64_t in, out;

    if (!match_eval(&b->s->match, &b->s->f->bytes_read, &in) ||
        !match_eval(&b->s->match, &b->s->f->bytes_written, &out))
        return message_set(b->msg, FUSEC_MISMATCH, "the bytes overflow");
    b->bytes = in + out;
    b->n_sets =
        (unsigned)MAX(2, MIN(MOST_SETS, ROTATED_BYTES / MAX(b->bytes, 1) + 1));
    b->launches = MAX(b->n_sets, LEAST_LAUNCHES);
    return FUSEC_OK;
}

static int
place_sets(struct bench *b)
{
    const struct session *s = b->s;
    size_t half = (size_t)b->bytes / 2;
    int status;

    b->sets = NEW_ARRAY(s->arena, struct placed, b->n_sets);
    for (unsigned i = 0; i < b->n_sets; i++) {
        if ((status = placed_open(&b->sets[i], b->s, b->m, b->msg)))
            return status;
        for (uint32_t p = 0; p < s->f->n_params; p++)
            if (s->f->params[p].pub.role == FUSEC_INPUT &&
                (status = b->m->put(b->m, b->sets[i].args[p].data,
                                    s->args[p].data, s->bytes[p], b->msg)))
                return status;
    }
    b->source = b->m->alloc(b->m, b->n_sets * half);
    b->target = b->m->alloc(b->m, b->n_sets * half);
    if (!b->source || !b->target)
        return message_set(b->msg, FUSEC_NO_MEMORY, "no memory for the copy");
    return try(b,
               b->d->MemsetD8Async((cu_ptr)(uintptr_t)b->source, 1,
                                   b->n_sets * half, b->stream),
               "filling the copy's source");
}

static int
launch_one(struct bench *b, unsigned i, bool copy)
{
    size_t half = (size_t)b->bytes / 2, at = i % b->n_sets * half;
    int variant;

    if (!copy)
        return placed_launch(&b->sets[i % b->n_sets], b->stream, &variant,
                             b->msg);
    return try(b,
               b->d->MemcpyDtoDAsync((cu_ptr)(uintptr_t)(b->target + at),
                                     (cu_ptr)(uintptr_t)(b->source + at), half,
                                     b->stream),
               "copying");
}

static int
record(struct bench *b, bool copy, cu_handle *ret)
{
    cu_handle graph;
    size_t nodes = 0;
    int status = try(b, b->d->StreamBeginCapture(b->stream, CU_CAPTURE_RELAXED),
                     "capturing");

    for (unsigned i = 0; i < b->launches && !status; i++)
        status = launch_one(b, i, copy);
    if (status) {
        b->d->StreamEndCapture(b->stream, &graph);
        return status;
    }
    if ((status =
             try(b, b->d->StreamEndCapture(b->stream, &graph), "capturing")) ||
        (status = try(b, b->d->GraphGetNodes(graph, NULL, &nodes),
                      "counting the nodes of a graph")))
        return status;
    if (nodes < b->launches)
        return message_set(b->msg, FUSEC_MISMATCH,
                           "the graph to time is empty: nothing is launched");
    status = try(b, b->d->GraphInstantiate(ret, graph, 0), "making a graph");
    b->d->GraphDestroy(graph);
    return status;
}

static int
replay(struct bench *b, cu_handle graph, double *ret_us)
{
    float ms = 0;
    int status;

    if ((status = try(b, b->d->EventRecord(b->from, b->stream), "timing")) ||
        (status = try(b, b->d->GraphLaunch(graph, b->stream), "replaying")) ||
        (status = try(b, b->d->EventRecord(b->to, b->stream), "timing")) ||
        (status = try(b, b->d->EventSynchronize(b->to), "replaying")) ||
        (status =
             try(b, b->d->EventElapsedTime(&ms, b->from, b->to), "timing")))
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
median(double *v)
{
    qsort(v, REPLAYS, sizeof(*v), by_value);
    return (v[REPLAYS / 2 - 1] + v[REPLAYS / 2]) / 2;
}

static int
time_both(struct bench *b, double *ret_us, double *ret_copy_us)
{
    double ours[REPLAYS], copy[REPLAYS];
    int status = FUSEC_OK;

    for (int i = -WARM_UPS; i < REPLAYS && !status; i++) {
        int at = i < 0 ? 0 : i;
        if (!(status = replay(b, b->ours, &ours[at])))
            status = replay(b, b->copy, &copy[at]);
    }
    if (status)
        return status;
    *ret_us = median(ours);
    *ret_copy_us = median(copy);
    return FUSEC_OK;
}

static int
open_bench(struct bench *b)
{
    int status;

    if ((status = try(b, b->d->StreamCreate(&b->stream, CU_STREAM_NON_BLOCKING),
                      "making a stream")) ||
        (status = try(b, b->d->EventCreate(&b->from, 0), "making events")) ||
        (status = try(b, b->d->EventCreate(&b->to, 0), "making events")) ||
        (status = total_bytes(b)) || (status = place_sets(b)) ||
        (status = b->m->wait(b->m, b->msg)) ||
        (status = record(b, false, &b->ours)))
        return status;
    return record(b, true, &b->copy);
}

static int
report(const struct bench *b, double us, double copy_us)
{
    printf("bench %s  bytes %" PRId64 "  time %.3f us  %.1f GB/s  copy %.3f us"
           "  %.1f%% of copy  (%u launches, %u sets)\n",
           b->s->f->name, b->bytes, us, (double)b->bytes / us / 1000, copy_us,
           100 * copy_us / us, b->launches, b->n_sets);
    if (b->bytes >= 128000000 && us < 0.9 * copy_us) {
        fprintf(stderr, "fusec-run: faster than a copy of the same bytes: "
                        "this was not measured right\n");
        return EXIT_INPUT;
    }
    return EXIT_OK;
}

int
bench_run(struct session *s, struct machine *m)
{
    char text[512];
    struct message msg = {text, sizeof(text)};
    struct gpu *g = m->data;
    struct bench b = {.s = s, .m = m, .d = g->driver, .msg = &msg};
    double us = 0, copy_us = 0;

    if (open_bench(&b) || time_both(&b, &us, &copy_us)) {
        fprintf(stderr, "fusec-run: %s\n", text);
        return EXIT_ENVIRONMENT;
    }
    b.d->GraphExecDestroy(b.ours);
    b.d->GraphExecDestroy(b.copy);
    m->release(m);
    return report(&b, us, copy_us);
}
