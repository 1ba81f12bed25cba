#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every field case tested, or known to wait? Checks cases.tsv and the files.

    check_cases.py [FOLDER]
"""

import re
import sys
from pathlib import Path

NUMBERS = [
    1, 2, 3, 5, 6, 8, 10, 11, 12, 13, 14, 16, 17, 19, 20, 21, 22, 24, 25, 26,
    27, 28, 29, 30, 31, 32, 33, 34, 36, 37, 38, 40, 41, 42, 43, 44, 46, 48, 49,
    50, 51, 52, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 69, 70, 71,
    73, 74, 75, 77, 78, 79, 80, 82, 83, 84, 86, 87, 88, 89, 90, 92, 94, 95, 96,
    97, 98, 99, 101, 102, 103, 104, 105, 106, 107, 108]
STATUS = ("tested", "rule", "waits")
FIELDS = ("number", "status", "title", "files", "note")


def read_rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            values = line.split("\t")
            values += [""] * (len(FIELDS) - len(values))
            yield dict(zip(FIELDS, values))


def check_row(row, here, files):
    """What is wrong with a row."""
    number, status = row["number"], row["status"]
    mine = [p.name for p in files if p.name.startswith(f"case_{number:0>3}_")]
    away = row["files"].split()
    if status not in STATUS:
        yield f"status '{status}'"
    if not row["title"]:
        yield "no title"
    if status == "waits" and not row["note"]:
        yield "doesn't say what it waits for"
    if status != "waits" and not mine and not away:
        yield "no file"
    if status == "waits" and (mine or away):
        yield "waits, but there are files"
    for name in away:
        if not (here.parent / name).exists():
            yield f"no '{name}' in tests/"


def complaints(here):
    rows = list(read_rows(here / "cases.tsv"))
    files = [p for p in here.glob("case_*") if p.suffix in (".fusion", ".py")]
    numbers = [int(row["number"]) for row in rows]
    if numbers != NUMBERS:
        yield f"rows differ: {sorted(set(numbers) ^ set(NUMBERS))}"
    for row in rows:
        for what in check_row(row, here, files):
            yield f"case {row['number']}: {what}"
    for p in files:
        found = re.match(r"case_(\d{3})_[a-z0-9_]+$", p.stem)
        if not found or int(found[1]) not in NUMBERS:
            yield f"{p.name}: no such case"


def main():
    here = Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    here = here if here.is_dir() else here.resolve().parent
    wrong = list(complaints(here))
    for line in wrong:
        print(f"cases.tsv: {line}")
    rows = list(read_rows(here / "cases.tsv"))
    print(", ".join(f"{sum(r['status'] == s for r in rows)} {s}"
                    for s in STATUS))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
