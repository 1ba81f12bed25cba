#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random tables of reads, writes, asynchronous copies, atomics, waits and barriers:
does the emulation report one if and only if two accesses in it may meet?

    tables.py [--cxx COMPILER] [--seed N] [--tables N]

What may meet is worked out here from the table alone. An access is an interval of
barriers: a copy lasts from its issue to the wait for it, or for ever. Two of
different threads must have a barrier between; of one thread, none may stand inside
a copy. Reads may meet reads, atomics may meet atomics. Each table runs with the
threads in either order. Prints TAP; exit status 77 without a C++ compiler.
"""

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from cases import Buffer, Case
from emulate import Library

THREADS, STEPS, SLOTS = 64, 14, 6
(NOTHING, READ, WRITE, COPY, COMMIT, WAIT_ALL, WAIT_ALL_BUT_ONE, BARRIER,
 READ_WORD, WRITE_WORD, ADD) = range(11)
KINDS = ("shared-race", "global-race", "in-flight")
NEVER = 1000


def draw(rng):
    """{(thread, step): (what, where)} and the steps that are barriers."""
    barriers = {k for k in range(STEPS) if rng.random() < 0.35}
    free = [k for k in range(STEPS) if k not in barriers]
    todo = {}
    for _ in range(rng.randint(2, 9)):
        thread, slot = rng.randrange(THREADS), rng.randrange(SLOTS)
        what = rng.choice([READ, WRITE, COPY, COPY, READ_WORD, WRITE_WORD, ADD])
        steps = sorted(rng.sample(free, min(3, len(free))))
        if what == COPY and len(steps) == 3:
            wait = rng.choice([WAIT_ALL, WAIT_ALL, WAIT_ALL_BUT_ONE])
            for step, do in zip(steps, (COPY, COMMIT, wait)):
                todo[thread, step] = (do, slot)
        elif steps and what != COPY:
            todo[thread, steps[0]] = (what, slot)
    return todo, barriers


def accesses(todo, barriers):
    """(thread, place, what, first step, last step) of every access."""
    found, flying, groups = [], {}, {}
    for (thread, step), (what, where) in sorted(todo.items()):
        mine = flying.setdefault(thread, [])
        if what in (READ, WRITE, READ_WORD, WRITE_WORD, ADD):
            place = (what >= READ_WORD, where)
            found.append([thread, place, what, step, step])
        elif what == COPY:
            found.append([thread, (False, where), COPY, step, NEVER])
            mine.append((groups.get(thread, 0), found[-1]))
        elif what == COMMIT:
            groups[thread] = groups.get(thread, 0) + 1
        else:
            keep = groups.get(thread, 0) - (what == WAIT_ALL_BUT_ONE)
            for group, access in mine:
                if group < keep:
                    access[4] = step
            flying[thread] = [m for m in mine if m[0] >= keep]
    return found, sorted(barriers)


def may_meet(a, b, barriers):
    """Do two accesses of one place have nothing that orders them?"""
    first, second = sorted((a, b), key=lambda x: x[3])
    if first[0] == second[0]:
        return second[3] < first[4]
    return not any(first[4] < k < second[3] for k in barriers)


def is_wrong(todo, barriers):
    found, barriers = accesses(todo, barriers)
    harmless = ({READ}, {READ_WORD}, {ADD})
    for i, a in enumerate(found):
        for b in found[:i]:
            if a[1] == b[1] and {a[2], b[2]} not in harmless and \
                    may_meet(a, b, barriers):
                return True
    return False


def case_of(todo, barriers):
    """A case whose first argument is the table."""
    case = Case(Path("table.cu"), "table",
                {"grid": "1", "block": str(THREADS), "smem": str(4 * SLOTS)})
    row = [[todo.get((t, k), (BARRIER if k in barriers else NOTHING, 0))
            for k in range(STEPS)] for t in range(THREADS)]
    table = bytes(x for steps in row for pair in steps for x in pair)
    names = {"table": table}
    case.buffers = [
        Buffer(f"in todo u8[{len(table)}] = table[i]", names),
        Buffer(f"in from u32[{SLOTS}] = i", names),
        Buffer(f"word word u32[{SLOTS}] -> 0", names),
        Buffer(f"out sum u32[{THREADS}] = 0", names)]
    case.report = KINDS
    return case


def fault_of(library, todo, barriers):
    """None, or what is wrong about the report of a table."""
    wrong, case = is_wrong(todo, barriers), case_of(todo, barriers)
    for order in (0, 1):
        report = library.run(case, order)[0]
        if (report is not None and report[0] in KINDS) != wrong or \
                (report and not wrong):
            return f"{'wrong' if wrong else 'right'} table {todo} with " \
                   f"barriers {sorted(barriers)}: {report}"
    return None


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--cxx", default="g++")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--tables", type=int, default=1000)
    args = ap.parse_args()
    if not shutil.which(args.cxx):
        return 77
    rng = random.Random(args.seed)
    faults, wrong = [], 0
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        library = Library(args.cxx, Path(__file__).parent / "tables/table.cu",
                          Path(folder))
        for _ in range(args.tables):
            todo, barriers = draw(rng)
            wrong += is_wrong(todo, barriers)
            fault = fault_of(library, todo, barriers)
            if fault:
                faults.append(fault)
    for fault in faults[:5]:
        print(f"# {fault}")
    print(f"{'not ok' if faults else 'ok'} 1 - {args.tables} tables judged")
    mixed = args.tables < 4 * wrong < 3 * args.tables
    print(f"{'ok' if mixed else 'not ok'} 2 - {wrong} of them are wrong\n1..2")
    return 1 if faults or not mixed else 0


if __name__ == "__main__":
    sys.exit(main())
