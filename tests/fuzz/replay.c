/* SPDX-License-Identifier: Apache-2.0 */
/* replay: a fuzz target without libFuzzer.
 *
 *     TARGET [--mutate N] [--seed S] PATH...
 *
 * Runs every file named or found below a folder named once, then N seeded
 * mutations of them. Mutation I of seed S of the same files is always the same
 * text. A text that kills the target is left as crash-S-I in the current
 * folder. */
#include "support/base.h"

#include "harness.h"
#include "mutate.h"

#include "support/arena.h"
#include "support/io.h"
#include "support/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 16, PATIENCE_S = 60 };

static struct arena *arena;
static VEC(struct mutate_text) texts;

/* The text that is being run, for the handler of signals. */
static struct {
    char name[64];
    const char *text;
    size_t len;
} current;

static void
leave(int signal_number)
{
    int fd = open(current.name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd >= 0 && write(fd, current.text, current.len) >= 0 &&
        write(STDERR_FILENO, current.name, strlen(current.name)) >= 0)
        close(fd);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void
run_one(const char *text, size_t len, const char *kind, unsigned long index)
{
    snprintf(current.name, sizeof(current.name), "crash-%s-%lu", kind, index);
    current.text = text;
    current.len = len;
    alarm(PATIENCE_S);
    fuzz_run(text, len);
    alarm(0);
}

static void
add_file(const char *path)
{
    size_t len;
    const char *text = io_read(arena, path, &len);

    if (!text) {
        perror(path);
        exit(EXIT_ENVIRONMENT);
    }
    if (len <= MAX_BYTES)
        VEC_PUSH(arena, &texts, ((struct mutate_text){text, len}));
}

static int
visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void
add_path(const char *path)
{
    struct dirent **entries;
    struct stat s;
    int n;

    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode)) {
        add_file(path);
        return;
    }
    n = scandir(path, &entries, visible, alphasort);
    for (int i = 0; i < n; i++) {
        add_path(arena_printf(arena, "%s/%s", path, entries[i]->d_name));
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static void
run_mutations(unsigned long count, unsigned long seed)
{
    char *text = malloc(MAX_BYTES);
    char kind[24];

    if (!text)
        abort();
    snprintf(kind, sizeof(kind), "%lu", seed);
    for (unsigned long i = 0; i < count && texts.n; i++) {
        uint64_t s = (seed << 32 | i) * 0x9e3779b97f4a7c15u;
        struct mutate_text x = texts.v[(s >> 40) % texts.n];
        struct mutate_text y = texts.v[(s >> 20) % texts.n];
        size_t len = x.n;

        memcpy(text, x.p, x.n);
        if (i % 4 == 0)
            len = mutate_cross(text, len, MAX_BYTES, y, s);
        len = mutate_text(text, len, MAX_BYTES, s);
        run_one(text, len, kind, i);
    }
    free(text);
}

int
main(int argc, char **argv)
{
    static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
    unsigned long count = 0, seed = 1;
    size_t len;

    arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(deaths); i++)
        signal(deaths[i], leave);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--mutate") == 0 && i + 1 < argc)
            count = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoul(argv[++i], NULL, 10);
        else
            add_path(argv[i]);
    }
    for (uint32_t i = 0; i < texts.n; i++)
        run_one(texts.v[i].p, texts.v[i].n, "file", i);
    run_mutations(count, seed);
    printf("%u files, %lu mutations, ", texts.n, count);
    printf("slowest %.3f s\n", fuzz_slowest(&len));
    arena_free(arena);
    return texts.n ? EXIT_OK : EXIT_USAGE;
}
