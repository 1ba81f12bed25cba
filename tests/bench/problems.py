# SPDX-License-Identifier: Apache-2.0
"""What is measured: a fusion, a type, rows and columns; and the sets of them."""

import re
from collections import namedtuple

import fusions

SIZES = {"f32": 4, "bf16": 2, "f16": 2}
DTYPES = ("f32", "bf16")
CORE_ROWS = (2048, 8192)
CORE_COLUMNS = (1024, 4096, 8192, 10240, 12288, 14336, 16384, 32768, 65536)
COLUMNS = (768, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 10240, 12288,
           14336, 16384, 20480, 24576, 32768, 49152, 65536)
MANY_ROWS = 65536
LARGE = 128e6  # bytes moved, from which the goals of large problems hold


class Problem(namedtuple("Problem", "fusion dtype m n")):
    """Its key is its name in every file."""

    @property
    def key(self):
        return f"{self.fusion}-{self.dtype}-{self.m}x{self.n}"

    @property
    def bytes(self):
        return floor(self)


def parse(key):
    fusion, dtype, shape = key.rsplit("-", 2)
    m, n = shape.split("x")
    return Problem(fusion, dtype, int(m), int(n))


def floor(problem):
    """Each tensor of the program once."""
    text = fusions.program(problem.fusion).read_text(encoding="utf-8")
    total = 0
    for kind, dims in re.findall(r": *(T|f32)\[([MN, ]*)\]", text):
        size = SIZES[problem.dtype] if kind == "T" else 4
        for d in dims.split(","):
            size *= {"M": problem.m, "N": problem.n}[d.strip()]
        total += size
    return total


def product(names, dtypes, rows, columns):
    return [Problem(f, t, m, n) for f in names for t in dtypes for m in rows
            for n in columns]


def core():
    return product(fusions.NORM_BWD, DTYPES, CORE_ROWS, CORE_COLUMNS)


def grid(names):
    return (product(names, DTYPES, (2048, 8192, 16384), COLUMNS) +
            product(names, DTYPES, (MANY_ROWS,), (1024, 4096, 8192)))


def full():
    return grid(fusions.NORM_BWD)


def forward():
    return (grid(fusions.FORWARD) +
            product(fusions.FORWARD, DTYPES, (512,), (131072, 262144)))


def small():
    return product(fusions.NORM_BWD + fusions.FORWARD, DTYPES, (16, 512),
                   (768, 1024, 4096, 8192, 14336, 32768, 65536))


def tails():
    """Rows that no vector divides, and rows that few do."""
    names = ("layernorm_bwd", "rmsnorm_bwd", "layernorm_fwd", "softmax_fwd")
    return product(names, DTYPES, (8192,),
                   (1026, 4095, 4098, 8200, 14338, 50257))


def classes():
    return product([f for f in fusions.FUSIONS if "_add" not in f], DTYPES,
                   (8192,), (4096, 8192))


def sample():
    """Some of each: a look that takes a minute."""
    bwd = [("layernorm_bwd", t, m, n) for t in DTYPES for m, n in
           ((8192, 1024), (8192, 4096), (8192, 8192), (8192, 12288),
            (2048, 16384), (2048, 65536))]
    bwd += [("rmsnorm_bwd", t, 8192, n) for t in DTYPES for n in
            (1024, 8192, 14336)]
    bwd += [("layernorm_bwd_add", t, 8192, n) for t in DTYPES
            for n in (4096, 10240)]
    bwd += [("rmsnorm_bwd_add", "bf16", 8192, 8192)]
    fwd = [(f, t, 8192, 8192) for f in fusions.FORWARD for t in DTYPES]
    fwd += [(f, "bf16", 16384, 1024) for f in ("layernorm_fwd", "softmax_fwd")]
    few = [("layernorm_bwd", "bf16", 512, 4096),
           ("softmax_fwd", "f32", 16, 8192)]
    return [Problem(*p) for p in bwd + fwd + few]


SETS = {"core": core, "full": full, "forward": forward, "small": small,
        "tails": tails, "classes": classes, "sample": sample}


def named(text):
    """The problems of a set, or those that are listed."""
    if text in SETS:
        return SETS[text]()
    return [parse(key) for key in text.split(",")]


def by_weight(problems):
    """Those that the goals speak of first, each once."""
    seen = dict.fromkeys(problems)
    return sorted(seen, key=lambda p: p.bytes < LARGE)
