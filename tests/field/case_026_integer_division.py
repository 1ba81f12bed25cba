# SPDX-License-Identifier: Apache-2.0

"""Integers were divided through floating point, and front and back end disagreed on
the sign of the rest. The rule: // floors and % goes with it, exactly, in the type of
the operands; by 0 gives 0; the least integer by -1 wraps; / is a division of f32."""

import field
import numpy as np

TEXT = """
fusion f(a: i64[n], b: i64[n], c: i32[n], d: i32[n])
    -> (q: i64[n], r: i64[n], s: i32[n], t: i32[n], u: f32[n], two: i64[n],
        same: i64[n])
{
    q = a // b;
    r = a % b;
    s = c // d;
    t = c % d;
    u = c / d;
    two = (a * 2) // a;
    same = a // 1;
}
"""


def floor_div(a, b):
    least = np.iinfo(a.dtype).min
    plain = (b != 0) & ~((a == least) & (b == -1))
    q = np.where(plain, a // np.where(plain, b, 1), 0)
    return np.where((a == least) & (b == -1), least, q).astype(a.dtype)


def main():
    rng = np.random.default_rng(26)
    head = np.array([[-7, 2], [7, -2], [-7, -2], [5, 0], [0, 3]], np.int64)
    wide = rng.integers(-2 ** 62, 2 ** 62, 500)
    near = rng.integers(-9, 10, 500)
    small = rng.integers(-2 ** 31, 2 ** 31, 500)
    a = np.concatenate([head[:, 0], [-2 ** 63, 2 ** 53 + 1], wide])
    b = np.concatenate([head[:, 1], [-1, 1], near])
    c = np.concatenate([head[:, 0], [-2 ** 31, 9], small]).astype(np.int32)
    d = np.concatenate([head[:, 1], [-1, 1], near]).astype(np.int32)
    out = field.run(TEXT, {"a": a, "b": b, "c": c, "d": d}, [f"n={a.size}"])
    with np.errstate(all="ignore"):
        for name, x, y in (("q", a, b), ("s", c, d)):
            field.same_bits(out[name], floor_div(x, y), name)
        field.same_bits(out["u"], c.astype(np.float32) / d.astype(np.float32), "u")
    assert out["q"][:5].tolist() == [-4, -4, 3, 0, 0], out["q"][:5]
    assert out["same"][6] == 2 ** 53 + 1 and (out["same"] == a).all()
    small = np.arange(1, 10 ** 6 + 1, 37)
    out = field.run(TEXT, {"a": small, "b": small, "c": small.astype(np.int32),
                           "d": small.astype(np.int32)}, [f"n={small.size}"])
    assert (out["two"] == 2).all() and not out["r"].any() and not out["t"].any()


main()
