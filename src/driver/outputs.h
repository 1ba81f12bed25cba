/* SPDX-License-Identifier: Apache-2.0 */
/* outputs: what a run writes, under which names, in which order. */
#ifndef FUSEC_DRIVER_OUTPUTS_H
#define FUSEC_DRIVER_OUTPUTS_H

#include "driver/options.h"

struct diag;

struct outputs {
    struct arena *arena;
    struct diag *diag;
    const struct options *options;
    const char *base;   /* names without their suffix */
    enum artifact main; /* the file named by -o: written last */
    struct {
        const char *data; /* NULL: not made */
        size_t len;
    } art[ART_COUNT];
    const char *depfile; /* text, or NULL */
};

/* False after a usage error: an output would replace the input. */
bool outputs_init(struct outputs *out, struct arena *a, struct diag *d,
                  const struct options *o);
const char *outputs_path(const struct outputs *out, enum artifact kind);
void outputs_put(struct outputs *out, enum artifact kind, const char *data,
                 size_t len);
/* The base name that the CUDA compiler is told. */
const char *outputs_cuda_name(const struct outputs *out);
void outputs_make_depfile(struct outputs *out, const char *const *files,
                          uint32_t n);
bool outputs_write(struct outputs *out);
/* Compares instead of writing; the diff goes to B. False when a file differs or
 * can't be compared. */
bool outputs_check(struct outputs *out, struct buf *b);
/* Keeps the CUDA text that the compiler refused; its path, or NULL. */
const char *outputs_keep_rejected(struct outputs *out, const char *cuda);

#endif
