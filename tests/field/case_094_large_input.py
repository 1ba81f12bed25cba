# SPDX-License-Identifier: Apache-2.0

"""A parser gave up near 40,000 statements, or at 200 levels, with "memory exhausted".
50,000 additions in a row parse in seconds; nesting has a limit of its own, with its
place. (Larger sources: tests/faults/large.py.)"""

import time

import field

HEAD = "fusion f(x: f32[N]) -> (y: f32[N]) {\n    y = "


def main():
    start = time.monotonic()
    field.fusec(HEAD + "x" + " + x" * 50000 + ";\n}\n", "--emit=graph")
    seconds = time.monotonic() - start
    assert seconds < 20, seconds  # about 1 s on a quiet machine
    _, err = field.fusec(HEAD + "(" * 5000 + "x" + ")" * 5000 + ";\n}\n",
                         "--emit=graph", status=1)
    field.match(r"^f\.fusion:2:265: error: nested more than 256 deep", err)
    field.fusec(HEAD + "(" * 256 + "x" + ")" * 256 + ";\n}\n", "--emit=graph")


main()
