#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark itself, where there is no GPU: its sets and floors, the rule by
which results are right, forced plans, resumed runs, dead children, tables.

    test_grid.py FUSEC
"""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import bounded
import fusions
import grid
import machine
import measure
import plans
import problems
import report
import results

FUSEC = sys.argv.pop(1)
KEYS = ("rmsnorm_bwd-bf16-5x64", "layernorm_fwd_add-f32-3x40")

CHILD = """
import sys, time
keys = sys.stdin.read().split()
print("BEGIN", keys[0], flush=True)
if keys[0].startswith("row"):
    sys.exit(5)
if keys[0].startswith("col"):
    time.sleep(60)
"""


def quiet(argv):
    """(exit status, output) of the script."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = grid.main(argv)
    return status, out.getvalue()


class Sets(unittest.TestCase):
    def test_floor(self):
        p = problems.Problem("layernorm_bwd", "bf16", 8, 32)
        self.assertEqual(p.bytes, 2 * (3 * 8 * 32 + 3 * 32) + 4 * 2 * 8)
        p = problems.Problem("rmsnorm_fwd_add", "f32", 8, 32)
        self.assertEqual(p.bytes, 4 * (4 * 8 * 32 + 32 + 8))

    def test_every_program_is_there(self):
        for name in fusions.FUSIONS:
            self.assertIn(f"fusion {name}(", fusions.program(name).read_text())

    def test_core(self):
        core = problems.core()
        self.assertEqual(len(set(core)), 4 * 2 * 2 * 9)
        self.assertLessEqual(set(core), set(problems.full()))
        sizes = [p.bytes >= problems.LARGE for p in problems.by_weight(core)]
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_keys(self):
        for p in problems.forward() + problems.small() + problems.tails():
            self.assertEqual(problems.parse(p.key), p)


def some(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


class Rule(unittest.TestCase):
    """In f32 everything is within its bound, and not much less is allowed."""

    def test_sum(self):
        x = some((4, 3000))
        want = bounded.Bounded(np, x.astype("f8")).sum()
        for got in (x.sum(1), np.cumsum(x, 1)[:, -1]):
            self.assertLessEqual(
                bounded.worst(np, got.astype("f8"), want, "f32"), 1)
        off = want.v + 4e-3
        self.assertGreater(bounded.worst(np, off, want, "f32"), 1)

    def test_functions(self):
        x = bounded.Bounded(np, np.array([0.1, 1.7, 30.0]))
        y = (x * x + 1.0).rsqrt()
        z = (x - x.sum(0)).exp() / (x * x)
        for b in (y, z, y.log(), y.sigmoid()):
            self.assertTrue((b.e > 0).all())
            self.assertTrue((b.e < 1e-4 * abs(b.v) + 1e-7).all())

    def test_ulp(self):
        v = np.array([1.0, 1.99, 2.0, 0.0, -3.0])
        self.assertEqual(list(bounded.ulp(np, v, "bf16") * 128),
                         [1, 1, 2, 2.0 ** -126, 2])

    def test_stored(self):
        v = bounded.Bounded(np, np.array([1 + 2.0 ** -9, 1 + 3 * 2.0 ** -9]),
                            np.array([0.0, 0.0]))
        self.assertEqual(list(v.stored("bf16").v), [1.0, 1 + 2.0 ** -7])

    def test_nothing_written(self):
        want = bounded.Bounded(np, np.zeros(3))
        got = np.array([0, float("nan"), 0])
        self.assertEqual(bounded.worst(np, got, want, "f32"), float("inf"))

    def test_every_formula(self):
        """In f32 with other roundings: right; with one element off: wrong."""
        for name in fusions.FUSIONS:
            p = problems.Problem(name, "f32", 6, 48)
            mach = machine.Dry()
            inputs = fusions.FUSIONS[name].inputs(mach, p.m, p.n, p.dtype)
            outs = machine.formula_values(mach, name, inputs, p.dtype)
            outs = {k: v.astype("f4") for k, v in outs.items()}
            params = [(k, "output", "f32", v.shape) for k, v in outs.items()]
            bad = {k: v.copy() for k, v in outs.items()}
            last = bad[list(bad)[-1]]
            last[(-1,) * last.ndim] += 1e-3
            part = measure.check(mach, p, params, inputs,
                                 {"right": outs, "wrong": bad})
            self.assertLessEqual(part["right"], 1, name)
            self.assertGreater(part["wrong"], 1, name)


class Forced(unittest.TestCase):
    def test_side(self):
        for summary, side in (("projection: keeps x, dy", "projection"),
                              ("projection, invariants from L2: keeps x",
                               "projection"),
                              ("no projection: keeps xhat", "no_projection"),
                              ("nothing kept", None), ("mixed: keeps x", None)):
            self.assertEqual(plans.side({"summary": summary}), side)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def compile(self):
        return quiet(["compile", ",".join(KEYS), "--fusec", FUSEC, "--dir",
                      str(self.dir), "--jobs", "1"])

    def run_dry(self, out, *more):
        return quiet(["run", "--dir", str(self.dir), "--out",
                      str(self.dir / out), "--dry", "--replays", "0", "1",
                      *more])

    def test_compile_and_run(self):
        status, text = self.compile()
        self.assertEqual(status, 0, text)
        index = grid.read_index(self.dir)
        self.assertEqual(set(index), set(KEYS))
        entry = index[KEYS[0]]
        self.assertNotEqual(entry["plans"]["projection"],
                            entry["plans"]["no_projection"])
        self.assertIn(entry["plans"]["own"], list(entry["plans"].values())[1:])
        for key in KEYS:
            path = self.dir / f"{index[key]['plans']['own']}.json"
            tree = json.loads(path.read_text())["fusions"][0]
            self.assertEqual(problems.parse(key).bytes,
                             int(tree["bytes_read"]) +
                             int(tree["bytes_written"]))
        made = {p: p.stat().st_mtime_ns for p in self.dir.glob("*.cubin")}
        self.assertEqual(self.compile()[0], 0)
        self.assertEqual(made, {p: p.stat().st_mtime_ns
                                for p in self.dir.glob("*.cubin")})
        self.check_runs()

    def check_runs(self):
        status, text = self.run_dry("a.jsonl", "--count", "1", "--kinds",
                                    "eager")
        self.assertEqual(status, 0, text)
        self.assertIn("1 measured, 0 failed, 1 left", text)
        status, text = self.run_dry("b.jsonl", "--resume",
                                    str(self.dir / "a.jsonl"))
        self.assertEqual(status, 0, text)
        self.assertIn("2 measured, 0 failed, 0 left", text)
        rows = results.read_lines([self.dir / "b.jsonl"])
        self.assertEqual(len(rows), 1)
        for row in rows.values():
            self.assertEqual(set(row["us"]), {"own", "projection", "copy",
                                              "no_projection", "eager",
                                              "compile"})
            self.assertTrue(0 <= row["error"] <= 1)
        status, text = quiet(["report", str(self.dir / "a.jsonl"),
                              str(self.dir / "b.jsonl")])
        for key in KEYS:
            self.assertIn("### " + problems.parse(key).fusion, text)
        status, _ = self.run_dry("c.jsonl", "--seconds", "-1")
        self.assertFalse((self.dir / "c.jsonl").exists())

    def test_children(self):
        """One that dies and one that hangs are noted, the rest goes on."""
        keys = ["row_sum-f32-1x1", "column_sum-f32-1x1", "silu_mul-f32-1x1"]
        grid.write_index(self.dir, "x", [{"key": k} for k in keys])
        script = self.dir / "child.py"
        script.write_text(CHILD)
        old, grid.SCRIPT = grid.SCRIPT, script
        try:
            status, text = self.run_dry("r.jsonl", "--patience", "2")
        finally:
            grid.SCRIPT = old
        self.assertEqual(status, 1, text)
        rows = results.read_lines([self.dir / "r.jsonl"])
        self.assertEqual({k: r["failed"] for k, r in rows.items()},
                         {keys[0]: "exit status 5", keys[1]: "hung"})

    def test_wrong_results(self):
        """No time is kept of them."""
        class Broken(machine.Dry):
            def load(self, problem, path):
                run = super().load(problem, path)

                class Off(type(run)):
                    def __call__(self, inputs, outputs):
                        super().__call__(inputs, outputs)
                        outputs["y"][0] += 1
                return Off(self, problem)

        manifest = {"fusions": [{"params": [
            {"name": "y", "role": "output", "dtype": "f32", "shape": ["4"]}],
            "variants": [{"launches": [{}]}]}]}
        (self.dir / "p.json").write_text(json.dumps(manifest))
        bench = measure.Bench(Broken(), self.dir, (0, 1))
        row = bench.run(problems.parse("row_sum-f32-4x8"),
                        {"plans": {"own": "p"}, "fusec": "", "summary": "",
                         "predicted_us": 0}, ("eager",))
        self.assertIn("of what is allowed", row["failed"])
        self.assertEqual(set(row["us"]), {"copy", "eager"})
        self.assertIn("eager", results.peer_row(row))
        self.assertIn("Failed: 1.", report.tables({row["key"]: row}, {}))


def result(key, own, copy, **more):
    return {"key": key, "bytes": problems.parse(key).bytes, "error": 0.5,
            "kernels": 2, "summary": "nothing kept", "predicted_us": 150.0,
            "torch": "2", "gpu": "g", "date": "d",
            "us": {"own": own, "copy": copy, **more}}


class Tables(unittest.TestCase):
    KEY = "layernorm_bwd-f32-8192x8192"

    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r"
            results.append(path, result(self.KEY, 1, 2))
            results.append(path, {"key": self.KEY, "failed": "later"})
            results.append(path, {"key": "a-f32-1x1", "failed": "x"})
            with path.open("a") as f:
                f.write('{"key": "cut')
            rows = results.read_lines([path])
        self.assertIn("us", rows[self.KEY])
        self.assertEqual(rows["a-f32-1x1"]["failed"], "x")

    def test_store(self):
        rows = {self.KEY: result(self.KEY, 200, 190, eager=400, compile=380)}
        store = {}
        self.assertEqual(results.merge(store, rows), 1)
        self.assertEqual(results.merge(store, rows), 0)
        again = {self.KEY: result(self.KEY, 200, 190, eager=404, compile=410)}
        found, compared = results.disagreements(again, store)
        self.assertEqual([f[:2] for f in found], [(self.KEY, "compile")])
        self.assertEqual(compared, 2)

    def test_commands(self):
        """The table is written, read again, and compared with."""
        with tempfile.TemporaryDirectory() as folder:
            a, b, store = (Path(folder) / n for n in ("a", "b", "store"))
            results.append(a, result(self.KEY, 200, 190, eager=400))
            results.append(b, result(self.KEY, 200, 190, eager=440,
                                     compile=380))
            for path, status, said in ((a, 0, "1 new"), (a, 0, "0 new"),
                                       (b, 1, "1 differ")):
                got = quiet(["peers", str(path), "--store", str(store)])
                self.assertEqual(got[0], status, got[1])
                self.assertIn(said, got[1])
            self.assertEqual(set(results.read_store(store)), {self.KEY})
        self.assertIn("144 problems, 141.8 GB", quiet(["list", "core"])[1])

    def test_drawn_again(self):
        keys = [p.key for p in problems.full()]
        drawn = [k for k in keys if results.drawn_again(k, "1")]
        self.assertTrue(0.02 < len(drawn) / len(keys) < 0.09)

    def test_report(self):
        store = {}
        results.merge(store, {self.KEY: result(self.KEY, 1, 190, compile=380)})
        rows = {self.KEY: result(self.KEY, 200, 190, projection=200,
                                 no_projection=190)}
        text = report.tables(rows, store)
        self.assertIn("| norm_bwd | f32 | ≥ 400 MB | 1 | 0.950 no (0.96) "
                      "| 1.90 no (2.00) | 1.90 yes | 1.90 |", text)
        self.assertIn("behind the better forced one: 1 of 1", text)
        self.assertIn("| 805.5 | 190.0 | 200.0 | 4.03 | 0.950 | 200.0 | 190.0 "
                      "| +5.3 % | – | ~1.90 | 150.0 | nothing kept |", text)


if __name__ == "__main__":
    unittest.main()
