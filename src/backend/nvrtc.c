/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc: finds the library, and compiles one text.
 *
 * The search is a list of folders in a fixed order; a folder is asked for
 * `libnvrtc.so`, then for the greatest `libnvrtc.so.N`. A toolkit keeps it in
 * `lib64`, `lib` or `targets/x86_64-linux/lib`, a Python package in
 * `nvidia/cu13/lib` or `nvidia/cuda_nvrtc/lib`. One compilation asks for an
 * arch that is real (`sm_90`), so that PTX, cubin and the assembler's report
 * come of the same run. */
#include "support/base.h"

#include "backend/nvrtc.h"

#include "backend/report.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void *nvrtc_program;

/* The entry points, in the order of entry_names. */
struct entries {
    int (*version)(int *, int *);
    int (*create)(nvrtc_program *, const char *, const char *, int,
                  const char *const *, const char *const *);
    int (*compile)(nvrtc_program, int, const char *const *);
    int (*destroy)(nvrtc_program *);
    int (*ptx_size)(nvrtc_program, size_t *);
    int (*ptx)(nvrtc_program, char *);
    int (*cubin_size)(nvrtc_program, size_t *);
    int (*cubin)(nvrtc_program, char *);
    int (*log_size)(nvrtc_program, size_t *);
    int (*log)(nvrtc_program, char *);
    const char *(*error)(int);
};

static const char *const entry_names[] = {
    "nvrtcVersion",        "nvrtcCreateProgram",  "nvrtcCompileProgram",
    "nvrtcDestroyProgram", "nvrtcGetPTXSize",     "nvrtcGetPTX",
    "nvrtcGetCUBINSize",   "nvrtcGetCUBIN",       "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",  "nvrtcGetErrorString",
};

enum { NVRTC_SUCCESS = 0, NVRTC_COMPILATION = 6 };
enum { MAX_ARCHS = 256 };
/* No text of a sound library is longer. */
static const size_t text_limit = (size_t)1 << 31;

struct nvrtc {
    const char *path;
    struct entries f;
    int major, minor;
    int archs[MAX_ARCHS]; /* 90 for sm_90 */
    int n_archs;          /* 0: the library doesn't tell */
};

struct search {
    struct arena *arena;
    struct buf tried; /* places without the library, for the message */
    const char *found;
    void *lib;
};

/* --- finding ------------------------------------------------------------- */

/* The number after "libnvrtc.so."; 1 << 20 for "libnvrtc.so" itself. */
static int
name_rank(const char *name)
{
    static const char stem[] = "libnvrtc.so";
    const char *rest = name + sizeof(stem) - 1;

    if (strncmp(name, stem, sizeof(stem) - 1) != 0)
        return -1;
    if (!*rest)
        return 1 << 20;
    return *rest == '.' ? (int)strtol(rest + 1, NULL, 10) : -1;
}

/* The file name in FOLDER to load, or NULL. */
static const char *
best_name(struct arena *a, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    const char *best = NULL;
    int rank = -1;

    if (!dir)
        return NULL;
    while ((e = readdir(dir)) != NULL) {
        int r = name_rank(e->d_name);

        if (r > rank || (r == rank && best && strcmp(e->d_name, best) < 0)) {
            rank = r;
            best = arena_strdup(a, e->d_name);
        }
    }
    closedir(dir);
    return best;
}

static void
note_tried(struct search *s, const char *what)
{
    if (s->tried.len)
        buf_puts(&s->tried, ", ");
    buf_puts(&s->tried, what);
}

/* Whether all that the loader maps lies inside the file: it dies of a signal
 * on a library that was cut short. What is no library at all it says itself. */
static bool
is_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    Elf64_Ehdr head;
    struct stat st;
    bool whole = true;

    if (!f)
        return true;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) &&
        fread(&head, sizeof(head), 1, f) == 1 &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        fseek(f, (long)head.e_phoff, SEEK_SET) == 0) {
        for (int i = 0; i < head.e_phnum && whole; i++) {
            Elf64_Phdr p;

            whole = fread(&p, sizeof(p), 1, f) == 1 &&
                    p.p_offset <= (uint64_t)st.st_size &&
                    p.p_filesz <= (uint64_t)st.st_size - p.p_offset;
        }
    }
    fclose(f);
    return whole;
}

static bool
try_file(struct search *s, const char *path)
{
    if (strchr(path, '/') && !is_whole(path)) {
        note_tried(s, arena_printf(s->arena, "'%s' (cut short)", path));
        return false;
    }
    s->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!s->lib)
        return false;
    s->found = arena_strdup(s->arena, path);
    return true;
}

/* NVRTC opens its builtins by their bare name, which the loader only finds on
 * its own path or among the libraries already open. A wheel's folder is not on
 * that path, so they are opened here; the handle stays for the process. */
static void
open_builtins(struct search *s, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;

    if (!dir)
        return;
    while ((e = readdir(dir)) != NULL) {
        if (strncmp(e->d_name, "libnvrtc-builtins.so.", 21) == 0)
            dlopen(arena_printf(s->arena, "%s/%s", folder, e->d_name),
                   RTLD_NOW | RTLD_GLOBAL);
    }
    closedir(dir);
}

static bool
try_folder(struct search *s, const char *folder)
{
    const char *name = best_name(s->arena, folder);

    if (name)
        open_builtins(s, folder);
    return name && try_file(s, arena_printf(s->arena, "%s/%s", folder, name));
}

/* The folders of a toolkit. */
static bool
try_toolkit(struct search *s, const char *root)
{
    static const char *const below[] = {
        "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};

    for (size_t i = 0; i < ARRAY_LEN(below); i++) {
        if (try_folder(s, arena_printf(s->arena, "%s/%s", root, below[i])))
            return true;
    }
    return false;
}

/* A file, a folder, or a toolkit. */
static bool
try_given(struct search *s, const char *where)
{
    struct stat st;

    if (stat(where, &st) == 0 && S_ISDIR(st.st_mode))
        return try_folder(s, where) || try_toolkit(s, where);
    /* A bare name the loader looks up on its own path, not here. */
    if (!strchr(where, '/') && access(where, F_OK) == 0)
        where = arena_printf(s->arena, "./%s", where);
    return try_file(s, where);
}

/* Below $CUDA_HOME. */
static bool
try_cuda_home(struct search *s)
{
    const char *home = getenv("CUDA_HOME");

    if (!home || !*home)
        return false;
    if (try_toolkit(s, home))
        return true;
    note_tried(s, arena_printf(s->arena, "CUDA_HOME '%s'", home));
    return false;
}

/* The toolkit that holds the nvcc of $PATH, its links followed. */
static bool
try_beside_nvcc(struct search *s)
{
    const char *nvcc = io_find_program(s->arena, "nvcc");
    char *slash, *folder;

    if (!nvcc) {
        note_tried(s, "PATH (no nvcc)");
        return false;
    }
    folder = arena_strdup(s->arena, nvcc);
    slash = strrchr(folder, '/');
    assert(slash);
    *slash = '\0';
    if (try_toolkit(s, arena_printf(s->arena, "%s/..", folder)))
        return true;
    note_tried(s, arena_printf(s->arena, "beside '%s'", nvcc));
    return false;
}

static bool
try_loader(struct search *s)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13",
                                        "libnvrtc.so.12"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (try_file(s, names[i]))
            return true;
    }
    note_tried(s, "the loader's path");
    return false;
}

/* ENV/lib/python3.X/site-packages/nvidia/.../lib */
static bool
try_python_env(struct search *s, const char *env)
{
    static const char *const below[] = {"nvidia/cu13/lib",
                                        "nvidia/cuda_nvrtc/lib"};
    const char *lib = arena_printf(s->arena, "%s/lib", env);
    DIR *dir = opendir(lib);
    const struct dirent *e;
    bool found = false;

    if (!dir)
        return false;
    while (!found && (e = readdir(dir)) != NULL) {
        if (strncmp(e->d_name, "python3", 7) != 0)
            continue;
        for (size_t i = 0; !found && i < ARRAY_LEN(below); i++)
            found =
                try_folder(s, arena_printf(s->arena, "%s/%s/site-packages/%s",
                                           lib, e->d_name, below[i]));
    }
    closedir(dir);
    return found;
}

static bool
try_venv(struct search *s)
{
    const char *env = getenv("VIRTUAL_ENV");
    char here[4096], *slash;

    if (env && *env && try_python_env(s, env))
        return true;
    if (!getcwd(here, sizeof(here)))
        return false;
    do {
        if (try_python_env(s, arena_printf(s->arena, "%s/.venv", here)))
            return true;
        slash = strrchr(here, '/');
        if (slash)
            *slash = '\0';
    } while (slash);
    note_tried(s, "VIRTUAL_ENV and .venv");
    return false;
}

/* A place the user named: it or nothing. */
static bool
find_given(struct search *s, const char *where, const char *what)
{
    const char *error;

    if (try_given(s, where))
        return true;
    error = dlerror();
    note_tried(s, arena_printf(s->arena, "%s '%s'%s%s", what, where,
                               error ? ": " : "", error ? error : ""));
    return false;
}

static bool
find_library(struct search *s, const char *where)
{
    const char *env = getenv("FUSEC_NVRTC");

    if (where)
        return find_given(s, where, "--nvrtc");
    if (env && *env)
        return find_given(s, env, "FUSEC_NVRTC");
    return try_cuda_home(s) || try_beside_nvcc(s) || try_loader(s) ||
           try_venv(s);
}

static bool
bind_entries(struct search *s, struct entries *f)
{
    void *symbol[ARRAY_LEN(entry_names)];

    static_assert(sizeof(symbol) == sizeof(*f), "one name per entry");
    for (size_t i = 0; i < ARRAY_LEN(entry_names); i++) {
        symbol[i] = dlsym(s->lib, entry_names[i]);
        if (!symbol[i]) {
            note_tried(s, arena_printf(s->arena, "'%s' lacks '%s'", s->found,
                                       entry_names[i]));
            return false;
        }
    }
    memcpy(f, symbol, sizeof(symbol));
    return true;
}

/* A library before 11.2 can't say what it supports. */
static void
ask_archs(struct search *s, struct nvrtc *n)
{
    int (*count)(int *), (*list)(int *);
    void *symbols[2] = {dlsym(s->lib, "nvrtcGetNumSupportedArchs"),
                        dlsym(s->lib, "nvrtcGetSupportedArchs")};
    int many = 0;

    if (!symbols[0] || !symbols[1])
        return;
    memcpy(&count, &symbols[0], sizeof(count));
    memcpy(&list, &symbols[1], sizeof(list));
    if (count(&many) != NVRTC_SUCCESS || many < 1 || many > MAX_ARCHS)
        return;
    if (list(n->archs) == NVRTC_SUCCESS)
        n->n_archs = many;
}

struct nvrtc *
nvrtc_load(struct arena *a, const char *where, const char **ret_why)
{
    struct search s = {.arena = a};
    struct nvrtc *n = NEW(a, struct nvrtc);

    buf_init(&s.tried, a);
    if (find_library(&s, where) && bind_entries(&s, &n->f)) {
        n->path = s.found;
        n->f.version(&n->major, &n->minor);
        ask_archs(&s, n);
        return n;
    }
    *ret_why = arena_printf(a, "looked in %s", buf_str(&s.tried));
    return NULL;
}

static void
print_archs(struct buf *b, const struct nvrtc *n)
{
    for (int i = 0; i < n->n_archs; i++)
        buf_printf(b, "%s sm_%d", i ? "," : "", n->archs[i]);
}

void
nvrtc_describe(const struct nvrtc *n, struct buf *b)
{
    buf_printf(b, "%s\nversion %d.%d\n", n->path, n->major, n->minor);
    if (!n->n_archs)
        return;
    buf_puts(b, "architectures");
    print_archs(b, n);
    buf_putc(b, '\n');
}

/* --- compiling ----------------------------------------------------------- */

enum { MAX_OPTIONS = 9 };

/* From 12.9 on NVRTC keeps what it compiled, and has no log of what it kept. */
static bool
has_cache(const struct nvrtc *n)
{
    return n->major > 12 || (n->major == 12 && n->minor >= 9);
}

static int
set_options(struct arena *a, const struct nvrtc *lib,
            const struct cuda_request *req, const char *ret[MAX_OPTIONS])
{
    int n = 0;

    ret[n++] = arena_printf(a, "-arch=sm_%d", req->arch);
    ret[n++] = "--ptxas-options=-v";
    ret[n++] = "--std=c++17";
    ret[n++] = "--disable-warnings"; /* of functions a text does not use */
    if (has_cache(lib))
        ret[n++] = "--no-cache";
    if (req->fast_math)
        ret[n++] = "--use_fast_math";
    if (req->no_fmad)
        ret[n++] = "--fmad=false";
    if (req->lineinfo)
        ret[n++] = "-lineinfo";
    assert(n <= MAX_OPTIONS);
    return n;
}

/* A text or binary of the program, NUL-terminated beyond *ret_len. */
static const char *
fetch(struct arena *a, int (*size)(nvrtc_program, size_t *),
      int (*get)(nvrtc_program, char *), nvrtc_program p, size_t *ret_len)
{
    char *data;

    *ret_len = 0;
    if (size(p, ret_len) != NVRTC_SUCCESS || *ret_len > text_limit)
        return NULL;
    data = arena_alloc(a, *ret_len + 1);
    return get(p, data) == NVRTC_SUCCESS ? data : NULL;
}

/* NULL, or what is missing. */
static const char *
fetch_all(struct arena *a, const struct entries *f, nvrtc_program p,
          struct cuda_result *ret)
{
    ret->ptx = fetch(a, f->ptx_size, f->ptx, p, &ret->ptx_len);
    ret->cubin = fetch(a, f->cubin_size, f->cubin, p, &ret->cubin_len);
    if (!ret->ptx)
        ret->ptx_len = 0;
    /* NVRTC counts the terminating NUL of the PTX; files don't hold it. */
    while (ret->ptx_len && ret->ptx[ret->ptx_len - 1] == '\0')
        ret->ptx_len--;
    if (!ret->ptx_len)
        return "it returned no PTX";
    return ret->cubin && ret->cubin_len ? NULL : "it returned no cubin";
}

/* An architecture that the library names as unknown makes a poor message. */
static bool
check_arch(struct arena *a, const struct nvrtc *n, int arch,
           const char **ret_why)
{
    struct buf b;

    for (int i = 0; i < n->n_archs; i++) {
        if (n->archs[i] == arch)
            return true;
    }
    if (!n->n_archs)
        return true;
    buf_init(&b, a);
    buf_printf(&b, "NVRTC %d.%d ('%s') does not know sm_%d; it knows", n->major,
               n->minor, n->path, arch);
    print_archs(&b, n);
    *ret_why = buf_str(&b);
    return false;
}

/* NULL, or why there is no result and no refusal either. */
static const char *
run(struct arena *a, const struct nvrtc *n, const struct cuda_request *req,
    struct cuda_result *ret)
{
    const struct entries *f = &n->f;
    const char *options[MAX_OPTIONS], *why = NULL;
    int n_options = set_options(a, n, req, options);
    nvrtc_program p = NULL;
    size_t log_len;
    int status = f->create(&p, req->text, req->name, 0, NULL, NULL);

    if (status == NVRTC_SUCCESS) {
        status = f->compile(p, n_options, options);
        ret->log = fetch(a, f->log_size, f->log, p, &log_len);
        if (status == NVRTC_SUCCESS)
            why = fetch_all(a, f, p, ret);
        f->destroy(&p);
    }
    ret->ok = status == NVRTC_SUCCESS && !why;
    if (status != NVRTC_SUCCESS && status != NVRTC_COMPILATION)
        why = f->error(status);
    return why;
}

bool
nvrtc_compile(struct arena *a, const struct nvrtc *n,
              const struct cuda_request *req, struct cuda_result *ret,
              const char **ret_why)
{
    const char *why;

    *ret = (struct cuda_result){.compiler = "nvrtc"};
    if (!check_arch(a, n, req->arch, ret_why))
        return false;
    why = run(a, n, req, ret);
    if (!ret->log)
        ret->log = "";
    ret->version =
        report_version(a, ret->ptx, ret->ptx_len, n->major, n->minor);
    if (!why)
        return true;
    *ret_why = arena_printf(a, "NVRTC %d.%d ('%s'): %s%s%s", n->major, n->minor,
                            n->path, why, *ret->log ? ": " : "", ret->log);
    return false;
}
