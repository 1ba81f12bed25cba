# SPDX-License-Identifier: Apache-2.0

"""Code of another GPU or toolkit was taken out of a cache. fusec keeps nothing: each
run makes its outputs anew, and the manifest tells device, architecture, compiler and
hashes. What fusec-run keeps of emulations it finds by content."""

import json
from pathlib import Path

import field
import numpy as np
import toolkit

TEXT = "fusion f(x: f32[N]) -> (y: f32[N]) { y = x + 1.0; }\n"


def compiled(arch, text=TEXT):
    field.fusec(text, f"--arch={arch}", "-o", "f.ptx")
    return Path("f.ptx").read_text(), json.loads(Path("f.json").read_text())


def emulated():
    x = np.arange(4, dtype=np.float32)
    for k in (1, 2, 1):
        text = TEXT.replace("1.0", f"{k}.0")
        assert (field.run(text, {"x": x}, ["N=4"])["y"] == x + k).all(), k


def main():
    if field.CXX:
        emulated()
    toolkit.need_nvrtc()
    first = compiled("sm_80")
    other = compiled("sm_90")
    assert ".target sm_80" in first[0] and ".target sm_90" in other[0]
    assert (first[1]["arch"], other[1]["arch"]) == ("sm_80", "sm_90")
    hashes = {t["toolchain"]["ptx_sha256"] for _, t in (first, other)}
    assert len(hashes) == 2, "one hash for two texts"
    assert compiled("sm_80") == first
    for key in ("compiler", "version", "ptx_isa", "cubin_sha256"):
        assert first[1]["toolchain"][key], key


main()
