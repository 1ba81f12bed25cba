/* SPDX-License-Identifier: Apache-2.0 */
/* lines: code addresses to lines, by asking addr2line. It prints for each
 * address the address itself and its frames, the innermost first, as FILE:LINE;
 * the first frame in a .cu is the one. */
#define _GNU_SOURCE /* dladdr */
#include "support/base.h"

#include "tools/emulate/emulate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The output of a program as a stream; NULL when it can't be run. */
static FILE *
run(char *const *argv, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int ends[2], failed;

    if (pipe(ends) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    failed = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

/* A frame "PATH/NAME.cu:LINE ..."; 0 when it is none. */
static unsigned
frame_line(const char *frame, char *ret_file, size_t size)
{
    const char *colon = strrchr(frame, ':'), *name = frame;
    size_t n;

    if (!colon || colon - frame < 4 || memcmp(colon - 3, ".cu", 3) != 0)
        return 0;
    for (const char *p = frame; p < colon; p++)
        if (*p == '/')
            name = p + 1;
    n = MIN((size_t)(colon - name), size - 1);
    memcpy(ret_file, name, n);
    ret_file[n] = '\0';
    return (unsigned)strtoul(colon + 1, NULL, 10);
}

static void
read_frames(FILE *f, const unsigned *places, unsigned *ret_lines,
            char *ret_file, size_t size)
{
    char row[1024];
    int at = -1;

    while (fgets(row, sizeof(row), f)) {
        if (strncmp(row, "0x", 2) == 0)
            at++;
        else if (at >= 0 && at < EMULATION_PLACES && !ret_lines[places[at]])
            ret_lines[places[at]] = frame_line(row, ret_file, size);
    }
}

void
emulation_lines(const struct emulation *e, const void *const *pc,
                unsigned *ret_lines, char *ret_file, size_t file_size)
{
    char program[] = "addr2line", options[] = "-aie", path[64];
    char address[EMULATION_PLACES][32];
    char *argv[3 + EMULATION_PLACES + 1] = {program, options, path};
    unsigned places[EMULATION_PLACES], n = 0;
    pid_t pid;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", e->file);
    for (unsigned i = 0; i < EMULATION_PLACES; i++) {
        Dl_info info;

        ret_lines[i] = 0;
        if (!pc[i] || !dladdr(pc[i], &info))
            continue;
        snprintf(address[n], sizeof(address[n]), "0x%zx",
                 (size_t)((const char *)pc[i] - (const char *)info.dli_fbase) -
                     1);
        argv[3 + n] = address[n];
        places[n++] = i;
    }
    if (n == 0 || (f = run(argv, &pid)) == NULL)
        return;
    read_frames(f, places, ret_lines, ret_file, file_size);
    fclose(f);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
