#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark grids: compiled anywhere, timed on a GPU, reported as tables.

    grid.py list    SET
    grid.py compile SET --fusec build/fusec --dir DIR
    grid.py run     --dir DIR --lib libfusec_launch.so --out RESULTS.jsonl
                    [--resume OLD.jsonl]... [--seconds S] [--peers missing]
    grid.py peers   RESULTS.jsonl... --store docs/performance/peers-h200.json
    grid.py report  RESULTS.jsonl... --store docs/performance/peers-h200.json

`compile` needs no GPU and `run` no compiler but Python with PyTorch. Both can
be stopped and started again: `compile` makes only what isn't there, `run`
passes over what the files of --resume and --out hold. `run` works in a child
process; when the child dies or hangs, its problem is noted as failed and
another child goes on.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import fusions
import plans
import problems
import report
import results

SCRIPT = Path(__file__).resolve()
BATCH = 72         # problems for which torch.compile is warmed up at once
SET_HELP = ("one of " + ", ".join(problems.SETS) +
            ", or problems: FUSION-DTYPE-MxN,...")
RATE = 4.2e12      # bytes a second of a copy on an H200
LAUNCHES = 20 * 13  # of a contender: launches of a graph, replays
START = 60         # seconds more that a process has to begin
WARM_BYTES = 3e9   # larger ones are left to the child


def list_set(args):
    todo = problems.by_weight(problems.named(args.set))
    for p in todo:
        print(f"{p.key:40s} {p.bytes / 1e6:10.1f} MB")
    total = sum(p.bytes for p in todo)
    print(f"{len(todo)} problems, {total / 1e9:.1f} GB: a contender as fast as "
          f"a copy takes {total / RATE * LAUNCHES:.0f} s")
    return 0


def compile_set(args):
    args.dir.mkdir(parents=True, exist_ok=True)
    todo = problems.by_weight(problems.named(args.set))
    todo = [p for p in todo if re.search(args.only, p.key)][:args.count]
    compiler = plans.Compiler(args.fusec, args.dir, args.device, args.tuned)
    entries, failed, start = [], 0, time.monotonic()

    def one(problem):
        try:
            return compiler.compile(problem)
        except plans.Failed as e:
            return {"key": problem.key, "failed": str(e)}

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for i, entry in enumerate(pool.map(one, todo), 1):
            entries.append(entry)
            failed += "failed" in entry
            if "failed" in entry or args.verbose:
                print(json.dumps(entry), flush=True)
            if i % 25 == 0:
                print(f"{i} of {len(todo)}, {time.monotonic() - start:.0f} s",
                      flush=True)
    write_index(args.dir, args.set, entries)
    names = {f for e in entries for f in e.get("plans", {}).values() if f}
    for old in args.dir.iterdir():  # of another compiler
        if old.suffix in (".cubin", ".json") and (
                old.stem not in names and old.name != "index.json"):
            old.unlink()
    print(f"{args.set}: {len(entries)} problems, {len(names)} plans, "
          f"{failed} failed")
    return 1 if failed else 0


def write_index(folder, name, entries):
    (folder / "index.json").write_text(
        json.dumps({"set": name, "entries": entries}, indent=1) + "\n",
        encoding="utf-8")


def read_index(folder):
    text = (folder / "index.json").read_text(encoding="utf-8")
    return {e["key"]: e for e in json.loads(text)["entries"]}


def wanted_peers(key, args, store):
    """The peers that are measured beside ours."""
    if args.peers == "none":
        return ()
    kinds = tuple(args.kinds.split(","))
    if args.peers == "all" or results.drawn_again(key, args.seed):
        return kinds
    old = store.get(key, {})
    return tuple(k for k in kinds if k not in old)


def left(args):
    """Keys that are still to be measured."""
    done = {k for k, r in results.read_lines(args.resume).items()
            if "failed" not in r}  # what failed before is tried again
    done |= set(results.read_lines([args.out]))
    return [k for k, e in read_index(args.dir).items()
            if k not in done and "failed" not in e and
            re.search(args.only, k)]


def machine_of(args):
    import machine
    if args.dry:
        return machine.Dry()
    return machine.Gpu(args.lib, args.cpu and "cpu" or "cuda")


def child(args):
    """Measures the keys of standard input until the time is up."""
    from measure import Bench
    mach = machine_of(args)
    bench = Bench(mach, args.dir, tuple(args.replays))
    index, store = read_index(args.dir), results.read_store(args.store)
    for key in sys.stdin.read().split():
        if time.time() > args.until:
            break
        print(f"BEGIN {key}", flush=True)
        start = time.monotonic()
        try:
            row = bench.run(problems.parse(key), index[key],
                            wanted_peers(key, args, store))
        except Exception as e:  # one failure must not hide the rest
            results.append(args.out, {"key": key, "failed":
                                      f"{type(e).__name__}: {e}"[:500]})
            print(f"FAILED {key}: {e}", flush=True)
            if "CUDA error" in str(e) or "memory access" in str(e):
                return 3  # nothing works in this context any more
            continue
        results.append(args.out, row)
        if "failed" in row:
            print(f"FAILED {key}: {row['failed']}", flush=True)
            continue
        print(f"{report.line(row)}  [{time.monotonic() - start:.1f} s]",
              flush=True)
    return 0


def warm(args):
    """Compiles the peers of the keys of standard input, for another process
    to find in the cache."""
    mach = machine_of(args)
    for key in sys.stdin.read().split():
        if time.time() > args.until:
            break
        print(f"BEGIN {key}", flush=True)
        p = problems.parse(key)
        inputs = fusions.FUSIONS[p.fusion].inputs(mach, p.m, p.n, p.dtype)
        try:
            mach.peer(p.fusion, "compile")(**inputs)
            mach.synchronize()
        except Exception as e:  # the child will say so
            print(f"warm {key}: {e}", flush=True)
        del inputs
        mach.forget_compiled()
        mach.free()
    return 0


class Watched:
    """A process of this script whose silence is its end."""

    def __init__(self, mode, keys, args, until):
        passed = [a for a in args.passed if not a.startswith("--until")]
        self.process = subprocess.Popen(
            [sys.executable, "-u", str(SCRIPT), mode, *passed,
             f"--until={until}"], text=True, env=environment(args, mode),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.last, self.current = time.time(), None
        self.process.stdin.write("\n".join(keys))
        self.process.stdin.close()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.last = time.time()
            if line.startswith("BEGIN "):
                self.current = line.split()[1]
                continue
            print(line, end="", flush=True)

    def _close(self):
        self.reader.join(5)
        if not self.reader.is_alive():
            self.process.stdout.close()

    def wait(self, patience):
        """Exit status; None when it had to be ended."""
        while self.process.poll() is None:
            starting = 0 if self.current else START
            if time.time() - self.last > patience + starting:
                self.process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(20)  # a hung kernel may hold it
                self._close()
                return None
            time.sleep(0.05)
        self._close()
        return self.process.returncode


def environment(args, mode):
    env = dict(os.environ)
    env.setdefault("TORCHINDUCTOR_CACHE_DIR",
                   str(args.out.resolve().parent / "inductor"))
    if args.cache:
        env["TORCHINDUCTOR_CACHE_DIR"] = str(args.cache)
    if mode == "warm":
        env["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    return env


def warm_up(keys, args, until):
    """Fills the cache of torch.compile in parallel; what was tuned beside
    other work is forgotten."""
    store = results.read_store(args.store)
    keys = [k for k in keys if "compile" in wanted_peers(k, args, store) and
            problems.parse(k).bytes < WARM_BYTES]
    if not keys or not args.warm:
        return
    start = time.monotonic()
    workers = [Watched("warm", keys[i::args.warm], args, until)
               for i in range(min(args.warm, len(keys)))]
    for w in workers:
        w.wait(args.patience)
    cache = Path(environment(args, "warm")["TORCHINDUCTOR_CACHE_DIR"])
    for tuned in cache.rglob("*.best_config"):
        tuned.unlink()
    print(f"warmed {len(keys)} in {time.monotonic() - start:.0f} s",
          flush=True)


def run_batch(keys, args, until):
    """Measures the keys; children that end early are replaced."""
    while keys and time.time() < until:
        c = Watched("child", keys, args, until)
        status = c.wait(args.patience)
        if status == 0:
            return
        done = results.read_lines([args.out])
        if c.current and c.current not in done:
            why = "hung" if status is None else f"exit status {status}"
            results.append(args.out, {"key": c.current, "failed": why})
            print(f"FAILED {c.current}: {why}", flush=True)
        elif c.current is None:
            print(f"the child did not start: {status}", flush=True)
            return
        done = results.read_lines([args.out])
        keys = [k for k in keys if k not in done]


def run(args):
    args.out.parent.mkdir(parents=True, exist_ok=True)
    until = time.time() + args.seconds
    todo = left(args)[:args.count]
    print(f"{len(todo)} problems to measure", flush=True)
    for i in range(0, len(todo), BATCH):
        if time.time() > until:
            break
        warm_up(todo[i:i + BATCH], args, until)
        run_batch(todo[i:i + BATCH], args, until)
    rows = results.read_lines([*args.resume, args.out])
    bad = [r for r in rows.values() if "failed" in r]
    print(f"{len(rows) - len(bad)} measured, {len(bad)} failed, "
          f"{len(left(args))} left")
    return 1 if bad else 0


def gather_peers(args):
    store = results.read_store(args.store)
    rows = results.read_lines(args.results)
    found, compared = results.disagreements(rows, store)
    came = results.merge(store, rows)
    results.write_store(args.store, store)
    print(f"{came} new, {len(store)} in all; {compared} compared, "
          f"{len(found)} differ by more than {results.AGREE:.0%}")
    for key, peer, a, b in found:
        print(f"  {key} {peer}: {a:.3f} of the copy, now {b:.3f}")
    return 1 if found else 0


def make_report(args):
    rows = results.read_lines(args.results)
    print(report.tables(rows, results.read_store(args.store)), end="")
    return 0


def add_run_options(p):
    p.add_argument("--dir", required=True, type=Path)
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--lib", type=Path)
    p.add_argument("--resume", type=Path, action="append", default=[])
    p.add_argument("--store", type=Path)
    p.add_argument("--only", default="", help="keys that this pattern finds")
    p.add_argument("--count", type=int, help="at most so many problems")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--peers", choices=["all", "missing", "none"],
                   default="missing")
    p.add_argument("--kinds", default="eager,compile")
    p.add_argument("--seed", default="1", help="of what is measured again")
    p.add_argument("--replays", type=int, nargs=2, default=[3, 10],
                   metavar=("WARM_UP", "TIMED"))
    p.add_argument("--warm", type=int, default=0,
                   help="processes that compile peers beforehand")
    p.add_argument("--cache", type=Path, help="of torch.compile")
    p.add_argument("--patience", type=float, default=90,
                   help="seconds of silence after which a child is ended")
    p.add_argument("--dry", action="store_true", help="NumPy, no GPU")
    p.add_argument("--cpu", action="store_true", help="PyTorch, no GPU")
    p.add_argument("--until", type=float, help=argparse.SUPPRESS)


def parser():
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    modes = ap.add_subparsers(dest="mode", required=True)
    p = modes.add_parser("list")
    p.add_argument("set", help=SET_HELP)
    p = modes.add_parser("compile")
    p.add_argument("set", help=SET_HELP)
    p.add_argument("--fusec", required=True, type=Path)
    p.add_argument("--dir", required=True, type=Path)
    p.add_argument("--device", default="h200")
    p.add_argument("--tuned", type=Path, help="measured plans, for the own "
                   "choice")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--only", default="", help="keys that this pattern finds")
    p.add_argument("--count", type=int, help="at most so many problems")
    p.add_argument("--verbose", action="store_true")
    for mode in ("run", "child", "warm"):
        add_run_options(modes.add_parser(mode))
    for mode in ("peers", "report"):
        p = modes.add_parser(mode)
        p.add_argument("results", type=Path, nargs="+")
        p.add_argument("--store", type=Path, required=mode == "peers")
    return ap


def main(argv):
    args = parser().parse_args(argv)
    args.passed = argv[1:]
    modes = {"list": list_set, "compile": compile_set, "run": run,
             "child": child, "warm": warm, "peers": gather_peers,
             "report": make_report}
    return modes[args.mode](args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
