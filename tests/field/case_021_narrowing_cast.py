# SPDX-License-Identifier: Apache-2.0

"""f32(bf16(x)) became x: two casts were taken for one. A cast is a rounding, to
nearest even; only a widening and the way back may go, and costs nothing."""

import field
import numpy as np

TEXT = """
fusion f(x: f32[n], h: f16[n]) -> (b: f32[n], g: f32[n], w: f16[n])
{
    b = f32(bf16(x));
    g = f32(f16(x));
    w = f16(f32(h));
}
fusion same(h: f16[n]) -> (w: f16[n])
{
    w = f16(f32(h));
}
fusion copy(h: f16[n]) -> (w: f16[n])
{
    w = h;
}
"""
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 65504, 65519, 65520,
           3.4e38, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 1 + 2 ** -8, 1 + 3 * 2 ** -8,
           2 ** -24, 2 ** -25, 2 ** -25 * 1.5, 9.2e-41, 4.6e-41, 6e-8, 1e-7]


def body(text, name):
    found = field.match(rf"^fu_{name}_v0_k0\(((.|\n)*?)^}}", text)
    return found[1]


def main():
    rng = np.random.default_rng(21)
    bits = rng.integers(0, 2 ** 32, 4096, np.uint64).astype(np.uint32)
    x = np.concatenate([np.array(SPECIAL, np.float32), bits.view(np.float32)])
    h = rng.integers(0, 2 ** 16, x.size, np.uint64).astype(np.uint16)
    h = h.view(np.float16)
    out = field.run(TEXT, {"x": x, "h": h}, [f"n={x.size}"], fusion="f")
    nan = np.isnan(x)
    want = np.where(nan, np.float32(np.nan), field.bf16(x))
    field.same_bits(out["b"], want, "bf16")
    with np.errstate(over="ignore"):
        field.same_bits(out["g"], x.astype(np.float16).astype(np.float32), "f16")
    field.same_bits(out["w"], h, "f16(f32(h))")
    text = field.kernels(field.emit(TEXT, "cu"))
    assert body(text, "same") == body(text, "copy"), text


main()
