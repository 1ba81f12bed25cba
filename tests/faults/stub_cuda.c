/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the CUDA driver: device memory is host memory, kernels do
 * nothing. $STUB_CUDA is a list of NAME=STATUS, with blanks between: a function
 * of that name returns that status; major=, minor= and sms= are what the device
 * has, instead of 9, 0 and 132. $STUB_NAME is its name. With STUB_IS_OLD it has
 * little more than cuInit. */
#include "support/base.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/launch/driver.h"

enum { INVALID_IMAGE = 200, MAJOR = 75, MINOR = 76 };

/* The number after "NAME=" in $STUB_CUDA, or 0. */
static int
fault(const char *name)
{
    const char *list = getenv("STUB_CUDA"), *at;
    size_t n = strlen(name);

    for (at = list; at && *at;) {
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return (int)strtol(at + n + 1, NULL, 10);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return 0;
}

static int
give(void *to, const void *what, size_t n)
{
    memcpy(to, what, n);
    return 0;
}

static int
allocate(cu_ptr *ret, size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, 256, bytes) != 0)
        return 2;
    *ret = (cu_ptr)(uintptr_t)p;
    return 0;
}

static int
release(cu_ptr p)
{
    free((void *)(uintptr_t)p);
    return 0;
}

static int
answer(int *ret, int which)
{
    int sms = fault("sms"), major = fault("major");

    *ret = which == CU_SMS  ? (sms ? sms : 132)
           : which == MAJOR ? (major ? major : 9)
           : which == MINOR ? fault("minor")
                            : 232448;
    return 0;
}

static int
name_it(char *ret, int size)
{
    const char *name = getenv("STUB_NAME");

    snprintf(ret, (size_t)size, "%s", name ? name : "stub");
    return 0;
}

static int
text(const char **ret)
{
    *ret = "the stub was told to";
    return 0;
}

/* A driver looks into the image; this one looks at its first bytes. */
static int
load(cu_handle *ret, const void *image, void **values)
{
    if (memcmp(image, "//", 2) != 0 && memcmp(image, "\177ELF", 4) != 0) {
        snprintf(values[0], 64, "not a program\nsecond line");
        return INVALID_IMAGE;
    }
    *ret = (cu_handle)1;
    return 0;
}

static int
handle(cu_handle *ret)
{
    *ret = (cu_handle)1;
    return 0;
}

#define DO_Init 0
#define DO_GetErrorString text(ret)
#define DO_DeviceGet (*ret = 0)
#define DO_DeviceGetName name_it(ret, size)
#define DO_DeviceGetAttribute answer(ret, attribute)
#define DO_CtxGetDevice (*ret = 0)
#define DO_CtxGetCurrent handle(ret)
#define DO_CtxSetCurrent 0
#define DO_CtxSynchronize 0
#define DO_PrimaryCtxRetain handle(ret)
#define DO_ModuleLoadDataEx load(ret, image, values)
#define DO_ModuleUnload 0
#define DO_ModuleGetFunction handle(ret)
#define DO_FuncGetAttribute (*ret = 0)
#define DO_FuncSetAttribute 0
#define DO_OccupancyMaxBlocks (*ret = 2, 0)
#define DO_OccupancyMaxClusters (*ret = 2, 0)
#define DO_LaunchKernelEx 0
#define DO_MemAlloc allocate(ret, bytes)
#define DO_MemFree release(p)
#define DO_MemcpyHtoD give((void *)(uintptr_t)to, from, n)
#define DO_MemcpyDtoH give(to, (const void *)(uintptr_t)from, n)
#define DO_MemcpyDtoDAsync 0
#define DO_MemsetD8Async (memset((void *)(uintptr_t)to, v, n), 0)
#define DO_StreamCreate handle(ret)
#define DO_StreamSynchronize 0
#define DO_StreamBeginCapture 0
#define DO_StreamEndCapture handle(ret)
#define DO_GraphInstantiate handle(ret)
#define DO_GraphGetNodes (*ret_n = 20, 0)
#define DO_GraphLaunch 0
#define DO_GraphDestroy 0
#define DO_GraphExecDestroy 0
#define DO_EventCreate handle(ret)
#define DO_EventRecord 0
#define DO_EventSynchronize 0
#define DO_EventElapsedTime (*ret_ms = 1, 0)

#define DEFINE(name, symbol, params)                                           \
    cu_result symbol params;                                                   \
    cu_result symbol params                                                    \
    {                                                                          \
        int told = fault(#symbol);                                             \
                                                                               \
        return told ? told : DO_##name;                                        \
    }
#ifdef STUB_IS_OLD
DEFINE(Init, cuInit, (unsigned flags))
#else
CU_FUNCTIONS(DEFINE)
#endif
