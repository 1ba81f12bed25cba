#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw random programs.

    generate.py --table OP_TABLE [--seed S] [--first I] [--count N] --out DIR

Program I of seed S is always the same text. Operations come from the tables of
the compiler, through OP_TABLE; what has no kernel yet is left out, and an
operation that this file has no rule for is an error. Prints how often each
operation was drawn, and with how many types, as lines of JSON with --coverage.
"""

import argparse
import collections
import json
import random
from pathlib import Path

from builder import Builder
from profiles import draw
from table import Table


def program(table, seed, i):
    """The text of program i, and the builder that made it."""
    rng = random.Random(f"{seed}/{i}")
    b = Builder(rng, table, f"p{i}")
    draw(b)
    return b.text(), b


def coverage(table, builders):
    """{operation: {type: count}}, those with 0 included; casts are beside them."""
    seen = {op["name"]: collections.Counter() for op in table.drawn}
    for b in builders:
        for name, dtype in b.used_ops:
            seen.setdefault(name, collections.Counter())[dtype] += 1
    return seen


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--table", required=True, type=Path)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--count", type=int, default=10)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--coverage", action="store_true")
    args = ap.parse_args()
    table = Table(args.table)
    args.out.mkdir(parents=True, exist_ok=True)
    builders = []
    for i in range(args.first, args.first + args.count):
        text, b = program(table, args.seed, i)
        (args.out / f"{b.name}.fusion").write_text(text)
        builders.append(b)
    if args.coverage:
        print(json.dumps(coverage(table, builders), indent=1))


if __name__ == "__main__":
    main()
