# SPDX-License-Identifier: Apache-2.0

"""The sum of squares of an RMS norm was held in f16: infinite, so its inverse was 0
and the row vanished. The sum is f32, whatever the type of the row."""

import field
import numpy as np

TEXT = """
fusion f(x: f16[M, N], r: f16[M, N]) -> (y: f16[M, N])
{
    s = x + r;
    y = s * rsqrt(mean(s * s, axis=1, keepdim=true) + 1e-6);
}
"""


def check(x):
    out = field.run(TEXT, {"x": x, "r": np.zeros_like(x)},
                    [f"M={x.shape[0]}", f"N={x.shape[1]}"])["y"]
    wide = out.astype(np.float64)
    assert np.isfinite(wide).all()
    assert (wide[x != 0] != 0).all()
    rms = np.sqrt((wide * wide).mean(1))
    assert (np.abs(rms - 1) < 1e-3).all(), rms


def main():
    rng = np.random.default_rng(19)
    check((300 * rng.choice([-1, 1], (8, 2048))).astype(np.float16))
    peak = np.zeros((4, 4096), np.float16)
    peak[:, 77] = 6e4
    check(peak)


main()
