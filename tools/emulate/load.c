/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "support/base.h"

#include "tools/emulate/emulate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/buf.h"

/* Locals begin as a pattern, local arrays check their indices (without the
 * sanitizer's runtime: fu_local.h has the handlers), return addresses stand in
 * the kernels' own lines. */
const char *const emulation_flags[] = {
    "-std=c++17",
    "-O1",
    "-g1",
    "-w",
    "-shared",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-optimize-sibling-calls",
    "-DFU_EMULATE",
    "-nodefaultlibs",
    "-Wl,-Bsymbolic",
    "-fsanitize=bounds",
    "-ftrivial-auto-var-init=pattern",
    NULL,
};
const char *const emulation_libraries[] = {"-lm", "-lc", "-lgcc", NULL};

static bool
find_symbols(struct emulation *e)
{
    struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"fu_emu_launch", &e->launch},
        {"fu_emu_last_report", &e->last_report},
        {"fu_emu_suspect", &e->suspect},
        {"fu_emu_harmless", &e->harmless},
        {"fu_emu_declare", &e->declare},
        {"fu_emu_forget_all", &e->forget_all},
        {"fu_emu_finish", &e->finish},
        {"fu_emu_set_order", &e->set_order},
        {"fu_emu_kernel", &e->kernel},
        {"fu_emu_count", &e->count},
    };

    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *p = dlsym(e->library, symbols[i].name);
        if (!p)
            return false;
        memcpy(symbols[i].to, &p, sizeof(p));
    }
    return true;
}

bool
emulation_open(struct emulation *e, const char *path, struct buf *why)
{
    *e = (struct emulation){.file = open(path, O_RDONLY)};
    if (e->file >= 0)
        e->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (e->library && find_symbols(e))
        return true;
    if (e->file < 0)
        buf_printf(why, "cannot open '%s': %s", path, strerror(errno));
    else if (!e->library)
        buf_puts(why, dlerror());
    else
        buf_puts(why, "the emulation exports no fu_emu_launch");
    emulation_close(e);
    return false;
}

void
emulation_close(struct emulation *e)
{
    if (e->library)
        dlclose(e->library);
    if (e->file >= 0)
        close(e->file);
    *e = (struct emulation){.file = -1};
}

/* --- Reports -------------------------------------------------------------- */

const char *
emulation_kind_name(enum fu_emu_kind kind)
{
#define NAME_(id, name, what) name,
    static const char *const names[] = {FU_EMU_KINDS(NAME_)};
#undef NAME_

    return names[kind];
}

static void
put_line(struct buf *b, unsigned line)
{
    if (line)
        buf_printf(b, "line %u", line);
    else
        buf_puts(b, "line unknown");
}

static void
put_report(const struct fu_emu_report *r, const unsigned *lines,
           const char *file, struct buf *b)
{
    const char *text = r->text;

    if (lines[0])
        buf_printf(b, "%s:%u: ", file, lines[0]);
    else if (r->pc[0])
        buf_puts(b, "line unknown: ");
    buf_printf(b, "%s: ", emulation_kind_name(r->kind));
    while (*text) {
        size_t n = strcspn(text, "{");

        buf_write(b, text, n);
        text += n;
        if (text[0] && text[1] >= '1' && text[1] <= '4' && text[2] == '}') {
            put_line(b, lines[text[1] - '1']);
            text += 3;
        } else if (*text) {
            buf_putc(b, *text++);
        }
    }
}

static void
describe(const struct emulation *e, const struct fu_emu_report *r,
         struct buf *why)
{
    unsigned lines[EMULATION_PLACES];
    char file[256];

    emulation_lines(e, r->pc, lines, file, sizeof(file));
    put_report(r, lines, file, why);
}

/* Reports that hold only when their two lines differ. */
static bool
no_suspects(const struct emulation *e, struct buf *why)
{
    const struct fu_emu_report *r;

    while ((r = e->suspect()) != NULL) {
        unsigned lines[EMULATION_PLACES];
        char file[256];

        emulation_lines(e, r->pc, lines, file, sizeof(file));
        if (lines[0] && lines[1] && lines[0] != lines[1]) {
            put_report(r, lines, file, why);
            return false;
        }
        e->harmless(r);
    }
    return true;
}

bool
emulation_launch(const struct emulation *e, const struct fu_emu_launch_info *l,
                 void **args, struct buf *why)
{
    if (e->launch(l, args) == FU_EMU_OK)
        return no_suspects(e, why);
    describe(e, e->last_report(), why);
    return false;
}

bool
emulation_finish(const struct emulation *e, struct buf *why)
{
    if (e->finish() == FU_EMU_OK)
        return true;
    describe(e, e->last_report(), why);
    return false;
}

unsigned
emulation_blocks_per_sm(unsigned threads, size_t smem)
{
    enum { THREADS = 2048, BLOCKS = 32, SMEM = 228 * 1024, RESERVED = 1024 };
    size_t by_threads = threads ? THREADS / threads : 0;
    size_t by_smem = SMEM / (smem + RESERVED);

    return (unsigned)MIN(MIN(by_threads, by_smem), BLOCKS);
}

/* --- Memory --------------------------------------------------------------- */

/* An access that misses a buffer by less touches no other. */
enum { GUARD = 1 << 20, PAGE = 4096 };

static size_t
rounded(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *
emulation_map(size_t bytes)
{
    size_t inner = rounded(bytes + !bytes);
    char *p;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    p = mmap(NULL, inner + 2 * GUARD, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (mprotect(p + GUARD, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(p, inner + 2 * GUARD);
        return NULL;
    }
    return p + GUARD;
}

void
emulation_unmap(void *p, size_t bytes)
{
    munmap((char *)p - GUARD, rounded(bytes + !bytes) + 2 * GUARD);
}
