/* SPDX-License-Identifier: Apache-2.0 */
/* fu_launch: kernels by name, and running a grid: a cluster after the other, or
 * a cooperative grid all at once. */
#ifndef FU_LAUNCH_H
#define FU_LAUNCH_H

#include "fu_local.h"
#include "fu_schedule.h"
#include "fu_shared.h"

/* --- kernels ---------------------------------------------------------------------- */

/* The numbers from 0 on, as many as there are parameters. */
template <size_t... I> struct fu_emu_numbers {
};
template <size_t N, size_t... I>
struct fu_emu_count_to : fu_emu_count_to<N - 1, N - 1, I...> {
};
template <size_t... I> struct fu_emu_count_to<0, I...> {
    typedef fu_emu_numbers<I...> numbers;
};

template <typename... A, size_t... I>
static inline void
fu_emu_apply(void (*f)(A...), void **args, fu_emu_numbers<I...>)
{
    f(*(A *)args[I]...);
    (void)args;
}

template <typename... A>
static inline void
fu_emu_apply_all(void (*f)(A...), void **args)
{
    fu_emu_apply(f, args, typename fu_emu_count_to<sizeof...(A)>::numbers());
}

template <class... A>
static unsigned
fu_emu_arity(void (*)(A...))
{
    return sizeof...(A);
}

static bool
fu_emu_register(const char *name, void (*call)(void **), unsigned n_args)
{
    fu_emu.entries = (fu_emu_entry *)realloc(
        fu_emu.entries, (fu_emu.n_entries + 1) * sizeof(fu_emu_entry));
    if (!fu_emu.entries)
        abort();
    fu_emu.entries[fu_emu.n_entries++] = {name, call, n_args};
    return true;
}

#define FU_KERNEL(symbol)                                                      \
    static const bool fu_kernel_##symbol = fu_emu_register(                    \
        #symbol, [](void **args) { fu_emu_apply_all(symbol, args); },          \
        fu_emu_arity(symbol));

/* --- is the launch possible ---------------------------------------------------------- */

static uint64_t
fu_emu_grid_blocks()
{
    const unsigned *g = fu_emu.info.grid;

    return (uint64_t)g[0] * g[1] * g[2];
}

static bool
fu_emu_launch_allowed()
{
    fu_emu_launch_info *l = &fu_emu.info;
    uint64_t blocks = fu_emu_grid_blocks();
    uint64_t room = (uint64_t)l->sms * l->blocks_per_sm;

    if (l->block == 0 || l->block > FU_EMU_THREADS ||
        l->smem > FU_EMU_MAX_SMEM || l->cluster > FU_EMU_MAX_CLUSTER ||
        l->grid[0] % l->cluster != 0 || blocks > FU_EMU_MAX_BLOCKS)
        fu_emu_fail(FU_EMU_BAD_LAUNCH, NULL, NULL,
                    "%s: %llu blocks of %u threads in clusters of %u, %zu "
                    "bytes of shared memory", l->symbol,
                    (unsigned long long)blocks, l->block, l->cluster, l->smem);
    else if (l->cooperative && blocks > room)
        fu_emu_fail(FU_EMU_TOO_MANY_BLOCKS, NULL, NULL,
                    "%s: a cooperative grid of %llu blocks; the device holds "
                    "%u on each of %u SMs", l->symbol,
                    (unsigned long long)blocks, l->blocks_per_sm, l->sms);
    return !fu_emu_failed();
}

/* --- blocks ---------------------------------------------------------------------------- */

static void
fu_emu_make_stacks(unsigned blocks)
{
    size_t bytes = (size_t)blocks * fu_emu.n_threads * FU_EMU_STRIDE;

    if (bytes <= fu_emu.stacks_room)
        return;
    if (fu_emu.stacks)
        munmap(fu_emu.stacks, fu_emu.stacks_room);
    fu_emu.stacks = (char *)fu_emu_map(bytes);
    fu_emu.stacks_room = bytes;
}

static void
fu_emu_make_room(unsigned blocks)
{
    fu_emu_make_stacks(blocks);
    if (blocks <= fu_emu.room_resident)
        return;
    fu_emu.resident = (fu_emu_block *)realloc(
        fu_emu.resident, blocks * sizeof(fu_emu.resident[0]));
    if (!fu_emu.resident)
        abort();
    for (unsigned i = fu_emu.room_resident; i < blocks; i++) {
        fu_emu_block *b = &fu_emu.resident[i];

        b->thread = (fu_emu_thread *)calloc(FU_EMU_THREADS,
                                            sizeof(b->thread[0]));
        b->smem = (unsigned char *)fu_emu_map(FU_EMU_MAX_SMEM);
        b->smem_flags = (unsigned char *)calloc(1, FU_EMU_MAX_SMEM + 64);
        b->smem_cells = (fu_emu_cell *)fu_emu_map(FU_EMU_MAX_SMEM *
                                                  sizeof(fu_emu_cell));
        if (!b->thread || !b->smem_flags)
            abort();
    }
    fu_emu.room_resident = blocks;
}

static void
fu_emu_begin_thread(fu_emu_block *b, unsigned slot, unsigned i)
{
    fu_emu_thread *t = &b->thread[i];

    t->block = b;
    t->index = i;
    t->state = FU_EMU_READY;
    t->exchanges = 0;
    t->votes = 0;
    t->pdl_waited = !fu_emu.info.pdl;
    fu_emu_fiber_make(&t->fiber,
                      fu_emu.stacks + ((size_t)slot * fu_emu.n_threads + i) *
                                          FU_EMU_STRIDE,
                      fu_emu_run_thread);
}

/* Shared memory begins as NaN that nobody wrote. */
static void
fu_emu_begin_block(unsigned slot, unsigned index)
{
    fu_emu_block *b = &fu_emu.resident[slot];
    const unsigned *g = fu_emu.info.grid;

    b->index = index;
    b->bid[0] = index % g[0];
    b->bid[1] = index / g[0] % g[1];
    b->bid[2] = index / g[0] / g[1];
    b->rank = index % fu_emu.info.cluster;
    b->live = fu_emu.n_threads;
    memset(b->barrier, 0, sizeof(b->barrier));
    memset(b->warp_arrived, 0, sizeof(b->warp_arrived));
    memset(b->vote_number, 0, sizeof(b->vote_number));
    memset(b->smem, 0xff, fu_emu.info.smem);
    memset(b->smem_flags, 0, fu_emu.info.smem);
    for (unsigned i = 0; i < fu_emu.n_threads; i++)
        fu_emu_begin_thread(b, slot, i);
    fu_emu_clocks_begin(b);
}

static void
fu_emu_end_block(fu_emu_block *b)
{
    fu_emu_clocks_end(b);
    fu_emu_sync_forget(b->smem, b->smem + FU_EMU_MAX_SMEM);
    fu_emu.counts.blocks++;
    fu_emu.counts.threads += fu_emu.n_threads;
}

/* fu_cluster.h: nothing asynchronous outlives the blocks. */
static void fu_emu_async_end();

/* n blocks from `first` on, all at once. */
static void
fu_emu_run_blocks(unsigned first, unsigned n)
{
    fu_emu.group++;
    fu_emu.first_resident = first;
    fu_emu.n_resident = n;
    for (unsigned i = 0; i < n; i++)
        fu_emu_begin_block(i, first + i);
    fu_emu_run_resident();
    fu_emu_async_end();
    for (unsigned i = 0; i < n; i++)
        fu_emu_end_block(&fu_emu.resident[i]);
}

static void
fu_emu_run_grid()
{
    unsigned blocks = (unsigned)fu_emu_grid_blocks();
    unsigned at_once = fu_emu.info.cooperative ? blocks : fu_emu.info.cluster;
    unsigned sets = at_once ? blocks / at_once : 0;

    if (sets)
        fu_emu_make_room(at_once);
    for (unsigned i = 0; i < sets && !fu_emu_failed(); i++)
        fu_emu_run_blocks((fu_emu.order ? sets - 1 - i : i) * at_once,
                          at_once);
}

/* --- exported ---------------------------------------------------------------------------- */

/* Launches that may still run when this one begins: without the attribute none;
 * with it the one before, and what that one let run on. */
static void
fu_emu_order_launches()
{
    fu_emu.launch++;
    if (!fu_emu.info.pdl)
        fu_emu.pdl_from = fu_emu.launch;
    else if (!fu_emu.early_trigger)
        fu_emu.pdl_from = fu_emu.launch - 1;
    fu_emu.early_trigger = false;
}

static bool
fu_emu_find_entry()
{
    fu_emu.entry = NULL;
    for (unsigned i = 0; i < fu_emu.n_entries; i++)
        if (strcmp(fu_emu.entries[i].name, fu_emu.info.symbol) == 0)
            fu_emu.entry = &fu_emu.entries[i];
    if (!fu_emu.entry)
        fu_emu_fail(FU_EMU_UNKNOWN_KERNEL, NULL, NULL, "no kernel '%s'",
                    fu_emu.info.symbol);
    return fu_emu.entry != NULL;
}

static bool
fu_emu_args_match()
{
    unsigned given = fu_emu.info.n_args, takes = fu_emu.entry->n_args;

    if (given == 0 || given == takes)
        return true;
    fu_emu_fail(FU_EMU_UNKNOWN_KERNEL, NULL, NULL,
                "'%s' takes %u arguments, not %u", fu_emu.info.symbol, takes,
                given);
    return false;
}

extern "C" int
fu_emu_launch(const fu_emu_launch_info *info, void **args)
{
    fu_emu.report.kind = FU_EMU_OK;
    for (unsigned i = 0; i < fu_emu.n_suspects; i++)
        fu_emu.suspect[i].fresh = false;
    fu_emu.info = *info;
    if (fu_emu.info.cluster == 0)
        fu_emu.info.cluster = 1;
    fu_emu.args = args;
    fu_emu.n_threads = info->block;
    if (!fu_emu_find_entry() || !fu_emu_args_match() ||
        !fu_emu_launch_allowed())
        return fu_emu.report.kind;
    fu_emu_order_launches();
    fu_emu.counts.launches++;
    fu_emu_signals_begin();
    fu_emu_run_grid();
    fu_emu_signals_end();
    fu_emu_sync_forget(NULL, (const void *)UINTPTR_MAX);
    fu_emu_readers_clear();
    return fu_emu.report.kind;
}

extern "C" const fu_emu_report *
fu_emu_last_report(void)
{
    return &fu_emu.report;
}

extern "C" const fu_emu_report *
fu_emu_suspect(void)
{
    for (unsigned i = 0; i < fu_emu.n_suspects; i++)
        if (fu_emu.suspect[i].fresh && !fu_emu.suspect[i].harmless)
            return &fu_emu.suspect[i].report;
    return NULL;
}

extern "C" void
fu_emu_harmless(const fu_emu_report *r)
{
    for (unsigned i = 0; i < fu_emu.n_suspects; i++)
        if (&fu_emu.suspect[i].report == r)
            fu_emu.suspect[i].harmless = true;
}

extern "C" void
fu_emu_set_order(int order)
{
    fu_emu.order = order;
}

extern "C" const char *
fu_emu_kernel(unsigned index)
{
    return index < fu_emu.n_entries ? fu_emu.entries[index].name : NULL;
}

extern "C" const fu_emu_counts *
fu_emu_count(void)
{
    return &fu_emu.counts;
}

#endif
