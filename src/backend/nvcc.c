/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc: one run with --keep leaves the PTX, the cubin and the assembler's
 * report. Everything happens in a temporary folder that is removed again; the
 * source has a fixed name there, so that no path reaches the PTX. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "support/base.h"

#include "backend/nvcc.h"

#include "backend/report.h"
#include "support/arena.h"
#include "support/io.h"
#include "support/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *
find_nvcc(struct arena *a)
{
    const char *home = getenv("CUDA_HOME");

    if (home && *home) {
        const char *file = arena_printf(a, "%s/bin/nvcc", home);

        if (access(file, X_OK) == 0)
            return io_follow_links(a, file);
    }
    return io_find_program(a, "nvcc");
}

/* In the child: output goes to the file "log" of the folder. */
static ATTR_NORETURN void
run_child(const char *folder, char *const *argv)
{
    int fd;

    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (chdir(folder) != 0)
        _exit(126);
    fd = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

/* Waits for the child. A signal that would end us, and is held back until the
 * folder is removed, ends the child first. */
static bool
wait_for(pid_t pid, int *ret_status)
{
    enum { LOOK_MS = 10 };
    pid_t done;

    while ((done = waitpid(pid, ret_status, WNOHANG)) == 0 ||
           (done < 0 && errno == EINTR)) {
        if (io_interrupted()) {
            kill(pid, SIGTERM);
            waitpid(pid, ret_status, 0);
            return false;
        }
        poll(NULL, 0, LOOK_MS);
    }
    return done == pid;
}

/* The exit status, or -1 when it could not run or died by a signal. */
static int
run_in(const char *folder, char *const *argv, const sigset_t *mask)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        pthread_sigmask(SIG_SETMASK, mask, NULL);
        run_child(folder, argv);
    }
    if (!wait_for(pid, &status))
        return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) < 126 ? WEXITSTATUS(status)
                                                          : -1;
}

static int
run_nvcc(struct arena *a, const char *nvcc, const char *folder,
         const struct cuda_request *req, const sigset_t *mask)
{
    VEC(char *) argv = {0};
    static const char *const fixed[] = {"-cubin",
                                        "-o",
                                        "kernels.cubin",
                                        "--keep",
                                        "-std=c++17",
                                        "--ptxas-options=-v",
                                        "--disable-warnings"};

    VEC_PUSH(a, &argv, arena_strdup(a, nvcc));
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        VEC_PUSH(a, &argv, arena_strdup(a, fixed[i]));
    VEC_PUSH(a, &argv, arena_printf(a, "-arch=sm_%d", req->arch));
    if (req->fast_math)
        VEC_PUSH(a, &argv, arena_strdup(a, "--use_fast_math"));
    if (req->no_fmad)
        VEC_PUSH(a, &argv, arena_strdup(a, "--fmad=false"));
    if (req->lineinfo)
        VEC_PUSH(a, &argv, arena_strdup(a, "-lineinfo"));
    VEC_PUSH(a, &argv, arena_strdup(a, "kernels.cu"));
    VEC_PUSH(a, &argv, NULL);
    return run_in(folder, argv.v, mask);
}

static const char *
read_in(struct arena *a, const char *folder, const char *name, size_t *ret_len)
{
    return io_read(a, arena_printf(a, "%s/%s", folder, name), ret_len);
}

static void
remove_folder(struct arena *a, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;

    while (dir && (e = readdir(dir)) != NULL) {
        if (e->d_name[0] != '.')
            unlink(arena_printf(a, "%s/%s", folder, e->d_name));
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static const char *
new_folder(struct arena *a)
{
    const char *base = getenv("TMPDIR");
    char *folder;

    folder = arena_printf(a, "%s/fusec-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder);
}

static bool
compile_in(struct arena *a, const char *nvcc, const char *folder,
           const struct cuda_request *req, const sigset_t *mask,
           struct cuda_result *ret)
{
    struct io_output source = {arena_printf(a, "%s/kernels.cu", folder),
                               req->text, strlen(req->text)};
    size_t log_len;
    int status;

    if (io_write_all(a, &source, 1, false) >= 0)
        return false;
    status = run_nvcc(a, nvcc, folder, req, mask);
    ret->log = read_in(a, folder, "log", &log_len);
    if (!ret->log)
        ret->log = "";
    if (status < 0)
        return false;
    if (status > 0)
        return true;
    ret->ptx = read_in(a, folder, "kernels.ptx", &ret->ptx_len);
    ret->cubin = read_in(a, folder, "kernels.cubin", &ret->cubin_len);
    ret->ok = ret->ptx && ret->cubin;
    return ret->ok;
}

bool
nvcc_compile(struct arena *a, const struct cuda_request *req,
             struct cuda_result *ret, const char **ret_why)
{
    const char *nvcc = find_nvcc(a), *folder;
    sigset_t before;
    bool done;

    *ret = (struct cuda_result){.compiler = "nvcc", .log = ""};
    if (!nvcc) {
        *ret_why = "no nvcc in CUDA_HOME or on PATH";
        return false;
    }
    io_hold_signals(&before);
    folder = new_folder(a);
    if (!folder) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        *ret_why = arena_printf(a, "cannot make a temporary folder: %s",
                                strerror(errno));
        return false;
    }
    done = compile_in(a, nvcc, folder, req, &before, ret);
    remove_folder(a, folder);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ret->version = report_version(a, ret->ptx, ret->ptx_len, 0, 0);
    if (!done)
        *ret_why = arena_printf(a, "'%s' failed%s%s", nvcc,
                                *ret->log ? ": " : "", ret->log);
    return done;
}
