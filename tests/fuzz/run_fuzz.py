#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run libFuzzer targets for a number of executions and print a table.

    run_fuzz.py --bin DIR [--runs N] [--jobs J] [--table FILE] TARGET[=N]...

DIR holds fuzz_TARGET and TARGET.dict, made by

    CC=clang-14 meson setup build-fuzz -Dfuzzer=true -Dbuildtype=release \\
        -Db_sanitize=address,undefined -Db_lundef=false
    ninja -C build-fuzz

and is BUILD/tests/fuzz. J processes share one growing corpus, which begins with
the kept one (and the programs of the tree) and stays in WORK/TARGET. First 80 %
of the executions are made, then the rest; the edges that the rest adds, in per
cent, say whether the run was long enough. Exit status 1 after a crash, a hang or
a leak; the input lies in WORK.
"""

import argparse
import glob
import math
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = ("parse", "resolve", "compile")
# Longer inputs are cut, and a manifest that was cut is none.
MAX_LEN = {"manifest": 16384}
SANITIZERS = {
    # Freed memory is used again at once: most of a run's time was page faults.
    "ASAN_OPTIONS": "quarantine_size_mb=1:malloc_context_size=4:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}


def seeds(target):
    folders = [os.path.join(HERE, "corpus", target)]
    if target in PROGRAMS:
        folders += [os.path.join(ROOT, "examples"),
                    os.path.join(ROOT, "tests", "golden"),
                    os.path.join(ROOT, "tests", "exec", "cases")]
    return [f for f in folders if os.path.isdir(f)]


class Runner:
    def __init__(self, args, target):
        self.args = args
        self.target = target
        self.exe = os.path.join(os.path.abspath(args.bin), "fuzz_" + target)
        self.corpus = os.path.join(os.path.abspath(args.work), target)
        self.failed = []
        self.executions = 0
        self.slowest = 0.0
        os.makedirs(self.corpus, exist_ok=True)

    def command(self, runs, seed):
        most = max(self.args.max_len, MAX_LEN.get(self.target, 0))
        out = [self.exe, "-entropic=0", f"-runs={runs}", f"-seed={seed}",
               f"-max_len={most}", "-timeout=60", "-rss_limit_mb=3000",
               "-print_final_stats=1", "-reload=1",
               f"-artifact_prefix={os.path.abspath(self.args.work)}/{self.target}-"]
        words = os.path.join(os.path.abspath(self.args.bin), self.target + ".dict")
        return out + ["-dict=" + words, self.corpus]

    def start(self, runs, seed, more):
        log = open(f"{self.corpus}.{seed}.log", "w+b")
        process = subprocess.Popen(self.command(runs, seed) + more, stdout=log,
                                   stderr=log, env={**os.environ, **SANITIZERS})
        return process, log

    def finish(self, process, log):
        status = process.wait()
        log.seek(0)
        text = log.read().decode("utf-8", "replace")
        log.close()
        for n in re.findall(r"number_of_executed_units: (\d+)", text):
            self.executions += int(n)
        for seconds in re.findall(r"^slowest: ([\d.]+) s", text, re.MULTILINE):
            self.slowest = max(self.slowest, float(seconds))
        if status:
            self.failed.append(text[-4000:])

    def run(self, executions, seed, more):
        """EXECUTIONS in all, beside those that read the corpus."""
        known = len(os.listdir(self.corpus))
        each = math.ceil(executions / self.args.jobs) + known
        jobs = [self.start(each, seed + j, more) for j in range(self.args.jobs)]
        for job in jobs:
            self.finish(*job)

    def edges(self):
        run = subprocess.run([self.exe, "-runs=0", "-entropic=0", self.corpus],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False, env={**os.environ, **SANITIZERS})
        found = re.findall(rb"cov: (\d+)", run.stdout)
        return int(found[-1]) if found else 0


def fuzz(args, target, executions):
    runner, start = Runner(args, target), time.monotonic()
    runner.run(executions * 4 // 5, args.seed, seeds(target))
    before = runner.edges()
    runner.run(executions - executions * 4 // 5, args.seed + 1000, [])
    edges = runner.edges()
    added = 100.0 * (edges - before) / max(edges, 1)
    row = (f"{target:<10} {runner.executions:>11,} {edges:>8,} {added:>8.2f} % "
           f"{runner.slowest:>8.2f} s {len(runner.failed):>8} "
           f"{time.monotonic() - start:>7.0f} s")
    print(row, flush=True)
    for text in runner.failed[:3]:
        print(text, file=sys.stderr)
    return row, bool(runner.failed)


HEAD = (f"{'target':<10} {'executions':>11} {'edges':>8} {'last 20 %':>10} "
        f"{'slowest':>10} {'failures':>8} {'time':>9}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=100000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-len", type=int, default=3000)
    parser.add_argument("--work", default="fuzz-work")
    parser.add_argument("--table")
    parser.add_argument("targets", nargs="*", metavar="TARGET[=RUNS]")
    args = parser.parse_args()
    names = args.targets or sorted(
        os.path.basename(f)[5:] for f in glob.glob(os.path.join(args.bin, "fuzz_*"))
        if os.access(f, os.X_OK) and os.path.isfile(f))
    os.makedirs(args.work, exist_ok=True)
    print(HEAD, flush=True)
    rows, bad = [HEAD], False
    for name in names:
        target, _, runs = name.partition("=")
        row, failed = fuzz(args, target, int(runs or args.runs))
        rows.append(row)
        bad = bad or failed
    if args.table:
        with open(args.table, "w", encoding="utf-8") as f:
            f.write("\n".join(rows) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
