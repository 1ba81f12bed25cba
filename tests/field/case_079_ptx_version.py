# SPDX-License-Identifier: Apache-2.0

"""PTX of a new toolkit reached an old driver, which refused it far from the build.
The manifest names the PTX version, --max-ptx refuses it when compiling, and a cubin
needs no translation."""

import json
from pathlib import Path

import field
import toolkit

TEXT = """
fusion f(x: bf16[64, 1024]) -> (y: bf16[64, 1024])
{
    y = layernorm(x, 1.0, 0.0);
}
"""


def main():
    toolkit.need_nvrtc()
    field.fusec(TEXT, "-o", "f.ptx")
    version = field.match(r"^\.version (\d+\.\d+)$",
                          Path("f.ptx").read_text()).group(1)
    chain = json.loads(Path("f.json").read_text())["toolchain"]
    assert chain["ptx_isa"] == version, chain["ptx_isa"]
    assert chain["version"], "the compiler has no version"
    for name in Path(".").glob("f.*"):
        name.unlink()
    _, err = field.fusec(TEXT, "--max-ptx=7.0", "-o", "f.ptx", status=3)
    assert version in err and "7.0" in err and chain["version"] in err, err
    assert not list(Path(".").glob("f.[!f]*")), "an output was written"
    field.fusec(TEXT, f"--max-ptx={version}", "-o", "f.ptx")
    field.fusec(TEXT, "--max-ptx=7.0", "--arch=sm_90", "--emit=cubin", "-o",
                "f.cubin")
    assert Path("f.cubin").read_bytes().startswith(b"\x7fELF")


main()
