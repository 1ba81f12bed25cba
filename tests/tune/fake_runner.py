#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for fusec-run on a machine without a GPU: every plan is right and
has a time that its name gives, unless $FAKE_FAULTS says otherwise, a list of
RANK=FAULT: wrong, failed, crash, hang, or fast; missing=1: there is no driver.
A rank is a plan's place among the names given."""

import json
import os
import sys
import time

names = []
for word in sys.argv[1:]:
    if word.startswith("--"):
        break
    names.append(word)
faults = dict(f.split("=") for f in os.environ.get("FAKE_FAULTS", "").split())
with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as f:
    f.write(json.dumps(sys.argv[1:]) + "\n")
if "missing" in faults:
    print("fusec-run: the CUDA driver is not installed", file=sys.stderr)
    sys.exit(3)


def rank(name):
    """By the folder's index, so that it stays when others are left out."""
    index = os.path.join(os.path.dirname(name), "index.jsonl")
    with open(index, encoding="utf-8") as lines:
        for line in lines:
            for i, plan in enumerate(json.loads(line)["plans"]):
                if name.endswith(plan["name"] + ".json"):
                    return i
    return 0


told = {n: faults.get(str(rank(n)), "") for n in names}
if "crash" in told.values():
    os.abort()
if "hang" in told.values():
    time.sleep(60)
for name, fault in told.items():
    if fault == "failed":
        print(f"plan {name}  failed: no variant fits")
        sys.exit(1)
for name, fault in told.items():
    if fault == "wrong":
        print("  y f32[2]  WRONG  max error 1")
    print(f"plan {name}  {'WRONG' if fault == 'wrong' else 'ok'}")
for name, fault in told.items():
    us = 0.5 if fault == "fast" else 100 - 3 * rank(name)
    if fault != "wrong":
        print(f"bench {name if len(names) > 1 else 'f'}  bytes 200000000  time "
              f"{us:.3f} us  1.0 GB/s  copy 80.000 us  9.0% of copy  "
              "(20 launches, 2 sets)")
sys.exit(1 if "wrong" in told.values() else 0)
