/* SPDX-License-Identifier: Apache-2.0 */
/* fu_emulate: a generated .cu as C++17 on the CPU.
 *
 * Stands where the primitives stand on a GPU: it has its own version of ptx.cuh
 * and includes the rest of templates/ unchanged. The threads of a block are
 * fibers that run one after another, each until it waits; blocks follow each
 * other. So a run is deterministic, a missing barrier shows when the order of
 * the threads is turned round (fu_emu_set_order), and a barrier that not all
 * reach is found at once. Shared memory begins as NaN in every block. */
#ifndef FU_EMULATE_H
#define FU_EMULATE_H

#include "fu_emulate_api.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#include <cmath>
#include <utility>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define FU_RESTRICT __restrict__

#include "types.cuh"

/* --- fibers ------------------------------------------------------------------ */

#if defined(__x86_64__)
extern "C" void fu_emu_swap(void **save, void *load)
    __attribute__((visibility("hidden")));
asm(".text\n"
    ".hidden fu_emu_swap\n"
    ".globl fu_emu_swap\n"
    ".type fu_emu_swap, @function\n"
    "fu_emu_swap:\n"
    "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n"
    "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n    popq %r14\n    popq %r13\n"
    "    popq %r12\n    popq %rbx\n    popq %rbp\n"
    "    ret\n"
    ".size fu_emu_swap, . - fu_emu_swap\n");
enum { FU_EMU_SAVED = 8 }; /* six registers, the return address, its caller's */
enum { FU_EMU_ENTRY = 6 };
#elif defined(__aarch64__)
extern "C" void fu_emu_swap(void **save, void *load)
    __attribute__((visibility("hidden")));
asm(".text\n"
    ".hidden fu_emu_swap\n"
    ".globl fu_emu_swap\n"
    ".type fu_emu_swap, %function\n"
    "fu_emu_swap:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n"
    "    stp x23, x24, [sp, #32]\n    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
    "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n"
    "    ldp x23, x24, [sp, #32]\n    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size fu_emu_swap, . - fu_emu_swap\n");
enum { FU_EMU_SAVED = 20 };
enum { FU_EMU_ENTRY = 11 };
#else
struct fu_emu_context {
    ucontext_t uc;
};
#endif

enum { FU_EMU_STACK = 256 * 1024, FU_EMU_THREADS = 1024, FU_EMU_BARRIERS = 16 };

enum fu_emu_state {
    FU_EMU_READY,
    FU_EMU_AT_BARRIER,
    FU_EMU_AT_EXCHANGE, /* with the other lanes of its warp */
    FU_EMU_DONE,
};

struct fu_emu_thread {
#if defined(__x86_64__) || defined(__aarch64__)
    void *sp;
#else
    fu_emu_context context;
#endif
    fu_emu_state state;
    int barrier;
    unsigned exchanges; /* made so far: picks the buffer */
};

struct fu_emu_range {
    uintptr_t from, to;
};

struct fu_emu_entry {
    const char *name;
    void (*call)(void **args);
};

/* The machine. One object a library: a .cu is one translation unit. */
struct fu_emu_machine {
    fu_emu_thread thread[FU_EMU_THREADS];
    char *stacks;
    unsigned current, n_threads;
    unsigned bid[3], grid[3];
#if defined(__x86_64__) || defined(__aarch64__)
    void *scheduler;
#else
    fu_emu_context scheduler;
#endif
    const fu_emu_entry *entry;
    void **args;
    unsigned char *smem;
    size_t smem_size, smem_room;
    unsigned arrived[FU_EMU_BARRIERS];
    unsigned warp_arrived[FU_EMU_THREADS / 32];
    uint32_t word[2][FU_EMU_THREADS];
    int order;
    int status;
    char error[512];
    fu_emu_range *ranges;
    size_t n_ranges, room_ranges;
    fu_emu_entry *entries;
    unsigned n_entries;
};

static fu_emu_machine fu_emu;

static void
fu_emu_fail(int status, const char *fmt, ...)
{
    va_list ap;

    if (fu_emu.status != FU_EMU_OK)
        return;
    fu_emu.status = status;
    va_start(ap, fmt);
    vsnprintf(fu_emu.error, sizeof(fu_emu.error), fmt, ap);
    va_end(ap);
}

/* Back to the scheduler; returns when this thread is picked again. */
static void __attribute__((noinline))
fu_emu_leave()
{
    fu_emu_thread *t = &fu_emu.thread[fu_emu.current];

#if defined(__x86_64__) || defined(__aarch64__)
    fu_emu_swap(&t->sp, fu_emu.scheduler);
#else
    swapcontext(&t->context.uc, &fu_emu.scheduler.uc);
#endif
}

static void __attribute__((noinline, noreturn))
fu_emu_abandon()
{
    for (;;) {
        fu_emu.thread[fu_emu.current].state = FU_EMU_DONE;
        fu_emu_leave();
    }
}

static void
fu_emu_run_thread()
{
    fu_emu.entry->call(fu_emu.args);
    fu_emu_abandon();
}

static void
fu_emu_start(unsigned i)
{
    fu_emu_thread *t = &fu_emu.thread[i];
    char *stack = fu_emu.stacks + (size_t)i * FU_EMU_STACK;

    t->state = FU_EMU_READY;
    t->exchanges = 0;
#if defined(__x86_64__) || defined(__aarch64__)
    void **sp = (void **)(stack + FU_EMU_STACK) - FU_EMU_SAVED;

    memset(sp, 0, FU_EMU_SAVED * sizeof(void *));
    sp[FU_EMU_ENTRY] = (void *)fu_emu_run_thread;
    t->sp = sp;
#else
    getcontext(&t->context.uc);
    t->context.uc.uc_stack.ss_sp = stack;
    t->context.uc.uc_stack.ss_size = FU_EMU_STACK;
    t->context.uc.uc_link = NULL;
    makecontext(&t->context.uc, fu_emu_run_thread, 0);
#endif
}

static void
fu_emu_enter(unsigned i)
{
    fu_emu.current = i;
#if defined(__x86_64__) || defined(__aarch64__)
    fu_emu_swap(&fu_emu.scheduler, fu_emu.thread[i].sp);
#else
    swapcontext(&fu_emu.scheduler.uc, &fu_emu.thread[i].context.uc);
#endif
}

/* --- who waits for whom -------------------------------------------------------- */

static void
fu_emu_wait_barrier(int id, unsigned threads)
{
    unsigned self = fu_emu.current;

    if (id < 0 || id >= FU_EMU_BARRIERS || threads > fu_emu.n_threads ||
        threads == 0) {
        fu_emu_fail(FU_EMU_DEADLOCK, "%s: barrier %d of %u threads",
                    fu_emu.entry->name, id, threads);
        fu_emu_abandon();
    }
    if (++fu_emu.arrived[id] == threads) {
        fu_emu.arrived[id] = 0;
        for (unsigned i = 0; i < fu_emu.n_threads; i++) {
            fu_emu_thread *t = &fu_emu.thread[i];

            if (t->state == FU_EMU_AT_BARRIER && t->barrier == id)
                t->state = FU_EMU_READY;
        }
        return;
    }
    fu_emu.thread[self].state = FU_EMU_AT_BARRIER;
    fu_emu.thread[self].barrier = id;
    fu_emu_leave();
}

static unsigned
fu_emu_lanes(unsigned warp)
{
    unsigned rest = fu_emu.n_threads - warp * 32;

    return rest < 32 ? rest : 32;
}

static void
fu_emu_wait_warp()
{
    unsigned self = fu_emu.current, warp = self / 32;
    unsigned lanes = fu_emu_lanes(warp);

    fu_emu.thread[self].exchanges++;
    if (++fu_emu.warp_arrived[warp] == lanes) {
        fu_emu.warp_arrived[warp] = 0;
        for (unsigned i = warp * 32; i < warp * 32 + lanes; i++)
            if (fu_emu.thread[i].state == FU_EMU_AT_EXCHANGE)
                fu_emu.thread[i].state = FU_EMU_READY;
        return;
    }
    fu_emu.thread[self].state = FU_EMU_AT_EXCHANGE;
    fu_emu_leave();
}

static void
fu_emu_report_deadlock()
{
    unsigned at_barrier = 0, at_exchange = 0, done = 0, first = 0;

    for (unsigned i = fu_emu.n_threads; i-- > 0;) {
        const fu_emu_thread *t = &fu_emu.thread[i];

        at_barrier += t->state == FU_EMU_AT_BARRIER;
        at_exchange += t->state == FU_EMU_AT_EXCHANGE;
        done += t->state == FU_EMU_DONE;
        if (t->state != FU_EMU_DONE)
            first = i;
    }
    fu_emu_fail(FU_EMU_DEADLOCK,
                "%s: block (%u, %u): %u threads wait at a barrier, %u for "
                "their warp, %u have ended; the first that waits is thread %u",
                fu_emu.entry->name, fu_emu.bid[0], fu_emu.bid[1], at_barrier,
                at_exchange, done, first);
}

/* One block: rounds over the threads until all have ended. */
static void
fu_emu_block()
{
    unsigned n = fu_emu.n_threads, done = 0;
    bool progress = true;

    memset(fu_emu.smem, 0xff, fu_emu.smem_size);
    memset(fu_emu.arrived, 0, sizeof(fu_emu.arrived));
    memset(fu_emu.warp_arrived, 0, sizeof(fu_emu.warp_arrived));
    for (unsigned i = 0; i < n; i++)
        fu_emu_start(i);
    while (done < n && progress && fu_emu.status == FU_EMU_OK) {
        progress = false;
        for (unsigned k = 0; k < n && fu_emu.status == FU_EMU_OK; k++) {
            unsigned i = fu_emu.order ? n - 1 - k : k;

            if (fu_emu.thread[i].state != FU_EMU_READY)
                continue;
            fu_emu_enter(i);
            progress = true;
            done += fu_emu.thread[i].state == FU_EMU_DONE;
        }
    }
    if (fu_emu.status == FU_EMU_OK && done < n)
        fu_emu_report_deadlock();
}

/* --- memory ------------------------------------------------------------------- */

static void
fu_emu_check(const void *p, size_t bytes)
{
    uintptr_t at = (uintptr_t)p;
    static size_t last;

    if (at % (bytes > 16 ? 16 : bytes) != 0) {
        fu_emu_fail(FU_EMU_BAD_ACCESS,
                    "%s: block %u thread %u: access of %zu bytes at %p isn't "
                    "aligned",
                    fu_emu.entry->name, fu_emu.bid[0], fu_emu.current, bytes,
                    p);
        fu_emu_abandon();
    }
    if (fu_emu.n_ranges == 0)
        return;
    if (last < fu_emu.n_ranges && at >= fu_emu.ranges[last].from &&
        at + bytes <= fu_emu.ranges[last].to)
        return;
    for (size_t i = 0; i < fu_emu.n_ranges; i++) {
        if (at >= fu_emu.ranges[i].from && at + bytes <= fu_emu.ranges[i].to) {
            last = i;
            return;
        }
    }
    fu_emu_fail(FU_EMU_BAD_ACCESS,
                "%s: block %u thread %u: access of %zu bytes outside the "
                "tensors",
                fu_emu.entry->name, fu_emu.bid[0], fu_emu.current, bytes);
    fu_emu_abandon();
}

template <int BYTES> struct fu_access {
    static inline void once(const void *p, uint32_t *w) { load(p, w); }
    static inline void load(const void *p, uint32_t *w)
    {
        fu_emu_check(p, BYTES);
        w[0] = 0;
        memcpy(w, p, BYTES);
    }
    static inline void store(void *p, const uint32_t *w)
    {
        fu_emu_check(p, BYTES);
        memcpy(p, w, BYTES);
    }
};

static inline unsigned char *
fu_shared(int byte_offset)
{
    if (byte_offset < 0 || (size_t)byte_offset >= fu_emu.smem_size) {
        fu_emu_fail(FU_EMU_BAD_ACCESS,
                    "%s: thread %u: byte %d of %zu bytes of shared memory",
                    fu_emu.entry->name, fu_emu.current, byte_offset,
                    fu_emu.smem_size);
        fu_emu_abandon();
    }
    return fu_emu.smem + byte_offset;
}

/* --- the rest of ptx.cuh ------------------------------------------------------- */

static inline int fu_tid() { return (int)fu_emu.current; }
static inline int fu_bid_x() { return (int)fu_emu.bid[0]; }
static inline int fu_bid_y() { return (int)fu_emu.bid[1]; }
static inline int fu_grid_x() { return (int)fu_emu.grid[0]; }
static inline int fu_grid_y() { return (int)fu_emu.grid[1]; }
static inline void fu_barrier() { fu_emu_wait_barrier(0, fu_emu.n_threads); }
static inline void fu_warp_barrier() { fu_emu_wait_warp(); }
static inline void fu_pdl_wait() {}
static inline void fu_pdl_launch() {}

static inline void
fu_group_barrier(int id, int threads)
{
    fu_emu_wait_barrier(id, (unsigned)threads);
}

static inline float
fu_cvt_f16_to_f32(fu_u16 h)
{
    fu_u32 sign = (fu_u32)(h & 0x8000u) << 16, m = h & 0x7fffu;

    if (m >= 0x7c00u) /* infinity, NaN */
        return fu_float(sign | 0x7f800000u | (m & 0x3ffu) << 13);
    if (m < 0x400u)
        return fu_float(fu_word((float)m * 0x1p-24f) | sign);
    return fu_float(sign | (m << 13) + (112u << 23));
}

static inline fu_u16
fu_cvt_f32_to_f16(float x)
{
    fu_u32 w = fu_word(x), sign = w >> 16 & 0x8000u, m = w & 0x7fffffffu;

    if (m > 0x7f800000u)
        return (fu_u16)(sign | 0x7fffu);
    if (m < 0x38800000u) /* below 2^-14: a multiple of 2^-24 */
        return (fu_u16)(sign |
                        (fu_u32)(fu_word(fu_float(m) + 0.5f) - 0x3f000000u));
    m += 0xfffu + (m >> 13 & 1u);
    return (fu_u16)(sign | (m >= 0x47800000u ? 0x7c00u
                                             : (m >> 13) - (112u << 10)));
}

static inline fu_u16
fu_cvt_f32_to_bf16(float x)
{
    fu_u32 w = fu_word(x);

    if ((w & 0x7fffffffu) > 0x7f800000u)
        return (fu_u16)(w >> 16 | 0x7fffu);
    return (fu_u16)((w + 0x7fffu + (w >> 16 & 1u)) >> 16);
}

static inline float
fu_max_nan(float a, float b)
{
    if (a != a || b != b)
        return fu_float(0x7fffffffu);
    if (a == b)
        return fu_is_negative(a) ? b : a;
    return a > b ? a : b;
}

static inline float
fu_min_nan(float a, float b)
{
    if (a != a || b != b)
        return fu_float(0x7fffffffu);
    if (a == b)
        return fu_is_negative(a) ? a : b;
    return a < b ? a : b;
}

static inline uint32_t
fu_shfl_xor_word(uint32_t x, int mask)
{
    unsigned self = fu_emu.current;
    unsigned buffer = fu_emu.thread[self].exchanges % 2;
    unsigned from = (self & ~31u) | ((self & 31u) ^ ((unsigned)mask & 31u));

    fu_emu.word[buffer][self] = x;
    fu_emu_wait_warp();
    return fu_emu.word[buffer][from < fu_emu.n_threads ? from : self];
}

/* --- launching ------------------------------------------------------------------ */

template <typename... A, size_t... I>
static inline void
fu_emu_apply(void (*f)(A...), void **args, std::index_sequence<I...>)
{
    f(*(A *)args[I]...);
    (void)args;
}

template <typename... A>
static inline void
fu_emu_apply_all(void (*f)(A...), void **args)
{
    fu_emu_apply(f, args, std::index_sequence_for<A...>());
}

static bool
fu_emu_register(const char *name, void (*call)(void **))
{
    fu_emu.entries = (fu_emu_entry *)realloc(
        fu_emu.entries, (fu_emu.n_entries + 1) * sizeof(fu_emu_entry));
    if (!fu_emu.entries)
        abort();
    fu_emu.entries[fu_emu.n_entries++] = {name, call};
    return true;
}

#define FU_KERNEL(symbol)                                                      \
    static const bool fu_emu_##symbol = fu_emu_register(                       \
        #symbol, [](void **args) { fu_emu_apply_all(symbol, args); });

static bool
fu_emu_prepare(unsigned block, size_t smem)
{
    if (block == 0 || block > FU_EMU_THREADS || smem > 256 * 1024) {
        fu_emu_fail(FU_EMU_BAD_LAUNCH, "%s: %u threads, %zu bytes of shared "
                    "memory", fu_emu.entry->name, block, smem);
        return false;
    }
    if (!fu_emu.stacks)
        fu_emu.stacks = (char *)mmap(
            NULL, (size_t)FU_EMU_THREADS * FU_EMU_STACK,
            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fu_emu.stacks == MAP_FAILED)
        abort();
    if (!fu_emu.smem || smem > fu_emu.smem_room) {
        fu_emu.smem_room = smem + 64;
        free(fu_emu.smem);
        fu_emu.smem = (unsigned char *)aligned_alloc(
            64, (fu_emu.smem_room + 63) / 64 * 64);
        if (!fu_emu.smem)
            abort();
    }
    fu_emu.smem_size = smem;
    fu_emu.n_threads = block;
    return true;
}

extern "C" int
fu_emu_launch(const char *symbol, const unsigned grid[3], unsigned block,
              size_t smem, void **args)
{
    fu_emu.status = FU_EMU_OK;
    fu_emu.entry = NULL;
    for (unsigned i = 0; i < fu_emu.n_entries; i++)
        if (strcmp(fu_emu.entries[i].name, symbol) == 0)
            fu_emu.entry = &fu_emu.entries[i];
    if (!fu_emu.entry) {
        fu_emu_fail(FU_EMU_UNKNOWN_KERNEL, "no kernel '%s'", symbol);
        return fu_emu.status;
    }
    if (!fu_emu_prepare(block, smem))
        return fu_emu.status;
    fu_emu.args = args;
    memcpy(fu_emu.grid, grid, sizeof(fu_emu.grid));
    for (unsigned z = 0; z < grid[2]; z++)
        for (unsigned y = 0; y < grid[1]; y++)
            for (unsigned x = 0; x < grid[0]; x++) {
                fu_emu.bid[0] = x;
                fu_emu.bid[1] = y;
                fu_emu.bid[2] = z;
                fu_emu_block();
                if (fu_emu.status != FU_EMU_OK)
                    return fu_emu.status;
            }
    return FU_EMU_OK;
}

extern "C" const char *
fu_emu_error(void)
{
    return fu_emu.error;
}

extern "C" void
fu_emu_allow(const void *base, size_t bytes)
{
    if (fu_emu.n_ranges == fu_emu.room_ranges) {
        fu_emu.room_ranges = fu_emu.room_ranges ? 2 * fu_emu.room_ranges : 16;
        fu_emu.ranges = (fu_emu_range *)realloc(
            fu_emu.ranges, fu_emu.room_ranges * sizeof(fu_emu_range));
        if (!fu_emu.ranges)
            abort();
    }
    fu_emu.ranges[fu_emu.n_ranges++] = {(uintptr_t)base,
                                        (uintptr_t)base + bytes};
}

extern "C" void
fu_emu_forget_all(void)
{
    fu_emu.n_ranges = 0;
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

/* The portable templates, on top of all that. */
#include "convert.cuh"
#include "integer.cuh"
#include "math.cuh"
#include "order.cuh"
#include "prim.cuh"
#include "reduce.cuh"
#include "special.cuh"
#include "storage.cuh"

#endif
