#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example on the CPU, at odd small shapes, with all checks.

    examples.py FUSEC FUSEC_RUN FOLDER [--shapes FILE] [--jobs N]

Each example is compiled with each line of bindings that fits it and run with
each shape: `fusec-run --emulate --check`, that is with random inputs in both
orders of the threads and in place, and with integers; every access is checked
and every output compared with the interpreter. Prints `N kernels, N shapes,
N checks`; exit status 77 without a C++ compiler.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def read_rows(path):
    """[(bindings, [shape])], each a list of NAME=VALUE."""
    rows = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            bindings, shapes = line.rstrip("\n").split("\t")
            rows.append(([] if bindings == "-" else bindings.split(","),
                         shapes.split()))
    return rows


def names(assignments):
    return {a.split("=")[0] for a in assignments}


def dims_of(fusec, example):
    """The dimensions of the example's only fusion."""
    out = subprocess.run([fusec, "--emit=json", "-o", "-", example],
                         capture_output=True, text=True, check=True).stdout
    return {d["name"] for d in json.loads(out)["fusions"][0]["dims"]}


def run(argv):
    r = subprocess.run(argv, capture_output=True, text=True,
                       stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout + r.stderr


class Totals:
    def __init__(self):
        self.kernels = self.shapes = self.checks = 0
        self.failures = []

    def add(self, other):
        self.kernels += other.kernels
        self.shapes += other.shapes
        self.checks += other.checks
        self.failures += other.failures


def run_row(args, example, bindings, shapes, folder):
    """One compilation and its runs."""
    t = Totals()
    base = os.path.splitext(os.path.basename(example))[0]
    cu = os.path.join(folder, base + ".cu")
    argv = [args.fusec, "--emit=cu,json", "-o", cu, example]
    for b in bindings:
        argv += ["-D", b]
    status, text = run(argv)
    if status:
        t.failures.append((argv, text))
        return t
    for shape in shapes:
        argv = [args.runner, cu[:-2] + "json", "--emulate", "--check",
                "--shape", shape, "--cxx", args.cxx, "--cache", folder]
        status, text = run(argv)
        emulated = re.search(r"emulated (\d+) kernels?: ", text)
        judged = len(re.findall(r"  ok  max error", text))
        if status or not emulated or not judged:
            t.failures.append((argv, text))
            continue
        t.kernels = max(t.kernels, int(emulated.group(1)))
        t.shapes += 1
        t.checks += judged
    return t


def jobs_of(args, rows):
    """(example, bindings, shapes), and examples that no row fits."""
    jobs, without = [], []
    for name in sorted(os.listdir(args.folder)):
        if not name.endswith(".fusion"):
            continue
        example = os.path.join(args.folder, name)
        dims = dims_of(args.fusec, example)
        mine = [(example, b, s) for b, s in rows
                if (names(b) | names(s[0].split(","))) - {"T"} == dims]
        jobs += mine
        if not mine:
            without.append(name)
    return jobs, without


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("fusec")
    ap.add_argument("runner")
    ap.add_argument("folder")
    ap.add_argument("--shapes", default=os.path.join(here, "examples.tsv"))
    ap.add_argument("--jobs", type=int, default=2)
    args = ap.parse_args()
    args.cxx = next(filter(shutil.which, ("g++", "clang++")), None)
    if not args.cxx:
        print("examples.py: no C++ compiler")
        return 77
    jobs, without = jobs_of(args, read_rows(args.shapes))
    total = Totals()
    with tempfile.TemporaryDirectory() as tmp, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folders = [os.path.join(tmp, str(i)) for i in range(len(jobs))]
        for f in folders:
            os.mkdir(f)
        for t in pool.map(lambda j: run_row(args, *j[0], j[1]),
                          zip(jobs, folders)):
            total.add(t)
    for argv, text in total.failures:
        print(" ".join(argv), text, sep="\n")
    for name in without:
        print(f"{name}: no row of shapes fits its dimensions")
    print(f"{total.kernels} kernels, {total.shapes} shapes, "
          f"{total.checks} checks")
    return 1 if total.failures or without or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
