#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks and times compiled fusions on a machine that has a GPU and no build
tools.

    run_gpu.py check    --run fusec-run --dir COMPILED [--logs DIR]
    run_gpu.py sanitize --run fusec-run --dir COMPILED [--logs DIR]
    run_gpu.py bench    --lib libfusec_launch.so --dir SET --out RESULTS.jsonl
                        [arguments of tests/bench/grid.py run]

COMPILED holds manifests with their .ptx or .cubin (and .cu, for --emulate)
beside them. `check` runs fusec-run --check on every manifest at every size of a
table, in parallel; `sanitize` runs small sizes under each tool of
compute-sanitizer; `bench` hands over to tests/bench/grid.py, which times a set
that it has compiled against PyTorch. A table is printed, full logs go to DIR; exit status 1 when
anything is wrong, 77 when nothing could run.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Rows x columns: tails, primes, one row, one column, nothing; then sizes at
# which each strategy is used.
SMALL = ["1x1", "0x64", "1x8", "3x1000", "37x1024", "129x4098", "513x768",
         "7x20480"]
LARGE = ["2048x768", "4096x4096", "8192x8192", "2048x14336", "1024x32768",
         "512x65536", "16384x1026"]
SANITIZED = ["5x136", "37x1024", "300x2050"]

# What each tool of compute-sanitizer needs to be told.
TOOLS = {"memcheck": ["--leak-check", "full"], "racecheck": [],
         "initcheck": [], "synccheck": []}


def read_dims(manifest):
    """{fusion: [(dim, bound)]} of a manifest."""
    tree = json.loads(manifest.read_text())
    return {f["name"]: [(d["name"], d["bound"]) for d in f["dims"]]
            for f in tree["fusions"]}


def shape_arguments(dims, text):
    """--shape for "MxN": the last open dimension is N, the product of the
    others is M, which the first takes."""
    rows, columns = (int(n) for n in text.split("x"))
    unbound = [name for name, bound in dims if bound is None]
    values = {name: 1 for name in unbound}
    if unbound:
        values[unbound[0]] = rows
        if len(unbound) > 1:
            values[unbound[-1]] = columns
    return [a for k, v in values.items() for a in ("--shape", f"{k}={v}")]


def jobs_of(args, sizes):
    """(label, command) of every run."""
    pattern = re.compile(args.only or "")
    for manifest in sorted(args.dir.glob("*.json")):
        if not pattern.search(manifest.name):
            continue
        for fusion, dims in read_dims(manifest).items():
            seen = set()
            for size in sizes:
                shape = shape_arguments(dims, size)
                if tuple(shape) in seen:
                    continue
                seen.add(tuple(shape))
                label = f"{manifest.stem} {fusion} " + " ".join(shape[1::2])
                yield label, [str(args.run), str(manifest), "--fusion", fusion,
                              "--check", "--threads", str(args.threads),
                              *shape,
                              *(["--emulate"] if args.emulate else [])]


def run_one(label, command, logs, timeout):
    try:
        r = subprocess.run(command, capture_output=True, text=True,
                           timeout=timeout, check=False)
        status, text = r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired as e:
        status = "timeout"
        text = "".join(p.decode() if isinstance(p, bytes) else p or ""
                       for p in (e.stdout, e.stderr))
    if logs:
        name = re.sub(r"[^A-Za-z0-9_.=-]+", "_", label) + ".log"
        (logs / name).write_text(f"$ {' '.join(command)}\n{text}"
                                 f"[exit {status}]\n")
    return label, status, text


def worst_fraction(text):
    """The largest part of its bound that an error took, as fusec-run says."""
    found = [float(m) for m in re.findall(r"\(([0-9.]+) of the bound\)", text)]
    return max(found, default=0.0)


def run_all(jobs, args, what):
    failed = ran = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = [pool.submit(run_one, label, command, args.logs,
                               args.timeout) for label, command in jobs]
        for w in waiting:
            label, status, text = w.result()
            ran += 1
            if status == 0:
                if args.verbose:
                    print(f"ok     {label}  {worst_fraction(text):.2f}")
                continue
            failed += 1
            print(f"FAILED {label}  exit {status}")
            for line in text.strip().splitlines()[-args.lines:]:
                print("       " + line)
            sys.stdout.flush()
    print(f"{what}: {ran - failed} passed, {failed} failed")
    return failed, ran


def check(args):
    sizes = args.sizes.split(",") if args.sizes else (
        SMALL if args.emulate or args.small else SMALL + LARGE)
    return run_all(list(jobs_of(args, sizes)), args, "check")


def sanitize(args):
    tool = shutil.which("compute-sanitizer")
    if not tool:
        print("run_gpu.py: compute-sanitizer is not on PATH")
        sys.exit(77)
    sizes = args.sizes.split(",") if args.sizes else SANITIZED
    failed = ran = 0
    for kind in args.tools.split(","):
        jobs = [(f"{kind} {label}",
                 [tool, "--tool", kind, *TOOLS[kind], "--error-exitcode", "9",
                  *command])
                for label, command in jobs_of(args, sizes)]
        f, r = run_all(jobs, args, kind)
        failed += f
        ran += r
    return failed, ran


def bench(rest):
    script = HERE.parent / "bench" / "grid.py"
    os.execv(sys.executable, [sys.executable, str(script), "run", *rest])


def main():
    if sys.argv[1:2] == ["bench"]:
        bench(sys.argv[2:])
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("mode", choices=["check", "sanitize"])
    ap.add_argument("--run", required=True, type=Path)
    ap.add_argument("--dir", required=True, type=Path)
    ap.add_argument("--logs", type=Path)
    ap.add_argument("--only", help="manifests whose name matches this")
    ap.add_argument("--sizes", help="8192x4096,... instead of the table")
    ap.add_argument("--tools", default=",".join(TOOLS),
                    help="of compute-sanitizer; all of them otherwise")
    ap.add_argument("--small", action="store_true", help="small sizes only")
    ap.add_argument("--emulate", action="store_true", help="on the CPU")
    ap.add_argument("--jobs", type=int, default=4)
    ap.add_argument("--threads", type=int, default=4,
                    help="of each run's interpreter")
    ap.add_argument("--timeout", type=float, default=300, help="seconds")
    ap.add_argument("--lines", type=int, default=6, help="of a failure")
    ap.add_argument("--verbose", action="store_true")
    args = ap.parse_args()
    if args.logs:
        args.logs.mkdir(parents=True, exist_ok=True)
    failed, ran = check(args) if args.mode == "check" else sanitize(args)
    sys.exit(1 if failed else 0 if ran else 77)


main()
