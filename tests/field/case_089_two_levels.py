# SPDX-License-Identifier: Apache-2.0

"""Goldens of PTX broke with each toolkit. CUDA text and the manifest without its
`toolchain` block are the same with NVRTC, with nvcc and with no compiler at all, and
--check=cuda,manifest compares just those."""

import json
import shutil
from pathlib import Path

import field
import toolkit

TEXT = """
fusion f(x: f32[M, N]) -> (y: f32[M, N], s: f32[M])
{
    y = x * 2.0;
    s = sum(x, axis=1);
}
"""


def level(*argv):
    field.fusec(TEXT, *argv)
    tree = json.loads(Path("f.json").read_text())
    chain = tree.pop("toolchain")
    return Path("f.cu").read_text(), tree, chain


def main():
    cuda, tree, chain = level("--emit=cu,json", "-o", "f.cu")
    assert chain is None
    toolkit.need_nvrtc()
    got = level("-o", "f.ptx")
    assert got[:2] == (cuda, tree) and got[2]["compiler"] == "nvrtc"
    if shutil.which("nvcc"):
        got = level("-o", "f.ptx", "--compiler=nvcc")
        assert got[:2] == (cuda, tree) and got[2]["compiler"] == "nvcc"
    # The toolchain block may say anything.
    whole = json.loads(Path("f.json").read_text())
    whole["toolchain"]["version"] = "1.2.3"
    Path("f.json").write_text(json.dumps(whole))
    field.fusec(TEXT, "--check=cuda,manifest", "-o", "f.ptx")
    whole["fusions"][0]["bytes_read"] = "0"
    Path("f.json").write_text(json.dumps(whole))
    out, _ = field.fusec(TEXT, "--check=cuda,manifest", "-o", "f.ptx", status=1)
    field.match(r"^-.*bytes_read", out)


main()
