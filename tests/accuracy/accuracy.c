/* SPDX-License-Identifier: Apache-2.0 */
/* The commands; accuracy.h describes them. */
#include "accuracy.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const enum dtype types[] = {DT_F32, DT_F64, DT_F16, DT_BF16};

static _Noreturn void
usage(void)
{
    fprintf(stderr, "usage: accuracy list\n"
                    "       accuracy inputs TYPE ARITY FILE...\n"
                    "       accuracy judge OP TYPE FILE... -- RESULT...\n"
                    "       accuracy reference\n");
    exit(EXIT_USAGE);
}

static enum dtype
find_type(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(dtype_info[types[i]].name, name) == 0)
            return types[i];
    usage();
}

/* Minus is one name for two: the operator of one value is called "neg". */
static const char *
name_of(enum op op)
{
    return op == OP_NEG ? "neg" : op_info[op].name;
}

static enum op
find_op(const char *name)
{
    for (enum op op = 0; op < OP_COUNT; op++)
        if (exact_known(op, DT_F32) && strcmp(name_of(op), name) == 0)
            return op;
    usage();
}

static int
list(void)
{
    for (enum op op = 0; op < OP_COUNT; op++)
        if (exact_known(op, DT_F32))
            printf("%s %d %g\n", name_of(op), op_info[op].arity,
                   op_info[op].ulp);
    return EXIT_OK;
}

/* --- inputs --------------------------------------------------------------- */

static void
write_file(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        fprintf(stderr, "accuracy: '%s': %s\n", path, strerror(errno));
        exit(EXIT_ENVIRONMENT);
    }
}

static void *
room(size_t n)
{
    void *p = malloc(n);

    if (!p) {
        fprintf(stderr, "accuracy: out of memory\n");
        exit(EXIT_ENVIRONMENT);
    }
    return p;
}

static void
fill(enum dtype t, int arity, int64_t n, void *const *to)
{
    for (int64_t i = 0; i < n; i++) {
        double x[3];

        sample_at(t, arity, i, x);
        for (int a = 0; a < arity; a++)
            num_store(t, to[a], i, x[a]);
    }
}

static int
inputs(char **argv, int n)
{
    enum dtype t;
    int arity;
    void *to[3];

    if (n < 2)
        usage();
    t = find_type(argv[0]);
    arity = argv[1][0] - '0';
    if (arity < 1 || arity > 3 || n != 2 + arity)
        usage();
    for (int a = 0; a < arity; a++)
        to[a] = room((size_t)sample_count(t, arity) * dtype_info[t].bytes);
    fill(t, arity, sample_count(t, arity), to);
    for (int a = 0; a < arity; a++) {
        write_file(argv[2 + a], to[a],
                   (size_t)sample_count(t, arity) * dtype_info[t].bytes);
        free(to[a]);
    }
    return EXIT_OK;
}

/* --- judging -------------------------------------------------------------- */

static const void *
map_file(const char *path, size_t *ret_size)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    void *p = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "accuracy: '%s': %s\n", path, strerror(errno));
        exit(EXIT_ENVIRONMENT);
    }
    *ret_size = (size_t)st.st_size;
    return p;
}

static void
print_numbers(const char *key, const double *x, int n)
{
    printf(", \"%s\": [", key);
    for (int i = 0; i < n; i++)
        printf("%s\"%.17g\"", i ? ", " : "", x[i]);
    printf("]");
}

static void
print_verdict(const struct judged *j, const struct verdict *v)
{
    printf("{\"op\": \"%s\", \"type\": \"%s\", \"n\": %" PRId64
           ", \"worst\": %.9g, \"mean\": %.9g",
           name_of(j->op), dtype_info[j->t].name, v->n, fmin(v->worst, 1e300),
           v->n ? fmin(v->sum, 1e300) / (double)v->n : 0);
    print_numbers("at", v->at, j->arity);
    print_numbers("got", &v->got, 1);
    print_numbers("want", &v->want, 1);
    printf(", \"wrong_class\": %" PRId64 ", \"zero_sign\": %" PRId64,
           v->wrong_class, v->zero_sign);
    if (v->wrong_class || v->zero_sign) {
        print_numbers("class_at", v->class_at, j->arity);
        print_numbers("class_got", &v->class_got, 1);
        print_numbers("class_want", &v->class_want, 1);
    }
    printf("}\n");
}

static int
judge(char **argv, int n)
{
    struct judged j = {0};
    struct verdict v[4];
    size_t size, first = 0;
    int at = 2;

    if (n < 5)
        usage();
    j.op = find_op(argv[0]);
    j.t = find_type(argv[1]);
    for (; at < n && strcmp(argv[at], "--") != 0 && j.arity < 3; at++) {
        j.x[j.arity++] = map_file(argv[at], &size);
        first = first ? MIN(first, size) : size;
    }
    for (at++; at < n && j.n_results < (int)ARRAY_LEN(v); at++) {
        j.results[j.n_results++] = map_file(argv[at], &size);
        first = MIN(first, size);
    }
    if (j.arity != op_info[j.op].arity || !j.n_results || at < n)
        usage();
    j.n = (int64_t)(first / dtype_info[j.t].bytes);
    judge_all(&j, v);
    for (int r = 0; r < j.n_results; r++)
        print_verdict(&j, &v[r]);
    return EXIT_OK;
}

/* --- the interpreter ------------------------------------------------------ */

enum { REFERENCE_SAMPLES = 8192 };

/* Greatest error that a reference may have, in ulp of the type it judges. */
static double
reference_limit(enum dtype t)
{
    return t == DT_F64 ? 0.05 : 1e-6;
}

static bool
check_reference(enum op op, enum dtype t)
{
    struct judged j = {.op = op, .t = t, .arity = op_info[op].arity};
    static double room64[3][REFERENCE_SAMPLES];
    void *to[3] = {room64[0], room64[1], room64[2]};
    int64_t all = sample_count(t, j.arity);
    struct verdict v;

    assert(j.arity <= 3);
    for (int64_t i = 0; i < REFERENCE_SAMPLES; i++) {
        double x[3] = {0};

        sample_at(t, j.arity, i * (all / REFERENCE_SAMPLES) + i % 8, x);
        for (int a = 0; a < j.arity; a++)
            num_store(t, to[a], i, x[a]);
    }
    for (int a = 0; a < j.arity; a++)
        j.x[a] = to[a];
    j.n = REFERENCE_SAMPLES;
    j.n_results = 1;
    judge_all(&j, &v);
    if (v.worst <= reference_limit(t) && !v.wrong_class && !v.zero_sign)
        return true;
    print_verdict(&j, &v);
    return false;
}

static int
reference(void)
{
    int number = 0, failed = 0;

    for (enum op op = 0; op < OP_COUNT; op++)
        for (int t = 0; t < 2; t++) {
            bool ok;

            if (!exact_known(op, types[t]))
                continue;
            ok = check_reference(op, types[t]);
            failed += !ok;
            printf("%s %d - %s %s\n", ok ? "ok" : "not ok", ++number,
                   name_of(op), dtype_info[types[t]].name);
        }
    printf("1..%d\n", number);
    return failed ? EXIT_INPUT : EXIT_OK;
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc == 2 && strcmp(argv[1], "reference") == 0)
        return reference();
    if (argc > 2 && strcmp(argv[1], "inputs") == 0)
        return inputs(argv + 2, argc - 2);
    if (argc > 2 && strcmp(argv[1], "judge") == 0)
        return judge(argv + 2, argc - 2);
    usage();
}
