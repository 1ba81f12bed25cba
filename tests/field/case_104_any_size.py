# SPDX-License-Identifier: Apache-2.0

"""Field case 104: launch parameters were kept from an earlier size, or baked at
compile time, so that users edited generated code. The manifest holds expressions
over the sizes: for 500 sizes of every program the launch library's evaluator and
one written from the grammar give the same number or both none, nothing divides by
zero, and a column sum compiled once is right at 500 sizes."""

import os
import random
import shlex
import subprocess

from expressions import NoValue, chosen, parse, value
from field import Path, manifest, sh
from programs import EXAMPLES

SUM = """# EXEC lines follow
fusion f(x: f32[N, M]) -> (s: f32[M])
{
    s = sum(x, axis=0);
}
"""
SIZES = 500


def texts(fusion):
    """Every expression of a fusion's entry."""
    yield from fusion["guards"]
    for w in fusion["workspace"]:
        yield w["bytes"]
    for p in fusion["params"]:
        yield from [*p.get("shape", ()), *p.get("strides", ())]
    yield from (fusion["bytes_read"], fusion["bytes_written"])
    for v in fusion["variants"]:
        yield from [v["guard"]] if v["guard"] else []
        for x in v["launches"]:
            yield from [*x["grid"], x["dynamic_smem"]]
            yield from (a["value"] for a in x["args"] if a["kind"] == "i64")


def draw(rng):
    kind = rng.random()
    if kind < 0.1:
        return rng.choice((0, 1, 2, 2**31 - 1, 2**31, 2**40, 2**62))
    return rng.randint(0, 64) if kind < 0.4 else rng.randint(1, 1 << 20)


def mine(text, names):
    try:
        return str(value(text, names))
    except NoValue as e:
        assert "zero" not in str(e), (text, names)
        return "none"


def compare(fusion, rng):
    """The number of comparisons."""
    dims = [d["name"] for d in fusion["dims"]]
    tensors = [p["name"] for p in fusion["params"] if "align" in p]
    used = sorted(set(texts(fusion)))
    lines, want = [], []
    for _ in range(SIZES):
        names = {d: draw(rng) for d in dims} | {"sms": 132}
        names |= {f"{t}.align": 1 << rng.randint(0, 12) for t in tensors}
        for t in used:
            given = "".join(f"\t{k}={v}" for k, v in names.items())
            lines.append(t + given)
            want.append(mine(t, names))
    r = subprocess.run([os.environ["EXPR_VALUES"]], input="\n".join(lines) + "\n",
                       capture_output=True, text=True, check=True)
    for line, a, b in zip(lines, r.stdout.splitlines(), want, strict=True):
        assert a == b, f"{line}: {a}, not {b}"
    return len(lines)


def no_baked_grid(fusion):
    """Where the grid counts rows or columns, it says so by their names."""
    for v in fusion["variants"]:
        if all(x["scheduler"] == "pointwise" for x in v["launches"]):
            for x in v["launches"]:
                assert not x["grid"][0].isdigit(), x


def column_sums(rng):
    lines = [f"# EXEC: N={rng.randint(0, 90)} M={rng.randint(0, 90)} plans=1 "
             "device=h200,sms=4\n" for _ in range(SIZES)]
    Path("sums.fusion").write_text("".join(lines) + SUM)
    argv = shlex.split(os.environ["EXEC"])
    sh(["sums.fusion" if a == "%" else a for a in argv])


def main():
    rng = random.Random(104)
    done = 0
    for path in sorted(EXAMPLES.glob("*.fusion")):
        for fusion in manifest(path.read_text())["fusions"]:
            done += compare(fusion, rng)
            no_baked_grid(fusion)
            assert chosen(fusion, {d["name"]: 5 for d in fusion["dims"]} | {
                f"{p['name']}.align": 256 for p in fusion["params"]})
    print(f"{done} expressions compared")
    assert parse("1 + 2 * N") == ("+", 1, ("*", 2, "N"))
    if os.environ.get("EXEC"):
        column_sums(rng)


main()
