/* SPDX-License-Identifier: Apache-2.0 */
/* build_cpu: the .cu beside a manifest, as a library of this CPU. The host
 * versions of the primitives are inside this program; they and the text are
 * written into a folder of their own and compiled there.
 *
 * Libraries are kept by content: text, templates, compiler and flags make the
 * name. One is made in a temporary folder inside the cache and renamed, so that
 * runs side by side neither wait for each other nor see half a file. */
#include "support/base.h"

#include "tools/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/templates.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"
#include "support/sha256.h"
#include "tools/emulate/emulate.h"
#include "tools/launch/module.h"

enum { MAX_ARGS = 32 };

struct builder {
    struct arena *a;
    const struct message *msg;
    const char *cxx;
    const char *text, *name; /* of the .cu; its name without a folder */
    size_t len;
    const char *cache; /* NULL: none */
    const char *dir;   /* temporary */
};

/* --- Files ---------------------------------------------------------------- */

static const char *
in_dir(const struct builder *b, const char *name)
{
    return arena_printf(b->a, "%s/%s", b->dir, name);
}

static int
write_file(const struct builder *b, const char *name, const char *text,
           size_t len)
{
    const char *path = in_dir(b, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, len, f) == len;

    if (f && fclose(f) != 0)
        ok = false;
    return ok ? FUSEC_OK
              : message_set(b->msg, FUSEC_BAD_FILE, "cannot write '%s': %s",
                            path, strerror(errno));
}

static int
write_rows(const struct builder *b, const struct embedded *rows, unsigned n)
{
    int status = FUSEC_OK;

    for (unsigned i = 0; i < n && !status; i++)
        status = write_file(b, rows[i].name, rows[i].text, rows[i].len);
    return status;
}

static int
write_all(const struct builder *b)
{
    int status = write_rows(b, cuda_templates, cuda_templates_count);

    if (!status)
        status = write_rows(b, host_templates, host_templates_count);
    if (!status)
        status = write_file(b, b->name, b->text, b->len);
    return status;
}

static void
remove_folder(const struct builder *b)
{
    for (unsigned i = 0; i < cuda_templates_count; i++)
        unlink(in_dir(b, cuda_templates[i].name));
    for (unsigned i = 0; i < host_templates_count; i++)
        unlink(in_dir(b, host_templates[i].name));
    unlink(in_dir(b, b->name));
    unlink(in_dir(b, "log"));
    unlink(in_dir(b, "out.so"));
    rmdir(b->dir);
}

/* --- The compiler --------------------------------------------------------- */

/* The compiler's exit status, its messages in the folder's log; -1 with a
 * message when it can't be run. */
static int
run_compiler(const struct builder *b, char *const *argv)
{
    const char *log = in_dir(b, "log");
    int state = 0;
    pid_t pid;

    assert(argv[0]);
    pid = fork();
    if (pid == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0) {
            dup2(fd, STDOUT_FILENO);
            dup2(fd, STDERR_FILENO);
        }
        execvp(argv[0], argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && WIFEXITED(state) && WEXITSTATUS(state) != 127)
        return WEXITSTATUS(state);
    message_set(b->msg, FUSEC_BAD_FILE,
                "--emulate needs a C++ compiler; '%s' cannot be run (set CXX "
                "or --cxx)",
                argv[0]);
    return -1;
}

static void
show_log(const struct builder *b)
{
    size_t len;
    char *text = module_read_file(in_dir(b, "log"), &len);

    if (text)
        fputs(text, stderr);
    free(text);
}

static void
add_words(const struct builder *b, char **argv, uint32_t *n,
          const char *const *words)
{
    for (; *words; words++) {
        assert(*n < MAX_ARGS - 1);
        argv[(*n)++] = arena_strdup(b->a, *words);
    }
}

/* Compilers that don't know the last flag do without it. */
static int
compile(const struct builder *b)
{
    const char *const head[] = {b->cxx, "-I",
                                b->dir, "-x",
                                "c++",  in_dir(b, b->name),
                                "-o",   in_dir(b, "out.so"),
                                NULL};
    char *argv[MAX_ARGS] = {NULL};
    uint32_t n = 0;
    int status;

    add_words(b, argv, &n, head);
    add_words(b, argv, &n, emulation_libraries);
    add_words(b, argv, &n, emulation_flags);
    status = run_compiler(b, argv);
    if (status > 0) {
        argv[n - 1] = NULL;
        status = run_compiler(b, argv);
    }
    if (status <= 0)
        return status ? FUSEC_BAD_FILE : FUSEC_OK;
    show_log(b);
    return message_set(b->msg, FUSEC_BAD_FILE,
                       "'%s' did not compile for the CPU", b->name);
}

/* --- The cache ------------------------------------------------------------ */

/* The folder given, or that of the user; NULL when there is none. */
static const char *
cache_folder(struct arena *a, const struct options *o)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *parent;

    if (o->no_cache)
        return NULL;
    if (o->cache) {
        mkdir(o->cache, 0700);
        return o->cache;
    }
    if (xdg && xdg[0] == '/')
        parent = xdg;
    else if (home && home[0] == '/')
        parent = arena_printf(a, "%s/.cache", home);
    else
        return NULL;
    mkdir(parent, 0700);
    parent = arena_printf(a, "%s/fusec", parent);
    mkdir(parent, 0700);
    return parent;
}

static void
key_rows(struct buf *key, const struct embedded *rows, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char hex[65];

        sha256_hex(rows[i].text, rows[i].len, hex);
        buf_printf(key, "%s %s\n", rows[i].name, hex);
    }
}

/* The file that the compiler's name stands for, its size and time: another
 * version is another compiler. */
static void
key_compiler(const struct builder *b, struct buf *key)
{
    const char *file =
        strchr(b->cxx, '/') ? b->cxx : io_find_program(b->a, b->cxx);
    struct stat st = {0};

    if (file && stat(file, &st) == 0)
        buf_printf(key, "%s %lld %lld\n", file, (long long)st.st_size,
                   (long long)st.st_mtime);
    else
        buf_printf(key, "%s\n", b->cxx);
}

static const char *
cached_path(const struct builder *b)
{
    struct buf key;
    char hex[65];

    buf_init(&key, b->a);
    sha256_hex(b->text, b->len, hex);
    buf_printf(&key, "%s %s\n", b->name, hex);
    key_rows(&key, cuda_templates, cuda_templates_count);
    key_rows(&key, host_templates, host_templates_count);
    key_compiler(b, &key);
    for (uint32_t i = 0; emulation_flags[i]; i++)
        buf_printf(&key, "%s\n", emulation_flags[i]);
    sha256_hex(key.data, key.len, hex);
    return arena_printf(b->a, "%s/%s.so", b->cache, hex);
}

/* --- Building ------------------------------------------------------------- */

static bool
make_folder(struct builder *b)
{
    const char *tmp = getenv("TMPDIR");
    char *dir;

    if (b->cache) {
        dir = arena_printf(b->a, "%s/tmp.XXXXXX", b->cache);
        b->dir = mkdtemp(dir);
        if (b->dir)
            return true;
    }
    b->cache = NULL; /* it can't be written */
    dir = arena_printf(b->a, "%s/fusec-run.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    b->dir = mkdtemp(dir);
    if (!b->dir)
        message_set(b->msg, FUSEC_BAD_FILE, "cannot make '%s': %s", dir,
                    strerror(errno));
    return b->dir != NULL;
}

static int
build(struct builder *b, struct emulation *ret)
{
    const char *so, *kept = b->cache ? cached_path(b) : NULL;
    struct buf why;
    int status;

    buf_init(&why, b->a);
    if (kept && access(kept, R_OK) == 0 && emulation_open(ret, kept, &why))
        return FUSEC_OK;
    if (!make_folder(b))
        return FUSEC_BAD_FILE;
    if (!(status = write_all(b)) && !(status = compile(b))) {
        so = in_dir(b, "out.so");
        if (b->cache && rename(so, kept) == 0)
            so = kept;
        why.len = 0;
        if (!emulation_open(ret, so, &why))
            status = message_set(b->msg, FUSEC_BAD_FILE, "%s", buf_str(&why));
    }
    remove_folder(b);
    return status;
}

static int
read_text(struct builder *b, const struct session *s)
{
    char *path = module_sibling(s->o->manifest, ".cu"), hex[65];
    const char *name;

    if (!path)
        return FUSEC_NO_MEMORY;
    b->text = io_read(b->a, path, &b->len);
    name = strrchr(path, '/');
    b->name = arena_strdup(b->a, name ? name + 1 : path);
    free(path);
    if (!b->text)
        return message_set(b->msg, FUSEC_BAD_FILE, "cannot read '%s': %s",
                           b->name, strerror(errno));
    sha256_hex(b->text, b->len, hex);
    if (strcmp(hex, s->manifest->cuda_sha256) != 0)
        return message_set(b->msg, FUSEC_BAD_HASH,
                           "'%s' is not the file that its manifest was "
                           "written with",
                           b->name);
    return FUSEC_OK;
}

int
cpu_build(struct session *s, struct emulation *ret, const struct message *msg)
{
    const char *cxx = s->o->cxx ? s->o->cxx : getenv("CXX");
    struct builder b = {.a = s->arena,
                        .msg = msg,
                        .cxx = cxx && *cxx ? cxx : "c++",
                        .cache = cache_folder(s->arena, s->o)};
    int status = read_text(&b, s);

    return status ? status : build(&b, ret);
}
