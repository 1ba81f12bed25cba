/* SPDX-License-Identifier: Apache-2.0 */
/* harness: reads inputs and gives each an arena of its own. The text lies in a
 * heap block of its exact size, so that a sanitizer sees reads beyond it. */
#include "support/base.h"

#include "harness.h"

#include "support/arena.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

static void
run(const char *text, size_t len)
{
    struct arena *a = arena_new();
    char *copy = malloc(len + 1);

    if (!copy)
        abort();
    memcpy(copy, text, len);
    copy[len] = '\0';
    fuzz_one(a, copy, len);
    free(copy);
    arena_free(a);
}

static int
run_frames(void)
{
    static char text[1 << 20];
    unsigned char head[4];

    while (fread(head, 1, 4, stdin) == 4) {
        size_t len = head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
                     (size_t)head[3] << 24;

        if (len > sizeof(text) || fread(text, 1, len, stdin) != len)
            return EXIT_USAGE;
        run(text, len);
        putchar('.');
        fflush(stdout);
    }
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct arena *a;

    if (argc == 2 && strcmp(argv[1], "--frames") == 0)
        return run_frames();
    a = arena_new();
    for (int i = 1; i < argc; i++) {
        size_t len;
        const char *text = io_read(a, argv[i], &len);

        if (!text) {
            perror(argv[i]);
            return EXIT_ENVIRONMENT;
        }
        run(text, len);
    }
    arena_free(a);
    return EXIT_OK;
}
