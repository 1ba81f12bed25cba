/* SPDX-License-Identifier: Apache-2.0 */
/* fu_local: what the host finds by itself. -fsanitize=bounds calls the handlers
 * below for an index outside a local array; no runtime of the sanitizer is
 * linked. A signal in a kernel (a wild pointer, a division by zero) becomes a
 * report too. */
#ifndef FU_LOCAL_H
#define FU_LOCAL_H

#include "fu_machine.h"

#include <signal.h>
#include <ucontext.h>

static void
fu_emu_local_bounds(const void *site, unsigned long index)
{
    if (!fu_emu.self)
        abort();
    fu_emu_fail(FU_EMU_LOCAL_BOUNDS, site, NULL,
                "%s uses index %ld of a local array that has less",
                fu_emu_who(), (long)index);
    fu_emu_abandon();
}

extern "C" __attribute__((used, noinline)) void
__ubsan_handle_out_of_bounds(void *, void *index)
{
    fu_emu_local_bounds(FU_EMU_HERE, (unsigned long)index);
}

extern "C" __attribute__((used, noinline)) void
__ubsan_handle_out_of_bounds_abort(void *, void *index)
{
    fu_emu_local_bounds(FU_EMU_HERE, (unsigned long)index);
    abort();
}

/* --- signals ---------------------------------------------------------------------- */

enum { FU_EMU_SIGNALS = 4 };
static const int fu_emu_signals[FU_EMU_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE,
                                                   SIGILL};
static struct sigaction fu_emu_old_actions[FU_EMU_SIGNALS];

/* One behind the instruction, as return addresses are. */
static const void *
fu_emu_signal_site(void *context)
{
#if defined(__x86_64__)
    ucontext_t *u = (ucontext_t *)context;
    return (const char *)u->uc_mcontext.gregs[REG_RIP] + 1;
#elif defined(__aarch64__)
    ucontext_t *u = (ucontext_t *)context;
    return (const char *)u->uc_mcontext.pc + 1;
#else
    (void)context;
    return NULL;
#endif
}

static void
fu_emu_signal(int number, siginfo_t *, void *context)
{
    if (!fu_emu.self) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    fu_emu_fail(FU_EMU_CRASH, fu_emu_signal_site(context), NULL, "%s: %s",
                fu_emu_who(),
                number == SIGFPE    ? "an integer division by zero"
                : number == SIGILL  ? "an illegal instruction"
                                    : "an access to memory that isn't there");
    fu_emu_abandon();
}

static void
fu_emu_signals_begin()
{
    struct sigaction a;

    memset(&a, 0, sizeof(a));
    a.sa_sigaction = fu_emu_signal;
    a.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (int i = 0; i < FU_EMU_SIGNALS; i++)
        sigaction(fu_emu_signals[i], &a, &fu_emu_old_actions[i]);
}

static void
fu_emu_signals_end()
{
    for (int i = 0; i < FU_EMU_SIGNALS; i++)
        sigaction(fu_emu_signals[i], &fu_emu_old_actions[i], NULL);
}

#endif
