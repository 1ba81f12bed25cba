#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the line and branch coverage of the compiler, from a gcov build.

    coverage.py BUILD [--missing] [--least PERCENT]

Counts every line of src, schedulers and grammar that holds code, by folder; what
several objects hold counts once. A line that only aborts (BUG) is no line to
cover: no input reaches it. --missing prints the others that nothing ran. Exit
status 1 when fewer than PERCENT of all lines ran.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("src/", "schedulers/", "grammar/")
BATCH = 40


def data_files(build):
    for folder, _, names in os.walk(build):
        yield from (os.path.join(folder, n) for n in names if n.endswith(".gcda"))


def read_gcov(build):
    """The files of every object, as gcov tells them."""
    found = sorted(os.path.abspath(p) for p in data_files(build))
    for first in range(0, len(found), BATCH):
        run = subprocess.run(["gcov", "--json-format", "--stdout", "-b",
                              *found[first : first + BATCH]], cwd=build,
                             capture_output=True, check=True)
        for line in run.stdout.splitlines():
            if line.startswith(b"{"):
                unit = json.loads(line)
                for file in unit["files"]:
                    yield unit["current_working_directory"], file


def source_name(folder, name):
    path = os.path.relpath(os.path.normpath(os.path.join(folder, name)), ROOT)
    return path if path.startswith(FOLDERS) else None


class Source:
    def __init__(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            self.text = f.read().splitlines()
        self.lines = {}     # number: times
        self.branches = {}  # (line, index): times

    def aborts(self, number):
        text = self.text[number - 1] if number <= len(self.text) else ""
        return re.match(r"\s*(BUG\(|out_of_memory\(\);|abort\(\);|default:$)", text)

    def add(self, lines):
        for line in lines:
            number = line["line_number"]
            if self.aborts(number):
                continue
            self.lines[number] = self.lines.get(number, 0) + line["count"]
            for i, branch in enumerate(line["branches"]):
                key = (number, i)
                self.branches[key] = self.branches.get(key, 0) + branch["count"]


def collect(build):
    sources = {}
    for folder, file in read_gcov(build):
        path = source_name(folder, file["file"])
        if not path or not os.path.isfile(os.path.join(ROOT, path)):
            continue
        if path not in sources:
            sources[path] = Source(path)
        sources[path].add(file["lines"])
    return sources


def share(counts):
    ran = sum(1 for n in counts if n)
    return ran, len(counts), 100.0 * ran / max(1, len(counts))


def row(name, sources):
    lines = [n for s in sources for n in s.lines.values()]
    branches = [n for s in sources for n in s.branches.values()]
    ran, all_lines, percent = share(lines)
    _, all_branches, taken = share(branches)
    print(f"{name:<14} {ran:>7} {all_lines:>7} {percent:>7.1f} % "
          f"{all_branches:>9} {taken:>7.1f} %")
    return percent


def print_missing(sources):
    for path in sorted(sources):
        source = sources[path]
        for number in sorted(source.lines):
            if source.lines[number] == 0:
                print(f"{path}:{number}: {source.text[number - 1].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--least", type=float, default=0.0)
    args = parser.parse_args()
    sources = collect(os.path.abspath(args.build))
    if not sources:
        sys.exit("coverage.py: no .gcda file; run the tests first")
    if args.missing:
        print_missing(sources)
    folders = {}
    for path, source in sources.items():
        folders.setdefault(os.path.dirname(path), []).append(source)
    print(f"{'folder':<14} {'ran':>7} {'lines':>7} {'':>9} {'branches':>9} {'taken':>9}")
    for folder in sorted(folders):
        row(folder, folders[folder])
    percent = row("all", sources.values())
    return 1 if percent < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
