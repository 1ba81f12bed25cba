// Votes that not all take part in.
// ../README.md has the form of the lines TWINS, in, out, word; BUG is where
// the twin NAME_bad is reported.
// NEEDS sm_80
#include "twins.cuh"

// TWINS block_vote grid=1 block=64 report=divergent
// out y u32[64] = 1
BODY(block_vote)(fu_u32 *y)
{
    if (BAD && fu_tid() >= 32)
        return;
    fu_store(y, fu_tid(), (fu_u32)fu_block_any(fu_tid() == 5)); // BUG
}
TWINS(block_vote, (fu_u32 *y), (y))

// TWINS ballot grid=1 block=32 report=divergent
// out y u32[32] = 255
BODY(ballot)(fu_u32 *y)
{
    if (BAD && fu_tid() == 9)
        fu_store(y, 9, 0u);
    else
        fu_store(y, fu_tid(), fu_ballot(fu_tid() < 8)); // BUG
}
TWINS(ballot, (fu_u32 *y), (y))

// TWINS elect grid=1 block=64 report=divergent
// out y u32[2] = i + 1
BODY(elect)(fu_u32 *y)
{
    if (BAD && fu_tid() % 32 == 0)
        return;
    if (fu_elect()) // BUG
        fu_store(y, fu_tid() / 32, (fu_u32)(fu_tid() / 32 + 1));
}
TWINS(elect, (fu_u32 *y), (y))
