/* SPDX-License-Identifier: Apache-2.0 */
/* driver: the part of the CUDA driver API that the tools use, found in libcuda
 * at run time, so that they build and start where no CUDA is installed. The
 * declarations follow the API's published binary interface. */
#ifndef FUSEC_TOOLS_LAUNCH_DRIVER_H
#define FUSEC_TOOLS_LAUNCH_DRIVER_H

#include "support/base.h"

struct message;

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef unsigned long long cu_ptr;
typedef struct cu_opaque *cu_handle; /* contexts, modules, streams ... */

struct cu_launch_attribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int flag;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
};

struct cu_launch_config {
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    cu_handle stream;
    struct cu_launch_attribute *attributes;
    unsigned n_attributes;
};

enum {
    CU_SMS = 16,                  /* device: multiprocessors */
    CU_SHARED_OPTIN = 97,         /* device: shared bytes of a block, at most */
    CU_SHARED_STATIC = 1,         /* function */
    CU_SHARED_DYNAMIC_MAX = 8,    /* function */
    CU_CLUSTER_NON_PORTABLE = 14, /* function */
    CU_ATTR_COOPERATIVE = 2,
    CU_ATTR_CLUSTER = 4,
    CU_ATTR_PDL = 6,
    CU_JIT_LOG = 5, /* module: error log buffer, its size */
    CU_JIT_LOG_BYTES = 6,
    CU_CAPTURE_RELAXED = 2,
    CU_STREAM_NON_BLOCKING = 1,
};

#define CU_FUNCTIONS(F)                                                        \
    F(Init, cuInit, (unsigned flags))                                          \
    F(GetErrorString, cuGetErrorString, (cu_result r, const char **ret))       \
    F(DeviceGet, cuDeviceGet, (cu_device * ret, int ordinal))                  \
    F(DeviceGetName, cuDeviceGetName, (char *ret, int size, cu_device d))      \
    F(DeviceGetAttribute, cuDeviceGetAttribute,                                \
      (int *ret, int attribute, cu_device d))                                  \
    F(CtxGetDevice, cuCtxGetDevice, (cu_device * ret))                         \
    F(CtxGetCurrent, cuCtxGetCurrent, (cu_handle * ret))                       \
    F(CtxSetCurrent, cuCtxSetCurrent, (cu_handle c))                           \
    F(CtxSynchronize, cuCtxSynchronize, (void))                                \
    F(PrimaryCtxRetain, cuDevicePrimaryCtxRetain,                              \
      (cu_handle * ret, cu_device d))                                          \
    F(ModuleLoadDataEx, cuModuleLoadDataEx,                                    \
      (cu_handle * ret, const void *image, unsigned n, int *options,           \
       void **values))                                                         \
    F(ModuleUnload, cuModuleUnload, (cu_handle m))                             \
    F(ModuleGetFunction, cuModuleGetFunction,                                  \
      (cu_handle * ret, cu_handle m, const char *name))                        \
    F(FuncGetAttribute, cuFuncGetAttribute,                                    \
      (int *ret, int attribute, cu_handle f))                                  \
    F(FuncSetAttribute, cuFuncSetAttribute,                                    \
      (cu_handle f, int attribute, int value))                                 \
    F(OccupancyMaxBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,         \
      (int *ret, cu_handle f, int block, size_t smem))                         \
    F(OccupancyMaxClusters, cuOccupancyMaxActiveClusters,                      \
      (int *ret, cu_handle f, const struct cu_launch_config *c))               \
    F(LaunchKernelEx, cuLaunchKernelEx,                                        \
      (const struct cu_launch_config *c, cu_handle f, void **args,             \
       void **extra))                                                          \
    F(MemAlloc, cuMemAlloc_v2, (cu_ptr * ret, size_t bytes))                   \
    F(MemFree, cuMemFree_v2, (cu_ptr p))                                       \
    F(MemcpyHtoD, cuMemcpyHtoD_v2, (cu_ptr to, const void *from, size_t n))    \
    F(MemcpyDtoH, cuMemcpyDtoH_v2, (void *to, cu_ptr from, size_t n))          \
    F(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                   \
      (cu_ptr to, cu_ptr from, size_t n, cu_handle stream))                    \
    F(MemsetD8Async, cuMemsetD8Async,                                          \
      (cu_ptr to, unsigned char v, size_t n, cu_handle stream))                \
    F(StreamCreate, cuStreamCreate, (cu_handle * ret, unsigned flags))         \
    F(StreamSynchronize, cuStreamSynchronize, (cu_handle s))                   \
    F(StreamBeginCapture, cuStreamBeginCapture_v2, (cu_handle s, int mode))    \
    F(StreamEndCapture, cuStreamEndCapture, (cu_handle s, cu_handle * ret))    \
    F(GraphInstantiate, cuGraphInstantiateWithFlags,                           \
      (cu_handle * ret, cu_handle graph, unsigned long long flags))            \
    F(GraphGetNodes, cuGraphGetNodes,                                          \
      (cu_handle graph, cu_handle * nodes, size_t * ret_n))                    \
    F(GraphLaunch, cuGraphLaunch, (cu_handle exec, cu_handle stream))          \
    F(GraphDestroy, cuGraphDestroy, (cu_handle graph))                         \
    F(GraphExecDestroy, cuGraphExecDestroy, (cu_handle exec))                  \
    F(EventCreate, cuEventCreate, (cu_handle * ret, unsigned flags))           \
    F(EventRecord, cuEventRecord, (cu_handle event, cu_handle stream))         \
    F(EventSynchronize, cuEventSynchronize, (cu_handle event))                 \
    F(EventElapsedTime, cuEventElapsedTime,                                    \
      (float *ret_ms, cu_handle from, cu_handle to))

struct driver {
    void *library;
#define CU_MEMBER(name, symbol, params) cu_result(*name) params;
    CU_FUNCTIONS(CU_MEMBER)
#undef CU_MEMBER
};

/* FUSEC_OK, or FUSEC_NO_DRIVER with a message. Initialises the driver. */
int driver_open(struct driver *ret, const struct message *msg);
void driver_close(struct driver *d);
/* FUSEC_OK, or FUSEC_DRIVER_FAILED: "WHAT: the driver's text". */
int driver_check(const struct driver *d, cu_result r, const char *what,
                 const struct message *msg);

#endif
