/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of plans: a few words, numbers, strings and braces. Every refusal
 * names a place. Keys that a text leaves out keep the table's least value, so a
 * plan written by hand may be short. */
#include "support/base.h"

#include "sched/plan.h"

#include "sched/plan_guard.h"
#include "sched/plan_impl.h"
#include "sched/plan_read.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/vec.h"

static bool
is_punctuation(char c)
{
    return c == '{' || c == '}' || c == ';';
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void
skip_blanks(struct reader *r)
{
    while (r->at < r->src->len) {
        char c = r->src->text[r->at];

        if (c == '#')
            while (r->at < r->src->len && r->src->text[r->at] != '\n')
                r->at++;
        else if (is_blank(c))
            r->at++;
        else
            return;
    }
}

static uint32_t
word_end(const struct reader *r)
{
    const char *t = r->src->text;
    uint32_t e = r->at + 1;

    if (is_punctuation(t[r->at]))
        return e;
    if (t[r->at] == '"') {
        while (e < r->src->len && t[e] != '"' && t[e] != '\n')
            e++;
        return e < r->src->len && t[e] == '"' ? e + 1 : e;
    }
    while (e < r->src->len && !is_blank(t[e]) && !is_punctuation(t[e]) &&
           t[e] != '"' && t[e] != '#')
        e++;
    return e;
}

void
reader_next(struct reader *r)
{
    uint32_t end;

    skip_blanks(r);
    r->span = (struct span){r->src, r->at, r->at};
    r->word = NULL;
    if (r->at >= r->src->len)
        return;
    end = word_end(r);
    r->span.end = end;
    r->word = arena_strndup(r->arena, r->src->text + r->at, end - r->at);
    r->at = end;
}

bool
reader_fail(struct reader *r, const char *expected)
{
    if (!r->failed)
        diag_report(r->d, DIAG_PLAN_SYNTAX, r->span,
                    r->word ? r->word : "end of file", expected);
    r->failed = true;
    return false;
}

bool
reader_is(const struct reader *r, const char *word)
{
    return r->word && !strcmp(r->word, word);
}

bool
reader_accept(struct reader *r, const char *word)
{
    if (!reader_is(r, word))
        return false;
    reader_next(r);
    return true;
}

bool
reader_expect(struct reader *r, const char *word)
{
    return reader_accept(r, word) ||
           reader_fail(r, arena_printf(r->arena, "'%s'", word));
}

bool
reader_number(const char *s, int64_t *ret)
{
    int64_t v = 0;

    if (!s || !*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || v > (INT64_MAX - (*s - '0')) / 10)
            return false;
        v = v * 10 + (*s - '0');
    }
    *ret = v;
    return true;
}

int
key_find(const struct key_info *table, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(table[i].name, name))
            return i;
    return -1;
}

bool
key_value(const struct key_info *k, const char *text, int64_t *ret)
{
    const char *w;
    size_t len;
    int64_t v;

    if (!k->words) {
        if (!reader_number(text, &v) || v < k->lo || v > k->hi)
            return false;
        *ret = v;
        return true;
    }
    for (int64_t i = 0; (w = key_word(k, i, &len)); i++) {
        if (strlen(text) != len || strncmp(w, text, len) != 0)
            continue;
        *ret = i;
        return true;
    }
    return false;
}

/* KEY VALUE ';' */
static bool
read_key(struct reader *r, const struct key_info *table, int n, int64_t *keys)
{
    int k = r->word ? key_find(table, n, r->word) : -1;

    if (!r->word)
        return reader_fail(r, "'}'");
    if (k < 0) {
        diag_report(r->d, DIAG_PLAN_KEY, r->span, r->word);
        r->failed = true;
        return false;
    }
    reader_next(r);
    if (!r->word)
        return reader_fail(r, "a value");
    if (!key_value(&table[k], r->word, &keys[k])) {
        diag_report(r->d, DIAG_PLAN_RANGE, r->span, r->word, table[k].name);
        r->failed = true;
        return false;
    }
    reader_next(r);
    return reader_expect(r, ";");
}

/* Without a graph the number is all that is known. */
static bool
find_buffer(struct reader *r, const struct graph *g, node_id *ret)
{
    int64_t v;

    if (g)
        return plan_find_node(r->arena, g, r->word, ret);
    if (r->word[0] != '%' || !reader_number(r->word + 1, &v) || v > INT32_MAX)
        return false;
    *ret = (node_id)v;
    return true;
}

static bool
read_buffer(struct reader *r, const struct graph *g, struct buffer_plan *b)
{
    if (!r->word || is_punctuation(*r->word))
        return reader_fail(r, "the name of a value");
    if (!find_buffer(r, g, &b->node)) {
        diag_report(r->d, DIAG_PLAN_NAME, r->span, r->word);
        if (!g)
            diag_help(r->d, (struct span){0},
                      "a tuning file names values by number, '%%7'");
        r->failed = true;
        return false;
    }
    b->reason = "given by the plan";
    reader_next(r);
    if (!reader_expect(r, "{"))
        return false;
    while (!r->failed && !reader_accept(r, "}"))
        read_key(r, buffer_key_info, BK_COUNT, b->key);
    if (!r->failed && (b->key[BK_STORE] == STORE_WORKSPACE) !=
                          (b->key[BK_REUSE] == REUSE_KERNELS))
        return reader_fail(r, "'store workspace' with 'reuse kernels'");
    return !r->failed;
}

static bool
read_scheduler(struct reader *r, enum scheduler_id *ret)
{
    for (int i = 0; i < SCHED_COUNT; i++) {
        if (!reader_is(r, scheduler_name[i]))
            continue;
        *ret = (enum scheduler_id)i;
        reader_next(r);
        return true;
    }
    return reader_fail(r, "the name of a scheduler");
}

/* 'variant' or 'kernel' has been read; its number must count up from 0. */
static bool
read_index(struct reader *r, uint32_t expected)
{
    int64_t v;

    if (!reader_number(r->word, &v) || v != expected)
        return reader_fail(r, arena_printf(r->arena, "%u", expected));
    reader_next(r);
    return true;
}

static bool
read_kernel(struct reader *r, const struct graph *g, struct kernel_plan *k)
{
    VEC(struct buffer_plan) buffers = {0};
    VEC(node_id) writes = {0};

    for (int i = 0; i < PK_COUNT; i++)
        k->key[i] = plan_key_info[i].lo;
    if (!read_scheduler(r, &k->scheduler) || !reader_expect(r, "{"))
        return false;
    while (!r->failed && !reader_accept(r, "}")) {
        struct buffer_plan b = {0};

        if (!reader_accept(r, "buffer"))
            read_key(r, plan_key_info, PK_COUNT, k->key);
        else if (read_buffer(r, g, &b) && b.key[BK_STORE] == STORE_WORKSPACE)
            VEC_PUSH(r->arena, &writes, b.node);
        else if (!r->failed)
            VEC_PUSH(r->arena, &buffers, b);
    }
    k->buffers = buffers.v;
    k->n_buffers = buffers.n;
    k->writes = writes.v;
    k->n_writes = writes.n;
    return !r->failed;
}

static bool
read_guard(struct reader *r, const struct graph *g, const char **ret)
{
    size_t n = r->word ? strlen(r->word) : 0;
    const char *why;

    if (n < 2 || r->word[0] != '"' || r->word[n - 1] != '"')
        return reader_fail(r, "a guard in quotes");
    *ret = arena_strndup(r->arena, r->word + 1, n - 2);
    why = plan_guard_wrong(g, *ret);
    if (why) {
        diag_report(r->d, DIAG_PLAN_GUARD, r->span, *ret, why);
        r->failed = true;
        return false;
    }
    reader_next(r);
    return true;
}

bool
reader_kernels(struct reader *r, const struct graph *g, struct variant_plan *v)
{
    VEC(struct kernel_plan) kernels = {0};

    while (!r->failed && !reader_accept(r, "}")) {
        struct kernel_plan k = {0};

        if (reader_expect(r, "kernel") && read_index(r, kernels.n) &&
            read_kernel(r, g, &k))
            VEC_PUSH(r->arena, &kernels, k);
    }
    if (!r->failed && kernels.n == 0)
        return reader_fail(r, "a kernel in each variant");
    v->kernels = kernels.v;
    v->n_kernels = kernels.n;
    return !r->failed;
}

static bool
read_variant(struct reader *r, const struct graph *g, struct variant_plan *v)
{
    v->guard = "";
    if (reader_accept(r, "when") && !read_guard(r, g, &v->guard))
        return false;
    return reader_expect(r, "{") && reader_kernels(r, g, v);
}

static bool
read_fusion(struct reader *r, struct fusion_plan *p)
{
    VEC(struct variant_plan) variants = {0};

    if (!reader_expect(r, "fusion"))
        return false;
    if (!reader_is(r, p->g->name))
        return reader_fail(r, arena_printf(r->arena, "'%s'", p->g->name));
    reader_next(r);
    if (!reader_expect(r, "{"))
        return false;
    while (!r->failed && !reader_accept(r, "}")) {
        struct variant_plan v = {0};

        if (reader_expect(r, "variant") && read_index(r, variants.n) &&
            read_variant(r, p->g, &v))
            VEC_PUSH(r->arena, &variants, v);
    }
    if (!r->failed && variants.n == 0)
        return reader_fail(r, "a variant in each fusion");
    p->variants = variants.v;
    p->n_variants = variants.n;
    return !r->failed;
}

static bool
read_head(struct reader *r, const struct graph *const *graphs, uint32_t n)
{
    char hash[17];

    reader_next(r);
    if (!reader_expect(r, "plan") || !reader_expect(r, "1") ||
        !reader_expect(r, "graph"))
        return false;
    plan_hash(r->arena, graphs, n, hash);
    if (!reader_is(r, hash)) {
        if (!r->word)
            return reader_fail(r, "the hash of the graph");
        diag_report(r->d, DIAG_PLAN_GRAPH, r->span, r->word, hash);
        r->failed = true;
        return false;
    }
    reader_next(r);
    return true;
}

bool
plan_parse(struct arena *a, struct diag *d, const struct source *src,
           const struct graph *const *graphs, uint32_t n,
           struct fusion_plan ***ret_plans)
{
    struct reader r = {.arena = a, .d = d, .src = src};
    struct fusion_plan **plans = NEW_ARRAY(a, struct fusion_plan *, n);

    if (!read_head(&r, graphs, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        plans[i] = NEW(a, struct fusion_plan);
        plans[i]->g = graphs[i];
        if (!read_fusion(&r, plans[i]))
            return false;
    }
    if (r.word)
        return reader_fail(&r, "end of file");
    *ret_plans = plans;
    return true;
}
