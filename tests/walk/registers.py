#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the register estimate of row kernels says, and what the assembler does.

    registers.py [--seed S] [--count N] [--out FILE] [--fusec EXE] [PATH...]

Draws N problems: a .fusion file of PATH (examples and tests/bench/programs), a
device row, f32, bf16 or f16, and a width, static or not. At each it compiles the
first plan as it is, and some candidates that fusec names where the device had four
times the registers, those among them that the estimate refuses. The launch bounds
of a kernel do not follow the device's registers, so the text is the same.

Two numbers come out: of the first plans those with local memory, which fusec gives
up; and of all plans without local memory those that the estimate refuses. --out
appends a line a plan. Exit status 1 when more than --given-up of the first are
given up or more than --refused of the good are refused, 77 without NVRTC.
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

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
from programs import sources  # noqa: E402 pylint: disable=C0413

ROWWISE = ("reduction", "inner_persistent", "inner_outer_persistent")
MANY, FEW = ",regs=262144", ",regs=4096"  # no plan is refused; each is
EACH = 4     # candidates beside the first, of each problem
BATCH = 24   # kernels whose compiles wait for each other

Problem = collections.namedtuple("Problem", "path device options")
Plan = collections.namedtuple("Plan", "problem first summary text")


def is_drawn(path):
    """Of a type T, with rows of N columns."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return bool(re.search(r"^type T =", text, re.MULTILINE) and
                re.search(r"\[(M, )?N\]", text))


def draw(rng, paths, devices):
    kind = rng.random()
    width = [f"-DN={1024 * int(2 ** rng.uniform(0, 7))}"]
    if kind < 0.15:
        width = [f"--hint=N={8 * int(2 ** rng.uniform(6, 13))}"]
    elif kind < 0.3:
        width = [f"-DN={rng.randint(300, 40000) | 1}"]
    elif kind < 0.5:
        width = [f"-DN={8 * rng.randint(64, 8192)}"]
    return Problem(rng.choice(paths), rng.choice(devices),
                   [f"-DT={rng.choice(points.TYPES)}", *width])


class Fusec:
    def __init__(self, exe):
        self.exe = exe

    def run(self, problem, device="", *options):
        return subprocess.run(
            [self.exe, problem.path, *problem.options,
             f"--device={problem.device}{device}", *options],
            capture_output=True, text=True, check=False)

    def candidates(self, problem, device, count):
        run = self.run(problem, device, f"--candidates={count}")
        if run.returncode:
            raise SystemExit(f"{problem}: {run.stderr}")
        found = [json.loads(line) for line in run.stdout.splitlines()]
        return [c for c in found if c["scheduler"] in ROWWISE]

    def forced(self, plan, device, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as f:
            f.write(plan.text)
            f.flush()
            return self.run(plan.problem, device, f"--plan={f.name}", *options)

    def text(self, plan):
        """The CUDA text up to the end of the row kernel."""
        run = self.forced(plan, MANY, "--emit=cu", "-o", "-")
        if run.returncode:
            raise SystemExit(f"{plan}: {run.stderr}")
        before, found = kernels.split(run.stdout)
        return before + found[0]

    def estimate(self, plan):
        """(registers, refused)."""
        found = re.search(r"needs (\d+) registers",
                          self.forced(plan, FEW, "--emit=plan", "-o",
                                      "-").stderr)
        refused = self.forced(plan, "", "--emit=plan", "-o", "-").stderr
        return int(found[1]), bool(re.search(r"needs \d+ registers", refused))


def plans(fusec, problem, rng):
    first = fusec.candidates(problem, "", 1)
    if not first:
        return
    every = fusec.candidates(problem, MANY, 1000)
    some = rng.sample(every, min(EACH, len(every)))
    for i, c in enumerate(first + some):
        yield Plan(problem, i == 0, c["summary"], c["plan"])


def record(fusec, plan, reports, log):
    if reports is None:
        raise SystemExit(f"{plan}: {log}")
    estimate, refused = fusec.estimate(plan)
    kernel, = reports.values()
    return {**plan.problem._asdict(), "first": plan.first,
            "summary": plan.summary, "plan": plan.text, "estimate": estimate,
            "refused": refused, "registers": kernel["registers"],
            "local": kernel["local"]}


def visit(fusec, pool, opt, rng, rows):
    """A record a plan; the compiler stays a batch ahead."""
    waiting = collections.deque()
    paths = [p for p in sources(opt.path) if is_drawn(p)]
    for _ in range(opt.count):
        problem = draw(rng, paths, list(rows))
        for plan in plans(fusec, problem, rng):
            waiting.append((plan, pool.add(rows[problem.device]["arch"],
                                           fusec.text(plan))))
        while len(waiting) > BATCH:
            plan, added = waiting.popleft()
            yield record(fusec, plan, *pool.reports(added))
    for plan, added in waiting:
        yield record(fusec, plan, *pool.reports(added))


def show(r, what):
    name = os.path.basename(r["path"])
    print(f"{name} {r['device']} {' '.join(r['options'])}: {r['summary']}: "
          f"{what}, estimated {r['estimate']}, registers {r['registers']}, "
          f"{r['local']} bytes of local memory", flush=True)


def table(records, opt):
    """Whether a share is too large."""
    first = [r for r in records if r["first"]]
    good = [r for r in records if not r["local"]]
    given_up = [r for r in first if r["local"]]
    refused = [r for r in good if r["refused"]]
    for found, what in ((given_up, "given up"), (refused, "refused")):
        for r in found:
            show(r, what)
    print(f"registers: {len(records)} plans, {len(first)} first ones, "
          f"{len(given_up)} given up; {len(good)} without local memory, "
          f"{len(refused)} refused")
    return (not records or len(given_up) > opt.given_up * len(first) or
            len(refused) > opt.refused * len(good))


def read_arguments():
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec", default=os.path.join(ROOT, "build/fusec"))
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--count", type=int, default=60, help="problems")
    ap.add_argument("--jobs", type=int, default=kernels.cores())
    ap.add_argument("--out", help="append a JSON object a plan")
    ap.add_argument("--given-up", type=float, default=0.02)
    ap.add_argument("--refused", type=float, default=0.05)
    ap.add_argument("path", nargs="*", default=[
        os.path.join(ROOT, "examples"),
        os.path.join(ROOT, "tests/bench/programs")])
    return ap.parse_args()


def main():
    opt = read_arguments()
    library = kernels.find_nvrtc(opt.fusec)
    if not library:
        return 77
    pool = kernels.Kernels(library, opt.jobs)
    records = []
    try:
        for r in visit(Fusec(opt.fusec), pool, opt, random.Random(opt.seed),
                       kernels.devices(opt.fusec)):
            records.append(r)
            if opt.out:
                with open(opt.out, "a", encoding="utf-8") as f:
                    f.write(json.dumps(r) + "\n")
    finally:
        pool.close()
    return 1 if table(records, opt) else 0


if __name__ == "__main__":
    sys.exit(main())
