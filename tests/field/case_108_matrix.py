# SPDX-License-Identifier: Apache-2.0

"""Field case 108: that a type isn't supported was found only when the generated
code didn't compile. Every operation of the compiler's own list with every type,
and every pair of types, on every architecture: a cell compiles to CUDA text, or is
an error with an id and a place in the program; and no cell that compiles is
refused by NVRTC, of which a thinned part is tried, or all with FIELD_FULL=1.

    case_108_matrix.py      prints the number of cells of each kind"""

import collections
import os
import re
import subprocess
from pathlib import Path

from field import FUSEC, sh

ERROR = re.compile(r"^f\.fusion:(\d+):(\d+): (?:fatal )?error: .* \[([a-z0-9-]+)\]$",
                   re.MULTILINE)
NO_KERNEL = ("scan", "index", "random")
SPECIAL = {
    "where": "where(a != b, a, b)", "fma": "fma(a, b, a)",
    "iota": "iota(4)[:, None] + a", "broadcast_to": "broadcast_to(a[0], [4, 4])",
    "permute": "permute(a, [1, 0])", "squeeze": "squeeze(a[None], axis=0)",
    "unsqueeze": "unsqueeze(a, axis=0)[0]", "reshape": "reshape(a, [2, 8])[:, :4]",
    "flip": "flip(a, axis=1)", "pad": "pad(a[1:, 1:], [[1, 0], [0, 1]])",
    "cat": "cat([a[:2], b[2:]], axis=0)", "take": "take(a, k, axis=0)",
    "take_along": "take_along(a, i64(a), axis=0)", "one_hot": "one_hot(k, 4)",
    "scatter": "scatter([4, 4], k, a, axis=0)",
    "scatter_add": "scatter_add([4, 4], k, a, axis=0)",
    "uniform": "uniform([4, 4], 1, 0) + a", "normal": "normal([4, 4], 1, 0) + a",
    "bernoulli": "bernoulli([4, 4], 0.5, 1, 0) != a",
}
Cell = collections.namedtuple("Cell", "op kind a b text")


def words(option):
    """The table that an option of fusec prints, a list a line."""
    return [line.split() for line in sh([FUSEC, option])[0].splitlines()[1:]]


def types():
    said = sh([FUSEC, "--explain-error=unknown-type"])[0]
    return re.findall(r"\b(bool|[a-z]+\d[a-z0-9]*)\b", said)


def expression(op, kind, arity):
    if op in SPECIAL:
        return SPECIAL[op]
    called = op[0].isalpha()
    if kind in ("reduction", "scan"):
        return f"{op}(a, axis=1)" + ("[:, None] + a" if kind == "reduction"
                                     else "")
    if arity == "1":
        return f"{op}(a)" if called else f"{op}a"
    return f"{op}(a, b)" if called else f"a {op} b"


def cells():
    every = types()
    assert len(every) >= 12, every
    for op, kind, arity, *_ in words("--list-ops"):
        text = expression(op, kind, arity)
        pairs = [(a, b) for a in every for b in every] \
            if re.search(r"\bb\b", text) else [(a, a) for a in every]
        for a, b in pairs:
            yield Cell(op, kind, a, b, text)


def line_of(number, c):
    arguments = f"a: {c.a}[4, 4], b: {c.b}[4, 4], k: i64[4]"
    shape = "[4, 4]" if c.op != "reshape" else "[2, 4]"
    return (f"fusion c{number}({arguments}) -> (y: {c.a}{shape}) "
            f"{{ y = {c.a}({c.text}); }}")


def compile_cells(some, arch, out):
    """(exit status, stderr) of one file with a line for each cell."""
    Path("f.fusion").write_text("".join(
        line_of(i, c) + "\n" for i, c in enumerate(some)))
    r = subprocess.run([FUSEC, "f.fusion", f"--arch={arch}", "-Wno-all", "-o",
                        out], capture_output=True, text=True, check=False)
    return r.returncode, r.stderr


def classify(some, arch):
    """({cell: id of its error}, the cells that compile)."""
    left, errors = list(some), {}
    while left:
        status, said = compile_cells(left, arch, "f.cu")
        if status == 0:
            return errors, left
        assert status == 1, f"exit {status}\n{said[-3000:]}"
        found = {int(line) - 1: name for line, _, name in ERROR.findall(said)}
        assert found, said[-3000:]
        errors |= {left[i]: name for i, name in found.items()}
        left = [c for i, c in enumerate(left) if i not in found]
    return errors, left


def nvrtc(some, arch):
    for at in range(0, len(some), 60):
        status, said = compile_cells(some[at:at + 60], arch, "f.ptx")
        assert status == 0, f"{arch}: exit {status}\n{said[-3000:]}"


def thinned(some, archs):
    """{arch: cells}: each operation with two of its types on one of them."""
    if os.environ.get("FIELD_FULL"):
        return {a: some for a in archs}
    by_op, picked = collections.defaultdict(list), {a: [] for a in archs}
    for c in some:
        by_op[c.op].append(c)
    for i, group in enumerate(by_op.values()):
        for k in range(2):
            picked[archs[i % len(archs)]].append(
                group[(i * 5 + k * 7) % len(group)])
    return picked


def main():
    archs = sorted({row[1] for row in words("--list-devices")})
    matrix = list(cells())
    errors, good = classify(matrix, archs[0])
    for c in matrix:
        if c.kind in NO_KERNEL:
            assert errors.get(c) in ("not-implemented-yet", "type-mismatch"), c
    same = {c.op for c in good if c.a == c.b == "f32"}
    assert same >= {c.op for c in matrix if c.kind not in NO_KERNEL and c.op
                    not in ("&", "|", "^", "~", "&&", "||", "!", "<<", ">>",
                            "any", "all")}, "f32 is missing"
    for arch in archs[1:]:
        other, compiled = classify(good, arch)
        assert not other and compiled == good, (arch, other)
    print(f"{len(archs)} architectures, {len(matrix)} cells: {len(good)} "
          f"compile, {len(errors)} are errors:",
          dict(collections.Counter(errors.values())))
    if subprocess.run([FUSEC, "--print-nvrtc"], capture_output=True,
                      check=False).returncode:
        print("NVRTC is not here: no cell was tried")
        return
    parts = thinned(good, archs)
    for arch, some in parts.items():
        nvrtc(some, arch)
    print(f"NVRTC took all of {sum(map(len, parts.values()))} cells")


main()
