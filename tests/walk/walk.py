#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A walk over widths of rows: the chosen plan compiles, fits and is right.

    walk.py draw --seed S --count N [--run N] [OPTION...]
    walk.py full --out FILE [--only REGEX] [--run N] [OPTION...]
    walk.py table FILE

`full` visits, for 4 fusions, every device row and f32, bf16 and f16, each width
from 8192 to 131072 by 1024, widths around each at which the structure of the plan
changes (-8, -1, 0, +1, +8), and the symbolic width. `draw` visits N of these by a
seed. At each, fusec must say nothing and write a manifest that agrees with itself;
NVRTC must take the text; no kernel may use local memory; threads, registers and
shared memory must fit the device. Where the first plan does use local memory, what
counts is the plan that fusec then takes; more than 1 in 20 of these are a fault. --run N of the points, those with the least
widths first, are compiled for a device of two multiprocessors and run in the
emulation, 3 rows, against the interpreter.

`full` appends a line a point to --out, and goes on where it was stopped; `table`
prints what a file holds. Exit status 1 when anything is wrong, 77 without NVRTC.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import kernels
import points

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_manifest  # noqa: E402 pylint: disable=C0413

REGISTERS, THREADS = 65536, 1024
BATCH = 24  # points whose compiles wait for each other
# Of the first plans, at most: 13 of 300 were, most in f32 and beyond 16384 columns,
# where the registers of clusters are estimated worst.
GIVEN_UP = 0.05


class Walk:
    def __init__(self, opt, rows, pool):
        self.opt, self.rows, self.pool = opt, rows, pool
        with open(check_manifest.SCHEMA, encoding="utf-8") as f:
            self.validator = check_manifest.Validator(json.load(f))

    def source(self, point):
        return os.path.join(self.opt.examples, f"{point.fusion}.fusion")

    def write(self, point):
        """(manifest, CUDA text), or (None, what fusec said)."""
        with tempfile.TemporaryDirectory(prefix="walk-") as folder:
            out = os.path.join(folder, "out")
            run = subprocess.run(
                [self.opt.fusec, self.source(point), "--emit=cu,json", "-o",
                 f"{out}.cu", *points.options(point)],
                capture_output=True, text=True, check=False)
            if run.returncode or run.stderr:
                return None, f"exit {run.returncode}\n{run.stderr}"
            with open(f"{out}.cu", encoding="utf-8") as f:
                text = f.read()
            with open(f"{out}.json", encoding="utf-8") as f:
                return f.read(), text

    def fits(self, point, manifest, reports):
        """What of a launch the device could not take."""
        for fusion in manifest["fusions"]:
            for variant in fusion["variants"]:
                for launch in variant["launches"]:
                    report = reports.get(launch["kernel"])
                    for what in self.misfits(point, launch, report):
                        yield f"{launch['kernel']}: {what}"

    def misfits(self, point, launch, report):
        threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
        if report is None:
            yield "not in the text"
            return
        if threads > THREADS:
            yield f"{threads} threads"
        # Registers are given out to warps, 8 a thread at a time.
        if -(-report["registers"] // 8) * 8 * threads > REGISTERS:
            yield f"{threads} threads of {report['registers']} registers"
        smem = report["smem"] + int(launch["dynamic_smem"])
        if smem > self.rows[point.device]["smem"]:
            yield f"{smem} bytes of shared memory"

    def start(self, point):
        manifest, text = self.write(point)
        if manifest is None:
            return point, None, None, text
        return (point, manifest, self.pool.add(self.rows[point.device]["arch"],
                                               text), None)

    def finish(self, point, text, added, refusal):
        """The record of a point."""
        if refusal:
            return self.record(point, None, None, [refusal])
        reports, log = self.pool.reports(added)
        given_up = sum(bool(r and r["local"]) for r in (reports or {}).values())
        if given_up:
            text, reports, log = self.ship(point)
            if text is None:
                return self.record(point, None, None, [log])
        bad = kernels.faults(reports, log)
        bad += check_manifest.faults(self.validator, "manifest", text)
        manifest = json.loads(text)
        if reports is not None:
            bad += self.fits(point, manifest, reports)
        return self.record(point, manifest, reports, bad, given_up)

    def ship(self, point):
        """(manifest, reports, None) of what fusec makes, or (None, None, why)."""
        with tempfile.TemporaryDirectory(prefix="walk-") as folder:
            out = os.path.join(folder, "out")
            run = subprocess.run(
                [self.opt.fusec, self.source(point), "-o", f"{out}.cubin",
                 *points.options(point)],
                capture_output=True, text=True, check=False)
            if run.returncode:
                return None, None, f"exit {run.returncode}\n{run.stderr}"
            with open(f"{out}.json", encoding="utf-8") as f:
                text = f.read()
        reports = {
            k["symbol"]: {"registers": k["registers"], "smem": k["static_smem"],
                          "local": k["stack_bytes"] + k["spill_store_bytes"] +
                          k["spill_load_bytes"]}
            for k in json.loads(text)["toolchain"]["kernels"]}
        return text, reports, None

    @staticmethod
    def record(point, manifest, reports, bad, given_up=0):
        plan = manifest["plan"] if manifest else ""
        return {
            **point._asdict(),
            "scheduler": sorted(set(re.findall(r"kernel \d+ (\w+)", plan))),
            "store": sorted(set(re.findall(r"store (\w+)", plan))),
            "registers": max((r["registers"] for r in (reports or {}).values()
                              if r), default=0),
            "given_up": given_up, "bad": bad}

    def emulate(self, point):
        """None, or why the kernel is not right."""
        small = point._replace(device=f"{point.device},sms=2")
        with tempfile.TemporaryDirectory(prefix="walk-") as folder:
            out = os.path.join(folder, "out.json")
            steps = ([self.opt.fusec, self.source(point), "--emit=cu,json",
                      "-o", out, *points.options(small)],
                     [self.opt.runner, out, "--emulate", "--check",
                      "--shape", "M=3"])
            for argv in steps:
                run = subprocess.run(argv, capture_output=True, text=True,
                                     check=False)
                if run.returncode:
                    return f"exit {run.returncode}\n{run.stdout}{run.stderr}"
        return None


def show(record):
    point = points.Point(*(record[k] for k in points.Point._fields))
    if record["given_up"]:
        print(f"# {points.name(point)}: the first plan is given up", flush=True)
    for what in record["bad"]:
        print(f"{points.name(point)}: {what}", flush=True)


def visit(walk, todo):
    """Yields a record a point; the compiler stays a batch ahead."""
    waiting = collections.deque()
    for point in todo:
        waiting.append(walk.start(point))
        if len(waiting) > BATCH:
            yield walk.finish(*waiting.popleft())
    while waiting:
        yield walk.finish(*waiting.popleft())


def run_some(walk, todo, most):
    """Emulates the narrowest of the points, one of a kind; what went wrong."""
    chosen = {}
    for point in sorted((p for p in todo if p.n), key=lambda p: p.n):
        chosen.setdefault((point.fusion, point.dtype), point)
    chosen = list(chosen.values())[:most]
    bad = []
    for point in chosen:
        why = walk.emulate(point)
        if why:
            bad.append(f"{points.name(point)}: {why}")
    return len(chosen), bad


# --- tables -------------------------------------------------------------------

def count(records, key):
    rows = collections.Counter()
    for r in records:
        empty = "(nothing kept)" if r["scheduler"] else "(refused)"
        for word in r[key] or [empty]:
            rows[word] += 1
    return rows


def table(records):
    for key in ("fusion", "device", "dtype"):
        rows = collections.Counter(r[key] for r in records)
        print(f"by {key}: " + ", ".join(f"{n} {w}" for w, n in
                                        sorted(rows.items())))
    for key in ("scheduler", "store"):
        print(f"points with a {key}:")
        for word, n in count(records, key).most_common():
            print(f"  {n:6}  {word}")
    bad = [r for r in records if r["bad"]]
    spills = sum("local memory" in b for r in records for b in r["bad"])
    refused = sum(not r["scheduler"] for r in records)
    given_up = sum(bool(r["given_up"]) for r in records)
    print(f"walk: {len(records)} points, {len(bad)} with faults, "
          f"{refused} refused, {spills} kernels with local memory, "
          f"{given_up} first plans given up")
    return len(bad) + (given_up > GIVEN_UP * len(records))


def read_records(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.endswith("\n")]


# --- commands -----------------------------------------------------------------

def do_draw(walk, opt):
    plans = points.Plans(opt.fusec, opt.examples)
    todo = points.draw(plans, walk.rows, random.Random(opt.seed), opt.count)
    records = []
    for record in visit(walk, todo):
        show(record)
        records.append(record)
    bad = table(records)
    ran, wrong = run_some(walk, todo, opt.run)
    print("\n".join([*wrong, f"emulated: {ran} points, {len(wrong)} wrong"]))
    print(f"kernels: {walk.pool.asked}, {walk.pool.compiled} compiled")
    return bad + len(wrong)


def walk_kind(walk, plans, kind, known, out):
    """Visits what is not known of a kind; its records and boundaries."""
    todo, edges = points.of_kind(plans, kind)
    todo = [p for p in todo if p not in known]
    records = []
    for record in visit(walk, todo):
        show(record)
        out.write(json.dumps(record) + "\n")
        out.flush()
        records.append(record)
    return records, edges


def do_full(walk, opt):
    plans = points.Plans(opt.fusec, opt.examples)
    records = read_records(opt.out)
    known = {points.Point(*(r[k] for k in points.Point._fields))
             for r in records}
    kinds = [k for k in points.kinds(walk.rows)
             if re.search(opt.only, points.name(k))]
    with open(opt.out, "a", encoding="utf-8") as out:
        for i, kind in enumerate(kinds):
            new, edges = walk_kind(walk, plans, kind, known, out)
            records += new
            print(f"{i + 1}/{len(kinds)} {points.name(kind)}: {len(new)} new "
                  f"points, boundaries {edges}", flush=True)
    todo = [points.Point(*(r[k] for k in points.Point._fields))
            for r in records]
    bad = table(records)
    ran, wrong = run_some(walk, todo, opt.run)
    print("\n".join([*wrong, f"emulated: {ran} points, {len(wrong)} wrong"]))
    return bad + len(wrong)


def read_arguments():
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    sub = ap.add_subparsers(dest="command", required=True)
    for command in ("draw", "full"):
        p = sub.add_parser(command)
        p.add_argument("--fusec", default=os.path.join(ROOT, "build/fusec"))
        p.add_argument("--runner",
                       default=os.path.join(ROOT, "build/tools/fusec-run"))
        p.add_argument("--examples", default=os.path.join(ROOT, "examples"))
        p.add_argument("--jobs", type=int, default=kernels.cores())
        p.add_argument("--run", type=int, default=0,
                       help="points to run in the emulation")
        if command == "draw":
            p.add_argument("--seed", type=int, default=1)
            p.add_argument("--count", type=int, default=300)
        else:
            p.add_argument("--out", required=True)
            p.add_argument("--only", default="",
                           help="kinds whose name has this, as in "
                           "'softmax_fwd h200 f32'")
    sub.add_parser("table").add_argument("file")
    return ap.parse_args()


def main():
    opt = read_arguments()
    if opt.command == "table":
        return 1 if table(read_records(opt.file)) else 0
    library = kernels.find_nvrtc(opt.fusec)
    if not library:
        return 77
    pool = kernels.Kernels(library, opt.jobs)
    try:
        walk = Walk(opt, kernels.devices(opt.fusec), pool)
        bad = (do_draw if opt.command == "draw" else do_full)(walk, opt)
    finally:
        pool.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
