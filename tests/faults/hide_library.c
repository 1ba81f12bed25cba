/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: libraries whose name holds $HIDE_LIBRARY cannot be opened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *
dlopen(const char *name, int flags)
{
    const char *hidden = getenv("HIDE_LIBRARY");
    void *(*next)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");

    memcpy(&next, &symbol, sizeof(next));
    if (name && hidden && strstr(name, hidden))
        name = "/no/such/folder/of/libraries.so";
    return next(name, flags);
}
