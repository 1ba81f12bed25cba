#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind of report that the emulation knows has a planted bug.

    check_kinds.py FU_EMULATE_API_H FOLDER...

FOLDER holds .cu files with `// REPORT KIND` or `report=KIND|KIND`.
"""

import argparse
import re
import sys
from pathlib import Path


def kinds(header):
    text = header.read_text(encoding="utf-8").replace("\\\n", " ")
    table = text.split("#define FU_EMU_KINDS(X)")[1].split("#define")[0]
    return set(re.findall(r'X\(\w+,\s*"([^"]+)"', table)) - {"ok"}


def planted(folder):
    for file in sorted(folder.glob("*.cu")):
        text = file.read_text(encoding="utf-8")
        for found in re.findall(r"^// REPORT (\S+)|\breport=(\S+)", text, re.M):
            yield from "".join(found).split("|")


def main():
    ap = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("header", type=Path)
    ap.add_argument("folders", type=Path, nargs="+")
    args = ap.parse_args()
    known = kinds(args.header)
    seen = {k for folder in args.folders for k in planted(folder)}
    for kind in sorted(known - seen):
        print(f"{kind}: nothing is planted that gives this report")
    for kind in sorted(seen - known):
        print(f"{kind}: is planted, but there is no such report")
    print(f"{len(known & seen)} of {len(known)} kinds are planted")
    return 0 if known == seen else 1


if __name__ == "__main__":
    sys.exit(main())
