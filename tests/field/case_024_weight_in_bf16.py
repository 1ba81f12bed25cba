# SPDX-License-Identifier: Apache-2.0

"""A kernel multiplied by a bf16 weight in f32 before the one rounding, where the
program rounds first. Both orders, each bit by bit as written."""

import field
import numpy as np

TEXT = """
fusion f(x: bf16[16, 4096], rstd: f32[16], w: bf16[4096])
    -> (first: bf16[16, 4096], last: bf16[16, 4096])
{
    first = bf16(x * rstd[:, None]) * w;
    last = x * rstd[:, None] * w;
}
"""


def main():
    rng = np.random.default_rng(24)
    x = field.bf16(rng.standard_normal((16, 4096)))
    w = field.bf16(rng.standard_normal(4096))
    wide = x.astype(np.float64)
    rstd = (1 / np.sqrt((wide * wide).mean(1))).astype(np.float32)
    out = field.run(TEXT, {"x": x, "rstd": rstd, "w": w})
    normal = x * rstd[:, None]
    field.same_bits(out["first"], field.bf16(field.bf16(normal) * w), "first")
    field.same_bits(out["last"], field.bf16(normal * w), "last")
    assert (out["first"] != out["last"]).any()


main()
