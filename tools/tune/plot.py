# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured time as SVG, both axes logarithmic."""

import math

SIZE, LEFT, RIGHT, TOP, BOTTOM = 560, 70, 20, 40, 56
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


class Axis:
    """Microseconds to pixels, over whole powers of ten."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def at(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self):
        """(value, has a label)."""
        for e in range(self.low, self.high + 1):
            for k in (1,) if e == self.high else (1, 2, 5):
                yield k * 10.0 ** e, k == 1


def text(x, y, words, extra=""):
    safe = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{safe}</text>'


def line(x1, y1, x2, y2, colour):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}"/>')


def grid(x, y):
    for value, labelled in x.ticks():
        at = x.at(value)
        yield line(at, y.start, at, y.end, "#bbb" if labelled else "#eee")
        if labelled:
            yield text(at, y.start + 16, f"{value:g}", 'text-anchor="middle"')
    for value, labelled in y.ticks():
        at = y.at(value)
        yield line(x.start, at, x.end, at, "#bbb" if labelled else "#eee")
        if labelled:
            yield text(x.start - 6, at + 4, f"{value:g}", 'text-anchor="end"')


def legend(names, x, y):
    for i, name in enumerate(names):
        at = y.end + 14 + 16 * i
        yield (f'<circle cx="{x.start + 12}" cy="{at - 4}" r="4" '
               f'fill="{COLOURS[i % len(COLOURS)]}"/>')
        yield text(x.start + 22, at, name)


def points(measured):
    """[(kind, predicted us, measured us, problem)]."""
    return [(p["scheduler"], p["predicted_ns"] / 1e3, m.time(p), m.row["key"])
            for m in measured for p in m.plans if p["predicted_ns"] > 0]


def svg(measured):
    dots = points(measured)
    if not dots:
        return None
    both = [v for _, p, t, _ in dots for v in (p, t)]
    x = Axis(both, LEFT, SIZE - RIGHT)
    y = Axis(both, SIZE - BOTTOM, TOP)
    names = sorted({d[0] for d in dots})
    body = [text(SIZE / 2, 22, f"Predicted and measured time of {len(dots)} "
                 "plans", 'text-anchor="middle" font-size="14"'),
            *grid(x, y), line(x.start, y.start, x.end, y.end, "#000"),
            text((x.start + x.end) / 2, SIZE - 14, "predicted time, µs",
                 'text-anchor="middle"'),
            text(0, 0, "measured time, µs", 'text-anchor="middle" transform='
                 f'"translate(18 {(y.start + y.end) / 2:.1f}) rotate(-90)"')]
    for kind, predicted, us, key in dots:
        colour = COLOURS[names.index(kind) % len(COLOURS)]
        body.append(f'<circle cx="{x.at(predicted):.1f}" '
                    f'cy="{y.at(us):.1f}" r="3" fill="{colour}" '
                    f'fill-opacity="0.6"><title>{key}</title></circle>')
    body += legend(names, x, y)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" '
            f'height="{SIZE}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{SIZE}" height="{SIZE}" fill="#fff"/>\n'
            + "\n".join(body) + "\n</svg>\n")
