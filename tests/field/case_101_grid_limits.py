# SPDX-License-Identifier: Apache-2.0

"""Field cases 101 and 102: a grid's second and third extents end at 65535, the
first at 2^31 - 1; long and symbolic axes reached beyond. Every launch of every
variant stays inside for sizes up to what a memory of 256 GiB holds, and is at least 1 where
something is to be written."""

from expressions import NoValue, value
from field import manifest
from programs import LAYERNORM_BWD, LAYERNORM_FWD, SOFTMAX

PROGRAMS = {
    "transpose": "fusion f(x: f16[M, N]) -> (y: f16[N, M])"
                 " { y = transpose(x, 0, 1); }",
    "batch": "fusion f(x: f16[M, N, 4]) -> (y: f16[M, 4, N])"
             " { y = transpose(x, 1, 2); }",
    "columns": "fusion f(x: f32[M, N]) -> (s: f32[N]) { s = sum(x, axis=0); }",
    "rows": "fusion f(x: f32[M, N]) -> (s: f32[M]) { s = sum(x, axis=1); }",
    "pointwise": "fusion f(x: f32[M, N], b: f32[N]) -> (y: f32[M, N])"
                 " { y = x + b; }",
    "layernorm_fwd": LAYERNORM_FWD,
    "layernorm_bwd": LAYERNORM_BWD,
    "softmax": SOFTMAX,
}
SIZES = [(262144, 24), (24, 262144), (70000, 15), (8, 3000000), (65535, 64),
         (65536, 64), (65537, 64), (131073, 64), (1, 1), ((1 << 31) - 1, 8),
         (8, 1 << 31), ((1 << 31) - 1, 64), (1, 1 << 34), ((1 << 31) - 1, 3),
         (1 << 31, 8), ((1 << 33) + 1, 3), (1 << 35, 1)]
LIMITS = (2**31 - 1, 65535, 65535)


def admitted(v, names):
    try:
        return not v["guard"] or value(v["guard"], names)
    except NoValue:
        return False


def check(name, fusion, m, n):
    names = {"M": m, "N": n}
    names |= {f"{p['name']}.align": 256 for p in fusion["params"]}
    some = False
    for v in fusion["variants"]:
        if not admitted(v, names):
            continue
        some = True
        for x in v["launches"]:
            grid = [value(g, names) for g in x["grid"]]
            assert all(1 <= g <= most for g, most in zip(grid, LIMITS)), (
                name, m, n, x["kernel"], grid)
    assert some, (name, m, n)


for what, text in PROGRAMS.items():
    f = manifest(text)["fusions"][0]
    for size in SIZES:
        check(what, f, *size)
