/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation: the generated .cu, compiled by the host's C++ compiler against
 * the host versions of the primitives, which this program carries inside and
 * writes into a temporary folder. */
#include "support/base.h"

#include "tools/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/templates.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/sha256.h"
#include "support/vec.h"
#include "tools/emulate/emulate.h"
#include "tools/launch/module.h"

enum { SMS = 4 };

struct block {
    void *memory;
    size_t bytes;
};

struct cpu {
    struct arena *arena;
    struct emulation emu;
    VEC(struct block) blocks;
};

/* --- Building ------------------------------------------------------------- */

static int
write_file(const char *path, const char *text, size_t len,
           const struct message *msg)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(text, 1, len, f) == len;

    if (f && fclose(f) != 0)
        ok = false;
    return ok ? FUSEC_OK
              : message_set(msg, FUSEC_BAD_FILE, "cannot write '%s': %s", path,
                            strerror(errno));
}

static int
write_templates(struct arena *a, const char *dir, const struct embedded *rows,
                unsigned n, const struct message *msg)
{
    int status = FUSEC_OK;

    for (unsigned i = 0; i < n && !status; i++)
        status = write_file(arena_printf(a, "%s/%s", dir, rows[i].name),
                            rows[i].text, rows[i].len, msg);
    return status;
}

/* Runs the compiler with its messages in dir/log. */
static int
compile(char *const *argv, const char *log, const struct message *msg)
{
    int state = 0;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0) {
            dup2(fd, STDOUT_FILENO);
            dup2(fd, STDERR_FILENO);
        }
        execvp(argv[0], argv);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0 || !WIFEXITED(state))
        return message_set(msg, FUSEC_BAD_FILE, "cannot run '%s'", argv[0]);
    if (WEXITSTATUS(state) == 127)
        return message_set(msg, FUSEC_BAD_FILE,
                           "--emulate needs a C++ compiler; '%s' cannot be "
                           "run (set CXX or --cxx)",
                           argv[0]);
    return WEXITSTATUS(state);
}

static void
show_log(const char *log)
{
    size_t len;
    char *text = module_read_file(log, &len);

    if (text)
        fputs(text, stderr);
    free(text);
}

enum { MAX_ARGS = 32 };

static void
add_words(struct arena *a, char **argv, uint32_t *n, const char *const *words)
{
    for (; *words; words++) {
        assert(*n < MAX_ARGS - 1);
        argv[(*n)++] = arena_strdup(a, *words);
    }
}

/* Compilers that don't know the last flags do without them. */
static int
build(struct arena *a, const struct options *o, const char *cu, const char *dir,
      const char *so, const struct message *msg)
{
    const char *cxx = o->cxx ? o->cxx : getenv("CXX");
    char *log = arena_printf(a, "%s/log", dir);
    const char *const head[] = {
        cxx && *cxx ? cxx : "c++", "-I", dir, "-x", "c++", cu, "-o", so, NULL};
    char *argv[MAX_ARGS] = {NULL};
    uint32_t n = 0;
    int status;

    add_words(a, argv, &n, head);
    add_words(a, argv, &n, emulation_libraries);
    add_words(a, argv, &n, emulation_flags);
    status = compile(argv, log, msg);
    if (status > 0 && status < 127) {
        argv[n - 1] = NULL;
        status = compile(argv, log, msg);
    }
    if (status == FUSEC_OK)
        return FUSEC_OK;
    show_log(log);
    return message_set(msg, FUSEC_BAD_FILE, "'%s' did not compile for the CPU",
                       cu);
}

static void
remove_folder(struct arena *a, const char *dir)
{
    for (unsigned i = 0; i < cuda_templates_count; i++)
        unlink(arena_printf(a, "%s/%s", dir, cuda_templates[i].name));
    for (unsigned i = 0; i < host_templates_count; i++)
        unlink(arena_printf(a, "%s/%s", dir, host_templates[i].name));
    unlink(arena_printf(a, "%s/log", dir));
    unlink(arena_printf(a, "%s/out.so", dir));
    rmdir(dir);
}

static int
check_hash(const struct session *s, const char *cu, const struct message *msg)
{
    size_t len;
    char *text = module_read_file(cu, &len), hex[65];

    if (!text)
        return message_set(msg, FUSEC_BAD_FILE, "cannot read '%s': %s", cu,
                           strerror(errno));
    sha256_hex(text, len, hex);
    free(text);
    if (strcmp(hex, s->manifest->cuda_sha256) != 0)
        return message_set(msg, FUSEC_BAD_HASH,
                           "'%s' is not the file that its manifest was "
                           "written with",
                           cu);
    return FUSEC_OK;
}

/* --- The library ---------------------------------------------------------- */

static int
load_library(struct cpu *c, const char *so, const struct message *msg)
{
    struct buf why;

    buf_init(&why, c->arena);
    if (emulation_open(&c->emu, so, &why))
        return FUSEC_OK;
    return message_set(msg, FUSEC_BAD_FILE, "%s", buf_str(&why));
}

static int
build_and_load(struct cpu *c, struct session *s, const struct message *msg)
{
    struct arena *a = s->arena;
    const char *tmp = getenv("TMPDIR");
    char *dir =
        arena_printf(a, "%s/fusec-run.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char *cu = module_sibling(s->o->manifest, ".cu");
    char *so;
    int status = cu ? check_hash(s, cu, msg) : FUSEC_NO_MEMORY;

    if (!status && !mkdtemp(dir))
        status = message_set(msg, FUSEC_BAD_FILE, "cannot make '%s': %s", dir,
                             strerror(errno));
    if (status) {
        free(cu);
        return status;
    }
    so = arena_printf(a, "%s/out.so", dir);
    if (!(status = write_templates(a, dir, cuda_templates, cuda_templates_count,
                                   msg)) &&
        !(status = write_templates(a, dir, host_templates, host_templates_count,
                                   msg)) &&
        !(status = build(a, s->o, cu, dir, so, msg)))
        status = load_library(c, so, msg);
    remove_folder(a, dir);
    free(cu);
    return status;
}

/* --- The machine ---------------------------------------------------------- */

static struct fu_emu_launch_info
describe_call(const struct call *call, unsigned sms)
{
    const struct m_launch *l = call->l;
    struct fu_emu_launch_info r = {
        .symbol = l->symbol,
        .block = (unsigned)(l->block[0] * l->block[1] * l->block[2]),
        .smem = call->smem_bytes,
        .cluster = (unsigned)(l->cluster[0] * l->cluster[1] * l->cluster[2]),
        .cooperative = l->cooperative,
        .pdl = l->pdl,
        .sms = sms};

    memcpy(r.grid, call->grid, sizeof(r.grid));
    r.blocks_per_sm = emulation_blocks_per_sm(r.block, r.smem);
    return r;
}

static int
cpu_launch(void *data, const struct call *call, void *stream,
           const struct message *msg)
{
    struct cpu *c = data;
    struct fu_emu_launch_info info = describe_call(call, SMS);
    struct buf why;

    (void)stream;
    buf_init(&why, c->arena);
    if (emulation_launch(&c->emu, &info, call->args, &why))
        return FUSEC_OK;
    return message_set(msg, FUSEC_DRIVER_FAILED, "%s", buf_str(&why));
}

static bool
cpu_resident(void *data, const struct call *call)
{
    struct fu_emu_launch_info info = describe_call(call, SMS);

    (void)data;
    return (uint64_t)info.grid[0] * info.grid[1] * info.grid[2] <=
           (uint64_t)info.sms * info.blocks_per_sm;
}

static int
cpu_clear(void *data, void *memory, size_t bytes, void *stream,
          const struct message *msg)
{
    (void)data;
    (void)stream;
    (void)msg;
    memset(memory, 0, bytes);
    return FUSEC_OK;
}

static void *
cpu_alloc(struct machine *m, size_t bytes)
{
    struct cpu *c = m->data;
    struct block b = {emulation_map(bytes), bytes};

    if (!b.memory)
        return NULL;
    memset(b.memory, 0xff, bytes);
    VEC_PUSH(c->arena, &c->blocks, b);
    return b.memory;
}

static void
cpu_release(struct machine *m)
{
    struct cpu *c = m->data;

    for (uint32_t i = 0; i < c->blocks.n; i++)
        emulation_unmap(c->blocks.v[i].memory, c->blocks.v[i].bytes);
    c->blocks.n = 0;
    c->emu.forget_all();
}

static void
declare(struct cpu *c, const struct session *s, const struct placed *p,
        uint32_t i)
{
    const struct m_param *q = &s->f->params[i];
    struct fu_emu_buffer b = {
        .name = q->pub.name,
        .base = p->args[i].data,
        .bytes = s->bytes[i],
        .role = session_is_output(s, i) ? FU_EMU_OUTPUT : FU_EMU_INPUT,
        .element = (unsigned)match_dtype_bytes(q->pub.dtype),
        .rank = q->pub.ndim,
        .shape = s->tensors[i].shape,
        .strides = s->tensors[i].strides};

    for (uint32_t k = 0; p->in_place && k < s->f->n_params; k++)
        if (s->f->params[k].inplace == (int)i)
            b.role = FU_EMU_IN_PLACE;
    if (q->pub.role <= FUSEC_OUTPUT && !(p->in_place && q->inplace >= 0))
        c->emu.declare(&b);
}

static int
declare_workspace(struct cpu *c, const struct session *s,
                  const struct placed *p, const struct message *msg)
{
    uint32_t n = s->f->n_workspace;
    size_t *offsets = NEW_ARRAY(c->arena, size_t, n + 1), need;
    int status = match_workspace(&p->match, offsets, &need, msg);

    for (uint32_t i = 0; i < n && !status; i++) {
        const struct m_workspace *w = &s->f->workspace[i];
        struct fu_emu_buffer b = {.name = w->name,
                                  .base = (char *)p->workspace + offsets[i],
                                  .role = w->zero ? FU_EMU_ZEROED
                                                  : FU_EMU_WORKSPACE,
                                  .element = 4};
        int64_t bytes;

        if (!match_eval(&p->match, &w->bytes, &bytes))
            return message_set(msg, FUSEC_MISMATCH, "'%s' has no size",
                               w->name);
        b.bytes = (size_t)bytes;
        c->emu.declare(&b);
    }
    return status;
}

/* Every run begins with buffers of which nothing is known. */
static int
cpu_begin(struct machine *m, const struct session *s, const struct placed *p,
          const struct message *msg)
{
    struct cpu *c = m->data;

    c->emu.forget_all();
    for (uint32_t i = 0; i < s->f->n_params; i++)
        declare(c, s, p, i);
    return declare_workspace(c, s, p, msg);
}

static int
cpu_end(struct machine *m, const struct message *msg)
{
    struct cpu *c = m->data;
    struct buf why;

    buf_init(&why, c->arena);
    if (emulation_finish(&c->emu, &why))
        return FUSEC_OK;
    return message_set(msg, FUSEC_DRIVER_FAILED, "%s", buf_str(&why));
}

static int
cpu_copy(struct machine *m, void *to, const void *from, size_t n,
         const struct message *msg)
{
    (void)m;
    (void)msg;
    memcpy(to, from, n);
    return FUSEC_OK;
}

static int
cpu_wait(struct machine *m, const struct message *msg)
{
    (void)m;
    (void)msg;
    return FUSEC_OK;
}

static void
cpu_close(struct machine *m)
{
    struct cpu *c = m->data;

    cpu_release(m);
    emulation_close(&c->emu);
}

void
machine_cpu_reverse(struct machine *m, bool on)
{
    struct cpu *c = m->data;

    c->emu.set_order(on);
}

int
machine_open_cpu(struct machine *m, struct session *s,
                 const struct message *msg)
{
    struct cpu *c = NEW(s->arena, struct cpu);
    int status;

    c->arena = s->arena;
    if ((status = build_and_load(c, s, msg)))
        return status;
    *m = (struct machine){
        .backend = {.data = c,
                    .sms = SMS,
                    .launch = cpu_launch,
                    .resident = cpu_resident,
                    .clear = cpu_clear},
        .data = c,
        .alloc = cpu_alloc,
        .release = cpu_release,
        .put = cpu_copy,
        .get = cpu_copy,
        .wait = cpu_wait,
        .begin = cpu_begin,
        .end = cpu_end,
        .close = cpu_close,
        .name = "emulation",
    };
    return FUSEC_OK;
}
