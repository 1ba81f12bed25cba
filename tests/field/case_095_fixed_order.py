# SPDX-License-Identifier: Apache-2.0

"""Field case 95: gradients summed by floating-point atomics differed from run to
run. Sums have a fixed order: no atomic in the PTX, the same bits in every order of
the threads and blocks that the emulation tries, and the gradient of a row doesn't
depend on the batch that it lies in."""

import re
from pathlib import Path

from field import CXX, fusec, np, run, same_bits
from programs import LAYERNORM_BWD, need_nvrtc


def data(rows, columns):
    rng = np.random.default_rng(95)
    x = {k: rng.standard_normal((rows, columns)).astype(np.float32)
         for k in ("dy", "x")}
    x["mean"] = x["x"].mean(axis=1)
    x["rstd"] = (1 / x["x"].std(axis=1)).astype(np.float32)
    x["weight"] = rng.standard_normal(columns).astype(np.float32)
    return x


def gradients(rows, columns, order=None):
    x = data(64, columns)
    pick = np.arange(64)[:rows] if order is None else order
    for k in ("dy", "x", "mean", "rstd"):
        x[k] = np.ascontiguousarray(x[k][pick])
    return run(LAYERNORM_BWD, x, options=["-DT=f32"])


if CXX:
    for n in (192, 100):
        whole = gradients(64, n)
        again = gradients(64, n)
        for name in whole:
            same_bits(whole[name], again[name], name)
        one = gradients(1, n)
        same_bits(one["dx"], whole["dx"][:1], "dx of a row alone")
        turned = np.arange(64)[::-1]
        back = gradients(64, n, turned)
        same_bits(back["dx"][turned], whole["dx"], "dx of rows in reverse")
need_nvrtc()
fusec(LAYERNORM_BWD, "-DT=f32", "-o", "f.ptx")
ptx = Path("f.ptx").read_text()
assert not re.search(r"\b(atom|red)\.", ptx), "an atomic"
