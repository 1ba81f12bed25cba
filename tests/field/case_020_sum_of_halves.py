# SPDX-License-Identifier: Apache-2.0

"""A sum of halves was rounded to f16 between its steps and became infinite on the
way to 0. Sums of storage types are f32 to the end, in every stage of a kernel."""

import field
import numpy as np

TEXT = """
fusion f(a: f16[8], b: f16[70000], c: bf16[4096], d: f16[64, N], e: f16[N, 64])
    -> (cancel: f16[], ones: f32[], whole: bf16[], rows: f16[64], columns: f16[64],
        all: f16[])
{
    cancel = sum(a);
    ones = sum(b);
    whole = sum(c);
    rows = sum(d, axis=1);
    columns = sum(e, axis=0);
    all = sum(d);
}
"""


def main():
    n = 3000
    half = np.repeat(np.array([32000, -32000], np.float16), n // 2)
    d = np.tile(half, (64, 1))
    out = field.run(TEXT, {
        "a": np.array([32000] * 4 + [-32000] * 4, np.float16),
        "b": np.ones(70000, np.float16), "c": np.ones(4096, np.float32),
        "d": d, "e": np.ascontiguousarray(d.T)}, [f"N={n}"])
    assert out["cancel"] == 0 and out["all"] == 0, out
    assert out["ones"] == 70000 and out["whole"] == 4096, out
    assert not out["rows"].any() and not out["columns"].any(), out


main()
