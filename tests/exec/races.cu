// What races.c draws: each thread does what its row of the table says.
// For the emulation alone.
#include "fu_emulate.h"

enum { NONE, READ, WRITE, BLOCK, WARP, GROUP, RELEASE, ACQUIRE };

struct race_op {
    fu_u8 what, offset, bytes, object;
};

static bool signalled[256];
static char objects[256];

static bool is_signalled(void *object)
{
    return *(bool *)object;
}

static __forceinline__ void run_access(race_op op)
{
    if (op.what == READ)
        fu_emu_shared_read(fu_emu.self->block, op.offset, op.bytes);
    else if (op.what == WRITE)
        fu_emu_shared_write(fu_emu.self->block, op.offset, op.bytes);
}

static __forceinline__ void run_order(race_op op)
{
    if (op.what == RELEASE) {
        fu_emu_release(fu_emu_sync_at(&objects[op.object]));
        signalled[op.object] = true;
    } else if (op.what == ACQUIRE) {
        fu_emu_wait_until(is_signalled, &signalled[op.object], "a signal");
        fu_emu_acquire(fu_emu_sync_at(&objects[op.object]));
    }
}

extern "C" __global__ void table(const race_op *FU_RESTRICT ops, const int steps)
{
    const race_op *row = ops + fu_tid() * steps;
    if (fu_tid() == 0) {
        memset(signalled, 0, sizeof(signalled));
        for (int i = 0; i < 32; i += 8)
            fu_sstore<double>(i, 0.0);
    }
    fu_barrier();
    for (int i = 0; i < steps; ++i) {
        if (row[i].what == BLOCK)
            fu_barrier();
        else if (row[i].what == WARP)
            fu_warp_barrier();
        else if (row[i].what == GROUP)
            fu_group_barrier(1, 64);
        run_access(row[i]);
        run_order(row[i]);
    }
}

FU_KERNEL(table)
