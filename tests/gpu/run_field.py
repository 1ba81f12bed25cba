#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the field cases that are too large for the emulation.

    run_field.py compile --fusec EXE --dir DIR [--text]
    run_field.py check --run fusec-run --dir DIR [--emulate] [--logs DIR]

`compile` makes DIR from tests/field/gpu.tsv, on a machine with NVRTC (with --text
without: then only --emulate can run them); `check` runs every program of DIR at
every size of the list, by fusec-run --check, on a machine that may have nothing
but a GPU. Exit status 1 when anything is wrong, 77 when nothing could run.

A row names a file, a fusion of it (- where there is one), arguments of fusec, and
arguments of fusec-run. {a,b,c} in the arguments stands for each of a, b, c: the
row is run with all combinations.
"""

import argparse
import concurrent.futures
import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

FIELD = Path(__file__).resolve().parent.parent / "field"


def expand(text):
    """All texts that TEXT with its {a,b} stands for."""
    parts = re.split(r"\{([^{}]*)\}", text)
    choices = [p.split(",") if i % 2 else [p] for i, p in enumerate(parts)]
    return ["".join(c) for c in itertools.product(*choices)]


def read_list(path):
    """(file, fusion, arguments of fusec, arguments of fusec-run) of each run."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 4:
            sys.exit(f"{path}:{number}: {len(columns)} columns, not 4")
        name, fusion, first, second = columns
        for a, b in itertools.product(expand(first), expand(second)):
            yield name, fusion, a, b


def build(fusec, target, source, words, text):
    if not source.exists():
        return f"no file '{source}'"
    argv = [fusec, *words]
    argv += ["--emit=cu,json", "-o", f"{target}.json"] if text else [
        "-o", f"{target}.ptx"]
    r = subprocess.run([*argv, str(source)], capture_output=True, text=True,
                       check=False)
    return r.stderr if r.returncode else None


def compile_all(args):
    args.dir.mkdir(parents=True, exist_ok=True)
    made, lines, failed = {}, [], 0
    for name, fusion, first, second in read_list(args.list):
        key = (name, first)
        if key not in made:
            made[key] = f"{name}.{len(made)}"
            why = build(args.fusec, args.dir / made[key],
                        FIELD / f"{name}.fusion", shlex.split(first), args.text)
            if why:
                failed += 1
                print(f"FAILED {name} {first}\n{why}")
        lines.append(f"{made[key]}\t{fusion}\t{second}\n")
    (args.dir / "runs.tsv").write_text("".join(lines))
    print(f"field: {len(made) - failed} programs for {len(lines)} runs, "
          f"{failed} failed")
    return failed, len(made)


def command(args, name, fusion, words):
    argv = [str(args.run), str(args.dir / f"{name}.json"), "--check",
            "--threads", str(args.threads), *shlex.split(words)]
    if fusion != "-":
        argv += ["--fusion", fusion]
    argv += ["--emulate"] if args.emulate else []
    return shlex.split(args.before) + argv


def run_one(argv, timeout):
    try:
        r = subprocess.run(argv, capture_output=True, text=True,
                           timeout=timeout, check=False)
        return r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired:
        return "timeout", ""


def check_all(args):
    rows = [line.split("\t") for line in
            (args.dir / "runs.tsv").read_text().splitlines()]
    rows = [r for r in rows if re.search(args.only, "\t".join(r))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = [pool.submit(run_one, command(args, *r), args.timeout)
                   for r in rows]
        for row, w in zip(rows, waiting):
            status, text = w.result()
            label = " ".join(row)
            if args.logs:
                log = re.sub(r"[^A-Za-z0-9_.=-]+", "_", label) + ".log"
                (args.logs / log).write_text(text)
            failed += status != 0
            if status != 0 or args.verbose:
                print(f"{'FAILED' if status else 'ok    '} {label}")
            if status != 0:
                print(f"       exit {status}")
                for line in text.strip().splitlines()[-args.lines:]:
                    print("       " + line)
            sys.stdout.flush()
    print(f"field: {len(rows) - failed} passed, {failed} failed")
    return failed, len(rows)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("mode", choices=["compile", "check"])
    ap.add_argument("--dir", required=True, type=Path)
    ap.add_argument("--list", type=Path, default=FIELD / "gpu.tsv")
    ap.add_argument("--fusec", help="for compile")
    ap.add_argument("--text", action="store_true", help="no PTX")
    ap.add_argument("--run", type=Path, help="fusec-run, for check")
    ap.add_argument("--only", default="", help="runs that match this")
    ap.add_argument("--logs", type=Path)
    ap.add_argument("--before", default="", help="what to put before the run, "
                    "as 'compute-sanitizer --error-exitcode 9'")
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
    work = compile_all if args.mode == "compile" else check_all
    failed, ran = work(args)
    sys.exit(1 if failed else 0 if ran else 77)


if __name__ == "__main__":
    main()
