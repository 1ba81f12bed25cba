# SPDX-License-Identifier: Apache-2.0

"""Programs that several scripts compile, and what they ask of a manifest."""

import subprocess
import sys
from pathlib import Path

from field import FUSEC, fusec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    return (EXAMPLES / f"{name}.fusion").read_text()


LAYERNORM_BWD = example("layernorm_bwd")
LAYERNORM_FWD = example("layernorm_fwd")
RMSNORM_BWD = example("rmsnorm_bwd")
SOFTMAX = example("softmax_fwd")


def need_nvrtc():
    r = subprocess.run([FUSEC, "--print-nvrtc"], capture_output=True,
                       text=True, check=False)
    if r.returncode:
        print("no NVRTC")
        sys.exit(77)


def explain(text, *argv):
    """What --explain prints; no PTX is made."""
    return fusec(text, "--explain", "-o", "f.cu", *argv)[0]


def all_launches(tree):
    for f in tree["fusions"]:
        for v in f["variants"]:
            yield from v["launches"]
