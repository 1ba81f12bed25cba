/* SPDX-License-Identifier: Apache-2.0 */
/* driver: options, then one action, then the messages, then the status. */
#include "support/base.h"

#include "driver/driver.h"

#include "backend/nvrtc.h"
#include "driver/listings.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct span nowhere = {0};

static bool
print_nvrtc(struct arena *a, struct diag *d, const struct options *o,
            struct buf *out)
{
    const char *why;
    struct nvrtc *n = nvrtc_load(a, o->nvrtc, &why);

    if (!n) {
        diag_report(d, DIAG_NO_NVRTC, nowhere, why);
        return false;
    }
    nvrtc_describe(n, out);
    return true;
}

static bool
print_explanation(struct arena *a, struct diag *d, const char *id,
                  struct buf *out)
{
    if (explain_error(out, id))
        return true;
    diag_report(d, DIAG_USAGE, nowhere,
                arena_printf(a, "no message has the id '%s'", id));
    return false;
}

static bool
compile_file(struct arena *a, struct diag *d, struct options *o,
             struct buf *out)
{
    struct pipeline p = {.arena = a, .diag = d, .options = o};

    return pipeline_run(&p, out);
}

static bool
act(struct arena *a, struct diag *d, struct options *o, struct buf *out)
{
    switch (o->action) {
    case DO_COMPILE:
        return compile_file(a, d, o, out);
    case DO_PRINT_NVRTC:
        return print_nvrtc(a, d, o, out);
    case DO_LIST_DEVICES:
        list_devices(out);
        return true;
    case DO_LIST_OPS:
        list_ops(out);
        return true;
    case DO_LIST_SCHEDULERS:
        list_schedulers(out);
        return true;
    case DO_LIST_PLAN_KEYS:
        plan_list_keys(out);
        return true;
    case DO_EXPLAIN_ERROR:
        return print_explanation(a, d, o->error_id, out);
    case DO_VERSION:
        buf_puts(out, "fusec " FUSEC_VERSION "\n");
        return true;
    case DO_HELP:
        options_help(out);
        return true;
    }
    BUG("action %d", (int)o->action);
}

static bool
use_color(const struct options *o)
{
    const char *no_color = getenv("NO_COLOR");

    if (o->color != COLOR_AUTO)
        return o->color == COLOR_ALWAYS;
    return isatty(STDERR_FILENO) && !(no_color && *no_color);
}

static bool
print_out(struct diag *d, const struct buf *out)
{
    if (!out->len)
        return true;
    fwrite(out->data, 1, out->len, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    diag_report(d, DIAG_CANNOT_WRITE, nowhere, "standard output",
                strerror(errno));
    return false;
}

int
driver_run(int argc, char **argv)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    struct diag_style style = {.tool = "fusec"};
    struct options o;
    struct buf out;
    bool ok;
    int status;

    buf_init(&out, a);
    ok = options_parse(a, d, argc, argv, &o) && act(a, d, &o, &out);
    ok = print_out(d, &out) && ok;
    status = diag_exit_status(d);
    if (!ok && status == EXIT_OK)
        status = EXIT_INPUT; /* --check found a difference */
    style.json = o.json_diagnostics;
    style.color = use_color(&o);
    diag_flush(d, stderr, &style);
    arena_free(a);
    return status;
}
