# SPDX-License-Identifier: Apache-2.0

"""An architecture that the compiler did not know gave INVALID_OPTION and no word on
which option or library. The message lists what there is; nothing is written; and
--print-nvrtc tells version, path and architectures."""

from pathlib import Path

import field
import toolkit

TEXT = "fusion f(x: f32[N]) -> (y: f32[N]) { y = x; }\n"


def main():
    for arch in ("sm_999", "sm_20", "foo", "sm_", "sm_90x", ""):
        _, err = field.fusec(TEXT, f"--arch={arch}", "-o", "f.ptx", status=2)
        field.match(rf"'{arch}'; there are sm_80, .*sm_90, sm_100", err)
    assert sorted(p.name for p in Path(".").iterdir()) == ["f.fusion"]
    path = toolkit.need_nvrtc()
    out, _ = field.sh([field.FUSEC, "--print-nvrtc"])
    lines = out.splitlines()
    assert lines[0] == path and "nvrtc" in path, out
    field.match(r"^version \d+\.\d+$", out)
    field.match(r"^architectures .*sm_90", out)


main()
