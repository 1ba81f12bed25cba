/* SPDX-License-Identifier: Apache-2.0 */
/* bench: what is timed, for bench.c and agree.c. */
#ifndef FUSEC_TOOLS_RUN_BENCH_H
#define FUSEC_TOOLS_RUN_BENCH_H

#include "tools/run/machine_gpu.h"

/* A plan, or with s == NULL the copy. */
struct contender {
    struct session *s;
    struct machine *m;
    struct placed *sets;
    cu_handle graph; /* executable */
    double *times;   /* microseconds a launch, by replay */
    double us;       /* their median */
    bool wrong;
};

struct bench {
    const struct driver *d;
    const struct message *msg;
    cu_handle stream, from, to;
    struct contender *v; /* the copy behind the last plan */
    uint32_t n, n_right; /* plans */
    unsigned n_sets, launches;
    int64_t bytes;
    char *source, *target; /* of the copies: n_sets halves each */
};

/* FUSEC_OK or a status with a message. */
int bench_try(const struct bench *b, cu_result r, const char *what);
/* Marks plans whose results differ from the first one's. */
int bench_agree(struct bench *b);

#endif
