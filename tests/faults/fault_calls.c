/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: call $FAULT_AT of the process to open, write, fsync, close, rename
 * or unlink, counted from 1, meets $FAULT: "kill" and "term" are signals sent
 * before it, "short" writes one byte less, "eintr" fails once with EINTR, and
 * "disk" fails it and every later write, fsync or open for writing with ENOSPC.
 * With COUNT_TO=FILE the number of calls is written there at the end. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count;

static int
told(const char *what)
{
    const char *fault = getenv("FAULT");

    return fault && strcmp(fault, what) == 0;
}

/* True at the call of $FAULT_AT and, in SINCE, after it. */
static int
is_due(int since)
{
    const char *at = getenv("FAULT_AT");
    long n = at ? atol(at) : 0;

    return n && (since ? count >= n : count == n);
}

static void
step(void)
{
    count++;
    if (is_due(0) && told("kill"))
        kill(getpid(), SIGKILL);
    if (is_due(0) && told("term"))
        kill(getpid(), SIGTERM);
}

/* Whether the call is to fail; errno says how. */
static int
fails(int needs_room)
{
    step();
    if (is_due(0) && told("eintr")) {
        errno = EINTR;
        return 1;
    }
    if (needs_room && is_due(1) && told("disk")) {
        errno = ENOSPC;
        return 1;
    }
    return 0;
}

static int
open_it(const char *path, int flags, mode_t mode)
{
    if (fails((flags & O_ACCMODE) != O_RDONLY && (flags & O_CREAT)))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int
open(const char *path, int flags, ...)
{
    va_list ap;
    mode_t mode;

    va_start(ap, flags);
    mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open_it(path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
    va_list ap;
    mode_t mode;

    va_start(ap, flags);
    mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open_it(path, flags, mode);
}

ssize_t
write(int fd, const void *data, size_t n)
{
    if (fails(fd > 2))
        return -1;
    if (is_due(0) && told("short") && n > 1)
        n--;
    return syscall(SYS_write, fd, data, n);
}

int
fsync(int fd)
{
    return fails(1) ? -1 : (int)syscall(SYS_fsync, fd);
}

int
rename(const char *from, const char *to)
{
    step();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
unlink(const char *path)
{
    step();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

__attribute__((destructor)) static void
tell(void)
{
    const char *path = getenv("COUNT_TO");
    char text[32];
    int fd;

    if (!path)
        return;
    snprintf(text, sizeof(text), "%ld\n", count);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0666);
    syscall(SYS_write, fd, text, strlen(text));
}
