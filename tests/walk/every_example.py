#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No kernel of an example uses local memory, on any device, in any type.

    every_example.py [--fusec EXE] [--jobs N] [--type T]... PATH...

Writes each .fusion file of PATH as CUDA for every device row and, where the file
has a type T, for each --type (f32, bf16 and f16), gives the kernels to NVRTC for
the row's architecture, each once, and fails where one has a stack frame or spills,
where one has no report, and where the compiler refuses. What is looked at is the
first plan: one that fusec would have to give up for its local memory is a fault.
Exit status 77 when there is no NVRTC.
"""

import argparse
import os
import re
import subprocess
import sys

import kernels

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "tools"))
from programs import sources  # noqa: E402 pylint: disable=C0413


def cases(opt, rows):
    for path in sources(opt.path):
        with open(path, encoding="utf-8") as f:
            typed = re.search(r"^type T =", f.read(), re.MULTILINE)
        for device in rows:
            for t in opt.type if typed else [None]:
                yield path, device, t


def text_of(opt, path, device, t):
    """(CUDA text or None, messages)."""
    argv = [opt.fusec, path, "--emit=cu", "-o", "-", f"--device={device}"]
    run = subprocess.run(argv + ([f"-DT={t}"] if t else []),
                         capture_output=True, text=True, check=False)
    return (None if run.returncode else run.stdout), run.stderr


def look(opt, rows, pool):
    """(cases, what is wrong)."""
    waiting, bad = [], []
    for path, device, t in cases(opt, rows):
        name = f"{os.path.basename(path)} on {device}{' as ' + t if t else ''}"
        text, said = text_of(opt, path, device, t)
        added = text and pool.add(rows[device]["arch"], text)
        waiting.append((name, said, added))
    for name, said, added in waiting:
        found = (kernels.faults(*pool.reports(added)) if added
                 else [f"fusec refused it:\n{said}"])
        bad += [f"{name}: {f}" for f in found]
    return len(waiting), bad


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n", maxsplit=1)[0])
    ap.add_argument("--fusec",
                    default=os.path.join(here, "../../build/fusec"))
    ap.add_argument("--jobs", type=int, default=kernels.cores())
    ap.add_argument("--type", action="append")
    ap.add_argument("path", nargs="+")
    opt = ap.parse_args()
    opt.type = opt.type or ["f32", "bf16", "f16"]
    library = kernels.find_nvrtc(opt.fusec)
    if not library:
        return 77
    pool = kernels.Kernels(library, opt.jobs)
    try:
        n, bad = look(opt, kernels.devices(opt.fusec), pool)
    finally:
        pool.close()
    for text in bad:
        print(text)
    print(f"every example: {n} programs, {pool.asked} kernels, "
          f"{pool.compiled} compiled, {len(bad)} faults")
    return 1 if bad or not n else 0


if __name__ == "__main__":
    sys.exit(main())
