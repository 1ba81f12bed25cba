#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times compiled fusions against PyTorch on one GPU, in one process.

    bench.py --lib libfusec_launch.so --dir COMPILED --out LOG.json \
             [--fusions a,b] [--dtypes f32,bf16] [--shapes 8192x4096,...]

COMPILED holds <fusion>-<dtype>[-<M>x<N>].json with its .ptx or .cubin beside it.

Method: every contender is captured in a CUDA graph of at least 20 launches over
rotated sets of buffers (300 MB or more in all, so that the L2 cache holds
nothing of the next launch); 3 warm-up replays, 10 timed ones, contenders
interleaved; the figure is the median time of a launch. The copy moves the same
number of bytes in the same run. Our outputs are poisoned, then compared with
PyTorch's in float64 before any time is printed; the element-by-element check is
fusec-run's.
"""

import argparse
import json
import statistics as st
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers  # noqa: E402
from launch import Fusion  # noqa: E402

TOTAL_BYTES = 300e6
LAUNCHES = 20
WARM_UP, TIMED = 3, 10
TOLERANCE = {"f32": 1e-5, "bf16": 1e-2, "f16": 2e-3}


def capture(run, sets):
    """A graph of run(set) over the sets in turn, at least LAUNCHES times."""
    count = max(LAUNCHES, len(sets))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for s in sets[:2]:
            run(s)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(count):
                run(sets[i % len(sets)])
    torch.cuda.synchronize()
    return graph, count


def measure(contenders, sets):
    """Median microseconds a launch, by name; contenders interleaved."""
    graphs = {name: capture(run, sets) for name, run in contenders.items()}
    times = {name: [] for name in graphs}
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    for i in range(WARM_UP + TIMED):
        for name, (graph, count) in graphs.items():
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if i >= WARM_UP:
                times[name].append(begin.elapsed_time(end) * 1e3 / count)
    return {name: st.median(t) for name, t in times.items()}


class CopySet:
    """Two buffers that a copy of `total` bytes of traffic moves between."""

    def __init__(self, total):
        n = max(int(total) // 2, 16) // 16 * 16
        self.source = torch.empty(n, dtype=torch.uint8, device="cuda")
        self.target = torch.empty(n, dtype=torch.uint8, device="cuda")

    def run(self):
        self.target.copy_(self.source)


def relative_error(ours, theirs):
    ours, theirs = ours.double(), theirs.double()
    bottom = theirs.norm().item()
    return ((ours - theirs).norm().item()) / (bottom + 1e-30)


def reference(name, args):
    wide = {k: v.double() for k, v in args.items()}
    return REFERENCES[name](**wide)


def layernorm_fwd64(x, weight, bias):
    mean = x.mean(1)
    rstd = torch.rsqrt(x.var(1, unbiased=False) + 1e-5)
    return ((x - mean[:, None]) * rstd[:, None] * weight + bias, mean, rstd)


def layernorm_bwd64(dy, x, mean, rstd, weight):
    xhat = (x - mean[:, None]) * rstd[:, None]
    wdy = dy * weight
    c1 = (wdy * xhat).mean(1, keepdim=True)
    c2 = wdy.mean(1, keepdim=True)
    return ((wdy - c2 - xhat * c1) * rstd[:, None], (dy * xhat).sum(0),
            dy.sum(0))


def rmsnorm_fwd64(x, weight):
    r = torch.rsqrt((x * x).mean(1) + 1e-6)
    return x * r[:, None] * weight, r


def rmsnorm_bwd64(dy, x, rrms, weight):
    xhat = x * rrms[:, None]
    wdy = dy * weight
    c = (wdy * xhat).mean(1, keepdim=True)
    return (wdy - xhat * c) * rrms[:, None], (dy * xhat).sum(0)


REFERENCES = {
    "layernorm_fwd": layernorm_fwd64,
    "layernorm_bwd": layernorm_bwd64,
    "rmsnorm_fwd": rmsnorm_fwd64,
    "rmsnorm_bwd": rmsnorm_bwd64,
    "softmax_fwd": lambda x: (torch.softmax(x, 1),),
    "softmax_bwd": lambda dy, y: (y * (dy - (dy * y).sum(1, keepdim=True)),),
    "silu_mul": lambda a, b: (a * torch.sigmoid(a) * b,),
    "row_sum": lambda x: (x.sum(1),),
    "column_sum": lambda x: (x.sum(0),),
}


def case(lib, folder, name, dtype, m, n, wanted):
    make, eager, closed, floor = peers.FUSIONS[name]
    size = peers.DTYPES[dtype].itemsize
    total = floor(m, n, size)
    sets_needed = max(2, int(TOTAL_BYTES // total) + 1)
    inputs = [make(m, n, peers.DTYPES[dtype]) for _ in range(sets_needed)]
    path = folder / f"{name}-{dtype}-{m}x{n}.json"
    if not path.exists():
        path = folder / f"{name}-{dtype}.json"
    ours = Fusion(lib, path)
    sets = []
    for args in inputs:
        outs = ours.empty_outputs(args)
        for o in outs.values():
            o.fill_(float("nan"))
        sets.append((args, outs, CopySet(total)))
    compiled = torch.compile(closed, dynamic=False)
    contenders = {
        "fusec": lambda s: ours(s[0], s[1]),
        "eager": lambda s: eager(**s[0]),
        "compile": lambda s: compiled(**s[0]),
        "copy": lambda s: s[2].run(),
    }
    contenders = {k: v for k, v in contenders.items() if k in wanted}
    ours(sets[0][0], sets[0][1])
    torch.cuda.synchronize()
    want = reference(name, sets[0][0])
    errors = [relative_error(o, w)
              for o, w in zip(sets[0][1].values(), want)]
    worst = max(e if e == e else float("inf") for e in errors)
    times = measure(contenders, sets)
    del compiled
    torch._dynamo.reset()
    row = {"fusion": name, "dtype": dtype, "m": m, "n": n, "bytes": total,
           "error": worst, "checked": worst <= TOLERANCE[dtype], **times}
    row["sol"] = times["copy"] / times["fusec"]
    if "compile" in times:
        row["vs_compile"] = times["fusec"] / times["compile"]
    if total / times["fusec"] / 1e6 > 1.15 * total / times["copy"] / 1e6:
        row["suspect"] = "faster than a copy"
    return row


def show(row):
    rate = row["bytes"] / row["fusec"] / 1e6
    text = (f"{row['fusion']:14s} {row['dtype']:4s} {row['m']:6d}x{row['n']:<6d}"
            f" fusec {row['fusec']:8.1f} us {rate:5.2f} TB/s"
            f"  copy {row['copy']:8.1f}  SOL {row['sol']:.3f}")
    for peer in ("eager", "compile"):
        if peer in row:
            text += (f"  {peer} {row[peer]:8.1f}"
                     f" ({row['fusec'] / row[peer]:.3f})")
    text += f"  error {row['error']:.1e}"
    if not row["checked"]:
        text += "  WRONG"
    print(text + ("  " + row["suspect"] if "suspect" in row else ""),
          flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--lib", required=True)
    ap.add_argument("--dir", required=True, type=Path)
    ap.add_argument("--out", required=True, type=Path)
    ap.add_argument("--fusions", default=",".join(peers.FUSIONS))
    ap.add_argument("--dtypes", default="f32,bf16")
    ap.add_argument("--shapes", default="8192x4096,8192x8192")
    ap.add_argument("--contenders", default="fusec,eager,compile,copy",
                    help="fusec and copy must be among them")
    opt = ap.parse_args()
    wanted = opt.contenders.split(",")
    torch.manual_seed(1)
    rows = []
    for name in opt.fusions.split(","):
        for dtype in opt.dtypes.split(","):
            for shape in opt.shapes.split(","):
                m, n = (int(v) for v in shape.split("x"))
                try:
                    row = case(opt.lib, opt.dir, name, dtype, m, n,
                               wanted)
                except Exception as e:  # one failure must not hide the rest
                    print(f"{name} {dtype} {shape}: {e}", flush=True)
                    rows.append({"fusion": name, "dtype": dtype, "m": m,
                                 "n": n, "failed": str(e)})
                    continue
                rows.append(row)
                show(row)
                torch.cuda.empty_cache()
    opt.out.write_text(json.dumps(rows, indent=1) + "\n")
    bad = [r for r in rows if "failed" in r or not r["checked"]]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
