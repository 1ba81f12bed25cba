/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that are declared get a place on the device, with poisoned room on
 * both sides, at an address with the same alignment; a launch's pointers are
 * exchanged for it. What kernels may write is copied back when they are done,
 * and the room must be as it was. */
#include "support/base.h"

#include "random_gpu.h"

#include "backend/native.h"
#include "backend/nvrtc.h"
#include "support/arena.h"
#include "support/vec.h"
#include "tools/fusec_launch.h"
#include "tools/launch/driver.h"
#include "tools/launch/match.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1024, ALIGN = 256, POISON = 0xff, SMEM_PLAIN = 48 * 1024 };

struct mirror {
    void *base; /* on this side */
    size_t bytes;
    enum fu_emu_role role;
    size_t at; /* from the start of the device's memory */
};

/* The interface has no place for a state: one device a process. */
static struct {
    struct arena *arena;
    struct driver driver;
    cu_handle module;
    cu_ptr memory;
    size_t size, used;
    char *image; /* what the device's memory is to be */
    bool sent;
    VEC(struct mirror) mirrors;
    char text[512];
    struct message msg;
    struct fu_emu_report report;
} gpu;

/* --- reports -------------------------------------------------------------- */

static int
report(enum fu_emu_kind kind)
{
    gpu.report = (struct fu_emu_report){.kind = kind, .text = gpu.text};
    return (int)kind;
}

static const struct fu_emu_report *
last_report(void)
{
    return &gpu.report;
}

static const struct fu_emu_report *
no_suspect(void)
{
    return NULL;
}

static bool
failed(cu_result r, const char *what)
{
    return driver_check(&gpu.driver, r, what, &gpu.msg) != FUSEC_OK;
}

/* --- memory --------------------------------------------------------------- */

static void
forget_all(void)
{
    gpu.mirrors.n = 0;
    gpu.used = 0;
    gpu.sent = false;
}

static void
declare(const struct fu_emu_buffer *b)
{
    struct mirror m = {.base = b->base, .bytes = b->bytes, .role = b->role};
    size_t end;

    m.at = gpu.used + ROOM + (uintptr_t)b->base % ALIGN;
    end = m.at + b->bytes + ROOM;
    end += ALIGN - end % ALIGN;
    if (end > gpu.size) {
        fprintf(stderr, "the tensors need more than %zu bytes\n", gpu.size);
        exit(EXIT_ENVIRONMENT);
    }
    memset(gpu.image + gpu.used, POISON, end - gpu.used);
    if (b->bytes)
        memcpy(gpu.image + m.at, b->base, b->bytes);
    gpu.used = end;
    VEC_PUSH(gpu.arena, &gpu.mirrors, m);
}

static bool
send(void)
{
    bool ok =
        gpu.sent || gpu.used == 0 ||
        !failed(gpu.driver.MemcpyHtoD(gpu.memory, gpu.image, gpu.used), "copy");

    gpu.sent = true;
    return ok;
}

/* Every byte that isn't of a buffer that may be written is as it was sent. */
static bool
untouched(const char *now)
{
    size_t from = 0;

    for (uint32_t i = 0; i <= gpu.mirrors.n; i++) {
        bool last = i == gpu.mirrors.n;
        size_t to = last ? gpu.used : gpu.mirrors.v[i].at;

        if (memcmp(gpu.image + from, now + from, to - from) != 0)
            return false;
        if (last)
            break;
        from = to;
        if (gpu.mirrors.v[i].role != FU_EMU_INPUT)
            from += gpu.mirrors.v[i].bytes;
    }
    return true;
}

static int
finish(void)
{
    char *now;
    bool whole;

    if (!gpu.used || !gpu.sent)
        return FU_EMU_OK;
    now = malloc(gpu.used);
    if (!now || failed(gpu.driver.MemcpyDtoH(now, gpu.memory, gpu.used),
                       "running the kernels")) {
        free(now);
        return report(FU_EMU_CRASH);
    }
    whole = untouched(now);
    for (uint32_t i = 0; i < gpu.mirrors.n; i++) {
        const struct mirror *m = &gpu.mirrors.v[i];

        if (m->bytes &&
            (m->role == FU_EMU_OUTPUT || m->role == FU_EMU_IN_PLACE))
            memcpy(m->base, now + m->at, m->bytes);
    }
    free(now);
    snprintf(gpu.text, sizeof(gpu.text), "memory that is no output's changed");
    return whole ? FU_EMU_OK : report(FU_EMU_OUT_OF_BOUNDS);
}

/* --- launches ------------------------------------------------------------- */

static cu_ptr
on_device(uint64_t v)
{
    for (uint32_t i = 0; i < gpu.mirrors.n; i++)
        if (v && v == (uint64_t)(uintptr_t)gpu.mirrors.v[i].base)
            return gpu.memory + gpu.mirrors.v[i].at;
    return v;
}

static unsigned
attributes(const struct fu_emu_launch_info *l, struct cu_launch_attribute *ret)
{
    unsigned n = 0;

    memset(ret, 0, 3 * sizeof(*ret));
    if (l->cluster > 1) {
        ret[n].id = CU_ATTR_CLUSTER;
        ret[n].value.cluster.x = l->cluster;
        ret[n].value.cluster.y = ret[n].value.cluster.z = 1;
        n++;
    }
    if (l->cooperative) {
        ret[n].id = CU_ATTR_COOPERATIVE;
        ret[n++].value.flag = 1;
    }
    if (l->pdl) {
        ret[n].id = CU_ATTR_PDL;
        ret[n++].value.flag = 1;
    }
    return n;
}

/* The arguments end with a NULL; none is larger than 8 bytes. */
static int
launch(const struct fu_emu_launch_info *l, void **args)
{
    struct cu_launch_attribute attribute[3];
    struct cu_launch_config c = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
                                 .block = {l->block, 1, 1},
                                 .shared_bytes = (unsigned)l->smem,
                                 .attributes = attribute};
    uint64_t values[512];
    void *all[513] = {NULL};
    cu_handle f;

    if (!l->grid[0] || !l->grid[1] || !l->grid[2])
        return FU_EMU_OK;
    c.n_attributes = attributes(l, attribute);
    for (uint32_t i = 0; args[i]; i++) {
        assert(i < ARRAY_LEN(values));
        memcpy(&values[i], args[i], sizeof(values[i]));
        values[i] = on_device(values[i]);
        all[i] = &values[i];
    }
    if (!send() ||
        failed(gpu.driver.ModuleGetFunction(&f, gpu.module, l->symbol),
               l->symbol) ||
        (l->smem > SMEM_PLAIN &&
         failed(gpu.driver.FuncSetAttribute(f, CU_SHARED_DYNAMIC_MAX,
                                            (int)l->smem),
                l->symbol)) ||
        failed(gpu.driver.LaunchKernelEx(&c, f, all, NULL), l->symbol))
        return report(FU_EMU_CRASH);
    return FU_EMU_OK;
}

static void
any_order(int order)
{
    (void)order;
}

/* --- the device ----------------------------------------------------------- */

static bool
open_device(void)
{
    enum { SIZE = 256 * 1024 * 1024 };
    cu_device device;
    cu_handle context;

    if (driver_open(&gpu.driver, &gpu.msg) ||
        failed(gpu.driver.DeviceGet(&device, 0), "finding the device") ||
        failed(gpu.driver.PrimaryCtxRetain(&context, device), "opening it") ||
        failed(gpu.driver.CtxSetCurrent(context), "opening it") ||
        failed(gpu.driver.MemAlloc(&gpu.memory, SIZE), "its memory"))
        return false;
    gpu.size = SIZE;
    gpu.image = malloc(SIZE);
    return gpu.image != NULL;
}

static bool
compile(struct arena *a, const char *where, const char *text,
        struct cuda_result *ret)
{
    struct cuda_request req = {.text = text, .name = "random.cu"};
    struct native_device native;
    const char *why = NULL;
    struct nvrtc *n = nvrtc_load(a, where, &why);

    if (!n || !native_query(a, &native, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    req.arch = native.arch;
    if (!nvrtc_compile(a, n, &req, ret, &why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    if (!ret->ok)
        fprintf(stderr, "compile-failure: %s\n", ret->log);
    return ret->ok;
}

bool
gpu_build(struct arena *a, const char *where, const char *text,
          struct emulation *ret)
{
    struct cuda_result made = {0};

    gpu.arena = a;
    gpu.msg = (struct message){gpu.text, sizeof(gpu.text)};
    if (!compile(a, where, text, &made))
        return false;
    if (!open_device() || failed(gpu.driver.ModuleLoadDataEx(
                                     &gpu.module, made.cubin, 0, NULL, NULL),
                                 "loading the kernels")) {
        fprintf(stderr, "%s\n", gpu.text);
        return false;
    }
    *ret = (struct emulation){.file = -1,
                              .launch = launch,
                              .last_report = last_report,
                              .suspect = no_suspect,
                              .declare = declare,
                              .forget_all = forget_all,
                              .finish = finish,
                              .set_order = any_order};
    return true;
}

void
gpu_close(void)
{
    gpu.driver.ModuleUnload(gpu.module);
    gpu.driver.MemFree(gpu.memory);
    free(gpu.image);
    driver_close(&gpu.driver);
}
