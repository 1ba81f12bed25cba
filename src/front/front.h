/* SPDX-License-Identifier: Apache-2.0 */
/* front: .fusion text to typed graphs, one per fusion of the file. Everything
 * wrong is reported to diag; no graph is returned then. */
#ifndef FUSEC_FRONT_FRONT_H
#define FUSEC_FRONT_FRONT_H

#include "support/base.h"

struct arena;
struct buf;
struct diag;
struct graph;

/* -D NAME=VALUE, in the order given; the last of a name wins. */
struct binding {
    const char *name, *value;
    bool used; /* set by front_load: some fusion or const has this name */
};

struct front_options {
    struct binding *bindings;
    uint32_t n_bindings;
    const char *const *include_dirs; /* -I */
    uint32_t n_include_dirs;
};

struct module {
    struct graph **graphs; /* one per fusion of the file, as resolved */
    uint32_t n_graphs;
    const char **files; /* every file read, the main one first (depfile) */
    uint32_t n_files;
};

/* A source in memory. */
struct front_text {
    const char *name; /* "-": standard input */
    const char *text;
    size_t len;
};

/* NULL when the file can't be read or an error was reported. */
struct module *front_load(struct arena *a, struct diag *d, const char *path,
                          struct front_options *opt);
/* The same for text in memory (manifests, tests, fuzzing). */
struct module *front_load_text(struct arena *a, struct diag *d,
                               const char *name, const char *text, size_t len,
                               struct front_options *opt);
/* The syntax tree of the text, for --emit=ast; false after syntax errors. */
bool front_print_ast(struct arena *a, struct diag *d,
                     const struct front_text *text, struct buf *out);

#endif
