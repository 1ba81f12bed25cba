/* SPDX-License-Identifier: Apache-2.0 */
/* fusec_launch: loads what fusec wrote (a manifest and its PTX or cubin) and
 * launches its fusions through the CUDA driver API, loaded at run time.
 *
 *     struct fusec_module *m;
 *     char why[256];
 *     if (fusec_load("layernorm.json", &m, why, sizeof(why)) != FUSEC_OK) ...
 *     const struct fusec_fusion *f = fusec_find(m, "layernorm");
 *     fusec_workspace_size(f, args, n, &bytes, why, sizeof(why));
 *     struct fusec_space space = {memory, bytes, stream};
 *     fusec_launch(f, args, n, &space, why, sizeof(why));
 *
 * Arguments are one struct fusec_tensor for each parameter of the manifest, in
 * its order: inputs, scalars and outputs. A scalar is a 0-d tensor whose data
 * is on the host; data == NULL takes the default.
 *
 * Every function that can fail returns a status and writes a message (cut to
 * the size given, always terminated; message may be NULL when size is 0).
 * After fusec_load everything but fusec_unload may be called from any number of
 * threads. fusec_launch allocates nothing. */
#ifndef FUSEC_LAUNCH_H
#define FUSEC_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fusec_status {
    FUSEC_OK = 0,
    FUSEC_BAD_FILE,      /* a file is missing, unreadable or not a manifest */
    FUSEC_BAD_HASH,      /* PTX, cubin or CUDA text of another compilation */
    FUSEC_NO_DRIVER,     /* libcuda is missing or too old */
    FUSEC_DRIVER_FAILED, /* the driver returned an error */
    FUSEC_BAD_CALL,      /* wrong number of arguments, unknown fusion ... */
    FUSEC_MISMATCH,      /* an argument does not fit; the message names it */
    FUSEC_OVERLAP,       /* buffers that must not overlap do */
    FUSEC_NO_VARIANT,    /* no variant admits these arguments */
    FUSEC_NO_MEMORY,
};

/* Order and names of the element types of .fusion. */
enum fusec_dtype {
    FUSEC_BOOL,
    FUSEC_I8,
    FUSEC_I16,
    FUSEC_I32,
    FUSEC_I64,
    FUSEC_U8,
    FUSEC_F16,
    FUSEC_BF16,
    FUSEC_F8E4M3,
    FUSEC_F8E5M2,
    FUSEC_F32,
    FUSEC_F64,
};

struct fusec_tensor {
    void *data; /* of the first element; scalars: on the host */
    int dtype;  /* enum fusec_dtype */
    int ndim;
    const int64_t *shape;
    const int64_t *strides; /* in elements; NULL: row-major, without gaps */
};

enum fusec_role { FUSEC_INPUT, FUSEC_OUTPUT, FUSEC_SCALAR, FUSEC_DIM };

struct fusec_param {
    const char *name;
    enum fusec_role role;
    int dtype;
    int ndim;
    unsigned align;      /* bytes; 1 for scalars */
    const char *inplace; /* the input whose buffer it may be, or NULL */
};

/* Where a launch works: its workspace, and its CUstream or cudaStream_t (NULL:
 * the default stream). */
struct fusec_space {
    void *data;
    size_t bytes;
    void *stream;
};

struct fusec_module;
struct fusec_fusion;

/* PATH is the manifest's; BASE.cubin or BASE.ptx lies beside it. Needs a
 * current CUDA context. */
int fusec_load(const char *path, struct fusec_module **ret, char *message,
               size_t size);
void fusec_unload(struct fusec_module *m);

/* NULL when there is no such fusion; name == NULL: the only one. */
const struct fusec_fusion *fusec_find(const struct fusec_module *m,
                                      const char *name);
unsigned fusec_param_count(const struct fusec_fusion *f);
/* NULL when i is out of range. */
const struct fusec_param *fusec_param_at(const struct fusec_fusion *f,
                                         unsigned i);

/* Bytes of workspace that a launch with these arguments needs; it serves one
 * launch at a time and wants an alignment of 256. Only shapes, strides, dtypes
 * and scalars are read, so outputs may still have data == NULL. */
int fusec_workspace_size(const struct fusec_fusion *f,
                         const struct fusec_tensor *args, unsigned n,
                         size_t *ret, char *message, size_t size);
/* Clears what a launch expects to be zero. Once after allocation, and again
 * when the same memory is to serve other shapes. */
int fusec_workspace_clear(const struct fusec_fusion *f,
                          const struct fusec_tensor *args, unsigned n,
                          const struct fusec_space *space, char *message,
                          size_t size);

/* Takes the first variant whose guard holds. */
int fusec_launch(const struct fusec_fusion *f, const struct fusec_tensor *args,
                 unsigned n, const struct fusec_space *space, char *message,
                 size_t size);
/* The index of the variant that fusec_launch would take; negative: none, and
 * the message says why. */
int fusec_variant(const struct fusec_fusion *f, const struct fusec_tensor *args,
                  unsigned n, char *message, size_t size);

#ifdef __cplusplus
}
#endif
#endif
