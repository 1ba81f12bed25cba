/* SPDX-License-Identifier: Apache-2.0 */
/* Launches examples/softmax_fwd.fusion from C, with the launch library and the
 * CUDA driver API.
 *
 *     fusec softmax_fwd.fusion -D T=f32 -o softmax.ptx
 *     cc launch.c -I../tools -L../build/tools -lfusec_launch -lcuda -o launch
 *     LD_LIBRARY_PATH=../build/tools ./launch softmax.json
 */
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fusec_launch.h"

enum { ROWS = 256, COLUMNS = 1000 };

static void
cuda(CUresult r)
{
    const char *text = "?";

    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorString(r, &text);
    fprintf(stderr, "CUDA: %s\n", text);
    exit(3);
}

static void
fusec(int status, const char *message)
{
    if (status == FUSEC_OK)
        return;
    fprintf(stderr, "fusec: %s\n", message);
    exit(1);
}

/* The largest |sum of a row - 1|: what a softmax promises. */
static double
worst_row(const float *y)
{
    double worst = 0;

    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int k = 0; k < COLUMNS; k++)
            sum += y[i * COLUMNS + k];
        worst = fmax(worst, fabs(sum - 1));
    }
    return worst;
}

int
main(int argc, char **argv)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    const size_t bytes = sizeof(float) * ROWS * COLUMNS;
    float *host = malloc(bytes);
    CUdevice device;
    CUcontext context;
    CUdeviceptr x, y, space;
    struct fusec_module *module;
    const struct fusec_fusion *f;
    char why[256];
    size_t need;

    if (argc != 2 || !host) {
        fprintf(stderr, "usage: launch MANIFEST\n");
        return 2;
    }
    cuda(cuInit(0));
    cuda(cuDeviceGet(&device, 0));
    cuda(cuDevicePrimaryCtxRetain(&context, device));
    cuda(cuCtxSetCurrent(context));

    /* Once: the manifest, and the code beside it. */
    fusec(fusec_load(argv[1], &module, why, sizeof(why)), why);
    f = fusec_find(module, "softmax_fwd");
    if (!f) {
        fprintf(stderr, "'%s' has no softmax_fwd\n", argv[1]);
        return 1;
    }

    for (int i = 0; i < ROWS * COLUMNS; i++)
        host[i] = (float)(i * 37 % 101) / 25 - 2;
    cuda(cuMemAlloc(&x, bytes));
    cuda(cuMemAlloc(&y, bytes));
    cuda(cuMemcpyHtoD(x, host, bytes));

    /* One argument a parameter, in the manifest's order. */
    struct fusec_tensor args[2] = {
        {(void *)x, FUSEC_F32, 2, shape, NULL},
        {(void *)y, FUSEC_F32, 2, shape, NULL},
    };
    fusec(fusec_workspace_size(f, args, 2, &need, why, sizeof(why)), why);
    cuda(cuMemAlloc(&space, need ? need : 256));
    struct fusec_space workspace = {(void *)space, need, NULL};
    fusec(fusec_workspace_clear(f, args, 2, &workspace, why, sizeof(why)),
          why);

    /* As often as you like; nothing is allocated here. */
    fusec(fusec_launch(f, args, 2, &workspace, why, sizeof(why)), why);

    cuda(cuCtxSynchronize());
    cuda(cuMemcpyDtoH(host, y, bytes));
    printf("rows sum to 1 within %.2g\n", worst_row(host));
    fusec_unload(module);
    free(host);
    return 0;
}
