#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The width of indices, read in the CUDA text: what can pass 2^31 is computed in 64
bits, in every program of tests/gpu/run_large.py and in shapes around 2^31 and 2^32;
what a bound keeps small stays in 32.

A reader of the text knows which names are int. It complains about a product of an
int with a constant that can pass 2^31 (an int is taken to reach 2^11 at least), about
a block index that is multiplied before it is widened, and about an int made of either,
but where the plan bounds a row's columns: the blocks of a cluster share such a row.
"""

import importlib.util
import os
import re
import sys

import faults
from faults import check, expect

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = re.compile(r"^(fu_\w+_v\d+_k\d+)\((.*?)^}", re.MULTILINE | re.DOTALL)
NARROW = re.compile(r"\b(?:const )?int (\w+)\b")


def large_programs():
    path = os.path.join(HERE, "..", "gpu", "run_large.py")
    spec = importlib.util.spec_from_file_location("run_large", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


# The end or the number of a block's own columns, where blocks share a row.
SHARE = re.compile(r"\bint end = fu_min_i64\(first \+ [^;]*\);|"
                   r"\bint mine = fu_i32\(fu_min_i64\([^;]* - first[^;]*\)\);")


def complaints(body, bound=0):
    """What is too narrow in the text of a kernel; BOUND columns at most, if any."""
    if 0 < bound < 1 << 24:
        body = SHARE.sub("", body)
    ints = set(NARROW.findall(body))
    name = r"\b(?:%s)\b" % "|".join(sorted(ints)) if ints else r"(?!)"
    term = rf"(?<!fu_i64)(?:\((?:{name}|[\s+*\d])+\)|{name})"
    for m in re.finditer(rf"(?<![\w)]){term} \* (\d+)\b(?!ll)", body):
        if int(m.group(1)) >= 1 << 20 and "fu_i64" not in m.group(0):
            yield f"product of ints: {m.group(0)}"
    for m in re.finditer(r"(?<!fu_i64\()\bfu_(?:bid|grid)_[xy]\(\)[ )]*\*", body):
        yield f"block index times something: {m.group(0)}"
    for m in re.finditer(r"\bint (\w+) = ([^;]*);", body):
        if re.search(r"fu_bid_x\(\)|\bd_[A-Z]\w*\b", m.group(2)):
            yield f"an int from a size or a block index: {m.group(0)}"


def read(at, source, args=()):
    """The kernels of a program."""
    with faults.new_folder(source + "\n") as folder:
        r = faults.run([at.fusec, "-Wno-all", "--emit=cu", "-o", "-", *args,
                        "in.fusion"], folder)
        expect(r, (0,))
    found = dict(KERNEL.findall(r.out))
    check(found, "no kernel in the text")
    return found


def bounds(at, source, args):
    """The columns that each variant of the plan admits; 0: any."""
    with faults.new_folder(source + "\n") as folder:
        r = faults.run([at.fusec, "-Wno-all", "--emit=plan", "-o", "-", *args,
                        "in.fusion"], folder)
        expect(r, (0,))
    return [int(n) for n in re.findall(r"\bbound (\d+);", r.out)]


def judge(at, source, args=()):
    most = bounds(at, source, args)
    for symbol, body in read(at, source, args).items():
        variant = int(re.search(r"_v(\d+)_k\d+$", symbol).group(1))
        bad = list(complaints(body, most[variant]))
        check(not bad, f"{source}\n{symbol}: {bad[:5]}\n{body}")


def test_reader(at):
    """the reader itself finds what it looks for"""
    del at
    for body, wrong in (
            ("const int c = t;\nfor (int e = 0; e < 4; ++e)\n"
             "fu_load(p, o + (c + e) * 1073741824);", True),
            ("const int c = t;\nfu_load(p, o + c * 1048576);", True),
            ("const int c = t;\nfu_load(p, o + fu_i64(c + e) * 1073741824);", False),
            ("const int c = t;\nfu_load(p, o + c * 16);", False),
            ("const fu_i64 c = t;\nfu_load(p, o + c * 1073741824);", False),
            ("const fu_i64 r = fu_bid_x() * 4;", True),
            ("const fu_i64 r = fu_i64(fu_bid_x()) * 4;", False),
            ("const int r = fu_bid_x() * 4;", True),
            ("const int end = fu_min_i64(first + m_1, d_N);", True),
            ("const int o = r * d_N;", True)):
        check(bool(list(complaints(body))) == wrong, body)


def test_large_programs(at):
    """the programs that run on a GPU beyond 2^31 elements"""
    for source, args in large_programs().values():
        if "fusion " not in source:
            path = os.path.join(HERE, "..", "..", "examples", f"{source}.fusion")
            with open(path, encoding="utf-8") as f:
                source = f.read()
        judge(at, source, args)


FORMS = {
    "pointwise": "fusion f(x: {T}[{S}]) -> (y: {T}[{S}]) {{ y = {T}(x + x); }}",
    "rows": "fusion f(x: {T}[{S}]) -> (y: f32[{S}]) "
            "{{ y = x / sum(f32(x), axis=1, keepdim=true); }}",
    "columns": "fusion f(x: {T}[{S}], w: f32[N2]) -> (y: f32[N2]) "
               "{{ y = sum(x * w, axis=0); }}",
    "extrema": "fusion f(x: {T}[{S}]) -> (i: i64[N1]) {{ i = argmax(x, axis=1); }}",
    "transpose": "fusion f(x: {T}[{S}]) -> (y: {T}[N2, N1]) "
                 "{{ y = transpose(x, 0, 1); }}",
    "outer": "fusion f(a: {T}[N1], b: {T}[N2]) -> (y: {T}[{S}]) "
             "{{ y = {T}(a[:, None] + b[None, :]); }}",
}


def test_shapes(at):
    """every kind of program, at sizes around 2^31 and 2^32"""
    sizes = [(65536, 65536), (1048577, 4096), (4, 1 << 31), (1 << 31, 4),
             (1 << 32, 3), (3, 4294967311), (2147483647, 1), (1, 2147483647)]
    for form in FORMS.values():
        for n1, n2 in sizes:
            source = form.format(T="bf16", S="N1, N2")
            judge(at, source, (f"-DN1={n1}", f"-DN2={n2}"))
        judge(at, form.format(T="u8", S="N1, N2"))
        judge(at, form.format(T="f32", S="N1, N2"), ("--device=a100",))


def test_strides(at):
    """small tensors whose strides reach beyond 2^31"""
    for rows, columns, strides in (
            ("M", 8192, "1, 1073741824"), ("M", 8192, "1, 1048576"),
            ("M", 4096, "S, 1073741824"), (5, 7, "2147483648, 17179869184"),
            ("M", "N", "S, T"), (64, 64, "33554432, 2147483648"),
            ("M", 12, "1, 500000000")):
        for form in (
                "fusion f(x: u8[{0}, {1}] strides({2})) -> (y: f32[{0}, {1}]) "
                "{{ y = x / sum(f32(x), axis=1, keepdim=true); }}",
                "fusion f(x: u8[{0}, {1}] strides({2})) -> (y: u8[{0}, {1}]) "
                "{{ y = x; }}",
                "fusion f(x: u8[{0}, {1}] strides({2})) -> (y: i64[{1}]) "
                "{{ y = sum(x, axis=0); }}",
                "fusion f(x: f32[{0}, {1}], w: f32[{1}]) -> "
                "(y: f32[{0}, {1}] strides({2})) {{ y = x * w; }}"):
            source = form.format(rows, columns, strides)
            if "S, T" in strides and "-> (y: f32[M, N] strides" in source:
                continue  # results bring no symbols
            if "S, 107" in strides and "y: f32[M, 4096] strides" in source:
                continue
            judge(at, source)


def test_narrow(at):
    """columns stay in 32 bits where a bound proves it"""
    source = ("fusion f(x: bf16[M, N]) -> (y: f32[M]) requires N <= 8192 "
              "{ y = sum(x, axis=1); }")
    bodies = read(at, source).values()
    check(any("const int c = " in b for b in bodies), "all columns are wide")
    check(all(re.search(r"const fu_i64 o_x = ", b) for b in bodies),
          "a row offset is narrow")


if __name__ == "__main__":
    sys.exit(faults.main(__doc__, [test_reader, test_large_programs, test_shapes,
                                   test_strides, test_narrow]))
