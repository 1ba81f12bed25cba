# SPDX-License-Identifier: Apache-2.0

"""Two schedules of one layer norm differed, and what follows near zero made that
visible. Under every strategy the result is near the rounded float64 one, and the
same strategy gives the same bits again: 4 ulp above 1e-2, or an eighth of an ulp of
the row's deviation, which the rounding of an f32 mean leaves of values near it."""

import field
import numpy as np

TEXT = """
fusion f(x: f32[M, N]) -> (y: f32[M, N])
{
    d = x - mean(x, axis=1, keepdim=true);
    y = d * rsqrt(mean(d * d, axis=1, keepdim=true) + 1e-5);
}
"""
ROWS = 3
# What waits in a row, or nothing: the row is walked in chunks.
STRATEGIES = {
    "the chosen one": [],
    "the row": ["blocks_per_sm=1", "x.store=register_packed"],
    "differences": ["blocks_per_sm=1", "x.store=none", "d.store=register_f32"],
    "nothing": ["blocks_per_sm=1", "x.store=reload"],
    "chunks": ["looped=1", "bound=0"],
}
ULP = 4
OF_DEVIATION = 2.0 ** -26


def sets(strategy):
    return [w for s in STRATEGIES[strategy] for w in ("--set", s)]


def ulps(got, want):
    """The largest error, in the unit that counts, of what is above 1e-2."""
    unit = np.maximum(np.spacing(np.abs(want.astype(np.float32))),
                      OF_DEVIATION / ULP)
    error = np.abs(got.astype(np.float64) - want) / unit
    return error[np.abs(want) > 1e-2].max()


def main():
    rng = np.random.default_rng(29)
    for n in (768, 1536, 20000):
        x = rng.standard_normal((ROWS, n)).astype(np.float32)
        wide = x.astype(np.float64)
        d = wide - wide.mean(1, keepdims=True)
        want = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
        seen = {}
        for strategy in STRATEGIES:
            if n == 20000 and strategy not in ("the chosen one", "chunks"):
                continue
            args = ["-D", f"N={n}", *sets(strategy)]
            out = [field.run(TEXT, {"x": x}, [f"M={ROWS}"], options=args)["y"]
                   for _ in range(2 if strategy == "chunks" else 1)]
            for again in out[1:]:
                field.same_bits(out[0], again, strategy)
            worst = ulps(out[0], want)
            assert worst <= ULP, (n, strategy, worst)
            seen[strategy] = out[0]
        assert len(seen) > 1


main()
