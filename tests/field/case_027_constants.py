# SPDX-License-Identifier: Apache-2.0

"""Constants were printed with six decimals, so eps was 0, or without a suffix, so an
f32 program computed in f64. Each is rounded once to the type it meets."""

import field
import numpy as np

CONSTANTS = ["1 / 3", "pi", "128 ** -0.5", "0.1", "1 + 2 ** -23", "1e-8", "1e-38",
             "3.4028235e38"]
VALUES = [1 / 3, np.pi, 128 ** -0.5, 0.1, 1 + 2 ** -23, 1e-8, 1e-38, 3.4028235e38]


def text(dtype):
    results = ", ".join(f"y{i}: {dtype}[n], z{i}: {dtype}[n]"
                        for i in range(len(CONSTANTS)))
    lines = "".join(f"    y{i} = x * ({c});\n    z{i} = x + ({c});\n"
                    for i, c in enumerate(CONSTANTS))
    return f"fusion f(x: {dtype}[n]) -> ({results})\n{{\n{lines}}}\n"


def main():
    rng = np.random.default_rng(27)
    for dtype, real in (("f32", np.float32), ("f64", np.float64)):
        x = rng.standard_normal(300).astype(real)
        out = field.run(text(dtype), {"x": x}, ["n=300"])
        for i, value in enumerate(VALUES):
            with np.errstate(over="ignore"):
                field.same_bits(out[f"y{i}"], x * real(value), CONSTANTS[i])
                field.same_bits(out[f"z{i}"], x + real(value), CONSTANTS[i])


main()
