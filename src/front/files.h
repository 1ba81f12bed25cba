/* SPDX-License-Identifier: Apache-2.0 */
/* files: a .fusion file with all that it imports, parsed.
 *
 * An import is searched beside the importing file, then in each -I folder. A
 * file reached twice counts once; a cycle is an error. The declarations of all
 * files share one space of names per kind, and a name that stands twice in it
 * was reported. */
#ifndef FUSEC_FRONT_FILES_H
#define FUSEC_FRONT_FILES_H

#include "front/ast.h"

struct arena;
struct diag;
struct front_options;
struct front_text;

struct file_set {
    struct ast_file **files; /* the main file first, then as first reached; the
                                prelude is not among them */
    uint32_t n_files;
    const char **paths; /* of each of them, as opened (for -MD) */
    /* Of all files, in that order; only the first of two equal names. */
    struct ast_const **consts;
    uint32_t n_consts;
    struct ast_type **types;
    uint32_t n_types;
    struct ast_def **defs;
    uint32_t n_defs;
    struct ast_fusion **fusions; /* of the main file alone */
    uint32_t n_fusions;
    struct ast_def **prelude; /* defs of the embedded prelude */
    uint32_t n_prelude;
    /* False after an error that hides declarations (a bad import, a function
     * head with a syntax error): resolving would report nonsense. Errors inside
     * expressions leave it true. */
    bool complete;
};

/* NULL when the main file can't be read. Errors are in diag. */
struct file_set *files_load(struct arena *a, struct diag *d, const char *path,
                            const struct front_options *opt);
/* The same for text in memory; imports are searched in the -I folders, and
 * beside `name` when it has a folder. */
struct file_set *files_load_text(struct arena *a, struct diag *d,
                                 const char *name, const char *text, size_t len,
                                 const struct front_options *opt);

/* One text alone, imports not followed; NULL when it is too long. */
struct ast_file *files_parse(struct arena *a, struct diag *d,
                             const struct front_text *text);

#endif
