#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fusec-run --emulate as its user meets it: the cache, --sms, and reports.

    emulate_cli.py FUSEC FUSEC_RUN EXAMPLES

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

WRAPPER = """#!/bin/sh
echo x >>"{log}"
exec {cxx} "$@"
"""


class Bench:
    """One compiled example, and a compiler that counts its calls."""

    def __init__(self, args, cxx, folder):
        self.args, self.folder = args, folder
        self.failed = 0
        self.log = os.path.join(folder, "calls")
        self.cxx = os.path.join(folder, "c++")
        with open(self.cxx, "w", encoding="ascii") as f:
            f.write(WRAPPER.format(log=self.log, cxx=cxx))
        os.chmod(self.cxx, 0o755)
        self.cu = os.path.join(folder, "softmax.cu")
        subprocess.run(
            [args.fusec, "-D", "N=264", "-D", "T=f32", "--emit=cu,json", "-o",
             self.cu, os.path.join(args.examples, "softmax_fwd.fusion")],
            check=True)

    def run(self, *words, **env):
        env = dict(os.environ, XDG_CACHE_HOME=self.folder + "/xdg", **env)
        r = subprocess.run(
            [self.args.runner, self.cu[:-2] + "json", "--emulate", "--shape",
             "M=3", "--cxx", self.cxx, *words],
            capture_output=True, text=True, env=env)
        return r.returncode, r.stdout, r.stderr

    def calls(self):
        if not os.path.exists(self.log):
            return 0
        return os.path.getsize(self.log) // 2

    def expect(self, what, ok, *seen):
        self.failed += not ok
        print("ok" if ok else "FAILED", what, *([] if ok else seen))

    def replace(self, old, new):
        """Other CUDA text, and the manifest that belongs to it."""
        with open(self.cu, encoding="utf-8") as f:
            text = f.read()
        head, kernels = text.split('#include "fu_emulate.h"')
        assert old in kernels
        text = head + '#include "fu_emulate.h"' + kernels.replace(old, new, 1)
        with open(self.cu, "w", encoding="utf-8") as f:
            f.write(text)
        path = self.cu[:-2] + "json"
        with open(path, encoding="utf-8") as f:
            manifest = f.read()
        digest = hashlib.sha256(text.encode()).hexdigest()
        manifest = re.sub(r'("cuda_sha256": ")[0-9a-f]+', r"\g<1>" + digest,
                          manifest)
        with open(path, "w", encoding="utf-8") as f:
            f.write(manifest)
        return next(i for i, line in enumerate(text.split("\n"), 1)
                    if new in line)


def cache(b):
    status, out, err = b.run("--check")
    b.expect("compiles once", status == 0 and b.calls() == 1, out, err)
    b.expect("says what was checked", re.search(
        r"^  emulated 1 kernel: \d+ launches, \d+ blocks, \d+ threads; \d+ "
        r"bytes of global and \d+ of shared memory checked, nothing to "
        r"report$", out, re.M), out)
    b.expect("keeps it for the user",
             len(os.listdir(b.folder + "/xdg/fusec")) == 1)
    status, out, err = b.run("--check")
    b.expect("and finds it again", status == 0 and b.calls() == 1, out, err)
    b.run("--no-cache")
    b.expect("--no-cache compiles anew", b.calls() == 2)
    own = b.folder + "/own"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: b.run("--cache", own), range(4)))
    b.expect("four at once into --cache DIR", all(d[0] == 0 for d in done),
             done)
    b.expect("and one library is there, whole", len(os.listdir(own)) == 1,
             os.listdir(own))
    kept = os.path.join(own, os.listdir(own)[0])
    with open(kept, "wb") as f:
        f.write(b"no library")
    before = b.calls()
    status, out, err = b.run("--cache", own)
    b.expect("what can't be loaded is made again",
             status == 0 and b.calls() == before + 1, out, err)
    status, out, err = b.run("--cache", b.cu)
    b.expect("a cache that is no folder is none", status == 0, out, err)


def launched(out):
    """(launches, blocks)"""
    return tuple(map(int, re.search(r"(\d+) launches, (\d+) blocks",
                                    out).groups()))


def sms(b):
    """A grid of one block more for each SM: they find no row left."""
    path = b.cu[:-2] + "json"
    with open(path, encoding="utf-8") as f:
        manifest = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(manifest.replace('"min((M + 7) / 8, ', '"min((M + 7) / 8 + sms, '))
    status, out, err = b.run("--sms", "7")
    b.expect("--sms 7 decides the grid",
             status == 0 and launched(out) == (2, 2 * 8), out, err)
    status, out, err = b.run("--check")
    b.expect("without it there are two devices",
             status == 0 and "\n 5 SMs:\n" in out and
             launched(out) == (4, 3 * 3 + 6), out, err)
    b.expect("--sms 0 is refused", b.run("--sms", "0")[0] == 2)
    with open(path, "w", encoding="utf-8") as f:
        f.write(manifest)


def reports(b):
    line = b.replace("fu_vstore<4>(", "fu_vstore<4>(/*!*/1024 + ")
    status, out, err = b.run("--check")
    b.expect("a wrong result", status == 1, status, out, err)
    b.expect("with the line", re.search(
        rf"^fusec-run: softmax.cu:{line}: (out-of-bounds|misaligned): ", err,
        re.M), err)
    status, out, err = b.run("--check", PATH="/nonexistent")
    b.expect("or without, where addr2line is missing",
             status == 1 and err.startswith("fusec-run: line unknown: "), err)


def main():
    ap = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("fusec")
    ap.add_argument("runner")
    ap.add_argument("examples")
    args = ap.parse_args()
    cxx = next(filter(shutil.which, ("g++", "clang++")), None)
    if not cxx:
        print("emulate_cli.py: no C++ compiler")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(args, cxx, folder)
        cache(b)
        sms(b)
        reports(b)
    return 1 if b.failed else 0


if __name__ == "__main__":
    sys.exit(main())
