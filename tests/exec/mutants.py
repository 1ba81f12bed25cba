#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated kernels with one barrier or one wait taken out.

    mutants.py FUSEC FUSEC_RUN EXAMPLES

The emulation must report the mutant, or its results must be wrong; a barrier
whose absence does neither is one too many (the first of a kernel's scratch). Prints
those; fails when one is a wait for the launch before, or when they are more than a
third.
Exit status 77 without a C++ compiler.
"""

import argparse
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = (("layernorm_bwd", "N=264", "M=37"),
            ("column_sum", "N=264", "M=300"),
            ("rmsnorm_fwd", "N=5000", "M=3"))
MEETING = re.compile(r"^ *(fu_barrier\(\);|fu_group_barrier\([^;]*\);|"
                     r"fu_row_barrier<[^;]*\);|fu_warp_barrier\(\);|fu_pdl_wait\(\);)", re.M)
SPLIT = '#include "fu_emulate.h"'


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def run_mutant(args, folder, text, shape):
    """Is it found out?"""
    os.mkdir(folder)
    manifest = read(os.path.join(os.path.dirname(folder), "m.json"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    write(os.path.join(folder, "m.cu"), text)
    write(os.path.join(folder, "m.json"),
          re.sub(r'("cuda_sha256": ")[0-9a-f]+', r"\g<1>" + digest, manifest))
    r = subprocess.run(
        [args.runner, os.path.join(folder, "m.json"), "--emulate", "--check",
         "--shape", shape, "--cxx", args.cxx, "--no-cache"],
        capture_output=True, text=True)
    if r.returncode not in (0, 1):
        sys.exit(f"mutants.py: {r.stderr}")
    return r.returncode == 1


def mutants_of(args, program, tmp):
    """[(line, what, found out)]"""
    name, binding, shape = program
    folder = os.path.join(tmp, name)
    os.mkdir(folder)
    cu = os.path.join(folder, "m.cu")
    subprocess.run([args.fusec, "-D", binding, "--emit=cu,json", "-o", cu,
                    os.path.join(args.examples, name + ".fusion")], check=True)
    text = read(cu)
    start = text.index(SPLIT)
    spots = [m for m in MEETING.finditer(text) if m.start() > start]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda i: run_mutant(args, os.path.join(folder, str(i)),
                                 text[:spots[i].start(1)] +
                                 text[spots[i].end(1):], shape),
            range(len(spots)))
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1), f)
            for m, f in zip(spots, found)]


def main():
    ap = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("fusec")
    ap.add_argument("runner")
    ap.add_argument("examples")
    args = ap.parse_args()
    args.cxx = next(filter(shutil.which, ("g++", "clang++")), None)
    if not args.cxx:
        print("mutants.py: no C++ compiler")
        return 77
    total = missed = waits = 0
    with tempfile.TemporaryDirectory() as tmp:
        for program in PROGRAMS:
            for line, what, found in mutants_of(args, program, tmp):
                total += 1
                if not found:
                    missed += 1
                    waits += "pdl" in what
                    print(f"{program[0]}:{line}: {what} isn't missed")
    print(f"{total} mutants, {total - missed} found out")
    return 1 if not total or waits or 3 * missed > total else 0


if __name__ == "__main__":
    sys.exit(main())
