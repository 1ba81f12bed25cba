/* SPDX-License-Identifier: Apache-2.0 */
/* options: rows of options.def matched against words, one action a row.
 *
 * The row says how an option takes its argument; the action checks the argument
 * and stores it. A wrong word is a usage error, which ends the parsing: what
 * follows it may have been meant for it. */
#include "support/base.h"

#include "driver/options.h"

#include "ir/graph.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/diag.h"

#include <errno.h>
#include <stdlib.h>

enum option_kind { OK_FLAG, OK_VALUE, OK_MAYBE, OK_JOINED, OK_PREFIX };

enum { MOST_CANDIDATES = 1000 };

enum option_id {
#define OPTION(id, name, kind, arg, help) OPT_##id,
#include "driver/options.def"
#undef OPTION
    OPT_COUNT
};

static const struct option {
    const char *name;
    enum option_kind kind;
    const char *arg, *help;
} options[OPT_COUNT] = {
#define OPTION(id, name, kind, arg, help) [OPT_##id] = {name, kind, arg, help},
#include "driver/options.def"
#undef OPTION
};

const char *const artifact_suffix[ART_COUNT] = {
    [ART_AST] = "ast",       [ART_GRAPH] = "graph", [ART_DOT] = "dot",
    [ART_FUSION] = "fusion", [ART_PLAN] = "plan",   [ART_KERNEL] = "kernel",
    [ART_CU] = "cu",         [ART_JSON] = "json",   [ART_CUBIN] = "cubin",
    [ART_PTX] = "ptx",
};

struct parser {
    struct arena *arena;
    struct diag *diag;
    struct options *o;
    int argc, at;
    char **argv;
};

static const struct span nowhere = {0};

static bool
usage(struct parser *p, const char *fmt, const char *word)
{
    diag_report(p->diag, DIAG_USAGE, nowhere,
                arena_printf(p->arena, fmt, word));
    return false;
}

/* --- arguments ----------------------------------------------------------- */

/* The item of a comma-separated list at *LIST, which moves past it. */
static const char *
next_item(struct arena *a, const char **list)
{
    size_t n = strcspn(*list, ",");
    const char *item = arena_strndup(a, *list, n);

    *list += n + ((*list)[n] == ',');
    return item;
}

/* An artifact by its name: its suffix, or the word that --check has for it. */
static enum artifact
artifact_named(const char *name)
{
    if (strcmp(name, "cuda") == 0)
        return ART_CU;
    if (strcmp(name, "manifest") == 0)
        return ART_JSON;
    for (int i = 0; i < ART_COUNT; i++) {
        if (strcmp(name, artifact_suffix[i]) == 0)
            return (enum artifact)i;
    }
    return ART_NONE;
}

enum artifact
artifact_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    if (!dot || strchr(dot, '/'))
        return ART_NONE;
    for (int i = 0; i < ART_COUNT; i++) {
        if (strcmp(dot + 1, artifact_suffix[i]) == 0)
            return (enum artifact)i;
    }
    return ART_NONE;
}

static bool
set_emit(struct parser *p, const char *list)
{
    if (!*list)
        return usage(p, "--emit needs a list%s", "");
    while (*list) {
        const char *name = next_item(p->arena, &list);
        enum artifact kind = artifact_named(name);

        if (kind == ART_NONE)
            return usage(p, "--emit: '%s' is not something to write", name);
        p->o->emit[kind] = true;
    }
    p->o->emit_given = true;
    return true;
}

/* NAME=VALUE split; NAME must be an identifier. */
static bool
split_binding(struct parser *p, const char *text, const char **ret_name,
              const char **ret_value)
{
    const char *eq = strchr(text, '=');

    if (!eq || eq == text || !eq[1])
        return usage(p, "'%s' is not NAME=VALUE", text);
    *ret_name = arena_strndup(p->arena, text, (size_t)(eq - text));
    *ret_value = eq + 1;
    return true;
}

static bool
add_define(struct parser *p, const char *text)
{
    struct binding b = {0};

    if (!split_binding(p, text, &b.name, &b.value))
        return false;
    VEC_PUSH(p->arena, &p->o->bindings, b);
    return true;
}

static bool
add_hint(struct parser *p, const char *text)
{
    struct hint h;
    const char *value;
    char *end;
    long long n;

    if (!split_binding(p, text, &h.name, &value))
        return false;
    errno = 0;
    n = strtoll(value, &end, 10);
    if (*end || errno || n < 0)
        return usage(p, "--hint: '%s' is not an extent", value);
    h.value = n;
    VEC_PUSH(p->arena, &p->o->hints, h);
    return true;
}

static bool
add_set(struct parser *p, const char *text)
{
    if (!strchr(text, '='))
        return usage(p, "--set: '%s' is not KEY=VALUE", text);
    VEC_PUSH(p->arena, &p->o->sets, text);
    return true;
}

static bool
set_candidates(struct parser *p, const char *text)
{
    char *end;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < 1 ||
        n > MOST_CANDIDATES)
        return usage(p, "--candidates: '%s' is no number from 1 to 1000", text);
    p->o->candidates = (uint32_t)n;
    return true;
}

static bool
set_check(struct parser *p, const char *list)
{
    struct options *o = p->o;

    o->check = true;
    if (!list)
        return true;
    o->check_listed = true;
    while (*list) {
        const char *name = next_item(p->arena, &list);
        enum artifact kind = artifact_named(name);

        if (kind == ART_CU)
            o->check_cuda = true;
        else if (kind == ART_JSON)
            o->check_manifest = true;
        else
            return usage(p, "--check: '%s' is neither cuda nor manifest", name);
    }
    return true;
}

/* One of the words of a "a|b|c" list; its index, or -1 and a usage error. */
static int
choose(struct parser *p, const struct option *row, const char *word)
{
    const char *words = row->arg;

    for (int i = 0; *words; i++) {
        size_t n = strcspn(words, "|");

        if (strlen(word) == n && strncmp(words, word, n) == 0)
            return i;
        words += n + (words[n] == '|');
    }
    usage(p,
          arena_printf(p->arena, "%s takes %s, not '%%s'", row->name, row->arg),
          word);
    return -1;
}

static bool
set_warning(struct parser *p, const char *name)
{
    bool on = strncmp(name, "no-", 3) != 0;
    const char *what = on ? name : name + 3;

    if (strcmp(what, "error") == 0)
        diag_set_werror(p->diag, on);
    else if (strcmp(what, "all") == 0)
        diag_set_all_warnings(p->diag, on);
    else if (!diag_set_enabled(p->diag, what, on))
        return usage(p, "unknown warning '-W%s'", name);
    return true;
}

static bool
set_max_ptx(struct parser *p, const char *text)
{
    size_t major = strspn(text, "0123456789");
    size_t minor =
        text[major] == '.' ? strspn(text + major + 1, "0123456789") : 0;

    if (!major || !minor || text[major + 1 + minor])
        return usage(p, "--max-ptx: '%s' is not a version X.Y", text);
    p->o->max_ptx = text;
    return true;
}

static bool
set_action(struct parser *p, enum option_id id)
{
    static const enum action does[OPT_COUNT] = {
        [OPT_PRINT_NVRTC] = DO_PRINT_NVRTC,
        [OPT_LIST_DEVICES] = DO_LIST_DEVICES,
        [OPT_LIST_OPS] = DO_LIST_OPS,
        [OPT_LIST_SCHEDULERS] = DO_LIST_SCHEDULERS,
        [OPT_LIST_PLAN_KEYS] = DO_LIST_PLAN_KEYS,
        [OPT_EXPLAIN_ERROR] = DO_EXPLAIN_ERROR,
        [OPT_VERSION] = DO_VERSION,
        [OPT_HELP] = DO_HELP,
    };

    p->o->action = does[id];
    return true;
}

static bool
set_flag(bool *flag)
{
    *flag = true;
    return true;
}

static bool
set_text(const char **where, const char *text)
{
    *where = text;
    return true;
}

/* Options whose argument is a word of their row. */
static bool
apply_choice(struct parser *p, enum option_id id, const char *arg)
{
    int i = arg ? choose(p, &options[id], arg) : 0;

    if (i < 0)
        return false;
    if (id == OPT_EXPLAIN)
        p->o->explain = (enum explain)(EXPLAIN_TEXT + i);
    else if (id == OPT_COMPILER)
        p->o->use_nvcc = i == 1;
    else if (id == OPT_FMAD)
        p->o->no_fmad = i == 1;
    else if (id == OPT_DIAGNOSTICS)
        p->o->json_diagnostics = i == 1;
    else if (id == OPT_COLOR)
        p->o->color = arg ? (enum color)i : COLOR_ALWAYS;
    else
        BUG("option %d has no choice", (int)id);
    return true;
}

static bool
apply(struct parser *p, enum option_id id, const char *arg)
{
    struct options *o = p->o;

    switch (id) {
    case OPT_OUTPUT:
        return set_text(&o->output, arg);
    case OPT_EMIT:
        return set_emit(p, arg);
    case OPT_DEVICE:
        return set_text(&o->device, arg);
    case OPT_ARCH:
        return set_text(&o->arch, arg);
    case OPT_DEFINE:
        return add_define(p, arg);
    case OPT_HINT:
        return add_hint(p, arg);
    case OPT_PLAN:
        return set_text(&o->plan, arg);
    case OPT_TUNED:
        return set_text(&o->tuned, arg);
    case OPT_UNTUNED:
        return set_flag(&o->untuned);
    case OPT_CANDIDATES:
        return set_candidates(p, arg);
    case OPT_SET:
        return add_set(p, arg);
    case OPT_INCLUDE:
        VEC_PUSH(p->arena, &o->include_dirs, arg);
        return true;
    case OPT_DEP:
        return set_flag(&o->depfile);
    case OPT_DEP_FILE:
        return set_text(&o->dep_file, arg);
    case OPT_DEP_TARGET:
        return set_text(&o->dep_target, arg);
    case OPT_DEP_PHONY:
        return set_flag(&o->dep_phony);
    case OPT_CHECK:
        return set_check(p, arg);
    case OPT_RESTAT:
        return set_flag(&o->restat);
    case OPT_NVRTC:
        return set_text(&o->nvrtc, arg);
    case OPT_MAX_PTX:
        return set_max_ptx(p, arg);
    case OPT_FAST_MATH:
        return set_flag(&o->fast_math);
    case OPT_LINEINFO:
        return set_flag(&o->lineinfo);
    case OPT_NO_EMBED_PROGRAM:
        return set_flag(&o->no_embed_program);
    case OPT_WARNING:
        return set_warning(p, arg);
    case OPT_EXPLAIN_ERROR:
        o->error_id = arg;
        return set_action(p, id);
    case OPT_PRINT_NVRTC:
    case OPT_LIST_DEVICES:
    case OPT_LIST_OPS:
    case OPT_LIST_SCHEDULERS:
    case OPT_LIST_PLAN_KEYS:
    case OPT_VERSION:
    case OPT_HELP:
        return set_action(p, id);
    case OPT_EXPLAIN:
    case OPT_COMPILER:
    case OPT_FMAD:
    case OPT_DIAGNOSTICS:
    case OPT_COLOR:
        return apply_choice(p, id, arg);
    case OPT_COUNT:
        break;
    }
    BUG("option %d has no action", (int)id);
}

/* --- words --------------------------------------------------------------- */

/* The argument behind the name's N bytes of WORD, or the next word. */
static bool
take_argument(struct parser *p, const struct option *row, const char *word,
              const char **ret)
{
    const char *rest = word + strlen(row->name);

    *ret = NULL;
    if (row->kind == OK_FLAG)
        return true;
    if (row->kind == OK_PREFIX || (row->kind == OK_JOINED && *rest)) {
        *ret = rest;
        return true;
    }
    if (*rest == '=') {
        *ret = rest + 1;
        return true;
    }
    if (row->kind == OK_MAYBE)
        return true;
    if (p->at + 1 >= p->argc)
        return usage(p, "'%s' needs an argument", row->name);
    *ret = p->argv[++p->at];
    return true;
}

static bool
matches(const struct option *row, const char *word)
{
    size_t n = strlen(row->name);

    if (strncmp(word, row->name, n) != 0)
        return false;
    if (!word[n] || row->kind == OK_JOINED || row->kind == OK_PREFIX)
        return true;
    return word[n] == '=' && row->kind != OK_FLAG;
}

static bool
parse_option(struct parser *p, const char *word)
{
    for (int id = 0; id < OPT_COUNT; id++) {
        const char *arg;

        if (!matches(&options[id], word))
            continue;
        if (!take_argument(p, &options[id], word, &arg))
            return false;
        return apply(p, (enum option_id)id, arg);
    }
    return usage(p, "unknown option '%s'", word);
}

static bool
parse_input(struct parser *p, const char *word)
{
    if (p->o->input)
        return usage(p, "a second input file '%s'", word);
    p->o->input = word;
    return true;
}

static bool
parse_words(struct parser *p)
{
    bool options_end = false;

    for (p->at = 1; p->at < p->argc; p->at++) {
        const char *word = p->argv[p->at];
        bool ok;

        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            continue;
        }
        if (!options_end && word[0] == '-' && word[1])
            ok = parse_option(p, word);
        else
            ok = parse_input(p, word);
        if (!ok)
            return false;
    }
    return true;
}

/* --- what the options mean together -------------------------------------- */

static int
count_artifacts(const struct options *o)
{
    int n = 0;

    for (int i = 0; i < ART_COUNT; i++)
        n += o->emit[i];
    return n;
}

/* Without --emit the suffix of -o says what to write. */
static bool
emit_by_suffix(struct parser *p)
{
    struct options *o = p->o;
    enum artifact kind = ART_PTX;

    if (o->output && strcmp(o->output, "-") != 0)
        kind = artifact_of(o->output);
    if (kind == ART_NONE)
        return usage(p, "cannot tell from the suffix of '%s' what to write",
                     o->output);
    o->emit[kind] = true;
    if ((kind == ART_PTX || kind == ART_CUBIN) &&
        (!o->output || strcmp(o->output, "-") != 0)) {
        o->emit[ART_CU] = true;
        o->emit[ART_JSON] = true;
    }
    return true;
}

/* --check=LIST: what to make is what to compare. */
static void
emit_by_check(struct options *o)
{
    for (int i = 0; i < ART_COUNT; i++)
        o->emit[i] = false;
    o->emit[ART_CU] = o->check_cuda;
    o->emit[ART_JSON] = o->check_manifest;
}

/* --candidates alone writes no file. */
static bool
lists_only(const struct options *o)
{
    return o->candidates && !o->output && !o->depfile && !o->check;
}

/* A plan is given, or chosen; what is said of a choice needs one. */
static bool
plans_agree(struct parser *p)
{
    const struct options *o = p->o;

    if (!o->plan)
        return true;
    if (o->sets.n)
        return usage(p, "--set changes a chosen plan, not the one of --plan%s",
                     "");
    if (o->tuned)
        return usage(p,
                     "--tuned chooses a plan: none is left to choose with "
                     "--plan%s",
                     "");
    if (o->candidates)
        return usage(p,
                     "--candidates lists choices: there are none with "
                     "--plan%s",
                     "");
    return true;
}

static bool
check_together(struct parser *p)
{
    struct options *o = p->o;

    if (!o->input)
        return usage(p, "no input file%s", "");
    if (!o->emit_given && !lists_only(o) && !emit_by_suffix(p))
        return false;
    if (o->check_listed)
        emit_by_check(o);
    if (o->output && strcmp(o->output, "-") == 0) {
        if (count_artifacts(o) != 1)
            return usage(p, "only one output can go to standard output%s", "");
        if (o->check)
            return usage(p, "--check needs files to compare with%s", "");
        if (o->depfile && !o->dep_file)
            return usage(p, "-MD with -o - needs -MF%s", "");
    }
    if (!o->output && strcmp(o->input, "-") == 0 && !lists_only(o))
        return usage(p, "input from standard input needs -o%s", "");
    if (!plans_agree(p))
        return false;
    if (!o->depfile && (o->dep_file || o->dep_target || o->dep_phony))
        return usage(p, "-MF, -MT and -MP need -MD%s", "");
    return true;
}

bool
options_parse(struct arena *a, struct diag *d, int argc, char **argv,
              struct options *ret)
{
    struct parser p = {
        .arena = a, .diag = d, .o = ret, .argc = argc, .argv = argv};

    *ret = (struct options){0};
    if (!parse_words(&p))
        return false;
    return ret->action != DO_COMPILE || check_together(&p);
}

/* --- help ---------------------------------------------------------------- */

enum { HELP_COLUMN = 28, HELP_WIDTH = 78 };

/* TEXT in lines of HELP_WIDTH, indented by HELP_COLUMN; the cursor is there. */
static void
put_wrapped(struct buf *b, const char *text)
{
    size_t column = HELP_COLUMN;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
            buf_printf(b, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buf_putc(b, ' ');
            column++;
        }
        buf_write(b, text, n);
        column += n;
        text += n + strspn(text + n, " ");
    }
    buf_putc(b, '\n');
}

static void
help_row(struct buf *b, const struct option *row)
{
    const char *glue = row->kind == OK_VALUE    ? "="
                       : row->kind == OK_MAYBE  ? "[="
                       : row->kind == OK_JOINED ? " "
                                                : "";
    size_t start = b->len, used;

    buf_printf(b, "  %s%s%s%s", row->name, glue, row->arg ? row->arg : "",
               row->kind == OK_MAYBE ? "]" : "");
    used = b->len - start;
    if (used + 2 > HELP_COLUMN)
        buf_printf(b, "\n%*s", HELP_COLUMN, "");
    else
        buf_printf(b, "%*s", (int)(HELP_COLUMN - used), "");
    put_wrapped(b, row->help);
}

void
options_help(struct buf *b)
{
    buf_puts(b, "usage: fusec [OPTION...] FILE.fusion\n"
                "\n"
                "Compiles fused tensor programs to CUDA source, PTX and a "
                "launch manifest.\n"
                "\n");
    for (int i = 0; i < OPT_COUNT; i++)
        help_row(b, &options[i]);
    buf_puts(b, "\nExamples:\n"
                "  fusec norm.fusion -o norm.ptx           PTX, CUDA text and "
                "manifest\n"
                "  fusec norm.fusion --emit=cu -o -        CUDA text, without "
                "any toolkit\n"
                "  fusec norm.fusion --emit=plan -o norm.plan --explain\n"
                "  fusec norm.fusion --plan=norm.plan -o norm.ptx\n"
                "\nMore: man fusec, docs/fusec.1 in the sources.\n");
    buf_puts(b, "\nExit status: 0 done, 1 the input is wrong, 2 usage, "
                "3 something outside is\nmissing or failed, 4 the CUDA "
                "compiler refused our code.\n");
}
