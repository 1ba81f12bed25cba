# SPDX-License-Identifier: Apache-2.0
"""A second evaluator of the manifest's expressions, written from their grammar
and not from the launch library: integers, names, NAME.shape[i], and operators
with the precedence of the language; i64, floor division, short-circuit logic.
"""

import re

TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*(?:\.\w+(?:\[\d+\])?)?|&&|\|\||[=!<>]=|"
                   r"[-+*/%<>!(),])")
LEVELS = [("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"),
          ("*", "/", "%")]
CALLS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}
COMPARE = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b,
           "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
           ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


class NoValue(Exception):
    """Overflow, a zero divisor, or a name without a value."""


def tokens(text):
    at, found = 0, []
    text = text.strip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError(f"'{text}' at {at}")
        found.append(m[1])
        at = m.end()
    return found


class Parser:
    """Recursive descent to nested tuples (operator, operands...)."""

    def __init__(self, text):
        self.rest = tokens(text)

    def take(self, *wanted):
        if self.rest and self.rest[0] in wanted:
            return self.rest.pop(0)
        return None

    def binary(self, level=0):
        if level == len(LEVELS):
            return self.unary()
        tree = self.binary(level + 1)
        while op := self.take(*LEVELS[level]):
            tree = (op, tree, self.binary(level + 1))
        return tree

    def unary(self):
        op = self.take("-", "!")
        return ("neg" if op == "-" else "!", self.unary()) if op \
            else self.primary()

    def primary(self):
        word = self.rest.pop(0)
        if word == "(":
            tree = self.binary()
            assert self.take(")")
            return tree
        if word in CALLS and self.take("("):
            args = [self.binary()]
            while self.take(","):
                args.append(self.binary())
            assert self.take(")")
            return (word, *args)
        return int(word) if word.isdigit() else word


def parse(text):
    p = Parser(text)
    tree = p.binary()
    assert not p.rest, f"'{text}': '{p.rest[0]}' is left"
    return tree


def in_range(v):
    if not -2**63 <= v < 2**63:
        raise NoValue("overflow")
    return v


def divide(op, a, b):
    if b == 0:
        raise NoValue("division by zero")
    return a // b if op == "/" else a % b


def logic(op, a, b, names):
    left = evaluate(a, names) != 0
    if left == (op == "||"):
        return int(left)
    return int(evaluate(b, names) != 0)


def apply(op, args):
    if op in COMPARE:
        return int(COMPARE[op](*args))
    if op in ("/", "%"):
        return divide(op, *args)
    if op == "ceil_div" and args[1] == 0:
        raise NoValue("division by zero")
    if op in CALLS:
        return CALLS[op](*args)
    if op == "!":
        return int(args[0] == 0)
    return {"neg": lambda a: -a, "+": lambda a, b: a + b,
            "-": lambda a, b=None: a - b, "*": lambda a, b: a * b}[op](*args)


def evaluate(tree, names):
    """Of a tree, or of a text."""
    if isinstance(tree, int):
        return in_range(tree)
    if isinstance(tree, str):
        if tree not in names:
            raise NoValue(tree)
        return names[tree]
    op, *args = tree
    if op in ("&&", "||"):
        return logic(op, *args, names)
    return in_range(apply(op, [evaluate(a, names) for a in args]))


def value(text, names):
    return evaluate(parse(text), names)


def chosen(fusion, names):
    """The first variant whose guard holds, as a launcher takes it."""
    for v in fusion["variants"]:
        if not v["guard"] or value(v["guard"], names):
            return v
    raise AssertionError("no variant is left")


def launches(fusion, names):
    """[(kernel, grid, block, bytes of shared memory)] for a size."""
    return [(x["kernel"], [value(g, names) for g in x["grid"]], x["block"],
             value(x["dynamic_smem"], names))
            for x in chosen(fusion, names)["launches"]]
