# SPDX-License-Identifier: Apache-2.0

"""A scalar argument with a default was printed as its number in the parameter list,
and the kernel didn't compile. It keeps its name and type, the default stands in the
manifest, and another value at launch changes the result."""

import field
import numpy as np

TEXT = """
fusion f(x: f32[2, 8], eps: f64 = 1e-5) -> (y: f32[2, 8])
{
    d = x - mean(x, axis=1, keepdim=true);
    y = f32(d * rsqrt(mean(d * d, axis=1, keepdim=true) + eps));
}
"""


def expected(x, eps):
    x = x.astype(np.float64)
    d = x - x.mean(1, keepdims=True)
    return d / np.sqrt((d * d).mean(1, keepdims=True) + eps)


def main():
    field.match(r"^ +(const )?double eps\b|^ +(const )?double \w*eps\w*[,)]",
                field.kernels(field.emit(TEXT, "cu")))
    params = field.manifest(TEXT)["fusions"][0]["params"]
    eps = [p for p in params if p["name"] == "eps"][0]
    assert eps["dtype"] == "f64" and float(eps["default"]) == 1e-5, eps
    x = np.random.default_rng(16).standard_normal((2, 8)).astype(np.float32)
    for value in (1e-5, 3.0):
        given = {} if value == 1e-5 else {"eps": value}
        out = field.run(TEXT, {"x": x, **given})["y"]
        assert np.allclose(out, expected(x, value), rtol=1e-6, atol=0), value
    assert not np.allclose(expected(x, 1e-5), expected(x, 3.0), rtol=0.1)


main()
