// Each thread does what its row of a table says; ../tables.py draws them.
// NEEDS sm_80
#ifndef FU_EMULATE
#include "prim.cuh"
#include "atomic.cuh"
#include "async.cuh"
#else
#include "fu_emulate.h"
#endif

enum { STEPS = 14, SLOTS = 6 };
enum { NOTHING, READ, WRITE, COPY, COMMIT, WAIT_ALL, WAIT_ALL_BUT_ONE, BARRIER,
       READ_WORD, WRITE_WORD, ADD };

// One step; gives what was read.
static __device__ __forceinline__ fu_u32 step(int what, int where, const fu_u32 *from,
                                              fu_u32 *word)
{
    if (what == READ)
        return fu_sload<fu_u32>(where * 4);
    if (what == READ_WORD)
        return fu_load(word, where);
    if (what == WRITE)
        fu_sstore<fu_u32>(where * 4, 1u);
    if (what == COPY)
        fu_copy_async<4>(where * 4, from + where);
    if (what == COMMIT)
        fu_copy_async_commit();
    if (what == WAIT_ALL)
        fu_copy_async_wait<0>();
    if (what == WAIT_ALL_BUT_ONE)
        fu_copy_async_wait<1>();
    if (what == BARRIER)
        fu_barrier();
    if (what == WRITE_WORD)
        fu_store(word, where, 1u);
    if (what == ADD)
        fu_atomic_add<FU_RELAXED>(word + where, 1u);
    return 0;
}

extern "C" __global__ void table(const fu_u8 *FU_RESTRICT todo, const fu_u32 *FU_RESTRICT from,
                                 fu_u32 *word, fu_u32 *FU_RESTRICT sum)
{
    const int tid = fu_tid();
    fu_u32 s = 0;
    if (tid < SLOTS)
        fu_sstore<fu_u32>(tid * 4, 0u);
    fu_barrier();
    for (int k = 0; k < STEPS; ++k) {
        const int at = (tid * STEPS + k) * 2;
        s += step(fu_load(todo, at), fu_load(todo, at + 1), from, word);
    }
    fu_store(sum, tid, s);
}

#ifdef FU_EMULATE
FU_KERNEL(table)
#endif
