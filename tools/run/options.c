/* SPDX-License-Identifier: Apache-2.0 */
#include "support/base.h"

#include "tools/run/run.h"

#include <stdlib.h>
#include <unistd.h>

#include "support/arena.h"
#include "support/buf.h"

const char *
options_help(void)
{
    return "usage: fusec-run MANIFEST... [options]\n"
           "Launches a compiled fusion, checks it, times it. Several manifests "
           "are plans of\n"
           "one program: checked against one reference, timed in turn.\n"
           "\n"
           "  --shape NAME=N         a dimension's value (--shape M=8,N=512 "
           "too)\n"
           "  --input NAME=WHAT      FILE.npy, normal(0,1), uniform(a,b), "
           "ints(a,b),\n"
           "                         or a scalar's value\n"
           "  --seed S               of generated inputs (default 0)\n"
           "  --fusion NAME          which fusion, when there are several\n"
           "  --check                compare with the reference interpreter\n"
           "  --bench                time it against a copy of the same size\n"
           "  --time-shape NAME=N    other sizes for --bench; there the "
           "results of several\n"
           "                         plans are compared with each other\n"
           "  --replays W,N          of --bench: W to warm up, N timed ones "
           "(default 3,10)\n"
           "  --emulate              run the generated CUDA on the CPU\n"
           "  --reference            run the interpreter, no kernel\n"
           "  --save-outputs DIR     write the outputs as DIR/NAME.npy\n"
           "  --cxx COMPILER         for --emulate (default: $CXX, else c++)\n"
           "  --sms N                SMs of the emulated device (default 2; "
           "--check tries\n"
           "                         5 too where they decide the grid)\n"
           "  --cache DIR            keeps compiled emulations (default: "
           "fusec in\n"
           "                         $XDG_CACHE_HOME, else in ~/.cache)\n"
           "  --no-cache             compile the emulation anew\n"
           "  --device N             CUDA device (default 0)\n"
           "  --threads N            of the interpreter (default: all)\n"
           "  --help, --version\n"
           "\n"
           "Exit status: 0 done; 1 a wrong result or wrong arguments; 2 usage; "
           "3 something\n"
           "outside is missing or failed.\n";
}

/* Appends NAME=VALUE; text is copied. */
static bool
assign(struct arena *a, struct assignment **list, uint32_t *n, const char *text)
{
    const char *eq = strchr(text, '=');

    if (!eq || eq == text || eq[1] == '\0')
        return false;
    *list = arena_grow(a, *list, *n, *n + 1, sizeof(**list));
    (*list)[(*n)++] = (struct assignment){
        .name = arena_strndup(a, text, (size_t)(eq - text)), .value = eq + 1};
    return true;
}

/* M=1,N=2 */
static bool
assign_shapes(struct assignment **list, uint32_t *count, struct arena *a,
              const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        if (!assign(a, list, count, arena_strndup(a, text, n)))
            return false;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool
parse_number(const char *text, uint64_t most, uint64_t *ret)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 10);
    return *end == '\0' && *ret <= most;
}

/* "3,10" */
static bool
set_replays(struct options *o, struct arena *a, const char *text)
{
    size_t n = strcspn(text, ",");
    uint64_t warm_ups, replays;

    if (!text[n] || !parse_number(arena_strndup(a, text, n), 100, &warm_ups) ||
        !parse_number(text + n + 1, 1000, &replays) || replays == 0)
        return false;
    o->warm_ups = (unsigned)warm_ups;
    o->replays = (unsigned)replays;
    return true;
}

static bool
set_flag(struct options *o, const char *arg)
{
    struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--check", &o->check},         {"--bench", &o->bench},
                 {"--emulate", &o->emulate},     {"--no-cache", &o->no_cache},
                 {"--reference", &o->reference}, {"--help", &o->help},
                 {"--version", &o->version}};

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, arg) == 0)
            return *flags[i].flag = true;
    return false;
}

static bool
set_value(struct options *o, struct arena *a, const char *arg,
          const char *value, bool *ret_known)
{
    uint64_t n;

    *ret_known = true;
    if (strcmp(arg, "--shape") == 0)
        return assign_shapes(&o->shapes, &o->n_shapes, a, value);
    if (strcmp(arg, "--time-shape") == 0)
        return assign_shapes(&o->time_shapes, &o->n_time_shapes, a, value);
    if (strcmp(arg, "--replays") == 0)
        return set_replays(o, a, value);
    if (strcmp(arg, "--input") == 0)
        return assign(a, &o->inputs, &o->n_inputs, value);
    if (strcmp(arg, "--seed") == 0)
        return parse_number(value, UINT64_MAX, &o->seed);
    if (strcmp(arg, "--fusion") == 0)
        return (o->fusion = value) != NULL;
    if (strcmp(arg, "--save-outputs") == 0)
        return (o->save_dir = value) != NULL;
    if (strcmp(arg, "--cxx") == 0)
        return (o->cxx = value) != NULL;
    if (strcmp(arg, "--cache") == 0)
        return (o->cache = value) != NULL;
    if (strcmp(arg, "--sms") == 0 && parse_number(value, 1024, &n)) {
        o->sms = (int)n;
        return n > 0;
    }
    if (strcmp(arg, "--device") == 0 && parse_number(value, 1023, &n)) {
        o->device = (int)n;
        return true;
    }
    if (strcmp(arg, "--threads") == 0 && parse_number(value, 1024, &n)) {
        o->threads = (unsigned)n;
        return n > 0;
    }
    *ret_known = strcmp(arg, "--device") == 0 ||
                 strcmp(arg, "--threads") == 0 || strcmp(arg, "--sms") == 0;
    return false;
}

/* "--name value" and "--name=value"; *i moves past the value. */
static bool
parse_option(struct options *o, struct arena *a, char **argv, int *i,
             struct buf *why)
{
    const char *arg = argv[*i], *eq = strchr(arg, '='), *value = argv[*i + 1];
    bool known = false, set;

    if (set_flag(o, arg))
        return true;
    if (eq) {
        value = eq + 1;
        arg = arena_strndup(a, arg, (size_t)(eq - arg));
    } else {
        ++*i;
    }
    set = set_value(o, a, arg, value ? value : "", &known);
    if (set && value)
        return true;
    if (!known)
        buf_printf(why, "unknown option '%s'", arg);
    else
        buf_printf(why, "option '%s' needs %s value", arg,
                   value ? "another" : "a");
    return false;
}

static bool
modes_agree(const struct options *o, struct buf *why)
{
    if (o->help || o->version)
        return true;
    if (!o->manifest)
        buf_puts(why, "no manifest given");
    else if (o->reference && (o->check || o->bench || o->emulate))
        buf_puts(why, "--reference runs no kernel: it cannot stand beside "
                      "--check, --bench or --emulate");
    else if (o->n_manifests > 1 && (o->reference || o->save_dir))
        buf_puts(why, "several manifests can be checked and timed, no more");
    else if (o->n_time_shapes && !o->bench)
        buf_puts(why, "--time-shape is for --bench");
    else if (o->emulate && o->bench)
        buf_puts(why, "--bench means nothing in an emulation");
    else
        return true;
    return false;
}

bool
options_parse(struct options *o, struct arena *a, int argc, char **argv,
              struct buf *why)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    *o = (struct options){.threads = cores > 0 ? (unsigned)cores : 1,
                          .warm_ups = 3,
                          .replays = 10};
    o->manifests = NEW_ARRAY(a, const char *, (size_t)argc);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (!parse_option(o, a, argv, &i, why))
                return false;
        } else {
            o->manifests[o->n_manifests++] = argv[i];
        }
    }
    if (o->n_manifests)
        o->manifest = o->manifests[0];
    return modes_agree(o, why);
}
