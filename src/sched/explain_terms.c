/* SPDX-License-Identifier: Apache-2.0 */
/* explain_terms: the numbers behind a plan: what makes up its time, beside a
 * copy of the same bytes, and what limits its blocks. */
#include "support/base.h"

#include "sched/explain_impl.h"

#include "support/arena.h"
#include "support/buf.h"

static const struct {
    const char *key, *words;
} terms[CT_COUNT] = {
#define TERM(id, key_, words_) [CT_##id] = {key_, words_},
#include "sched/cost_terms.def"
};

int64_t
explain_whole(double x)
{
    x = MIN(MAX(x, -9e18), 9e18);
    return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

int
explain_percent(double part, double of)
{
    return of > 0 ? (int)explain_whole(100 * part / of) : 0;
}

/* Each line ends at the sum so far in whole nanoseconds, so that what is
 * printed adds up. */
void
explain_time(const struct device *dev, const struct variant_slot *slot,
             const struct plan_cost *c, struct time_line ret[TIME_LINES])
{
    double sum = slot->floor_ns, copied = slot->floor_ns - dev->copy_fixed_ns;
    int64_t total = explain_whole(c->total_ns);
    int64_t before;

    ret[0] = (struct time_line){"copy", "a copy of the bytes that must move",
                                explain_whole(sum)};
    before = ret[0].ns;
    for (int i = 0; i < CT_COUNT; i++) {
        double more = c->term[i];
        int64_t now;

        if (i == CT_DRAM)
            more -= copied;
        if (i == CT_LAUNCH)
            more -= dev->copy_fixed_ns;
        sum += more;
        now = i + 1 < CT_COUNT ? explain_whole(sum) : total;
        ret[i + 1] =
            (struct time_line){terms[i].key, terms[i].words, now - before};
        before = now;
    }
}

const char *
explain_scheduler(struct arena *a, const struct candidate *c)
{
    const char *name = scheduler_name[c->plan.kernels[0].scheduler];

    return c->plan.n_kernels > 1 ? "" : arena_printf(a, "%s, ", name);
}

const char *
explain_limit(struct arena *a, const struct device *dev,
              const struct kernel_plan *k, const struct plan_cost *c)
{
    int threads = (int)k->key[PK_THREADS];
    const struct {
        const char *what;
        int blocks;
    } limits[] = {
        {"registers", device_occupancy(dev, threads, c->regs, 0)},
        {"shared memory", device_occupancy(dev, threads, 1, c->smem)},
        {"threads", device_occupancy(dev, threads, 1, 0)},
    };
    struct buf b;

    buf_init(&b, a);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (limits[i].blocks <= c->blocks_per_sm)
            buf_printf(&b, "%s%s", b.len ? ", " : "", limits[i].what);
    return b.len ? buf_str(&b) : "the plan";
}
