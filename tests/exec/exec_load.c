/* SPDX-License-Identifier: Apache-2.0 */
/* exec_load: a text to a library, in a temporary folder that is gone as soon as
 * the library is loaded. EXEC_KEEP=FOLDER keeps the text there. */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/io.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool
run_compiler(struct arena *a, const char *const *compiler, const char *out,
             const char *in)
{
    uint32_t n = 0;
    char **argv;
    pid_t pid;
    int status;

    while (compiler[n])
        n++;
    argv = NEW_ARRAY(a, char *, n + 6);
    for (uint32_t i = 0; i < n; i++)
        argv[i] = arena_strdup(a, compiler[i]);
    argv[n++] = arena_strdup(a, "-o");
    argv[n++] = arena_strdup(a, out);
    argv[n++] = arena_strdup(a, "-x");
    argv[n++] = arena_strdup(a, "c++");
    argv[n] = arena_strdup(a, in);
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) {
        fprintf(stderr, "cannot run '%s'\n", argv[0]);
        return false;
    }
    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ISO C has no conversion from an object pointer to a function pointer. */
#define SYMBOL(e, member, name)                                                \
    do {                                                                       \
        void *at_ = dlsym((e)->library, name);                                 \
        memcpy(&(e)->member, &at_, sizeof(at_));                               \
        if (!at_) {                                                            \
            fprintf(stderr, "no '%s' in the library\n", name);                 \
            return false;                                                      \
        }                                                                      \
    } while (0)

static bool
open_library(struct emulated *e, const char *path)
{
    e->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!e->library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    SYMBOL(e, launch, "fu_emu_launch");
    SYMBOL(e, error, "fu_emu_error");
    SYMBOL(e, allow, "fu_emu_allow");
    SYMBOL(e, forget_all, "fu_emu_forget_all");
    SYMBOL(e, set_order, "fu_emu_set_order");
    return true;
}

bool
exec_build(struct arena *a, const char *const *compiler, const char *text,
           struct emulated *ret)
{
    const char *keep = getenv("EXEC_KEEP"), *tmp = getenv("TMPDIR");
    char *folder = arena_printf(a, "%s/exec.XXXXXX", tmp ? tmp : "/tmp");
    const char *in, *out;
    struct io_output file = {.data = text, .len = strlen(text)};
    bool ok;

    if (!mkdtemp(folder)) {
        fprintf(stderr, "cannot make a folder '%s'\n", folder);
        return false;
    }
    in = arena_printf(a, "%s/kernels.cu", keep ? keep : folder);
    out = arena_printf(a, "%s/kernels.so", folder);
    file.path = in;
    ok = io_write_all(a, &file, 1, false) < 0 &&
         run_compiler(a, compiler, out, in) && open_library(ret, out);
    unlink(out);
    if (!keep)
        unlink(in);
    rmdir(folder);
    return ok;
}

void
exec_close(struct emulated *e)
{
    dlclose(e->library);
}
