/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU: the driver's primary context, so that a debugger or sanitizer sees
 * what an ordinary program would do. */
#include "support/base.h"

#include "tools/run/machine_gpu.h"

#include "support/arena.h"

static struct gpu *
gpu_of(struct machine *m)
{
    return m->data;
}

static void *
gpu_alloc(struct machine *m, size_t bytes)
{
    struct gpu *g = gpu_of(m);
    cu_ptr p;

    if (g->driver->MemAlloc(&p, bytes ? bytes : 256) != 0)
        return NULL;
    VEC_PUSH(g->arena, &g->blocks, p);
    return (void *)(uintptr_t)p;
}

static void
gpu_release(struct machine *m)
{
    struct gpu *g = gpu_of(m);

    for (uint32_t i = 0; i < g->blocks.n; i++)
        g->driver->MemFree(g->blocks.v[i]);
    g->blocks.n = 0;
}

static int
gpu_put(struct machine *m, void *to, const void *from, size_t n,
        const struct message *msg)
{
    const struct driver *d = gpu_of(m)->driver;

    if (n == 0)
        return FUSEC_OK;
    return driver_check(d, d->MemcpyHtoD((cu_ptr)(uintptr_t)to, from, n),
                        "copying to the device", msg);
}

static int
gpu_get(struct machine *m, void *to, const void *from, size_t n,
        const struct message *msg)
{
    const struct driver *d = gpu_of(m)->driver;

    if (n == 0)
        return FUSEC_OK;
    return driver_check(d, d->MemcpyDtoH(to, (cu_ptr)(uintptr_t)from, n),
                        "copying from the device", msg);
}

static int
gpu_wait(struct machine *m, const struct message *msg)
{
    const struct driver *d = gpu_of(m)->driver;

    return driver_check(d, d->CtxSynchronize(), "running the kernels", msg);
}

static void
gpu_close(struct machine *m)
{
    gpu_release(m);
    fusec_unload(gpu_of(m)->module);
}

/* The context first: the module loads into it. */
static int
open_context(const struct driver *d, int ordinal, char name[64],
             const struct message *msg)
{
    cu_handle context;
    cu_device device;
    int status;

    if ((status = driver_check(d, d->DeviceGet(&device, ordinal),
                               "finding the device", msg)) ||
        (status = driver_check(d, d->PrimaryCtxRetain(&context, device),
                               "opening the device", msg)) ||
        (status = driver_check(d, d->CtxSetCurrent(context),
                               "opening the device", msg)))
        return status;
    return driver_check(d, d->DeviceGetName(name, 64, device),
                        "naming the device", msg);
}

int
machine_open_gpu(struct machine *m, struct session *s,
                 const struct message *msg)
{
    struct gpu *g = NEW(s->arena, struct gpu);
    int status;

    g->arena = s->arena;
    if ((status = driver_open(&g->own, msg)) ||
        (status = open_context(&g->own, s->o->device, g->name, msg)) ||
        (status = fusec_load(s->o->manifest, &g->module, msg->text, msg->size)))
        return status;
    g->driver = &g->own;
    *m = (struct machine){
        .backend = g->module->backend,
        .data = g,
        .alloc = gpu_alloc,
        .release = gpu_release,
        .put = gpu_put,
        .get = gpu_get,
        .wait = gpu_wait,
        .close = gpu_close,
        .name = g->name,
    };
    return FUSEC_OK;
}
