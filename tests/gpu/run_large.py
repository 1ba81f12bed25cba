#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors beyond 2^31 and 2^32 elements, on a GPU with PyTorch.

    run_large.py compile --fusec build/fusec --dir DIR      (anywhere)
    run_large.py run --lib libfusec_launch.so --dir DIR     (needs about 40 GB)

Every result is compared with PyTorch on the GPU, in pieces: all of it where the
arithmetic is exact, else sampled rows, the first and the last one, and those
around elements 2^31 and 2^32. Outputs are poisoned, and bytes behind them must
stay as they were. Exit status 1 when anything differs, 77 without a GPU.
"""

import argparse
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EDGES = (1 << 31, 1 << 32)
PIECE = 1 << 28  # elements compared at a time
GUARD = 4096     # bytes behind an output

# name: (text or example, arguments of fusec)
PROGRAMS = {
    "add_u8": ("fusion f(x: u8[N]) -> (y: u8[N]) { y = x + 1; }", []),
    "add_u8_static": ("fusion f(x: u8[N]) -> (y: u8[N]) { y = x + 1; }",
                      ["-DN=4294967303"]),
    "scale_bf16": ("fusion f(x: bf16[N]) -> (y: bf16[N]) { y = x * 2.0 + 1.0; }",
                   []),
    "outer_u8": ("fusion f(a: u8[M], b: u8[N]) -> (y: u8[M, N]) "
                 "{ y = a[:, None] + b[None, :]; }", []),
    "outer_bf16": ("fusion f(a: bf16[M], b: bf16[N]) -> (y: bf16[M, N]) "
                   "{ y = a[:, None] + b[None, :]; }", []),
    "outer_static": ("fusion f(a: u8[M], b: u8[N]) -> (y: u8[M, N]) "
                     "{ y = a[:, None] + b[None, :]; }",
                     ["-DM=65536", "-DN=65536"]),
    "row_sum_u8": ("fusion f(x: u8[M, N]) -> (y: i64[M]) { y = sum(x, axis=1); }",
                   []),
    "row_sum_bf16": ("fusion f(x: bf16[M, N]) -> (y: f32[M]) "
                     "{ y = sum(x, axis=1); }", []),
    "column_sum_bf16": ("fusion f(x: bf16[M, N]) -> (y: f32[N]) "
                        "{ y = sum(x, axis=0); }", []),
    "column_sum_u8": ("fusion f(x: u8[M, N]) -> (y: i64[N]) "
                      "{ y = sum(x, axis=0); }", []),
    "full_sum_u8": ("fusion f(x: u8[M, N]) -> (y: i64[]) { y = sum(x); }", []),
    "transpose_u8": ("fusion f(x: u8[M, N]) -> (y: u8[N, M]) "
                     "{ y = transpose(x, 0, 1); }", []),
    "strided_f32": ("fusion f(x: f32[M, N] strides(S, 1)) -> (y: f32[M, N]) "
                    "{ y = x * 2.0; }", []),
    "strided_out": ("fusion f(x: f32[M, N]) -> (y: f32[M, N] strides(2097152, 1)) "
                    "requires N <= 2097152 { y = x * 2.0; }", []),
    "strided_row_sum": ("fusion f(x: u8[M, 4096] strides(1, 1048576)) -> "
                        "(y: f32[M]) requires M <= 1048576 "
                        "{ y = sum(f32(x), axis=1); }", []),
    "strided_softmax": ("fusion f(x: u8[M, 8192] strides(1, 524288)) -> "
                        "(y: f32[M, 8192]) requires M <= 524288 "
                        "{ y = x / sum(f32(x), axis=1, keepdim=true); }", []),
    "layernorm_f16": ("layernorm_fwd", ["-DT=f16"]),
    "layernorm_bf16": ("layernorm_fwd", ["-DT=bf16"]),
    "rmsnorm_bf16": ("rmsnorm_fwd", ["-DT=bf16"]),
    "softmax_bf16": ("softmax_fwd", ["-DT=bf16"]),
}


def compile_all(args):
    args.dir.mkdir(parents=True, exist_ok=True)
    for name, (text, options) in PROGRAMS.items():
        source = args.dir / f"{name}.fusion"
        if "fusion " not in text:
            text = (ROOT / "examples" / f"{text}.fusion").read_text()
        source.write_text(text + "\n")
        subprocess.run([str(args.fusec), str(source), *options, "-o",
                        str(args.dir / f"{name}.cubin")], check=True)
    print(f"large: {len(PROGRAMS)} compiled")
    return 0


class Bench:
    """Loads, launches, compares."""

    def __init__(self, args):
        sys.path.insert(0, str(HERE.parent / "bench"))
        import torch
        import launch

        class Strided(launch.Fusion):
            """Passes the strides of its tensors."""

            def _argument(self, p, tensors):
                a = super()._argument(p, tensors)
                t = tensors.get(p["name"])
                if t is not None and t.dim():
                    a.strides = (launch.ctypes.c_int64 * t.dim())(*t.stride())
                return a

        self.torch, self.fusion_class, self.args = torch, Strided, args
        self.loaded = {}

    def fusion(self, name):
        if name not in self.loaded:
            self.loaded[name] = self.fusion_class(self.args.lib,
                                                  self.args.dir / f"{name}.json")
        return self.loaded[name]

    def empty(self, shape, dtype, strides=None):
        """(view, guard): a poisoned output and the bytes behind it."""
        torch = self.torch
        size = torch.empty(0, dtype=dtype).element_size()
        n = 1
        for s, k in zip(shape, strides or [0] * len(shape)):
            n = n + (s - 1) * k if strides else n * s
        room = torch.full((n * size + GUARD,), 0xA5, dtype=torch.uint8,
                          device="cuda")
        room[: n * size] = 0xFF
        flat = room[: n * size].view(dtype)
        view = flat.as_strided(shape, strides) if strides else flat.view(shape)
        return view, room[n * size:]

    def launch(self, name, inputs, outputs):
        """OUTPUTS are pairs of empty()."""
        fusion = self.fusion(name)
        fusion.prepared.clear()
        fusion(inputs, {k: v for k, (v, _) in outputs.items()})
        self.torch.cuda.synchronize()
        for k, (_, guard) in outputs.items():
            assert bool((guard == 0xA5).all()), f"wrote behind '{k}'"

    def forget(self):
        """Gives the memory of a case back."""
        for fusion in self.loaded.values():
            fusion.forget()
        self.torch.cuda.empty_cache()

    def bytes_like(self, shape, dtype=None, seed=1):
        """Small random integers, exact in every type."""
        torch = self.torch
        g = torch.Generator(device="cuda").manual_seed(seed)
        x = torch.empty(shape, dtype=torch.uint8, device="cuda")
        flat = x.view(-1)
        for i in range(0, flat.numel(), PIECE):
            flat[i:i + PIECE].random_(0, 120, generator=g)
        return x if dtype in (None, torch.uint8) else x.to(dtype)

    def equal_flat(self, got, make):
        """All of a contiguous tensor; make(i, j) gives elements i to j."""
        flat = got.view(-1)
        for i in range(0, flat.numel(), PIECE):
            j = min(flat.numel(), i + PIECE)
            same = flat[i:j] == make(i, j)
            if not bool(same.all()):
                at = i + int((~same).nonzero()[0])
                raise AssertionError(f"element {at}: {flat[at].item()}")

    def rows_to_check(self, rows, columns, n=1000):
        torch = self.torch
        g = torch.Generator().manual_seed(3)
        wanted = set(torch.randint(0, rows, (n,), generator=g).tolist())
        wanted |= {0, rows - 1}
        for edge in EDGES:
            for r in (edge // columns - 1, edge // columns, edge // columns + 1):
                if 0 <= r < rows:
                    wanted.add(r)
        return sorted(wanted)

    def close(self, got, want, what):
        torch = self.torch
        eps = torch.finfo(got.dtype).eps
        d = (got.double() - want).abs() - eps * want.abs()
        worst = float(d.max())
        assert worst <= 1e-4 and bool(torch.isfinite(got).all()), (
            f"{what}: error {worst}")


def add(b, name, n):
    torch = b.torch
    x = b.bytes_like((n,))
    y = b.empty((n,), torch.uint8)
    b.launch(name, {"x": x}, {"y": y})
    b.equal_flat(y[0], lambda i, j: x[i:j] + 1)


def scale(b, n):
    torch = b.torch
    x = b.bytes_like((n,), torch.bfloat16)
    y = b.empty((n,), torch.bfloat16)
    b.launch("scale_bf16", {"x": x}, {"y": y})
    b.equal_flat(y[0], lambda i, j: (x[i:j].float() * 2 + 1).to(torch.bfloat16))


def outer(b, name, dtype, shapes):
    """Several launches of one kernel, small and large."""
    for m, n in shapes:
        a, c = b.bytes_like((m,), dtype, 5), b.bytes_like((n,), dtype, 6)
        y = b.empty((m, n), dtype)
        b.launch(name, {"a": a, "b": c}, {"y": y})
        step = max(1, PIECE // n)
        for r in range(0, m, step):
            same = y[0][r:r + step] == a[r:r + step, None] + c[None, :]
            assert bool(same.all()), f"[{m}, {n}], rows from {r}"
        del y


def row_sum_u8(b, m, n):
    torch = b.torch
    x = b.bytes_like((m, n))
    y = b.empty((m,), torch.int64)
    b.launch("row_sum_u8", {"x": x}, {"y": y})
    for r in range(m) if m < 100 else b.rows_to_check(m, n):
        want = sum(int(x[r, i:i + PIECE].sum(dtype=torch.int64))
                   for i in range(0, n, PIECE))
        assert int(y[0][r]) == want, f"row {r}: {int(y[0][r])}, not {want}"


def row_sum_bf16(b, m, n):
    torch = b.torch
    x = b.bytes_like((m, n), torch.bfloat16)
    y = b.empty((m,), torch.float32)
    b.launch("row_sum_bf16", {"x": x}, {"y": y})
    step = max(1, PIECE // n)
    for r in range(0, m, step):
        want = x[r:r + step].sum(1, dtype=torch.float64)
        same = y[0][r:r + step].double() == want
        assert bool(same.all()), f"rows from {r}"


def column_sum(b, name, dtype, out, m, n):
    torch = b.torch
    x = b.bytes_like((m, n), dtype)
    y = b.empty((n,), out)
    b.launch(name, {"x": x}, {"y": y})
    want = torch.zeros(n, dtype=torch.float64, device="cuda")
    step = max(1, PIECE // n)
    for r in range(0, m, step):
        want += x[r:r + step].sum(0, dtype=torch.float64)
    if out == torch.int64:
        assert bool((y[0] == want.long()).all()), "sums differ"
    else:
        worst = float(((y[0].double() - want).abs() / want).max())
        assert worst < 1e-5, f"relative error {worst}"


def full_sum(b, m, n):
    torch = b.torch
    x = b.bytes_like((m, n))
    y = b.empty((), torch.int64)
    b.launch("full_sum_u8", {"x": x}, {"y": y})
    flat = x.view(-1)
    want = sum(int(flat[i:i + PIECE].sum(dtype=torch.int64))
               for i in range(0, flat.numel(), PIECE))
    assert int(y[0]) == want, f"{int(y[0])}, not {want}"


def transpose(b, m, n):
    torch = b.torch
    x = b.bytes_like((m, n))
    y = b.empty((n, m), torch.uint8)
    b.launch("transpose_u8", {"x": x}, {"y": y})
    step = max(1, PIECE // m)
    for r in range(0, n, step):
        same = y[0][r:r + step] == x[:, r:r + step].t()
        assert bool(same.all()), f"rows from {r}"


def strided_in(b, m, n, s):
    torch = b.torch
    room = torch.zeros((m - 1) * s + n, device="cuda")
    x = room.as_strided((m, n), (s, 1))
    x.copy_(torch.arange(m * n, device="cuda").view(m, n))
    y = b.empty((m, n), torch.float32)
    b.launch("strided_f32", {"x": x}, {"y": y})
    assert bool((y[0] == x * 2).all()), "differs"


def strided_out(b, m, n):
    torch = b.torch
    x = torch.arange(m * n, device="cuda", dtype=torch.float32).view(m, n)
    y = b.empty((m, n), torch.float32, (2097152, 1))
    b.launch("strided_out", {"x": x}, {"y": y})
    assert bool((y[0] == x * 2).all()), "differs"
    gap = y[0].as_strided((m - 1, 64), (2097152, 1), n + y[0].storage_offset())
    assert bool(gap.isnan().all()), "wrote into a gap"


def strided_rows(b, name, m, columns, stride):
    torch = b.torch
    x = b.bytes_like(((columns - 1) * stride + m,)).as_strided(
        (m, columns), (1, stride))
    total = torch.zeros(m, dtype=torch.float64, device="cuda")
    for c in range(columns):
        total += x[:, c]
    if name == "strided_row_sum":
        y = b.empty((m,), torch.float32)
        b.launch(name, {"x": x}, {"y": y})
        assert bool((y[0].double() == total).all()), "sums differ"
        return
    y = b.empty((m, columns), torch.float32)
    b.launch(name, {"x": x}, {"y": y})
    for c in range(columns):
        d = (y[0][:, c].double() - x[:, c].double() / total).abs()
        assert float(d.max()) < 1e-9, f"column {c}: {float(d.max())}"


def norm(b, name, dtype, m, n):
    """Rows of a norm or softmax by the names of its example's parameters."""
    torch = b.torch
    fusion = b.fusion(name)
    g = torch.Generator(device="cuda").manual_seed(9)
    inputs, outputs, rows = {}, {}, b.rows_to_check(m, n)
    for p in fusion.params:
        kind = {"f16": torch.float16, "bf16": torch.bfloat16,
                "f32": torch.float32}.get(p["dtype"])
        shape = {1: (n,), 2: (m, n)}.get(len(p.get("shape", [])))
        if p["role"] == "input":
            t = torch.empty(shape, dtype=kind, device="cuda")
            t.normal_(generator=g)
            inputs[p["name"]] = t
        elif p["role"] == "output":
            one = (m,) if len(p["shape"]) == 1 else shape
            outputs[p["name"]] = b.empty(one, kind)
    b.launch(name, inputs, outputs)
    x = inputs["x"][rows].double()
    main = next(v for v, _ in outputs.values() if v.dim() == 2)
    if "layernorm" in name:
        want = ((x - x.mean(1, keepdim=True)) /
                (x.var(1, correction=0, keepdim=True) + 1e-5).sqrt())
    elif "rmsnorm" in name:
        want = x / ((x * x).mean(1, keepdim=True) + 1e-5).sqrt()
    else:
        want = x.softmax(1)
    if "weight" in inputs:
        want = want * inputs["weight"].double()
    if "bias" in inputs:
        want = want + inputs["bias"].double()
    b.close(main[rows], want, name)
    flat = main.view(-1)
    for i in range(0, flat.numel(), PIECE):
        assert bool(torch.isfinite(flat[i:i + PIECE]).all()), f"NaN near {i}"


def cases(torch):
    """(label, function of Bench) of every run."""
    big, bigger = 1 << 31, 1 << 32
    for n in (big - 129, big - 1, big, big + 5, bigger - 3, bigger + 7):
        yield f"add u8 [{n}]", lambda b, n=n: add(b, "add_u8", n)
    yield "add u8, static", lambda b: add(b, "add_u8_static", 4294967303)
    for n in (big + 13, bigger + 9):
        yield f"scale bf16 [{n}]", lambda b, n=n: scale(b, n)
    yield "outer u8", lambda b: outer(b, "outer_u8", torch.uint8, [
        (7, 9), (65537, 65537), (3, 5), (1, big + 5), (big + 5, 1), (2, big + 1)])
    yield "outer bf16", lambda b: outer(b, "outer_bf16", torch.bfloat16, [
        (65536, 65536), (5, 3)])
    yield "outer u8, static", lambda b: outer(b, "outer_static", torch.uint8,
                                              [(65536, 65536)])
    for m, n in ((2, big + 24), (1, bigger + 3), (1048577, 4096), (big + 1, 2)):
        yield f"row sum u8 [{m}, {n}]", lambda b, m=m, n=n: row_sum_u8(b, m, n)
    yield "row sum bf16", lambda b: row_sum_bf16(b, 1048577, 4096)
    yield "column sum bf16", lambda b: column_sum(
        b, "column_sum_bf16", torch.bfloat16, torch.float32, 1048577, 4096)
    for m, n in ((70000, 65536), (big + 1, 2), (2, big + 1)):
        yield f"column sum u8 [{m}, {n}]", lambda b, m=m, n=n: column_sum(
            b, "column_sum_u8", torch.uint8, torch.int64, m, n)
    yield "full sum u8", lambda b: full_sum(b, 65537, 65539)
    for m, n in ((65537, 65539), (3, big + 1), (big + 1, 3)):
        yield f"transpose u8 [{m}, {n}]", lambda b, m=m, n=n: transpose(b, m, n)
    yield "strided input", lambda b: strided_in(b, 1100, 1000, 1 << 22)
    yield "strided output", lambda b: strided_out(b, 1100, 1000)
    yield "strided row sum", lambda b: strided_rows(
        b, "strided_row_sum", 1000, 4096, 1048576)
    yield "strided softmax", lambda b: strided_rows(
        b, "strided_softmax", 100, 8192, 524288)
    for name, dtype in (("layernorm_f16", torch.float16),
                        ("layernorm_bf16", torch.bfloat16),
                        ("rmsnorm_bf16", torch.bfloat16),
                        ("softmax_bf16", torch.bfloat16)):
        for m in (524289, 1048577):
            yield f"{name} [{m}, 4096]", lambda b, a=name, t=dtype, m=m: norm(
                b, a, t, m, 4096)


def run(args):
    try:
        import torch
    except ImportError:
        print("run_large.py: needs PyTorch")
        return 77
    if not torch.cuda.is_available():
        print("run_large.py: needs a GPU")
        return 77
    b, failed, done = Bench(args), 0, 0
    for label, test in cases(torch):
        if not re.search(args.only, label):
            continue
        start = time.monotonic()
        try:
            test(b)
            print(f"ok     {label}  {time.monotonic() - start:.1f} s", flush=True)
        except Exception as e:  # counted, whatever it is
            failed += 1
            print(f"FAILED {label}: {e}", flush=True)
            if args.verbose:
                traceback.print_exc()
        b.forget()
        done += 1
        torch.cuda.empty_cache()
    print(f"large: {done - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("mode", choices=["compile", "run"])
    ap.add_argument("--fusec", type=Path)
    ap.add_argument("--lib", type=Path)
    ap.add_argument("--dir", required=True, type=Path)
    ap.add_argument("--only", default="", help="runs whose label this pattern finds")
    ap.add_argument("--verbose", action="store_true")
    args = ap.parse_args()
    return compile_all(args) if args.mode == "compile" else run(args)


if __name__ == "__main__":
    sys.exit(main())
