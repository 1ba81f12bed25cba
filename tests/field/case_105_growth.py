# SPDX-License-Identifier: Apache-2.0

"""Field case 105: a chain of n equal layers compiled in time that grew out of all
bounds between 20 and 30 of them. The text grows in proportion to n and the time,
which is compared with itself at other lengths, like n^1.3 at most; what no single
kernel takes is cut, and --explain says why with both numbers."""

import os
import subprocess
from pathlib import Path

from field import FUSEC, kernels
from programs import explain

LENGTHS = (10, 20, 40, 80, 160)


def chain(n):
    layers = "".join(
        f"    h{i + 1} = silu(rmsnorm(h{i}, w)) + h{i};\n" for i in range(n))
    return (f"fusion chain(x: bf16[M, N], w: bf16[N]) -> (y: bf16[M, N])\n{{\n"
            f"    h0 = f32(x);\n{layers}    y = h{n};\n}}\n")


def seconds(n, repeats):
    """Processor time of a compile, the least of five."""
    Path(f"c{n}.fusion").write_text(chain(n))
    best = 1e9
    for _ in range(5):
        before = os.times()
        for _ in range(repeats):
            subprocess.run([FUSEC, f"c{n}.fusion", "--emit=cu", "-o",
                            f"c{n}.cu"], check=True)
        after = os.times()
        best = min(best, after.children_user - before.children_user)
    return best / repeats


for length in LENGTHS:
    seconds(length, 1)
text = {n: len(kernels(Path(f"c{n}.cu").read_text())) for n in LENGTHS}
for n in LENGTHS[:-1]:
    assert text[2 * n] <= 2.6 * text[n], text
start, end = seconds(20, 4), seconds(160, 1)
# A tick of the clock is 10 ms.
assert end <= 8**1.3 * max(start, 0.01), (start, end)
why = explain(chain(20))
assert "20 reductions of a row follow one another, 16 at most" in why, why
