# SPDX-License-Identifier: Apache-2.0

"""Layer norm of data around 2000 lost all its digits: the variance was the mean of
the squares less the square of the mean. Against float64 on the same inputs."""

import field
import numpy as np

TEXT = """
fusion f(x: f32[M, N]) -> (y: f32[M, N], z: f32[M, N])
{
    d = x - mean(x, axis=1, keepdim=true);
    y = d * rsqrt(mean(d * d, axis=1, keepdim=true) + 1e-5);
    v, m = var_mean(x, axis=1, keepdim=true, correction=0);
    z = (x - m) / sqrt(v + 1e-5);
}
"""
# Rows of each mean; absolute errors allowed at it.
GROUPS = {4: 20, 16: 20, 1024: 4, 20000: 1}
BOUNDS = {0.0: 1e-5, 2e3: 1e-3, 1e5: 0.25}


def main():
    rng = np.random.default_rng(17)
    for hidden, rows in GROUPS.items():
        x = rng.standard_normal((3 * rows, hidden))
        x += np.repeat(list(BOUNDS), rows)[:, None]
        x = x.astype(np.float32)
        wide = x.astype(np.float64)
        d = wide - wide.mean(1, keepdims=True)
        want = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
        out = field.run(TEXT, {"x": x}, [f"M={3 * rows}", f"N={hidden}"])
        for name in ("y", "z"):
            for i, (mean, bound) in enumerate(BOUNDS.items()):
                part = slice(i * rows, (i + 1) * rows)
                error = np.abs(out[name][part] - want[part]).max()
                assert error <= bound, (name, hidden, mean, error)


main()
