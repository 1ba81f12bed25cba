# SPDX-License-Identifier: Apache-2.0

"""Field case 106: every loop with a constant extent was unrolled, a 1536-element
local array came of two nested sums, and the CUDA compiler did not return. The text
stays small whatever the extents, no thread holds more than registers, and the
static program compiles about as fast as the symbolic one. (A time limit for the
CUDA compiler is not an option of fusec: make and its kin have one.)"""

import os
import re
from pathlib import Path

from field import emit, fusec, json, kernels, np, run
from programs import need_nvrtc

STATIC = """fusion f(x: f32[{0}, {1}, {2}, {3}]) -> (y: f32[{0}, {2}])
{{
    y = sum(sum(x, axis=3), axis=1);
}}
"""
SHAPES = ((16, 32, 3, 5), (64, 64, 8, 8), (4, 1000, 4, 100), (2, 3, 512, 512))


def compile_time(text):
    """Processor time that fusec and NVRTC take, the least of three."""
    best = 1e9
    for _ in range(3):
        before = os.times()
        fusec(text, "-o", "f.ptx")
        after = os.times()
        best = min(best, after.children_user - before.children_user)
    return best


for shape in SHAPES:
    cuda = emit(STATIC.format(*shape), "cu")
    assert len(cuda) < 200_000, (shape, len(cuda))
    for count in re.findall(r"\[(\d+)\];", kernels(cuda)):
        assert int(count) <= 64, (shape, count)
x = np.arange(16 * 32 * 15, dtype=np.float32).reshape(16, 32, 3, 5) % 13 - 6
assert (run(STATIC.format(*x.shape), {"x": x})["y"] == x.sum(axis=(1, 3))).all()
need_nvrtc()
symbolic = compile_time(STATIC.format("A", "B", "C", "D"))
for shape in SHAPES[:2]:
    took = compile_time(STATIC.format(*shape))
    assert took <= 4 * symbolic + 0.2, (shape, took, symbolic)
    kernel, *_ = json.loads(Path("f.json").read_text())["toolchain"]["kernels"]
    assert kernel["stack_bytes"] == 0, kernel
