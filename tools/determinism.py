#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same input gives the same bytes, wherever and under whatever locale.

    determinism.py [--fusec EXE] [--jobs N] PATH...

Compiles each .fusion file of PATH twice: in two folders whose names differ in
length, under the C locale and under one that writes 0,5 for 0.5, with other
environments, umasks and file times; then compares every file that came out. A
program that cannot be compiled is a failure.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

LOCALE = "de_DE.UTF-8"
# Where tools/setup.sh lays NVRTC when there is no CUDA Toolkit.
VENV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".venv")


def comma_locale(folder):
    """Compiles a locale with a decimal comma into FOLDER; its environment."""
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, LOCALE)],
        capture_output=True, check=False) if shutil.which("localedef") else None
    if made is None or not os.path.isdir(os.path.join(folder, LOCALE)):
        print(f"determinism: no {LOCALE} can be made here; C.UTF-8 stands in")
        return {"LC_ALL": "C.UTF-8"}
    return {"LC_ALL": LOCALE, "LOCPATH": folder}


def compile_in(exe, root, name, folder, extra, umask):
    """Compiles NAME in a copy of ROOT: (what went wrong, file -> bytes)."""
    shutil.copytree(root, os.path.join(folder, "in"))
    out = os.path.join(folder, "out")
    os.mkdir(out)
    base = os.path.splitext(os.path.basename(name))[0]
    env = {k: v for k, v in os.environ.items() if not k.startswith("LC_")}
    if os.path.isdir(VENV):
        env["VIRTUAL_ENV"] = os.path.realpath(VENV)
    env.update(extra)
    run = subprocess.run(
        [exe, name, "-o", f"../out/{base}.ptx"], cwd=os.path.join(folder, "in"),
        env=env, umask=umask, capture_output=True, check=False, timeout=300)
    if run.returncode != 0:
        text = run.stderr.decode("utf-8", "replace")
        return f"exit {run.returncode}\n{text}", {}
    files = {"(messages)": run.stdout + run.stderr}
    for written in sorted(os.listdir(out)):
        with open(os.path.join(out, written), "rb") as f:
            files[written] = f.read()
    return None, files


def check(exe, source, scratch, locale):
    """None when both compilations agree, else the reason."""
    root, source = source
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        error, a = compile_in(exe, root, source, os.path.join(folder, "a"),
                              {"LC_ALL": "C"}, 0o022)
        if error:
            return f"{source}: {error}"
        longer = os.path.join(folder, "another_folder" * 6)
        error, b = compile_in(exe, root, source, longer,
                              dict(locale, TZ="Asia/Tokyo", PAD="x" * 4001), 0o077)
        if error:
            return f"{source}, second run: {error}"
    names = sorted(set(a) | set(b))
    wrong = [n for n in names if a.get(n) != b.get(n)]
    if len(names) < 2:
        wrong.append("no output at all")
    return f"{source}: differs: {', '.join(wrong)}" if wrong else None


def holds_fusion(path):
    """Files without one are there to be imported."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return re.search(r"^\s*fusion\b", f.read(), re.MULTILINE)


def collect(paths):
    """(folder, program below it); imports are found inside the folder."""
    for path in paths:
        if not os.path.isdir(path):
            yield os.path.dirname(path) or ".", os.path.basename(path)
            continue
        for base, _, names in sorted(os.walk(path)):
            for n in sorted(names):
                full = os.path.join(base, n)
                if n.endswith(".fusion") and holds_fusion(full):
                    yield path, os.path.relpath(full, path)


def main(argv):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--fusec", default=os.environ.get("FUSEC", "build/fusec"))
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("paths", nargs="+", metavar="PATH")
    opt = p.parse_args(argv)
    exe, sources = os.path.abspath(opt.fusec), list(collect(opt.paths))
    with tempfile.TemporaryDirectory(prefix="determinism-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
        locale = comma_locale(scratch)
        results = list(pool.map(
            lambda s: check(exe, s, scratch, locale), sources))
    failures = [r for r in results if r is not None]
    for reason in failures:
        print(reason)
    print(f"determinism: {len(sources) - len(failures)} passed, "
          f"{len(failures)} failed")
    return 1 if failures or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
