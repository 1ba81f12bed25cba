#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw random programs and run each with every plan that the schedulers offer,
on the CPU, against the interpreter.

    run_random.py --table OP_TABLE --test RANDOM_TEST [--seed S] [--first I]
                  [--count N] [--jobs N] [--cache DIR] [--keep DIR]
                  [--replay DIR] [-- COMPILER [OPTION...]]

Without a compiler the programs are planned, but not run. Programs are built
several to a library. What a group of programs gave is
remembered in the cache, by the content of all that decides it. Programs that
go wrong are written to the --keep folder with what was said. --replay runs the
programs of a folder first. The last lines are tables: programs by scheduler,
refusals by reason, checks, and what went wrong. Exit status 1 when anything
did, 2 when too few programs compile or have a strategy of their own.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import coverage, program
from table import Table

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE.parent.parent / "templates"
LEAST_COMPILED, LEAST_SCHEDULED = 0.95, 0.5


def digest_of_tools(args):
    h = hashlib.sha256(" ".join(args.compiler).encode())
    files = [args.test, *sorted(TEMPLATES.rglob("*"))]
    for path in files:
        if path.is_file():
            h.update(path.read_bytes())
    return h.hexdigest()


# --- one group ---------------------------------------------------------------

def messages(text):
    """{path: what was said of it} of the test's standard error."""
    parts = re.split(r"^== (.*)\n", text, flags=re.M)
    said = collections.defaultdict(str)
    for path, body in zip(parts[1::2], parts[2::2]):
        said[path] += body
    return said


def run_once(args, paths):
    """(records by path, output, how it ended)."""
    command = [str(args.test), *map(str, paths), "--", *args.compiler]
    try:
        r = subprocess.run(command, capture_output=True, text=True,
                           errors="replace", timeout=args.timeout,
                           check=False)
        end, out, err = r.returncode, r.stdout, r.stderr
    except subprocess.TimeoutExpired as e:
        def decoded(b):
            return (b or b"").decode(errors="replace")
        end, out, err = "timeout", decoded(e.stdout), decoded(e.stderr)
    records = {}
    said = messages(err)
    for line in out.splitlines():
        record = json.loads(line)
        record["message"] = said[record["file"]]
        records[record["file"]] = record
    return records, err, end


def run_group(args, texts):
    """A record a program; a group that dies is run program by program."""
    with tempfile.TemporaryDirectory(prefix="random.") as folder:
        paths = []
        for name, text in texts:
            path = Path(folder) / f"{name}.fusion"
            path.write_text(text)
            paths.append(path)
        records, err, end = run_once(args, paths)
        missing = [p for p in paths if str(p) not in records]
        for path in missing:
            if len(paths) > 1:
                alone, err, end = run_once(args, [path])
                records.update(alone)
            if str(path) not in records:
                records[str(path)] = {"status": "died", "message":
                                      f"{err[-2000:]}\nended with {end}"}
        return [{**records[str(p)], "file": n[0]}
                for p, n in zip(paths, texts)]


def cached_group(args, tools, texts):
    if not args.cache:
        return run_group(args, texts)
    key = hashlib.sha256((tools + "".join(t for _, t in texts)).encode())
    path = args.cache / (key.hexdigest()[:32] + ".json")
    if path.exists():
        return json.loads(path.read_text())
    result = run_group(args, texts)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(result))
    os.replace(temporary, path)
    return result


# --- the tables --------------------------------------------------------------

def table(title, rows):
    print(f"\n{title}")
    for name, n, note in rows:
        print(f"  {n:8}  {name}{note}")


def scheduler_rows(records):
    taken, runs = collections.Counter(), collections.Counter()
    for r in records:
        for name in r.get("variants", {}):
            taken[name] += 1
        for name, n in r.get("runs", {}).items():
            runs[name] += n
    return [(name, n, f" ({runs[name]} runs)")
            for name, n in taken.most_common()]


def general(reason):
    return re.sub(r"^result '\w+'", "a result", reason)


def refusal_rows(records):
    why = collections.Counter()
    for r in records:
        for name, reason in r.get("refusals", {}).items():
            why[f"{name}: {general(reason)}"] += 1
    return [(name, n, "") for name, n in why.most_common()]


def fallback_rows(records):
    """Why a program has no other strategy: what all said but that something,
    or nothing, is reduced."""
    why = collections.Counter()
    for r in records:
        if list(r.get("variants", {})) != ["fallback"]:
            continue
        reasons = {general(x) for x in r["refusals"].values()
                   if not x.startswith(("something is", "nothing is"))}
        why[" / ".join(sorted(reasons)) or "no feasible candidate"] += 1
    return [(name, n, "") for name, n in why.most_common()]


def coverage_rows(table_, builders):
    rows = []
    for name, types in sorted(coverage(table_, builders).items(),
                              key=lambda kv: sum(kv[1].values())):
        shown = " ".join(f"{t}:{n}" for t, n in types.most_common())
        rows.append((name, sum(types.values()), "  " + shown))
    return rows


def report(args, records, builders):
    """Prints the tables; returns the exit status."""
    status = collections.Counter(r["status"] for r in records)
    total = max(len(records), 1)
    compiled = total - status["rejected"]
    ran = [r for r in records if r.get("variants")]
    other = sum(any(s != "fallback" for s in r["variants"]) for r in ran)

    def add(key):
        return sum(r.get(key, 0) for r in records)
    if args.coverage:
        table("operations drawn", coverage_rows(args.rows, builders))
    table("programs by scheduler", scheduler_rows(records))
    table("refusals", refusal_rows(records))
    table("fallback alone", fallback_rows(records))
    print(f"\nprograms: {len(records)}, compiled {compiled} "
          f"({100 * compiled / total:.1f} %), with a strategy other than "
          f"fallback {other} ({100 * other / total:.1f} %)")
    print(f"checks: {add('checks')}, of them {add('hollow')} with more than "
          f"1 % undecided; elements: {add('elements')}, undecided "
          f"{100 * add('undecided') / max(add('elements'), 1):.3f} %")
    bad = total - status["ok"] - status["rejected"]
    print("outcomes: " + ", ".join(f"{n} {k}" for k, n in
                                   status.most_common()))
    if bad:
        return 1
    enough = (compiled >= LEAST_COMPILED * total
              and other >= LEAST_SCHEDULED * total)
    return 0 if enough or total < 100 else 2


def keep(args, record, text):
    name = record["file"]
    print(f"{record['status']}: {name}: "
          + " | ".join(record["message"].strip().splitlines()[-3:]))
    sys.stdout.flush()
    if args.keep and record["status"] != "ok":
        (args.keep / f"{args.seed}-{name}.fusion").write_text(
            "".join(f"# {line}\n" for line in
                    record["message"].strip().splitlines()[-12:]) + text)


# --- all ---------------------------------------------------------------------

def draw_all(args):
    texts, builders = [], []
    for i in range(args.first, args.first + args.count):
        text, b = program(args.rows, args.seed, i)
        texts.append((b.name, text))
        builders.append(b)
    return texts, builders


def replayed(args):
    if not args.replay:
        return []
    found = sorted(args.replay.glob("*.fusion"))
    return [(p.stem, p.read_text()) for p in found]


def run_all(args, texts):
    tools = digest_of_tools(args)
    groups = [texts[i:i + args.group]
              for i in range(0, len(texts), args.group)]
    records, text_of = [], dict(texts)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = [pool.submit(cached_group, args, tools, g) for g in groups]
        for w in concurrent.futures.as_completed(waiting):
            for record in w.result():
                records.append(record)
                if record["status"] != "ok":
                    keep(args, record, text_of[record["file"]])
    return records


def parse_arguments():
    own, compiler = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, compiler = own[:at], own[at + 1:]
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--table", required=True, type=Path)
    ap.add_argument("--test", required=True, type=Path)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--count", type=int, default=100)
    ap.add_argument("--group", type=int, default=10, help="programs a library")
    ap.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    ap.add_argument("--timeout", type=float, default=1200, help="of a group")
    ap.add_argument("--cache", type=Path)
    ap.add_argument("--keep", type=Path)
    ap.add_argument("--replay", type=Path)
    ap.add_argument("--coverage", action="store_true")
    args = ap.parse_args(own)
    args.compiler = compiler
    return args


def main():
    args = parse_arguments()
    for folder in (args.cache, args.keep):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    args.rows = Table(args.table)
    begin = time.monotonic()
    texts, builders = draw_all(args)
    records = run_all(args, replayed(args) + texts)
    status = report(args, records, builders)
    print(f"{time.monotonic() - begin:.0f} s on {args.jobs} processes")
    sys.exit(status)


if __name__ == "__main__":
    main()
