# SPDX-License-Identifier: Apache-2.0

"""Field case 55: the scratch of a reduction was sized by the type of the buffer,
not by that of the accumulator, so that a second cast of the input changed what a
kernel needs and it failed at launch. One cast or two, at the longest row that is
kept in registers and 8 columns on each side: the same strategy, plan and bytes, and
exactly the bytes that the kernel's own accesses reach."""

import re

from field import emit, kernels, manifest, schedulers

PROGRAM = """fusion ln(x: f16[M, N], w: f16[N], b: f16[N]) -> (y: f16[M, N])
{
    %s
    m = mean(h, axis=1, keepdim=true);
    d = %s - m;
    v = mean(d * d, axis=1, keepdim=true);
    y = d * rsqrt(v + 1e-5) * w + b;
}
"""
DEVICE = "--device=a100"  # without clusters: a block keeps the row, or none
ONCE = PROGRAM % ("h = f32(x);", "h")
TWICE = PROGRAM % ("h = f32(x);\n    g = f32(x);", "g")


def plan(text, columns):
    """The plan without the hash of its graph, and the shared bytes."""
    tree = manifest(text, f"-DN={columns}", DEVICE)
    shared = [x["dynamic_smem"]
              for x in tree["fusions"][0]["variants"][0]["launches"]]
    return (schedulers(tree), shared,
            re.sub("graph [0-9a-f]+", "", tree["plan"]))


def keeps(columns):
    p = plan(ONCE, columns)
    return (p[0] == ["inner_persistent"] and "looped 0" in p[2]
            and "stages 0" in p[2])


def longest():
    low, high = 64, 1 << 17
    assert keeps(low) and not keeps(high)
    while high - low > 8:
        middle = (low + high) // 16 * 8
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def reach(text, columns, threads):
    """The first byte behind all slots of 8 bytes that the warps write, by the
    kernel's own text."""
    body = kernels(emit(text, "cu", f"-DN={columns}", DEVICE))
    slots = re.findall(r"fu_sstore<float>\(warp \* 8(?: \+ (\d+))?,", body)
    assert slots and len(slots) == body.count("fu_sstore")
    return threads // 32 * 8 + max(int(s or 0) for s in slots)


edge = longest()
for n in (edge - 8, edge, edge + 8):
    assert plan(ONCE, n) == plan(TWICE, n), f"{n} columns"
    _, shared, text = plan(ONCE, n)
    block = int(re.search(r"threads (\d+);", text)[1])
    for program in (ONCE, TWICE):
        assert [str(reach(program, n, block))] == shared, (n, shared)
print(f"rows of up to {edge} columns are kept")
