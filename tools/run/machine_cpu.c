/* SPDX-License-Identifier: Apache-2.0 */
/* The emulation: the generated .cu, compiled by the host's C++ compiler against
 * the host versions of the primitives, which this program carries inside and
 * writes into a temporary folder. */
#include "support/base.h"

#include "tools/run/run.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/templates.h"
#include "support/arena.h"
#include "support/sha256.h"
#include "support/vec.h"
#include "templates/host/fu_emulate_api.h"
#include "tools/launch/module.h"

struct cpu {
    struct arena *arena;
    void *library;
    fu_emu_launch_fn *launch;
    fu_emu_error_fn *error;
    fu_emu_allow_fn *allow;
    fu_emu_forget_all_fn *forget;
    fu_emu_set_order_fn *set_order;
    VEC(void *) blocks;
};

enum { ALIGN = 4096 };

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

/* The pattern poisons locals; compilers without the option do without. */
static int
build(struct arena *a, const struct options *o, const char *cu, const char *dir,
      const char *so, const struct message *msg)
{
    const char *cxx = o->cxx ? o->cxx : getenv("CXX");
    char *log = arena_printf(a, "%s/log", dir);
    char *argv[] = {
        arena_strdup(a, cxx && *cxx ? cxx : "c++"),
        arena_strdup(a, "-std=c++17"),
        arena_strdup(a, "-O1"),
        arena_strdup(a, "-w"),
        arena_strdup(a, "-shared"),
        arena_strdup(a, "-fPIC"),
        arena_strdup(a, "-ffp-contract=off"),
        arena_strdup(a, "-fno-strict-aliasing"),
        arena_strdup(a, "-DFU_EMULATE"),
        arena_strdup(a, "-I"),
        arena_strdup(a, dir),
        arena_strdup(a, "-x"),
        arena_strdup(a, "c++"),
        arena_strdup(a, cu),
        arena_strdup(a, "-o"),
        arena_strdup(a, so),
        arena_strdup(a, "-ftrivial-auto-var-init=pattern"),
        NULL,
    };
    int status = compile(argv, log, msg);

    if (status > 0 && status < 127) {
        argv[ARRAY_LEN(argv) - 2] = NULL;
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

static bool
find_symbols(struct cpu *c)
{
    struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"fu_emu_launch", &c->launch},       {"fu_emu_error", &c->error},
        {"fu_emu_allow", &c->allow},         {"fu_emu_forget_all", &c->forget},
        {"fu_emu_set_order", &c->set_order},
    };

    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *p = dlsym(c->library, symbols[i].name);
        if (!p)
            return false;
        memcpy(symbols[i].to, &p, sizeof(p));
    }
    return true;
}

static int
load_library(struct cpu *c, const char *so, const struct message *msg)
{
    c->library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return message_set(msg, FUSEC_BAD_FILE, "%s", dlerror());
    if (!find_symbols(c))
        return message_set(msg, FUSEC_BAD_FILE,
                           "the emulation exports no fu_emu_launch");
    return FUSEC_OK;
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

static int
cpu_launch(void *data, const struct call *call, void *stream,
           const struct message *msg)
{
    struct cpu *c = data;
    const struct m_launch *l = call->l;
    int status = c->launch(l->symbol, call->grid,
                           (unsigned)(l->block[0] * l->block[1] * l->block[2]),
                           call->smem_bytes, call->args);

    (void)stream;
    if (status == FU_EMU_OK)
        return FUSEC_OK;
    return message_set(msg, FUSEC_DRIVER_FAILED, "%s: %s", l->symbol,
                       c->error());
}

/* Blocks run one after another: never all at once. */
static bool
cpu_resident(void *data, const struct call *call)
{
    (void)data;
    return call->grid[0] * call->grid[1] * call->grid[2] <= 1;
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

/* Ends exactly where the block ends, as far as the alignment allows. */
static void *
cpu_alloc(struct machine *m, size_t bytes)
{
    struct cpu *c = m->data;
    void *p;

    if (posix_memalign(&p, ALIGN, bytes ? bytes : 1) != 0)
        return NULL;
    memset(p, 0xff, bytes);
    VEC_PUSH(c->arena, &c->blocks, p);
    c->allow(p, bytes);
    return p;
}

static void
cpu_release(struct machine *m)
{
    struct cpu *c = m->data;

    for (uint32_t i = 0; i < c->blocks.n; i++)
        free(c->blocks.v[i]);
    c->blocks.n = 0;
    c->forget();
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
    dlclose(c->library);
}

void
machine_cpu_reverse(struct machine *m, bool on)
{
    struct cpu *c = m->data;

    c->set_order(on);
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
                    .sms = 4,
                    .launch = cpu_launch,
                    .resident = cpu_resident,
                    .clear = cpu_clear},
        .data = c,
        .alloc = cpu_alloc,
        .release = cpu_release,
        .put = cpu_copy,
        .get = cpu_copy,
        .wait = cpu_wait,
        .close = cpu_close,
        .name = "emulation",
    };
    return FUSEC_OK;
}
