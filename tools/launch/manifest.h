/* SPDX-License-Identifier: Apache-2.0 */
/* manifest: out.json as a tree of C structs, every field checked on the way in;
 * what docs/manifest.schema.json does not allow is refused. Strings belong to
 * the JSON tree, arrays to malloc; manifest_free gives back both. */
#ifndef FUSEC_TOOLS_LAUNCH_MANIFEST_H
#define FUSEC_TOOLS_LAUNCH_MANIFEST_H

#include "support/expr.h"
#include "tools/fusec_launch.h"

enum {
    M_MAX_RANK = 8,
    M_MAX_PARAMS = 4160,
    M_MAX_DIMS = 1024,
    M_MAX_WORKSPACE = 4096,
    M_MAX_ARGS = 512,      /* of one kernel: 4,000 bytes */
    M_MAX_KERNELS = 65536, /* of a manifest */
};

struct m_dim {
    const char *name;
    enum { READ_NONE, READ_SHAPE, READ_STRIDE, READ_ARG } read;
    uint32_t param, index;
    int64_t divisor;
    bool has_bound;
    int64_t bound;
};

struct m_param {
    struct fusec_param pub;
    struct expr shape[M_MAX_RANK], strides[M_MAX_RANK];
    int inplace; /* parameter, or -1 */
    bool has_default;
    char value[8]; /* the default, in the parameter's type */
};

struct m_workspace {
    const char *name;
    struct expr bytes;
    int64_t align;
    bool zero;
};

enum m_arg_kind { MA_TENSOR, MA_WORKSPACE, MA_I64, MA_SCALAR };
struct m_arg {
    enum m_arg_kind kind;
    uint32_t index;   /* of the parameter or workspace buffer */
    struct expr expr; /* MA_I64 */
};

struct m_launch {
    const char *symbol;
    uint32_t kernel; /* number within the manifest, from 0 */
    struct expr grid[3], dynamic_smem;
    int block[3], cluster[3];
    bool cooperative, pdl;
    struct m_arg *args;
    uint32_t n_args;
};

struct m_variant {
    struct expr guard;
    bool always; /* an empty guard */
    struct m_launch *launches;
    uint32_t n_launches;
};

struct fusec_fusion {
    struct fusec_module *module;
    const char *name;
    struct m_dim *dims;
    struct expr *guards;
    struct m_param *params;
    struct m_workspace *workspace;
    struct m_variant *variants;
    struct expr bytes_read, bytes_written;
    uint32_t n_dims, n_guards, n_params, n_workspace, n_variants;
};

struct manifest {
    void *json;                          /* the tree that owns all strings */
    const char *device, *arch, *program; /* program may be NULL */
    const char *cuda_sha256, *ptx_sha256, *cubin_sha256; /* may be NULL */
    struct fusec_fusion *fusions;
    uint32_t n_fusions;
    uint32_t n_kernels;
    const char **kernels; /* symbols, by number */
};

/* False with a message that says where the manifest is wrong. */
bool manifest_parse(const char *text, size_t len, struct manifest *ret,
                    char *message, size_t size);
void manifest_free(struct manifest *m);

#endif
