# SPDX-License-Identifier: Apache-2.0

"""cuda_fp16.h was not found where only the NVRTC library is installed. The text
includes nothing of the toolkit, and compiles with no header in reach, by nvcc too
where there is one."""

import os
import re
import shutil
from pathlib import Path

import field
import toolkit

TEXT = """
fusion f(x: TT[64, 512], w: TT[512], b: TT[512]) -> (y: TT[64, 512])
{
    y = layernorm(x, w, b);
}
"""


def main():
    library = toolkit.need_nvrtc()
    for name in ("CUDA_HOME", "CUDA_PATH", "CPATH", "C_INCLUDE_PATH"):
        os.environ.pop(name, None)
    # A folder that holds libraries and no header.
    Path("lib").mkdir()
    for p in Path(library).resolve().parent.glob("libnvrtc*"):
        Path("lib", p.name).symlink_to(p.resolve())
    for dtype in ("f16", "bf16"):
        text = TEXT.replace("TT", dtype)
        field.fusec(text, "--nvrtc=lib", "-o", "f.ptx")
        cuda = Path("f.cu").read_text()
        included = re.findall(r"^\s*#\s*include\s*(\S+)", cuda, re.MULTILINE)
        assert included == ['"fu_emulate.h"'], included
        assert cuda.index("#ifndef FU_EMULATE") < cuda.index("#include")
        if shutil.which("nvcc"):
            field.fusec(text, "--compiler=nvcc", "-o", "g.ptx")


main()
