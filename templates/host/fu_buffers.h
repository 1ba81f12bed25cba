/* SPDX-License-Identifier: Apache-2.0 */
/* fu_buffers: the buffers that kernels may touch. Each has a shadow: a byte of
 * flags for each byte, and, unless it is an input, a race cell for each element.
 * After the last launch the flags tell what was never written. */
#ifndef FU_BUFFERS_H
#define FU_BUFFERS_H

#include "fu_race.h"

enum {
    FU_EMU_INIT = 1,    /* has a value */
    FU_EMU_WRITTEN = 2, /* by a kernel, since it was declared */
    FU_EMU_ELEMENT = 4, /* belongs to an element */
};

struct fu_emu_memory {
    fu_emu_buffer info;
    uintptr_t from, to;
    unsigned shift; /* log2 of the element */
    unsigned char *flags;
    fu_emu_cell *cells;
    size_t cell_bytes;
};

static fu_emu_memory *fu_emu_memories;
static unsigned fu_emu_n_memories;
/* The memory that an address was in last, by its 4 KiB page. */
static unsigned fu_emu_seen[256];

/* --- declaring ----------------------------------------------------------------- */

/* Flags of the elements of a tensor, one after the other. */
static void
fu_emu_mark_elements(fu_emu_memory *m, unsigned char flags)
{
    const fu_emu_buffer *b = &m->info;
    int64_t at[16] = {0}, offset = 0;

    for (int d = 0; d < b->rank; d++)
        if (b->shape[d] == 0)
            return;
    for (;;) {
        int d = b->rank - 1;

        memset(m->flags + offset * b->element, flags, b->element);
        for (; d >= 0; d--) {
            offset += b->strides[d];
            if (++at[d] < b->shape[d])
                break;
            offset -= at[d] * b->strides[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}

static bool
fu_emu_is_dense(const fu_emu_buffer *b)
{
    int64_t expected = 1;

    for (int d = b->rank - 1; d >= 0; d--) {
        if (b->strides[d] != expected && b->shape[d] > 1)
            return false;
        expected *= b->shape[d];
    }
    return b->rank == 0 || (size_t)expected * b->element == b->bytes;
}

extern "C" void
fu_emu_declare(const fu_emu_buffer *b)
{
    bool has_value = b->role == FU_EMU_INPUT || b->role == FU_EMU_IN_PLACE ||
                     b->role == FU_EMU_ZEROED;
    unsigned char flags = FU_EMU_ELEMENT | (has_value ? FU_EMU_INIT : 0);
    unsigned n = fu_emu_n_memories;
    fu_emu_memory *m;

    if (b->bytes == 0)
        return;
    if ((n & (n - 1)) == 0)
        fu_emu_memories = (fu_emu_memory *)realloc(
            fu_emu_memories, (n ? 2 * n : 1) * sizeof(*m));
    if (!fu_emu_memories)
        abort();
    m = &fu_emu_memories[fu_emu_n_memories++];
    *m = {*b, (uintptr_t)b->base, (uintptr_t)b->base + b->bytes, 0, NULL, NULL,
          0};
    while (1u << m->shift < b->element)
        m->shift++;
    m->flags = (unsigned char *)calloc(1, b->bytes + 64);
    if (!m->flags)
        abort();
    if (fu_emu_is_dense(b))
        memset(m->flags, flags, b->bytes);
    else
        fu_emu_mark_elements(m, flags);
    if (b->role == FU_EMU_INPUT)
        return;
    m->cell_bytes = ((b->bytes >> m->shift) + 1) * sizeof(fu_emu_cell);
    m->cells = (fu_emu_cell *)fu_emu_map(m->cell_bytes);
}

extern "C" void
fu_emu_forget_all(void)
{
    for (unsigned i = 0; i < fu_emu_n_memories; i++) {
        free(fu_emu_memories[i].flags);
        if (fu_emu_memories[i].cells)
            munmap(fu_emu_memories[i].cells, fu_emu_memories[i].cell_bytes);
    }
    fu_emu_n_memories = 0;
}

/* --- after the last launch ---------------------------------------------------------- */

static void
fu_emu_finish_output(const fu_emu_memory *m)
{
    size_t missing = 0, first = 0;

    for (size_t i = m->info.bytes; i-- > 0;)
        if ((m->flags[i] & (FU_EMU_ELEMENT | FU_EMU_WRITTEN)) ==
            FU_EMU_ELEMENT) {
            missing++;
            first = i;
        }
    if (missing)
        fu_emu_fail(FU_EMU_NOT_WRITTEN, NULL, NULL,
                    "%zu bytes of '%s' were never written, the first is byte "
                    "%zu", missing, m->info.name, first);
}

static void
fu_emu_finish_zeroed(const fu_emu_memory *m)
{
    const unsigned char *p = (const unsigned char *)m->info.base;

    for (size_t i = 0; i < m->info.bytes; i++)
        if (p[i] != 0) {
            fu_emu_fail(FU_EMU_NOT_ZERO, NULL, NULL,
                        "byte %zu of '%s' is left at %u, not at 0", i,
                        m->info.name, p[i]);
            return;
        }
}

extern "C" int
fu_emu_finish(void)
{
    fu_emu.report.kind = FU_EMU_OK;
    for (unsigned i = 0; i < fu_emu_n_memories; i++) {
        const fu_emu_memory *m = &fu_emu_memories[i];

        if (m->info.role == FU_EMU_OUTPUT || m->info.role == FU_EMU_IN_PLACE)
            fu_emu_finish_output(m);
        else if (m->info.role == FU_EMU_ZEROED)
            fu_emu_finish_zeroed(m);
    }
    return fu_emu.report.kind;
}

#endif
