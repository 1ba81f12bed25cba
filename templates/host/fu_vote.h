/* SPDX-License-Identifier: Apache-2.0 */
/* fu_vote: the host's vote.cuh. A warp's votes are exchanges; a vote of the block
 * counts in one of two places by turns, so that the next one can't disturb it. */
#ifndef FU_VOTE_H
#define FU_VOTE_H

#include "fu_words.h"

FU_EMU_INLINE int fu_lane_id() { return (int)(fu_emu.self->index & 31u); }

/* Bit i: lane i exists and gave something else than 0. */
static uint32_t
fu_emu_ballot(const uint32_t *words)
{
    unsigned lanes = fu_emu_lanes(fu_emu.self->index / 32);
    uint32_t bits = 0;

    for (unsigned i = 0; i < lanes; i++)
        bits |= (uint32_t)(words[i] != 0) << i;
    return bits;
}

FU_EMU_INLINE bool
fu_any(bool x)
{
    return fu_emu_ballot(fu_emu_warp_exchange(x)) != 0;
}

FU_EMU_INLINE bool
fu_all(bool x)
{
    return fu_emu_ballot(fu_emu_warp_exchange(!x)) == 0;
}

FU_EMU_INLINE uint32_t
fu_ballot(bool x)
{
    return fu_emu_ballot(fu_emu_warp_exchange(x));
}

/* The word of a lane, the own one where there is none. */
static uint32_t
fu_emu_lane_word(const uint32_t *words, unsigned from)
{
    unsigned self = fu_emu.self->index;

    return words[from < fu_emu_lanes(self / 32) ? from : self & 31u];
}

FU_EMU_INLINE uint32_t
fu_shfl_idx_word(uint32_t x, int from)
{
    return fu_emu_lane_word(fu_emu_warp_exchange(x), (unsigned)from & 31u);
}

FU_EMU_INLINE uint32_t
fu_shfl_down_word(uint32_t x, int by)
{
    return fu_emu_lane_word(fu_emu_warp_exchange(x),
                            (unsigned)(fu_lane_id() + by));
}

FU_EMU_INLINE uint32_t
fu_shfl_up_word(uint32_t x, int by)
{
    return fu_emu_lane_word(fu_emu_warp_exchange(x),
                            (unsigned)(fu_lane_id() - by));
}

FU_EMU_INLINE bool
fu_elect()
{
    fu_emu_warp_exchange(0);
    return fu_lane_id() == 0;
}

/* --- votes of a block ------------------------------------------------------------------ */

/* Gives the place where this vote counts. */
static unsigned *
fu_emu_block_vote(bool x)
{
    fu_emu_thread *t = fu_emu.self;
    unsigned number = ++t->votes, place = number % 2;
    fu_emu_block *b = t->block;

    if (b->vote_number[place] != number) {
        b->vote_number[place] = number;
        b->vote_yes[place] = 0;
    }
    b->vote_yes[place] += x;
    return &b->vote_yes[place];
}

FU_EMU_INLINE int
fu_block_count(bool x)
{
    const unsigned *yes = fu_emu_block_vote(x);

    fu_emu_barrier_wait(0, fu_emu.n_threads);
    return (int)*yes;
}

FU_EMU_INLINE bool fu_block_any(bool x) { return fu_block_count(x) != 0; }
FU_EMU_INLINE bool fu_block_all(bool x) { return fu_block_count(!x) == 0; }

#endif
