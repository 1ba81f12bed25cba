/* SPDX-License-Identifier: Apache-2.0 */
/* module: a manifest with its code loaded into a CUDA context; what lies behind
 * struct fusec_module, for fusec-run too. */
#ifndef FUSEC_TOOLS_LAUNCH_MODULE_H
#define FUSEC_TOOLS_LAUNCH_MODULE_H

#include "tools/launch/driver.h"
#include "tools/launch/match.h"

struct fusec_module {
    struct manifest manifest;
    struct driver driver;
    cu_handle module;
    cu_handle *functions; /* by kernel number */
    struct backend backend;
};

/* Reads the manifest alone; the caller frees *ret_text after manifest_free. */
int module_read(const char *path, struct manifest *ret,
                const struct message *msg);
/* The whole file, from malloc, with a NUL behind; NULL with errno. */
char *module_read_file(const char *path, size_t *ret_len);
/* PATH with its suffix replaced, from malloc; NULL: out of memory. */
char *module_sibling(const char *path, const char *suffix);

#endif
