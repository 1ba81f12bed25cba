/* SPDX-License-Identifier: Apache-2.0 */
/* listings: the tables of the compiler, a row a line. */
#include "support/base.h"

#include "driver/listings.h"

#include "device/device.h"
#include "ir/op.h"
#include "sched/plan.h"
#include "support/buf.h"
#include "support/diag.h"

void
list_devices(struct buf *b)
{
    buf_printf(b, "%-12s %-7s %5s %9s %9s %8s  %s\n", "name", "arch", "sms",
               "smem", "l2", "GB/s", "figures");
    for (unsigned i = 0; i < device_rows_count; i++) {
        const struct device *d = &device_rows[i];

        buf_printf(b, "%-12s sm_%-4d %5d %9d %9d %8d  %s%s\n", d->name, d->arch,
                   d->sms, d->smem_per_block, d->l2_bytes,
                   (int)(d->dram_bytes_per_ns + 0.5),
                   d->measured ? "measured" : "published",
                   d->arch_default ? ", usual for its arch" : "");
    }
}

static void
list_op(struct buf *b, const struct op_info *op)
{
    static const char *const class_name[] = {
        [OC_LEAF] = "leaf",     [OC_POINTWISE] = "pointwise",
        [OC_CAST] = "cast",     [OC_VIEW] = "view",
        [OC_JOIN] = "join",     [OC_REDUCE] = "reduction",
        [OC_SCAN] = "scan",     [OC_INDEX] = "index",
        [OC_RANDOM] = "random",
    };
    struct buf ulp;

    buf_init(&ulp, b->arena);
    buf_double(&ulp, op->ulp);
    buf_printf(b, "%-14s %-10s ", op->name, class_name[op->class]);
    if (op->arity < 0)
        buf_printf(b, "%5s", "any");
    else
        buf_printf(b, "%5d", op->arity);
    buf_printf(b, " %6s%s\n", buf_str(&ulp),
               op->flags & OPF_NO_KERNEL ? "  no kernel yet" : "");
}

void
list_ops(struct buf *b)
{
    buf_printf(b, "%-14s %-10s %5s %6s\n", "name", "class", "arity", "ulp");
    for (int i = 0; i < OP_COUNT; i++) {
        const struct op_info *op = &op_info[i];

        if (!(op->flags & OPF_INTERNAL))
            list_op(b, op);
    }
}

void
list_schedulers(struct buf *b)
{
    for (int i = 0; i < SCHED_COUNT; i++)
        buf_printf(b, "%-24s %s\n", scheduler_name[i], scheduler_summary[i]);
}

bool
explain_error(struct buf *b, const char *id)
{
    static const char *const severity[] = {"note", "warning", "error", "error"};
    const struct diag_info *info = diag_find(id);

    if (!info)
        return false;
    buf_printf(b, "%s (%s)\n%s\n", info->id, severity[info->severity],
               info->explanation);
    return true;
}
