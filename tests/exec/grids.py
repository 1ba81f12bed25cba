#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same plan on grids of 2 and 5 blocks.

    grids.py FUSEC FUSEC_RUN EXAMPLES

Each grid gives the interpreter's values. What of a row needs that row only has the
same bits on all of them; column sums, which a grid adds in its own order, differ in
some bit at these sizes, so that the comparison is known to see one.
"""

import os
import subprocess
import sys
import tempfile

FUSEC, RUN, EXAMPLES = sys.argv[1:4]
GRIDS = (2, 5)
CASES = (("layernorm_bwd", "f32", {"dx"}, {"dweight", "dbias"}),)


def sh(*argv):
    r = subprocess.run(argv, capture_output=True, text=True, check=False)
    if r.returncode:
        sys.exit(f"{' '.join(argv)}: exit {r.returncode}\n{r.stdout}{r.stderr}")


def outputs(example, dtype, grid):
    """{name: bytes} of a run."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = os.path.join(folder, "f.json")
        sh(FUSEC, os.path.join(EXAMPLES, f"{example}.fusion"), "--emit=cu,json",
           "-o", manifest, f"-DT={dtype}", "-DN=264", "--set=persistent=1",
           f"--set=grid_rows={grid}", f"--device=h200,sms={grid}")
        sh(RUN, manifest, "--emulate", "--check", "--shape", "M=37",
           "--no-cache", "--save-outputs", folder)
        return {name.split(".")[0]: open(os.path.join(folder, name), "rb").read()
                for name in os.listdir(folder) if name.endswith(".npy")}


def faults(example, dtype, rows, columns):
    runs = [outputs(example, dtype, g) for g in GRIDS]
    if not rows | columns <= set(runs[0]):
        yield f"{example}: only {', '.join(sorted(runs[0]))} written"
        return
    for name in sorted(rows):
        if any(r[name] != runs[0][name] for r in runs):
            yield f"{example}: the bits of {name} depend on the grid"
    for name in sorted(columns):
        if all(r[name] == runs[0][name] for r in runs):
            yield f"{example}: {name} is the same on all grids"


def main():
    bad = [f for case in CASES for f in faults(*case)]
    print("\n".join([*bad, f"grids: {len(CASES) * len(GRIDS)} runs, "
                           f"{len(bad)} faults"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
