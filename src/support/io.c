/* SPDX-License-Identifier: Apache-2.0 */
/* io: whole files.
 *
 * Writing is in three steps: every temporary is written, flushed and closed;
 * standard output is written; the temporaries are renamed. Up to the last step
 * a failure removes the temporaries and has changed nothing. What isn't a
 * regular file (a device, a pipe) is written directly, in the second step.
 *
 * A signal that ends the process waits while temporaries are there. It is
 * looked for between two pieces of work, which are short, and then counts as a
 * failure: the temporaries go, and the signal does what it does. Only SIGKILL
 * leaves them behind. All memory is taken before the first one is made, since
 * running out of it ends the process, too. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "support/base.h"

#include "support/io.h"

#include "support/arena.h"
#include "support/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int
open_to_read(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        errno = EISDIR;
        return -1;
    }
    return fd;
}

/* A device may have no end. */
static const size_t read_limit = (size_t)1 << 28;

static char *
read_all(struct arena *a, int fd, size_t *ret_len)
{
    char block[1 << 16];
    struct buf b;
    ssize_t n;

    buf_init(&b, a);
    buf_write(&b, "", 0);
    while ((n = read(fd, block, sizeof(block))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0 && b.len + (size_t)n > read_limit)
            errno = EFBIG;
        if (n < 0 || b.len + (size_t)n > read_limit)
            return NULL;
        buf_write(&b, block, (size_t)n);
    }
    *ret_len = b.len;
    return b.data;
}

char *
io_read(struct arena *a, const char *path, size_t *ret_len)
{
    int fd = open_to_read(path), error;
    char *text;

    if (fd < 0)
        return NULL;
    text = read_all(a, fd, ret_len);
    error = errno;
    close(fd);
    errno = error;
    return text;
}

char *
io_read_stdin(struct arena *a, size_t *ret_len)
{
    return read_all(a, STDIN_FILENO, ret_len);
}

/* --- signals ------------------------------------------------------------- */

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

void
io_hold_signals(sigset_t *ret_before)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
        struct sigaction now;

        /* A signal that is ignored would stay pending for ever. */
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, ending[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, ret_before);
}

bool
io_interrupted(void)
{
    sigset_t set, held;

    sigemptyset(&set);
    sigpending(&set);
    pthread_sigmask(SIG_BLOCK, NULL, &held);
    for (size_t i = 0; i < ARRAY_LEN(ending); i++) {
        if (sigismember(&held, ending[i]) && sigismember(&set, ending[i])) {
            errno = EINTR;
            return true;
        }
    }
    return false;
}

/* --- writing ------------------------------------------------------------- */

/* Small enough for a pipe that has room to take it at once. */
enum { PIECE = 4096, LOOK_MS = 50 };

/* Waits for a reader of FD, who may never come. */
static bool
wait_for_room(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    while (!io_interrupted()) {
        int n = poll(&p, 1, LOOK_MS);

        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
    return false;
}

/* MAY_WAIT: FD is no regular file. */
static bool
write_fd(int fd, const void *data, size_t len, bool may_wait)
{
    const char *p = data;

    while (len) {
        size_t piece = may_wait ? MIN(len, (size_t)PIECE) : MIN(len, 1u << 20);
        ssize_t n;

        if (may_wait ? !wait_for_room(fd) : io_interrupted())
            return false;
        n = write(fd, p, piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* One output on its way. */
struct job {
    const struct io_output *out;
    const char *target; /* the path with links followed */
    const char *temp;   /* NULL: not (or no longer) there */
    char *name;         /* room for the temporary's name */
    size_t name_size;
    int fd;      /* of what is written in place */
    bool direct; /* written in place: standard output, a device */
    bool skip;   /* unchanged, and --restat */
};

static bool
is_stdout(const struct io_output *out)
{
    return strcmp(out->path, "-") == 0;
}

static bool
is_unchanged(struct arena *a, const struct job *j)
{
    size_t len;
    const char *old = io_read(a, j->target, &len);

    return old && len == j->out->len &&
           (!len || memcmp(old, j->out->data, len) == 0);
}

const char *
io_follow_links(struct arena *a, const char *path)
{
    char real[PATH_MAX];

    return realpath(path, real) ? arena_strdup(a, real) : path;
}

/* A pipe's reader may never come: it is opened while signals still act. */
static bool
open_direct(struct job *j)
{
    j->direct = true;
    j->fd = is_stdout(j->out) ? STDOUT_FILENO : open(j->target, O_WRONLY);
    return j->fd >= 0;
}

static bool
job_init(struct arena *a, struct job *j, const struct io_output *out,
         bool keep_time)
{
    struct stat st;

    *j = (struct job){.out = out, .target = out->path, .fd = -1};
    if (is_stdout(out))
        return open_direct(j);
    j->target = io_follow_links(a, out->path);
    if (stat(j->target, &st) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode))
        return open_direct(j);
    j->skip = keep_time && is_unchanged(a, j);
    j->name_size = strlen(j->target) + 40;
    j->name = arena_alloc(a, j->name_size);
    return true;
}

static int
open_temp(struct job *j)
{
    for (int i = 0; i < 100; i++) {
        int fd;

        snprintf(j->name, j->name_size, "%s.tmp%ld.%d", j->target,
                 (long)getpid(), i);
        fd = open(j->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            j->temp = j->name;
            return fd;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static bool
is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
write_temp(struct job *j)
{
    int fd, error;
    bool ok;

    if (is_directory(j->target)) {
        errno = EISDIR;
        return false;
    }
    fd = open_temp(j);
    if (fd < 0)
        return false;
    ok = write_fd(fd, j->out->data, j->out->len, false) && fsync(fd) == 0;
    error = errno;
    if (close(fd) != 0 && ok) {
        error = errno;
        ok = false;
    }
    errno = error;
    return ok;
}

/* What is open, and the temporaries, after a failure or a success. */
static void
clean_up(struct job *jobs, size_t n)
{
    int error = errno;

    for (size_t i = 0; i < n; i++) {
        if (jobs[i].temp)
            unlink(jobs[i].temp);
        if (jobs[i].fd > STDERR_FILENO)
            close(jobs[i].fd);
    }
    errno = error;
}

static int
open_all(struct arena *a, struct job *jobs, const struct io_output *outs,
         size_t n, bool keep_time)
{
    fflush(stdout);
    for (size_t i = 0; i < n; i++) {
        if (!job_init(a, &jobs[i], &outs[i], keep_time))
            return (int)i;
    }
    return -1;
}

static int
prepare(struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!jobs[i].direct && !jobs[i].skip && !write_temp(&jobs[i]))
            return (int)i;
    }
    for (size_t i = 0; i < n; i++) {
        const struct io_output *out = jobs[i].out;

        if (jobs[i].direct && !write_fd(jobs[i].fd, out->data, out->len, true))
            return (int)i;
    }
    return n && io_interrupted() ? 0 : -1;
}

static int
commit(struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!jobs[i].temp)
            continue;
        if (rename(jobs[i].temp, jobs[i].target) != 0)
            return (int)i;
        jobs[i].temp = NULL;
    }
    return -1;
}

int
io_write_all(struct arena *a, const struct io_output *outs, size_t n,
             bool keep_time)
{
    struct job *jobs = NEW_ARRAY(a, struct job, n ? n : 1);
    int failed = open_all(a, jobs, outs, n, keep_time);
    sigset_t before;

    if (failed < 0) {
        io_hold_signals(&before);
        failed = prepare(jobs, n);
        if (failed < 0)
            failed = commit(jobs, n);
        clean_up(jobs, n);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    } else {
        clean_up(jobs, n);
    }
    return failed;
}

/* --- the process --------------------------------------------------------- */

void
io_open_standard_files(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", modes[fd]) != fd)
            _exit(EXIT_ENVIRONMENT);
    }
}

const char *
io_find_program(struct arena *a, const char *name)
{
    const char *path = getenv("PATH");
    struct stat st;

    while (path && *path) {
        size_t n = strcspn(path, ":");
        const char *file = arena_printf(a, "%.*s/%s", (int)n, path, name);

        if (n && access(file, X_OK) == 0 && stat(file, &st) == 0 &&
            S_ISREG(st.st_mode))
            return io_follow_links(a, file);
        path += n + (path[n] == ':');
    }
    return NULL;
}
