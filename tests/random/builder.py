# SPDX-License-Identifier: Apache-2.0
"""One program in the making: parameters, statements, results, and the values
that statements may use, each with its type, its extents and the range that its
elements lie in."""

import dataclasses
import math

from extents import ONE, Extent, broadcast, product, shape_text
from table import (FORMS, UNKNOWN, inside, interval, safe_forms, widened)

MAX_RANGE = 1e6
SYMBOL_SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 61,
                63, 64, 65, 96, 100, 127, 128, 129, 192, 255, 256, 257, 384,
                509, 511, 512, 513, 768, 1000, 1021, 1023, 1024, 1025, 1536,
                2047, 2048, 2049, 3000, 4093, 4096, 4097]


@dataclasses.dataclass
class Value:
    text: str
    dtype: str
    dims: tuple
    lo: float = -UNKNOWN
    hi: float = UNKNOWN

    def magnitude(self):
        return max(abs(self.lo), abs(self.hi))


class Builder:
    def __init__(self, rng, table, name):
        self.rng, self.table, self.name = rng, table, name
        self.params, self.results, self.statements = [], [], []
        self.requires = []
        self.sizes = [{}, {}]     # of each EXEC line
        self.settings = [{}, {}]  # scalars
        self.pool = []
        self.inputs = {}          # name -> (dims, dtype, layout)
        self.count = 0
        self.used_ops = []        # (op, dtype of its first operand)
        self.read = set()         # texts of values that something reads

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # --- extents ---------------------------------------------------------

    def axis(self, largest, symbolic):
        """A new axis: a number, or a symbol with a value an EXEC line."""
        choice = [n for n in SYMBOL_SIZES if n <= largest]
        weights = [0.3 if n == 0 else 1 for n in choice]

        def pick():
            return self.rng.choices(choice, weights)[0]
        if not symbolic:
            return Extent.of(pick())
        name = self.fresh("N")
        for sizes in self.sizes:
            sizes[name] = pick()
        if self.chance(0.06):
            self.require(name)
        return Extent.of(name)

    def require(self, name):
        k = self.rng.choice([2, 4, 8])
        for sizes in self.sizes:
            sizes[name] = -(-sizes[name] // k) * k
        self.requires.append(f"{name} % {k} == 0")

    def elements(self, dims):
        return max(product(dims).value(s) for s in self.sizes)

    # --- inputs ----------------------------------------------------------

    def range_of(self, dtype):
        if self.table.is_float(dtype):
            return -4.0, 4.0
        lo, hi = self.table.limits(dtype)
        return max(lo, -100.0), min(hi, 100.0)

    def tensor(self, dims, dtype, plain=False):
        name = self.fresh("x")
        layout = "" if plain else self.layout(dims, dtype)
        self.shift(name, dtype, layout)
        self.params.append(f"{name}: {dtype}{shape_text(dims)}{layout}")
        self.inputs[name] = (dims, dtype, layout)
        return Value(name, dtype, tuple(dims), *self.range_of(dtype))

    def scalar(self):
        dtype = self.rng.choice(["f32", "f32", "f64", "i32", "i64", "bool"])
        name = self.fresh("s")
        lo, hi = (0.0, 1.0) if dtype == "bool" else (-3.0, 3.0)

        def pick():
            if self.table.is_float(dtype):
                return repr(round(self.rng.uniform(lo, hi), 3))
            return str(self.rng.randint(int(lo), int(hi)))
        default = ""
        if self.chance(0.4):
            default = " = " + pick()
            if dtype == "bool":
                default = " = " + self.rng.choice(["true", "false"])
        self.params.append(f"{name}: {dtype}{default}")
        for settings in self.settings:
            if not default or self.chance(0.5):
                settings[name] = pick()
        return Value(name, dtype, (), lo, hi)

    def literal(self, dtype):
        if dtype == "bool":
            return Value(self.rng.choice(["true", "false"]), "bool", (), 0, 1)
        if not self.table.is_float(dtype):
            k = self.rng.randint(0, 7)
            return Value(str(k), dtype, (), k, k)
        x = self.rng.choice([0.5, 1.0, 2.0, 0.1, 1.5, 3.0, 0.25, 1e-5, 0.7])
        return Value(repr(x), "f64" if dtype == "f64" else "f32", (), x, x)

    def layout(self, dims, dtype, output=False):
        """Strides and alignment other than the default, at times."""
        text = ""
        empty = any(d.number() == 0 for d in dims)
        if dims and not (output and empty) and self.chance(0.1):
            text += self.strides(dims, output)
        if self.chance(0.08):
            least = self.table.dtypes[dtype]["bytes"]
            align = self.rng.choice([n for n in (1, 2, 4, 8, 32, 64, 128)
                                     if n >= least])
            text += f" align({align})"
        return text

    def shift(self, name, dtype, layout):
        """Where less alignment than the default is declared, there is less."""
        if "align(" not in layout:
            return
        align = int(layout.split("align(")[1].rstrip(")"))
        if align < 16:
            for settings in self.settings:
                settings[f"{name}.shift"] = (
                    align // self.table.dtypes[dtype]["bytes"])

    def strides(self, dims, output):
        """Results have no extents of their own and no two elements in one
        place."""
        how = self.rng.choice(["pitch", "pitch", "column", "gaps",
                               "gaps" if output else "zero"])
        rank = len(dims)
        if how == "column":
            steps = [product(dims[:d]) for d in range(rank)]
        elif how == "gaps":
            steps = [product(dims[d + 1:]) * 2 for d in range(rank)]
        elif how == "zero" and rank > 1:
            steps = [product(dims[d + 1:]) for d in range(rank)]
            steps[self.rng.randrange(rank)] = Extent.of(0)
        elif rank > 1:
            pitch = dims[-1] + 3 if output else self.pitch(dims[-1])
            steps = [product(dims[d + 1:rank - 1]) * pitch
                     for d in range(rank - 1)] + [ONE]
        else:
            return ""
        return " strides(" + ", ".join(str(s) for s in steps) + ")"

    def pitch(self, extent):
        """A symbol for the distance of rows, at least the extent."""
        name = self.fresh("P")
        more = self.rng.choice([0, 1, 3, 8])
        for sizes in self.sizes:
            sizes[name] = extent.value(sizes) + more
        return Extent.of(name)

    # --- statements ------------------------------------------------------

    def keep(self, v, always=False):
        """The value by a name of its own, or as it is written."""
        if v.text.isidentifier():
            return v
        if not always and len(v.text) < 60 and self.chance(0.3):
            return v
        name = self.fresh("v")
        self.statements.append(f"{name} = {v.text};")
        return dataclasses.replace(v, text=name)

    def add(self, v):
        v = self.keep(v)
        self.pool.append(v)
        return v

    # --- ranges ----------------------------------------------------------

    def into(self, v, form):
        """A value made of v that lies in the range."""
        if inside(v.lo, v.hi, form):
            return v
        lo, hi = FORMS[form]
        t = self.table.arithmetic([v.dtype])
        if not self.table.is_float(t):
            t = "f32"
        half = (hi - lo) / 2
        how = self.rng.choice(["clamp", "tanh", "scale"])
        if how == "clamp" and self.table.is_float(v.dtype):
            text = f"clamp({v.text}, lo={lo}, hi={hi})"
        elif how == "scale" and v.magnitude() <= MAX_RANGE:
            factor = half / max(v.magnitude(), half)
            text = f"({v.text} * {factor:.3g} + {(lo + hi) / 2})"
            return Value(text, t, v.dims, lo - 0.01, hi + 0.01)
        else:
            inner = v.text
            if 4 < v.magnitude() <= MAX_RANGE:
                inner = f"{v.text} * {3 / v.magnitude():.3g}"
            text = (f"({half} * tanh({inner}))" if lo + hi == 0 else
                    f"({lo} + {hi - lo} * sigmoid({inner}))")
        return Value(text, t, v.dims, lo, hi)

    def tame(self, v):
        if v.magnitude() <= MAX_RANGE or not self.table.is_float(v.dtype):
            return v
        return self.into(v, "any") if self.chance(0.97) else v

    # --- pointwise operations --------------------------------------------

    def call_text(self, op, texts):
        name = op["name"]
        if op["operator"]:
            if len(texts) == 1:
                return f"({name}{texts[0]})"
            return f"({texts[0]} {name} {texts[1]})"
        if name == "where" and self.chance(0.5):
            return "({} ? {} : {})".format(*texts)
        parts = []
        for formal, text in zip(op["args"], texts):
            key = formal.rstrip("?=")
            parts.append(f"{key}={text}" if formal[-1] in "?=" else text)
        return f"{name}({', '.join(parts)})"

    def arguments(self, op, operands):
        """The operands within a range where the row is defined, and the range
        of the result."""
        forms = safe_forms(op)
        floats = [self.table.is_float(v.dtype) for v in operands]
        if op["name"] in ("+", "-", "*") and len(operands) == 2:
            operands = [self.tame(v) for v in operands]
            a, b = operands
            return operands, interval(op["name"], (a.lo, a.hi), (b.lo, b.hi))
        compares = op["type"] == "bool" and len(operands) == 2
        if not forms or compares or (op["type"] in ("arith", "round")
                                     and not any(floats)):
            return operands, (-UNKNOWN, UNKNOWN)
        if self.chance(0.03):
            return operands, (-UNKNOWN, UNKNOWN)
        fits = [f for f in forms
                if inside(operands[0].lo, operands[0].hi, f[0])
                and all(inside(v.lo, v.hi, f[1]) for v in operands[1:])]
        first, rest, lo, hi = self.rng.choice(fits or forms)
        operands = [self.into(self.away_from_zero(op, i, v),
                              rest if i else first)
                    for i, v in enumerate(operands)]
        if len(operands) > op["arity"]:  # made of rows, the probes are of one
            return operands, (-UNKNOWN, UNKNOWN)
        return operands, widened(lo, hi)

    def away_from_zero(self, op, i, v):
        """Integers and what is made of them are 0 too often for a divisor."""
        if v.lo > 0 or v.hi < 0 or i >= op["arity"] or op["at_zero"][i]:
            return v
        if self.chance(0.15):
            return v
        return self.into(v, "positive")

    def apply(self, op, operands):
        """A pointwise row on operands whose shapes broadcast."""
        self.used_ops.append((op["name"], operands[0].dtype))
        self.read.update(v.text for v in operands)
        if op["type"] == "select":
            c, rest = operands[0], [self.tame(v) for v in operands[1:]]
            bounds = (min(v.lo for v in rest), max(v.hi for v in rest))
            operands = [c, *rest]
        elif op["name"] == "clamp":
            bounds = (min(v.lo for v in operands[1:]),
                      max(v.hi for v in operands[1:]))
        else:
            operands, bounds = self.arguments(op, operands)
        dtype = self.table.result(op, [v.dtype for v in operands])
        if dtype == "bool":
            bounds = (0.0, 1.0)
        dims = ()
        for v in operands:
            dims = broadcast(dims, v.dims)
        return Value(self.call_text(op, [v.text for v in operands]), dtype,
                     dims, *bounds)

    # --- reductions ------------------------------------------------------

    def reduce(self, op, v, axes, keepdim):
        self.used_ops.append((op["name"], v.dtype))
        self.read.add(v.text)
        rank = len(v.dims)
        n = max(product(v.dims[a] for a in axes).value(s) for s in self.sizes)
        v = self.ready_to_reduce(op, self.tame(v), n)
        text = f"{op['name']}({v.text}{self.axes_text(op, axes, rank)}"
        for formal in op["args"]:
            if formal == "correction?" and self.chance(0.5):
                text += f", correction={self.rng.choice([0, 1, 2])}"
            if formal == "p?" and self.chance(0.5):
                text += f", p={self.rng.choice(['1', '2', '3', '0.5', 'inf'])}"
        text += (", keepdim=true)" if keepdim else ")")
        dims = tuple(ONE if d in axes else e for d, e in enumerate(v.dims)
                     if keepdim or d not in axes)
        dtype = self.table.result(op, [v.dtype])
        if op["name"] == "var_mean":
            return self.two_results(text, dtype, dims, v)
        return Value(text, dtype, dims, *self.reduced_range(op, v, n))

    def axes_text(self, op, axes, rank):
        if len(axes) == rank and rank != 1 and (
                op["type"] == "index" or self.chance(0.5)):
            return ""
        shown = [a - rank if self.chance(0.4) else a for a in axes]
        if len(shown) == 1 and (op["type"] == "index" or self.chance(0.9)):
            return f", axis={shown[0]}"
        return ", axis=[" + ", ".join(str(a) for a in shown) + "]"

    def two_results(self, text, dtype, dims, v):
        a, b = self.fresh("v"), self.fresh("v")
        self.statements.append(f"{a}, {b} = {text};")
        m = max(v.magnitude(), 1e-3)
        self.pool.append(Value(b, dtype, dims, -m, m))
        return Value(a, dtype, dims, 0.0, m * m)

    def ready_to_reduce(self, op, v, n):
        """Products of many elements need factors near 1."""
        if op["name"] != "prod" or not self.table.is_float(v.dtype):
            return v
        if v.magnitude() <= 1 or n * math.log(v.magnitude()) < 20:
            return v
        v = self.into(v, "any")
        t = self.table.arithmetic([v.dtype])
        c = 0.5 / max(n, 4)
        return Value(f"(1.0 + {c:.2g} * {v.text})", t, v.dims, 0.5, 1.5)

    def reduced_range(self, op, v, n):
        name, m = op["name"], v.magnitude()
        if op["type"] == "logic":
            return 0.0, 1.0
        if op["type"] == "index":
            return -1.0, float(n)
        if op["type"] == "extreme" or name == "mean":
            return v.lo, v.hi
        if name == "prod":
            return (-1e9, 1e9) if v.hi <= 1.5 else (-UNKNOWN, UNKNOWN)
        if name == "var":
            return 0.0, min(m * m * 2, UNKNOWN)
        if name == "std":
            return 0.0, min(m * 2, UNKNOWN)
        if name == "logsumexp":
            return v.lo - 1, v.hi + math.log(n + 1)
        if name == "norm":
            return 0.0, min(m * n * n, UNKNOWN)
        return max(min(v.lo * n, 0.0), -UNKNOWN), min(max(v.hi * n, 0.0),
                                                      UNKNOWN)

    # --- results ---------------------------------------------------------

    def store(self, v):
        """An output of the value, of a type that takes it."""
        v = self.keep(v, always=True)
        dtype, cast = self.store_type(v)
        name = self.fresh("y")
        layout, inplace = self.layout(v.dims, dtype, output=True), ""
        for x, (dims, t, how) in self.inputs.items():
            if (dims == v.dims and t == dtype and "strides" not in how
                    and dims and self.chance(0.3)):
                inplace, layout = f" = inplace({x})", how
                del self.inputs[x]
                break
        if not inplace:
            self.shift(name, dtype, layout)
        self.results.append(
            f"{name}: {dtype}{shape_text(v.dims)}{layout}{inplace}")
        text = f"{cast}({v.text})" if cast else v.text
        self.statements.append(f"{name} = {text};")

    def store_type(self, v):
        """The type of the output, and the cast it needs or "". """
        kind = self.table.kind(v.dtype)
        if kind in ("float", "storage"):
            if self.chance(0.04):
                t = self.rng.choice(["i32", "i64", "u8", "i8", "bool"])
                return t, t
            if self.chance(0.3) and v.dtype != "f32":
                return v.dtype, ""
            t = self.rng.choice([n for n in self.table.dtypes
                                 if self.table.is_float(n)
                                 and self.table.dtypes[n]["kernel"]]
                                + ["f32", "f32", "bf16", "bf16", "f16"])
            return t, t if self.chance(0.1) else ""
        if self.chance(0.5):
            return v.dtype, ""
        t = self.rng.choice(["i64", "i32", "f32", "f32", "bf16", "u8", "i16"])
        wider = t == "i64" or self.table.is_float(t)
        return t, "" if wider else t

    # --- text ------------------------------------------------------------

    def lines(self):
        for sizes, settings in zip(self.sizes, self.settings):
            words = {**sizes, **settings}
            yield "# EXEC:" + "".join(f" {k}={v}" for k, v in words.items())

    def text(self):
        lines = list(dict.fromkeys(self.lines()))
        requires = ""
        if self.requires:
            requires = "    requires " + ", ".join(self.requires) + "\n"
        return ("\n".join(lines) + f"\nfusion {self.name}(\n    "
                + ",\n    ".join(self.params) + "\n) -> (\n    "
                + ",\n    ".join(self.results) + "\n)\n" + requires + "{\n    "
                + "\n    ".join(self.statements) + "\n}\n")
