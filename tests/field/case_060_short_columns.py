# SPDX-License-Identifier: Apache-2.0

"""Field case 60: after tuning for long columns, sums over a short axis went over
several blocks and a workspace where a loop of one thread does. For every pair of a
short or long reduced axis and a narrow or wide kept one: no workspace up to 64
rows. (The share of copy bandwidth is measured on a GPU, see gpu.tsv.)"""

from expressions import launches
from field import manifest, np, run

PROGRAM = """type T = f32;
fusion f(x: T[R, C]) -> (s: f32[C])
{
    s = sum(x, axis=0);
}
"""
ROWS = (2, 3, 7, 16, 28, 64, 4096, 65536)
COLUMNS = (2, 16, 128, 1000, 4096, 1 << 20)


def check(kind, rows, columns):
    tree = manifest(PROGRAM, f"-DT={kind}", f"-DR={rows}", f"-DC={columns}")
    fusion = tree["fusions"][0]
    what = f"{kind} {rows}x{columns}"
    if rows <= 64:
        assert not fusion["workspace"], (what, fusion["workspace"])
        assert len(fusion["variants"][0]["launches"]) == 1, what
    for _, grid, block, shared in launches(fusion, {"R": rows, "C": columns,
                                                    "x.align": 256}):
        assert block[0] % 32 == 0 and block[0] <= 1024, what
        assert 1 <= grid[0] < 2**31 and max(grid[1:]) <= 65535, what
        assert shared <= 232448, what


for t in ("f32", "bf16"):
    for r in ROWS:
        for c in COLUMNS:
            check(t, r, c)
for r, c in ((2, 16), (28, 128), (64, 1000), (4096, 2)):
    x = np.arange(r * c, dtype=np.float32).reshape(r, c) % 17 - 8
    out = run(PROGRAM, {"x": x}, options=[f"-DR={r}", f"-DC={c}"])
    assert (out["s"] == x.sum(axis=0)).all(), (r, c)
