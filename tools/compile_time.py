#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long fusec takes beside NVRTC alone.

    compile_time.py [--fusec EXE] [--once EXE] [--pairs N] [--device NAME] PATH...

For each .fusion file of PATH, in interleaved pairs of processes:

    full   fusec FILE -o out.ptx          against  nvrtc_once on the emitted text
    text   fusec --emit=cu FILE -o out.cu  against  the same

The figure is the median of the ratios of the pairs; the goals are 1.5 and 0.12.
tools/nvrtc_once.c says what the other process does. Exit status 1 when a median
over all files misses its goal, 77 when there is no NVRTC.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from programs import sources

GOAL = {"full": 1.5, "text": 0.12}


def seconds(argv):
    start = time.perf_counter()
    run = subprocess.run(argv, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - start
    if run.returncode != 0:
        sys.exit(f"compile_time: {' '.join(argv)}: exit {run.returncode}\n"
                 f"{run.stderr.decode('utf-8', 'replace')}")
    return took


def measure(opt, library, source, folder):
    out = os.path.join(folder, "out")
    device = [f"--device={opt.device}"]
    full = [opt.fusec, source, "-o", f"{out}.ptx"] + device
    text = [opt.fusec, "--emit=cu", source, "-o", f"{out}.only.cu"] + device
    seconds(full)
    with open(f"{out}.json", encoding="utf-8") as f:
        arch = json.load(f)["arch"]
    once = [opt.once, library, f"{out}.cu", arch]
    ratios = {"full": [], "text": []}
    base = []
    for _ in range(opt.pairs):
        b = seconds(once)
        ratios["full"].append(seconds(full) / b)
        ratios["text"].append(seconds(text) / b)
        base.append(b)
    figures = {k: statistics.median(v) for k, v in ratios.items()}
    print(f"{os.path.basename(source):36} {statistics.median(base) * 1e3:9.1f}"
          f" {figures['full']:7.3f} {figures['text']:7.3f}", flush=True)
    return figures


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec", default=os.path.join(here, "../build/fusec"))
    ap.add_argument("--once", default=os.path.join(here, "../build/tools/nvrtc_once"))
    ap.add_argument("--pairs", type=int, default=15)
    ap.add_argument("--device", default="h200")
    ap.add_argument("path", nargs="+")
    opt = ap.parse_args()
    found = subprocess.run([opt.fusec, "--print-nvrtc"], capture_output=True,
                           text=True, check=False)
    if found.returncode != 0:
        print(found.stderr, end="")
        return 77
    print(f"{'file':36} {'nvrtc ms':>9} {'full':>7} {'text':>7}")
    with tempfile.TemporaryDirectory(prefix="compile-time-") as folder:
        rows = [measure(opt, found.stdout.splitlines()[0], s, folder)
                for s in sources(opt.path)]
    if not rows:
        sys.exit("compile_time: no .fusion file")
    status = 0
    for kind, goal in GOAL.items():
        median = statistics.median(r[kind] for r in rows)
        good = median <= goal
        status |= not good
        print(f"{kind}: median {median:.3f} of the NVRTC process, goal {goal}"
              f"{'' if good else ': MISSED'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
