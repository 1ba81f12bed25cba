# SPDX-License-Identifier: Apache-2.0
"""Where the walk goes: widths of rows at which the chosen plan changes.

A point is a fusion, a device, a type and a width N, or none: a symbolic one. The
structure of a plan is everything but its sizes; a boundary is the least width of a
new structure among neighbouring multiples of 8, found by bisection between points
of the grid.
"""

import collections
import functools
import re
import subprocess

FUSIONS = ("layernorm_bwd", "layernorm_fwd", "softmax_fwd", "rmsnorm_bwd")
TYPES = ("f32", "bf16", "f16")
LEAST, MOST, STEP, FINE = 8192, 131072, 1024, 8
AROUND = (-8, -1, 0, 1, 8)
SIZES = re.compile(r"\b(threads|threads_per_row|vector|vectors_per_thread|"
                   r"grid_rows|blocks_per_sm|bound|rows_per_step) \d+;\s*")

Point = collections.namedtuple("Point", "fusion device dtype n")


def name(point):
    width = "symbolic" if point.n is None else f"N={point.n}"
    return f"{point.fusion} {point.device} {point.dtype} {width}"


def options(point):
    words = [f"--device={point.device}", f"-DT={point.dtype}"]
    return words if point.n is None else [*words, f"-DN={point.n}"]


def structure(plan):
    """The plan without its sizes; its first line has the hash of the graph."""
    lines = re.sub(r'when "[^"]*"', "", plan).splitlines()[1:]
    return SIZES.sub("", " ".join(" ".join(lines).split()))


class Plans:
    """The structure at a point, asked of fusec once."""

    def __init__(self, fusec, examples):
        self.fusec, self.examples = fusec, examples
        self.at = functools.lru_cache(None)(self._at)

    def _at(self, point):
        run = subprocess.run(
            [self.fusec, f"{self.examples}/{point.fusion}.fusion",
             "--emit=plan", "-o", "-", *options(point)],
            capture_output=True, text=True, check=False)
        if run.returncode:
            return f"exit {run.returncode}: {run.stderr}"
        return structure(run.stdout)

    def boundary(self, low, high):
        """Between two points of one kind with other structures: the first width
        of what `high` or something before it has."""
        start = self.at(low)
        lo, hi = low.n, high.n
        while hi - lo > FINE:
            middle = (lo + hi) // 2 // FINE * FINE
            if self.at(low._replace(n=middle)) == start:
                lo = middle
            else:
                hi = middle
        return hi


def kinds(devices):
    for fusion in FUSIONS:
        for device in devices:
            for dtype in TYPES:
                yield Point(fusion, device, dtype, None)


def around(kind, boundary):
    return [kind._replace(n=boundary + d) for d in AROUND]


def of_kind(plans, kind):
    """All points of a kind, and its boundaries."""
    grid = [kind._replace(n=n) for n in range(LEAST, MOST + 1, STEP)]
    edges = [plans.boundary(a, b) for a, b in zip(grid, grid[1:])
             if plans.at(a) != plans.at(b)]
    found = [kind, *grid]
    for edge in edges:
        found += around(kind, edge)
    return list(dict.fromkeys(found)), edges


def draw(plans, devices, rng, count):
    """A third of the points symbolic or anywhere on the grid, the others around
    boundaries."""
    all_kinds = list(kinds(devices))
    found = {}
    while len(found) < count:
        kind = rng.choice(all_kinds)
        a, b = sorted(rng.sample(range(LEAST, MOST + 1, STEP), 2))
        low, high = kind._replace(n=a), kind._replace(n=b)
        if rng.random() < 0.05:
            found[kind] = None
        elif rng.random() < 0.3:
            found[low] = None
        elif plans.at(low) != plans.at(high):
            edge = plans.boundary(low, high)
            found[rng.choice(around(kind, edge))] = None
    return list(found)
