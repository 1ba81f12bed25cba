#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the first plan of every program taken, on every device?

    first_try.py [--fusec EXE] [--jobs N] [--type T]... PATH...

Compiles each .fusion file of PATH to PTX for every device row (and, where the
file has a type T, for each --type), and fails where a plan was rejected for
using local memory, where one is left that does, or where the compiler refuses.
Exit status 77 when there is no NVRTC.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile


def sources(paths):
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(glob.glob(os.path.join(path, "*.fusion")))
        else:
            yield path


def cases(opt):
    listed = subprocess.run([opt.fusec, "--list-devices"], capture_output=True,
                            text=True, check=True).stdout
    devices = [line.split()[0] for line in listed.splitlines()[1:]]
    for path in sources(opt.path):
        with open(path, encoding="utf-8") as f:
            typed = re.search(r"^type T =", f.read(), re.MULTILINE)
        for device in devices:
            for t in (opt.type if typed else None) or [None]:
                yield path, device, t


def fault(opt, case):
    """None, or what went wrong."""
    path, device, t = case
    with tempfile.TemporaryDirectory(prefix="first-try-") as folder:
        argv = [opt.fusec, path, "-o", os.path.join(folder, "out.ptx"),
                f"--device={device}"] + ([f"-DT={t}"] if t else [])
        run = subprocess.run(argv, capture_output=True, text=True, check=False)
    bad = run.returncode != 0 or re.search(
        r"\[plan-(rejected|local-memory)\]", run.stderr)
    name = f"{os.path.basename(path)} on {device}{' as ' + t if t else ''}"
    return f"{name}: exit {run.returncode}\n{run.stderr}" if bad else None


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec", default=os.path.join(here, "../build/fusec"))
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--type", action="append")
    ap.add_argument("path", nargs="+")
    opt = ap.parse_args()
    found = subprocess.run([opt.fusec, "--print-nvrtc"], capture_output=True,
                           text=True, check=False)
    if found.returncode != 0:
        print(found.stderr, end="")
        return 77
    todo = list(cases(opt))
    with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        bad = [f for f in pool.map(lambda c: fault(opt, c), todo) if f]
    for text in bad:
        print(text, end="")
    print(f"first try: {len(todo)} compiled, {len(bad)} faults")
    return 1 if bad or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
