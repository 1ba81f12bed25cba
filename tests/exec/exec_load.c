/* SPDX-License-Identifier: Apache-2.0 */
/* exec_load: a text to a library, in a temporary folder that is gone as soon as
 * the library is loaded. EXEC_KEEP=FOLDER keeps the text there. */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void
add_all(struct arena *a, char **argv, uint32_t *n, const char *const *words)
{
    for (uint32_t i = 0; words[i]; i++)
        argv[(*n)++] = arena_strdup(a, words[i]);
}

static uint32_t
count(const char *const *words)
{
    uint32_t n = 0;

    while (words[n])
        n++;
    return n;
}

static bool
run_compiler(struct arena *a, const char *const *compiler, const char *out,
             const char *in)
{
    const char *const files[] = {"-o", out, "-x", "c++", in, NULL};
    char **argv = NEW_ARRAY(a, char *,
                            count(compiler) + count(emulation_flags) +
                                count(emulation_libraries) + ARRAY_LEN(files));
    uint32_t n = 0;
    pid_t pid;
    int status;

    argv[n++] = arena_strdup(a, compiler[0]);
    add_all(a, argv, &n, emulation_flags);
    add_all(a, argv, &n, compiler + 1); /* which may overrule a flag */
    add_all(a, argv, &n, files);
    add_all(a, argv, &n, emulation_libraries);
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) {
        fprintf(stderr, "cannot run '%s'\n", argv[0]);
        return false;
    }
    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
load(struct arena *a, struct emulation *e, const char *path)
{
    struct buf why;

    buf_init(&why, a);
    if (emulation_open(e, path, &why))
        return true;
    fprintf(stderr, "%s\n", buf_str(&why));
    return false;
}

bool
exec_build(struct arena *a, const char *const *compiler, const char *text,
           struct emulation *ret)
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
    ok = io_write_all(a, &file, 1, false) < 0;
    if (ok && !run_compiler(a, compiler, out, in)) {
        fprintf(stderr, "compile-failure: '%s' made no library\n", *compiler);
        ok = false;
    }
    ok = ok && load(a, ret, out);
    unlink(out);
    if (!keep)
        unlink(in);
    rmdir(folder);
    return ok;
}
