# SPDX-License-Identifier: Apache-2.0

"""A constant of 1e-40 became infinite: its digits went past what the parser of the
target type takes. Constants have the right bits in every type, and x * 1 keeps
subnormal values."""

import field
import numpy as np

CASES = [("f32", c) for c in (1e-40, 1.4e-45, -1e-42, 1.17549421e-38)] + [
    ("f16", c) for c in (5.9e-8, 6e-5, -2e-7)] + [
    ("bf16", c) for c in (9.2e-41, 1e-40, -1e-39)]


def text():
    results = ", ".join(f"y{i}: {t}[n]" for i, (t, _) in enumerate(CASES))
    lines = "".join(f"    y{i} = broadcast_to({t}({c!r}), [n]);\n"
                    for i, (t, c) in enumerate(CASES))
    return f"""
fusion f(x: f32[n], h: f16[n]) -> ({results}, keep: f32[n], half: f16[n])
{{
{lines}    keep = x * 1;
    half = h * 1;
}}
"""


def main():
    n = 256
    bits = np.arange(n, dtype=np.uint32) * 32771 + 1
    x = bits.view(np.float32)
    assert (x < 1.2e-38).all()
    h = (np.arange(n, dtype=np.uint16) * 3 + 1).view(np.float16)
    out = field.run(text(), {"x": x, "h": h}, [f"n={n}"])
    for i, (dtype, value) in enumerate(CASES):
        want = np.float32(value)
        if dtype == "f16":
            want = np.float16(value)
        elif dtype == "bf16":
            want = field.bf16(want)
        field.same_bits(out[f"y{i}"], np.full(n, want), f"{dtype} {value}")
    field.same_bits(out["keep"], x, "x * 1")
    field.same_bits(out["half"], h, "h * 1")


main()
