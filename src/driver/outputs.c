/* SPDX-License-Identifier: Apache-2.0 */
/* outputs: names follow from -o, else from the input; the order is .cu, the
 * dependency file, .json, and last the file named by -o, so that a make rule is
 * satisfied only when everything is there. */
#include "support/base.h"

#include "driver/outputs.h"

#include "backend/check.h"
#include "backend/depfile.h"
#include "backend/manifest.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"
#include "support/io.h"

#include <errno.h>
#include <sys/stat.h>

static const struct span nowhere = {0};

/* --- names --------------------------------------------------------------- */

static const char *
without_suffix(struct arena *a, const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

    if (!dot || dot == path || (slash && dot <= slash + 1))
        return path;
    return arena_strndup(a, path, (size_t)(dot - path));
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool
to_stdout(const struct options *o)
{
    return o->output && strcmp(o->output, "-") == 0;
}

static const char *
choose_base(struct arena *a, const struct options *o)
{
    if (!o->output || to_stdout(o))
        return strcmp(o->input, "-") == 0
                   ? "stdin"
                   : without_suffix(a, base_name(o->input));
    if (artifact_of(o->output) != ART_NONE)
        return without_suffix(a, o->output);
    return o->output;
}

static enum artifact
choose_main(const struct options *o)
{
    enum artifact kind = ART_NONE;

    if (o->output)
        kind = artifact_of(o->output);
    if (kind != ART_NONE && o->emit[kind])
        return kind;
    for (int i = 0; i < ART_COUNT; i++) {
        if (o->emit[i])
            kind = (enum artifact)i;
    }
    return kind;
}

static bool
is_single(const struct options *o)
{
    int n = 0;

    for (int i = 0; i < ART_COUNT; i++)
        n += o->emit[i];
    return n == 1;
}

const char *
outputs_path(const struct outputs *out, enum artifact kind)
{
    const struct options *o = out->options;

    /* One artifact under a name that says nothing about its kind. */
    if (o->output && is_single(o) && artifact_of(o->output) == ART_NONE)
        return o->output;
    if (to_stdout(o))
        return "-";
    return arena_printf(out->arena, "%s.%s", out->base, artifact_suffix[kind]);
}

const char *
outputs_cuda_name(const struct outputs *out)
{
    return arena_printf(out->arena, "%s.cu", base_name(out->base));
}

static bool
same_file(const char *p, const char *q)
{
    struct stat s, t;

    return strcmp(p, q) == 0 ||
           (stat(p, &s) == 0 && stat(q, &t) == 0 && s.st_dev == t.st_dev &&
            s.st_ino == t.st_ino && S_ISREG(s.st_mode));
}

bool
outputs_init(struct outputs *out, struct arena *a, struct diag *d,
             const struct options *o)
{
    *out = (struct outputs){.arena = a, .diag = d, .options = o};
    out->base = choose_base(a, o);
    out->main = choose_main(o);
    for (int i = 0; i < ART_COUNT; i++) {
        const char *path;

        if (!o->emit[i])
            continue;
        path = outputs_path(out, (enum artifact)i);
        if (strcmp(path, "-") == 0 || o->check || !same_file(path, o->input))
            continue;
        diag_report(
            d, DIAG_USAGE, nowhere,
            arena_printf(a, "output '%s' would replace the input", path));
        return false;
    }
    return true;
}

void
outputs_put(struct outputs *out, enum artifact kind, const char *data,
            size_t len)
{
    assert(data);
    out->art[kind].data = data;
    out->art[kind].len = len;
}

/* --- dependency file ----------------------------------------------------- */

static const char *
depfile_path(const struct outputs *out)
{
    if (out->options->dep_file)
        return out->options->dep_file;
    return arena_printf(out->arena, "%s.d", out->base);
}

void
outputs_make_depfile(struct outputs *out, const char *const *files, uint32_t n)
{
    const struct options *o = out->options;
    struct depfile dep = {
        .target = o->dep_target ? o->dep_target : outputs_path(out, out->main),
        .verbatim = o->dep_target != NULL,
        .files = files,
        .n_files = n,
        .phony = o->dep_phony,
    };
    struct buf b;

    buf_init(&b, out->arena);
    depfile_print(&b, &dep);
    out->depfile = buf_str(&b);
}

/* --- writing ------------------------------------------------------------- */

struct plan {
    struct io_output v[ART_COUNT + 1];
    size_t n;
};

static void
add_artifact(struct plan *p, const struct outputs *out, enum artifact kind)
{
    if (kind != ART_NONE && out->art[kind].data)
        p->v[p->n++] = (struct io_output){
            outputs_path(out, kind), out->art[kind].data, out->art[kind].len};
}

static void
add_depfile(struct plan *p, const struct outputs *out)
{
    if (out->depfile)
        p->v[p->n++] = (struct io_output){depfile_path(out), out->depfile,
                                          strlen(out->depfile)};
}

bool
outputs_write(struct outputs *out)
{
    struct plan p = {.n = 0};
    int failed;

    for (int i = 0; i < ART_COUNT; i++) {
        if (i == ART_JSON)
            add_depfile(&p, out);
        if ((enum artifact)i != out->main)
            add_artifact(&p, out, (enum artifact)i);
    }
    add_artifact(&p, out, out->main);
    failed = io_write_all(out->arena, p.v, p.n, out->options->restat);
    if (failed < 0)
        return true;
    diag_report(out->diag, DIAG_CANNOT_WRITE, nowhere,
                strcmp(p.v[failed].path, "-") == 0 ? "standard output"
                                                   : p.v[failed].path,
                strerror(errno));
    return false;
}

const char *
outputs_keep_rejected(struct outputs *out, const char *cuda)
{
    const char *path = arena_printf(out->arena, "%s.rejected.cu", out->base);
    struct io_output file = {path, cuda, strlen(cuda)};

    return io_write_all(out->arena, &file, 1, false) < 0 ? path : NULL;
}

/* --- comparing ----------------------------------------------------------- */

/* With --check=manifest: both sides without what depends on the toolkit. */
static bool
strip(const struct outputs *out, struct check_text *t)
{
    const char *why;
    const char *text;

    if (!t->len)
        return true;
    text = manifest_without_toolchain(out->arena, t->text, t->len, &why);
    if (!text) {
        diag_report(out->diag, DIAG_CANNOT_READ, nowhere, t->name, why);
        return false;
    }
    t->text = text;
    t->len = strlen(text);
    return true;
}

static bool
check_artifact(const struct outputs *out, enum artifact kind, struct buf *b)
{
    const char *path = outputs_path(out, kind);
    struct check_text was = {.name = path, .text = ""};
    struct check_text is = {.name = arena_printf(out->arena, "%s (new)", path),
                            .text = out->art[kind].data,
                            .len = out->art[kind].len};
    const char *old = io_read(out->arena, path, &was.len);

    if (old)
        was.text = old;
    else if (errno == ENOENT)
        was.name = "/dev/null";
    else {
        diag_report(out->diag, DIAG_CANNOT_READ, nowhere, path,
                    strerror(errno));
        return false;
    }
    if (kind == ART_JSON && out->options->check_listed &&
        (!strip(out, &was) || !strip(out, &is)))
        return false;
    if (kind == ART_CUBIN) {
        if (was.len == is.len && memcmp(was.text, is.text, is.len) == 0)
            return true;
        buf_printf(b, "Binary files %s and %s differ\n", was.name, is.name);
        return false;
    }
    return check_diff(b, &was, &is);
}

bool
outputs_check(struct outputs *out, struct buf *b)
{
    bool same = true;

    for (int i = 0; i < ART_COUNT; i++) {
        if (out->art[i].data && !check_artifact(out, (enum artifact)i, b))
            same = false;
    }
    return same;
}
