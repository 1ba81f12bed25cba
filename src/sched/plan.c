/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys, and plans as text. A printed plan is complete: every key
 * in the order of plan_keys.def, so two plans can be compared by their text. */
#include "support/base.h"

#include "sched/plan.h"

#include "sched/plan_impl.h"
#include "support/arena.h"
#include "support/buf.h"
#include "support/sha256.h"

const char *const scheduler_name[SCHED_COUNT] = {
#define SCHEDULER(id, name, summary) name,
#include "schedulers/schedulers.def"
#undef SCHEDULER
};
const char *const scheduler_summary[SCHED_COUNT] = {
#define SCHEDULER(id, name, summary) summary,
#include "schedulers/schedulers.def"
#undef SCHEDULER
};

const struct key_info plan_key_info[PK_COUNT] = {
#define KEY(id, name, lo, hi, words, doc) {name, lo, hi, words, doc},
#include "sched/plan_keys.def"
#undef KEY
};
const struct key_info buffer_key_info[BK_COUNT] = {
#define BUFFER_KEY(id, name, lo, hi, words, doc) {name, lo, hi, words, doc},
#include "sched/plan_keys.def"
#undef BUFFER_KEY
};

enum { LINE = 80, INDENT = 6 };

/* The k-th word of a list separated by blanks, and its length; NULL at the
 * end. */
const char *
key_word(const struct key_info *k, int64_t i, size_t *ret_len)
{
    const char *w = k->words;

    for (; w && i > 0; i--) {
        w = strchr(w, ' ');
        w = w ? w + 1 : NULL;
    }
    if (w)
        *ret_len = strcspn(w, " ");
    return w;
}

static void
put_key(struct buf *b, const struct key_info *k, int64_t v)
{
    const char *word;
    size_t len;

    buf_puts(b, k->name);
    buf_putc(b, ' ');
    if (k->words) {
        word = key_word(k, v, &len);
        if (!word)
            BUG("key '%s' has no word %" PRId64, k->name, v);
        buf_write(b, word, len);
    } else {
        buf_int(b, v);
    }
    buf_putc(b, ';');
}

/* One item of a list that breaks before column 80. */
static void
put_item(struct buf *b, size_t *column, const struct buf *item)
{
    size_t n = item->len;

    if (*column > INDENT && *column + 1 + n > LINE) {
        buf_putc(b, '\n');
        *column = 0;
    }
    if (*column == 0) {
        buf_printf(b, "%*s", INDENT, "");
        *column = INDENT;
    } else {
        buf_putc(b, ' ');
        (*column)++;
    }
    buf_write(b, item->data, n);
    *column += n;
}

static void
print_buffer(struct buf *b, const struct graph *g, const struct buffer_plan *p)
{
    const char *name = g ? plan_node_name(b->arena, g, p->node)
                         : arena_printf(b->arena, "%%%u", p->node);

    buf_puts(b, "      buffer ");
    buf_puts(b, name);
    buf_puts(b, " {");
    for (int i = 0; i < BK_COUNT; i++) {
        buf_putc(b, ' ');
        put_key(b, &buffer_key_info[i], p->key[i]);
    }
    buf_puts(b, " }\n");
}

struct buffer_plan
plan_write(node_id n)
{
    struct buffer_plan b = {
        .node = n, .reason = "written once, for the kernels behind this one"};

    b.key[BK_STORE] = STORE_WORKSPACE;
    b.key[BK_REUSE] = REUSE_KERNELS;
    return b;
}

void
plan_print_kernel(struct buf *b, const struct graph *g,
                  const struct kernel_plan *k, uint32_t index)
{
    size_t column = 0;
    struct buf item;

    buf_init(&item, b->arena);
    buf_printf(b, "    kernel %u %s {\n", index, scheduler_name[k->scheduler]);
    for (int i = 0; i < PK_COUNT; i++) {
        item.len = 0;
        put_key(&item, &plan_key_info[i], k->key[i]);
        put_item(b, &column, &item);
    }
    buf_putc(b, '\n');
    for (uint32_t i = 0; i < k->n_buffers; i++)
        print_buffer(b, g, &k->buffers[i]);
    for (uint32_t i = 0; i < k->n_writes; i++) {
        struct buffer_plan w = plan_write(k->writes[i]);

        print_buffer(b, g, &w);
    }
    buf_puts(b, "    }\n");
}

static void
print_variant(struct buf *b, const struct graph *g,
              const struct variant_plan *v, uint32_t index)
{
    buf_printf(b, "  variant %u", index);
    if (v->guard && *v->guard)
        buf_printf(b, " when \"%s\"", v->guard);
    buf_puts(b, " {\n");
    for (uint32_t i = 0; i < v->n_kernels; i++)
        plan_print_kernel(b, g, &v->kernels[i], i);
    buf_puts(b, "  }\n");
}

/* One fusion: its own hash. Several: the hash of all. */
void
plan_hash(struct arena *a, const struct graph *const *graphs, uint32_t n,
          char ret[17])
{
    struct buf b;
    char hex[65];

    if (n == 1) {
        graph_hash(graphs[0], ret);
        return;
    }
    buf_init(&b, a);
    for (uint32_t i = 0; i < n; i++) {
        char h[17];

        graph_hash(graphs[i], h);
        buf_printf(&b, "%s\n", h);
    }
    sha256_hex(buf_str(&b), b.len, hex);
    memcpy(ret, hex, 16);
    ret[16] = '\0';
}

void
plan_print(struct buf *b, const struct fusion_plan *const *plans, uint32_t n)
{
    const struct graph **graphs = NEW_ARRAY(b->arena, const struct graph *, n);
    char hash[17];

    for (uint32_t i = 0; i < n; i++)
        graphs[i] = plans[i]->g;
    plan_hash(b->arena, graphs, n, hash);
    buf_printf(b, "plan 1 graph %s\n", hash);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "fusion %s {\n", plans[i]->g->name);
        for (uint32_t k = 0; k < plans[i]->n_variants; k++)
            print_variant(b, plans[i]->g, &plans[i]->variants[k], k);
        buf_puts(b, "}\n");
    }
}

static void
list_key(struct buf *b, const char *prefix, const struct key_info *k)
{
    buf_printf(b, "%-20s ", arena_printf(b->arena, "%s%s", prefix, k->name));
    if (k->words)
        buf_printf(b, "%s", k->words);
    else if (k->hi == INT64_MAX)
        buf_printf(b, "%" PRId64 "..", k->lo);
    else
        buf_printf(b, "%" PRId64 "..%" PRId64, k->lo, k->hi);
    buf_printf(b, "\n    %s\n", k->doc);
}

void
plan_list_keys(struct buf *b)
{
    for (int i = 0; i < PK_COUNT; i++)
        list_key(b, "", &plan_key_info[i]);
    for (int i = 0; i < BK_COUNT; i++)
        list_key(b, "buffer.", &buffer_key_info[i]);
}

/* The name a node would like to have: its statement's; a parameter's for the
 * parameter and for nameless views of it. */
static const char *
wanted_name(const struct graph *g, node_id id)
{
    const struct node *n = graph_node(g, id);

    if (n->name)
        return n->name;
    while (op_info[n->op].class == OC_VIEW && !n->name)
        n = graph_node(g, n->args[0]);
    return n->op == OP_INPUT || n->op == OP_SCALAR ? g->params[n->param].name
                                                   : NULL;
}

/* A name that several nodes want goes to the last of them: for a parameter the
 * view that is used, not the steps on the way to it. */
const char *
plan_node_name(struct arena *a, const struct graph *g, node_id id)
{
    const char *name = wanted_name(g, id);

    for (node_id k = id + 1; name && k < g->n_nodes; k++) {
        const char *other = wanted_name(g, k);

        if (other && !strcmp(name, other))
            name = NULL;
    }
    return name ? name : arena_printf(a, "%%%u", id);
}

bool
plan_find_node(struct arena *a, const struct graph *g, const char *name,
               node_id *ret)
{
    for (node_id id = 0; id < g->n_nodes; id++) {
        if (strcmp(plan_node_name(a, g, id), name) != 0 &&
            strcmp(arena_printf(a, "%%%u", id), name) != 0)
            continue;
        *ret = id;
        return true;
    }
    return false;
}
