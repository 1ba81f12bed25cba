/* SPDX-License-Identifier: Apache-2.0 */
/* files: reads, parses, follows imports, and merges declarations.
 *
 * Files are told apart by device and inode, so that "a.fusion" and
 * "./x/../a.fusion" are one. Loading is a depth-first walk; a file that is
 * reached while it is still being loaded closes a cycle. */
#include "support/base.h"

#include "front/files.h"

#include "front/front.h"
#include "front/names.h"
#include "front/parse.h"
#include "ir/dtype.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/embedded.h"
#include "support/io.h"
#include "support/vec.h"

#include <errno.h>
#include <sys/stat.h>

/* The embedded prelude, written by tools/embed.py. */
extern const struct embedded front_embedded[];
extern const unsigned front_embedded_count;

struct loaded {
    struct ast_file *file;
    const char *path;
    bool has_id; /* not for text in memory and standard input */
    dev_t dev;
    ino_t ino;
    bool open;        /* its imports are being loaded */
    struct span from; /* the import that reached it first */
};

struct loader {
    struct arena *arena;
    struct diag *diag;
    const struct front_options *opt;
    VEC(struct loaded *) files;
    bool complete;
};

static const struct span nowhere = {NULL, 0, 0};

/* ---- one file -------------------------------------------------------------
 */

static struct ast_file *
parse_text(struct arena *a, struct diag *d, const char *name, const char *text,
           size_t len)
{
    if (strcmp(name, "-") == 0)
        name = "<stdin>";
    if (len > PARSE_MAX_BYTES) {
        diag_report(d, DIAG_SOURCE_TOO_LARGE, nowhere, name);
        return NULL;
    }
    return parse_file(a, d, source_new(a, name, text, len));
}

struct ast_file *
files_parse(struct arena *a, struct diag *d, const struct front_text *text)
{
    return parse_text(a, d, text->name, text->text, text->len);
}

static struct ast_file *
parse_path(struct arena *a, struct diag *d, const char *path)
{
    size_t len;
    const char *text = io_read(a, path, &len);

    if (!text) {
        diag_report(d, DIAG_CANNOT_READ, nowhere, path, strerror(errno));
        return NULL;
    }
    return parse_text(a, d, path, text, len);
}

static void
identify(struct loaded *f)
{
    struct stat st;

    if (stat(f->path, &st) != 0)
        return;
    f->has_id = true;
    f->dev = st.st_dev;
    f->ino = st.st_ino;
}

static struct loaded *
find_loaded(struct loader *l, const struct loaded *like)
{
    for (uint32_t i = 0; like->has_id && i < l->files.n; i++) {
        struct loaded *f = l->files.v[i];

        if (f->has_id && f->dev == like->dev && f->ino == like->ino)
            return f;
    }
    return NULL;
}

/* ---- imports --------------------------------------------------------------
 */

static void load_imports(struct loader *l, struct loaded *f);

static const char *
join_path(struct arena *a, const char *dir, size_t n, const char *path)
{
    if (n == 0 || path[0] == '/')
        return path;
    return arena_printf(a, "%.*s%s%s", (int)n, dir,
                        dir[n - 1] == '/' ? "" : "/", path);
}

/* A file that can be read; NULL with errno of the first try. */
static char *
read_import(struct loader *l, const struct loaded *from,
            const struct ast_import *import, const char **ret_path,
            size_t *ret_len)
{
    const char *slash = strrchr(from->path, '/');
    size_t n = slash ? (size_t)(slash - from->path) + 1 : 0;
    const char *path = join_path(l->arena, from->path, n, import->path);
    char *text = io_read(l->arena, path, ret_len);
    int saved = errno;

    for (uint32_t i = 0; !text && l->opt && i < l->opt->n_include_dirs; i++) {
        const char *dir = l->opt->include_dirs[i];

        path = join_path(l->arena, dir, strlen(dir), import->path);
        text = io_read(l->arena, path, ret_len);
    }
    *ret_path = path;
    errno = saved;
    return text;
}

static void
report_cycle(struct loader *l, const struct loaded *f,
             const struct ast_import *import)
{
    bool inside = false;

    l->complete = false;
    diag_report(l->diag, DIAG_IMPORT_CYCLE, import->span, f->path);
    for (uint32_t i = 0; i < l->files.n; i++) {
        const struct loaded *g = l->files.v[i];

        if (inside && g->open)
            diag_note(l->diag, g->from, "'%s' is imported here", g->path);
        inside = inside || g == f;
    }
}

static void
load_import(struct loader *l, const struct loaded *from,
            const struct ast_import *import)
{
    struct loaded *f = NEW(l->arena, struct loaded), *old;
    size_t len;
    const char *text = read_import(l, from, import, &f->path, &len);

    if (!text) {
        l->complete = false;
        diag_report(l->diag, DIAG_IMPORT_NOT_FOUND, import->span, import->path,
                    strerror(errno));
        return;
    }
    identify(f);
    old = find_loaded(l, f);
    if (old) {
        if (old->open)
            report_cycle(l, old, import);
        return;
    }
    f->from = import->span;
    f->file = parse_text(l->arena, l->diag, f->path, text, len);
    if (f->file)
        load_imports(l, f);
    else
        l->complete = false;
}

static void
load_imports(struct loader *l, struct loaded *f)
{
    const struct ast_file *file = f->file;

    VEC_PUSH(l->arena, &l->files, f);
    l->complete = l->complete && file->complete;
    f->open = true;
    for (uint32_t i = 0; i < file->n_imports && !diag_full(l->diag); i++)
        load_import(l, f, &file->imports[i]);
    f->open = false;
}

/* ---- merging --------------------------------------------------------------
 */

/* True when NAME is the first of its kind; else reports it. */
static bool
is_first(struct diag *d, struct names *seen, struct ast_name *name)
{
    const struct ast_name *old = names_get(seen, name->text);

    if (!old) {
        names_put(seen, name->text, name);
        return true;
    }
    diag_report(d, DIAG_DUPLICATE_DECLARATION, name->span, name->text);
    diag_note(d, old->span, "the first definition is here");
    return false;
}

/* Consts and types may not be called as a type of the language is. */
static bool
is_free(struct diag *d, const struct ast_name *name)
{
    enum dtype unused;

    if (!dtype_find(name->text, &unused) && strcmp(name->text, "dim") != 0)
        return true;
    diag_report(d, DIAG_TYPE_NAME_TAKEN, name->span, name->text);
    return false;
}

/* Types and consts share one table: a const may not have a type's name. */
static void
merge_values(struct loader *l, struct file_set *set)
{
    VEC(struct ast_type *) types = {0};
    VEC(struct ast_const *) consts = {0};
    struct names seen;

    names_init(&seen, l->arena);
    for (uint32_t i = 0; i < set->n_files; i++) {
        const struct ast_file *f = set->files[i];

        for (uint32_t k = 0; k < f->n_types; k++) {
            struct ast_type *t = f->types[k];

            if (is_free(l->diag, &t->name) &&
                is_first(l->diag, &seen, &t->name))
                VEC_PUSH(l->arena, &types, t);
        }
    }
    for (uint32_t i = 0; i < set->n_files; i++) {
        const struct ast_file *f = set->files[i];

        for (uint32_t k = 0; k < f->n_consts; k++) {
            struct ast_const *c = f->consts[k];

            if (is_free(l->diag, &c->name) &&
                is_first(l->diag, &seen, &c->name))
                VEC_PUSH(l->arena, &consts, c);
        }
    }
    set->types = types.v;
    set->n_types = types.n;
    set->consts = consts.v;
    set->n_consts = consts.n;
}

static void
merge_defs(struct loader *l, struct file_set *set)
{
    VEC(struct ast_def *) defs = {0};
    struct names seen;

    names_init(&seen, l->arena);
    for (uint32_t i = 0; i < set->n_files; i++) {
        const struct ast_file *f = set->files[i];

        for (uint32_t k = 0; k < f->n_defs; k++) {
            if (is_first(l->diag, &seen, &f->defs[k]->name))
                VEC_PUSH(l->arena, &defs, f->defs[k]);
        }
    }
    set->defs = defs.v;
    set->n_defs = defs.n;
}

static void
merge_fusions(struct loader *l, struct file_set *set)
{
    const struct ast_file *f = set->files[0];
    VEC(struct ast_fusion *) fusions = {0};
    struct names seen;

    names_init(&seen, l->arena);
    for (uint32_t k = 0; k < f->n_fusions; k++) {
        if (is_first(l->diag, &seen, &f->fusions[k]->name))
            VEC_PUSH(l->arena, &fusions, f->fusions[k]);
    }
    set->fusions = fusions.v;
    set->n_fusions = fusions.n;
}

static void
add_prelude(struct loader *l, struct file_set *set)
{
    const struct embedded *e = &front_embedded[0];
    unsigned before = diag_errors(l->diag);
    struct ast_file *f;

    assert(front_embedded_count == 1);
    if (diag_full(l->diag))
        return;
    f = parse_text(l->arena, l->diag, "<prelude>", e->text, e->len);
    if (!f || diag_errors(l->diag) != before)
        BUG("the prelude has a syntax error");
    f->is_prelude = true;
    set->prelude = f->defs;
    set->n_prelude = f->n_defs;
}

static struct file_set *
merge(struct loader *l)
{
    struct file_set *set = NEW(l->arena, struct file_set);

    set->n_files = l->files.n;
    set->files = NEW_ARRAY(l->arena, struct ast_file *, l->files.n);
    set->paths = NEW_ARRAY(l->arena, const char *, l->files.n);
    for (uint32_t i = 0; i < l->files.n; i++) {
        set->files[i] = l->files.v[i]->file;
        set->paths[i] = l->files.v[i]->path;
    }
    merge_values(l, set);
    merge_defs(l, set);
    merge_fusions(l, set);
    add_prelude(l, set);
    set->complete = l->complete;
    return set;
}

static struct file_set *
load(struct loader *l, struct loaded *main_file)
{
    if (!main_file->file)
        return NULL;
    l->complete = true;
    main_file->file->is_main = true;
    load_imports(l, main_file);
    return merge(l);
}

struct file_set *
files_load(struct arena *a, struct diag *d, const char *path,
           const struct front_options *opt)
{
    struct loader l = {.arena = a, .diag = d, .opt = opt};
    struct loaded *f = NEW(a, struct loaded);

    f->path = path;
    identify(f);
    f->file = parse_path(a, d, path);
    return load(&l, f);
}

struct file_set *
files_load_text(struct arena *a, struct diag *d, const char *name,
                const char *text, size_t len, const struct front_options *opt)
{
    struct loader l = {.arena = a, .diag = d, .opt = opt};
    struct loaded *f = NEW(a, struct loaded);

    f->path = name;
    f->file = parse_text(a, d, name, text, len);
    return load(&l, f);
}
