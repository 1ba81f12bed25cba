# SPDX-License-Identifier: Apache-2.0
"""The stride of an axis of extent 1 took part in the analysis of tiles, and a
kernel got misaligned accesses after an unrelated change. Such strides mean
nothing: whatever they are, the CUDA text is the same and the result is right."""

import field
import numpy as np

TEXT = """
fusion f(x: f32[1, 64, 96] strides({0}, 1, 64),
         y: f32[1, 4, 64, 96] strides({0}, 6144, 1, 64))
    -> (z: f32[1, 4, 64, 96] strides({1}, 6144, 96, 1))
{{
    z = x * y;
}}
"""


def main():
    texts = {field.kernels(field.emit(TEXT.format(s, max(s, 1)), "cu"))
             for s in (0, 1, 7, 10 ** 9)}
    assert len(texts) == 1, "\n====\n".join(sorted(texts))
    rng = np.random.default_rng(44)
    x = rng.standard_normal((1, 64, 96)).astype(np.float32)
    y = rng.standard_normal((1, 4, 64, 96)).astype(np.float32)
    out = field.run(TEXT.format(7, 10 ** 9), {"x": x, "y": y})
    field.same_bits(out["z"], x * y, "z")


main()
