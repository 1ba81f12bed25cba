/* SPDX-License-Identifier: Apache-2.0 */
/* planted: kernels with one bug each, and what the emulation must say of them;
 * and the same kernels without the bug, of which it must say nothing.
 * planted/README.md describes the comments in the files.
 *
 *     planted FILE.cu... -- COMPILER [OPTION...]
 *
 * COMPILER is called as for exec. */
#include "support/base.h"

#include "exec.h"

#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"
#include "support/vec.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 8, MAX_LAUNCHES = 4, MAX_TEXT = 128 };

struct buffer {
    struct fu_emu_buffer b;
    int64_t shape[4], strides[4];
};

struct planted {
    struct arena *arena;
    const char *path;
    unsigned at; /* its line in the file */
    struct fu_emu_launch_info launches[MAX_LAUNCHES];
    unsigned n_launches;
    struct buffer buffers[MAX_BUFFERS];
    unsigned n_buffers;
    char kind[MAX_TEXT]; /* of the report; "" for none */
    unsigned bug, other; /* lines of the code marked so, or 0 */
};

typedef VEC(struct planted) planted_vec;

static void
bad_line(const struct planted *p, unsigned line, const char *what)
{
    fprintf(stderr, "%s:%u: %s\n", p->path, line, what);
    exit(EXIT_USAGE);
}

/* --- Reading the comments ------------------------------------------------- */

static void
read_word(struct planted *p, struct fu_emu_launch_info *l, const char *word)
{
    static const char *const names[] = {"block", "smem", "cluster", "sms",
                                        "per_sm"};
    unsigned value[ARRAY_LEN(names)] = {l->block, (unsigned)l->smem, l->cluster,
                                        l->sms, l->blocks_per_sm};

    if (strcmp(word, "cooperative") == 0) {
        l->cooperative = 1;
    } else if (strcmp(word, "pdl") == 0) {
        l->pdl = 1;
    } else if (sscanf(word, "grid=%ux%u", &l->grid[0], &l->grid[1]) < 1) {
        const char *equals = strchr(word, '=');
        size_t i = 0, n = equals ? (size_t)(equals - word) : 0;

        while (i < ARRAY_LEN(names) &&
               (strlen(names[i]) != n || strncmp(names[i], word, n) != 0))
            i++;
        if (i == ARRAY_LEN(names))
            bad_line(p, p->at, "an unknown word of a launch");
        value[i] = (unsigned)strtoul(equals + 1, NULL, 10);
    }
    l->block = value[0];
    l->smem = value[1];
    l->cluster = value[2];
    l->sms = value[3];
    l->blocks_per_sm = value[4];
}

/* "KERNEL grid=2 block=64 smem=128 pdl" */
static void
read_launch(struct planted *p, const char *text)
{
    char *copy = arena_strdup(p->arena, text), *rest, *word;
    struct fu_emu_launch_info *l = &p->launches[p->n_launches];

    if (p->n_launches == MAX_LAUNCHES)
        bad_line(p, p->at, "too many launches");
    *l = (struct fu_emu_launch_info){
        .grid = {1, 1, 1}, .block = 32, .sms = 4, .blocks_per_sm = 2};
    p->n_launches++;
    l->symbol = strtok_r(copy, " ", &rest);
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
        read_word(p, l, word);
}

static unsigned
element_bytes(const char *type)
{
    unsigned bits =
        (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10);

    return bits / 8;
}

/* "y f32[4,8] strides 10,1", from behind the role */
static void
read_buffer(struct planted *p, enum fu_emu_role role, const char *text)
{
    struct buffer *b = &p->buffers[p->n_buffers];
    char name[32], type[16], shape[64], strides[64] = "", *at;
    int64_t extent = 1;

    if (p->n_buffers++ == MAX_BUFFERS ||
        sscanf(text, "%31s %15[a-z0-9][%63[0-9,]] strides %63[0-9,]", name,
               type, shape, strides) < 3)
        bad_line(p, p->at, "a buffer that can't be read");
    b->b = (struct fu_emu_buffer){.name = arena_strdup(p->arena, name),
                                  .role = role,
                                  .element = element_bytes(type)};
    for (at = shape; *at; at += *at == ',')
        b->shape[b->b.rank++] = strtoll(at, &at, 10);
    for (int d = b->b.rank - 1; d >= 0; d--) {
        b->strides[d] = extent;
        extent *= b->shape[d];
    }
    at = strides;
    for (int d = 0; *at; at += *at == ',', d++)
        b->strides[d] = strtoll(at, &at, 10);
    extent = 1;
    for (int d = 0; d < b->b.rank; d++)
        extent += (b->shape[d] - 1) * b->strides[d];
    b->b.bytes = (size_t)extent * b->b.element;
}

static const char *
behind(const char *line, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(line, prefix, n) == 0 ? line + n : NULL;
}

static void
read_case_line(struct planted *p, const char *line, unsigned number)
{
    static const struct {
        const char *prefix;
        enum fu_emu_role role;
    } roles[] = {{"// in ", FU_EMU_INPUT},
                 {"// out ", FU_EMU_OUTPUT},
                 {"// in-place ", FU_EMU_IN_PLACE},
                 {"// work ", FU_EMU_WORKSPACE},
                 {"// word ", FU_EMU_ZEROED}};
    const char *rest;

    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if ((rest = behind(line, roles[i].prefix)) != NULL)
            read_buffer(p, roles[i].role, rest);
    if ((rest = behind(line, "// THEN ")) != NULL)
        read_launch(p, rest);
    if ((rest = behind(line, "// REPORT ")) != NULL)
        snprintf(p->kind, sizeof(p->kind), "%s", rest);
    if (!p->bug && strstr(line, "// BUG"))
        p->bug = number;
    if (!p->other && strstr(line, "// OTHER"))
        p->other = number;
}

static void
read_cases(struct arena *a, const char *path, const char *text,
           planted_vec *ret)
{
    char *copy = arena_strdup(a, text), *line = copy;

    for (unsigned number = 1; line; number++) {
        char *end = strchr(line, '\n');
        const char *rest;

        if (end)
            *end = '\0';
        if ((rest = behind(line, "// CASE ")) != NULL) {
            struct planted p = {.arena = a, .path = path, .at = number};

            read_launch(&p, rest);
            VEC_PUSH(a, ret, p);
        } else if (ret->n) {
            read_case_line(&ret->v[ret->n - 1], line, number);
        }
        line = end ? end + 1 : NULL;
    }
}

/* --- Running -------------------------------------------------------------- */

/* Floats and integers alike: 1, 2, 3, 4, 1, ... as small integers. */
static void
fill(struct fu_emu_buffer *b)
{
    unsigned char *p = b->base;

    memset(p, b->role == FU_EMU_ZEROED ? 0 : 0xff, b->bytes);
    if (b->role != FU_EMU_INPUT && b->role != FU_EMU_IN_PLACE)
        return;
    for (size_t i = 0; i < b->bytes / b->element; i++) {
        float f = (float)(i % 4 + 1);

        memset(p + i * b->element, 0, b->element);
        memcpy(p + i * b->element, &f, MIN(b->element, sizeof(f)));
    }
}

static void
declare(struct planted *p, const struct emulation *e)
{
    e->forget_all();
    for (unsigned i = 0; i < p->n_buffers; i++) {
        struct buffer *b = &p->buffers[i];

        b->b.shape = b->shape;
        b->b.strides = b->strides;
        b->b.base = emulation_map(b->b.bytes);
        if (!b->b.base)
            bad_line(p, p->at, "no memory");
        fill(&b->b);
        e->declare(&b->b);
    }
}

static void
run(struct planted *p, const struct emulation *e, struct buf *said)
{
    void *pointers[MAX_BUFFERS], *args[MAX_BUFFERS];
    bool ok = true;

    declare(p, e);
    for (unsigned i = 0; i < p->n_buffers; i++) {
        pointers[i] = p->buffers[i].b.base;
        args[i] = &pointers[i];
    }
    for (unsigned i = 0; i < p->n_launches && ok; i++)
        ok = emulation_launch(e, &p->launches[i], args, said);
    if (ok)
        emulation_finish(e, said);
    e->forget_all();
    for (unsigned i = 0; i < p->n_buffers; i++)
        emulation_unmap(p->buffers[i].b.base, p->buffers[i].b.bytes);
}

/* "kernels.cu:12: KIND: ..." with that line and, for a race, the other's. */
static bool
is_expected(const struct planted *p, const char *said)
{
    char head[2 * MAX_TEXT], other[32];

    if (p->kind[0] == '\0' || said[0] == '\0')
        return p->kind[0] == said[0];
    if (p->bug)
        snprintf(head, sizeof(head), "kernels.cu:%u: %s: ", p->bug, p->kind);
    else
        snprintf(head, sizeof(head), "%s: ", p->kind);
    snprintf(other, sizeof(other), "line %u", p->other);
    return strncmp(said, head, strlen(head)) == 0 &&
           (!p->other || strstr(said, other));
}

static unsigned
run_case(struct planted *p, const struct emulation *e, unsigned number)
{
    const char *base = strrchr(p->path, '/');
    const char *said[2];
    bool ok = true;

    for (int order = 0; order < 2; order++) {
        struct buf b;

        buf_init(&b, p->arena);
        e->set_order(order);
        run(p, e, &b);
        said[order] = buf_str(&b);
        ok &= is_expected(p, said[order]) ||
              (p->kind[0] && order == 1 && said[1][0]);
    }
    printf("%s %u - %s:%u %s: %s\n", ok ? "ok" : "not ok", number,
           base ? base + 1 : p->path, p->at, p->launches[0].symbol,
           p->kind[0] ? p->kind : "nothing to report");
    for (int order = 0; order < 2 && !ok; order++)
        printf("# %s\n", said[order]);
    return !ok;
}

static unsigned
run_file(struct arena *a, const char *path, const char *const *compiler,
         unsigned *number)
{
    struct emulation e;
    planted_vec cases = {0};
    unsigned failed = 0;
    size_t len;
    const char *text = io_read(a, path, &len);

    if (!text || !exec_build(a, compiler, text, &e)) {
        printf("not ok %u - %s: no library\n", ++*number, path);
        return 1;
    }
    read_cases(a, path, text, &cases);
    if (!cases.n)
        printf("not ok %u - %s: no case\n", ++*number, path);
    for (uint32_t i = 0; i < cases.n; i++)
        failed += run_case(&cases.v[i], &e, ++*number);
    emulation_close(&e);
    return failed + !cases.n;
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    unsigned number = 0, failed = 0;
    int split = 1;

    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split + 1 >= argc) {
        fprintf(stderr, "usage: planted FILE.cu... -- COMPILER [OPTION...]\n");
        return EXIT_USAGE;
    }
    for (int i = 1; i < split; i++)
        failed += run_file(a, argv[i], (const char *const *)argv + split + 1,
                           &number);
    printf("1..%u\n", number);
    arena_free(a);
    return failed || !number ? EXIT_INPUT : EXIT_OK;
}
