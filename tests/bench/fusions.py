# SPDX-License-Identifier: Apache-2.0
"""The fusions of the benchmark: their inputs, their formulas, their goals.

Nothing here needs PyTorch: arrays are those of a machine (machine.py), and a
formula is written once, over bounded.Bounded. Names are those of the programs
in examples/ and tests/bench/programs.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE / "programs", HERE.parent.parent / "examples")

# What is left after a reduction over the rows is returned as ("columns", term).
COLUMNS = "columns"


def program(name):
    """The file of a fusion."""
    for folder in FOLDERS:
        path = folder / f"{name}.fusion"
        if path.exists():
            return path
    raise FileNotFoundError(name)


def matrices(*names):
    def make(mach, m, n, dtype):
        return {name: mach.normal((m, n), dtype) for name in names}
    return make


def with_vectors(make, *names):
    def both(mach, m, n, dtype):
        inputs = make(mach, m, n, dtype)
        for name in names:
            inputs[name] = mach.normal((n,), dtype)
        return inputs
    return both


def with_statistics(make):
    def both(mach, m, n, dtype):
        inputs = make(mach, m, n, dtype)
        inputs["mean"], inputs["rstd"] = mach.statistics(inputs["x"])
        return inputs
    return both


def with_root(make):
    def both(mach, m, n, dtype):
        inputs = make(mach, m, n, dtype)
        inputs["rrms"] = mach.root(inputs["x"])
        return inputs
    return both


def softmax_bwd_inputs(mach, m, n, dtype):
    return {"dy": mach.normal((m, n), dtype),
            "y": mach.softmax(mach.normal((m, n), "f32"), dtype)}


def layernorm_bwd(a, dtype):
    xhat = (a["x"] - a["mean"][:, None]) * a["rstd"][:, None]
    wdy = a["dy"] * a["weight"]
    c1 = (wdy * xhat).mean()[:, None]
    c2 = wdy.mean()[:, None]
    dx = (wdy - c2 - xhat * c1) * a["rstd"][:, None]
    if "dres" in a:
        dx = dx + a["dres"]
    return {"dx": dx, "dweight": (COLUMNS, a["dy"] * xhat),
            "dbias": (COLUMNS, a["dy"])}


def rmsnorm_bwd(a, dtype):
    xhat = a["x"] * a["rrms"][:, None]
    wdy = a["dy"] * a["weight"]
    c = (wdy * xhat).mean()[:, None]
    dx = (wdy - xhat * c) * a["rrms"][:, None]
    if "dres" in a:
        dx = dx + a["dres"]
    return {"dx": dx, "dweight": (COLUMNS, a["dy"] * xhat)}


def layernorm_fwd(a, dtype):
    out = {}
    h = a["x"]
    if "res" in a:
        h = out["h"] = (h + a["res"]).stored(dtype)
    mean = h.mean()
    centred = h - mean[:, None]
    rstd = ((centred * centred).mean() + 1e-5).rsqrt()
    y = centred * rstd[:, None] * a["weight"] + a["bias"]
    return {**out, "y": y, "mean": mean, "rstd": rstd}


def rmsnorm_fwd(a, dtype):
    out = {}
    h = a["x"]
    if "res" in a:
        h = out["h"] = (h + a["res"]).stored(dtype)
    rrms = ((h * h).mean() + 1e-6).rsqrt()
    return {**out, "y": h * rrms[:, None] * a["weight"], "rrms": rrms}


def softmax_fwd(a, dtype):
    e = (a["x"] - a["x"].max()[:, None]).exp()
    return {"y": e / e.sum()[:, None]}


def log_softmax_fwd(a, dtype):
    centred = a["x"] - a["x"].max()[:, None]
    return {"y": centred - centred.exp().sum().log()[:, None]}


def softmax_bwd(a, dtype):
    dot = (a["dy"] * a["y"]).sum()[:, None]
    return {"dx": a["y"] * (a["dy"] - dot)}


def silu_mul(a, dtype):
    return {"y": a["a"] * a["a"].sigmoid() * a["b"]}


def row_sum(a, dtype):
    return {"y": a["x"].sum()}


def column_sum(a, dtype):
    return {"y": (COLUMNS, a["x"])}


class Fusion:
    """`kind` is the class of its goals."""

    def __init__(self, kind, inputs, formula):
        self.kind, self.inputs, self.formula = kind, inputs, formula


LN_BWD = with_statistics(with_vectors(matrices("dy", "x"), "weight"))
LN_BWD_ADD = with_statistics(with_vectors(matrices("dy", "x", "dres"),
                                          "weight"))
RMS_BWD = with_root(with_vectors(matrices("dy", "x"), "weight"))
RMS_BWD_ADD = with_root(with_vectors(matrices("dy", "x", "dres"), "weight"))

FUSIONS = {
    "layernorm_bwd": Fusion("norm_bwd", LN_BWD, layernorm_bwd),
    "layernorm_bwd_add": Fusion("norm_bwd", LN_BWD_ADD, layernorm_bwd),
    "rmsnorm_bwd": Fusion("norm_bwd", RMS_BWD, rmsnorm_bwd),
    "rmsnorm_bwd_add": Fusion("norm_bwd", RMS_BWD_ADD, rmsnorm_bwd),
    "layernorm_fwd": Fusion("forward", with_vectors(
        matrices("x"), "weight", "bias"), layernorm_fwd),
    "layernorm_fwd_add": Fusion("forward", with_vectors(
        matrices("x", "res"), "weight", "bias"), layernorm_fwd),
    "rmsnorm_fwd": Fusion("forward", with_vectors(
        matrices("x"), "weight"), rmsnorm_fwd),
    "rmsnorm_fwd_add": Fusion("forward", with_vectors(
        matrices("x", "res"), "weight"), rmsnorm_fwd),
    "softmax_fwd": Fusion("forward", matrices("x"), softmax_fwd),
    "log_softmax_fwd": Fusion("forward", matrices("x"), log_softmax_fwd),
    "softmax_bwd": Fusion("softmax_bwd", softmax_bwd_inputs, softmax_bwd),
    "silu_mul": Fusion("pointwise", matrices("a", "b"), silu_mul),
    "row_sum": Fusion("row_sum", matrices("x"), row_sum),
    "column_sum": Fusion("column_sum", matrices("x"), column_sum),
}
NORM_BWD = [f for f, s in FUSIONS.items() if s.kind == "norm_bwd"]
FORWARD = [f for f, s in FUSIONS.items()
           if s.kind in ("forward", "softmax_bwd")]
