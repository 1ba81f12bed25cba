# SPDX-License-Identifier: Apache-2.0

"""Names inside the PTX changed with each compilation, and nothing keyed by it was
found again. Other folders, output names and TMPDIRs give the same bytes, and no
internal symbol is left."""

import os
from pathlib import Path

import field
import toolkit

TEXTS = {
    "norm": "fusion f(x: f16[64, 512]) -> (y: f16[64, 512], s: f32[512])\n"
            "{\n    y = rmsnorm(x, 1.0);\n    s = sum(x, axis=0);\n}\n",
}


def main():
    toolkit.need_nvrtc()
    for name, text in TEXTS.items():
        seen = set()
        for i, out in enumerate(("a.ptx", "other.ptx", "deep/down/here.ptx", "a.ptx",
                                 "./x.y.ptx")):
            folder = Path(f"{name}{i}")
            (folder / "deep" / "down").mkdir(parents=True)
            (folder / "tmp").mkdir()
            os.environ["TMPDIR"] = str((folder / "tmp").resolve())
            Path(folder, "f.fusion").write_text(text)
            here = os.getcwd()
            os.chdir(folder)
            field.sh([field.FUSEC, "f.fusion", "-o", out])
            ptx, json = Path(out).read_text(), Path(out).with_suffix(".json")
            seen.add((ptx, json.read_text()))
            os.chdir(here)
            assert "_INTERNAL_" not in ptx
            field.match(r"^\.visible \.entry fu_f_v0_k0\($", ptx)
        assert len(seen) == 1, f"{name}: {len(seen)} versions"


main()
