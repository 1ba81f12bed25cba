/* SPDX-License-Identifier: Apache-2.0 */
/* fu_words: the host's ptx.cuh, on top of the machine. */
#ifndef FU_WORDS_H
#define FU_WORDS_H

#include "fu_barrier.h"
#include "fu_launch.h"
#include "types.cuh"

FU_EMU_INLINE int fu_tid() { return (int)fu_emu.self->index; }
FU_EMU_INLINE int fu_bid_x() { return (int)fu_emu.self->block->bid[0]; }
FU_EMU_INLINE int fu_bid_y() { return (int)fu_emu.self->block->bid[1]; }
FU_EMU_INLINE int fu_grid_x() { return (int)fu_emu.info.grid[0]; }
FU_EMU_INLINE int fu_grid_y() { return (int)fu_emu.info.grid[1]; }
FU_EMU_INLINE fu_i64 fu_again(fu_i64 offset) { return offset; }
FU_EMU_INLINE void fu_again_word(fu_u32 &w) { (void)w; }

/* --- memory ------------------------------------------------------------------------- */

template <int BYTES> struct fu_access {
    static __forceinline__ void once(const void *p, uint32_t *w) { load(p, w); }
    static __forceinline__ void load(const void *p, uint32_t *w)
    {
        fu_emu_read(p, BYTES);
        if (BYTES < 4)
            w[0] = 0;
        memcpy(w, p, BYTES);
    }
    static __forceinline__ void store(void *p, const uint32_t *w)
    {
        fu_emu_write(p, BYTES);
        memcpy(p, w, BYTES);
    }
};

template <typename T>
static __forceinline__ T
fu_sload(int byte_offset)
{
    T x;

    memcpy(&x, fu_emu_shared_read(fu_emu.self->block, byte_offset, sizeof(T)),
           sizeof(T));
    return x;
}

template <typename T>
static __forceinline__ void
fu_sstore(int byte_offset, T x)
{
    memcpy(fu_emu_shared_write(fu_emu.self->block, byte_offset, sizeof(T)), &x,
           sizeof(T));
}

/* --- meeting others ------------------------------------------------------------------- */

FU_EMU_INLINE void fu_barrier() { fu_emu_barrier_wait(0, fu_emu.n_threads); }
FU_EMU_INLINE void fu_warp_barrier() { fu_emu_warp_wait(); }

FU_EMU_INLINE void
fu_group_barrier(int id, int threads)
{
    fu_emu_barrier_wait(id, (unsigned)threads);
}

template <int ID, int THREADS>
FU_EMU_INLINE void
fu_barrier_of()
{
    fu_group_barrier(ID, THREADS);
}

FU_EMU_INLINE uint32_t
fu_shfl_xor_word(uint32_t x, int mask)
{
    const uint32_t *words = fu_emu_warp_exchange(x);
    unsigned self = fu_emu.self->index;
    unsigned from = self ^ ((unsigned)mask & 31u);

    return words[(from < fu_emu.n_threads ? from : self) & 31u];
}

FU_EMU_INLINE void fu_pdl_wait() { fu_emu.self->pdl_waited = true; }

FU_EMU_INLINE void
fu_pdl_launch()
{
    if (!fu_emu.self->pdl_waited)
        fu_emu.early_trigger = true;
}

/* --- numbers ------------------------------------------------------------------------- */

FU_EMU_INLINE float
fu_cvt_f16_to_f32(fu_u16 h)
{
    fu_u32 sign = (fu_u32)(h & 0x8000u) << 16, m = h & 0x7fffu;

    if (m >= 0x7c00u) /* infinity, NaN */
        return fu_float(sign | 0x7f800000u | (m & 0x3ffu) << 13);
    if (m < 0x400u)
        return fu_float(fu_word((float)m * 0x1p-24f) | sign);
    return fu_float(sign | (m << 13) + (112u << 23));
}

FU_EMU_INLINE fu_u16
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

FU_EMU_INLINE fu_u16
fu_cvt_f32_to_bf16(float x)
{
    fu_u32 w = fu_word(x);

    if ((w & 0x7fffffffu) > 0x7f800000u)
        return (fu_u16)(w >> 16 | 0x7fffu);
    return (fu_u16)((w + 0x7fffu + (w >> 16 & 1u)) >> 16);
}

FU_EMU_INLINE float
fu_max_nan(float a, float b)
{
    if (a != a || b != b)
        return fu_float(0x7fffffffu);
    if (a == b)
        return fu_is_negative(a) ? b : a;
    return a > b ? a : b;
}

FU_EMU_INLINE float
fu_min_nan(float a, float b)
{
    if (a != a || b != b)
        return fu_float(0x7fffffffu);
    if (a == b)
        return fu_is_negative(a) ? a : b;
    return a < b ? a : b;
}

#endif
