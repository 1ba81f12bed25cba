# SPDX-License-Identifier: Apache-2.0
"""Extents as polynomials in symbols, and broadcasting, as the language has
them."""


class Extent:
    """An integer polynomial: {sorted tuple of symbols: coefficient}."""

    def __init__(self, terms=None):
        self.terms = {k: c for k, c in (terms or {}).items() if c}

    @staticmethod
    def of(x):
        if isinstance(x, Extent):
            return x
        return Extent({(): x} if isinstance(x, int) else {(x,): 1})

    def __add__(self, other):
        r = dict(self.terms)
        for k, c in Extent.of(other).terms.items():
            r[k] = r.get(k, 0) + c
        return Extent(r)

    def __sub__(self, other):
        return self + Extent.of(other) * -1

    def __mul__(self, other):
        r = {}
        for a, x in self.terms.items():
            for b, y in Extent.of(other).terms.items():
                k = tuple(sorted(a + b))
                r[k] = r.get(k, 0) + x * y
        return Extent(r)

    def __eq__(self, other):
        return self.terms == Extent.of(other).terms

    def __hash__(self):
        return hash(frozenset(self.terms.items()))

    def number(self):
        """The value when no symbol is in it, else None."""
        if any(self.terms):
            return None
        return self.terms.get((), 0)

    def value(self, sizes):
        total = 0
        for k, c in self.terms.items():
            for s in k:
                c *= sizes[s]
            total += c
        return total

    def __str__(self):
        parts = []
        for k in sorted(self.terms, key=lambda k: (-len(k), k)):
            c, symbols = self.terms[k], " * ".join(k)
            if not k:
                text = str(abs(c))
            elif abs(c) == 1:
                text = symbols
            else:
                text = f"{abs(c)} * {symbols}"
            sign = "-" if c < 0 else "+"
            parts.append((" %s " % sign if parts else "-" * (c < 0)) + text)
        return "".join(parts) or "0"


ONE = Extent.of(1)


def product(dims):
    r = ONE
    for d in dims:
        r = r * d
    return r


def broadcast(a, b):
    """The shape of two operands together, or None."""
    rank = max(len(a), len(b))
    a = (ONE,) * (rank - len(a)) + tuple(a)
    b = (ONE,) * (rank - len(b)) + tuple(b)
    r = []
    for x, y in zip(a, b):
        if x == y or y == ONE:
            r.append(x)
        elif x == ONE:
            r.append(y)
        else:
            return None
    return tuple(r)


def shape_text(dims):
    return "[" + ", ".join(str(d) for d in dims) + "]"
