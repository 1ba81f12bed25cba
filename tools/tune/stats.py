# SPDX-License-Identifier: Apache-2.0
"""How good a model's ranking is, and which sizes an entry speaks for."""

import math
import statistics


def ranks(values):
    """1 for the least; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        k = i
        while k + 1 < len(order) and values[order[k + 1]] == values[order[i]]:
            k += 1
        for j in order[i:k + 1]:
            result[j] = (i + k) / 2 + 1
        i = k + 1
    return result


def spearman(xs, ys):
    """Rank correlation, -1 to 1; None where one side is all the same."""
    a, b = ranks(xs), ranks(ys)
    if len(a) < 2:
        return None
    mean = (len(a) + 1) / 2
    up = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    down = math.sqrt(sum((x - mean) ** 2 for x in a) *
                     sum((y - mean) ** 2 for y in b))
    return up / down if down else None


def regret(shipped, times):
    """Time of the plan that is shipped over that of the best."""
    return shipped / min(times)


def summary(values):
    """(median, greatest) of those that are numbers, or None."""
    known = [v for v in values if v is not None]
    return (statistics.median(known), max(known)) if known else None


def row_ranges(rows):
    """{rows: (least, most)}: each measured number of rows speaks for those that
    are nearest to it as a ratio; the outermost ones for a factor of 2 more."""
    rows = sorted(set(rows))
    result = {}
    for i, r in enumerate(rows):
        least = result[rows[i - 1]][1] + 1 if i else max(0, r // 2)
        most = math.isqrt(r * rows[i + 1]) if i + 1 < len(rows) else 2 * r
        result[r] = (least, most)
    return result
