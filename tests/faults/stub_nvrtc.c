/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for NVRTC and does what $STUB_NVRTC says. It compiles nothing: its
 * PTX and cubin are fixed texts, its log names the kernels of the source. With
 * STUB_LACKS_CUBIN it is a library of a time before nvrtcGetCUBIN. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 24 };

struct program {
    char *source, *log;
};

int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(struct program **ret, const char *source,
                       const char *name, int n, const char *const *headers,
                       const char *const *names);
int nvrtcCompileProgram(struct program *p, int n, const char *const *options);
int nvrtcDestroyProgram(struct program **p);
int nvrtcGetPTXSize(struct program *p, size_t *ret);
int nvrtcGetPTX(struct program *p, char *to);
int nvrtcGetCUBINSize(struct program *p, size_t *ret);
int nvrtcGetCUBIN(struct program *p, char *to);
int nvrtcGetProgramLogSize(struct program *p, size_t *ret);
int nvrtcGetProgramLog(struct program *p, char *to);
int nvrtcGetNumSupportedArchs(int *ret);
int nvrtcGetSupportedArchs(int *to);
const char *nvrtcGetErrorString(int status);

static const char ptx[] =
    "//\n// Cuda compilation tools, release 99.9, V99.9.1\n//\n\n"
    ".version 8.0\n.target sm_90\n.address_size 64\n";
#ifndef STUB_LACKS_CUBIN
static const char cubin[] = "\177ELF stands for nothing";
#endif

/* True when $STUB_NVRTC is WHAT. */
static int
told(const char *what)
{
    const char *word = getenv("STUB_NVRTC");

    return word && strcmp(word, what) == 0;
}

/* The N of "WHAT=N", or 0. */
static int
told_number(const char *what)
{
    const char *word = getenv("STUB_NVRTC");
    size_t n = strlen(what);

    if (!word || strncmp(word, what, n) != 0 || word[n] != '=')
        return 0;
    return (int)strtol(word + n + 1, NULL, 10);
}

int
nvrtcVersion(int *major, int *minor)
{
    int version = told_number("version");

    *major = version ? version / 10 : 99;
    *minor = version ? version % 10 : 9;
    return told_number("version-fails");
}

int
nvrtcCreateProgram(struct program **ret, const char *source, const char *name,
                   int n, const char *const *headers, const char *const *names)
{
    struct program *p = calloc(1, sizeof(*p));
    int status = told_number("create");

    (void)name, (void)n, (void)headers, (void)names;
    if (status || !p) {
        free(p);
        return status ? status : 1;
    }
    p->source = strdup(source);
    p->log = calloc(1, LOG_BYTES);
    *ret = p;
    return p->source && p->log ? 0 : 1;
}

/* One line a kernel, as `ptxas -v` has it. With "spills=N" the kernels of the
 * first N texts spill. */
static void
write_report(struct program *p)
{
    static int n_texts;
    const char *at = p->source;
    size_t used = strlen(p->log);
    int spilled = n_texts++ < told_number("spills") ? 12 : 0;

    while ((at = strstr(at, "fu_")) != NULL) {
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        const char *line = strchr(at, '\n');

        /* A kernel's symbol ends in _k and a number. */
        if (n > 2 && at[n] == '(' && at[n - 2] == 'k' && at[n - 3] == '_' &&
            line)
            used += (size_t)snprintf(
                p->log + used, LOG_BYTES - used,
                "ptxas info : Compiling entry function '%.*s' for 'sm_90'\n"
                "ptxas info : Function properties for %.*s\n"
                "    0 bytes stack frame, %d bytes spill stores, %d bytes "
                "spill "
                "loads\nptxas info : Used 26 registers, used 1 barriers\n",
                (int)n, at, (int)n, at, spilled, spilled);
        at += n ? n : 1;
    }
}

static void
write_much(struct program *p, const char *line)
{
    size_t n = strlen(line), used = strlen(p->log);

    while (used + n + 100000 < LOG_BYTES) {
        memcpy(p->log + used, line, n);
        used += n;
    }
}

int
nvrtcCompileProgram(struct program *p, int n, const char *const *options)
{
    (void)n, (void)options;
    if (told("hangs"))
        pause();
    if (told("crashes"))
        abort();
    if (told("exits"))
        exit(0);
    if (told("refuses"))
        snprintf(p->log, LOG_BYTES, "in.cu(1): error: no\033[2Jsense\n\n%s",
                 "1 error detected\n");
    if (told("refuses-at-length"))
        write_much(p, "in.cu(1): error: no sense at all, line after line\n");
    if (told("builtins"))
        snprintf(p->log, LOG_BYTES,
                 "nvrtc: error: failed to open libnvrtc-builtins.so.99.9.\n"
                 "  Make sure that libnvrtc-builtins.so.99.9 is installed.");
    if (told("huge-log"))
        write_much(p, "in.cu(7): warning: a remark that nobody asked for\n");
    if (told("long-line"))
        write_much(p, "no line ends here ");
    if (told("long-line"))
        snprintf(p->log + strlen(p->log), LOG_BYTES - strlen(p->log), "\n");
    if (!told("empty-log") && !told("builtins"))
        write_report(p);
    if (told("no-newline"))
        p->log[strlen(p->log) - 1] = '\0';
    if (told("refuses") || told("refuses-at-length") || told("refuses-mutely"))
        return 6;
    return told("builtins") ? 7 : told_number("compile");
}

int
nvrtcDestroyProgram(struct program **p)
{
    free((*p)->source);
    free((*p)->log);
    free(*p);
    *p = NULL;
    return 0;
}

int
nvrtcGetPTXSize(struct program *p, size_t *ret)
{
    (void)p;
    *ret = told("empty-ptx") ? 1 : sizeof(ptx);
    if (told("no-bytes"))
        *ret = 0;
    return told_number("ptx-size");
}

int
nvrtcGetPTX(struct program *p, char *to)
{
    (void)p;
    if (told("empty-ptx"))
        *to = '\0';
    else if (!told("no-bytes"))
        memcpy(to, ptx, sizeof(ptx));
    return told_number("ptx");
}

#ifndef STUB_LACKS_CUBIN
int
nvrtcGetCUBINSize(struct program *p, size_t *ret)
{
    (void)p;
    *ret = told("empty-cubin") ? 0 : sizeof(cubin);
    return told_number("cubin-size");
}

int
nvrtcGetCUBIN(struct program *p, char *to)
{
    (void)p;
    if (!told("empty-cubin"))
        memcpy(to, cubin, sizeof(cubin));
    return told_number("cubin");
}
#endif

int
nvrtcGetProgramLogSize(struct program *p, size_t *ret)
{
    *ret = strlen(p->log) + 1;
    if (told("empty-log"))
        *ret = 0;
    return told_number("log-size");
}

int
nvrtcGetProgramLog(struct program *p, char *to)
{
    if (!told("empty-log"))
        memcpy(to, p->log, strlen(p->log) + 1);
    return told_number("log");
}

int
nvrtcGetNumSupportedArchs(int *ret)
{
    *ret = told("old") ? 2 : 5;
    return 0;
}

int
nvrtcGetSupportedArchs(int *to)
{
    static const int archs[] = {75, 80, 89, 90, 100};

    memcpy(to, archs, (told("old") ? 2 : 5) * sizeof(*to));
    return 0;
}

const char *
nvrtcGetErrorString(int status)
{
    return status == 7 ? "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"
                       : "NVRTC_ERROR_OF_THE_STUB";
}
