# SPDX-License-Identifier: Apache-2.0

"""The order of parameters and the names of temporaries differed between identical
runs, with addresses. Ten runs with and without random addresses, with memory
filled with junk, and of a source with other white space give the same bytes."""

import os
import re
import shutil

import field

TEXT = """
fusion f(x: f32[M, N], w: f32[N]) -> (y: f32[M, N], v: f32[M], m: f32[M], s: f32[N])
{
    v, m = var_mean(x, axis=1);
    a = exp(x) * w;
    b = tanh(x) + w;
    c = a * b;
    y = (c - m[:, None]) * rsqrt(v[:, None] + 1e-5);
    s = sum(a + b, axis=0);
}
"""


def main():
    text = TEXT.strip() + "\n"
    spaced = re.sub(r"([;,{}()])", r" \1\n\t ", text)
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    seen = set()
    for i in range(10):
        os.environ["MALLOC_PERTURB_"] = str(i * 25)
        source = spaced if i % 3 == 2 else text
        with open("f.fusion", "w", encoding="utf-8") as f:
            f.write(source)
        out, _ = field.sh([*(fixed if i % 2 else []), field.FUSEC, "f.fusion",
                           "--emit=cu,json,plan", "-o", "f.cu"])
        assert out == ""
        seen.add(tuple(open(f"f.{kind}", encoding="utf-8").read()
                       for kind in ("cu", "json", "plan")))
    assert len(seen) == 1, f"{len(seen)} versions"


main()
