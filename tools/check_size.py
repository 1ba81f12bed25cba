#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long are the functions and the files?

    check_size.py [--list] [FOLDER]

Prints lines and function lengths of each folder and fails above the limits: no
function over 80 lines or with more than 6 parameters, half of them at most 15
lines and nine in ten at most 40, no file over 800 lines. A function is a block
whose braces stand in the first column; its length is the number of lines between
them. --list prints the twenty longest functions.
"""

import os
import re
import sys

MAX_LINES, MAX_PARAMETERS, MAX_FILE = 80, 6, 800
MAX_MEDIAN, MAX_P90 = 15, 40
FOLDERS = ("src", "grammar", "schedulers", "templates", "tools", "tests")
SOURCE = (".c", ".h", ".cuh", ".cpp", ".l", ".y", ".py", ".sh", ".fusion")


def parameters(head):
    """Number of parameters of 'name(int a, void (*f)(int, int))'."""
    inside = head[head.find("(") + 1 : head.rfind(")")]
    depth, count = 0, 1
    for c in inside:
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 0
    return 0 if inside.strip() in ("", "void") else count


def functions(lines):
    """(line, name, length, parameters) of each function of a C file."""
    start = None
    for i, line in enumerate(lines):
        if line.rstrip() == "{":
            start = i
        elif line.startswith("}") and start is not None:
            head = start - 1
            while head > 0 and re.match(r"[\s)]", lines[head]):
                head -= 1
            text = " ".join(lines[head:start])
            name = re.search(r"(\w+)\s*\(", text)
            if name:
                yield head + 1, name.group(1), i - start - 1, parameters(text)
            start = None


def percentile(values, p):
    """The smallest value that at least p percent of VALUES don't exceed."""
    values = sorted(values)
    return values[max(0, -(-len(values) * p // 100) - 1)] if values else 0


def files(root):
    for top in FOLDERS:
        for base, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(SOURCE):
                    path = os.path.join(base, name)
                    with open(path, encoding="utf-8", errors="replace") as f:
                        yield os.path.relpath(path, root), f.read().split("\n")[:-1]


def group_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def measure(root):
    """Lines and functions by folder, and what breaks a limit in one place."""
    lines_of, functions_of, faults = {}, {}, []
    for path, lines in files(root):
        group = group_of(path)
        lines_of[group] = lines_of.get(group, 0) + len(lines)
        if len(lines) > MAX_FILE and not path.endswith(".fusion"):
            faults.append(f"{path}: {len(lines)} lines (at most {MAX_FILE})")
        if not path.endswith((".c", ".h", ".y", ".l")):
            continue
        for line, name, length, count in functions(lines):
            place = f"{path}:{line}: {name}"
            functions_of.setdefault(group, []).append((length, place))
            if length > MAX_LINES:
                faults.append(f"{place}: {length} lines (at most {MAX_LINES})")
            if count > MAX_PARAMETERS:
                faults.append(
                    f"{place}: {count} parameters (at most {MAX_PARAMETERS})")
    return lines_of, functions_of, faults


def row(name, lines, lengths):
    print(f"{name:16}{lines:7}{len(lengths):11}{percentile(lengths, 50):8}"
          f"{percentile(lengths, 90):5}{percentile(lengths, 99):5}"
          f"{max(lengths, default=0):5}")


def report(lines_of, functions_of):
    """Prints the table; returns what breaks a limit of the whole."""
    print(f"{'folder':16}{'lines':>7}{'functions':>11}{'median':>8}"
          f"{'p90':>5}{'p99':>5}{'max':>5}")
    ours, total = [], 0
    for group in sorted(lines_of):
        lengths = [n for n, _ in functions_of.get(group, [])]
        row(group, lines_of[group], lengths)
        if group != "tests":
            ours += lengths
            total += lines_of[group]
    row("without tests", total, ours)
    faults = []
    for p, limit in ((50, MAX_MEDIAN), (90, MAX_P90)):
        if percentile(ours, p) > limit:
            faults.append(f"{p} % of the functions: {percentile(ours, p)} lines "
                          f"(at most {limit})")
    return faults


def main(argv):
    listing = "--list" in argv
    roots = [a for a in argv[1:] if a != "--list"]
    root = roots[0] if roots else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..")
    lines_of, functions_of, faults = measure(root)
    faults += report(lines_of, functions_of)
    if listing:
        every = sorted(sum(functions_of.values(), []), reverse=True)
        for length, place in every[:20]:
            print(f"{length:5}  {place}")
    for fault in faults:
        print(fault)
    return 1 if faults or not functions_of else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
