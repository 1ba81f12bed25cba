# SPDX-License-Identifier: Apache-2.0
"""Values with a bound on their error, and the rule by which a result is right.

A value is computed in double; its bound says how far f32 arithmetic in any
order may be from it: 0 for inputs, and an operation adds what the bounds of
its arguments can move it by and its own rounding. It is the rule of `fusec-run
--check`, written for whole arrays, of NumPy or of PyTorch (`xp`). A result is
right when it is as far from the value as the bound and one ulp of its type
allow, and not NaN.
"""

UNIT = 2.0 ** -24
# Mantissa bits and least normal number of the types of results.
TYPES = {"f32": (23, 2.0 ** -126), "bf16": (7, 2.0 ** -126),
         "f16": (10, 2.0 ** -14)}


class Bounded:
    """Arrays v (value) and e (bound; 0 where exact), of one library xp."""

    def __init__(self, xp, v, e=0.0):
        self.xp, self.v, self.e = xp, v, e

    def _rounded(self, v, e, ulp=0.5):
        return Bounded(self.xp, v, e + ulp * 2 * UNIT * abs(v))

    def _other(self, x):
        return x if isinstance(x, Bounded) else Bounded(self.xp, x)

    def __add__(self, x):
        x = self._other(x)
        return self._rounded(self.v + x.v, self.e + x.e)

    def __sub__(self, x):
        x = self._other(x)
        return self._rounded(self.v - x.v, self.e + x.e)

    def __mul__(self, x):
        x = self._other(x)
        e = abs(self.v) * x.e + abs(x.v) * self.e + self.e * x.e
        return self._rounded(self.v * x.v, e)

    def __truediv__(self, x):
        x = self._other(x)
        least = abs(x.v) - x.e  # positive for all that is divided by here
        v = self.v / x.v
        return self._rounded(v, (self.e + abs(v) * x.e) / least)

    def __getitem__(self, at):
        return Bounded(self.xp, self.v[at],
                       self.e if isinstance(self.e, float) else self.e[at])

    def exp(self):
        v = self.xp.exp(self.v)
        moved = self.xp.expm1(self.e + 0.0 * self.v)
        return self._rounded(v, v * moved, 2)

    def log(self):
        v = self.xp.log(self.v)
        return self._rounded(v, self.e / (self.v - self.e), 1)

    def rsqrt(self):
        v = self.v ** -0.5
        return self._rounded(v, (self.v - self.e) ** -0.5 - v, 2)

    def sigmoid(self):
        one = Bounded(self.xp, 1.0)
        return one / (Bounded(self.xp, -self.v, self.e).exp() + 1.0)

    def sum(self, axis=1):
        """Without the axis."""
        n = self.v.shape[axis]
        e = self.e * n if isinstance(self.e, float) else self.e.sum(axis)
        rate = (8 + n ** 0.5 / 8) * UNIT
        return Bounded(self.xp, self.v.sum(axis),
                       e + rate * abs(self.v).sum(axis))

    def mean(self, axis=1):
        return self.sum(axis) / float(self.v.shape[axis])

    def max(self):
        """Along the rows, of exact values."""
        assert isinstance(self.e, float)
        return Bounded(self.xp, self.xp.amax(self.v, 1))

    def stored(self, dtype):
        """Rounded to a storage type, and f32 again."""
        if dtype == "f32":
            return self
        step = ulp(self.xp, self.v, dtype)
        v = self.xp.round(self.v / step) * step
        # Where another value could round, the neighbour is as right.
        e = self.e if isinstance(self.e, float) else self.e * 1.0
        near = self._near(self.v / step, e / step)
        return Bounded(self.xp, v, e + step * near)

    def _near(self, steps, e):
        """1.0 where a boundary of rounding lies within e of the value."""
        away = abs(steps - self.xp.floor(steps) - 0.5)
        return 1.0 * (away <= e)


def ulp(xp, v, dtype):
    """The distance of neighbouring numbers of DTYPE at v."""
    bits, least = TYPES[dtype]
    size = xp.clip(abs(v), least, None)
    mantissa, _ = xp.frexp(size)
    return size / mantissa * 2.0 ** (-1 - bits)


def worst(xp, got, want, dtype):
    """The largest error of `got`, an array in double, as a part of what is
    allowed: right up to 1."""
    allowed = want.e + ulp(xp, want.v, dtype)
    part = abs(got - want.v) / allowed
    part = xp.where(part == part, part, float("inf"))
    return float(part.max()) if part.shape[0] else 0.0


class ColumnSums:
    """Sums over the rows, of terms that come in pieces."""

    def __init__(self):
        self.n, self.v, self.e, self.size = 0, 0.0, 0.0, 0.0

    def add(self, terms):
        self.n += terms.v.shape[0]
        self.v = self.v + terms.v.sum(0)
        if not isinstance(terms.e, float):
            self.e = self.e + terms.e.sum(0)
        self.size = self.size + abs(terms.v).sum(0)

    def total(self, xp):
        rate = (8 + self.n ** 0.5 / 8) * UNIT
        return Bounded(xp, self.v, self.e + rate * self.size)
