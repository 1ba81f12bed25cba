#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every measured plan that comes with fusec is taken for the problem that it was
measured on: none is out of date.

    test_measured.py FUSEC TABLE

Prints TAP. The line before an entry of TABLE names its problem.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

import fusions
import problems

ENTRY = re.compile(r"^# ([\w-]+-\d+x\d+): .*\nentry \w+ (\w+) \{\n"
                   r"((?:  .*\n)*)\}$", re.MULTILINE)
BUFFER = re.compile(r"buffer \S+ \{")


def geometry(text):
    """The kernels of a plan without the names of buffers, which an entry has
    by number."""
    kernels = text[text.index("kernel 0"):]
    return re.findall(r"[\w;{}]+", BUFFER.sub("buffer {", kernels))


def first_variant(plan):
    return re.split(r"\n  variant 1\b", plan)[0].rstrip(" }\n")


def taken(fusec, key, device, entry):
    """None, or what is wrong."""
    problem = problems.parse(key)
    run = subprocess.run(
        [fusec, str(fusions.program(problem.fusion)), f"-DT={problem.dtype}",
         f"-DM={problem.m}", f"-DN={problem.n}", "--device", device,
         "--emit=plan", "-o", "-"],
        capture_output=True, text=True, check=False)
    if run.returncode:
        return run.stderr.strip()
    got = geometry(first_variant(run.stdout))
    want = geometry(entry.rstrip(" }\n"))
    return None if got == want else f"another plan: {' '.join(got)}"


def main(fusec, table):
    entries = ENTRY.findall(Path(table).read_text(encoding="utf-8"))
    print(f"1..{len(entries) + 1}")
    count = Path(table).read_text(encoding="utf-8").count("\nentry ")
    bad = count != len(entries) or not entries
    print(f"{'not ' * bad}ok 1 - {count} entries, {len(entries)} with a problem")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(taken, fusec, *e) for e in entries]
        for i, (w, e) in enumerate(zip(work, entries), 2):
            why = w.result()
            bad |= why is not None
            print(f"{'not ' * (why is not None)}ok {i} - {e[0]}")
            if why:
                print("# " + why.replace("\n", "\n# "))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
