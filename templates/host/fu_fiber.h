/* SPDX-License-Identifier: Apache-2.0 */
/* fu_fiber: stacks to switch between. A fiber runs until it leaves; who entered
 * it goes on then. Only what a call preserves is saved: some 10 ns a switch. */
#ifndef FU_FIBER_H
#define FU_FIBER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

#define FU_EMU_INLINE static inline __attribute__((always_inline))
#if defined(__clang__) /* two calls on two lines must stay two */
#define FU_EMU_NOINLINE static __attribute__((noinline, nomerge))
#else
#define FU_EMU_NOINLINE static __attribute__((noinline))
#endif

/* Stacks lie a little more than their size apart, or the tops of all would meet
 * in the same lines of the processor's caches. */
enum { FU_EMU_STACK = 256 * 1024, FU_EMU_STRIDE = FU_EMU_STACK + 4096 + 192 };

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
#define FU_EMU_OWN_SWAP 1
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
#define FU_EMU_OWN_SWAP 1
#else
#define FU_EMU_OWN_SWAP 0
#endif

struct fu_emu_fiber {
#if FU_EMU_OWN_SWAP
    void *sp;
#else
    ucontext_t context;
#endif
};

/* Memory of zeros that costs nothing until it is touched. */
static void *
fu_emu_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED) {
        fprintf(stderr, "fu_emulate: no memory for %zu bytes\n", bytes);
        abort();
    }
    return p;
}

/* From one to the other; returns when somebody switches back. */
static inline void
fu_emu_switch(fu_emu_fiber *from, fu_emu_fiber *to)
{
#if FU_EMU_OWN_SWAP
    fu_emu_swap(&from->sp, to->sp);
#else
    swapcontext(&from->context, &to->context);
#endif
}

/* A fiber that begins in entry, which never returns. */
static void
fu_emu_fiber_make(fu_emu_fiber *f, char *stack, void (*entry)())
{
#if FU_EMU_OWN_SWAP
    void **sp = (void **)(stack + FU_EMU_STACK) - FU_EMU_SAVED;

    memset(sp, 0, FU_EMU_SAVED * sizeof(void *));
    sp[FU_EMU_ENTRY] = (void *)entry;
    f->sp = sp;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack;
    f->context.uc_stack.ss_size = FU_EMU_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, entry, 0);
#endif
}

#endif
