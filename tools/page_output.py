#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output that a page shows is what its commands print.

    page_output.py docs/persistent-buffers.md --fusec build/fusec [--update]

In each ```console block of the page a line that starts with "$ " is a command
for sh, and the lines up to the next one are what it prints. The commands run in
an empty folder that has the project's examples/ and tools/, with fusec on PATH.
Without --update, what differs is shown and the status is 1.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command, fusec, folder):
    path = os.path.dirname(os.path.abspath(fusec)) + os.pathsep + \
        os.environ.get("PATH", "")
    done = subprocess.run(["sh", "-c", command], cwd=folder, check=False,
                          stdout=subprocess.PIPE, encoding="utf-8",
                          env=dict(os.environ, PATH=path, LC_ALL="C"))
    return [line.rstrip() for line in done.stdout.splitlines()]


def renew(lines, fusec, folder):
    """The page with the output of today; how many commands it has."""
    out, count, inside, skipping = [], 0, False, False
    for line in lines:
        if line.startswith("```"):
            inside, skipping = line == "```console", False
        if inside and line.startswith("$ "):
            count, skipping = count + 1, True
            out += [line] + run(line[2:], fusec, folder)
        elif not skipping:
            out.append(line)
    return out, count


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("page")
    p.add_argument("--fusec", default="build/fusec", metavar="PATH")
    p.add_argument("--update", action="store_true",
                   help="write what the commands print into the page")
    args = p.parse_args()
    with open(args.page, encoding="utf-8") as f:
        old = f.read().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "tools"):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        new, count = renew(old, args.fusec, folder)
    if args.update:
        with open(args.page, "w", encoding="utf-8", newline="\n") as f:
            f.write("\n".join(new) + "\n")
        return 0
    for line in difflib.unified_diff(old, new, args.page, "today",
                                     lineterm="", n=1):
        print(line)
    print(f"page: {count} commands, {'as' if old == new else 'not as'} shown")
    if old != new:
        print(f"tools/page_output.py {os.path.relpath(args.page)} --update")
    return 0 if old == new and count else 1


if __name__ == "__main__":
    sys.exit(main())
