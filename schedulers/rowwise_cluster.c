/* SPDX-License-Identifier: Apache-2.0 */
/* A row split over the blocks of a thread-block cluster: what a plan must keep
 * to, what the exchange between the blocks takes, and on how many
 * multiprocessors such clusters find a place. */
#include "support/base.h"

#include "schedulers/rowwise.h"

#include "support/arena.h"

enum {
    WARP = 32,
    WARPS_OF_BLOCK = 4, /* in multiples of which registers are given out */
    PORTABLE_CLUSTER = 8,
    MAX_CLUSTER = 16,
    SHORT_ROW = 8192, /* columns that one block takes well */
    VALUE_BYTES = 8,
    MESSAGE_BYTES = 16,
    BARRIER_BYTES = 8,
};

/* One way to another multiprocessor, and for each slot that a lane reads after
 * its first. */
static const double HOP_NS = 450, SLOT_NS = 15;

/* Clusters beyond the portable size of 8 are slower. */
static const double BEYOND_PORTABLE = 1.06;

/* Clusters that make one step and leave: all their blocks must find room at
 * once, and none leaves before the last. Forward norms and softmax at N = 16384
 * to 65536 took 1.15 (2 blocks) to 1.23 (8) times the time of blocks (H200). */
static const double ONE_SHOT_LOSS = 1.12, ONE_SHOT_BLOCK = 0.014;

/* Clusters that walk over rows and send for none ahead: layer norm backward in
 * f32 at N = 10240 to 20480 took 1.06 times what the pipes explain, 1.1 times
 * what it takes with a ring (H200). */
static const double BEHIND_LOSS = 1.03;

/* And again where a multiprocessor has one of their blocks at a time. */
static const double ONE_SHOT_ALONE = 1.05;

int
row_cluster(const struct kernel_plan *k)
{
    return (int)MAX(k->key[PK_CLUSTER], 1);
}

const char *
row_bad_cluster(const struct problem *p, const struct kernel_plan *k)
{
    int cluster = row_cluster(k);

    if (cluster == 1)
        return NULL;
    if (!p->dev->has_cluster)
        return "the device has no thread-block clusters";
    if (cluster & (cluster - 1))
        return "cluster must be a power of two";
    if (!device_cluster_sms(p->dev, cluster))
        return arena_printf(p->arena, "the device has no clusters of %d blocks",
                            cluster);
    if (p->f->levels == 0)
        return "a cluster shares the reductions of a row, and there are none";
    if (k->key[PK_THREADS] != k->key[PK_THREADS_PER_ROW])
        return "the blocks of a cluster share one row: threads_per_row must be "
               "threads";
    if (k->key[PK_COLUMN_TILES])
        return "cluster and column_tiles exclude each other";
    return NULL;
}

int
row_usable_sms(const struct problem *p, const struct kernel_plan *k)
{
    int cluster = row_cluster(k);

    return cluster > 1 ? device_cluster_sms(p->dev, cluster) : p->dev->sms;
}

static int
slots(const struct kernel_plan *k)
{
    return row_cluster(k) * (int)((k->key[PK_THREADS] + WARP - 1) / WARP);
}

double
row_cluster_ns(const struct kernel_plan *k)
{
    int rounds = (slots(k) + WARP - 1) / WARP;

    if (row_cluster(k) == 1)
        return 0;
    return HOP_NS + SLOT_NS * (rounds - 1);
}

double
row_cluster_loss(const struct kernel_plan *k, int resident)
{
    double loss = row_cluster(k) > PORTABLE_CLUSTER ? BEYOND_PORTABLE : 1;

    if (row_cluster(k) > 1 && k->key[PK_PERSISTENT] && !k->key[PK_STAGES] &&
        !k->key[PK_PREFETCH])
        loss *= BEHIND_LOSS;
    if (row_cluster(k) > 1 && !k->key[PK_PERSISTENT])
        loss *= (ONE_SHOT_LOSS + ONE_SHOT_BLOCK * row_cluster(k)) *
                (resident == 1 ? ONE_SHOT_ALONE : 1);
    return loss;
}

/* Two sets of slots, each with the values of the largest phase for every warp
 * of the cluster, and their mbarriers. */
int64_t
row_cluster_smem(const struct problem *p, const struct kernel_plan *k)
{
    const struct facts *f = p->f;
    int most = 0;

    if (row_cluster(k) == 1)
        return 0;
    for (int phase = 0; phase < f->levels; phase++) {
        int bytes = MESSAGE_BYTES - 1;

        for (uint32_t i = 0; i < f->n_reductions; i++)
            if (facts_is_inner(f, f->reductions[i]) &&
                row_reduction_phase(f, f->reductions[i]) == phase)
                bytes += VALUE_BYTES;
        most = MAX(most, bytes / MESSAGE_BYTES * MESSAGE_BYTES);
    }
    return 2 * ((int64_t)slots(k) * most + BARRIER_BYTES);
}

/* --- proposals ------------------------------------------------------------ */

static int
threads_of_share(int64_t vectors, int cluster, int each)
{
    int step = WARP * WARPS_OF_BLOCK;
    int threads = row_threads((vectors + cluster - 1) / cluster, each);

    return cluster == 1 ? threads : (threads + step - 1) / step * step;
}

bool
row_fit_cluster(const struct problem *p, int64_t vectors, int most,
                struct row_geometry *g)
{
    bool one = vectors * g->vector <= SHORT_ROW;

    for (g->cluster = 1; g->cluster <= (one ? 1 : MAX_CLUSTER);
         g->cluster *= 2) {
        if (g->cluster > 1 && !device_cluster_sms(p->dev, g->cluster))
            return false;
        g->threads_per_row = threads_of_share(vectors, g->cluster, g->vectors);
        if (g->threads_per_row <= most)
            return true;
    }
    return false;
}

int
row_resident_units(const struct problem *p, const struct row_geometry *g)
{
    int sms = p->dev->sms;

    if (g->cluster > 1)
        sms = device_cluster_sms(p->dev, g->cluster);
    return sms * g->blocks_per_sm / MAX(g->cluster, 1);
}

const char *
row_cluster_summary(const struct problem *p, const struct row_geometry *g)
{
    if (g->cluster <= 1)
        return "";
    return arena_printf(p->arena, "; cluster of %d", g->cluster);
}
