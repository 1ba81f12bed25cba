# SPDX-License-Identifier: Apache-2.0
"""One problem: every contender checked, then timed.

Contenders are captured as graphs of at least 20 launches over rotated sets of
buffers. Where 64 sets are less than 300 MB, so much is read before each
replay; either way the L2 cache holds nothing of the next launch. Contenders
take turns; the figure is the median of a launch. No time is kept of a result
that is wrong.
"""

import bounded
import fusions
import machine

ROTATED = 300e6
MOST_SETS = 64
LAUNCHES = 20
PIECE = 1 << 25       # elements checked at a time
PEERS = ("eager", "compile")
TOLERANCE = {"f32": 1e-4, "bf16": 2e-2, "f16": 4e-3}
FASTEST = 1.15        # times as fast as a copy: more is an error,
LEAST_RATED = 32e6    # where so many bytes move


class Wrong(Exception):
    """A result that is none, or a time that cannot be."""


class Set:
    """The buffers of one launch."""

    def __init__(self, mach, problem, params, copied):
        make = fusions.FUSIONS[problem.fusion].inputs
        self.inputs = make(mach, problem.m, problem.n, problem.dtype)
        self.outputs = {name: mach.empty(shape, dtype)
                        for name, role, dtype, shape in params
                        if role == "output"}
        self.source, self.target = copied


def make_sets(mach, problem, params):
    total = problem.bytes
    count = max(2, int(ROTATED // total) + 1)
    flush = count > MOST_SETS
    if not mach.real:
        count = 2
    copied = mach.copy_buffers(total)
    sets = []
    for _ in range(min(count, MOST_SETS)):
        if total < ROTATED:  # else a copy leaves nothing of itself
            copied = mach.copy_buffers(total)
        sets.append(Set(mach, problem, params, copied))
    return sets, flush


def launched(mach, run, first):
    """What a contender of ours writes over poison."""
    for t in first.outputs.values():
        mach.poison(t)
    run(first)
    mach.synchronize()
    return {k: mach.clone(t) for k, t in first.outputs.items()}


def check(mach, problem, params, inputs, results):
    """{name: the largest error as a part of the bound} of all RESULTS, by the
    formula in double; rows by pieces."""
    xp = mach.xp
    types = {name: dtype for name, role, dtype, _ in params
             if role == "output"}
    formula = fusions.FUSIONS[problem.fusion].formula
    sums, part = {}, dict.fromkeys(results, 0.0)

    def compare(name, want, rows):
        for who, outs in results.items():
            got = outs[name] if rows is None else outs[name][rows]
            part[who] = max(part[who], bounded.worst(xp, mach.double(got),
                                                     want, types[name]))

    step = max(1, PIECE // problem.n)
    for at in range(0, problem.m, step):
        rows = slice(at, at + step)
        given = {k: bounded.Bounded(xp, mach.double(
            t[rows] if t.shape[0] == problem.m and k not in VECTORS else t))
            for k, t in inputs.items()}
        for name, value in formula(given, problem.dtype).items():
            if isinstance(value, tuple):
                sums.setdefault(name, bounded.ColumnSums()).add(value[1])
            else:
                compare(name, value, rows)
    for name, s in sums.items():
        compare(name, s.total(xp), None)
    return part


VECTORS = ("weight", "bias")  # one for each column, also where M == N


def peer_error(mach, results, own):
    """The largest relative L2 error of a peer's results against ours."""
    worst = 0.0
    for got, want in zip(results, own.values()):
        size = off = 0.0
        columns = want.shape[1] if len(want.shape) > 1 else 1
        step = max(1, PIECE // columns)
        for at in range(0, want.shape[0], step):
            a = mach.double(got[at:at + step])
            b = mach.double(want[at:at + step])
            size += float((b * b).sum())
            off += float(((a - b) ** 2).sum())
        worst = max(worst, (off / (size + 1e-30)) ** 0.5)
    return worst


class Bench:
    """Measures the problems of a compiled set on a machine."""

    def __init__(self, mach, folder, replays=(3, 10)):
        self.mach, self.folder, self.replays = mach, folder, replays

    def run(self, problem, entry, peers=()):
        """A row of results."""
        try:
            return self._run(problem, entry, peers)
        finally:
            self.mach.forget_compiled()
            self.mach.free()

    def _run(self, problem, entry, peers):
        files = {c: f for c, f in entry["plans"].items() if f}
        params, kernels = machine.read_manifest(
            self.folder / f"{files['own']}.json")
        sets, flush = make_sets(self.mach, problem, params)
        loaded = {f: self.mach.load(problem, self.folder / f"{f}.json")
                  for f in sorted(set(files.values()))}
        runs = {f: lambda s, r=r: r(s.inputs, s.outputs)
                for f, r in loaded.items()}
        results = {f: launched(self.mach, r, sets[0]) for f, r in runs.items()}
        errors = check(self.mach, problem, params, sets[0].inputs, results)
        row = {"key": problem.key, "bytes": problem.bytes,
               "error": max(errors.values()), "fusec": entry["fusec"],
               "kernels": kernels, "plans": entry["plans"],
               "predicted_us": entry["predicted_us"],
               "summary": entry["summary"], **self.mach.info()}
        wrong = [f"{f}: error {e:.3g} of what is allowed"
                 for f, e in errors.items() if not e <= 1]
        if wrong:  # the peers are measured all the same
            row["failed"] = "; ".join(wrong)
            files, runs, results = {}, {}, {}
        self._add_times(row, problem, peers, sets, flush, files, runs, results)
        for r in loaded.values():
            r.forget()
        return row

    def _add_times(self, row, problem, peers, sets, flush, files, runs,
                   results):
        mach = self.mach
        runs["copy"] = lambda s: mach.copy(s.source, s.target)
        runs["kernel"] = lambda s: mach.copy_by_kernel(s.source, s.target)
        own = results.get(files.get("own"))
        notes = self._add_peers(problem, peers, sets, own, runs)
        graphs = self._capture(runs, sets, flush, notes)
        times = mach.time(graphs, *self.replays)
        # The driver's copy takes half as long again at some sizes (250 and
        # 500 MB on an H200): the faster of two ways is what can be reached.
        times["copy"] = min(times["copy"], times.pop("kernel"))
        self._check_graphs(graphs, results, sets[0])
        calls = {c: mach.call(r, sets, 5) for c, r in runs.items()
                 if c in graphs and c != "kernel"}
        row["us"] = name_times(times, files)
        row["call_us"] = name_times(calls, files)
        if notes:
            row["notes"] = notes
        self._check_speed(row)

    def _add_peers(self, problem, peers, sets, own, runs):
        """Adds what works to RUNS; {name: why} of what doesn't."""
        notes = {}
        for kind in peers:
            try:
                call = self.mach.peer(problem.fusion, kind)
                given = call(**sets[0].inputs)
                off = peer_error(self.mach, given, own) if own else 0.0
                if not off <= TOLERANCE[problem.dtype]:
                    raise Wrong(f"differs by {off:.3g}")
                runs[kind] = lambda s, call=call: call(**s.inputs)
            except Exception as e:  # a peer that fails must not hide ours
                notes[kind] = f"{type(e).__name__}: {e}"[:300]
        return notes

    def _capture(self, runs, sets, flush, notes):
        graphs = {}
        count = max(LAUNCHES if self.mach.real else 2, len(sets))
        for name, run in runs.items():
            try:
                graphs[name] = self.mach.capture(run, sets, count, flush)
            except Exception as e:
                if name not in PEERS:
                    raise
                notes[name] = f"{type(e).__name__}: {e}"[:300]
        return graphs

    def _check_graphs(self, graphs, results, first):
        """A graph of ours writes, over poison, what its launch wrote."""
        for name, want in results.items():
            for t in first.outputs.values():
                self.mach.poison(t)
            self.mach.replay(graphs[name])
            for k, t in first.outputs.items():
                if not self.mach.equal(t, want[k]):
                    raise Wrong(f"{name}: '{k}' differs from launch to launch")

    def _check_speed(self, row):
        copy = row["us"]["copy"]
        checked = self.mach.real and row["bytes"] > LEAST_RATED
        for name, t in row["us"].items():
            if checked and name != "copy" and copy > FASTEST * t:
                raise Wrong(f"{name} takes {t:.1f} us, a copy {copy:.1f}")


def name_times(times, files):
    """By contender instead of by file; plans that are the same share a time."""
    named = {c: times[f] for c, f in files.items()}
    named.update({k: t for k, t in times.items() if k not in files.values()})
    return {k: round(t, 3) for k, t in named.items()}
