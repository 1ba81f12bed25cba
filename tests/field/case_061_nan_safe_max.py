# SPDX-License-Identifier: Apache-2.0

"""Field case 61: a maximum that lets NaN through cost four instructions an element.
The hardware's form is used from sm_80 on: one instruction an element and no
comparison beside it. That NaN does pass is case 65's."""

import re
from pathlib import Path

from field import fusec
from programs import need_nvrtc

MAX = """fusion f(x: f32[M, N]) -> (y: f32[M])
{
    y = max(x, axis=1);
}
"""
SOFTMAX = """fusion f(x: f32[M, N]) -> (y: f32[M, N])
{
    y = softmax(x);
}
"""


def ptx_of(text, arch):
    fusec(text, f"--arch={arch}", "-DM=8192", "-DN=1024", "-o", "f.ptx")
    return Path("f.ptx").read_text(), Path("f.cu").read_text()


def held(cuda):
    """Elements of a row that a thread holds."""
    v = re.search(r"fu_vec<float, (\d+)> b_x\[(\d+)\]", cuda)
    assert v, "the row is not kept in vectors"
    return int(v[1]) * int(v[2])


def check(text, arch):
    ptx, cuda = ptx_of(text, arch)
    most = len(re.findall(r"max\.NaN\.f32", ptx))
    each = held(cuda)
    # One an element, and the exchanges of lanes and warps: 5 + 5 at most.
    assert each <= most <= each + 10, (arch, each, most)
    for word in (r"setp\.\w+\.f32", r"selp\.f32", r"testp"):
        found = len(re.findall(word, ptx))
        assert found == 0 or text is SOFTMAX, (arch, word, found)


need_nvrtc()
for a in ("sm_80", "sm_90", "sm_100"):
    check(MAX, a)
check(SOFTMAX, "sm_90")
