/* SPDX-License-Identifier: Apache-2.0 */
/* native: the CUDA driver, loaded for a few questions. */
#include "support/base.h"

#include "backend/native.h"

#include "support/arena.h"

#include <dlfcn.h>

enum { ATTRIBUTE_SMS = 16, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };

/* The entry points, in the order of entry_names. */
struct entries {
    int (*init)(unsigned);
    int (*get)(int *, int);
    int (*name)(char *, int, int);
    int (*attribute)(int *, int, int);
};

static const char *const entry_names[] = {
    "cuInit",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
};

static bool
bind_entries(void *lib, struct entries *f)
{
    void *symbol[ARRAY_LEN(entry_names)];

    static_assert(sizeof(symbol) == sizeof(*f), "one name per entry");
    for (size_t i = 0; i < ARRAY_LEN(entry_names); i++) {
        symbol[i] = dlsym(lib, entry_names[i]);
        if (!symbol[i])
            return false;
    }
    memcpy(f, symbol, sizeof(symbol));
    return true;
}

static bool
query(struct arena *a, const struct entries *f, struct native_device *ret)
{
    char name[256];
    int device, major, minor;

    if (f->init(0) != 0 || f->get(&device, 0) != 0 ||
        f->name(name, (int)sizeof(name), device) != 0 ||
        f->attribute(&major, ATTRIBUTE_MAJOR, device) != 0 ||
        f->attribute(&minor, ATTRIBUTE_MINOR, device) != 0 ||
        f->attribute(&ret->sms, ATTRIBUTE_SMS, device) != 0)
        return false;
    ret->name = arena_strdup(a, name);
    ret->arch = 10 * major + minor;
    return true;
}

bool
native_query(struct arena *a, struct native_device *ret, const char **ret_why)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    struct entries f;

    if (!lib) {
        *ret_why = "libcuda.so.1 not found";
        return false;
    }
    if (bind_entries(lib, &f) && query(a, &f, ret))
        return true;
    *ret_why = "it has no usable device";
    return false;
}
