/* SPDX-License-Identifier: Apache-2.0 */
/* The device table, and the two rules of occupancy every scheduler needs: how
 * many registers a thread may have, and how many blocks fit. Registers belong
 * to the four sub-partitions of a multiprocessor, so a block of 17 warps costs
 * as much as one of 20. */
#include "support/base.h"

#include "device/device.h"

#include "support/arena.h"

#include <stdlib.h>

#define KIB 1024
#define MIB (1024 * 1024)

enum { SUB_PARTITIONS = 4 };

const struct device device_rows[] = {
#define DEVICE(name_, arch_, def_, sms_, threads_, blocks_, smem_sm_,          \
               smem_block_, l2_, dram_, fixed_, l2_rate_, smem_rate_, issue_,  \
               launch_, finish_, barrier_, inflight_, measured_, cp_, bulk_,   \
               c2_, c4_, c8_, c16_, pdl_, vec32_)                              \
    {.name = name_,                                                            \
     .arch = arch_,                                                            \
     .arch_default = def_,                                                     \
     .sms = sms_,                                                              \
     .threads_per_sm = threads_,                                               \
     .threads_per_block = 1024,                                                \
     .blocks_per_sm = blocks_,                                                 \
     .warp = 32,                                                               \
     .regs_per_sm = 65536,                                                     \
     .regs_per_thread = 255,                                                   \
     .reg_granule = 256,                                                       \
     .smem_per_sm = smem_sm_,                                                  \
     .smem_per_block = smem_block_,                                            \
     .smem_reserved = KIB,                                                     \
     .l2_bytes = l2_,                                                          \
     .dram_bytes_per_ns = dram_,                                               \
     .copy_fixed_ns = fixed_,                                                  \
     .l2_bytes_per_ns = l2_rate_,                                              \
     .smem_bytes_per_ns = smem_rate_,                                          \
     .issue_per_ns = issue_,                                                   \
     .launch_ns = launch_,                                                     \
     .finish_ns = finish_,                                                     \
     .barrier_ns = barrier_,                                                   \
     .inflight_bytes = inflight_,                                              \
     .measured = measured_,                                                    \
     .has_cp_async = cp_,                                                      \
     .has_bulk_copy = bulk_,                                                   \
     .has_cluster = (c2_) > 0,                                                 \
     .has_pdl = pdl_,                                                          \
     .has_vec32 = vec32_,                                                      \
     .cluster_sms = {c2_, c4_, c8_, c16_}},
#include "device/devices.def"
#undef DEVICE
};
const unsigned device_rows_count = ARRAY_LEN(device_rows);

const struct device *
device_find(const char *name)
{
    for (unsigned i = 0; i < device_rows_count; i++)
        if (!strcmp(device_rows[i].name, name))
            return &device_rows[i];
    return NULL;
}

int
device_cluster_sms(const struct device *d, int blocks)
{
    for (size_t i = 0; i < ARRAY_LEN(d->cluster_sms); i++)
        if (blocks == 2 << i)
            return MIN(d->cluster_sms[i], d->sms / blocks * blocks);
    return 0;
}

const struct device *
device_for_arch(int arch)
{
    for (unsigned i = 0; i < device_rows_count; i++)
        if (device_rows[i].arch == arch && device_rows[i].arch_default)
            return &device_rows[i];
    return NULL;
}

/* What --device NAME,field=value may change. */
static const struct field {
    const char *name;
    size_t offset;
    bool is_int;
} fields[] = {
#define INT_FIELD(name, member)                                                \
    {                                                                          \
        name, offsetof(struct device, member), true                            \
    }
#define REAL_FIELD(name, member)                                               \
    {                                                                          \
        name, offsetof(struct device, member), false                           \
    }
    INT_FIELD("sms", sms),
    INT_FIELD("threads", threads_per_sm),
    INT_FIELD("blocks", blocks_per_sm),
    INT_FIELD("regs", regs_per_sm),
    INT_FIELD("smem", smem_per_block),
    INT_FIELD("smem_sm", smem_per_sm),
    INT_FIELD("l2", l2_bytes),
    REAL_FIELD("dram_rate", dram_bytes_per_ns),
    REAL_FIELD("copy_fixed", copy_fixed_ns),
    REAL_FIELD("l2_rate", l2_bytes_per_ns),
    REAL_FIELD("smem_rate", smem_bytes_per_ns),
    REAL_FIELD("issue_rate", issue_per_ns),
    REAL_FIELD("launch_ns", launch_ns),
    REAL_FIELD("finish_ns", finish_ns),
    REAL_FIELD("barrier_ns", barrier_ns),
    REAL_FIELD("inflight", inflight_bytes),
#undef INT_FIELD
#undef REAL_FIELD
};

static const char *
no_field(struct arena *a, const char *name)
{
    const char *all = "";

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        all = arena_printf(a, "%s %s", all, fields[i].name);
    return arena_printf(a, "a device has no field '%s'; there are%s", name,
                        all);
}

static const struct field *
find_field(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

static bool
set_field(struct device *d, const struct field *f, const char *text)
{
    char *end;
    double v;

    if (*text < '0' || *text > '9')
        return false;
    v = strtod(text, &end);
    if (*end || !(v >= 1) || v > INT32_MAX)
        return false;
    if (f->is_int) {
        int i = (int)v;

        memcpy((char *)d + f->offset, &i, sizeof(i));
    } else {
        memcpy((char *)d + f->offset, &v, sizeof(v));
    }
    return true;
}

static bool
set_item(struct arena *a, struct device *d, const char *item,
         const char **ret_why)
{
    const char *eq = strchr(item, '=');
    const struct field *f;

    if (!eq) {
        *ret_why = arena_printf(a, "'%s' is not FIELD=VALUE", item);
        return false;
    }
    f = find_field(arena_strndup(a, item, (size_t)(eq - item)));
    if (!f) {
        *ret_why = no_field(a, arena_strndup(a, item, (size_t)(eq - item)));
        return false;
    }
    if (!set_field(d, f, eq + 1)) {
        *ret_why =
            arena_printf(a, "'%s' is not a value of '%s'", eq + 1, f->name);
        return false;
    }
    return true;
}

const struct device *
device_override(struct arena *a, const struct device *d, const char *text,
                const char **ret_why)
{
    struct device *copy = NEW(a, struct device);

    *copy = *d;
    while (*text) {
        size_t n = strcspn(text, ",");

        if (!set_item(a, copy, arena_strndup(a, text, n), ret_why))
            return NULL;
        text += n + (text[n] == ',');
    }
    return copy;
}

static int
round_up(int v, int to)
{
    return (v + to - 1) / to * to;
}

/* Warps a block takes from the register files: small blocks share the
 * sub-partitions, larger ones fill all four evenly. */
static int
block_warps(const struct device *d, int threads)
{
    int warps = (threads + d->warp - 1) / d->warp;

    return warps < SUB_PARTITIONS ? warps : round_up(warps, SUB_PARTITIONS);
}

int
device_register_cap(const struct device *d, int threads, int blocks)
{
    int warps = round_up(block_warps(d, threads) * blocks, SUB_PARTITIONS);
    int step = d->reg_granule / d->warp;
    int regs;

    assert(threads > 0 && blocks > 0);
    regs = d->regs_per_sm / (warps * d->warp) / step * step;
    return MIN(regs, d->regs_per_thread);
}

int
device_occupancy(const struct device *d, int threads, int regs, int smem)
{
    int warps = block_warps(d, threads);
    int step = d->reg_granule / d->warp;
    int blocks;

    if (threads > d->threads_per_block || regs > d->regs_per_thread ||
        smem > d->smem_per_block)
        return 0;
    blocks =
        MIN(d->threads_per_sm / round_up(threads, d->warp), d->blocks_per_sm);
    blocks = MIN(blocks, d->regs_per_sm /
                             (round_up(MAX(regs, 1), step) * d->warp * warps));
    return MIN(blocks, d->smem_per_sm / (smem + d->smem_reserved));
}
