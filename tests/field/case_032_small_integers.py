# SPDX-License-Identifier: Apache-2.0

"""Sums of bools were a parity and sums of integers wrapped, since they were taken in
the type of their elements. They are i64."""

import field
import numpy as np

TEXT = """
fusion f(b: bool[1024], c: i8[300], d: i32[2], e: bool[M, N], g: i8[M, N])
    -> (sb: i64[], sc: i64[], sd: i64[], mb: f32[], se: i64[M], sg: i64[N],
        me: f32[M])
{
    sb = sum(b);
    sc = sum(c);
    sd = sum(d);
    mb = mean(b);
    se = sum(e, axis=1);
    sg = sum(g, axis=0);
    me = mean(e, axis=1);
}
"""


def main():
    rng = np.random.default_rng(32)
    e = rng.random((40, 700)) < 0.5
    g = np.full((40, 700), -128, np.int8)
    out = field.run(TEXT, {
        "b": np.ones(1024, bool), "c": np.full(300, 127, np.int8),
        "d": np.full(2, 2 ** 31 - 1, np.int32), "e": e, "g": g}, ["M=40", "N=700"])
    assert out["sb"] == 1024 and out["mb"] == 1, out
    assert out["sc"] == 38100 and out["sd"] == 4294967294, out
    assert (out["se"] == e.sum(1)).all() and (out["sg"] == -128 * 40).all()
    field.same_bits(out["me"], e.sum(1).astype(np.float32) / np.float32(700), "me")


main()
