# SPDX-License-Identifier: Apache-2.0

"""Field case 52: a few spilled registers cost a fifth of the bandwidth, unseen,
after an unrelated change. The assembler's figures are read for every kernel and
stand in the manifest; long rows of a layer-norm backward are shipped without a
byte of local memory. (Its speed is measured on a GPU, see gpu.tsv.)"""

import json
from pathlib import Path

from field import fusec
from programs import LAYERNORM_BWD, all_launches, need_nvrtc

LOCAL = ("stack_bytes", "spill_store_bytes", "spill_load_bytes")


def check(rows, columns):
    _, messages = fusec(LAYERNORM_BWD, "-DT=f16", f"-DM={rows}",
                        f"-DN={columns}", "-o", "f.ptx")
    assert "plan-local-memory" not in messages, messages
    tree = json.loads(Path("f.json").read_text())
    kernels = {k["symbol"]: k for k in tree["toolchain"]["kernels"]}
    assert set(kernels) == {x["kernel"] for x in all_launches(tree)}
    for name, k in kernels.items():
        assert 0 < k["registers"] <= 255, (name, k)
        assert not any(k[x] for x in LOCAL), (name, k)
    first = tree["fusions"][0]["variants"][0]["launches"][0]["scheduler"]
    assert first != "fallback", f"{columns} columns: {first}"


need_nvrtc()
for n in (16384, 15360):
    check(16384, n)
