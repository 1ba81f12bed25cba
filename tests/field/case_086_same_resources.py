# SPDX-License-Identifier: Apache-2.0

"""NVRTC gave no log for a text that its cache knew, and the parser of registers
failed. The cache is off: a second compilation reports the same resources. (Logs
that are empty all the same: tests/faults/nvrtc.py.)"""

import json
from pathlib import Path

import field
import toolkit

TEXT = """
fusion f(x: bf16[64, 512]) -> (y: bf16[64, 512])
{
    y = softmax(x);
}
"""


def resources():
    explained, err = field.fusec(TEXT, "--explain", "-o", "f.ptx")
    assert "no-report" not in err, err
    chain = json.loads(Path("f.json").read_text())["toolchain"]
    assert chain["kernels"] and all(k["registers"] for k in chain["kernels"])
    for k in chain["kernels"]:
        assert f" compiled {k['symbol']}: {k['registers']} registers, " \
            in explained, explained
    return explained, chain


def main():
    toolkit.need_nvrtc()
    first = resources()
    assert resources() == first


main()
