/* SPDX-License-Identifier: Apache-2.0 */
/* races: is a race reported if and only if there is one? Random tables of
 * accesses to shared memory, barriers of the block, of warps and of a group,
 * and signals from thread to thread; the emulation's answer against that of
 * vector clocks kept the plain way, one a thread, and a look at all pairs of
 * accesses.
 *
 *     races races.cu -- COMPILER [OPTION...] */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 96, STEPS = 12, TABLES = 400, SMEM = 32 };
enum what { NONE, READ, WRITE, BLOCK, WARP, GROUP, RELEASE, ACQUIRE };

struct race_op {
    unsigned char what, offset, bytes, object;
};

struct touch {
    unsigned thread, when;
    struct race_op op;
};

struct oracle {
    struct race_op ops[THREADS][STEPS];
    unsigned knows[THREADS][THREADS]; /* [t][u]: steps of u that t knows of */
    unsigned object[STEPS][THREADS];
    struct touch all[THREADS * STEPS];
    unsigned n;
    bool race;
    uint64_t state;
};

static unsigned
draw(struct oracle *o, unsigned below)
{
    o->state = o->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(o->state >> 33) % below;
}

/* --- Tables --------------------------------------------------------------- */

static void
all_do(struct oracle *o, int step, unsigned n, enum what what)
{
    for (unsigned t = 0; t < n; t++)
        o->ops[t][step].what = (unsigned char)what;
}

static void
some_access(struct oracle *o, int step)
{
    unsigned rarity = 1u << draw(o, 6);
    bool writes = draw(o, 3) == 0;

    for (unsigned t = 0; t < THREADS; t++) {
        unsigned bytes = 1u << draw(o, 4);

        if (draw(o, rarity) != 0)
            continue;
        o->ops[t][step] = (struct race_op){
            .what = writes && draw(o, 8) == 0 ? WRITE : READ,
            .bytes = (unsigned char)bytes,
            .offset = (unsigned char)(draw(o, SMEM / bytes) * bytes)};
    }
}

/* A thread signals, some others wait for it. */
static void
draw_signal(struct oracle *o, int step)
{
    unsigned from = draw(o, THREADS);

    for (unsigned t = 0; t < THREADS; t++)
        if (t == from || draw(o, 4) == 0)
            o->ops[t][step] =
                (struct race_op){.what = t == from ? RELEASE : ACQUIRE,
                                 .object = (unsigned char)step};
}

static void
draw_table(struct oracle *o, uint64_t seed)
{
    memset(o, 0, sizeof(*o));
    o->state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int step = 0; step < STEPS; step++) {
        unsigned kind = draw(o, 10);

        if (kind < 5)
            some_access(o, step);
        else if (kind == 5)
            draw_signal(o, step);
        else if (kind == 6)
            all_do(o, step, 64, GROUP);
        else if (kind == 7)
            all_do(o, step, THREADS, WARP);
        else
            all_do(o, step, THREADS, BLOCK);
    }
}

/* --- The plain way -------------------------------------------------------- */

static void
learn(unsigned *to, const unsigned *from)
{
    for (unsigned u = 0; u < THREADS; u++)
        to[u] = MAX(to[u], from[u]);
}

static void
meet(struct oracle *o, unsigned from, unsigned n)
{
    unsigned all[THREADS] = {0};

    for (unsigned t = from; t < from + n; t++)
        learn(all, o->knows[t]);
    for (unsigned t = from; t < from + n; t++) {
        memcpy(o->knows[t], all, sizeof(all));
        o->knows[t][t]++;
    }
}

static void
note(struct oracle *o, unsigned thread, struct race_op op)
{
    struct touch a = {thread, o->knows[thread][thread], op};

    for (unsigned i = 0; i < o->n; i++) {
        const struct touch *b = &o->all[i];
        bool apart = b->op.offset + b->op.bytes <= op.offset ||
                     op.offset + op.bytes <= b->op.offset;

        if (b->thread != thread && !apart &&
            (b->op.what == WRITE || op.what == WRITE) &&
            o->knows[thread][b->thread] < b->when)
            o->race = true;
    }
    o->all[o->n++] = a;
}

/* Signals of a step come before those who wait for them. */
static void
run_signals(struct oracle *o, int step)
{
    for (unsigned t = 0; t < THREADS; t++)
        if (o->ops[t][step].what == RELEASE) {
            learn(o->object[step], o->knows[t]);
            o->knows[t][t]++;
        }
    for (unsigned t = 0; t < THREADS; t++)
        if (o->ops[t][step].what == ACQUIRE)
            learn(o->knows[t], o->object[step]);
}

static void
run_plain(struct oracle *o)
{
    for (unsigned t = 0; t < THREADS; t++)
        o->knows[t][t] = 1;
    for (int step = 0; step < STEPS; step++) {
        enum what what = o->ops[0][step].what;

        if (what == BLOCK)
            meet(o, 0, THREADS);
        else if (what == GROUP)
            meet(o, 0, 64);
        else if (what == WARP)
            for (unsigned t = 0; t < THREADS; t += 32)
                meet(o, t, 32);
        for (unsigned t = 0; t < THREADS; t++)
            if (o->ops[t][step].what == READ || o->ops[t][step].what == WRITE)
                note(o, t, o->ops[t][step]);
        run_signals(o, step);
    }
}

/* --- The emulation -------------------------------------------------------- */

static bool
is_race(const struct emulation *e, struct oracle *o, struct arena *a, int order)
{
    const struct fu_emu_launch_info info = {
        .symbol = "table", .grid = {1, 1, 1}, .block = THREADS, .smem = SMEM};
    void *ops = o->ops;
    int steps = STEPS;
    void *args[] = {&ops, &steps};
    struct buf why;

    buf_init(&why, a);
    e->set_order(order);
    if (emulation_launch(e, &info, args, &why))
        return false;
    if (e->last_report()->kind == FU_EMU_SHARED_RACE)
        return true;
    printf("# %s\n", buf_str(&why));
    exit(EXIT_INPUT);
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct oracle *o = NEW(a, struct oracle);
    struct emulation e;
    unsigned races = 0, wrong = 0;
    size_t len;
    const char *text = argc > 3 ? io_read(a, argv[1], &len) : NULL;

    if (!text || !exec_build(a, (const char *const *)argv + 3, text, &e)) {
        fprintf(stderr, "usage: races races.cu -- COMPILER [OPTION...]\n");
        return EXIT_USAGE;
    }
    for (unsigned seed = 0; seed < TABLES; seed++) {
        draw_table(o, seed);
        run_plain(o);
        races += o->race;
        for (int order = 0; order < 2; order++)
            if (is_race(&e, o, a, order) != o->race) {
                printf("# table %u, order %d: %s\n", seed, order,
                       o->race ? "a race is missed" : "a race is made up");
                wrong++;
            }
    }
    printf("%s 1 - %u tables, %u with a race: the emulation agrees\n",
           wrong ? "not ok" : "ok", TABLES, races);
    printf("%s 2 - enough of either kind\n1..2\n",
           races > TABLES / 5 && races < TABLES * 4 / 5 ? "ok" : "not ok");
    emulation_close(&e);
    arena_free(a);
    return wrong ? EXIT_INPUT : EXIT_OK;
}
