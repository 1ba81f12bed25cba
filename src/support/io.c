/* SPDX-License-Identifier: Apache-2.0 */
/* io: whole files.
 *
 * Writing is in three steps: every temporary is written, flushed and closed;
 * standard output is written; the temporaries are renamed. Up to the last step
 * a failure removes the temporaries and has changed nothing. What isn't a
 * regular file (a device, a pipe) is written directly, in the second step. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "support/base.h"

#include "support/io.h"

#include "support/arena.h"
#include "support/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

char *
io_read(struct arena *a, const char *path, size_t *ret_len)
{
    char block[1 << 16];
    struct buf b;
    ssize_t n;
    int fd = open_to_read(path), error;

    if (fd < 0)
        return NULL;
    buf_init(&b, a);
    buf_write(&b, "", 0);
    while ((n = read(fd, block, sizeof(block))) != 0) {
        if (n > 0)
            buf_write(&b, block, (size_t)n);
        else if (errno != EINTR)
            break;
    }
    error = errno;
    close(fd);
    errno = error;
    if (n < 0)
        return NULL;
    *ret_len = b.len;
    return b.data;
}

static bool
write_fd(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
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
    bool direct;        /* written in place: standard output, a device */
    bool skip;          /* unchanged, and --restat */
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

static const char *
follow_links(struct arena *a, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = path;

    if (real)
        copy = arena_strdup(a, real);
    free(real);
    return copy;
}

static void
job_init(struct arena *a, struct job *j, const struct io_output *out,
         bool keep_time)
{
    struct stat st;

    *j = (struct job){.out = out, .target = out->path};
    if (is_stdout(out)) {
        j->direct = true;
        return;
    }
    j->target = follow_links(a, out->path);
    if (stat(j->target, &st) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode))
        j->direct = true;
    else
        j->skip = keep_time && is_unchanged(a, j);
}

static int
open_temp(struct arena *a, struct job *j)
{
    for (int i = 0; i < 100; i++) {
        const char *path =
            arena_printf(a, "%s.tmp%ld.%d", j->target, (long)getpid(), i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);

        if (fd >= 0) {
            j->temp = path;
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
write_temp(struct arena *a, struct job *j)
{
    int fd, error;
    bool ok;

    if (is_directory(j->target)) {
        errno = EISDIR;
        return false;
    }
    fd = open_temp(a, j);
    if (fd < 0)
        return false;
    ok = write_fd(fd, j->out->data, j->out->len) && fsync(fd) == 0;
    error = errno;
    if (close(fd) != 0 && ok) {
        error = errno;
        ok = false;
    }
    errno = error;
    return ok;
}

static bool
write_direct(const struct job *j)
{
    int fd, error;
    bool ok;

    if (is_stdout(j->out)) {
        fwrite(j->out->data, 1, j->out->len, stdout);
        return fflush(stdout) == 0 && !ferror(stdout);
    }
    fd = open(j->target, O_WRONLY);
    if (fd < 0)
        return false;
    ok = write_fd(fd, j->out->data, j->out->len);
    error = errno;
    close(fd);
    errno = error;
    return ok;
}

static void
remove_temps(struct job *jobs, size_t n)
{
    int error = errno;

    for (size_t i = 0; i < n; i++) {
        if (jobs[i].temp)
            unlink(jobs[i].temp);
    }
    errno = error;
}

static int
prepare(struct arena *a, struct job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!jobs[i].direct && !jobs[i].skip && !write_temp(a, &jobs[i]))
            return (int)i;
    }
    for (size_t i = 0; i < n; i++) {
        if (jobs[i].direct && !write_direct(&jobs[i]))
            return (int)i;
    }
    return -1;
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
    int failed;

    for (size_t i = 0; i < n; i++)
        job_init(a, &jobs[i], &outs[i], keep_time);
    failed = prepare(a, jobs, n);
    if (failed < 0)
        failed = commit(jobs, n);
    if (failed >= 0)
        remove_temps(jobs, n);
    return failed;
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
            return follow_links(a, file);
        path += n + (path[n] == ':');
    }
    return NULL;
}
