# SPDX-License-Identifier: Apache-2.0

"""A variance with a correction above the number of elements was negative: it was
divided by n - correction. The divisor is never below 0: infinite, or NaN for a sum
of 0."""

import field
import numpy as np

TEXT = """
fusion f(three: f32[3, 3], one: f32[1, 3], two: f32[2, 3])
    -> (a: f32[3], b: f32[3], c: f32[3], d: f32[3], e: f32[3], s: f32[3])
{
    a = var(three, axis=0, correction=4);
    b = var(three, axis=0, correction=3);
    c = var(one, axis=0, correction=1);
    d = var(one, axis=0, correction=0);
    e = var(two, axis=0, correction=1);
    s = std(three, axis=0, correction=4);
}
fusion rows(x: f32[M, N]) -> (a: f32[M], b: f32[M])
{
    a = var(x, axis=1, correction=4);
    b = var(x, axis=1);
}
"""


def main():
    rng = np.random.default_rng(30)
    three, one, two = (rng.standard_normal((n, 3)).astype(np.float32)
                       for n in (3, 1, 2))
    out = field.run(TEXT, {"three": three, "one": one, "two": two}, fusion="f")
    for name in "abs":
        assert np.isposinf(out[name]).all(), (name, out[name])
    assert np.isnan(out["c"]).all() and (out["d"] == 0).all(), out
    assert np.allclose(out["e"], two.astype(np.float64).var(0, ddof=1), 1e-6)
    x = rng.standard_normal((5, 3)).astype(np.float32)
    x[2] = 1
    out = field.run(TEXT, {"x": x}, ["M=5", "N=3"], fusion="rows")
    assert np.isnan(out["a"][2]) and np.isposinf(np.delete(out["a"], 2)).all()
    assert np.allclose(out["b"], x.astype(np.float64).var(1, ddof=1), 1e-6)


main()
