#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One line for all that meson ran.

    test_summary.py TESTLOG.json...

Reads meson's test logs and prints 'N passed, N failed' (', N skipped' where that
happened) over all of them. A test that speaks TAP counts each of its points, one
that ends with a line '...: N passed, N failed' counts what that says, any other
counts as one. A test that meson calls failed counts as at least one failure.
"""

import json
import re
import sys

GOOD = ("OK", "EXPECTEDFAIL")


def count(record):
    """(passed, failed, skipped) of one test."""
    out, good = record.get("stdout", ""), record["result"] in GOOD
    if record["result"] == "SKIP":
        return 0, 0, 1
    own = re.findall(r"^\w+: (\d+) passed, (\d+) failed$", out, re.MULTILINE)
    points = re.findall(r"^(ok|not ok)\b(.*)$", out, re.MULTILINE)
    if own:
        passed, failed = int(own[-1][0]), int(own[-1][1])
    elif points:
        failed = sum(word == "not ok" for word, _ in points)
        passed = len(points) - failed
    else:
        passed, failed = int(good), int(not good)
    return passed, failed if good else max(failed, 1), 0


def records(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.strip():
                yield json.loads(line)


def main(argv):
    total = [0, 0, 0]
    for path in argv[1:]:
        for record in records(path):
            counts = count(record)
            total = [a + b for a, b in zip(total, counts)]
            if counts[1]:
                print(f"failed: {record['name']} ({record['result']})")
    passed, failed, skipped = total
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
