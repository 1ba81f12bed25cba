/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_once: the process that compile time is measured against.
 *
 *     nvrtc_once LIBNVRTC FILE.cu sm_90 [OPTION...]
 *
 * Loads NVRTC, compiles the text once with `-arch` and `--ptxas-options=-v`,
 * fetches PTX, cubin and log, and exits. What fusec takes longer than this is
 * fusec's own. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *program;

struct nvrtc {
    int (*create)(program *, const char *, const char *, int,
                  const char *const *, const char *const *);
    int (*compile)(program, int, const char *const *);
    int (*ptx_size)(program, size_t *);
    int (*ptx)(program, char *);
    int (*cubin_size)(program, size_t *);
    int (*cubin)(program, char *);
    int (*log_size)(program, size_t *);
    int (*log)(program, char *);
};

static char *
read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n;

    if (f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0) {
        rewind(f);
        text = calloc(1, (size_t)n + 1);
        if (text && fread(text, 1, (size_t)n, f) != (size_t)n)
            text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static bool
load(const char *path, struct nvrtc *n)
{
    static const char *const names[] = {
        "nvrtcCreateProgram",     "nvrtcCompileProgram",
        "nvrtcGetPTXSize",        "nvrtcGetPTX",
        "nvrtcGetCUBINSize",      "nvrtcGetCUBIN",
        "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
    };
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol[sizeof(names) / sizeof(names[0])];

    if (!lib)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        symbol[i] = dlsym(lib, names[i]);
        if (!symbol[i])
            return false;
    }
    memcpy(n, symbol, sizeof(symbol));
    return true;
}

static char *
fetch(int (*size)(program, size_t *), int (*get)(program, char *), program p,
      size_t *ret_n)
{
    char *text;

    if (size(p, ret_n) != 0)
        return NULL;
    text = calloc(1, *ret_n + 1);
    return text && get(p, text) == 0 ? text : NULL;
}

int
main(int argc, char **argv)
{
    const char *options[16] = {NULL, "--ptxas-options=-v", "--std=c++17",
                               "--disable-warnings"};
    size_t n_ptx, n_cubin, n_log;
    struct nvrtc n;
    char arch[32], *text, *ptx, *cubin, *log;
    program p;
    int count = 4, status;

    if (argc < 4 || argc > 16) {
        fputs("usage: nvrtc_once LIBNVRTC FILE.cu sm_XX [OPTION...]\n", stderr);
        return 2;
    }
    text = read_file(argv[2]);
    if (!text || !load(argv[1], &n)) {
        fputs("nvrtc_once: cannot read the file or load the library\n", stderr);
        return 3;
    }
    snprintf(arch, sizeof(arch), "-arch=%s", argv[3]);
    options[0] = arch;
    for (int i = 4; i < argc; i++)
        options[count++] = argv[i];
    if (n.create(&p, text, "once.cu", 0, NULL, NULL) != 0)
        return 3;
    status = n.compile(p, count, options);
    log = fetch(n.log_size, n.log, p, &n_log);
    if (status != 0) {
        fputs(log ? log : "", stderr);
        return 4;
    }
    ptx = fetch(n.ptx_size, n.ptx, p, &n_ptx);
    cubin = fetch(n.cubin_size, n.cubin, p, &n_cubin);
    if (!ptx || !cubin || !log)
        return 3;
    printf("%zu %zu %zu\n", n_ptx, n_cubin, n_log);
    if (getenv("NVRTC_ONCE_LOG"))
        fputs(log, stdout);
    return 0;
}
