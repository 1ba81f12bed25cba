#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a program that fails smaller, while it fails in the same way.

    reduce.py --test RANDOM_TEST [--out FILE] PROGRAM.fusion -- COMPILER [...]

Leaves out EXEC lines, results, parameters, statements and conditions, puts a
part of an expression, or a literal, in its place, turns types into f32, drops
layouts and makes sizes smaller, until nothing more can go. The way of failing
is the outcome and the kind of its report (a mismatch, a race, ...), so a
candidate that the compiler refuses counts for nothing.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import run_random

TOKEN = re.compile(r"\s+|[A-Za-z_]\w*|\d[\w.]*(?:[eE][+-]?\d+)?|//|\*\*|<<|>>|"
                   r"[<>=!]=|&&|\|\||.")
OPEN, CLOSE = "([", ")]"
KINDS = ("mismatch", "report", "differ", "compile-failure", "BUG", "assert")


# --- the program as lists ----------------------------------------------------

class Program:
    """The lines of a program as Builder.text lays them out."""

    def __init__(self, text):
        head, body = text.split("\n{\n")
        self.exec = re.findall(r"^# EXEC:.*$", head, re.M)
        head = "\n".join(line for line in head.splitlines()
                         if not line.startswith("#"))
        self.name, params, results, requires = re.match(
            r"fusion (\w+)\((.*)\)\s*->\s*\((.*?)\)\s*(?:requires(.*))?$",
            re.sub(r"\s+", " ", head)).groups()
        self.params = split_list(params)
        self.results = split_list(results)
        self.requires = split_list(requires or "")
        self.statements = [s.strip() for s in body.rsplit("}", 1)[0].split(";")
                           if s.strip()]

    def text(self):
        requires = ""
        if self.requires:
            requires = "    requires " + ", ".join(self.requires) + "\n"
        return ("\n".join(self.exec) + f"\nfusion {self.name}(\n    "
                + ",\n    ".join(self.params) + "\n) -> (\n    "
                + ",\n    ".join(self.results) + "\n)\n" + requires + "{\n    "
                + "\n    ".join(s + ";" for s in self.statements) + "\n}\n")

    def copy(self):
        return Program(self.text())


def split_list(text):
    """Items between commas that are outside all brackets."""
    items, depth, item = [], 0, ""
    for c in text:
        depth += (c in OPEN) - (c in CLOSE)
        if c == "," and depth == 0:
            items.append(item.strip())
            item = ""
        else:
            item += c
    return [i for i in [*items, item.strip()] if i]


# --- ways to make it smaller -------------------------------------------------

def without_items(p):
    """One line, result, parameter, statement or condition less."""
    for i in range(len(p.results)):
        q = p.copy()
        name = q.results.pop(i).split(":")[0]
        q.statements = [s for s in q.statements
                        if s.split("=")[0].strip() != name]
        yield q
    for field in ("exec", "statements", "params", "requires"):
        for i in reversed(range(len(getattr(p, field)))):
            q = p.copy()
            del getattr(q, field)[i]
            yield q


def spans(tokens):
    """(first, past last) of every bracketed group, with a name before it."""
    stack = []
    for i, t in enumerate(tokens):
        if t in OPEN:
            stack.append(i)
        elif t in CLOSE and stack:
            at = stack.pop()
            if at and (tokens[at - 1][0].isalpha() or tokens[at - 1] == "]"):
                at -= 1
            yield at, i + 1


def smaller_expressions(p):
    """A group of an expression replaced by a part of it or by a literal."""
    for k, statement in enumerate(p.statements):
        left, right = statement.split(" = ", 1)
        tokens = TOKEN.findall(right)
        for a, b in sorted(set(spans(tokens)), key=lambda s: s[0] - s[1]):
            inner = "".join(tokens[a:b])
            inside = inner[inner.index("(") + 1:-1] if "(" in inner else ""
            parts = split_list(inside) if inside else []
            parts += re.split(r" (?:[-+*/%<>&|^?:]|[<>=!]=|//|&&|\|\||<<|>>) ",
                              inside) if inside.count("(") < 2 else []
            for part in [*parts, "1.5"]:
                if part == inner or "=" in part and "==" not in part:
                    continue
                q = p.copy()
                q.statements[k] = f"{left} = " + "".join(
                    [*tokens[:a], part, *tokens[b:]])
                yield q


def inlined(p):
    """A statement in the place of the only name that reads it."""
    for k, statement in enumerate(p.statements):
        left, right = statement.split(" = ", 1)
        for i in range(k + 1, len(p.statements)):
            if re.search(rf"\b{left}\b", p.statements[i].split(" = ", 1)[1]):
                q = p.copy()
                a, b = q.statements[i].split(" = ", 1)
                q.statements[i] = f"{a} = " + re.sub(
                    rf"\b{left}\b", lambda _: f"({right})", b)
                yield q


def plainer_heads(p):
    """Types as f32, no layouts, no default values."""
    for field in ("params", "results"):
        for i, item in enumerate(getattr(p, field)):
            for pattern, by in ((r" strides\([^)]*\)", ""),
                                (r" align\(\d+\)", ""),
                                (r" = inplace\(\w+\)", ""),
                                (r": \w+", ": f32"), (r" = [^ (]+$", "")):
                new = re.sub(pattern, by, item)
                if new != item:
                    q = p.copy()
                    getattr(q, field)[i] = new
                    yield q


def smaller_numbers(p):
    """Sizes on EXEC lines, and extents everywhere at once."""
    for i, line in enumerate(p.exec):
        for m in re.finditer(r" ([\w.]+)=(-?[\d.]+)", line):
            for new in smaller(m.group(2)):
                q = p.copy()
                q.exec[i] = f"{line[:m.start(2)]}{new}{line[m.end(2):]}"
                yield q
            q = p.copy()
            q.exec[i] = line[:m.start()] + line[m.end():]
            yield q
    for n in sorted(set(re.findall(r"\b\d+\b", " ".join(p.params))), key=int,
                    reverse=True):
        for new in smaller(n):
            q = p.copy()
            for field in ("params", "results", "statements"):
                setattr(q, field, [re.sub(rf"(?<![\w.]){n}(?![\w.])", new, x)
                                   for x in getattr(q, field)])
            yield q


def smaller(text):
    if "." in text or text.startswith("-"):
        return ["1"]
    n = int(text)
    return [str(k) for k in sorted({0, 1, 2, 3, n // 2, n - 1}) if 0 <= k < n]


STEPS = (without_items, smaller_expressions, plainer_heads, smaller_numbers,
         inlined)


# --- the search --------------------------------------------------------------

def way_of_failing(args, text):
    """None, or what went wrong, without places and numbers."""
    with tempfile.TemporaryDirectory(prefix="reduce.") as folder:
        path = Path(folder) / "p.fusion"
        path.write_text(text)
        records, err, end = run_random.run_once(args, [path])
    record = records.get(str(path), {"status": "died", "message": err})
    if record["status"] in ("ok", "rejected", "no lines", "illegal"):
        return None
    said = record["message"]
    kind = next((k for k in KINDS if k in said), str(end))
    detail = re.search(r"report: (?:\S+: )?([a-z-]+):", said)
    return record["status"], kind, detail.group(1) if detail else ""


def reduce(args, text):
    """The smallest program found, and how many were tried."""
    wanted = way_of_failing(args, text)
    if wanted is None:
        sys.exit("reduce.py: the program doesn't fail")
    best, tried, again, seen = Program(text), 0, True, {text}
    while again and tried < args.tries:
        again = False
        for step in STEPS:
            queue = list(step(best))
            while queue and tried < args.tries:
                candidate = queue.pop(0)
                if len(candidate.text()) >= len(best.text()) + 9:
                    continue
                if candidate.text() in seen:
                    continue
                seen.add(candidate.text())
                tried += 1
                if way_of_failing(args, candidate.text()) != wanted:
                    continue
                best, again = candidate, True
                queue = list(step(best))
    return best.text(), tried


def main():
    own, compiler = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, compiler = own[:at], own[at + 1:]
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--test", required=True, type=Path)
    ap.add_argument("--out", type=Path)
    ap.add_argument("--tries", type=int, default=400)
    ap.add_argument("--timeout", type=float, default=60)
    ap.add_argument("program", type=Path)
    args = ap.parse_args(own)
    args.compiler = compiler
    text, tried = reduce(args, args.program.read_text())
    if args.out:
        args.out.write_text(text)
    print(f"# after {tried} candidates\n{text}", end="")


if __name__ == "__main__":
    main()
