# SPDX-License-Identifier: Apache-2.0
"""Tables of a run, in Markdown, and whether the goals are met.

SOL is the copy's time over ours. A peer that was not measured in the run
stands with a ~: its part of the copy's speed in the table of peers, at the
copy's time of this run.
"""

import math

import fusions
import problems

PEERS = ("eager", "compile")
FORCED = ("projection", "no_projection")
BEHIND = 1.03  # the own choice over the better forced one

# class: [(name, from bytes, up to bytes, SOL f32, SOL else, over torch.compile,
# over the best peer)]; None: no goal.
INF = float("inf")
BELOW = ("< 128 MB", 0, 128e6, None, None, None, 1.0)


def one_goal(f32, other, best):
    return [("≥ 128 MB", 128e6, INF, f32, other, None, best), BELOW]


GOALS = {
    "norm_bwd": [("≥ 400 MB", 400e6, INF, 0.96, 0.95, 2.0, 1.1),
                 ("128–400 MB", 128e6, 400e6, 0.92, 0.90, 1.8, 1.1), BELOW],
    "forward": one_goal(0.96, 0.94, 1.05),
    "softmax_bwd": one_goal(0.97, 0.97, 1.0),
    "pointwise": one_goal(0.98, 0.98, 1.0),
    "row_sum": one_goal(0.96, 0.96, 1.05),
    "column_sum": one_goal(0.94, 0.94, 1.05),
}
FEW_ROWS = 512
LEAST_FORWARD = 0.98  # of torch.compile's speed, each problem


class Row:
    """What a table shows of one result."""

    def __init__(self, row, store):
        self.key, self.us = row["key"], row["us"]
        self.problem = problems.parse(self.key)
        self.bytes, self.error = row["bytes"], row["error"]
        self.kernels, self.summary = row["kernels"], row["summary"]
        self.predicted = row["predicted_us"]
        self.kind = fusions.FUSIONS[self.problem.fusion].kind
        self.own, self.copy = self.us["own"], self.us["copy"]
        self.sol = self.copy / self.own
        forced = [self.us[f] for f in FORCED if f in self.us]
        self.behind = self.own / min(forced) if forced else None
        self.peers, self.stored = {}, set()
        for peer in PEERS:
            self._take_peer(peer, store.get(self.key, {}))

    def _take_peer(self, peer, old):
        if peer in self.us:
            self.peers[peer] = self.us[peer] / self.own
        elif peer in old:
            self.peers[peer] = old[peer] / old["copy"] * self.sol
            self.stored.add(peer)

    @property
    def best(self):
        return min(self.peers.values(), default=None)


def line(row):
    """One result, as the run prints it."""
    r = Row(row, {})
    rate = r.bytes / r.own / 1e6
    text = (f"{r.key:36s} {r.own:8.1f} us {rate:5.2f} TB/s "
            f"SOL {r.sol:.3f}")
    if r.behind is not None:
        text += f"  forced {100 * (r.behind - 1):+.1f} %"
    for peer, speed in r.peers.items():
        text += f"  {peer} x{speed:.2f}"
    text += f"  error {r.error:.2f}"
    for name, why in row.get("notes", {}).items():
        text += f"  ({name}: {why[:60]})"
    return text


def cell(value, form):
    return "–" if value is None else format(value, form)


def peer_cell(r, peer):
    mark = "~" if peer in r.stored else ""
    return mark + cell(r.peers.get(peer), ".2f")


def problem_table(rows):
    out = ["| rows | N | MB | copy us | own us | TB/s | SOL | projection us |"
           " no projection us | own behind better | over eager |"
           " over compile | predicted us | own plan |",
           "|" + " --: |" * 13 + " --- |"]
    for r in rows:
        p = r.problem
        behind = None if r.behind is None else 100 * (r.behind - 1)
        out.append(
            f"| {p.m} | {p.n} | {r.bytes / 1e6:.1f} | {r.copy:.1f} "
            f"| {r.own:.1f} | {r.bytes / r.own / 1e6:.2f} | {r.sol:.3f} "
            f"| {cell(r.us.get('projection'), '.1f')} "
            f"| {cell(r.us.get('no_projection'), '.1f')} "
            f"| {cell(behind, '+.1f')} % | {peer_cell(r, 'eager')} "
            f"| {peer_cell(r, 'compile')} | {r.predicted:.1f} "
            f"| {r.summary} |")
    return out


def mean(values):
    """Geometric; None of none."""
    values = [v for v in values if v is not None]
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def verdict(value, goal):
    if goal is None or value is None:
        return ""
    return " yes" if value >= goal else f" no ({goal:.2f})"


def band_rows(rows, kind, dtype, band):
    return [r for r in rows if r.kind == kind and r.problem.dtype == dtype and
            band[1] <= r.bytes < band[2]]


def mean_table(rows):
    out = ["| class | type | bytes | problems | SOL | over compile |"
           " over the best peer | least over the best peer |",
           "| --- | --- | --- | --: | --- | --- | --- | --- |"]
    for kind, bands in GOALS.items():
        for dtype in problems.SIZES:
            for band in bands:
                chosen = band_rows(rows, kind, dtype, band)
                if chosen:
                    out.append(mean_line(chosen, kind, dtype, band))
    return out


def mean_line(rows, kind, dtype, band):
    name, _, _, f32, other, compiled, best = band
    sol = mean(r.sol for r in rows)
    over = mean(r.peers.get("compile") for r in rows)
    any_peer = mean(r.best for r in rows)
    least = min((r.best for r in rows if r.best is not None), default=None)
    goal = f32 if dtype == "f32" else other
    return (f"| {kind} | {dtype} | {name} | {len(rows)} "
            f"| {cell(sol, '.3f')}{verdict(sol, goal)} "
            f"| {cell(over, '.2f')}{verdict(over, compiled)} "
            f"| {cell(any_peer, '.2f')}{verdict(any_peer, best)} "
            f"| {cell(least, '.2f')} |")


def worst(rows, what, value, count=5):
    """Lines of the rows with the least VALUE."""
    known = sorted((value(r), r.key) for r in rows if value(r) is not None)
    return [f"{what}:"] + [f"- {key} {v:.3f}" for v, key in known[:count]]


def goals_each(rows):
    """What holds for every problem, not only in the mean."""
    behind = [r for r in rows if r.behind is not None]
    late = [r for r in behind if r.behind > BEHIND]
    out = ["Own choice more than 3 % behind the better forced one: "
           f"{len(late)} of {len(behind)}."]
    out += [f"- {r.key} {100 * (r.behind - 1):+.1f} %" for r in late]
    tiny = [r for r in rows if r.bytes < 128e6 and r.best is not None]
    slow = [r for r in tiny if r.best < 1]
    out.append(f"Below 128 MB and slower than the best peer: {len(slow)} of "
               f"{len(tiny)}.")
    out += [f"- {r.key} {r.best:.2f}" for r in slow]
    few = [r for r in rows if r.problem.m <= FEW_ROWS]
    many = [r for r in few if r.kernels > 1]
    out.append(f"At most {FEW_ROWS} rows and launched as several kernels: "
               f"{len(many)} of {len(few)}.")
    out += [f"- {r.key} {r.kernels}" for r in many]
    fwd = [r for r in rows if r.kind == "forward" and r.bytes >= 128e6 and
           "compile" in r.peers]
    slow = [r for r in fwd if r.peers["compile"] < LEAST_FORWARD]
    out.append("Forward, 128 MB and more, below 0.98 of torch.compile's "
               f"speed: {len(slow)} of {len(fwd)}.")
    out += [f"- {r.key} {r.peers['compile']:.3f}" for r in slow]
    large = [r for r in rows if r.kind == "norm_bwd" and r.bytes >= 128e6]
    over = mean(r.peers.get("compile") for r in large)
    out.append(f"Backward norms, 128 MB and more: {cell(over, '.2f')} times "
               f"torch.compile in the geometric mean{verdict(over, 2.0)}.")
    return out


def paragraphs(blocks):
    return "\n\n".join("\n".join(b) for b in blocks) + "\n"


def header(rows):
    """Where and when."""
    def every(key):
        return ", ".join(sorted({r[key] for r in rows if key in r}))
    return [f"{every('gpu')}, PyTorch {every('torch')}, {every('date')}. "
            f"{sum('failed' not in r for r in rows)} problems. Peers marked ~ are from "
            "the table of peers."]


def tables(rows, store):
    """The whole report of {key: row}."""
    good = [Row(r, store) for r in rows.values() if "failed" not in r]
    bad = [r for r in rows.values() if "failed" in r]
    good.sort(key=lambda r: (list(fusions.FUSIONS).index(r.problem.fusion),
                             r.problem.dtype != "f32", r.problem.m,
                             r.problem.n))
    blocks = [header(rows.values()), ["## Geometric means"],
              mean_table(good), ["## Each problem"],
              goals_each(good),
              worst([r for r in good if r.bytes >= 128e6],
                    "Least SOL at 128 MB and more", lambda r: r.sol),
              worst(good, "Least against the best peer", lambda r: r.best)]
    if bad:
        blocks.append([f"Failed: {len(bad)}."] +
                      [f"- {r['key']}: {r['failed']}" for r in bad])
    blocks.append(["## Times"])
    for name in fusions.FUSIONS:
        for dtype in problems.SIZES:
            some = [r for r in good if r.problem.fusion == name and
                    r.problem.dtype == dtype]
            if some:
                blocks += [[f"### {name}, {dtype}"], problem_table(some)]
    return paragraphs(blocks)
