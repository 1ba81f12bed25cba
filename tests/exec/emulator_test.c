/* SPDX-License-Identifier: Apache-2.0 */
/* emulator_test: what the host's version of the primitives finds.
 *
 *     emulator_test emulator.cu -- COMPILER [OPTION...] */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 128 };

struct bench {
    struct arena *arena;
    struct emulation emu;
    const char *said;
    unsigned number, failed;
    _Alignas(32) float x[THREADS + 8];
    _Alignas(32) float y[THREADS + 8];
};

static void
expect(struct bench *b, const char *what, bool ok)
{
    printf("%s %u - %s\n", ok ? "ok" : "not ok", ++b->number, what);
    if (!ok && b->said)
        printf("# %s\n", b->said);
    b->failed += !ok;
}

/* The kind of the report, and its text in b->said. */
static enum fu_emu_kind
run(struct bench *b, const struct fu_emu_launch_info *info, void **args)
{
    struct buf why;

    buf_init(&why, b->arena);
    b->said = NULL;
    if (emulation_launch(&b->emu, info, args, &why))
        return FU_EMU_OK;
    b->said = buf_str(&why);
    return b->emu.last_report()->kind;
}

static enum fu_emu_kind
launch(struct bench *b, const char *name, size_t smem, bool with_x)
{
    const struct fu_emu_launch_info info = {
        .symbol = name, .grid = {1, 1, 1}, .block = THREADS, .smem = smem};
    void *x = b->x, *y = b->y;
    void *args[2] = {with_x ? &x : &y, &y};

    for (int i = 0; i < THREADS + 8; i++) {
        b->x[i] = (float)i;
        b->y[i] = -7;
    }
    return run(b, &info, args);
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
        for (int i = 0; i < THREADS && ok; i++) {
            int want = (i ^ 1) + 2 + i / 64;

            ok = b->y[i] == (float)want;
        }
        expect(b, "groups of threads with barriers of their own", ok);
    }
    b->emu.set_order(0);
}

static void
declare(struct bench *b, const char *name, void *base, enum fu_emu_role role)
{
    const struct fu_emu_buffer buffer = {.name = name,
                                         .base = base,
                                         .bytes = THREADS * sizeof(float),
                                         .role = role,
                                         .element = sizeof(float)};

    b->emu.declare(&buffer);
}

static void
wrong_kernels(struct bench *b)
{
    expect(b, "an unknown kernel",
           launch(b, "nothing", 0, false) == FU_EMU_UNKNOWN_KERNEL);
    expect(b, "a barrier that not all reach",
           launch(b, "divergent", 0, false) == FU_EMU_DIVERGENT);
    expect(b, "and it says so",
           strstr(b->said, "divergent: divergent: 7 threads wait at barrier 0 "
                           "(line 40), the first is block 0 thread 0; 121 have "
                           "ended") != NULL);
    expect(b, "a shuffle that a lane misses",
           launch(b, "lonely_shuffle", 0, false) == FU_EMU_DIVERGENT);
    expect(b, "a vector that isn't aligned",
           launch(b, "unaligned", 0, true) == FU_EMU_MISALIGNED);
    expect(b, "shared memory out of range",
           launch(b, "beyond_shared", 64, false) == FU_EMU_SHARED_RANGE);
    expect(b, "a shared race",
           launch(b, "racy", 512, false) == FU_EMU_SHARED_RACE);
    declare(b, "y", b->y, FU_EMU_OUTPUT);
    expect(b, "a store behind the tensor",
           launch(b, "outside", 0, false) == FU_EMU_OUT_OF_BOUNDS);
    expect(b, "and one from a condition that a thread waits for",
           launch(b, "asks", 0, false) == FU_EMU_OUT_OF_BOUNDS);
    expect(b, "a wait for what never comes, by its name",
           launch(b, "waits", 0, false) == FU_EMU_DEADLOCK &&
               strstr(b->said, "1 threads wait for an answer"));
    expect(b, "a load of memory that isn't declared",
           launch(b, "total", 16, true) == FU_EMU_OUT_OF_BOUNDS);
    b->emu.forget_all();
    expect(b, "and nothing is checked when nothing is declared",
           launch(b, "outside", 0, false) == FU_EMU_OK);
}

static void
grids(struct bench *b)
{
    struct fu_emu_launch_info info = {
        .symbol = "where_am_i", .grid = {3, 0, 1}, .block = 32};
    int32_t y[6] = {-1, -1, -1, -1, -1, -1};
    int64_t n = 5;
    bool on = true, ok = true;
    void *p = y, *args[3] = {&p, &n, &on};

    ok = run(b, &info, args) == FU_EMU_OK && y[0] == -1;
    expect(b, "a grid with a 0 does nothing", ok);
    info.grid[1] = 2;
    ok = run(b, &info, args) == FU_EMU_OK;
    for (int i = 0; i < 5; i++)
        ok &= y[i] == i % 3 + 100 * (i / 3);
    expect(b, "blocks, grids, integer and bool arguments", ok && y[5] == -1);
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct bench b = {.arena = a};
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
    grids(&b);
    printf("1..%u\n", b.number);
    emulation_close(&b.emu);
    arena_free(a);
    return b.failed ? EXIT_INPUT : EXIT_OK;
}
