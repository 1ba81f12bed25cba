/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions: files and the driver on one side, match on the other.
 */
#include "support/base.h"

#include "tools/fusec_launch.h"

#include "support/sha256.h"
#include "tools/launch/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The library's functions, and nothing else, are visible outside. */
#define EXPORT __attribute__((visibility("default")))

enum { FILE_LIMIT = 1 << 28 };

/* --- Files ---------------------------------------------------------------- */

char *
module_read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 65536, n = 0, got;
    char *p, *more;

    if (!f)
        return NULL;
    p = malloc(cap);
    while (p && (got = fread(p + n, 1, cap - n - 1, f)) > 0) {
        n += got;
        if (n < cap - 1)
            continue;
        cap *= 2;
        more = cap > FILE_LIMIT ? NULL : realloc(p, cap);
        if (!more) {
            free(p);
            errno = EFBIG;
        }
        p = more;
    }
    if (p && ferror(f)) {
        free(p);
        errno = EIO;
        p = NULL;
    }
    fclose(f);
    if (p)
        p[n] = '\0';
    *ret_len = n;
    return p;
}

char *
module_sibling(const char *path, const char *suffix)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    size_t base = dot ? (size_t)(dot - path) : strlen(path);
    size_t n = base + strlen(suffix) + 1;
    char *r = malloc(n);

    if (r)
        snprintf(r, n, "%.*s%s", (int)base, path, suffix);
    return r;
}

int
module_read(const char *path, struct manifest *ret, const struct message *msg)
{
    size_t len;
    char *text = module_read_file(path, &len), why[256];
    bool ok, no_memory;

    if (!text)
        return message_set(msg,
                           errno == ENOMEM ? FUSEC_NO_MEMORY : FUSEC_BAD_FILE,
                           "cannot read '%s': %s", path, strerror(errno));
    errno = 0;
    ok = manifest_parse(text, len, ret, why, sizeof(why));
    no_memory = !ok && errno == ENOMEM;
    free(text);
    if (!ok)
        return message_set(msg, no_memory ? FUSEC_NO_MEMORY : FUSEC_BAD_FILE,
                           "'%s': %s", path, no_memory ? "out of memory" : why);
    return FUSEC_OK;
}

/* The code beside the manifest: *ret is NULL when the file does not exist. */
static int
read_code(const char *manifest, const char *suffix, const char *sha256,
          char **ret, const struct message *msg)
{
    char *path = module_sibling(manifest, suffix), hex[65];
    int status = FUSEC_OK;
    size_t len;

    *ret = NULL;
    if (!path)
        return message_set(msg, FUSEC_NO_MEMORY, "out of memory");
    *ret = module_read_file(path, &len);
    if (!*ret && errno != ENOENT)
        status = message_set(msg, FUSEC_BAD_FILE, "cannot read '%s': %s", path,
                             strerror(errno));
    if (*ret) {
        sha256_hex(*ret, len, hex);
        if (!sha256 || strcmp(hex, sha256) != 0) {
            free(*ret);
            *ret = NULL;
            status = message_set(msg, FUSEC_BAD_HASH,
                                 "'%s' is not the file that its manifest was "
                                 "written with",
                                 path);
        }
    }
    free(path);
    return status;
}

/* --- The CUDA backend ----------------------------------------------------- */

enum { MAX_ATTRIBUTES = 3 };

/* What the launch asks for, without its stream; attr has room for all. */
static struct cu_launch_config
config_of(const struct call *c, struct cu_launch_attribute *attr)
{
    const struct m_launch *l = c->l;
    struct cu_launch_config config = {
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {(unsigned)l->block[0], (unsigned)l->block[1],
                  (unsigned)l->block[2]},
        .shared_bytes = c->smem_bytes,
        .attributes = attr,
    };
    unsigned n = 0;

    memset(attr, 0, MAX_ATTRIBUTES * sizeof(*attr));
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
        attr[n].id = CU_ATTR_CLUSTER;
        attr[n].value.cluster.x = (unsigned)l->cluster[0];
        attr[n].value.cluster.y = (unsigned)l->cluster[1];
        attr[n++].value.cluster.z = (unsigned)l->cluster[2];
    }
    if (l->cooperative) {
        attr[n].id = CU_ATTR_COOPERATIVE;
        attr[n++].value.flag = 1;
    }
    if (l->pdl) {
        attr[n].id = CU_ATTR_PDL;
        attr[n++].value.flag = 1;
    }
    config.n_attributes = n;
    return config;
}

static int
cuda_launch(void *data, const struct call *c, void *stream,
            const struct message *msg)
{
    const struct fusec_module *m = data;
    const struct m_launch *l = c->l;
    struct cu_launch_attribute attr[MAX_ATTRIBUTES];
    struct cu_launch_config config = config_of(c, attr);

    config.stream = stream;
    return driver_check(&m->driver,
                        m->driver.LaunchKernelEx(
                            &config, m->functions[l->kernel], c->args, NULL),
                        l->symbol, msg);
}

/* Clusters find a place on fewer multiprocessors than blocks do. */
static bool
clusters_fit(const struct fusec_module *m, const struct call *c)
{
    const int *size = c->l->cluster;
    struct cu_launch_attribute attr[MAX_ATTRIBUTES];
    struct cu_launch_config config = config_of(c, attr);
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    int most = 0;

    config.n_attributes = 1;
    if (m->driver.OccupancyMaxClusters(&most, m->functions[c->l->kernel],
                                       &config) != 0)
        return false;
    return blocks <= (uint64_t)most * (uint64_t)(size[0] * size[1] * size[2]);
}

static bool
cuda_resident(void *data, const struct call *c)
{
    const struct fusec_module *m = data;
    const struct m_launch *l = c->l;
    int block = l->block[0] * l->block[1] * l->block[2], per_sm = 0;
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];

    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1)
        return clusters_fit(m, c);
    if (m->driver.OccupancyMaxBlocks(&per_sm, m->functions[l->kernel], block,
                                     c->smem_bytes) != 0)
        return false;
    return blocks <= (uint64_t)per_sm * (uint64_t)m->backend.sms;
}

static int
cuda_clear(void *data, void *memory, size_t bytes, void *stream,
           const struct message *msg)
{
    const struct fusec_module *m = data;

    return driver_check(
        &m->driver,
        m->driver.MemsetD8Async((cu_ptr)(uintptr_t)memory, 0, bytes, stream),
        "clearing the workspace", msg);
}

static int
load_module(struct fusec_module *m, const char *image, const char *suffix,
            const struct message *msg)
{
    char log[1024] = "";
    int options[] = {CU_JIT_LOG, CU_JIT_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    cu_result r =
        m->driver.ModuleLoadDataEx(&m->module, image, 2, options, values);
    char what[160];

    log[strcspn(log, "\n")] = '\0';
    snprintf(what, sizeof(what), "loading the %s%s%.100s", suffix + 1,
             log[0] ? ": " : "", log);
    return driver_check(&m->driver, r, what, msg);
}

/* All the shared memory that the device grants may be asked for at launch. */
static int
prepare_function(struct fusec_module *m, uint32_t k, int optin,
                 const struct message *msg)
{
    const struct driver *d = &m->driver;
    const char *symbol = m->manifest.kernels[k];
    int fixed = 0, status;

    status = driver_check(
        d, d->ModuleGetFunction(&m->functions[k], m->module, symbol), symbol,
        msg);
    if (status)
        return status;
    d->FuncGetAttribute(&fixed, CU_SHARED_STATIC, m->functions[k]);
    d->FuncSetAttribute(m->functions[k], CU_CLUSTER_NON_PORTABLE, 1);
    return driver_check(d,
                        d->FuncSetAttribute(m->functions[k],
                                            CU_SHARED_DYNAMIC_MAX,
                                            optin - fixed),
                        symbol, msg);
}

static int
load_functions(struct fusec_module *m, const struct message *msg)
{
    cu_device device;
    int optin = 0, status;

    if ((status = driver_check(&m->driver, m->driver.CtxGetDevice(&device),
                               "no CUDA context is current", msg)))
        return status;
    m->driver.DeviceGetAttribute(&m->backend.sms, CU_SMS, device);
    m->driver.DeviceGetAttribute(&optin, CU_SHARED_OPTIN, device);
    m->functions = calloc(m->manifest.n_kernels + 1, sizeof(*m->functions));
    if (!m->functions)
        return message_set(msg, FUSEC_NO_MEMORY, "out of memory");
    for (uint32_t k = 0; k < m->manifest.n_kernels && !status; k++)
        status = prepare_function(m, k, optin, msg);
    return status;
}

/* The cubin when there is one, else the PTX. */
static int
load_code(struct fusec_module *m, const char *path, const struct message *msg)
{
    const char *suffix = ".cubin";
    char *code;
    int status;

    if ((status =
             read_code(path, suffix, m->manifest.cubin_sha256, &code, msg)))
        return status;
    if (!code) {
        suffix = ".ptx";
        if ((status =
                 read_code(path, suffix, m->manifest.ptx_sha256, &code, msg)))
            return status;
    }
    if (!code)
        return message_set(msg, FUSEC_BAD_FILE,
                           "no .cubin and no .ptx beside '%s'", path);
    status = load_module(m, code, suffix, msg);
    free(code);
    return status ? status : load_functions(m, msg);
}

EXPORT int
fusec_load(const char *path, struct fusec_module **ret, char *message,
           size_t size)
{
    struct message msg = {message, size};
    struct fusec_module *m = calloc(1, sizeof(*m));
    int status;

    if (!m)
        return message_set(&msg, FUSEC_NO_MEMORY, "out of memory");
    m->backend = (struct backend){.data = m,
                                  .launch = cuda_launch,
                                  .resident = cuda_resident,
                                  .clear = cuda_clear};
    status = module_read(path, &m->manifest, &msg);
    if (!status)
        status = driver_open(&m->driver, &msg);
    if (!status)
        status = load_code(m, path, &msg);
    if (status) {
        fusec_unload(m);
        return status;
    }
    for (uint32_t i = 0; i < m->manifest.n_fusions; i++)
        m->manifest.fusions[i].module = m;
    *ret = m;
    return FUSEC_OK;
}

EXPORT void
fusec_unload(struct fusec_module *m)
{
    if (!m)
        return;
    if (m->module)
        m->driver.ModuleUnload(m->module);
    driver_close(&m->driver);
    free(m->functions);
    manifest_free(&m->manifest);
    free(m);
}

/* --- Questions and launches ----------------------------------------------- */

EXPORT const struct fusec_fusion *
fusec_find(const struct fusec_module *m, const char *name)
{
    if (!name)
        return m->manifest.n_fusions == 1 ? m->manifest.fusions : NULL;
    for (uint32_t i = 0; i < m->manifest.n_fusions; i++)
        if (strcmp(m->manifest.fusions[i].name, name) == 0)
            return &m->manifest.fusions[i];
    return NULL;
}

EXPORT unsigned
fusec_param_count(const struct fusec_fusion *f)
{
    return f->n_params;
}

EXPORT const struct fusec_param *
fusec_param_at(const struct fusec_fusion *f, unsigned i)
{
    return i < f->n_params ? &f->params[i].pub : NULL;
}

EXPORT int
fusec_workspace_size(const struct fusec_fusion *f,
                     const struct fusec_tensor *args, unsigned n, size_t *ret,
                     char *message, size_t size)
{
    struct message msg = {message, size};
    struct match m = {.f = f, .sms = f->module->backend.sms};
    int status = match_args(&m, args, n, false, &msg);

    return status ? status : match_workspace(&m, NULL, ret, &msg);
}

EXPORT int
fusec_workspace_clear(const struct fusec_fusion *f,
                      const struct fusec_tensor *args, unsigned n,
                      const struct fusec_space *space, char *message,
                      size_t size)
{
    struct message msg = {message, size};
    struct match m = {.f = f, .sms = f->module->backend.sms};
    int status = match_args(&m, args, n, false, &msg);

    return status ? status : match_clear(&m, &f->module->backend, space, &msg);
}

EXPORT int
fusec_launch(const struct fusec_fusion *f, const struct fusec_tensor *args,
             unsigned n, const struct fusec_space *space, char *message,
             size_t size)
{
    struct message msg = {message, size};
    struct match m;
    int status, variant;

    m.f = f;
    m.sms = f->module->backend.sms;
    if ((status = match_args(&m, args, n, true, &msg)))
        return status;
    variant = match_variant(&m, &f->module->backend, &msg);
    if (variant < 0)
        return FUSEC_NO_VARIANT;
    return match_launch(&m, &f->module->backend, variant, space, &msg);
}

EXPORT int
fusec_variant(const struct fusec_fusion *f, const struct fusec_tensor *args,
              unsigned n, char *message, size_t size)
{
    struct message msg = {message, size};
    struct match m = {.f = f, .sms = f->module->backend.sms};

    if (match_args(&m, args, n, true, &msg))
        return -1;
    return match_variant(&m, &f->module->backend, &msg);
}
