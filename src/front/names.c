/* SPDX-License-Identifier: Apache-2.0 */
/* names: open addressing with linear probing, grown at half full, hashed with
 * FNV-1a. A misspelling is found by edit distance (a swap of neighbours counts
 * one), at most a third of the word's length away. */
#include "support/base.h"

#include "front/names.h"

#include "support/arena.h"

static uint32_t
hash(const char *key)
{
    uint32_t h = 2166136261u;

    for (const char *p = key; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return h;
}

void
names_init(struct names *t, struct arena *a)
{
    *t = (struct names){.arena = a};
}

/* The slot of key, or the free one where it belongs. */
static struct names_slot *
find(const struct names *t, const char *key)
{
    uint32_t i = hash(key) & (t->cap - 1);

    while (t->slots[i].key && strcmp(t->slots[i].key, key) != 0)
        i = (i + 1) & (t->cap - 1);
    return &t->slots[i];
}

void *
names_get(const struct names *t, const char *key)
{
    return t->cap ? find(t, key)->value : NULL;
}

static void
grow(struct names *t)
{
    struct names old = *t;

    t->cap = old.cap ? 2 * old.cap : 16;
    t->slots = NEW_ARRAY(t->arena, struct names_slot, t->cap);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.slots[i].key)
            *find(t, old.slots[i].key) = old.slots[i];
    }
}

void
names_put(struct names *t, const char *key, void *value)
{
    struct names_slot *s;

    assert(key && value);
    if (2 * (t->n + 1) > t->cap)
        grow(t);
    s = find(t, key);
    if (!s->key)
        t->n++;
    *s = (struct names_slot){key, value};
}

enum { MAX_WORD = 40 };

static uint32_t
min3(uint32_t a, uint32_t b, uint32_t c)
{
    return MIN(MIN(a, b), c);
}

static uint32_t
edit_distance(const char *a, const char *b)
{
    uint32_t rows[3][MAX_WORD + 1];
    uint32_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;
    uint32_t n = (uint32_t)strlen(a), m = (uint32_t)strlen(b);

    if (n > MAX_WORD || m > MAX_WORD)
        return UINT32_MAX;
    for (uint32_t j = 0; j <= m; j++)
        before[j] = last[j] = row[j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            row[j] = min3(last[j] + 1, row[j - 1] + 1,
                          last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        spare = before, before = last, last = row, row = spare;
    }
    return last[m];
}

void
nearest_init(struct nearest *n, const char *word)
{
    *n = (struct nearest){.word = word, .distance = UINT32_MAX};
}

void
nearest_offer(struct nearest *n, const char *candidate)
{
    size_t len = strlen(n->word), other = strlen(candidate);
    uint32_t limit = len < 3 ? 1 : (uint32_t)(len + 2) / 3, d;

    if (len < 2 || other > len + limit || len > other + limit)
        return;
    d = edit_distance(n->word, candidate);
    if (d == 0 || d > limit || d >= n->distance)
        return;
    n->best = candidate;
    n->distance = d;
}
