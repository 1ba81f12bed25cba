# SPDX-License-Identifier: Apache-2.0

"""a / b went through an approximate reciprocal, fell below the whole number it is,
and trunc made it one less. Division rounds as IEEE has it, also for multiples."""

import field
import numpy as np

TEXT = """
fusion f(a: f32[n], b: f32[n]) -> (t: f32[n], f: f32[n], q: f32[n])
{
    t = trunc(a / b);
    f = floor(a / b);
    q = a / b;
}
"""


def main():
    k = np.arange(1, 4097, dtype=np.float32)
    b = np.repeat(np.array([3, 7, 49, 0.1, 1e-3], np.float32), k.size)
    a = np.tile(k, 5) * b
    out = field.run(TEXT, {"a": a, "b": b}, [f"n={a.size}"])
    field.same_bits(out["q"], a / b, "a / b")
    field.same_bits(out["t"], np.trunc(a / b), "trunc")
    field.same_bits(out["f"], np.floor(a / b), "floor")
    exact = np.tile(k, 5)[: 3 * k.size]
    field.same_bits(out["t"][: 3 * k.size], exact, "k")


main()
