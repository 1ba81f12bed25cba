#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sources that are large or strange, and sizes that overflow.

Text of 10 MB, 100,000 statements, deep nesting, long names, bytes that do not
belong; extents and strides around 2^31, 2^32 and 2^63. Each ends in time with
whole outputs or with an error at its line and column.
"""

import os
import re
import resource
import sys
import time

import faults
from faults import check, expect, intact, no_temporaries, snapshot

BODY = "fusion f(x: f32[M]) -> (y: f32[M]) {\n    y = %s;\n}\n"


def compile_it(at, source, args=("--emit=graph", "-o", "out.graph")):
    """A run, what it wrote, and its seconds."""
    with faults.new_folder(source) as folder:
        start = time.monotonic()
        before = snapshot(folder)
        r = faults.run([at.fusec, "-Wno-all", *args, "in.fusion"], folder)
        seconds = time.monotonic() - start
        no_temporaries(folder, r)
        check(len(r.err) < 100000, f"{len(r.err)} bytes of messages")
        if r.status:
            intact(before, snapshot(folder), r)
        return r, seconds


def accepted(at, source, most, args=("--emit=graph", "-o", "out.graph")):
    r, seconds = compile_it(at, source, args)
    expect(r, (0,))
    check(seconds < most * at.patience, f"{seconds:.1f} s, not {most}")


def refused(at, source, where, words, most=10):
    r, seconds = compile_it(at, source)
    expect(r, (1,), words)
    check(re.match(rf"in\.fusion:{where}: error: ", r.err), f"not at {where}\n{r}")
    check(seconds < most * at.patience, f"{seconds:.1f} s, not {most}")


def statements(n, line):
    return "".join(line.format(i, i - 1, i % 7) for i in range(1, n))


def test_statements(at):
    """100,000 statements, and one more than allowed"""
    n = at.statements
    chain = "    v0 = x;\n" + statements(n - 1, "    v{0} = v{1} + {2}.5;\n")
    accepted(at, BODY.replace("    y", chain + "    y") % f"v{n - 2}", 30)
    side = "    v0 = x;\n" + statements(n - 1, "    v{0} = x * {2}.5;\n")
    accepted(at, BODY.replace("    y", side + "    y") % "v1", 30,
             ("--emit=cu,json", "-o", "out.cu"))
    more = "    v0 = x;\n" + statements(100001, "    v{0} = v0;\n")
    refused(at, BODY.replace("    y", more + "    y") % "v1", r"100\d\d\d:\d+",
            "more than 100000 statements")


def test_chain(at):
    """a straight line of additions, through to CUDA text"""
    accepted(at, BODY % ("x" + " + x" * at.chain), 20,
             ("--emit=cu,json", "-o", "out.cu"))


def test_bytes(at):
    """10 MB of comments, of fusions, of one line, of errors"""
    line = "# a comment that says nothing at all, and at that says it slowly\n"
    accepted(at, line * (at.megabytes * 15600) + BODY % "x", 20)
    accepted(at, BODY % ("x" + " " * (at.megabytes << 20)), 20)
    many = "".join((BODY % "exp(x) * x - 2.5").replace("f(", f"f{i}(")
                   for i in range(at.megabytes * 1800))
    accepted(at, many * 1, 60)
    refused(at, BODY % ("z + " * (at.megabytes << 18) + "x"), "2:9", "unknown", 60)
    refused(at, "}" * (at.megabytes << 20), "1:1", "syntax-error", 60)


def test_nesting(at):
    """nesting at the limit, above it, and far above"""
    forms = {"parentheses": ("(", ")"), "minus": ("-", ""), "not": ("~", ""),
             "calls": ("exp(", ")"), "select": ("x > 0.0 ? x : ", ""),
             "lists": ("sum(x, axis=[[", "]])")}
    for name, (left, right) in forms.items():
        for n in (257, 5000, at.deep):
            r, seconds = compile_it(at, BODY % (left * n + "x" + right * n))
            expect(r, (1,), r"nested more than 256 deep \[nesting-limit\]")
            check(re.match(r"in\.fusion:2:\d+: error", r.err), f"{name}\n{r}")
            check(seconds < 20 * at.patience, f"{name} {n}: {seconds} s")
    accepted(at, BODY % ("(" * 256 + "x" + ")" * 256), 5)
    accepted(at, BODY % ("exp(" * 250 + "x" + ")" * 250), 5,
             ("--emit=cu", "-o", "out.cu"))
    for text in ("{" * at.deep, "(" * at.deep, "fusion f(" * at.deep,
                 "import " * at.deep, "def f(x) = " + "[" * at.deep):
        refused(at, text, r"1:\d+", "error")
    # Even the deepest legal program needs no more than a small stack.
    with faults.new_folder(BODY % ("-(" * 128 + "x" + ")" * 128)) as folder:
        r = faults.run([at.fusec, "--emit=cu,json,plan", "-o", "out.cu",
                        "in.fusion"], folder, preexec_fn=lambda:
                       resource.setrlimit(resource.RLIMIT_STACK, (1 << 20,) * 2))
        expect(r, (0,))


def test_long(at):
    """names, numbers, strings and comments of megabytes"""
    n = at.megabytes << 20
    refused(at, BODY % ("a" * n), "2:9", r"name of \d+ bytes")
    refused(at, BODY % ("x + 0." + "1" * n + "e" + "9" * n), r"2:\d+", "error")
    refused(at, BODY % ("x + " + "1" * n), r"2:\d+", "fits no type")
    refused(at, f'import "{"s" * n}";\n' + BODY % "x", r"1:8", "cannot read")
    accepted(at, "#" + "c" * n + "\n" + BODY % "x", 10)
    accepted(at, BODY % ("x + 0." + "1" * 100000), 10)


def test_bytes_that_do_not_belong(at):
    """NUL bytes, CRLF, byte-order marks, bad UTF-8, no last newline"""
    good = BODY % "x + 1.0"
    for source in (good.replace("\n", "\r\n"), good.replace("\n", "\r"),
                   "\ufeff" + good, good.rstrip(), good + "\x1a".replace("\x1a", ""),
                   good.replace("    ", "\t"), "# é ü 漢 \u202e\n" + good):
        accepted(at, source.encode(), 5)
    for at_byte in (0, 5, 40, len(good) - 1):
        for junk in (b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\x1b[2J",
                     b"\x7f", "\u202e".encode(), "é".encode(), b"\xef\xbb\xbf"):
            source = good.encode()[:at_byte] + junk + good.encode()[at_byte:]
            if at_byte == 0 and junk == b"\xef\xbb\xbf":
                continue
            r, _ = compile_it(at, source)
            expect(r, (1,))
            check(re.match(r"in\.fusion:\d+:\d+: error", r.err), str(r))
            check(not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", r.err), str(r))
    refused(at, b"# \xff\xfe\n" + good.encode(), "1:3", "UTF-8")
    refused(at, good.encode("utf-16"), "1:1", "error")
    for source in ("", " ", "\n" * 1000, "#", "\ufeff", "#" * 100000):
        refused(at, source, r"1:\d+", "no fusion")


SIZES = [  # shape, whether it fits
    ("[2147483647]", True), ("[2147483648]", True), ("[4294967296]", True),
    ("[65536, 65536]", True), ("[4294967296, 2]", True),
    ("[2147483648, 1073741823]", True), ("[2305843009213693951]", True),
    ("[0, 9223372036854775807]", False), ("[9223372036854775807, 0]", False),
    ("[2147483648, 1073741824]", False), ("[2305843009213693952]", False),
    ("[4294967296, 4294967296]", False), ("[3037000500, 3037000500]", False),
    ("[9223372036854775807]", False), ("[1048576, 1048576, 1048576, 8]", False),
    ("[2, 9223372036854775807]", False), ("[9223372036854775808]", False),
    ("[18446744073709551616]", False), ("[18446744073709551615]", False),
    ("[340282366920938463463374607431768211456]", False), ("[-1]", False),
]


def test_static_sizes(at):
    """products of static extents around 2^31, 2^32 and 2^63"""
    for shape, fits in SIZES:
        source = (f"fusion f(x: f32{shape}) -> (y: f32{shape}) {{\n"
                  "    y = x + 1.0;\n}\n")
        if fits:
            accepted(at, source, 10, ("--emit=cu,json", "-o", "out.cu"))
        else:
            refused(at, source, r"1:\d+",
                    "exceeds 2.63|does not fit|fits no type|not an extent|negative")


def test_derived_sizes(at):
    """sizes that operations make, and those of -D"""
    for text in ("broadcast_to(x[:, None], [4, 4611686018427387904])[:, 0]",
                 "pad(x, [[4611686018427387904, 4611686018427387904]])[0:4]",
                 "pad(x, [[0, 9223372036854775807]])[0:4]",
                 "x * iota(9223372036854775807)[0:4]",
                 "sum(broadcast_to(x, [2305843009213693952, 4]), axis=0)",
                 "reshape(x, [9223372036854775807, 9223372036854775807])",
                 "x[0:9223372036854775807]", "x[9223372036854775807]",
                 "x[-9223372036854775807:]", "roll(x, 9223372036854775808)",
                 "stack([x, x], axis=9223372036854775807)",
                 "x * f32(4611686018427387904 * 4)",
                 "x * f32(-9223372036854775807 - 2)"):
        source = f"fusion f(x: f32[4]) -> (y: f32[4]) {{\n    y = {text};\n}}\n"
        refused(at, source, r"2:\d+", "error")
    for strides in ("2305843009213693952", "4611686018427387904",
                    "9223372036854775807"):
        source = (f"fusion f(x: f32[4] strides({strides})) -> (y: f32[4]) {{\n"
                  "    y = x;\n}\n")
        refused(at, source, "1:20", "exceeds 2.63")
    with faults.new_folder(BODY % "x") as folder:
        for value, words in (("9223372036854775807", "exceeds 2.63"),
                             ("9223372036854775808", "bad-binding"),
                             ("-1", "bad-binding"), ("1e9", "bad-binding"),
                             ("0x7fffffffffffffff", "exceeds 2.63|bad-binding"),
                             ("99999999999999999999999999", "bad-binding")):
            r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion",
                            f"-DM={value}"], folder)
            expect(r, (1, 2), words)
        for value in ("0", "1", "2147483648", "4294967297"):
            r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion",
                            f"-DM={value}"], folder)
            expect(r, (0,))


def test_many(at):
    """many arguments, results, imports and options"""
    for n, statuses in ((64, (0,)), (65, (0,)), (500, (0,)), (5000, (1,))):
        names = ", ".join(f"x{i}: f32[M]" for i in range(n))
        total = " + ".join(f"x{i}" for i in range(n))
        r, seconds = compile_it(at, f"fusion f({names}) -> (y: f32[M]) {{\n    y = "
                                f"{total};\n}}\n",
                                ("--emit=cu,json", "-o", "out.cu"))
        expect(r, statuses)
        check(seconds < 20 * at.patience, f"{n}: {seconds} s")
    with faults.new_folder(BODY % "x") as folder:
        r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion",
                        *[f"-DN{i}=1" for i in range(2000)]], folder)
        expect(r, (2,), "no fusion of")
        check(len(r.err) < 1 << 20, f"{len(r.err)} bytes of messages")
        n = at.imports
        for i in range(n):
            faults.write(folder, f"i{i}.fusion",
                         f'import "i{i + 1}.fusion";\ndef d{i}(x) = x;\n')
        faults.write(folder, f"i{n}.fusion", "def last(x) = x;\n")
        faults.write(folder, "in.fusion", 'import "i0.fusion";\n' + BODY % "last(x)")
        r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion"], folder)
        expect(r, (0, 1), "" if r.status == 0 else "deep|limit|import")
        faults.write(folder, f"i{n}.fusion", 'import "i0.fusion";\n')
        r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion"], folder)
        expect(r, (1,), "cycle|limit")
        for name in ("/dev/zero", "/dev/full", "/proc/self/mem", "."):
            faults.write(folder, "in.fusion", f'import "{name}";\n' + BODY % "x")
            r = faults.run([at.fusec, "--emit=cu", "-o", "out.cu", "in.fusion"],
                           folder)
            expect(r, (1,), "in.fusion:1:8: error")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [
        test_statements, test_chain, test_bytes, test_nesting, test_long,
        test_bytes_that_do_not_belong, test_static_sizes, test_derived_sizes,
        test_many],
        [("statements", 100000, "of the large programs"),
         ("chain", 20000, "additions in a row"),
         ("megabytes", 1, "of the large texts"),
         ("deep", 100000, "nested things"), ("imports", 200, "in a row"),
         ("patience", 3, "times the seconds that a fast machine needs")]))
