# SPDX-License-Identifier: Apache-2.0
"""What the scripts among the field cases share.

A script compiles programs and runs them on the CPU in the current folder, which
is new and empty, and fails by an exception. FUSEC and FUSEC_RUN are set by
run.py. Importing this exits 77 where there is no NumPy.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    OTHER = "/usr/bin/python3"
    if os.path.exists(OTHER) and "FUSEC_NUMPY_TRIED" not in os.environ:
        os.environ["FUSEC_NUMPY_TRIED"] = "1"
        os.execv(OTHER, [OTHER] + sys.argv)
    print("NumPy is not installed")
    sys.exit(77)

FUSEC = os.environ["FUSEC"]
FUSEC_RUN = os.environ["FUSEC_RUN"]
CXX = os.environ["CXX"]


def sh(argv, status=0):
    """(stdout, stderr) of a command, which must end with STATUS."""
    r = subprocess.run([str(a) for a in argv], capture_output=True, text=True,
                       check=False)
    if r.returncode != status:
        raise AssertionError(f"exit {r.returncode}: {argv}\n{r.stdout}{r.stderr}")
    return r.stdout, r.stderr


def fusec(text, *argv, status=0, name="f"):
    """Compiles TEXT as NAME.fusion; ARGV without -o writes to stdout."""
    Path(f"{name}.fusion").write_text(text)
    argv = list(argv)
    if not any(str(a).startswith("-o") for a in argv):
        argv += ["-o", "-"]
    return sh([FUSEC, *argv, f"{name}.fusion"], status)


def emit(text, what, *argv):
    """One artifact of TEXT, as a string."""
    return fusec(text, f"--emit={what}", *argv)[0]


def manifest(text, *argv):
    return json.loads(emit(text, "json", *argv))


def kernels(text):
    """CUDA text without the library before it."""
    return text.split('#include "fu_emulate.h"')[1]


def schedulers(tree, fusion=0, variant=0):
    v = tree["fusions"][fusion]["variants"][variant]
    return [x["scheduler"] for x in v["launches"]]


def run(text, inputs=None, shapes=(), argv=(), fusion=None, options=(),
        reference=False, status=0):
    """{name: array} of the outputs, from the emulated kernels or, with
    `reference`, from the interpreter. INPUTS are arrays, numbers for scalars,
    or forms as "normal(0,1)". Skips where nothing can emulate."""
    if not reference and not CXX:
        print("no C++ compiler")
        sys.exit(77)
    fusec(text, "--emit=cu,json", *options, "-o", "f.json")
    words = [FUSEC_RUN, "f.json", "--save-outputs", "out", *argv]
    words += ["--reference"] if reference else ["--emulate", "--cxx", CXX]
    words += ["--fusion", fusion] if fusion else []
    for name, value in (inputs or {}).items():
        if isinstance(value, np.ndarray):
            np.save(f"{name}.npy", value)
            value = f"{name}.npy"
        words += ["--input", f"{name}={value}"]
    for s in shapes:
        words += ["--shape", s]
    Path("out").mkdir(exist_ok=True)
    for old in Path("out").iterdir():
        old.unlink()
    sh(words, status)
    return {p.stem: np.load(p) for p in Path("out").glob("*.npy")}


def bf16(x):
    """float32 values that bf16 holds, rounded to nearest even."""
    x = np.asarray(x, np.float32)
    u = x.reshape(-1).view(np.uint32).astype(np.uint64)
    u = (u + 0x7FFF + (u >> 16 & 1)) & 0xFFFF0000
    return u.astype(np.uint32).view(np.float32).reshape(x.shape)


def same_bits(a, b, what=""):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype, (what, a.dtype, b.dtype)
    kind = {2: np.uint16, 4: np.uint32, 8: np.uint64, 1: np.uint8}
    wrong = a.view(kind[a.itemsize]) != b.view(kind[b.itemsize])
    if np.issubdtype(a.dtype, np.floating):
        wrong &= ~(np.isnan(a) & np.isnan(b))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(f"{what}: {wrong.sum()} of {a.size} differ; at "
                             f"{at} {a[at]!r}, not {b[at]!r}")


def match(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    assert found, f"no '{pattern}' in\n{text[:4000]}"
    return found
