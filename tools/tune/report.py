# SPDX-License-Identifier: Apache-2.0
"""What was measured: a line a plan, a line a problem, the tuning file."""

import stats


class Measured:
    """A problem of the index with its result."""

    def __init__(self, row, result):
        self.row, self.result = row, result
        self.us = result["us"]
        self.plans = sorted((p for p in row["plans"] if p["name"] in self.us),
                            key=lambda p: p["rank"])

    @property
    def shipped(self):
        """What fusec takes; None when it has no time."""
        first = next((p for p in self.row["plans"] if p.get("shipped")), None)
        return first if first and first["name"] in self.us else None

    @property
    def best(self):
        return min(self.plans, key=lambda p: (self.us[p["name"]], p["rank"]),
                   default=None)

    def time(self, plan):
        return self.us[plan["name"]]

    def sol(self, plan):
        return self.result["copy_us"] / self.time(plan)

    @property
    def regret(self):
        if not self.shipped:
            return None
        return stats.regret(self.time(self.shipped), list(self.us.values()))

    @property
    def correlation(self):
        return stats.spearman([p["predicted_ns"] for p in self.plans],
                              [self.time(p) for p in self.plans])

    def faults(self):
        """Plans that are wrong or could not be run."""
        return {**self.result["failed"], **self.result["wrong"]}


def join(index, results):
    """The problems of the index that have a result of the same fusec."""
    found = {(r["key"], r["fusec"]): r for r in results}
    return [Measured(row, found[row["key"], row["fusec"]]) for row in index
            if (row["key"], row["fusec"]) in found]


def plan_lines(measured):
    yield "\t".join(("problem", "rank", "scheduler", "plan", "predicted_us",
                     "measured_us", "copy_us", "sol", "note"))
    for m in measured:
        for p in m.row["plans"]:
            name, note = p["name"], ""
            timed = name in m.us
            if not timed:
                why = m.faults().get(name) or p.get("failed") or "not timed"
                note = " ".join(why.split())
            elif p is m.shipped:
                note = "shipped, best" if p is m.best else "shipped"
            elif p is m.best:
                note = "best"
            yield "\t".join((
                m.row["key"], str(p["rank"]), p["scheduler"], p["summary"],
                f"{p['predicted_ns'] / 1e3:.3f}",
                f"{m.time(p):.3f}" if timed else "",
                f"{m.result['copy_us']:.3f}" if timed else "",
                f"{m.sol(p):.4f}" if timed else "", note))


def number(value, form):
    return "-" if value is None else format(value, form)


def problem_line(m):
    ours, best = m.shipped, m.best
    return (f"{m.row['key']:44s} {len(m.plans):3d}"
            f" {number(ours and m.time(ours), '10.2f'):>10s}"
            f" {number(best and m.time(best), '10.2f'):>10s}"
            f" {number(m.result.get('copy_us'), '10.2f'):>10s}"
            f" {number(ours and m.sol(ours), '7.3f'):>7s}"
            f" {number(best and m.sol(best), '7.3f'):>7s}"
            f" {number(m.regret, '7.3f'):>7s}"
            f" {number(m.correlation, '7.3f'):>7s}")


def summary_lines(measured):
    yield (f"{'problem':44s} {'':>3s} {'shipped us':>10s} {'best us':>10s}"
           f" {'copy us':>10s} {'SOL':>7s} {'SOL':>7s} {'regret':>7s}"
           f" {'rank':>7s}")
    yield (f"{'':44s} {'n':>3s} {'':>10s} {'':>10s} {'':>10s} {'shipped':>7s}"
           f" {'best':>7s} {'':>7s} {'corr.':>7s}")
    for m in measured:
        yield problem_line(m)
    regrets = stats.summary([m.regret for m in measured])
    known = [m.correlation for m in measured if m.correlation is not None]
    if regrets:
        yield f"regret: median {regrets[0]:.3f}, worst {regrets[1]:.3f}"
    if known:
        median, _ = stats.summary(known)
        yield (f"rank correlation: median {median:.3f}, worst "
               f"{min(known):.3f}, of {len(known)} problems")
    everything = [(p["predicted_ns"], m.time(p))
                  for m in measured for p in m.plans]
    over_all = stats.spearman(*zip(*everything)) if everything else None
    if over_all is not None:
        yield f"over all {len(everything)} plans: {over_all:.3f}"


def fault_lines(measured):
    for m in measured:
        for name, why in m.faults().items():
            yield f"{m.row['key']}: plan {name}: {' '.join(why.split())}"


# --- the tuning file ---------------------------------------------------------

HEAD = """tuned 1
# Made by fusec-tune. An entry stands where a measured plan was at least
# {gain:.1f} % faster than what fusec took without it.
"""


def entry_text(m, rows):
    kernels = m.best["kernels"].rstrip("\n").replace("\n    ", "\n  ")
    columns = m.row["columns"]
    return (f"# {m.row['key']}: {m.best['summary']}\n"
            f"entry {m.row['signature']} {m.row['device']} {{\n"
            f"  rows {rows[0]} {rows[1]}; columns {columns} {columns};\n"
            f"  measured_ns {round(m.time(m.best) * 1e3)};"
            f" model_ns {round(m.time(m.shipped) * 1e3)};\n"
            f"  {kernels.lstrip()}\n}}\n")


def tuning_file(measured, gain):
    """Sorted, so that two files can be compared and merged line by line."""
    groups = {}
    for m in measured:
        if m.shipped:
            key = (m.row["signature"], m.row["device"], m.row["columns"])
            groups.setdefault(key, {}).setdefault(m.row["rows"], m)
    text = HEAD.format(gain=100 * (gain - 1))
    for key in sorted(groups):
        ranges = stats.row_ranges(groups[key])
        for rows, m in sorted(groups[key].items()):
            if m.regret >= gain:
                text += entry_text(m, ranges[rows])
    return text
