#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference interpreter against NumPy.

    numpy_check.py FUSEC FUSEC_RUN EXAMPLES

Every other test trusts the interpreter; this one computes the same fusions
independently, in NumPy's widest type, and wants each output within half a unit
in the last place of its type: what is left when only the store has rounded.
Exits 77 where no Python with NumPy is found.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    other = "/usr/bin/python3"
    if os.path.exists(other) and os.path.realpath(other) != os.path.realpath(
            sys.executable) and "FUSEC_NUMPY_TRIED" not in os.environ:
        os.environ["FUSEC_NUMPY_TRIED"] = "1"
        os.execv(other, [other] + sys.argv)
    print("numpy_check.py: NumPy is not installed")
    sys.exit(77)

WIDE = np.longdouble
FUSEC, RUN, EXAMPLES = sys.argv[1:4]

# Mantissa bits and smallest normal exponent.
FORMATS = {"f32": (23, -126), "f16": (10, -14), "bf16": (7, -126),
           "f64": (52, -1022)}
NUMPY = {"f32": np.float32, "f16": np.float16, "f64": np.float64,
         "bf16": np.float32}


def ulp(x, dtype):
    bits, least = FORMATS[dtype]
    _, e = np.frexp(np.abs(x))
    e = np.maximum(e - 1, least)
    return np.ldexp(WIDE(1), e - bits)


def bf16(x):
    """float32 values that bf16 holds, rounded to nearest even."""
    u = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    u = (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000
    return u.astype(np.uint32).view(np.float32)


def draw(rng, shape, dtype):
    x = rng.standard_normal(shape)
    return bf16(x) if dtype == "bf16" else x.astype(NUMPY[dtype])


def sh(*argv):
    r = subprocess.run(argv, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"numpy_check.py: {' '.join(argv)}\n{r.stdout}{r.stderr}")


def evaluate(folder, source, defines, inputs, outputs, shapes):
    manifest = os.path.join(folder, "f.json")
    sh(FUSEC, source, "--emit=json", "-o", manifest,
       *[a for d in defines for a in ("-D", d)])
    argv = [RUN, manifest, "--reference", "--save-outputs", folder]
    for name, value in inputs.items():
        path = os.path.join(folder, f"in_{name}.npy")
        np.save(path, value)
        argv += ["--input", f"{name}={path}"]
    for s in shapes:
        argv += ["--shape", s]
    sh(*argv)
    return {o: np.load(os.path.join(folder, o + ".npy")) for o in outputs}


FAILED = []
PASSED = []


def compare(what, got, want, dtype):
    if got.shape != want.shape:
        FAILED.append(f"{what}: shape {got.shape}, not {want.shape}")
        return
    if dtype not in FORMATS:
        ok = got.dtype == want.dtype and bool(np.all(got == want))
        (PASSED if ok else FAILED).append(f"{what}: integers differ")
        return
    want = want.astype(WIDE)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        off = np.abs(got.astype(WIDE) - want) / ulp(want, dtype)
    # Half a unit, and what double itself leaves of sums that cancel.
    slack = 1e-11 * np.max(np.abs(want[np.isfinite(want)]), initial=0)
    if dtype == "f64":
        slack = 0 * slack
    limit = WIDE(0.5001) + slack / ulp(want, dtype)
    if dtype == "f64":
        limit = limit + WIDE(0.5)
    bad = ~(same | (off <= limit))
    if bad.any():
        FAILED.append(f"{what}: {bad.sum()} of {bad.size} off, at worst "
                      f"{np.nanmax(np.where(bad, off, 0)):.3g} ulp")
    else:
        PASSED.append(what)


# --- the fusions -------------------------------------------------------------


def layernorm_fwd(x, weight, bias):
    mean = x.mean(1)
    d = x - mean[:, None]
    rstd = 1 / np.sqrt((d * d).mean(1) + WIDE(np.float32(1e-5)))
    return {"y": d * rstd[:, None] * weight + bias, "mean": mean, "rstd": rstd}


def layernorm_bwd(dy, x, mean, rstd, weight):
    xhat = (x - mean[:, None]) * rstd[:, None]
    wdy = dy * weight
    c1 = (wdy * xhat).mean(1)[:, None]
    c2 = wdy.mean(1)[:, None]
    return {"dx": (wdy - c2 - xhat * c1) * rstd[:, None],
            "dweight": (dy * xhat).sum(0), "dbias": dy.sum(0)}


def rmsnorm_fwd(x, weight):
    r = 1 / np.sqrt((x * x).mean(1) + WIDE(np.float32(1e-6)))
    return {"y": x * r[:, None] * weight, "rrms": r}


def softmax_fwd(x):
    e = np.exp(x - x.max(1)[:, None])
    return {"y": e / e.sum(1)[:, None]}


def softmax_bwd(dy, y):
    return {"dx": y * (dy - (dy * y).sum(1)[:, None])}


def logsumexp(x):
    m = x.max(1)
    return {"y": m + np.log(np.exp(x - m[:, None]).sum(1))}


def mean_var(x):
    return {"mean": x.mean(1), "variance": x.var(1, ddof=1)}


def silu_mul(a, b):
    return {"y": a / (1 + np.exp(-a)) * b}


CASES = [
    (layernorm_fwd, "layernorm_fwd", "MN N N", "T f32 f32"),
    (layernorm_bwd, "layernorm_bwd", "MN MN M M N", "T T T"),
    (rmsnorm_fwd, "rmsnorm_fwd", "MN N", "T f32"),
    (softmax_fwd, "softmax_fwd", "MN", "T"),
    (softmax_bwd, "softmax_bwd", "MN MN", "T"),
    (logsumexp, "logsumexp", "MN", "f32"),
    (mean_var, "mean_var", "MN", "f32 f32"),
    (silu_mul, "silu_mul", "MN MN", "T"),
    (lambda x: {"y": x.sum(1)}, "row_sum", "MN", "f32"),
    (lambda x: {"y": x.sum(0)}, "column_sum", "MN", "f32"),
]


def run_case(folder, rng, case, dtype, sizes):
    fn, name, shapes, outs = case
    names = fn.__code__.co_varnames[:fn.__code__.co_argcount]
    inputs = {}
    for arg, shape in zip(names, shapes.split()):
        extent = tuple(sizes[c] for c in shape)
        inputs[arg] = draw(rng, extent,
                           "f32" if arg in ("mean", "rstd") else dtype)
    want = fn(**{k: v.astype(WIDE) for k, v in inputs.items()})
    got = evaluate(folder, os.path.join(EXAMPLES, name + ".fusion"),
                   ["T=" + dtype], inputs, want, [])
    for o, t in zip(want, outs.split()):
        compare(f"{name} {dtype} {sizes} {o}", got[o], want[o],
                dtype if t == "T" else t)


# Values of every class in one program, integers and f64 among them.
MIXED = """
fusion mixed(a: i32[M, N], b: i8[N], x: f64[M, N], y: f32[M, N])
    -> (s: i64[M], w: i32[M, N], d: f64[M], e: f64[M, N], g: f32[M, N],
        k: i64[M], v: f64[M], f: f16[M, N])
{
    s = sum(a, axis=1);
    w = a * a + i32(b);
    d = sum(x * f64(y), axis=1);
    e = exp(x) - tanh(f64(y));
    g = y * 0.5 * (1.0 + erf(y * 0.70710678));
    k = argmax(x, axis=1);
    v = var(x, axis=1);
    f = f16(y) + f16(x);
}
"""


def run_mixed(folder, rng):
    import math
    source = os.path.join(folder, "mixed.fusion")
    with open(source, "w", encoding="ascii") as f:
        f.write(MIXED)
    m, n = 13, 300
    a = rng.integers(-2**31, 2**31, (m, n)).astype(np.int32)
    b = rng.integers(-128, 128, n).astype(np.int8)
    x = rng.standard_normal((m, n))
    y = rng.standard_normal((m, n)).astype(np.float32)
    wide = x.astype(WIDE)
    half = y.astype(np.float16)
    erf = np.vectorize(math.erf)
    c = float(np.float32(0.70710678))
    want = {
        "s": a.astype(np.int64).sum(1), "w": a * a + b.astype(np.int32),
        "d": (wide * y.astype(WIDE)).sum(1),
        "e": np.exp(wide) - np.tanh(y.astype(WIDE)),
        "g": y.astype(WIDE) * 0.5 * (1 + erf(np.float64(y) * c)),
        "k": x.argmax(1), "v": wide.var(1, ddof=1),
        "f": half.astype(WIDE) + x.astype(np.float16),
    }
    types = {"s": "i64", "w": "i32", "d": "f64", "e": "f64", "g": "f32",
             "k": "i64", "v": "f64", "f": "f16"}
    got = evaluate(folder, source, [], {"a": a, "b": b, "x": x, "y": y}, want,
                   [])
    for o, t in types.items():
        compare(f"mixed {o}", got[o], want[o], t)


def main():
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for dtype in ("f32", "bf16", "f16"):
                run_case(folder, rng, case, dtype, {"M": 37, "N": 1000})
        for case in CASES:
            run_case(folder, rng, case, "f32", {"M": 3, "N": 5000})
            run_case(folder, rng, case, "f32", {"M": 600, "N": 7})
        run_mixed(folder, rng)
    for line in FAILED:
        print("FAILED", line)
    print(f"{len(PASSED)} passed, {len(FAILED)} failed")
    sys.exit(1 if FAILED else 0)


main()
