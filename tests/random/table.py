# SPDX-License-Identifier: Apache-2.0
"""The compiler's tables, as op_table prints them, and what follows from a row:
the type of a result and the range of its values."""

import json
import math
import subprocess

UNKNOWN = 1e30
FORMS = {"any": (-4.0, 4.0), "unit": (-0.9, 0.9), "positive": (0.25, 4.0),
         "above_one": (1.25, 4.0)}


class Table:
    def __init__(self, program):
        printed = subprocess.run([str(program)], check=True, text=True,
                                 capture_output=True)
        tree = json.loads(printed.stdout)
        self.dtypes = {d["name"]: d for d in tree["dtypes"]}
        self.ops = tree["ops"]
        for op in self.ops:
            op["args"] = op["formals"].split()
        self.drawn = [op for op in self.ops if op["kernel"]]

    def kind(self, dtype):
        return self.dtypes[dtype]["class"]

    def is_float(self, dtype):
        return self.kind(dtype) in ("float", "storage")

    def limits(self, dtype):
        """The range of an integer type."""
        d = self.dtypes[dtype]
        if d["class"] == "bool":
            return 0.0, 1.0
        bits = 8 * d["bytes"]
        if not d["signed"]:
            return 0.0, 2.0 ** bits - 1
        return -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1

    def promote(self, a, b):
        """Of two types that arithmetic meets."""
        if self.is_float(a) or self.is_float(b):
            return "f64" if "f64" in (a, b) else "f32"
        if a == b or b == "bool":
            return a
        if a == "bool":
            return b
        if "u8" in (a, b):
            other = b if a == "u8" else a
            return "i16" if other == "i8" else other
        return max(a, b, key=lambda t: self.dtypes[t]["bytes"])

    def arithmetic(self, types):
        r = types[0]
        if self.kind(r) == "storage":
            r = "f32"
        for t in types[1:]:
            r = self.promote(r, t)
        return r

    def result(self, op, types):
        """The type of a row's result, from the types of its operands."""
        rule = op["type"]
        first = types[0]
        if rule in ("bool", "logic"):
            return "bool"
        if rule in ("keep", "shift"):
            return first
        if rule == "index":
            return "i64"
        if rule == "select":
            a, b = types[1:]
            return a if a == b else self.arithmetic([a, b])
        if rule == "extreme":
            return "f32" if self.kind(first) == "storage" else first
        if rule == "sum":
            if self.is_float(first):
                return "f64" if first == "f64" else "f32"
            return "i64" if op["name"] in ("sum", "prod") else "f32"
        t = self.arithmetic(types)
        if rule == "float" and not self.is_float(t):
            return "f32"
        return t

    def takes(self, op, dtype):
        """Whether the row's rule allows an operand of this type."""
        kind, rule = self.kind(dtype), op["type"]
        if rule == "logic":
            return kind == "bool"
        if rule == "bits":
            return kind in ("bool", "int")
        if rule == "shift":
            return kind == "int"
        if rule in ("arith", "round"):
            return kind != "bool" and (op["ints"] or kind != "int")
        return True


def safe_forms(op):
    """[(first, rest, lo, hi)] of the ranges of operands on which a row is
    finite and not large."""
    return [(a, b, lo, hi) for a, b, part, lo, hi in op.get("probes", [])
            if part >= 0.99 and max(abs(lo), abs(hi)) < 1e4]


def inside(lo, hi, form):
    a, b = FORMS[form]
    return a <= lo and hi <= b


def widened(lo, hi):
    pad = 0.25 * max(abs(lo), abs(hi)) + 0.01
    return lo - pad, hi + pad


def interval(name, a, b):
    """Of a sum, difference or product of two ranges."""
    with_nan = {"+": lambda x, y: x + y, "-": lambda x, y: x - y,
                "*": lambda x, y: x * y}[name]
    ends = [with_nan(x, y) for x in a for y in b]
    if any(math.isnan(e) for e in ends):
        return -UNKNOWN, UNKNOWN
    return max(min(ends), -UNKNOWN), min(max(ends), UNKNOWN)
