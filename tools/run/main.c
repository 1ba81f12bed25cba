/* SPDX-License-Identifier: Apache-2.0 */
/* fusec-run: launches a compiled fusion on a GPU or, emulated, on the CPU;
 * compares it with the reference interpreter; times it. */
#include "support/base.h"

#include "tools/run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/arena.h"
#include "support/buf.h"
#include "support/io.h"
#include "support/source.h"
#include "tools/launch/module.h"

int
run_complain(struct arena *a, const char *text, int status)
{
    struct buf shown;

    buf_init(&shown, a);
    while (*text) {
        size_t n = strcspn(text, "\n");

        source_show(&shown, arena_strndup(a, text, n));
        buf_puts(&shown, text[n] ? "\n" : "");
        text += n + (text[n] == '\n');
    }
    fprintf(stderr, "fusec-run: %s\n", buf_str(&shown));
    return status;
}

int
run_exit_status(int status)
{
    return status == FUSEC_NO_DRIVER || status == FUSEC_DRIVER_FAILED ||
                   status == FUSEC_BAD_FILE || status == FUSEC_NO_MEMORY
               ? EXIT_ENVIRONMENT
               : EXIT_INPUT;
}

int
run_read_manifest(const char *path, struct manifest *ret,
                  const struct message *msg)
{
    char why[256];
    size_t len;
    char *text = module_read_file(path, &len);
    bool ok;

    if (!text) {
        message_set(msg, 0, "cannot read '%s': %s", path, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    ok = manifest_parse(text, len, ret, why, sizeof(why));
    free(text);
    if (!ok)
        message_set(msg, 0, "'%s': %s", path, why);
    return ok ? EXIT_OK : EXIT_INPUT;
}

static int
run_on_machine(struct session *s)
{
    char text[512] = "";
    struct message msg = {text, sizeof(text)};
    struct machine m;
    int status = s->o->emulate ? machine_open_cpu(&m, s, &msg)
                               : machine_open_gpu(&m, s, &msg);

    if (status)
        return run_complain(s->arena, text, run_exit_status(status));
    status = check_run(s, &m);
    if (!status && s->o->bench)
        status = bench_run(&s, &(struct machine *){&m}, 1, false);
    m.close(&m);
    return status;
}

static int
run(struct session *s, struct buf *why)
{
    int status = session_open(s, why);

    if (!status)
        status = s->o->reference ? reference_store(s, why) : run_on_machine(s);
    if (!status && s->o->save_dir)
        status = save_outputs(s, why);
    if (why->len)
        run_complain(s->arena, buf_str(why), status);
    return status;
}

static int
run_file(struct arena *a, struct options *o)
{
    struct manifest manifest;
    struct session s = {.arena = a, .o = o, .manifest = &manifest};
    struct buf why;
    char text[512];
    struct message msg = {text, sizeof(text)};
    int status = run_read_manifest(o->manifest, &manifest, &msg);

    if (status)
        return run_complain(a, text, status);
    if (o->bench)
        o->check = true; /* no time of an unchecked result */
    buf_init(&why, a);
    status = run(&s, &why);
    manifest_free(&manifest);
    return status;
}

int
main(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct options o;
    struct buf why;
    int status = EXIT_OK;

    io_open_standard_files();
    signal(SIGPIPE, SIG_IGN);
    buf_init(&why, a);
    if (!options_parse(&o, a, argc, argv, &why))
        status = run_complain(a, buf_str(&why), EXIT_USAGE);
    else if (o.help || o.version)
        fputs(o.help ? options_help() : "fusec-run " FUSEC_VERSION "\n",
              stdout);
    else
        status = o.n_manifests > 1 || o.n_time_shapes ? plans_run(a, &o)
                                                      : run_file(a, &o);
    arena_free(a);
    return status;
}
