# SPDX-License-Identifier: Apache-2.0

"""Field case 64: a cheap operation after a reduction, or an unrelated result beside
it, moved the whole to a slow generic kernel. A row sum with an epilogue has the
strategy of the bare sum and its estimated time within 5 %; a column sum beside an
elementwise result costs no more than both apart."""

from field import manifest, schedulers

ROWS = "fusion f(x: f16[M, N]) -> (y: %s[M]) { y = %s; }"
BARE = ROWS % ("f32", "sum(x, axis=1)")
AFTER = ROWS % ("f16", "f16(sum(x, axis=1)) * 2 + 1")
COLUMN = "fusion f(x: f32[M, N]) -> (s: f32[N]) { s = sum(x, axis=0); }"
PLAIN = "fusion f(x: f32[M, N]) -> (y: f32[M, N]) { y = x * 2; }"
BOTH = ("fusion f(x: f32[M, N]) -> (s: f32[N], y: f32[M, N])"
        " { s = sum(x, axis=0); y = x * 2; }")


def chosen(text, *argv):
    """(schedulers, estimated ns) of each variant."""
    tree = manifest(text, *argv)
    return [(schedulers(tree, 0, i), v["estimated_ns"])
            for i, v in enumerate(tree["fusions"][0]["variants"])]


for size in ([], ["-DM=8192", "-DN=4096"], ["-DM=100", "-DN=20000"]):
    bare, after = chosen(BARE, *size), chosen(AFTER, *size)
    assert [s for s, _ in bare] == [s for s, _ in after], (size, bare, after)
    assert "fallback" not in bare[0][0], bare
    for (_, a), (_, b) in zip(bare, after):
        assert b <= 1.05 * a, (size, bare, after)
for size in (["-DM=8192", "-DN=4096"], ["-DM=65536", "-DN=512"]):
    column, plain, both = (chosen(t, *size)[0] for t in (COLUMN, PLAIN, BOTH))
    assert both[1] <= column[1] + plain[1], (size, column, plain, both)
    assert "fallback" not in both[0], both
