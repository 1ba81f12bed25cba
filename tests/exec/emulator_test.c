/* SPDX-License-Identifier: Apache-2.0 */
/* emulator_test: what the host's version of the primitives finds.
 *
 *     emulator_test emulator.cu -- COMPILER [OPTION...] */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 128 };

struct bench {
    struct emulated emu;
    unsigned number, failed;
    _Alignas(32) float x[THREADS + 8];
    _Alignas(32) float y[THREADS + 8];
};

static void
expect(struct bench *b, const char *what, bool ok)
{
    printf("%s %u - %s\n", ok ? "ok" : "not ok", ++b->number, what);
    if (!ok && b->emu.error)
        printf("# %s\n", b->emu.error());
    b->failed += !ok;
}

static int
launch(struct bench *b, const char *name, size_t smem, bool with_x)
{
    static const unsigned grid[3] = {1, 1, 1};
    void *x = b->x, *y = b->y;
    void *args[2] = {with_x ? &x : &y, &y};

    for (int i = 0; i < THREADS + 8; i++) {
        b->x[i] = (float)i;
        b->y[i] = -7;
    }
    return b->emu.launch(name, grid, THREADS, smem, args);
}

static bool
all_are(const struct bench *b, float v)
{
    for (int i = 0; i < THREADS; i++)
        if (b->y[i] != v)
            return false;
    return true;
}

static void
right_kernels(struct bench *b)
{
    bool ok = true;

    for (int order = 0; order < 2; order++) {
        b->emu.set_order(order);
        expect(b, "shuffles, shared memory and a barrier",
               launch(b, "total", 16, true) == FU_EMU_OK &&
                   all_are(b, 127 * 64));
        ok = launch(b, "groups", 512, false) == FU_EMU_OK;
        for (int i = 0; i < THREADS && ok; i++)
            ok = b->y[i] == (float)((i ^ 1) + 2 + i / 64);
        expect(b, "groups of threads with barriers of their own", ok);
    }
    b->emu.set_order(0);
}

static void
wrong_kernels(struct bench *b)
{
    expect(b, "an unknown kernel",
           launch(b, "nothing", 0, false) == FU_EMU_UNKNOWN_KERNEL);
    expect(b, "a barrier that not all reach",
           launch(b, "divergent", 0, false) == FU_EMU_DEADLOCK);
    expect(b, "and it says so",
           strstr(b->emu.error(), "divergent: block (0, "
                                  "0): 7 threads wait at "
                                  "a barrier") != NULL);
    expect(b, "a shuffle that a lane misses",
           launch(b, "lonely_shuffle", 0, false) == FU_EMU_DEADLOCK);
    expect(b, "a vector that isn't aligned",
           launch(b, "unaligned", 0, true) == FU_EMU_BAD_ACCESS);
    expect(b, "shared memory out of range",
           launch(b, "beyond_shared", 64, false) == FU_EMU_BAD_ACCESS);
    b->emu.allow(b->y, THREADS * sizeof(float));
    expect(b, "a store behind the tensor",
           launch(b, "outside", 0, false) == FU_EMU_BAD_ACCESS);
    expect(b, "a load of memory that isn't declared",
           launch(b, "total", 16, true) == FU_EMU_BAD_ACCESS);
    b->emu.forget_all();
    expect(b, "and nothing is checked when nothing is declared",
           launch(b, "outside", 0, false) == FU_EMU_OK);
}

static void
races(struct bench *b)
{
    float first[THREADS];

    launch(b, "racy", 512, false);
    memcpy(first, b->y, sizeof(first));
    b->emu.set_order(1);
    launch(b, "racy", 512, false);
    b->emu.set_order(0);
    expect(b, "a race shows in the other order",
           memcmp(first, b->y, sizeof(first)) != 0);
}

static void
grids(struct bench *b)
{
    static const unsigned grid[3] = {3, 2, 1}, none[3] = {3, 0, 1};
    int32_t y[6] = {-1, -1, -1, -1, -1, -1};
    int64_t n = 5;
    bool on = true, ok = true;
    void *p = y, *args[3] = {&p, &n, &on};

    ok = b->emu.launch("where_am_i", none, 32, 0, args) == FU_EMU_OK &&
         y[0] == -1;
    expect(b, "a grid with a 0 does nothing", ok);
    ok = b->emu.launch("where_am_i", grid, 32, 0, args) == FU_EMU_OK;
    for (int i = 0; i < 5; i++)
        ok &= y[i] == i % 3 + 100 * (i / 3);
    expect(b, "blocks, grids, integer and bool arguments", ok && y[5] == -1);
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct bench b = {.number = 0};
    const char *text;
    size_t len;

    if (argc < 4 || strcmp(argv[2], "--") != 0) {
        fprintf(stderr, "usage: emulator_test emulator.cu -- COMPILER "
                        "[OPTION...]\n");
        return EXIT_USAGE;
    }
    text = io_read(a, argv[1], &len);
    if (!text || !exec_build(a, (const char *const *)argv + 3, text, &b.emu)) {
        fprintf(stderr, "cannot build '%s'\n", argv[1]);
        return EXIT_ENVIRONMENT;
    }
    right_kernels(&b);
    wrong_kernels(&b);
    races(&b);
    grids(&b);
    printf("1..%u\n", b.number);
    exec_close(&b.emu);
    arena_free(a);
    return b.failed ? EXIT_INPUT : EXIT_OK;
}
