/* SPDX-License-Identifier: Apache-2.0 */
/* expr_values: the launch library's evaluator, for comparison with another.
 *
 * Each line of standard input is an expression, then, after a tab each,
 * NAME=VALUE; the answer is the value or "none". A name may have a member and
 * an index, as in x.shape[0]. */
#include "support/base.h"

#include "support/expr.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LINE = 8192, MAX_NAMES = 64 };

struct names {
    const char *name[MAX_NAMES];
    int64_t value[MAX_NAMES];
    uint32_t n;
};

static bool
find(void *data, const char *name, const char *member, uint32_t dim,
     struct expr_var *ret)
{
    const struct names *n = data;
    char whole[300];

    if (!member)
        snprintf(whole, sizeof(whole), "%s", name);
    else if (strcmp(member, "align") == 0)
        snprintf(whole, sizeof(whole), "%s.align", name);
    else
        snprintf(whole, sizeof(whole), "%s.%s[%u]", name, member, dim);
    for (uint32_t i = 0; i < n->n; i++) {
        if (strcmp(n->name[i], whole) != 0)
            continue;
        *ret = (struct expr_var){.kind = EV_DIM, .index = i};
        return true;
    }
    return false;
}

static bool
look_up(const void *data, const struct expr_var *v, int64_t *ret)
{
    *ret = ((const struct names *)data)->value[v->index];
    return true;
}

static void
read_names(char *words, struct names *n)
{
    for (char *w = strtok(words, "\t\n"); w; w = strtok(NULL, "\t\n")) {
        char *equals = strchr(w, '=');

        if (!equals || n->n == MAX_NAMES)
            exit(EXIT_USAGE);
        *equals = '\0';
        n->name[n->n] = w;
        n->value[n->n++] = strtoll(equals + 1, NULL, 10);
    }
}

static void
answer(const char *text, struct names *n)
{
    const char *why;
    struct expr e;
    int64_t v;

    if (!expr_parse(text, find, n, &e, &why)) {
        printf("'%s': %s\n", text, why);
        return;
    }
    if (expr_eval(&e, look_up, n, &v))
        printf("%" PRId64 "\n", v);
    else
        printf("none\n");
    expr_free(&e);
}

int
main(void)
{
    char line[MAX_LINE];

    while (fgets(line, sizeof(line), stdin)) {
        struct names n = {.n = 0};
        size_t len = strcspn(line, "\t\n");
        bool more = line[len] == '\t';

        line[len] = '\0';
        if (more)
            read_names(line + len + 1, &n);
        answer(line, &n);
    }
    return 0;
}
