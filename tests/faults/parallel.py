#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many compilations at once in one folder: of different programs to different
outputs, of one program to one output, and of different programs to one output.

In the end every output is whole. Where several wrote the same names, each file
is whole, and a manifest beside the code of another run is refused.
"""

import concurrent.futures
import hashlib
import json
import sys

import faults
from faults import check, expect, own_nvrtc, snapshot


def source(i):
    return faults.SOURCE.replace("+ 1.0", f"+ {i}.5")


def compile_all(at, folder, jobs):
    """Runs (input, output) pairs."""
    def one(job):
        return faults.run([at.fusec, job[0], "-MD", "-o", job[1]], folder,
                          env=own_nvrtc(at))
    with concurrent.futures.ThreadPoolExecutor(at.jobs) as pool:
        for r in pool.map(one, jobs):
            expect(r, (0,))


def names(base):
    return [base + s for s in (".cu", ".d", ".json", ".ptx")]


def test_different(at):
    """different programs to different outputs"""
    with faults.new_folder() as folder:
        n = at.runs
        for i in range(n):
            faults.write(folder, f"in{i}.fusion", source(i))
        compile_all(at, folder, [(f"in{i}.fusion", f"out{i}.ptx")
                                 for i in range(n)])
        got = snapshot(folder)
        check(len(got) == 1 + 5 * n, f"{len(got)} files of {n} runs")
        for i in range(n):
            text = got[f"out{i}.cu"]
            digest = hashlib.sha256(text).hexdigest()
            tree = json.loads(got[f"out{i}.json"])
            check(tree["cuda_sha256"] == digest, f"out{i}.json is another's")
            check(f"({i}.5)" in tree["program"], f"out{i} is another program")


def test_same(at):
    """one program to one output"""
    with faults.new_folder() as folder:
        expect(faults.run([at.fusec, "in.fusion", "-MD", "-o", "out.ptx"], folder,
                          env=own_nvrtc(at)), (0,))
        wanted = snapshot(folder)
        compile_all(at, folder, [("in.fusion", "out.ptx")] * at.runs)
        check(snapshot(folder) == wanted, "other files, or other bytes")


def test_mixed(at):
    """different programs to one output"""
    with faults.new_folder() as folder:
        whole = {n: set() for n in names("out")}
        for i in range(4):
            faults.write(folder, f"in{i}.fusion", source(i))
            compile_all(at, folder, [(f"in{i}.fusion", "out.ptx")])
            for n in names("out"):
                whole[n].add(snapshot(folder)[n])
        compile_all(at, folder, [(f"in{i % 4}.fusion", "out.ptx")
                                 for i in range(at.runs)])
        got = snapshot(folder)
        check(len(got) == 9, f"files were left: {sorted(got)}")
        for n in names("out"):
            check(got[n] in whole[n], f"{n} is no run's")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [test_different, test_same, test_mixed],
                         [("runs", 60, "compilations of each test"),
                          ("jobs", 8, "at a time")]))
