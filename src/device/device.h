/* SPDX-License-Identifier: Apache-2.0 */
/* device: one row per GPU in devices.def; facts only, no behaviour. Code asks
 * dev->has_bulk_copy, never "arch >= 90". */
#ifndef FUSEC_DEVICE_DEVICE_H
#define FUSEC_DEVICE_DEVICE_H

#include "support/base.h"

struct arena;

struct device {
    const char *name;  /* "h200" */
    int arch;          /* 90 for sm_90 */
    bool arch_default; /* the row --arch alone takes */
    int sms;
    int threads_per_sm, threads_per_block, blocks_per_sm, warp;
    int regs_per_sm, regs_per_thread, reg_granule;  /* per warp, in registers */
    int smem_per_sm, smem_per_block, smem_reserved; /* bytes */
    int l2_bytes;
    /* Measured or, where marked so in devices.def, from public figures. */
    double dram_bytes_per_ns; /* copy ceiling: traffic per ns */
    double copy_fixed_ns;     /* t(copy) = fixed + bytes / rate */
    double l2_bytes_per_ns, smem_bytes_per_ns;
    double issue_per_ns; /* lane instructions per ns, all SMs */
    double launch_ns, finish_ns, barrier_ns;
    double inflight_bytes; /* best bytes in flight per SM */
    bool measured;
    bool has_cp_async, has_bulk_copy, has_cluster, has_pdl, has_vec32;
    int cluster_sms[4]; /* multiprocessors that clusters of 2, 4, 8, 16 fill */
};

extern const struct device device_rows[];
extern const unsigned device_rows_count;

const struct device *device_find(const char *name);
const struct device *device_for_arch(int arch); /* its default row */
/* Multiprocessors on which clusters of so many blocks find a place; 0: none. */
int device_cluster_sms(const struct device *d, int blocks);
/* "sms=..,smem=.." applied to a copy; NULL and *ret_why for a bad field. */
const struct device *device_override(struct arena *a, const struct device *d,
                                     const char *text, const char **ret_why);
/* Registers a thread may use when blocks of that many threads shall fit
 * `blocks` times on an SM, by the allocation granule and the 4 sub-partitions.
 */
int device_register_cap(const struct device *d, int threads, int blocks);
/* Blocks that fit on an SM; 0 when one does not. */
int device_occupancy(const struct device *d, int threads, int regs, int smem);

#endif
