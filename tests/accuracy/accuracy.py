#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of every floating operation on a GPU, against MPFR and PyTorch.

    accuracy.py programs --fusec fusec --tool accuracy --out DIR
    accuracy.py measure  --tool accuracy --lib libfusec_launch.so --dir DIR
                         --out ROWS.json
    accuracy.py table    --tool accuracy ROWS.json... --out docs/accuracy.md
    accuracy.py emulate  --tool accuracy --fusec fusec --run fusec-run

`programs` writes a fusion an operation and type, and compiles them. `measure`
runs them and PyTorch's functions on the same arguments, on a machine that has a
GPU, PyTorch and the folder DIR but no build tools, and lets the tool judge both.
`table` makes the page, of later files where two measure the same. `emulate` runs
the generated CUDA on the CPU, where the host's libm stands for CUDA's, and wants
the same bounds. `accuracy.h` says what the tool does.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TYPES = ["f32", "f64", "f16", "bf16"]
OPERATORS = {"+", "-", "*", "/", "//", "%"}
WORDS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv",
         "%": "mod"}
NO_HALF = {"nextafter"}


def operations(tool):
    """[(name, arity, bound)]"""
    text = subprocess.run([str(tool), "list"], check=True, capture_output=True,
                          text=True).stdout
    return [(n, int(a), float(u))
            for n, a, u in (line.split() for line in text.splitlines())]


def has(op, dtype):
    return dtype in ("f32", "f64") or op not in NO_HALF


def fusion_name(op):
    return "op_" + WORDS.get(op, op)


# --- programs ----------------------------------------------------------------


def expression(op, arity):
    args = "abc"[:arity]
    if op in OPERATORS:
        return f"a {op} b"
    return "-a" if op == "neg" else f"{op}({', '.join(args)})"


def program(ops, dtype):
    lines = []
    for op, arity, _ in ops:
        if has(op, dtype):
            args = ", ".join(f"{a}: {dtype}[N]" for a in "abc"[:arity])
            lines.append(f"fusion {fusion_name(op)}({args}) -> "
                         f"(y: {dtype}[N]) {{ y = {expression(op, arity)}; }}")
    return "\n".join(lines) + "\n"


# Sums that need more than a running sum, variances far from zero.
SUMS = """
fusion rows(x: f32[M, N]) -> (y: f32[M]) { y = sum(x, axis=1); }
fusion columns(x: f32[M, N]) -> (y: f32[N]) { y = sum(x, axis=0); }
fusion whole(x: f32[M, N]) -> (y: f32[]) { y = sum(x); }
fusion row_var(x: f32[M, N]) -> (y: f32[M]) { y = var(x, axis=1); }
fusion column_var(x: f32[M, N]) -> (y: f32[N]) { y = var(x, axis=0); }
"""


def programs(args):
    args.out.mkdir(parents=True, exist_ok=True)
    ops = operations(args.tool)
    texts = {t: program(ops, t) for t in TYPES}
    texts["sums"] = SUMS
    for name, text in texts.items():
        source = args.out / f"{name}.fusion"
        source.write_text(text)
        subprocess.run([str(args.fusec), str(source), "-o",
                        str(args.out / f"{name}.cubin"), f"--device={args.device}"],
                       check=True)


# --- on the GPU --------------------------------------------------------------


def peers(torch):
    """PyTorch's function for an operation, where it has one."""
    f = torch.nn.functional
    same = ("abs sign exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal "
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf "
            "erfc erfinv lgamma ceil floor round trunc frac sigmoid relu pow "
            "atan2 fmod remainder minimum maximum hypot copysign nextafter neg")
    found = {name: getattr(torch, name) for name in same.split()}
    found.update({"+": torch.add, "-": torch.sub, "*": torch.mul,
                  "/": torch.div, "//": torch.floor_divide,
                  "%": torch.remainder, "silu": f.silu})
    return found


class Bench:
    def __init__(self, args, folder):
        import numpy
        import torch
        sys.path.insert(0, str(HERE.parent / "bench"))
        import launch
        self.np, self.torch, self.launch = numpy, torch, launch
        self.args, self.folder = args, Path(folder)
        self.peers = peers(torch)
        self.rows = []

    def path(self, name):
        return str(self.folder / name)

    def fetch(self, path, dtype):
        raw = self.np.fromfile(path, dtype=self.np.uint8)
        return self.torch.from_numpy(raw).view(self.launch.TORCH[dtype]).cuda()

    def save(self, tensor, path):
        tensor.contiguous().view(self.torch.uint8).cpu().numpy().tofile(path)

    def ours(self, stem, name, inputs, outputs=None):
        fusion = self.launch.Fusion(self.args.lib,
                                    self.args.dir / f"{stem}.json", name)
        outputs = outputs or fusion.empty_outputs(inputs)
        fusion(inputs, outputs)
        self.torch.cuda.synchronize()
        return outputs["y"]

    def peer(self, op, inputs):
        try:
            return self.peers[op](*inputs.values())
        except (KeyError, RuntimeError, NotImplementedError):
            return None

    def judge(self, op, dtype, files, results):
        text = subprocess.run([self.args.tool, "judge", op, dtype, *files, "--",
                               *results], check=True, capture_output=True,
                              text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def operation(self, op, bound, dtype, files, inputs):
        results = [self.path("ours.bin")]
        self.save(self.ours(dtype, fusion_name(op), inputs), results[0])
        other = self.peer(op, inputs)
        if other is not None:
            results.append(self.path("peer.bin"))
            self.save(other, results[1])
        verdicts = self.judge(op, dtype, files, results)
        self.rows.append({"op": op, "type": dtype, "bound": bound,
                          "ours": verdicts[0],
                          "peer": verdicts[1] if other is not None else None})

    def operations_of(self, dtype, ops, arity):
        files = [self.path(f"{a}.bin") for a in "abc"[:arity]]
        subprocess.run([self.args.tool, "inputs", dtype, str(arity), *files],
                       check=True)
        inputs = {a: self.fetch(p, dtype) for a, p in zip("abc", files)}
        for op, n, bound in ops:
            if n == arity and has(op, dtype):
                self.operation(op, bound, dtype, files, inputs)

    # Sums: the error beside the sum of magnitudes, in units of 2^-24.

    def one_sum(self, what, name, x, exact, peer):
        y = self.ours("sums", name, {"x": x}).double()
        scale = exact.abs().max().item()
        error = lambda v: ((v.double() - exact).abs().max().item() / scale)
        self.rows.append({"sum": what, "kind": name, "terms": x.numel() //
                          max(y.numel(), 1), "ours": error(y),
                          "results": y.numel(), "peer": error(peer)})

    def sums(self):
        t = self.torch
        n = 2**24 + 1
        for value in (1.0, 0.1):
            what = f"{value:g}"
            for m in (1, 4):
                x = t.full((n, m), value, device="cuda")
                exact = x[0].double() * n
                self.one_sum(what, "columns", x, exact, x.sum(0))
                x = t.full((m, n), value, device="cuda")
                self.one_sum(what, "rows", x, exact, x.sum(1))
            x = t.full((1, n), value, device="cuda")
            self.one_sum(what, "whole", x, x[0, 0].double() * n, x.sum())
        t.manual_seed(1)
        for shape in ((2048, 65536), (65536, 2048)):
            x = t.rand(shape, device="cuda")
            self.one_sum("uniform", "rows", x, x.double().sum(1), x.sum(1))
            self.one_sum("uniform", "columns", x, x.double().sum(0), x.sum(0))

    def variances(self):
        t = self.torch
        for mean in (0.0, 1e4, 1e5, 1e6):
            x = t.randn((1024, 4096), device="cuda") + mean
            for axis, name in ((1, "row_var"), (0, "column_var")):
                y = self.ours("sums", name, {"x": x}).double()
                exact = x.double().var(axis)
                error = lambda v: ((v.double() / exact - 1).abs().max().item())
                self.rows.append({"var": f"{mean:g}", "kind": name,
                                  "ours": error(y),
                                  "peer": error(x.var(axis))})


def measure(args):
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        b = Bench(args, folder)
        ops = [o for o in operations(args.tool)
               if not args.ops or o[0] in args.ops.split(",")]
        for dtype in args.types.split(","):
            for arity in (1, 2, 3):
                b.operations_of(dtype, ops, arity)
                args.out.write_text(json.dumps(b.rows))
        b.sums()
        b.variances()
        head = {"gpu": b.torch.cuda.get_device_name(),
                "torch": b.torch.__version__,
                "date": datetime.date.today().isoformat()}
        args.out.write_text("\n".join(json.dumps(r) for r in [head] + b.rows)
                            + "\n")


# --- on the CPU --------------------------------------------------------------

NPY = {"f32": "<f4", "f64": "<f8"}


def thin(path, dtype, count):
    """Elements of a raw file at equal distances, as .npy and as raw again."""
    data, size = path.read_bytes(), int(NPY[dtype][2])
    step = len(data) // size // count
    # A step of an odd number of elements meets every kind of sample.
    step -= 1 - step % 2
    data = b"".join(data[k * step * size:(k * step + 1) * size]
                    for k in range(count))
    path.write_bytes(data)
    head = (f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, "
            f"'shape': ({count},), }}").ljust(117) + "\n"
    path.with_suffix(".npy").write_bytes(
        b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + data)


def npy_data(path):
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little"):]


def emulate_one(args, folder, op, dtype, arity):
    files = [folder / f"{dtype}{arity}{a}.bin" for a in "abc"[:arity]]
    out = folder / "out"
    out.mkdir(exist_ok=True)
    subprocess.run(
        [args.run, folder / f"{dtype}.json", "--emulate", "--fusion",
         fusion_name(op), "--save-outputs", out]
        + [x for a, f in zip("abc", files)
           for x in ("--input", f"{a}={f.with_suffix('.npy')}")],
        check=True, capture_output=True)
    (folder / "y.bin").write_bytes(npy_data(out / "y.npy"))
    text = subprocess.run([args.tool, "judge", op, dtype, *files, "--",
                           folder / "y.bin"], check=True, capture_output=True,
                          text=True).stdout
    return json.loads(text)


def emulate(args):
    failed = passed = 0
    ops = operations(args.tool)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for dtype in NPY:
            (folder / f"{dtype}.fusion").write_text(program(ops, dtype))
            subprocess.run([args.fusec, folder / f"{dtype}.fusion",
                            "--emit=cu,json", "-o", folder / f"{dtype}.json"],
                           check=True)
            for arity in (1, 2, 3):
                files = [folder / f"{dtype}{arity}{a}.bin"
                         for a in "abc"[:arity]]
                subprocess.run([args.tool, "inputs", dtype, str(arity), *files],
                               check=True)
                for f in files:
                    thin(f, dtype, 4096)
            for op, arity, bound in ops:
                v = emulate_one(args, folder, op, dtype, arity)
                ok = v["worst"] <= bound and not v["wrong_class"]
                passed, failed = passed + ok, failed + (not ok)
                if not ok or args.verbose:
                    print(op, dtype, "ok" if ok else "FAILED", bound, v)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


# --- the page ----------------------------------------------------------------

INTRO = """# Accuracy

How far each floating operation is from the exact result, which MPFR computes, on
a GPU; PyTorch's CUDA functions on the same arguments stand beside it. Errors are
in units in the last place (ulp) of the exact result. The *bound* is the column
`ulp` of `src/ir/ops.def`, the accuracy that `fusec-run --check` takes for granted.

{gpu}, PyTorch {torch}, {date}. Made by `tests/accuracy/accuracy.py`:

    accuracy.py programs --fusec build/fusec --tool build/tests/accuracy/accuracy --out DIR
    accuracy.py measure --tool accuracy --lib libfusec_launch.so --dir DIR --out ROWS.json
    accuracy.py table ROWS.json --tool accuracy --out docs/accuracy.md

Arguments: f32 2^24 and f64 2^20 for each operation, spread over every exponent,
the ranges in use, and the neighbourhoods of zeros, poles, multiples of pi/2,
halves and ends of the range; f16 and bf16 all 65536 values, with 64 second
arguments each. Every f64 result meets MPFR; of the narrower types every result
meets a double that `accuracy reference` has checked against MPFR, and the worst
ones and one in 64 meet MPFR itself. Overflow counts as the power of two after the
greatest number.

The emulation on the CPU, whose libm is the host's, meets the same bounds in every
run of the tests (`accuracy.py emulate`).

No operation is less accurate than PyTorch's by more than 1 ulp.
"""

LGAMMA = """
`lgamma` in f64 is CUDA's. Left of -2 it is a difference of two numbers of up to 33
and loses digits beside its zeros, as PyTorch's does; its errors, PyTorch's too, are
in ulp of 16 where the result is smaller than 16. In f32 our own is computed in f64
there.
"""


def short(x):
    if x is None:
        return "—"
    return f"{x:.1e}" if x >= 1000 else f"{x:.3g}"


def place(verdict):
    return ", ".join(f"{float(x):.6g}" for x in verdict["at"])


def remark(row):
    ours, peer = row["ours"], row["peer"]
    notes = []
    for who, v in (("", ours), ("PyTorch: ", peer)):
        if v and v["wrong_class"]:
            at = ", ".join(f"{float(x):.4g}" for x in v["class_at"])
            notes.append(f"{who}{float(v['class_got'][0]):.4g} for "
                         f"{float(v['class_want'][0]):.4g} at {at}".replace(
                             "-nan", "nan"))
    if ours["worst"] > (peer or ours)["worst"] + 1:
        notes.append("worse than PyTorch")
    return "; ".join(notes)


def wide_table(rows, dtype):
    out = [f"## {dtype}", "",
           "| operation | bound | worst | mean | at | PyTorch worst | |",
           "|---|---|---|---|---|---|---|"]
    exact = []
    for r in rows:
        if r["type"] != dtype:
            continue
        if r["ours"]["worst"] == 0 and not remark(r):
            exact.append(f"`{r['op']}`")
            continue
        out.append(f"| `{r['op']}` | {r['bound']:g} | "
                   f"{short(r['ours']['worst'])} | {short(r['ours']['mean'])} "
                   f"| {place(r['ours'])} | "
                   f"{short(r['peer'] and r['peer']['worst'])} | "
                   f"{remark(r)} |")
    return out + ["", "Exact: " + " ".join(exact) + ".", ""]


def half_table(rows):
    """Two columns a type: ours and PyTorch's."""
    out = ["## f16 and bf16", "",
           "Computed in f32 and rounded once, at the store.", "",
           "| operation | f16 | PyTorch | bf16 | PyTorch |", "|---|---|---|---|---|"]
    found = {(r["op"], r["type"]): r for r in rows}
    for op in dict.fromkeys(r["op"] for r in rows):
        pair = [found.get((op, t)) for t in ("f16", "bf16")]
        if None not in pair and any(p["ours"]["worst"] for p in pair):
            out.append(f"| `{op}` | " + " | ".join(
                f"{p['ours']['worst']:.4f} | {short(p['peer'] and p['peer']['worst'])}"
                for p in pair) + " |")
    return out + [""]


SUM_TEXT = """## Sums and variances in f32

The error of a sum beside the sum of its terms, in units of 2^-24; the bound is
`8 + sqrt(n) / 8` (`docs/numerics.md`). n = 2^24 + 1 is not an f32 number: half a
unit is the best there.
"""

VAR_TEXT = """
The relative error of `var` of 4096 normal numbers far from zero:
"""


def sum_tables(sums, variances):
    out = [SUM_TEXT, "| terms | n | sums | bound | error | PyTorch |",
           "|---|---|---|---|---|---|"]
    for r in sums:
        bound = 8 + r["terms"] ** 0.5 / 8
        sums = r["kind"] if r["kind"] == "whole" else (
            f"{r['results']} {r['kind']}")
        out.append(f"| {r['sum']} | {r['terms']} | {sums} "
                   f"| {bound:.0f} | "
                   f"{short(r['ours'] * 2**24)} | {short(r['peer'] * 2**24)} |")
    out += [VAR_TEXT, "| mean | which | error | PyTorch |", "|---|---|---|---|"]
    for r in variances:
        kind = r["kind"].replace("_var", "s")
        out.append(f"| {r['var']} | {kind} | {r['ours']:.1e} | {r['peer']:.1e} |")
    return out


def table(args):
    head, rows, sums, variances = {}, {}, {}, {}
    for path in args.rows:
        for line in path.read_text().splitlines():
            r = json.loads(line)
            if "gpu" in r:
                head = r
            elif "op" in r:
                rows[r["type"], r["op"]] = r
            elif "sum" in r:
                sums[r["sum"], r["kind"], r["terms"], r.get("results")] = r
            else:
                variances[r["var"], r["kind"]] = r
    bounds = {op: bound for op, _, bound in operations(args.tool)}
    for (_, op), r in rows.items():
        r["bound"] = bounds[op]
    rows = list(rows.values())
    out = [INTRO.format(**head)] + wide_table(rows, "f32")
    out += wide_table(rows, "f64") + [LGAMMA.strip(), ""] + half_table(rows)
    out += sum_tables(sums.values(), variances.values())
    args.out.write_text("\n".join(out).rstrip() + "\n")
    bad = [f"{r['op']} {r['type']}" for r in rows if r["ours"]["wrong_class"] or
           r["ours"]["worst"] > r["bound"] + (r["type"] in ("f16", "bf16")) / 2]
    if bad:
        sys.exit("beyond their bound: " + ", ".join(bad))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sub = ap.add_subparsers(dest="mode", required=True)
    p = sub.add_parser("programs")
    p.add_argument("--fusec", required=True, type=Path)
    p.add_argument("--tool", required=True, type=Path)
    p.add_argument("--device", default="h200")
    p.add_argument("--out", required=True, type=Path)
    p = sub.add_parser("measure")
    p.add_argument("--tool", required=True)
    p.add_argument("--lib", required=True, type=Path)
    p.add_argument("--dir", required=True, type=Path)
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--types", default=",".join(TYPES))
    p.add_argument("--ops", help="only these: exp,log,...")
    p.add_argument("--scratch", default="/dev/shm",
                   help="folder for arguments and results, 1 GB")
    p = sub.add_parser("table")
    p.add_argument("rows", nargs="+", type=Path)
    p.add_argument("--tool", required=True)
    p.add_argument("--out", required=True, type=Path)
    p = sub.add_parser("emulate")
    p.add_argument("--fusec", required=True)
    p.add_argument("--run", required=True)
    p.add_argument("--tool", required=True)
    p.add_argument("--verbose", action="store_true")
    args = ap.parse_args()
    {"programs": programs, "measure": measure, "table": table,
     "emulate": emulate}[args.mode](args)


if __name__ == "__main__":
    main()
