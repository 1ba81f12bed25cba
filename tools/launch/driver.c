/* SPDX-License-Identifier: Apache-2.0 */
#include "support/base.h"

#include "tools/launch/driver.h"

#include "tools/launch/match.h"

#include <dlfcn.h>

int
driver_check(const struct driver *d, cu_result r, const char *what,
             const struct message *msg)
{
    const char *text = NULL;

    if (r == 0)
        return FUSEC_OK;
    if (d->GetErrorString(r, &text) != 0 || !text)
        text = "unknown error";
    return message_set(msg, FUSEC_DRIVER_FAILED, "%s: %s (CUDA error %d)", what,
                       text, r);
}

static bool
find_all(struct driver *d, const char **ret_missing)
{
    void *p;

#define CU_FIND(name, symbol, params)                                          \
    *ret_missing = #symbol;                                                    \
    p = dlsym(d->library, #symbol);                                            \
    if (!p)                                                                    \
        return false;                                                          \
    memcpy(&d->name, &p, sizeof(p));
    CU_FUNCTIONS(CU_FIND)
#undef CU_FIND
    return true;
}

int
driver_open(struct driver *ret, const struct message *msg)
{
    const char *missing = NULL;
    int status;

    *ret = (struct driver){0};
    ret->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!ret->library)
        return message_set(msg, FUSEC_NO_DRIVER,
                           "the CUDA driver is not installed (libcuda.so.1)");
    if (!find_all(ret, &missing)) {
        driver_close(ret);
        return message_set(msg, FUSEC_NO_DRIVER,
                           "the CUDA driver is too old: it has no %s", missing);
    }
    status = driver_check(ret, ret->Init(0), "cuInit", msg);
    if (status)
        driver_close(ret);
    return status;
}

void
driver_close(struct driver *d)
{
    if (d->library)
        dlclose(d->library);
    d->library = NULL;
}
