#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the includes obey the order of the layers, and do the files obey the rules
that a compiler doesn't know?

    check_layers.py [FOLDER]

A file includes its own layer and those before it:

    support < device < ir < front < analysis < sched < schedulers < kernel
            < lower < codegen < backend < driver

grammar/ belongs to front and templates/ to codegen; tools/ may include every layer
but driver, tests/ all. Also checked, below src/ and schedulers/:

- a .c file includes "support/base.h" first; project headers are named by path;
- a header's guard is named after its path;
- memory, exit and locale belong to support and main.c;
- there is no 'case OP_' outside src/ir/op*.c: facts about operations are columns
  of the table.
"""

import os
import re
import sys

ORDER = ("support device ir front analysis sched schedulers kernel lower codegen "
         "backend driver").split()
ALIAS = {"grammar": "front", "templates": "codegen"}
# The one table of strategies, by which sched/ knows that they exist.
TABLE_OF_SCHEDULERS = ("sched", "schedulers/schedulers.def")
# Made by Bison in the build folder.
GENERATED = ("fusion.tab.h",)
BANNED = re.compile(
    r"(?<![\w.>])(malloc|calloc|realloc|free|strdup|strndup|exit|sprintf|"
    r"strcpy|strcat|strtok|atoi|atol|atof|setlocale|rand|gets)\s*\(")
SOURCE = (".c", ".h", ".def", ".l", ".y")


def layer_of(path):
    """The layer of a path below the project's root, or None."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        parts = parts[1:]
    layer = ALIAS.get(parts[0], parts[0])
    return layer if layer in ORDER and len(parts) > 1 else None


def without_comments(text):
    """The text with comments and strings blanked; line numbers are kept."""
    def blank(match):
        kept = re.sub(r"[^\n]", " ", match.group())
        return '"' + kept[1:-1] + '"' if match.group()[0] == '"' else kept
    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
        blank, text, flags=re.DOTALL)


def includes(text):
    for i, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if found:
            yield i, found.group(1)


def check_includes(path, text):
    own, top = layer_of(path), path.split("/")[0]
    for i, name in includes(text):
        if top == "tests" or (top == "tools" and "/" not in name):
            continue
        target = layer_of(name)
        if (own, name) == TABLE_OF_SCHEDULERS or name in GENERATED:
            continue
        if target is None:
            if path.startswith(("src/", "schedulers/")) and "/" not in name:
                yield i, f'"{name}" is not named by its path'
            continue
        if top == "tools" and target == "driver":
            yield i, f'tools may not include "{name}"'
        elif own is not None and ORDER.index(target) > ORDER.index(own):
            yield i, f'{own} may not include "{name}" of {target}, a later layer'


def check_first(path, text):
    """base.h comes first in every .c file of ours."""
    names = list(includes(text))
    if path.endswith(".c") and (
            not names or names[0][1] != "support/base.h"):
        yield 1, 'does not include "support/base.h" first'


def check_guard(path, text):
    if not path.endswith(".h"):
        return
    parts = [p for p in path.split("/") if p != "src"]
    want = "FUSEC_" + re.sub(r"[^A-Za-z0-9]", "_", "_".join(parts)).upper()
    if f"#ifndef {want}\n#define {want}\n" not in text:
        yield 1, f"has no guard {want}"


def check_words(path, text):
    free = path.startswith("src/support/") or path == "src/driver/main.c"
    for i, line in enumerate(without_comments(text).splitlines(), 1):
        found = BANNED.search(line)
        if found and not free:
            yield i, f"{found.group(1)} belongs to src/support"
        if re.search(r"\bcase\s+OP_[A-Z]", line) and not re.match(
                r"src/ir/op[^/]*\.c$", path):
            yield i, "a 'case' for an operation; make it a column of ops.def"


def check(path, text):
    yield from check_includes(path, text)
    if path.startswith(("src/", "schedulers/")):
        yield from check_first(path, text)
        yield from check_guard(path, text)
        yield from check_words(path, text)


def sources(root):
    for top in ("src", "grammar", "schedulers", "templates", "tools", "tests"):
        for base, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith(SOURCE):
                    yield os.path.relpath(os.path.join(base, name), root)


def main(argv):
    root = argv[1] if len(argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..")
    count = wrong = 0
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        count += 1
        for line, what in check(path, text):
            print(f"{path}:{line}: {what}")
            wrong += 1
    print(f"layers: {count} files, {wrong} faults")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
